"""JSON outputs of reproductions, as `cwndlab.outputs` has those of cwndlab."""

from __future__ import annotations

from cwndlab.outputs import (
    ANY,
    NUMBER,
    TABLE,
    TEXT,
    TRUTH,
    WHOLE,
    Outputs,
    Schema,
    at_least,
    exactly,
    fields,
    list_of,
    map_of,
)


def _reproduce() -> Schema:
    return exactly(
        {"paper": TEXT, "home": TEXT, "quick": TRUTH, "assume": TABLE,
         "claims": list_of(at_least({**fields("id claim statement section verdict", TEXT)})),
         "published": list_of(at_least({"id": TEXT, "what": TEXT})), "misfit": map_of(TABLE),
         **fields("runs runs_done_now runs_failed", WHOLE), **fields("computed_s wall_s", NUMBER)}
    )  # fmt: skip


def _witness() -> Schema:
    return exactly(
        {**fields("paper ns2_version", TEXT), "plans": map_of(TABLE), "counts": map_of(WHOLE),
         "left_out": ANY, "claims": list_of(TABLE)}
    )  # fmt: skip


def _varied() -> Schema:
    return at_least({"paper": TEXT})


OUTPUTS: Outputs = {
    "reproduction": (
        "docs/reproduction.json: verdicts of papers", lambda: exactly({"papers": map_of(TABLE)})
    ),
    "reproduce": ("a line of `cwndlab reproduce`, and a paper's claims.json", _reproduce),
    "witness": ("`cwndlab reproduce --witness ns2`, and its witness.json", _witness),
    "sensitivity": ("a line of `cwndlab reproduce --sensitivity`, and its file", _varied),
    "readings": ("a line of `cwndlab reproduce --readings`, and its file", _varied),
}  # fmt: skip
"""Name to what has the form, and to its schema."""
