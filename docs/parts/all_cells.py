"""What both programs found of every cell of the papers' plans, from kept records."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

from cwndlab.statistics import estimate
from parts.text import ROOT, table

RECORDS = ROOT / "docs" / "witness" / "cells.parquet"

HEAD = [
    "cells of", "cells", "failed", "equal", "acknowledged packets, mean difference, %",
    "higher : lower", "median size, %", "loss rate, mean difference, points",
]  # fmt: skip

Record = dict[str, Any]


def both() -> str:
    """Table of all plans, and of all queues: how the results of both programs differ."""
    records = [record for record in pl.read_parquet(RECORDS).to_dicts() if not record["lacks"]]
    rows = [
        *_rows(records, lambda record: f"{record['paper']}, {record['plan']}"),
        *_rows(records, lambda record: f"all papers, {record['queue']}"),
        *_rows(records, lambda _: "all"),
    ]
    return table(HEAD, rows)


def by_queue(records: Iterable[Record]) -> str:
    """Table of records by queue."""
    return table(HEAD, _rows(records, lambda record: record["queue"]))


def _rows(records: Iterable[Record], name: Callable[[Record], str]) -> list[list[str]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(name(record), []).append(record)
    return [[name, *_compared(group)] for name, group in groups.items()]


def _compared(records: list[Record]) -> list[str]:
    ran = [record for record in records if not record["failed"]]
    parts = [_part(record) for record in ran]
    points = [100 * (_loss_rate(record, "cwndlab") - _loss_rate(record, "ns2")) for record in ran]
    signs = [sum(part > 0 for part in parts), sum(part < 0 for part in parts)]
    return [
        str(len(records)),
        str(len(records) - len(ran)),
        str(len(ran) - sum(signs)),
        _interval([100 * part for part in parts]),
        "{} : {}".format(*signs),
        f"{100 * statistics.median(map(abs, parts)):.1f}" if parts else "-",
        _interval(points),
    ]


def _part(record: Record) -> float:
    """Return cwndlab's acknowledged packets less ns-2's, as a part of their mean."""
    ours, theirs = (record[f"{program}_acknowledged_packets"] for program in ("cwndlab", "ns2"))
    return 2 * (ours - theirs) / (ours + theirs) if ours + theirs else 0.0


def _loss_rate(record: Record, program: str) -> float:
    sent = record[f"{program}_sent_packets"]
    return record[f"{program}_dropped_packets"] / sent if sent else 0.0


def _interval(values: list[float]) -> str:
    found = estimate(values)
    if found.mean is None:
        return "-"
    half = "" if found.half_width is None else f" ± {found.half_width:.2f}"
    return f"{found.mean:.2f}{half}"
