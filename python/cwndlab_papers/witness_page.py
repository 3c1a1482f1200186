"""The page of the witness: each claim by the paper, by ns-2 and by cwndlab, and who disagrees.

``witness.md`` is made of the records alone (`witness_records`), so that it can be written again
without ns-2, and of the explanations in the papers' ``witness.toml``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.plugins import write_whole
from cwndlab_papers import summary, witness_records
from cwndlab_papers.claims import Judged
from cwndlab_papers.page import SIGNS, number
from cwndlab_papers.paper import Paper, load, names
from cwndlab_papers.readings import FAILS, HOLDS
from cwndlab_papers.witness import (
    BOTH_AGAINST,
    BOTH_WITH,
    NO_RUNS,
    NOT_JUDGED,
    ONLY_NS2,
    ONLY_OURS,
    RELATIONS,
    Testimony,
    Witness,
    judged,
)
from cwndlab_papers.witness_scope import read_scope

if TYPE_CHECKING:
    import polars as pl

    from cwndlab_papers.results_grid import Means

NAME = "witness"
VERDICTS = ["claim", "the paper", "ns-2", "cwndlab", "who agrees"]
SCORES = [f"{score} {side}" for score in ("D_a", "C_a")
          for side in ("printed", "in ns-2", "in cwndlab")]  # fmt: skip
FOLDER = "witness"
"""Folder of the records, beside the page."""
PART = "witness"
"""Name of the generated part in the page (docs/generate.py)."""
HEAD = """# Five papers in ns-2

All five papers used ns-2. On this page ns-2 2.35 also runs the decisive cells of their claims,
with the endpoints and routers of the ns-2 release of each paper's date ([profiles](profiles.md)).
Both programs run the same cells with the same seeds and are judged by the same bounds. If both
contradict a paper, the details of the paper are in doubt; if only cwndlab does, cwndlab is in
doubt. These verdicts come from few replicates, so they are weaker than [all
verdicts](reproduction.md), which are cwndlab's alone. `cwndlab reproduce PAPER --witness ns2
--page docs` writes this page and its records ([papers](papers.md#the-ns-2-check)).

"""


def write(folder: Path) -> Path:
    """Write ``witness.md`` by the records in ``FOLDER/witness``."""
    target = folder / f"{NAME}.md"
    text = f"{HEAD}<!-- generated: {PART} -->\n{markdown(folder / FOLDER)}<!-- end -->\n"
    write_whole(target, text.encode())
    return target


def markdown(records: Path) -> str:
    """Write the page's generated part."""
    found = [judged(load(key), witness_records.read(records, key)) for key in names()]
    return "\n".join([
        _counts(found),
        *_disagreements(found),
        *_by_year(found, summary.read(records.parent)["papers"]),
        *(part for entry in found for part in _chapter(entry)),
    ])  # fmt: skip


def _counts(found: Sequence[Witness]) -> str:
    """Write who agrees with whom, by paper."""
    rows: list[Sequence[object]] = [
        [f"[{entry.paper.key}](#{entry.paper.key})", len(entry.testimonies), *entry.counts.values()]
        for entry in found
    ]
    sums = [sum(entry.counts[relation] for entry in found) for relation in RELATIONS]
    rows.append(["all", sum(len(entry.testimonies) for entry in found), *sums])
    total = dict(zip(RELATIONS, sums, strict=True))
    apart = total[ONLY_NS2] + total[ONLY_OURS]
    said = (
        f"**Of {total[BOTH_WITH] + total[BOTH_AGAINST] + apart} claims that both programs decide, "
        f"they disagree on {apart}**: {total[BOTH_WITH]} hold in both, {total[BOTH_AGAINST]} fail "
        "in both.\n\n"
    )
    return said + _table(["paper", "claims", *RELATIONS], rows)


def _disagreements(found: Sequence[Witness]) -> list[str]:
    """Write the claims on which a program contradicts the paper, with the known reason."""
    parts = ["## Who disagrees with whom\n"]
    for relation, head in (
        (ONLY_NS2, "ns-2 agrees with the paper, and cwndlab does not"),
        (ONLY_OURS, "cwndlab agrees with the paper, and ns-2 does not"),
        (BOTH_AGAINST, "Both contradict the paper"),
    ):
        rows: list[Sequence[object]] = []
        for entry in found:
            reasons = read_scope(entry.paper.key).reasons
            rows += [
                [f"{entry.paper.key}/{each.claim.id}", each.claim.statement,
                 each.claim.reading.text, _number(each.ns2), _number(each.ours),
                 reasons.get(f"{each.claim.id}/{each.claim.name}",
                             each.claim.arguments.get("why", ""))]
                for each in entry.testimonies if each.relation == relation
            ]  # fmt: skip
        parts.append(f"### {head}\n")
        columns = ["claim", "the paper states", "wanted", "ns-2", "cwndlab", "reason"]
        parts.append(_table(columns, rows) if rows else "None.\n")
    return parts


def _by_year(found: Sequence[Witness], papers: Mapping[str, Any]) -> list[str]:
    """Write how cwndlab's verdicts here differ from those of the full runs (all verdicts)."""
    rows: list[Sequence[object]] = []
    for entry in found:
        full = {(claim["id"], claim["claim"]): claim["verdict"]
                for claim in papers.get(entry.paper.key, {}).get("claims", ())}  # fmt: skip
        pairs = [
            (f"{each.claim.id}/{each.claim.name}", full.get((each.claim.id, each.claim.name)),
             each.ours.verdict)
            for each in entry.testimonies if each.ours is not None
        ]  # fmt: skip
        if not pairs:
            continue
        same = sum(before == now for _, before, now in pairs)
        turned = [f"{name} {now}" for name, before, now in pairs if {before, now} == {HOLDS, FAILS}]
        profile = read_scope(entry.paper.key).profile
        rows.append([entry.paper.key, profile, len(pairs), same,
                     len(pairs) - same - len(turned), _listed(turned)])  # fmt: skip
    columns = ["paper", "profile here", "claims judged", "as in the full run",
               "decided in one alone", "turned"]  # fmt: skip
    return [
        "## What the year changes\n",
        "cwndlab's verdicts here, under the ns-2 of the paper's date, over fewer cells and "
        "replicates, beside those of its full runs under the profiles of the plans "
        "([all verdicts](reproduction.md)).\n",
        _table(columns, rows) if rows else "No runs yet.\n",
    ]


def _chapter(found: Witness) -> list[str]:
    """Write the three columns of a paper, what ran, and what was not judged."""
    parts = [f"## {found.paper.key}\n"]
    if not found.plans:
        return [*parts, "No runs yet.\n"]
    parts.append(_table(
        ["plan", "profile", "replicates", "runs", "ns-2, s", "cwndlab, s"],
        [[plan, record.profile, record.replicates, record.runs,
          *(f"{record.computed_s.get(side, 0.0):,.0f}" for side in ("ns2", "cwndlab"))]
         for plan, record in found.plans.items()],
    ))  # fmt: skip
    seen = [entry for entry in found.testimonies if entry.relation != NOT_JUDGED]
    if seen:
        parts.append(_table(VERDICTS, [_row(entry) for entry in seen]))
    return [*parts, *_without_verdict(found), *_scores(found), *_beside_claims(found)]


def _beside_claims(found: Witness) -> list[str]:
    """Write what cells beside those of claims show.

    These are claims of their plan over these cells alone, and where the paper prints numbers the
    distances from the best of all rules that ran.
    """
    parts: list[str] = []
    for name, part in read_scope(found.paper.key).beside.items():
        if name not in found.plans:
            continue
        parts += [f"### {name}\n", f"{part.about}\n"]
        alone = judged(found.paper, {**found.plans, part.plan: found.plans[name]})
        claims = [entry for entry in alone.testimonies
                  if part.plan in entry.claim.plans and entry.relation != NOT_JUDGED]  # fmt: skip
        if claims:
            parts.append(_table(VERDICTS, [_row(entry) for entry in claims]))
            continue
        grids = found.plans[name].grids
        means = {side: grid.means(range(grid.replicates)) for side, grid in grids.items()}
        rows = [row for group in _printed(found.paper)
                for row in _distances(group, means, means["ns2"].rules)]  # fmt: skip
        parts.append(_table(["rule", *SCORES], rows))
    return parts


def _scores(found: Witness) -> list[str]:
    """Write D_a and C_a of goodput beside the printed ones, where a paper prints them."""
    rows: list[Sequence[object]] = []
    orders: list[Sequence[object]] = []
    for record in found.plans.values():
        measured = [grid.values for grid in record.grids.values()]
        if not measured or any("goodput" not in values for values in measured):
            continue  # Nothing, or goodputs of single flows.
        means = {side: grid.means(range(grid.replicates)) for side, grid in record.grids.items()}
        for group in _printed(found.paper):
            among = [rule for rule in group["rule"] if rule in means["ns2"].rules]
            if len(among) > 1:
                wide = _distances(group, means, among)
                setting, family = group["setting"][0], group["family"][0]
                rows += [[setting, *row] for row in wide]
                orders += [[setting, family, *row] for row in _orders(wide)]
    if not rows:
        return []
    return [
        "Distances from the best goodput of the family's choices that ran, summed over the "
        "environments that ns-2 can express (D_a), and the largest (C_a); printed ones are over 13 "
        "environments and from the best of nine choices:\n",
        _table(["setting", "rule", *SCORES], rows),
        "Rank correlations of these orders:\n",
        _table(["setting", "family", "choices", *(
            f"{score}, {pair}" for score in ("D_a", "C_a")
            for pair in ("printed and ns-2", "printed and cwndlab", "ns-2 and cwndlab"))], orders),
    ]  # fmt: skip


def _printed(paper: Paper) -> list[pl.DataFrame]:
    """Return what a paper prints of goodput, a frame for each setting and family."""
    path = paper.folder / "published.csv"
    if not path.exists():
        return []
    import polars as pl

    printed = pl.read_csv(path, infer_schema=False)
    return printed.partition_by("setting", "family", maintain_order=True)


def _distances(
    group: pl.DataFrame, means: Mapping[str, Means], among: Sequence[str]
) -> list[list[str]]:
    """Return rule, D_a and C_a of a family's choices that ran, as printed, in ns-2, in cwndlab.

    Distances are from the best rule of `among`. Misprinted choices are left out; there are none in
    a setting that did not run.
    """
    setting = group["setting"][0]
    if setting not in means["ns2"].settings:
        return []
    rows: list[list[str]] = []
    for row in group.iter_rows(named=True):
        if row["misprint"] or row["rule"] not in means["ns2"].rules:
            continue
        pair = [means[side].distances("goodput", setting, row["rule"], among)
                for side in ("ns2", "cwndlab")]  # fmt: skip
        rows.append([row["rule"], row["D_a"], *(f"{each.sum():.2f}" for each in pair),
                     row["C_a"], *(f"{each.max():.2f}" for each in pair)])  # fmt: skip
    return rows


def _orders(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a row of Spearman correlations, of three choices or more."""
    from scipy.stats import spearmanr

    if len(rows) < 3:
        return []
    columns = [[float(cell) for cell in column] for column in list(zip(*rows, strict=True))[1:]]
    found = [
        float(spearmanr(one, other).statistic)
        for score in (columns[:3], columns[3:])
        for one, other in itertools.combinations(score, 2)
    ]
    return [[str(len(rows)), *("-" if math.isnan(value) else f"{value:.2f}" for value in found)]]


def _row(entry: Testimony) -> list[object]:
    return [f"{entry.claim.id}/{entry.claim.name}", entry.claim.reading.text, _verdict(entry.ns2),
            _verdict(entry.ours), entry.relation]  # fmt: skip


def _without_verdict(found: Witness) -> list[str]:
    """Write why claims have no verdict, and what ns-2 lacks of the plans."""
    waiting = [f"{entry.claim.id}/{entry.claim.name}" for entry in found.testimonies
               if entry.why == NO_RUNS]  # fmt: skip
    unjudged = {f"{entry.claim.id}/{entry.claim.name}": entry.why for entry in found.testimonies
                if entry.why and entry.why != NO_RUNS}  # fmt: skip
    rows: list[Sequence[object]] = [
        [_listed(claims), reason] for reason, claims in _by_reason(unjudged).items()
    ]
    rows += [
        [f"plan {plan}, {_listed(labels)}", reason]
        for plan, record in found.plans.items()
        for reason, labels in _by_reason(record.left_out).items()
    ]
    parts = [_table(["not judged, or left out", "why"], rows)] if rows else []
    if waiting:
        parts.append(f"No runs yet for {len(waiting)} claims: {_listed(waiting)}.\n")
    return parts


def _by_reason(left_out: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for label, reason in left_out.items():
        found.setdefault(reason, []).append(label)
    return found


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(labels)


def _verdict(entry: Judged | None) -> str:
    return "-" if entry is None else f"{SIGNS[entry.verdict]} {number(entry.measured)}"


def _number(entry: Judged | None) -> str:
    return "-" if entry is None else number(entry.measured)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines
    )
