"""The page of the witness: each claim by the paper, by ns-2 and by cwndlab, and who disagrees.

``witness.md`` is made of the records alone (`witness_records`), so that it can be written again
without ns-2, and of the explanations in the papers' ``witness.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cwndlab.files import write_whole
from cwndlab.reproduction import witness_records
from cwndlab.reproduction.claims import Judged
from cwndlab.reproduction.page import SIGNS, number
from cwndlab.reproduction.paper import load, names
from cwndlab.reproduction.witness import (
    BOTH_AGAINST,
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
    return _table(["paper", "claims", *RELATIONS], rows)


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
    parts += _without_verdict(found)
    return parts


def _row(entry: Testimony) -> list[object]:
    return [f"{entry.claim.id}/{entry.claim.name}", entry.claim.reading.text, _verdict(entry.ns2),
            _verdict(entry.ours), entry.relation]  # fmt: skip


def _without_verdict(found: Witness) -> list[str]:
    """Write why claims have no verdict, and what ns-2 lacks of the plans."""
    waiting = [f"{entry.claim.id}/{entry.claim.name}" for entry in found.testimonies
               if entry.why == NO_RUNS]  # fmt: skip
    rows: list[Sequence[object]] = [
        [f"{entry.claim.id}/{entry.claim.name}", entry.why]
        for entry in found.testimonies
        if entry.why and entry.why != NO_RUNS
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
