"""The summary of all verdicts: a Markdown page, with its data and plots.

``reproduction.json`` has the results; ``reproduction.md`` is made of it alone, so that it can be
checked without any run. Papers that were not run stay as they are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cwndlab
from cwndlab import ScenarioError
from cwndlab.outputs import stamped
from cwndlab.plugins import dumps, unknown, write_whole
from cwndlab.statistics import simultaneous
from cwndlab_papers import browser
from cwndlab_papers.claims import Judged
from cwndlab_papers.open_values import Readings
from cwndlab_papers.readings import NOT_JUDGED, UNDECIDED
from cwndlab_papers.summary_text import markdown

if TYPE_CHECKING:
    from cwndlab_papers.running import Reproduction
    from cwndlab_papers.variants import Sensitivity

NAME = "reproduction"
WIDTH_PIXELS = 1000
COLOURS = 256
BROWSER = f"{NAME}/claims.html"
KEPT = ("readings", "under_readings", "dated")
"""Parts of a paper's page that other commands write."""
PART = "verdicts"
"""Name of the generated part in the page (docs/generate.py)."""
HEAD = """# Five papers, run again

What `cwndlab reproduce` finds of each claim of a paper: a number with its 95 % confidence interval,
and whether that is what the paper says. [All claims in a browser](reproduction/claims.html), with
filters by paper, verdict, cause and tag; [papers](papers.md#verdicts) has how they are judged, and
[the witness](witness.md) what ns-2 says of them. This page, its data (`reproduction.json`) and its
plots are written by `cwndlab reproduce --all --page docs`.

Columns are verdicts and, for claims that do not hold, causes: *contradictory*, the paper against
itself; *open value*, one that it leaves open decides; *ns-2*, that year's endpoints or routers
decide; *wording*, the direction is right or there is none, and our bound is not met; *refuted*, by
every value tried.

"""


def update(found: Sequence[Reproduction], folder: Path) -> Path:
    """Write ``reproduction.json``, ``reproduction.md`` and ``images/reproduction/PAPER-ID.png``.

    Parameters
    ----------
    found : sequence of Reproduction
        Full reproductions; other papers, and experiments of these that were not run, stay as they
        are.
    folder : Path
        Where.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ScenarioError
        If a paper was run with --quick or with other assumptions, or in part where the page lacks
        the other experiments.
    """
    data = read(folder)
    for entry in found:
        known = [about["id"] for about in data["papers"].get(entry.paper.key, {}).get(
            "experiments", ())]  # fmt: skip
        is_whole = {*entry.ids, *known} >= {*entry.paper.experiments}
        is_changed = entry.assume or entry.reading is not None
        if entry.is_quick or is_changed or not entry.ids or not is_whole:
            raise ScenarioError(
                f"`page` needs full runs, and `{entry.paper.key}` was run with --quick, "
                "--assume, --reading, or an ID although the page lacks others"
            )
    images = folder / "images" / NAME
    images.mkdir(parents=True, exist_ok=True)
    for entry in found:
        before: dict[str, Any] = data["papers"].get(entry.paper.key, {})
        others = [claim for claim in before.get("claims", ()) if claim["id"] not in entry.ids]
        now = _paper(entry, images, others)
        if list(entry.ids) != list(entry.paper.experiments):
            now = _merged(before, now, entry)
        if _is_about("sensitivity", before, now["claims"]):
            now["sensitivity"] = before["sensitivity"]
        now |= {part: before[part] for part in KEPT if part in before}
        data["papers"][entry.paper.key] = now
    return _write(data, folder)


def _merged(
    before: Mapping[str, Any], now: Mapping[str, Any], found: Reproduction
) -> dict[str, Any]:
    """Return a paper with the experiments that were run now, and the others as they were.

    Its hash of claims is today's once all of its experiments have been run with these claims.
    """
    today, experiments = found.paper.claims_hash, list(found.paper.experiments)
    renewed = before.get("renewed", {})
    same = renewed.get("experiments", ()) if renewed.get("claims_hash") == today else ()
    is_current = before.get("claims_hash") == today
    run = [name for name in experiments if name in {*same, *found.ids} or is_current]
    merged: dict[str, Any] = {**now, "claims_hash": today}
    for part in ("experiments", "claims", "published"):
        rows = [row for row in before[part] if row["id"] not in found.ids]
        rows += [row for row in now[part] if row["id"] in found.ids]
        merged[part] = sorted(rows, key=lambda row: experiments.index(row["id"]))
    if len(run) < len(experiments):
        merged["claims_hash"] = before.get("claims_hash")
        merged["renewed"] = {"claims_hash": today, "experiments": run}
    return merged


def vary(found: Sensitivity | Readings, folder: Path) -> Path:
    """Add the sensitivity or the readings of a paper to the page, which must have the paper.

    Raises
    ------
    ScenarioError
        If the page lacks the paper.
    """
    check(found.paper, folder)
    data = read(folder)
    if isinstance(found, Readings):
        said = found.to_dict()
        data["papers"][found.paper]["readings"] = {
            key: value for key, value in said.items() if key not in _NOT_ON_THE_PAGE
        }
        _draw_readings(said, folder / "images" / NAME / f"{found.paper}-readings.png")
        return _write(data, folder)
    keys = ("assumption", "value", "claims", "met", "now_met", "no_longer_met", "medians", "runs")
    said = found.to_dict()
    data["papers"][found.paper]["sensitivity"] = {
        "replicates": found.replicates,
        "took_s": round(found.took_s),
        "variants": [
            {**{key: entry[key] for key in keys}, "moved": len(entry["moved"])}
            for entry in said["variants"]
        ],
    }
    return _write(data, folder)


def under_reading(found: Reproduction, folder: Path) -> Path:
    """Add the differences from printed numbers under a reading to the page.

    Raises
    ------
    ScenarioError
        If the page lacks the paper, or the runs have no printed numbers beside them.
    """
    key = found.paper.key
    check(key, folder)
    if not found.misfit:
        raise ScenarioError(
            f"`page` needs runs that readings are judged by, and `{key}/{found.ids[0]}` has no "
            "printed numbers to be compared with"
        )
    data = read(folder)
    known = data["papers"][key].setdefault("under_readings", {})
    known[str(found.reading)] = {
        "experiments": found.ids,
        "replicates": min(cost.replicates for cost in found.costs),
        "runs": sum(cost.runs for cost in found.costs),
        "misfit": found.misfit,
    }
    data["papers"][key]["under_readings"] = dict(sorted(known.items(), key=lambda it: int(it[0])))
    return _write(data, folder)


def of_date(found: Sequence[Reproduction], folder: Path) -> Path:
    """Add verdicts under the ns-2 of the papers' dates to the page, which must have the papers.

    Verdicts of experiments that were not run stay, if the claims are the same.

    Raises
    ------
    ScenarioError
        If the page lacks a paper.
    """
    from cwndlab_papers.witness_scope import read_scope

    data = read(folder)
    for entry in found:
        key, claims_hash = entry.paper.key, entry.paper.claims_hash
        check(key, folder)
        before: dict[str, Any] = data["papers"][key].get("dated", {})
        if before.get("claims_hash") != claims_hash:
            before = {}
        now = {f"{one.claim.id}/{one.claim.name}": one.verdict
               for one in entry.judged if one.claim.plans}  # fmt: skip
        data["papers"][key]["dated"] = {
            "profile": read_scope(key).profile,
            "claims_hash": claims_hash,
            "runs": {**before.get("runs", {}), **{cost.plan: cost.runs for cost in entry.costs}},
            "verdicts": {**before.get("verdicts", {}), **now},
        }
    return _write(data, folder)


def _draw_readings(said: Mapping[str, Any], target: Path) -> None:
    from cwndlab import plots
    from cwndlab_papers import readings_figure

    target.parent.mkdir(parents=True, exist_ok=True)
    shrink(plots.save(readings_figure.draw(said), target), target)


_NOT_ON_THE_PAGE = ("paper", "quick", "runs_failed", "computed_s", "wall_s")


def check(key: str, folder: Path) -> None:
    """Raise ScenarioError if a paper is not on the page."""
    known = read(folder)["papers"]
    if key not in known:
        raise ScenarioError(unknown("page", key, known))


def _is_about(part: str, paper: Mapping[str, Any], claims: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all claims of a part of a paper's page still exist."""
    known = {f"{claim['id']}/{claim['claim']}" for claim in claims}
    named = [
        name
        for entry in paper.get(part, {}).get("variants", ())
        for name in entry["now_met"] + entry["no_longer_met"]
    ]
    return part in paper and known.issuperset(named)


def _write(data: dict[str, Any], folder: Path) -> Path:
    data["papers"] = dict(sorted(data["papers"].items()))
    whole = stamped("reproduction", {"papers": data["papers"]})
    write_whole(folder / f"{NAME}.json", (dumps(whole, 1) + "\n").encode("utf-8"))
    browser_file = folder / BROWSER
    browser_file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(browser_file, browser.html(data).encode("utf-8"))
    target = folder / f"{NAME}.md"
    text = f"{HEAD}<!-- generated: {PART} -->\n{markdown(data)}<!-- end -->\n"
    write_whole(target, text.encode("utf-8"))
    return target


def read(folder: Path) -> dict[str, Any]:
    """Read ``reproduction.json`` of a folder; without one there are no papers."""
    path = folder / f"{NAME}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"papers": {}}


def _paper(
    found: Reproduction, images: Path, others: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the page's data of a paper, and write its plots; `others` are claims that stay."""
    paper = found.paper
    said = found.to_dict()
    judged = sum(not entry.claim.is_exact and entry.verdict != NOT_JUDGED for entry in found.judged)
    judged += sum(not row.get("exact") and row["verdict"] != NOT_JUDGED for row in others)
    experiments: list[dict[str, str]] = []
    for entry in found.experiments.values():
        plot = found.folder / entry.id / "plot.png"
        image = ""
        if entry.figure:
            shrink(plot, images / f"{paper.key}-{entry.id}.png")
            image = f"images/{NAME}/{paper.key}-{entry.id}.png"
        experiments.append(
            {
                "id": entry.id,
                "title": entry.title,
                "section": entry.section,
                "about": entry.about,
                "image": image,
            }
        )
    keys = (
        "id",
        "claim",
        "section",
        "statement",
        "bounds",
        "tag",
        "measured",
        "interval",
        "replicates",
        "verdict",
        "cause",
        "note",
    )
    return {
        "title": paper.title,
        "citation": paper.citation,
        "version": cwndlab.__version__,
        "claims_hash": paper.claims_hash,
        "runs": said["runs"],
        "runs_failed": said["runs_failed"],
        "claims": [
            {**{key: claim[key] for key in keys}, **_certainty(entry, judged)}
            for claim, entry in zip(said["claims"], found.judged, strict=True)
        ],
        "published": said["published"],
        "experiments": experiments,
    }


def _certainty(entry: Judged, among: int) -> dict[str, Any]:
    """Say how sure a verdict is: with all intervals of the paper widened, and what would decide."""
    claim, needed = entry.claim, entry.claim.more_replicates(entry.measured)
    is_open = entry.verdict == UNDECIDED and not claim.is_exact
    return {
        "exact": claim.is_exact,
        "simultaneous": claim.verdict(simultaneous(entry.measured, max(among, 1))),
        "more_replicates": round(needed, 2) if is_open and math.isfinite(needed) else None,
    }


def shrink(source: Path, target: Path) -> None:
    """Make the page's picture of a plot: fewer pixels and colours.

    matplotlib depends on Pillow.
    """
    from PIL import Image

    with Image.open(source) as picture:
        height = round(picture.height * WIDTH_PIXELS / picture.width)
        small = picture.convert("RGB").resize((WIDTH_PIXELS, height), Image.Resampling.LANCZOS)
        small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            target, optimize=True
        )
