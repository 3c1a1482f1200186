"""The text of the page of all verdicts.

It is Markdown, made of ``reproduction.json`` alone (`cwndlab_papers.summary`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cwndlab.statistics import Estimate
from cwndlab_papers import overview
from cwndlab_papers.open_values import PAIRS, PARTS, reading_name
from cwndlab_papers.page import SIGNS, number, relative
from cwndlab_papers.paper import registered
from cwndlab_papers.readings import FAILS, HOLDS


def markdown(data: Mapping[str, Any]) -> str:
    """Write the page's generated part.

    Examples
    --------
    >>> claim = {"id": "fig1", "statement": "A is best", "bounds": "> 0",
    ...          "measured": 0.2, "interval": [0.1, 0.3],
    ...          "verdict": "holds", "note": ""}
    >>> paper = {"title": "On A", "runs": 10, "claims": [claim], "published": [], "experiments": [
    ...     {"id": "fig1", "title": "A", "section": "1", "about": "", "image": ""}]}
    >>> print(markdown({"papers": {"a2000": paper}}).splitlines()[2])
    | [a2000](#a2000-on-a) | 1 | 1 |
    """
    papers = data["papers"]
    parts = [
        _table(*overview.matrix(papers)),
        "".join(f"{number}. {text}\n" for number, text in enumerate(
            overview.sentences(papers), 1)),
        _table(*overview.tags([claim for paper in papers.values() for claim in paper["claims"]])),
        _table(*overview.together(papers)),
    ]  # fmt: skip
    if old := outdated(data):
        parts.append(
            f"Not run again since claims or intervals changed: {', '.join(_old(data, old))}. Their "
            "claims are those of that time, with jackknife intervals, judged by the bounds and "
            "margins of today.\n"
        )
    parts += _dated(papers)
    for key, paper in papers.items():
        parts += _chapter(key, paper)
    return "\n".join(parts)


def _dated(papers: Mapping[str, Any]) -> list[str]:
    """Write what becomes of the verdicts under the ns-2 of each paper's date."""
    rows: list[list[Any]] = []
    for key, paper in papers.items():
        if "dated" not in paper:
            continue
        dated = paper["dated"]
        plain = {f"{claim['id']}/{claim['claim']}": claim["verdict"] for claim in paper["claims"]}
        pairs = [(name, plain[name], verdict) for name, verdict in dated["verdicts"].items()
                 if name in plain]  # fmt: skip
        turned = [f"{name} {now}" for name, before, now in pairs if {before, now} == {HOLDS, FAILS}]
        same = sum(before == now for _, before, now in pairs)
        holds = (sum(verdict == HOLDS for verdict in each)
                 for each in zip(*(row[1:] for row in pairs), strict=True))  # fmt: skip
        rows.append([key, dated["profile"], f"{sum(dated['runs'].values()):,}", len(pairs), *holds,
                     same, len(pairs) - same - len(turned), ", ".join(turned)])  # fmt: skip
    if not rows:
        return []
    head = ["paper", "ns-2 of its date", "runs", "simulated claims", "hold under the plans",
            "hold under that ns-2", "equal verdicts", "decided in one alone", "turned"]  # fmt: skip
    return [
        "## What the year of ns-2 changes\n",
        "The same plans, cells and replicates with the endpoints and routers of the ns-2 of the "
        "paper's date ([profiles](ns2-profiles.md#dated-profiles-of-ns-2)), as "
        "`cwndlab reproduce PAPER --profile dated --page docs` runs them. "
        "[Why it is no default](decisions/profiles-of-papers.md).\n",
        _table(head, rows),
    ]


def outdated(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Papers whose claims have changed since the runs that the page shows.

    Returns
    -------
    dict of str to list of str
        Paper to its experiments that were not run again.
    """
    known = registered()
    found: dict[str, list[str]] = {}
    for key, paper in data["papers"].items():
        if key in known and paper.get("claims_hash") != known[key]:
            renewed = paper.get("renewed", {})
            run = renewed["experiments"] if renewed.get("claims_hash") == known[key] else ()
            found[key] = [entry["id"] for entry in paper["experiments"] if entry["id"] not in run]
    return found


def _old(data: Mapping[str, Any], old: Mapping[str, Sequence[str]]) -> list[str]:
    """Name papers, or their experiments where only some were not run again."""
    return [
        name
        for key, ids in old.items()
        for name in (
            [key]
            if len(ids) == len(data["papers"][key]["experiments"])
            else [f"{key}/{entry}" for entry in ids]
        )
    ]


def _title(key: str, paper: Mapping[str, Any]) -> str:
    return f"{key}: {paper['title']}"


def _chapter(key: str, paper: Mapping[str, Any]) -> list[str]:
    parts = [f"## {_title(key, paper)}\n"]
    by_id = {
        entry["id"]: [claim for claim in paper["claims"] if claim["id"] == entry["id"]]
        for entry in paper["experiments"]
    }
    rows: list[list[str]] = []
    for entry in paper["experiments"]:
        signs = " ".join(SIGNS[claim["verdict"]] for claim in by_id[entry["id"]]) or "-"
        rows.append([f"[{entry['id']}](#{_anchor(_heading(key, entry))})", signs, entry["title"]])
    parts.append(_table(["experiment", "claims", "what"], rows))
    if "readings" in paper:
        parts += _readings(key, paper["readings"])
    if "under_readings" in paper:
        parts += _under_readings(key, paper["under_readings"])
    if "sensitivity" in paper:
        parts += _assumed(key, paper["sensitivity"])
    notes = list(dict.fromkeys(claim["note"] for claim in paper["claims"] if claim["note"]))
    for entry in paper["experiments"]:
        parts += _section(
            key,
            entry,
            by_id[entry["id"]],
            [row for row in paper["published"] if row["id"] == entry["id"]],
            notes,
        )
    if notes:
        parts.append(f"### {key}: notes\n")
        parts.append("".join(f"{at}. {note}\n" for at, note in enumerate(notes, 1)))
    return parts


def _readings(key: str, found: Mapping[str, Any]) -> list[str]:
    """Write what the readings of a paper say: the picture, the values, the fit."""
    rows = [[value["name"], "; ".join(value["choices"]), value["reason"]]
            for value in found["values"]]  # fmt: skip
    parts = [
        f"### {key}: readings of what it leaves open\n",
        f"{len(found['readings']) - 1} of the {found['drawn']} readings of a Latin hypercube over "
        "the values below, which were written down before the runs, and the one that the plans "
        "assume; "
        f"{found['runs']:,} runs of a coarse plan. "
        "Claims are judged by their means. "
        f"`cwndlab reproduce {key} --readings --page docs` writes it.\n",
        f"![Claims by the share of readings that meet them, and by the values that decide them]"
        f"(images/reproduction/{key}-readings.png)\n",
        _table(["value", "choices", "reason"], rows),
    ]
    if found["fitted"] is not None:
        halves = found["readings"][0]["misfit"]
        scores = [score for score in next(iter(halves.values())) if score != PAIRS]
        rows = [
            [reading_name(entry["number"]),
             *(f"{entry['misfit'][part][score]:.3f}"
               for part in halves for score in scores),
             ", ".join(entry["values"].values())]
            for entry in found["readings"] if entry["number"] in (0, found["fitted"])
        ]  # fmt: skip
        head = ["reading", *(f"{score}, {PARTS[part]}" for part in halves for score in scores),
                "values"]  # fmt: skip
        parts.append("Root mean square differences from the printed numbers:\n")
        parts.append(_table(head, rows))
    return parts


def _under_readings(key: str, found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Write the differences from printed numbers of whole plans under single readings."""
    rows = [
        [reading_name(int(number)), entry["replicates"], f"{entry['runs']:,}", PARTS[part],
         f"{scores[PAIRS]:g}",
         *(f"{value:.3f}" for score, value in scores.items() if score != PAIRS)]
        for number, entry in found.items() for part, scores in entry["misfit"].items()
    ]  # fmt: skip
    first = next(iter(found.values()))
    scores = [score for score in next(iter(first["misfit"].values())) if score != PAIRS]
    head = ["reading", "replicates", "runs", "printed numbers", "pairs", *scores]
    return [
        f"The same over all choices of parameters, by `cwndlab reproduce "
        f"{key}/{first['experiments'][0]} --reading N --replicates {first['replicates']} --page "
        "docs`:\n",
        _table(head, rows),
    ]


def _median(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.2f}"


def _assumed(key: str, varied: Mapping[str, Any]) -> list[str]:
    """Write the sensitivity to assumed values."""
    medians = list(varied["variants"][0]["medians"])
    rows = [
        [
            entry["assumption"] or "as assumed",
            entry["value"],
            f"{entry['met']} of {entry['claims']}",
            ", ".join(entry["now_met"]),
            ", ".join(entry["no_longer_met"]),
            *(_median(entry["medians"][name]) for name in medians),
            entry["moved"],
        ]
        for entry in varied["variants"]
    ]
    head = [
        "assumption",
        "value",
        "met",
        "now met",
        "no longer met",
        *(f"median {name}" for name in medians),
        "moved",
    ]
    return [
        f"### {key}: what the assumed values decide\n",
        f"A coarse plan, {varied['replicates']} replicates, with one value changed at a time: how "
        "many of the claims "
        "that it can judge are met by their means alone, which ones change, the medians of the "
        "correlations with "
        "published numbers, and how many of those moved by more than 0.3. "
        f"`cwndlab reproduce {key} --sensitivity --page docs` writes it; its runs took "
        f"{varied['took_s']:,} s of "
        "processor time.\n",
        _table(head, rows),
    ]


def _heading(key: str, entry: Mapping[str, Any]) -> str:
    return f"{key}/{entry['id']}: {entry['title']}"


def _section(
    key: str,
    entry: Mapping[str, Any],
    claims: Sequence[Mapping[str, Any]],
    published: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
) -> list[str]:
    parts = [
        f"### {_heading(key, entry)}\n",
        f"Section {entry['section']}. {entry['about']}".rstrip() + "\n",
    ]
    if entry["image"]:
        parts.append(f"![{entry['title']}]({entry['image']})\n")
    if claims:
        rows: list[list[str]] = []
        for claim in claims:
            note = f" [{notes.index(claim['note']) + 1}]" if claim["note"] else ""
            rows.append(
                [
                    f"{SIGNS[claim['verdict']]} {claim['verdict']}",
                    claim["statement"] + note,
                    claim["bounds"],
                    measured(claim, "measured"),
                ]
            )
        parts.append(_table(["", "the paper states", "wanted", "measured"], rows))
    if published:
        rows = [
            [
                row["what"],
                f"{row['published']:g} {row['unit']}".strip(),
                measured(row, "ours"),
                relative(row["relative"]),
            ]
            for row in published
        ]
        parts.append(_table(["the paper prints", "published", "ours", "difference"], rows))
    return parts


def measured(entry: Mapping[str, Any], key: str) -> str:
    """Write a recorded number with its interval."""
    mean, interval = entry[key], entry["interval"]
    # A missing end of an interval is not known: the number is censored.
    low, high = (
        (None, None)
        if interval is None
        else (
            -math.inf if interval[0] is None else interval[0],
            math.inf if interval[1] is None else interval[1],
        )
    )
    return number(Estimate(mean, low, high, 0), exact=entry.get("exact", False))


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines
    )


def _anchor(heading: str) -> str:
    """Anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
