"""Every JSON output: its name, the version of its form, and its JSON schema.

An output begins with ``schema``, such as ``"run/1"``, and ``cwndlab_version``. The number rises
when a field goes or changes its meaning, not when one is added. ``cwndlab schema --output NAME``
prints a schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from cwndlab import native
from cwndlab.columns import COLUMNS, RUN, Column
from cwndlab.errors import ScenarioError
from cwndlab.message import unknown

Schema = dict[str, Any]
VERSION = 1
"""Of every form: none has changed yet."""

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
TRUTH: Schema = {"type": "boolean"}
TABLE: Schema = {"type": "object"}
ANY: Schema = {}
_KINDS = {"text": "string", "whole": "integer", "float": "number", "truth": "boolean"}


def stamped(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output with its schema and the version of the package first.

    Examples
    --------
    >>> list(stamped("topology", {"nodes": [], "links": [], "paths": []}))
    ['schema', 'cwndlab_version', 'nodes', 'links', 'paths']
    """
    return {"schema": f"{name}/{VERSION}", "cwndlab_version": native.version(), **data}


def schema(name: str) -> Schema:
    """Return the JSON schema of an output.

    Raises
    ------
    ScenarioError
        If there is no such output.

    Examples
    --------
    >>> schema("run")["properties"]["jain_index"]["type"]
    ['number', 'null']
    """
    if name not in OUTPUTS:
        raise ScenarioError(unknown("--output", name, OUTPUTS))
    about, body = OUTPUTS[name]
    fields = body()
    own = {"schema": {"const": f"{name}/{VERSION}"}, "cwndlab_version": TEXT}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{name}/{VERSION}",
        "description": about,
        **fields,
        "properties": {**own, **fields["properties"]},
        "required": [*own, *fields["required"]],
    }


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Describe an object with these fields and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _open(required: Mapping[str, Schema]) -> Schema:
    """Describe an object with these fields and others."""
    return {**_object(required), "additionalProperties": True}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _map(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _or_null(of: Schema) -> Schema:
    return {**of, "type": [of["type"], "null"]}


def _fields(names: str, of: Schema) -> dict[str, Schema]:
    return dict.fromkeys(names.split(), of)


def _column(column: Column) -> Schema:
    low, high = column.bounds
    found: Schema = {
        "description": column.meaning, "type": [_KINDS[column.kind], "null"],
        **({"unit": column.unit} if column.unit else {}),
        **({"minimum": low} if math.isfinite(low) else {}),
    }  # fmt: skip
    # Bounds of a fraction of what the window sees are those of its mean: its packets may have been
    # sent before the window.
    return {**found, "maximum": high} if column.name.endswith("jain_index") else found


def _columns(columns: Mapping[str, Column]) -> dict[str, Schema]:
    return {name: _column(column) for name, column in columns.items()}


def _run() -> Schema:
    tables = {name: _list(_object(_columns(found))) for name, found in COLUMNS.items()}
    return _object({**_columns(RUN), **tables})


_INTERVAL = _fields("mean ci95_low ci95_high", _or_null(NUMBER))
_ESTIMATE = {**_INTERVAL, "replicates": WHOLE}
_CELL = _fields("recovery queue env rule", TEXT)
_IDENTITY = {"replicate": WHOLE, "seed": WHOLE, "trace_hash": TEXT}


def _collection(
    summary: Mapping[str, Schema], run: Mapping[str, Schema], more: Mapping[str, Schema]
) -> Schema:
    rows = _object({**summary, **_ESTIMATE})
    # A run has its metrics, too, whose names are those of the summary.
    runs = {**_open({**run, **_IDENTITY}), "additionalProperties": ANY}
    return _object(
        {**more, "complete": TRUTH, "profile": TEXT, "plan": _plan(), "summary": _list(rows),
         "runs": _list(runs)}
    )  # fmt: skip


def _plan() -> Schema:
    level = _object({"label": TEXT, "patch": TABLE})
    joint = _object({"cell": TABLE, "patch": TABLE})
    return _object(
        {"base": TABLE, "axes": _map(_list(level)), "replicates": WHOLE, "seed": WHOLE,
         "joint": _list(joint), "patch": TABLE}
    )  # fmt: skip


def _compare() -> Schema:
    scores = _object({**_fields("recovery queue metric rule", TEXT),
                      **_fields("C_a D_a", _or_null(NUMBER))})  # fmt: skip
    return _collection({**_CELL, "metric": TEXT}, _CELL, {"scores": _list(scores)})


def _against() -> Schema:
    cell = {**_CELL, "flows": WHOLE}
    return _collection({**cell, "measure": TEXT}, cell, {"against": TEXT, "rules": _list(TEXT)})


def _sweep_fields() -> dict[str, Schema]:
    cell = {"cell": _map(TEXT), "replicate": WHOLE, "error": TEXT}
    wide = {"cell": _map(TEXT), "replicates": WHOLE, "wide": _list(TEXT), "without": _list(TEXT)}
    row = _open({"metric": TEXT, **_ESTIMATE})
    return {
        "build": TEXT, "sweep": TABLE, "complete": TRUTH, "failed": _list(_object(cell)),
        "unmet": _list(_object(wide)), "notes": _list(TEXT), "summary": _list(row),
        "differences": _list(_open({"baseline": _or_null(TEXT), "metric": TEXT, **_ESTIMATE})),
        "runs": _list(_open(_IDENTITY)),
    }  # fmt: skip


def _sweep() -> Schema:
    return _object(_sweep_fields())


def _sweep_event() -> Schema:
    result = {"if": {"properties": {"event": {"const": "result"}}},
              "then": {"required": list(_sweep_fields())}}  # fmt: skip
    return {**_open({"event": TEXT}), **result}


def _search() -> Schema:
    estimate = _object(_INTERVAL)
    return _object(
        {**_fields("best worst", _or_null(TEXT)), **_fields("metric family setting profile", TEXT),
         "values": _map(NUMBER), "waveform": TABLE, "met": TRUTH, "margin": estimate,
         "rules": _map(estimate), **_fields("replicates waveforms_tried runs", WHOLE),
         "wall_s": NUMBER}
    )  # fmt: skip


def _families() -> Schema:
    parameter = _open({"name": TEXT, "meaning": TEXT, "low": NUMBER, "high": NUMBER, "kind": TEXT})
    family = _object({"family": TEXT, "meaning": TEXT, "parameters": _list(parameter)})
    return _object({"families": _list(family)})


def _design() -> Schema:
    """Describe a search for rules."""
    estimate = _object({**_fields("mean low high", _or_null(NUMBER)), "count": WHOLE})
    sensitivity = _object({"change": TEXT, "value": NUMBER, "before": NUMBER})
    rule = _object(
        {"rule": TEXT, "size": WHOLE, "training": _map(_or_null(NUMBER)),
         "validation": _map(_or_null(NUMBER)), "hidden": _map(estimate),
         "differences": _map(_map(estimate)), "merged": _list(TEXT),
         "robustness": _map(sensitivity)}
    )  # fmt: skip
    return _object(
        {"specification": TABLE, "space": TEXT, "frontier": _list(rule), "references": _list(rule),
         "worst_links": _list(TEXT), **_fields("tried runs packets", WHOLE), "wall_s": NUMBER}
    )  # fmt: skip


def _assessment() -> Schema:
    """Describe an assessment."""
    interval = _fields("mean low high", _or_null(NUMBER))
    comparison = _object(
        {**_fields("test metric verdict", TEXT), "cell": _map(TEXT),
         "enough": TRUTH, "values": _list(_or_null(NUMBER)),
         "means": _map(_object({**interval, "count": WHOLE})),
         "disadvantages": _map(_object({**interval, "count": WHOLE, "margin": NUMBER}))}
    )  # fmt: skip
    criterion = _object(
        {**_fields("section title verdict reason", TEXT), "must": TRUTH, "counts": _map(WHOLE),
         "comparisons": _list(comparison)}
    )  # fmt: skip
    test = _object({**_fields("id section title what", TEXT), "sweep": TABLE})
    return _object(
        {**_fields("build rule profile", TEXT),
         **_fields("references deciding suites", _list(TEXT)),
         "quick": TRUTH, "seed": WHOLE, "criteria": _list(criterion), "tests": _list(test),
         "not_run": _map(TEXT),
         "live": _list(TABLE), "worst_link": {"type": ["object", "null"]}}
    )  # fmt: skip


def _known_results() -> Schema:
    """Describe the record of known results."""
    band = _object({"text": TEXT, **_fields("low high", _or_null(NUMBER))})
    fact = _object(
        {**_fields("fact source unit scenario_hash verdict", TEXT), "expected": band,
         "values": _list(_or_null(NUMBER)), **_fields("mean ci95_low ci95_high", _or_null(NUMBER))}
    )  # fmt: skip
    return _object({"build": TEXT, "facts": _list(fact)})


def _conform() -> Schema:
    script = _object({
        **_fields("script verdict expected found", TEXT),
        "line": _or_null(WHOLE), "checks": WHOLE,
        **_fields("kernel kernel_reason flow", _or_null(TEXT)), "time_s": _or_null(NUMBER),
    })  # fmt: skip
    return _object({"scripts": _list(script)})


def _matrix() -> Schema:
    texts = _fields("rule profile check case verdict unit reason", TEXT)
    numbers = _fields("measured ci95_low ci95_high", _or_null(NUMBER))
    case = {**texts, **numbers, "bound": NUMBER, "at_least": TRUTH}
    return _object({"cases": _list(_object(case))})


def _results() -> Schema:
    return _object({"provenance": _open({"runs": WHOLE, "runs_in_store": WHOLE}),
                    "runs": _list(_open(_IDENTITY))})  # fmt: skip


def _stored_run() -> Schema:
    place = _object({"sweep": TEXT, "definition": TEXT, "cell": _map(TEXT), "replicate": WHOLE})
    return _open({"key": TEXT, "scenario": TABLE, "result": _run(), "places": _list(place)})


def _environments() -> Schema:
    entry = _object({**_fields("name title left_per_flow topology", TEXT), "link_bps": NUMBER})
    return _object({"environments": _list(entry)})


def _assumptions() -> Schema:
    return _object({"assumptions": _list(_open({"name": TEXT, "value": ANY}))})


def _rules() -> Schema:
    parameter = _object(
        {"name": TEXT, "meaning": TEXT, "allowed": TEXT, "option": TRUTH,
         "default": {"type": ["number", "string", "null"]}}
    )  # fmt: skip
    entry = _object(
        {**_fields("name notation summary source example", TEXT), "parameters": _list(parameter),
         "deployed": TRUTH}
    )  # fmt: skip
    return _object({"rules": _list(entry)})


def _knobs() -> Schema:
    entry = _object(
        {**_fields("name group meaning", TEXT), "values": TABLE,
         "range": {"type": ["array", "null"], "items": NUMBER}}
    )  # fmt: skip
    return _object({"knobs": _list(entry)})


def _doctor() -> Schema:
    return _object({"parts": _list(_open({"there": TRUTH}))})


def _kernel() -> Schema:
    return _object(
        {**_fields("name release identity source", TEXT), "hz": WHOLE,
         "congestion_controls": _list(TEXT)}
    )  # fmt: skip


def _topology() -> Schema:
    return _object({"nodes": _list(TEXT), "links": _list(TABLE), "paths": _list(TABLE)})


def _reproduce() -> Schema:
    return _object(
        {"paper": TEXT, "quick": TRUTH, "assume": TABLE,
         "claims": _list(_open({**_fields("id claim statement section verdict", TEXT)})),
         "published": _list(_open({"id": TEXT, "what": TEXT})), "misfit": _map(TABLE),
         **_fields("runs runs_done_now runs_failed", WHOLE), **_fields("computed_s wall_s", NUMBER)}
    )  # fmt: skip


def _witness() -> Schema:
    return _object(
        {**_fields("paper ns2_version", TEXT), "plans": _map(TABLE), "counts": _map(WHOLE),
         "left_out": ANY, "claims": _list(TABLE)}
    )  # fmt: skip


def _beside() -> Schema:
    side = {"type": "object", "required": list(_sweep_fields())}
    return _object({"ns2_version": TEXT, "cwndlab": side, "ns2": side,
                    "differences": _list(_open({"metric": TEXT, **_ESTIMATE}))})  # fmt: skip


def _sensitivity() -> Schema:
    return _open({"paper": TEXT})


def _made(required: Mapping[str, Schema]) -> Callable[[], Schema]:
    return lambda: _object(required)


def _live() -> Schema:
    """Describe a run that also says what the host did."""
    run, tables = _run(), ("name", "seed", *COLUMNS)
    return {**run, "additionalProperties": True, "required": list(tables)}


def _live_beside() -> Schema:
    judged = {"metric": TEXT, "simulated": _list(NUMBER), "inside": _or_null(TRUTH),
              **{key: _or_null(NUMBER) for key in ("mean", "low", "high", "live")}}  # fmt: skip
    return _object({"live": _live(), "simulated": _list(_run()), "judged": _list(_object(judged))})


_ROWS = {"rows": _list(TABLE)}
OUTPUTS: dict[str, tuple[str, Callable[[], Schema]]] = {
    "run": ("`cwndlab run`: a run with its tables, as docs/metrics.md defines them", _run),
    "saved-run": (
        "run.json of `--out`: fields of a run and its scenario; the tables lie beside it",
        lambda: _object({"run": _open({"name": _or_null(TEXT)}), "scenario": TABLE}),
    ),
    "compare": ("`cwndlab compare`, and its comparison.json", _compare),
    "against": ("`cwndlab compare --against`, and its comparison.json", _against),
    "plan": ("plan.json of a comparison", _plan),
    "sweep": ("`Sweep.run(...).to_json()`", _sweep),
    "sweep-event": ("a line of `cwndlab sweep`; the last has the result", _sweep_event),
    "assessment": ("`cwndlab assess`, and its assessment.json", _assessment),
    "known-results": (
        "`cwndlab known-results`, and docs/known-results.json", _known_results
    ),
    "matrix": ("`cwndlab matrix`", _matrix),
    "conform": ("`cwndlab conform`", _conform),
    "search": ("`cwndlab search`, and its found.json", _search),
    "design": ("`cwndlab design`, and its design.json", _design),
    "search-families": ("`cwndlab search --list`", _families),
    "results": ("`cwndlab results`, and its --export FILE.json", _results),
    "stored-run": ("`cwndlab results --run`", _stored_run),
    "environments": ("`cwndlab environments`", _environments),
    "assumptions": ("`cwndlab environments --assumptions`", _assumptions),
    "rules": ("`cwndlab rules`", _rules),
    "knobs": ("`cwndlab knobs`", _knobs),
    "doctor": ("`cwndlab doctor`", _doctor),
    "topology": ("`cwndlab topology`", _topology),
    "reproduction": (
        "docs/reproduction.json: verdicts of papers", _made({"papers": _map(TABLE)})
    ),
    "reproduce": ("a line of `cwndlab reproduce`, and a paper's claims.json", _reproduce),
    "witness": ("`cwndlab reproduce --witness ns2`, and its witness.json", _witness),
    "beside": ("`--beside ns2` of `cwndlab run`, `compare` and `sweep`", _beside),
    "sensitivity": ("a line of `cwndlab reproduce --sensitivity`, and its file", _sensitivity),
    "readings": ("a line of `cwndlab reproduce --readings`, and its file", _sensitivity),
    "live": ("`cwndlab live linux` and `cwndlab live quic`", _live),
    "live-beside": ("the same with `--beside`", _live_beside),
    "live-rule": ("`cwndlab live install`", lambda: _open({"rule": TEXT, "name": TEXT})),
    "live-rules": ("`cwndlab live list`", lambda: _open({})),
    "virtual-kernels": (
        "`cwndlab virtual-kernel list`", lambda: _object({"kernels": _list(_kernel())})
    ),
    "theory-phase": (
        "`cwndlab theory phase`", _made({"capacity": NUMBER, "runs": _list(TABLE)})
    ),
    "theory-fair": ("`cwndlab theory fair`", lambda: _open({"rule": TEXT, "verdict": TEXT})),
    "theory-rate": (
        "`cwndlab theory rate`",
        lambda: _object({"rule": TEXT, "values": _list(ANY),
                         **_fields("p rtt_s rto_s packets_per_ack", NUMBER)}),
    ),
    "theory-friendly": ("`cwndlab theory friendly`", lambda: _open({"d": NUMBER, **_ROWS})),
    "theory-growth": (
        "`cwndlab theory growth`",
        _made({"from_packets": NUMBER, "to_packets": NUMBER, "round_trips": _map(WHOLE)}),
    ),
    "theory-bimodal": ("`cwndlab theory bimodal`", lambda: _open({"within": NUMBER, **_ROWS})),
}  # fmt: skip
"""Name to what has the form, and to its schema without the first two fields."""
