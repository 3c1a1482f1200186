"""The gallery: runs what gallery.toml lists, draws it, and writes its pages and notebooks.

Keys of an entry: ``name``, ``title``, and one of ``scenario`` (a file of examples/, with ``set``:
dotted keys to change), ``script`` (a file of docs/website/scripts that leaves `result` and
`figure`), ``command`` (which draws to ``{picture}``), or ``record`` (a picture kept in the
repository from a long or live run, with the ``command`` that draws it). ``about`` and ``see`` are
what the reader reads; a scenario without them has the two parts of its opening comment. ``check``
is an expression of `result` (and `scenario`, `cwndlab`, `pl`) that must be true. ``live`` is the
name of a scenario in bench/beside.json, whose numbers the page shows.
"""

from __future__ import annotations

import base64
import html
import io
import re
import shlex
import subprocess
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import polars as pl
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

import cwndlab
from cwndlab.live_runs.run import counterpart
from cwndlab.plots import png_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLES = ROOT / "examples"
MOST_BYTES = 150_000
COLOURS = 96
MOST_FLOWS = 8
TRACE = {"trace.cwnd": "100ms", "trace.queue": "100ms", "trace.rate": "500ms"}
"""What is recorded where a scenario records nothing that can be drawn."""
EXAMPLE = re.compile(r"\bexamples/([\w-]+)\.toml")
"""An example that a command reads."""
CLAUSE_END = re.compile(r":\s|(?<=[.?!])(?<!\bet al\.)\s+(?=[A-Z`])")
"""The full stop of "et al. (2002)" ends nothing, and neither does one before a number."""
KINDS = {"scenario", "script", "command", "record"}
KEYS = KINDS | {"name", "title", "set", "about", "see", "check", "live"}


class GalleryError(Exception):
    """An entry that is not valid, or whose check is false."""


@dataclass
class Entry:
    """One example: what is run, and what the page says."""

    name: str
    title: str
    group: str
    scenario: str = ""
    set: dict[str, Any] = field(default_factory=dict)
    script: str = ""
    command: str = ""
    record: str = ""
    about: str = ""
    see: str = ""
    check: str = ""
    live: str = ""

    def __post_init__(self) -> None:
        if not any(getattr(self, kind) for kind in KINDS):
            raise GalleryError(f"{self.name}: nothing to run: expected one of {sorted(KINDS)}")
        if self.scenario:
            about, see = _comment(EXAMPLES / f"{self.scenario}.toml")
            self.about, self.see = self.about or about, self.see or see
        if not (self.about and self.see):
            raise GalleryError(f"{self.name}: `about` and `see` are missing")

    @property
    def needs(self) -> list[str]:
        """Files of examples/ that the scenario reads."""
        text = (EXAMPLES / f"{self.scenario}.toml").read_text("utf-8") if self.scenario else ""
        body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        own = {path.name for path in EXAMPLES.iterdir() if path.suffix != ".toml"}
        return sorted(name for name in own if name in body)

    def code(self, load: str | None = None) -> str:
        """Write the script; `load` is the expression that gives the scenario."""
        if self.script:
            return (HERE / "scripts" / f"{self.script}.py").read_text("utf-8")
        if not self.scenario:
            return ""
        changes = {**self._trace(), **self.set}
        load = load or f'cwndlab.Scenario.load("examples/{self.scenario}.toml")'
        lines = ["import cwndlab"]
        if self.live:
            lines.append("from cwndlab.live_runs.run import counterpart")
        lines += ["", f"scenario = {load}"]
        lines += [f"scenario = scenario.set({key!r}, {value!r})" for key, value in changes.items()]
        if self.live:
            lines.append("scenario = counterpart(scenario)    # the kernel's rules, simulated")
        return "\n".join([*lines, "result = cwndlab.run(scenario)", "figure = result.plot()", ""])

    def _trace(self) -> dict[str, Any]:
        traces = cwndlab.Scenario.load(EXAMPLES / f"{self.scenario}.toml").to_dict().get("trace")
        drawn = {"cwnd", "rate", "queue"} & set(traces or {})
        return {} if drawn else TRACE


@dataclass
class Drawn:
    """An entry that has run."""

    entry: Entry
    picture: bytes
    text: str = ""
    scenario: cwndlab.Scenario | None = None


def _comment(path: Path) -> tuple[str, str]:
    """Split the opening comment of an example: what it is, and what to look at."""
    head = []
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            break
        head.append(line.removeprefix("#").strip())
    about, _, see = " ".join(head).partition("Look at:")
    # A comment on the first key stands below "Look at", and is not for the reader of a page.
    see = see.strip()
    return about.strip(), see[:1].upper() + see[1:]


def entries() -> list[Entry]:
    """Read the manifest.

    Raises
    ------
    GalleryError
        If a key is not known, a name is double, or an entry has nothing to run.
    """
    with (HERE / "gallery.toml").open("rb") as file:
        groups = tomllib.load(file)["group"]
    found: dict[str, Entry] = {}
    for group in groups:
        for keys in group["entry"]:
            if unknown := set(keys) - KEYS:
                raise GalleryError(f"{keys['name']}: {sorted(unknown)} not known: expected {KEYS}")
            if keys["name"] in found:
                raise GalleryError(f"{keys['name']}: a second entry of this name")
            found[keys["name"]] = Entry(group=group["name"], **keys)
    return list(found.values())


def run(entry: Entry, folder: Path) -> Drawn:
    """Run an entry in the repository's root, and evaluate its check.

    Raises
    ------
    GalleryError
        If the check is false, a command fails or a picture is too large.
    """
    space: dict[str, Any] = {}
    text = ""
    if code := entry.code():
        exec(compile(code, f"gallery {entry.name}", "exec"), space)
        picture = _small(png_bytes(space["figure"]))
        text = _measured(space["result"])
        if entry.check and not eval(entry.check, {**space, "pl": pl, "cwndlab": cwndlab}):
            raise GalleryError(f"{entry.name}: `{entry.check}` is false:\n{text}")
    elif entry.record:
        picture = (ROOT / entry.record).read_bytes()
    else:
        target = folder / f"{entry.name}.png"
        words = shlex.split(entry.command.format(picture=shlex.quote(str(target))))
        program = [sys.executable, "-m", "cwndlab", *words[1:]]
        done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise GalleryError(f"{entry.name}: {entry.command}\n{done.stderr}")
        picture = _small(target.read_bytes())
    # Kept pictures have a limit of their own, in the test of the documents.
    if not entry.record and len(picture) > MOST_BYTES:
        raise GalleryError(f"{entry.name}: picture of {len(picture)} bytes: at most {MOST_BYTES}")
    return Drawn(entry, picture, text, space.get("scenario"))


def _measured(result: object) -> str:
    """Write the flows of a run as a table: nothing for what is no single run."""
    if not isinstance(result, cwndlab.Result):
        return ""
    lines = [
        "| flow | rule | goodput [Mbit/s] | loss [%] | mean RTT [ms] | timeouts |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    rows = result.flows.head(MOST_FLOWS).iter_rows(named=True)
    for row in rows:
        goodput, loss = row["goodput_bps"] / 1e6, 100 * row["loss_rate"]
        rtt = "-" if row["mean_rtt_s"] is None else f"{1e3 * row['mean_rtt_s']:.1f}"
        lines.append(
            f"| {row['flow']} | {row['rule']} | {goodput:.3f} | {loss:.3f} | {rtt} "
            f"| {row['timeouts']} |"
        )
    rest = result.flows.height - MOST_FLOWS
    ended = f" {rest} further flows are left out." if rest > 0 else ""
    return "\n".join(lines) + f"\n\nTrace hash {result.trace_hash}.{ended}"


def _small(png: bytes) -> bytes:
    """Store a picture with a palette: a third of the bytes."""
    buffer = io.BytesIO()
    full = Image.open(io.BytesIO(png)).convert("RGB")
    full.thumbnail((1350, 1350), Image.Resampling.LANCZOS)
    full.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        buffer, format="PNG", optimize=True
    )
    return buffer.getvalue()


def address(drawn: Drawn) -> str | None:
    """Return what follows ``studio.html`` to open the scenario there; None where it cannot run.

    As web/src/state/share.ts reads it: TOML, deflated without a header, in base64url.
    """
    scenario = drawn.scenario
    if scenario is None or any(name.endswith(".py") for name in drawn.entry.needs):
        return None
    if any("stack" in flow for flow in scenario.to_dict().get("flows", [])):
        return None
    entry = drawn.entry
    if entry.set or entry.live:
        # The studio has the files of examples/, by name.
        text = scenario.to_toml().replace(f"{EXAMPLES}/", "")
    else:
        text = (EXAMPLES / f"{entry.scenario}.toml").read_text("utf-8")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(text.encode()) + packer.flush()
    return "#/build?s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def notebook(drawn: Drawn) -> str:
    """Write an entry as a notebook with its picture: JSON."""
    entry = drawn.entry
    text = f"# {entry.title}\n\n{entry.about}\n\n**What to see.** {entry.see}"
    if entry.needs:
        text += "\n\nKeep beside this notebook: " + ", ".join(
            f"`{name}`" for name in [f"{entry.scenario}.toml", *entry.needs]
        )
    cells = [new_markdown_cell(text, id="cell-01")]
    picture = {"image/png": base64.b64encode(drawn.picture).decode()}
    if entry.scenario and not entry.needs:
        text = (EXAMPLES / f"{entry.scenario}.toml").read_text("utf-8")
        cells.append(new_code_cell(f"TOML = r'''{text}'''", id="cell-02", execution_count=1))
        code = entry.code("cwndlab.Scenario.from_text(TOML)")
    elif entry.scenario:
        code = entry.code(f'cwndlab.Scenario.load("{entry.scenario}.toml")')
    else:
        code = entry.code()
    if code:
        outputs = [new_output("display_data", data=picture)]
        cells.append(new_code_cell(code + "figure", id="cell-03", outputs=outputs))
    else:
        command = entry.command.format(picture=f"{entry.name}.png")
        outputs = [new_output("display_data", data=picture)]
        cells.append(new_code_cell(f"!{command}", id="cell-03", outputs=outputs))
    for number, cell in enumerate(cells[1:], 1):
        cell["execution_count"] = number
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.validate(made)
    return nbformat.writes(made)


def page(drawn: Drawn, *, studio: bool, rows: list[list[str]]) -> str:
    """Write the page of an entry, in the folder docs/website/pages/gallery."""
    entry, name = drawn.entry, drawn.entry.name
    links = []
    if studio and (where := address(drawn)):
        links.append(f'<a class="button" href="../studio.html{where}">Open in the studio</a>')
    links.append(f'<a class="button plain" href="{name}.ipynb" download>Notebook</a>')
    if entry.scenario:
        for file in [f"{entry.scenario}.toml", *entry.needs]:
            where = f"../files/examples/{file}"
            links.append(f'<a class="button plain" href="{where}" download>{file}</a>')
    parts = [
        f"# {entry.title}",
        entry.about,
        f"**What to see.** {entry.see}",
        "<p>" + " ".join(links) + "</p>",
        f"![{html.escape(entry.title)}: what the run below drew]({name}.png)",
    ]
    if entry.live and rows:
        titles = "quantity", "simulated", "with jitter", "live", "difference", "allowed", "within"
        table = ["| " + " | ".join(cells) + " |" for cells in (titles, ["---"] * 7, *rows)]
        parts += ["## Live beside simulated", "\n".join(table)]
        parts.append(
            "The picture is of the simulation. The numbers are kept from the runs that "
            "[live and simulated](../live-beside.md) describes."
        )
    command = entry.command.format(picture=f"{name}.png")
    parts.append("## Run it")
    copied = entry.scenario or (found[1] if (found := EXAMPLE.search(command)) else "")
    if copied:
        parts.append("Without a clone, copy the example first:")
        parts.append(f"```console\n$ cwndlab examples {copied}\n```")
    if code := entry.code():
        parts.append(f"```python\n{code}```")
        if entry.scenario and not entry.live:
            options = "".join(
                f" --set {shlex.quote(f'{key}={str(value).lower() if value in (True, False) else value}')}"  # noqa: E501 - one expression
                for key, value in entry.set.items()
            )
            command = f"cwndlab run examples/{entry.scenario}.toml{options} --plot {name}.png"
            parts.append(f"Or on the command line:\n\n```console\n$ {command}\n```")
    else:
        parts.append(f"```console\n$ {command}\n```")
    if entry.scenario:
        text = (EXAMPLES / f"{entry.scenario}.toml").read_text("utf-8")
        parts += ["## The scenario", f"```toml\n{text}```"]
    if entry.record:
        parts.append("This picture is kept in the repository: the run behind it takes long.")
    elif drawn.text:
        parts += ["## What it measured", drawn.text]
    return "\n\n".join(parts) + "\n"


def first_clause(text: str) -> str:
    """Cut a text after its first sentence, or before its first colon.

    Examples
    --------
    >>> first_clause("The algorithm of Attie et al. (2003): eight flows. One joins late.")
    'The algorithm of Attie et al. (2003).'
    """
    clause = CLAUSE_END.split(text, maxsplit=1)[0].replace("`", "").replace("*", "")
    return clause if clause.endswith((".", "?", "!")) else f"{clause}."


def index(found: list[Entry], *, studio: bool) -> str:
    """Write the page of all entries: a small picture, a title and a sentence of each."""
    kept = sum(bool(entry.record) for entry in found)
    lines = [
        "# Gallery",
        f"{len(found)} examples. {len(found) - kept} ran when this site was built; {kept} are kept "
        "pictures of long or live runs. Each has what to see in it, the code, a notebook, and "
        + (
            "where it can a link that opens it in the [studio](../studio.md)."
            if studio
            else "its scenario as a file: this site was built without the studio."
        ),
    ]
    for group in dict.fromkeys(entry.group for entry in found):
        lines += [f"## {group}", '<div class="gallery">']
        for entry in (entry for entry in found if entry.group == group):
            about = html.escape(first_clause(entry.about))
            lines.append(
                f'<a class="example" href="{entry.name}.html">'
                f'<img src="{entry.name}.small.png" alt="" loading="lazy" width="320" height="200">'
                f"<b>{html.escape(entry.title)}</b><span>{about}</span></a>"
            )
        lines.append("</div>")
    toc = "\n".join(["```{toctree}", ":hidden:", "", *(entry.name for entry in found), "```"])
    text = "\n\n".join(lines).replace("</a>\n\n<a", "</a>\n<a")
    return text.replace('"gallery">\n\n', '"gallery">\n') + "\n\n" + toc + "\n"


def small(picture: bytes) -> bytes:
    """Make the small picture of the gallery's page: 320 x 200 at two pixels each."""
    full = Image.open(io.BytesIO(picture)).convert("RGB")
    full.thumbnail((640, 4000), Image.Resampling.LANCZOS)
    box = Image.new("RGB", (640, 400), "white")
    box.paste(full.crop((0, 0, full.width, min(400, full.height))), ((640 - full.width) // 2, 0))
    buffer = io.BytesIO()
    box.quantize(48, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        buffer, format="PNG", optimize=True
    )
    return buffer.getvalue()


def hero() -> bytes:
    """Draw the picture of the landing page: two rules on one link, large enough to read."""
    scenario = cwndlab.dumbbell(
        "50Mbit",
        "40ms",
        flows=[{"name": "a", "rule": "CUBIC"}, {"name": "b", "rule": "AIMD(1, 0.5)"}],
        duration="60s",
        profile="linux",
        trace={"cwnd": "100ms", "queue": "100ms"},
    )
    figure = cwndlab.run(scenario).plot(width="6in", style="paper")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=200)
    return _small(buffer.getvalue())


def live_rows() -> dict[str, list[list[str]]]:
    """Numbers of live runs beside simulated ones, by scenario, from the kept record."""
    import importlib.util
    import json

    path = ROOT / "bench" / "beside.py"
    spec = importlib.util.spec_from_file_location("beside", path)
    if spec is None or spec.loader is None:
        raise GalleryError(f"{path}: expected a Python file")
    beside = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(beside)
    rows: dict[str, list[list[str]]] = {}
    for name, *cells in beside.lines(json.loads((ROOT / "bench" / "beside.json").read_text())):
        rows.setdefault(name, []).append(cells)
    return rows


__all__ = ["Drawn", "Entry", "GalleryError", "address", "counterpart", "entries", "first_clause",
           "hero", "index", "live_rows", "notebook", "page", "run", "small"]  # fmt: skip
