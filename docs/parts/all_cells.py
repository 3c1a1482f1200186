"""What both programs found of every cell of the papers' plans, from kept records."""

from __future__ import annotations

import itertools
import statistics

import pyarrow.parquet as pq

from cwndlab.statistics import estimate
from parts.text import ROOT, table

RECORDS = ROOT / "docs" / "witness" / "cells.parquet"


def both() -> str:
    """Table of all plans: cells that ran in both programs, and how their results differ."""
    rows = []
    records = [record for record in pq.read_table(RECORDS).to_pylist() if not record["lacks"]]
    by_plan = itertools.groupby(records, key=lambda record: (record["paper"], record["plan"]))
    groups = [(*names, list(found)) for names, found in by_plan]
    for paper, plan, found in [*groups, ("all", "", records)]:
        ran = [record for record in found if not record["failed"]]
        goodput = [_difference(record, "acknowledged_packets") for record in ran]
        loss = [100 * (_loss(record, "cwndlab") - _loss(record, "ns2")) for record in ran]
        higher = sum(each > 0 for each in goodput)
        lower = sum(each < 0 for each in goodput)
        rows.append([
            paper, plan, f"{len(found)}", f"{len(found) - len(ran)}", _interval(goodput, 1),
            f"{higher} : {lower}", f"{100 * statistics.median(map(abs, goodput)):.1f} %"
            if goodput else "-",
            _interval(loss, 2),
        ])  # fmt: skip
    head = ["paper", "plan", "cells", "failed", "acknowledged, cwndlab - ns-2, %", "higher : lower",
            "typical difference of a run", "loss rate, points"]  # fmt: skip
    return table(head, rows)


def _difference(record: dict, name: str) -> float:
    """Return cwndlab's less ns-2's, as a part of their mean."""
    ours, theirs = record[f"cwndlab_{name}"], record[f"ns2_{name}"]
    return 2 * (ours - theirs) / (ours + theirs) if ours + theirs else 0.0


def _loss(record: dict, program: str) -> float:
    sent = record[f"{program}_sent_packets"]
    return record[f"{program}_dropped_packets"] / sent if sent else 0.0


def _interval(values: list[float], digits: int) -> str:
    scale = 100 if digits == 1 else 1
    found = estimate([scale * value for value in values])
    if found.mean is None:
        return "-"
    half = f" ± {found.half_width:.{digits}f}" if found.half_width is not None else ""
    return f"{found.mean:.{digits}f}{half}"
