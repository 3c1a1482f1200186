"""`cwndlab examples`: the examples of the package, listed and copied."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from cwndlab.cli.output import print_line, print_table
from cwndlab.documents import is_list, is_table
from cwndlab.message import invalid, nearest, plural

FOLDER = Path("examples")
"""Where a copy goes by default: the comments of the examples, and the documents, call it this."""


@click.command()
@click.argument("wanted", nargs=-1, metavar="[NAME...]")
@click.option("--list", "is_list_asked", is_flag=True, help="List the examples (the default).")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Directory of the copies; without a NAME for all examples."
              f"  [default: {FOLDER}]")  # fmt: skip
def examples(wanted: tuple[str, ...], is_list_asked: bool, out: Path | None) -> None:
    """List or copy the examples.

    NAME is copied together with the files that it needs. No file is overwritten.
    """
    found = by_name()
    if is_list_asked or (not wanted and out is None):
        rows = [[name, title_of(file.read_text(encoding="utf-8"))] for name, file in found.items()]
        print_table("Examples", ["name", "what it is about"], rows, text_columns=2)
        print_line(
            f"`cwndlab examples NAME` copies one to {FOLDER}/, `cwndlab examples --out DIR` all."
        )
        return
    chosen = [_find(name, found) for name in wanted] if wanted else list(_every_file())
    _copy(chosen, out or FOLDER)


def _source() -> Path:
    """Return the directory of the examples: a link in the source tree, files in a wheel."""
    package = Path(__file__).parents[1]
    folder = package / "templates" / "_examples"
    # Git on Windows may write a link as a file.
    return folder if folder.is_dir() else package.parents[1] / "examples"


def _every_file() -> Iterator[Path]:
    files = (file for file in _source().rglob("*") if file.is_file())
    for file in sorted(files, key=lambda file: (len(file.parts), file.with_suffix(""))):
        if "__pycache__" not in file.parts:
            yield file


def by_name() -> dict[str, Path]:
    """Return what begins with a comment, scenarios, sweeps and programs: name to file.

    Examples
    --------
    >>> found = by_name()
    >>> found["designs/better"].name, "my_rules.py" in found, "cellular.down" in found
    ('better.toml', True, False)
    """
    paths = {file.relative_to(_source()): file for file in _every_file()}
    return {
        path.as_posix().removesuffix(".toml"): file
        for path, file in paths.items()
        if path.suffix in (".toml", ".py")
    }


def _find(name: str, known: dict[str, Path]) -> Path:
    short = name.removeprefix(f"{FOLDER}/").removesuffix(".toml")
    if short not in known:
        expected = "a name that `cwndlab examples` lists"
        raise click.UsageError(invalid("NAME", name, expected, nearest(short, known)))
    return known[short]


def title_of(text: str) -> str:
    r"""Return the first sentence of the first comment, or its part before a colon.

    Examples
    --------
    >>> title_of("# Late ACKs (Savage et al.\n# 1999): a burst. More.\n#\n# Look at: RTT.")
    'Late ACKs (Savage et al. 1999)'
    """
    if text.startswith("#"):
        lines = re.match(r"(?:#.*\n?)*", text)
        comment = lines[0].replace("#", "") if lines else ""
    else:
        comment = ast.get_docstring(ast.parse(text)) or ""
    paragraph = " ".join(re.split(r"\n *\n", comment)[0].split())
    sentence = re.match(r".*?(?:\?|(?<! al)[.:])(?= |$)", paragraph)
    return (sentence[0] if sentence else paragraph).rstrip(".:")


def _copy(files: list[Path], folder: Path) -> None:
    source = _source()
    wanted = {file: folder / file.relative_to(source) for file in files}
    needed = {one: folder / one.relative_to(source) for file in files for one in _needed(file)}
    for file, copy in (needed | wanted).items():
        # What an example needs may be there from another one.
        if copy.exists() and (file in wanted or copy.read_bytes() != file.read_bytes()):
            raise click.UsageError(
                f"{copy} exists, and nothing was copied: expected another directory, `--out DIR`"
            )
    for file, copy in (wanted | needed).items():
        if copy.exists():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        # `x`: not even a file that another program has just written.
        with copy.open("xb") as stream:
            stream.write(file.read_bytes())
        if len(wanted) <= MOST_NAMED:
            click.echo(f"wrote {copy}")
    if len(wanted) > MOST_NAMED:
        click.echo(f"wrote {plural(len(wanted), 'file')} to {folder}")


MOST_NAMED = 10
"""How many copies are named one by one."""


def _needed(file: Path) -> Iterator[Path]:
    """Yield the files that an example's values name: `cellular.down`, `my_rules.py:Patient(3)`."""
    from cwndlab.cli.hints import document

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif is_table(value) or is_list(value):
            for part in value.values() if is_table(value) else value:
                yield from texts(part)

    if file.suffix == ".toml":
        for text in texts(document(file)):
            beside = file.parent / text.partition(":")[0]
            if beside.is_file():
                yield beside
