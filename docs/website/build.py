"""Builds the documentation site: ``python docs/website/build.py [--quick] [--out DIR]``.

The pages are the documents of this repository where they stand, and those of docs/website/pages.
SITE maps each to its address; a link between two documents becomes a link between their addresses,
and a link to another file gets a copy of that file. Written from the program are the gallery
(gallery.py), and the help of every command; the lessons' notebooks become pages (notebooks.py).
Sphinx builds the result. A warning fails the build, and so does a dead link (links.py). ``--quick``
draws no picture of the gallery and is for tests: it checks pages and links. ``--without-studio``
builds the site where `make web` cannot: its pages then say that the studio is not there.
"""

from __future__ import annotations

import argparse
import io
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path

import click
import gallery
import links
import notebooks
from PIL import Image

import cwndlab

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = HERE / "pages"
STUDIO = ROOT / "python" / "cwndlab" / "templates" / "studio.html"
LESSONS = ROOT / "web" / "src" / "lessons" / "content"

SITE = {
    "README.md": "project/readme",
    "ARCHITECTURE.md": "project/architecture",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changes",
    "docs/README.md": "project/documents",
    "docs/first-session.md": "start/first-session",
    "docs/tutorial.md": "start/tutorial",
    "docs/custom-rules.md": "guides/custom-rules",
    "docs/sweeps.md": "guides/sweeps",
    "docs/figures.md": "guides/figures",
    "docs/search.md": "guides/search",
    "docs/design.md": "guides/design",
    "docs/gym.md": "guides/gym",
    "docs/assess.md": "guides/assess",
    "docs/assess-calibration.md": "guides/assess-calibration",
    "docs/assess-league.md": "guides/assess-league",
    "docs/matrix.md": "guides/matrix",
    "docs/tcpeval.md": "guides/tcpeval",
    "docs/studio.md": "guides/studio",
    "docs/lessons/README.md": "guides/lessons",
    "docs/explain.md": "guides/explain",
    "docs/import.md": "guides/import",
    "docs/live.md": "guides/live",
    "docs/virtual-kernel.md": "guides/virtual-kernel",
    "docs/quic.md": "guides/quic",
    "docs/kernel.md": "guides/kernel",
    "docs/ns2.md": "guides/ns2",
    "docs/multipath.md": "guides/multipath",
    "docs/papers.md": "guides/papers",
    "docs/published.md": "guides/published",
    "docs/security.md": "guides/security",
    "docs/theory.md": "concepts/theory",
    "docs/environments.md": "concepts/environments",
    "docs/intervals.md": "concepts/intervals",
    "docs/l4s.md": "concepts/l4s",
    "docs/known-results.md": "concepts/known-results",
    "docs/agreement.md": "concepts/agreement",
    "docs/live-beside.md": "concepts/live-beside",
    "docs/linux.md": "concepts/linux",
    "docs/conform.md": "concepts/conform",
    "docs/reproduction.md": "concepts/reproduction",
    "docs/witness.md": "concepts/witness",
    "docs/performance.md": "concepts/performance",
    "docs/glossary.md": "concepts/glossary",
    "docs/command-line.md": "reference/command-line",
    "docs/scenario.md": "reference/scenario",
    "docs/network.md": "reference/network",
    "docs/traffic.md": "reference/traffic",
    "docs/waveforms.md": "reference/waveforms",
    "docs/rules.md": "reference/rules",
    "docs/queues.md": "reference/queues",
    "docs/metrics.md": "reference/metrics",
    "docs/profiles.md": "reference/profiles",
    "docs/ns2-profiles.md": "reference/ns2-profiles",
    "docs/api.md": "reference/api",
}
"""Documents outside docs/website, and the address of each."""
LEFT_OUT = re.compile(r"^docs/decisions/")
HTML_LINK = re.compile(r'(?P<html>(?:href|src)=")(?P<address>[^"]+)(?P<end>")')
LINK = re.compile(rf"(?P<before>\]\()(?P<target>[^)\s]+)(?P<after>\))|{HTML_LINK.pattern}")
STUDIO_LINKS = re.compile(
    r'(?:<p>)?(?:<(?P<tag>a|button)\b[^<>]*"[^"<>]*studio\.html[^"<>]*"[^<>]*>[^<]*</(?P=tag)>\s*)+'
    r"(?:</p>)?"
)
NO_STUDIO = """<p class="absent">This site was built without the studio, the simulator as a page:
<code>make web site</code> builds both.</p>
"""
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
    for path in sorted((ROOT / "docs" / "lessons").glob("*.ipynb")):
        found[path] = f"guides/lessons/{path.stem}"
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

    def __init__(self, folder: Path, *, studio: bool) -> None:
        self.folder = folder
        self.studio = studio
        self.addresses = documents()
        self.copied: set[tuple[Path, bool]] = set()
        self.written: set[str] = set()
        """Targets of links that the build writes: they stay as they are."""

    def add(self, path: Path, text: str, address: str) -> None:
        """Put a document at its address; `path` is what its links are relative to."""
        target = self.folder / f"{address}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        text = COMMENT.sub("", text)
        if not self.studio:
            text = STUDIO_LINKS.sub(NO_STUDIO, text)
        parts, begin = [], 0
        for block in FENCE.finditer(text):
            parts += [self._linked(path, text[begin : block.start()], address), block[0]]
            begin = block.end()
        parts.append(self._linked(path, text[begin:], address))
        target.write_text("".join(parts), encoding="utf-8")

    def _linked(self, path: Path, text: str, address: str, pattern: re.Pattern[str] = LINK) -> str:
        def replaced(match: re.Match[str]) -> str:
            parts = match.groupdict()
            if parts["html"] is None:
                before, target, after = parts["before"], parts["target"], parts["after"]
            else:
                before, target, after = parts["html"], parts["address"], parts["end"]
            new = self._target(path, target, address, html=parts["html"] is not None)
            return match[0] if new is None else before + new + after

        return pattern.sub(replaced, text)

    def _target(self, path: Path, target: str, address: str, *, html: bool) -> str | None:
        """Where a link of a document leads in the site; None where it stays as it is."""
        outside = ("http:", "https:", "mailto:", "#", "data:")
        if target.startswith(outside) or target in self.written:
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
        if self.studio and file.parent == LESSONS and path.parent != LESSONS:
            number = sorted(LESSONS.glob("*.toml")).index(file) + 1
            return f"copy-at:{_between(folder, 'studio.html')}#/lessons/{number}"
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
            if file.suffix == ".html":
                text = self._linked(file, file.read_text(encoding="utf-8"), where, HTML_LINK)
                copy.write_text(text, encoding="utf-8")
            else:
                shutil.copyfile(file, copy)
        new = _between(folder, where) + mark + anchor
        return new if own or html else f"{'copy-at' if mark else 'copy'}:{new}"

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


def stage_lesson(stage: Stage, path: Path, address: str) -> None:
    """Write the page of a notebook, its pictures, and a copy to download."""
    copy = f"files/{path.relative_to(ROOT).as_posix()}"
    download = _between(posixpath.dirname(address), copy)
    text, pictures = notebooks.page(path, download)
    stage.written |= {download, *pictures}
    stage.add(path, text, address)
    for name, picture in pictures.items():
        (stage.folder / address).with_name(name).write_bytes(picture)
    target = stage.folder / "extra" / copy
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def stage_gallery(stage: Stage, *, quick: bool) -> None:
    """Run the gallery, and write its pages, pictures and notebooks."""
    found = gallery.entries()
    rows = gallery.live_rows()
    folder = stage.folder / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    extra = stage.folder / "extra" / "gallery"
    extra.mkdir(parents=True, exist_ok=True)
    origin = HERE / "gallery.toml"
    stage.add(origin, gallery.index(found, studio=stage.studio), "gallery/index")
    (extra / "hero.png").write_bytes(_blank() if quick else gallery.hero())
    for number, entry in enumerate(found, 1):
        begin = time.monotonic()
        drawn = gallery.Drawn(entry, _blank()) if quick else gallery.run(entry, folder)
        (folder / f"{entry.name}.png").write_bytes(drawn.picture)
        (extra / f"{entry.name}.small.png").write_bytes(gallery.small(drawn.picture))
        (extra / f"{entry.name}.ipynb").write_text(gallery.notebook(drawn), encoding="utf-8")
        text = gallery.page(drawn, studio=stage.studio, rows=rows.get(entry.live, []))
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


def build(out: Path, *, quick: bool, versioned: bool, studio: bool) -> int:
    """Stage the sources, run Sphinx and follow the links; return the exit code.

    Raises
    ------
    SiteError
        If the studio is wanted and not built, a document has no address, or a link leads nowhere.
    """
    if studio and not STUDIO.exists():
        raise SiteError(
            f"{STUDIO.relative_to(ROOT)} is not there: expected the studio, which `make web` "
            "builds; `make SITE=--without-studio site` builds a site that says it has none"
        )
    with tempfile.TemporaryDirectory(prefix="cwndlab-site-") as name:
        stage = Stage(Path(name), studio=studio)
        (stage.folder / "extra").mkdir()
        if studio:
            shutil.copyfile(STUDIO, stage.folder / "extra" / "studio.html")
        for path, address in stage.addresses.items():
            if path.suffix == ".ipynb":
                stage_lesson(stage, path, address)
                continue
            text = path.read_text(encoding="utf-8")
            if children := CHILDREN.get(address):
                text += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{children}\n```\n"
            stage.add(path, text, address)
        stage.add(ROOT / "docs/command-line.md", help_of_commands(), "reference/commands")
        stage_gallery(stage, quick=quick)
        for file in ("conf.py", "site.css", "site.js", *(["versions.js"] if versioned else [])):
            shutil.copyfile(HERE / file, stage.folder / file)
        shutil.rmtree(out, ignore_errors=True)
        code = subprocess.run(
            [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet",
             "-b", "html", "-d", str(stage.folder / ".doctrees"), str(stage.folder), str(out)],
            check=False,
        ).returncode  # fmt: skip
    if code == 0 and (dead := links.dead(out)):
        raise SiteError("\n".join(["links that lead nowhere:", *dead]))
    return code


CHILDREN = {
    "project/decisions/index": "*",
    "guides/lessons": "lessons/why-aimd-converges\nlessons/loss-and-rate\n"
    "lessons/what-a-router-changes",
}
"""What the table of contents of a page has below it."""


def list_versions(folder: Path) -> list[str]:
    """Write what the sites of several versions, folders of `folder`, need beside them.

    That is `versions.js`, from which each page offers the others, and an `index.html` that leads to
    the newest.

    Returns
    -------
    list of str
        The versions, the newest first.
    """
    found = [page.parent.name for page in folder.glob("*/index.html")]
    found.sort(key=lambda name: [int(part) for part in re.findall(r"[0-9]+", name)], reverse=True)
    (folder / "versions.js").write_text(
        f"window.cwndlabVersions = {json.dumps(found)};\n", encoding="utf-8"
    )
    newest = escape(found[0], quote=True)
    (folder / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>cwndlab</title>\n'
        f'<meta http-equiv="refresh" content="0; url={newest}/index.html">\n'
        f'<a href="{newest}/index.html">cwndlab {newest}</a>\n',
        encoding="utf-8",
    )
    return found


def main() -> int:
    """Build the site, and say where it is."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="draw no pictures of the gallery")
    options.add_argument("--without-studio", action="store_true",
                         help="leave the studio out; pages say so")  # fmt: skip
    options.add_argument("--out", type=Path, default=ROOT / "out" / "site", metavar="DIR")
    options.add_argument("--versions", type=Path, metavar="DIR",
                         help="build into DIR/VERSION, and list the versions in DIR")  # fmt: skip
    chosen = options.parse_args()
    if chosen.versions is not None:
        chosen.out = chosen.versions / cwndlab.__version__
    versioned = chosen.versions is not None
    try:
        code = build(chosen.out.resolve(), quick=chosen.quick, versioned=versioned,
                     studio=not chosen.without_studio)  # fmt: skip
    except SiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if code == 0 and versioned:
        print(f"versions: {', '.join(list_versions(chosen.versions))}")
    if code == 0:
        size = sum(file.stat().st_size for file in chosen.out.rglob("*") if file.is_file())
        print(f"{chosen.out / 'index.html'}: {size / 1e6:.1f} MB")
    return code


if __name__ == "__main__":
    sys.exit(main())
