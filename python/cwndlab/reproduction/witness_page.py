"""The page of the witness: each claim by the paper, by ns-2 and by cwndlab, and who disagrees.

``witness.md`` is made of the records alone (`witness_records`), so that it can be written again
without ns-2, and of the explanations in the papers' ``witness.toml``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cwndlab.files import write_whole
from cwndlab.reproduction import summary, witness_records
from cwndlab.reproduction.claims import Judged
from cwndlab.reproduction.page import SIGNS, number
from cwndlab.reproduction.paper import load, names
from cwndlab.reproduction.readings import FAILS, HOLDS
from cwndlab.reproduction.witness import (
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
from cwndlab.reproduction.witness_scope import read_scope

NAME = "witness"
FOLDER = "witness"
"""Folder of the records, beside the page."""
PART = "witness"
"""Name of the generated part in the page (docs/generate.py)."""
HEAD = """# Five papers before a witness: ns-2

All five papers ran on ns-2. Here ns-2 2.35 runs the decisive cells of their claims too, with the
endpoints and routers of the release of each paper's date ([profiles](profiles.md)), and both
programs are judged by the same readings over the same cells and seeds. Where both contradict a
paper, its particulars are in doubt; where only cwndlab does, so is cwndlab. Verdicts from few
replicates decide less than those of [all verdicts](reproduction.md), which are cwndlab's alone.
`cwndlab reproduce PAPER --witness ns2 --page docs` writes this page and its records
([papers](papers.md#ns-2-as-a-witness)).

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
        columns = ["claim", "the paper", "ns-2", "cwndlab", "who agrees"]
        parts.append(_table(columns, [_row(entry) for entry in seen]))
    return [*parts, *_without_verdict(found), *_scores(found)]


def _scores(found: Witness) -> list[str]:
    """Write C_a and D_a of goodput beside the printed ones, where a paper prints them."""
    path = found.paper.folder / "published.csv"
    if not path.exists():
        return []
    import polars as pl

    printed = {
        (row["setting"], row["rule"]): row
        for row in pl.read_csv(path, infer_schema=False).iter_rows(named=True)
    }
    rows: list[Sequence[object]] = []
    for record in found.plans.values():
        measured = [grid.values for grid in record.grids.values()]
        if not measured or any("goodput" not in values for values in measured):
            continue  # Nothing, or goodputs of single flows.
        means = {side: grid.means(range(grid.replicates)) for side, grid in record.grids.items()}
        both = means["cwndlab"]
        for setting, rule in itertools.product(both.settings, both.rules):
            if (setting, rule) not in printed:
                continue
            away = {side: each.distances("goodput", setting, rule, each.rules)
                    for side, each in means.items()}  # fmt: skip
            numbers = printed[setting, rule]
            rows.append([
                setting, rule,
                numbers["D_a"], *(f"{away[side].sum():.2f}" for side in ("ns2", "cwndlab")),
                numbers["C_a"], *(f"{away[side].max():.2f}" for side in ("ns2", "cwndlab")),
            ])  # fmt: skip
    columns = [
        "setting",
        "rule",
        "D_a printed",
        "ns-2",
        "cwndlab",
        "C_a printed",
        "ns-2",
        "cwndlab",
    ]
    about = (
        "Distances from the best goodput, summed over environments (D_a) and the largest (C_a): "
        "printed over 13 environments and from the best of 36 rules, here over the environments "
        "that ns-2 can express and from the best of the rules that ran.\n"
    )
    return [about, _table(columns, rows)] if rows else []


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
