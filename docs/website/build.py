"""Builds the documentation site: ``python docs/website/build.py [--quick] [--out DIR]``.

The pages are the documents of this repository where they stand, and those of docs/website/pages.
SITE maps each to its address; a link between two documents becomes a link between their addresses,
and a link to another file gets a copy of that file. Written from the program are the gallery
(gallery.py), and the help of every command. Sphinx builds the result, and a warning fails the
build. ``--quick`` draws no picture of the gallery and is for tests: it checks pages and links.
"""

from __future__ import annotations

import argparse
import io
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import gallery
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = HERE / "pages"
STUDIO = ROOT / "python" / "cwndlab" / "templates" / "studio.html"

SITE = {
    "README.md": "project/readme",
    "ARCHITECTURE.md": "project/architecture",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changes",
    "docs/custom-rules.md": "guides/custom-rules",
    "docs/sweeps.md": "guides/sweeps",
    "docs/search.md": "guides/search",
    "docs/design.md": "guides/design",
    "docs/assess.md": "guides/assess",
    "docs/studio.md": "guides/studio",
    "docs/lessons/README.md": "guides/lessons",
    "docs/live.md": "guides/live",
    "docs/quic.md": "guides/quic",
    "docs/kernel.md": "guides/kernel",
    "docs/ns2.md": "guides/ns2",
    "docs/papers.md": "guides/papers",
    "docs/security.md": "guides/security",
    "docs/theory.md": "concepts/theory",
    "docs/environments.md": "concepts/environments",
    "docs/l4s.md": "concepts/l4s",
    "docs/agreement.md": "concepts/agreement",
    "docs/live-beside.md": "concepts/live-beside",
    "docs/reproduction.md": "concepts/reproduction",
    "docs/witness.md": "concepts/witness",
    "docs/performance.md": "concepts/performance",
    "docs/glossary.md": "concepts/glossary",
    "docs/command-line.md": "reference/command-line",
    "docs/scenario.md": "reference/scenario",
    "docs/rules.md": "reference/rules",
    "docs/queues.md": "reference/queues",
    "docs/metrics.md": "reference/metrics",
    "docs/profiles.md": "reference/profiles",
    "docs/api.md": "reference/api",
}
"""Documents outside docs/website, and the address of each."""
LEFT_OUT = re.compile(r"^docs/decisions/")
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s]+)(?P<after>\))|"
                  r'(?P<html>(?:href|src)=")(?P<address>[^"]+)(?P<end>")')  # fmt: skip
FENCE = re.compile(r"^(?P<fence>`{3,}).*?^(?P=fence)$", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"^<!-- (?:generated: .*?|gallery|designs: .*?|end) -->\n", re.MULTILINE)
PICTURES = {".png", ".svg", ".webp", ".jpg"}


class SiteError(Exception):
    """A document without an address, or a link to nothing."""


def documents() -> dict[Path, str]:
    """Every document, and its address without ending."""
    found = {ROOT / name: address for name, address in SITE.items() if (ROOT / name).exists()}
    for path in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        name = "index" if path.stem == "README" else path.stem
        found[path] = f"project/decisions/{name}"
    for path in sorted(PAGES.rglob("*.md")):
        found[path] = path.relative_to(PAGES).with_suffix("").as_posix()
    missing = set((ROOT / "docs").glob("*.md")) - set(found)
    if missing:
        raise SiteError(f"{sorted(missing)}: no address: expected a line of SITE")
    return found


def _between(folder: str, address: str) -> str:
    """Give the way from a folder of the site to an address."""
    return posixpath.relpath(address, folder or ".")


class Stage:
    """A folder of sources for Sphinx, in which every link points where the site has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.addresses = documents()
        self.copied: set[tuple[Path, bool]] = set()

    def add(self, path: Path, text: str, address: str) -> None:
        """Put a document at its address; `path` is what its links are relative to."""
        target = self.folder / f"{address}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        text = COMMENT.sub("", text)
        parts, begin = [], 0
        for block in FENCE.finditer(text):
            parts += [self._linked(path, text[begin : block.start()], address), block[0]]
            begin = block.end()
        parts.append(self._linked(path, text[begin:], address))
        target.write_text("".join(parts), encoding="utf-8")

    def _linked(self, path: Path, text: str, address: str) -> str:
        def replaced(match: re.Match[str]) -> str:
            target = match["target"] or match["address"]
            around = (match["before"] or match["html"], match["after"] or match["end"])
            new = self._target(path, target, address, html=match["html"] is not None)
            return match[0] if new is None else around[0] + new + around[1]

        return LINK.sub(replaced, text)

    def _target(self, path: Path, target: str, address: str, *, html: bool) -> str | None:
        """Where a link of a document leads in the site; None where it stays as it is."""
        if target.startswith(("http:", "https:", "mailto:", "#", "data:")):
            return None
        name, mark, anchor = target.partition("#")
        file = (path.parent / name).resolve()
        folder = posixpath.dirname(address)
        if file in self.addresses:
            ending = ".html" if html else ".md"
            return _between(folder, self.addresses[file] + ending) + mark + anchor
        if path.is_relative_to(HERE) and not file.exists():
            # Written by the build: the studio, the gallery.
            return None
        if not file.exists():
            raise SiteError(f"{path}: {target} does not exist")
        if file == gallery.EXAMPLES:
            return _between(folder, "gallery/index.html" if html else "gallery/index.md")
        if file.is_dir():
            listing = f"files/{file.relative_to(ROOT).as_posix()}/index"
            self._list(file, listing)
            return _between(folder, listing + (".html" if html else ".md")) + mark + anchor
        where = f"files/{file.relative_to(ROOT).as_posix()}"
        # Pictures in Markdown are Sphinx's; other files are copied as they are.
        own = file.suffix in PICTURES and not html
        if (file, own) not in self.copied:
            self.copied.add((file, own))
            copy = self.folder / where if own else self.folder / "extra" / where
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        new = _between(folder, where) + mark + anchor
        return new if own or html else f"copy:{new}"

    def _list(self, folder: Path, address: str) -> None:
        """Write a page with the names of a directory's files, and copy those that are small."""
        if (self.folder / f"{address}.md").exists():
            return
        tracked = subprocess.run(
            ["git", "ls-files", "-z", "."], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.split("\0")
        lines = []
        for name in sorted(filter(None, tracked)):
            file = folder / name
            if file.stat().st_size > MOST_COPIED or "/" in name:
                lines.append(f"* `{name}`")
            else:
                shown = (folder / name).resolve()
                lines.append(f"* [`{name}`]({posixpath.relpath(shown, folder)})")
        title = folder.relative_to(ROOT).as_posix()
        head = f"---\norphan: true\n---\n\n# `{title}`\n\nFiles of this directory.\n\n"
        self.add(folder / "README", head + "\n".join(lines) + "\n", address)


MOST_COPIED = 200_000


def help_of_commands() -> str:
    """Write the help of every command."""
    from cwndlab.cli.app import app as root

    lines = [
        "# Commands and options",
        "What `--help` prints, command by command. [The command line](command-line.md) tells how "
        "tables, messages and exit codes work.",
    ]

    def add(command: click.Command, name: str, parent: click.Context | None) -> None:
        context = click.Context(command, info_name=name, parent=parent, max_content_width=80)
        context.terminal_width = 80
        lines.append(f"## `{context.command_path}`")
        lines.append(f"```text\n{command.get_help(context)}\n```")
        if isinstance(command, click.Group):
            for part in command.list_commands(context):
                found = command.get_command(context, part)
                assert found is not None
                add(found, part, context)

    add(root, "cwndlab", None)
    return "\n\n".join(lines) + "\n"


def stage_gallery(stage: Stage, *, quick: bool) -> None:
    """Run the gallery, and write its pages, pictures and notebooks."""
    found = gallery.entries()
    rows = gallery.live_rows()
    folder = stage.folder / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    extra = stage.folder / "extra" / "gallery"
    extra.mkdir(parents=True, exist_ok=True)
    origin = HERE / "gallery.toml"
    stage.add(origin, gallery.index(found), "gallery/index")
    (extra / "hero.png").write_bytes(_blank() if quick else gallery.hero())
    for number, entry in enumerate(found, 1):
        begin = time.monotonic()
        drawn = gallery.Drawn(entry, _blank()) if quick else gallery.run(entry, folder)
        (folder / f"{entry.name}.png").write_bytes(drawn.picture)
        (extra / f"{entry.name}.small.png").write_bytes(gallery.small(drawn.picture))
        (extra / f"{entry.name}.ipynb").write_text(gallery.notebook(drawn), encoding="utf-8")
        text = gallery.page(drawn, studio=STUDIO.exists(), rows=rows.get(entry.live, []))
        stage.add(origin, text, f"gallery/{entry.name}")
        if not quick:
            took = time.monotonic() - begin
            print(f"gallery {number}/{len(found)}: {entry.name}, {took:.1f} s", file=sys.stderr)
    for file in gallery.EXAMPLES.iterdir():
        if file.is_file():
            copy = stage.folder / "extra" / "files" / "examples" / file.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def _blank() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (640, 400), "white").save(buffer, format="PNG")
    return buffer.getvalue()


def build(out: Path, *, quick: bool) -> int:
    """Stage the sources and run Sphinx; return its exit code."""
    with tempfile.TemporaryDirectory(prefix="cwndlab-site-") as name:
        stage = Stage(Path(name))
        (stage.folder / "extra").mkdir()
        if STUDIO.exists():
            shutil.copyfile(STUDIO, stage.folder / "extra" / "studio.html")
        else:
            print("no studio in the site: `make web` builds it", file=sys.stderr)
            (stage.folder / "extra" / "studio.html").write_text(NO_STUDIO, encoding="utf-8")
        for path, address in stage.addresses.items():
            text = path.read_text(encoding="utf-8")
            stage.add(
                path, text + (DECISIONS if address.endswith("decisions/index") else ""), address
            )
        stage.add(ROOT / "docs/command-line.md", help_of_commands(), "reference/commands")
        stage_gallery(stage, quick=quick)
        for file in ("conf.py", "site.css", "site.js"):
            shutil.copyfile(HERE / file, stage.folder / file)
        shutil.rmtree(out, ignore_errors=True)
        return subprocess.run(
            [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet",
             "-b", "html", "-d", str(stage.folder / ".doctrees"), str(stage.folder), str(out)],
            check=False,
        ).returncode  # fmt: skip


DECISIONS = """
```{toctree}
:hidden:
:glob:

*
```
"""
NO_STUDIO = """<!doctype html><meta charset="utf-8"><title>cwndlab studio</title>
<p>This copy of the site was built without the studio. <code>make web site</code> builds both."""


def main() -> int:
    """Build the site, and say where it is."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="draw no pictures of the gallery")
    options.add_argument("--out", type=Path, default=ROOT / "out" / "site", metavar="DIR")
    chosen = options.parse_args()
    code = build(chosen.out.resolve(), quick=chosen.quick)
    if code == 0:
        size = sum(file.stat().st_size for file in chosen.out.rglob("*") if file.is_file())
        print(f"{chosen.out / 'index.html'}: {size / 1e6:.1f} MB")
    return code


if __name__ == "__main__":
    sys.exit(main())
