"""Every JSON output: its name, the version of its form, and its JSON schema.

An output begins with ``schema``, such as ``"run/1"``, and ``cwndlab_version``. The number rises
when a field goes or changes its meaning, not when one is added. ``cwndlab schema --output NAME``
prints a schema.

>>> from cwndlab import outputs
>>> outputs.schema("topology")["required"]
['schema', 'cwndlab_version', 'nodes', 'links', 'paths']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from cwndlab import entry_points, native
from cwndlab.columns import COLUMNS, RUN, Column
from cwndlab.errors import ScenarioError
from cwndlab.message import unknown

__all__ = [
    "ANY",
    "NUMBER",
    "OUTPUTS",
    "TABLE",
    "TEXT",
    "TRUTH",
    "WHOLE",
    "Outputs",
    "Schema",
    "at_least",
    "every",
    "exactly",
    "fields",
    "list_of",
    "map_of",
    "schema",
    "stamped",
]

Schema = dict[str, Any]
Outputs = dict[str, tuple[str, Callable[[], Schema]]]
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


def every() -> Outputs:
    """Return `OUTPUTS` with those of other packages (`cwndlab.plugins`).

    Examples
    --------
    >>> set(OUTPUTS) <= set(every())
    True
    """
    found = dict(OUTPUTS)
    for more in entry_points.load(entry_points.OUTPUTS).values():
        found.update(more)
    return found


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
    found = OUTPUTS if name in OUTPUTS else every()
    if name not in found:
        raise ScenarioError(unknown("--output", name, found))
    about, body = found[name]
    described = body()
    own = {"schema": {"const": f"{name}/{VERSION}"}, "cwndlab_version": TEXT}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{name}/{VERSION}",
        "description": about,
        **described,
        "properties": {**own, **described["properties"]},
        "required": [*own, *described["required"]],
    }


def exactly(required: Mapping[str, Schema]) -> Schema:
    """Describe an object with these fields and no others."""
    return {
        "type": "object",
        "properties": dict(required),
        "required": list(required),
        "additionalProperties": False,
    }


def at_least(required: Mapping[str, Schema]) -> Schema:
    """Describe an object with these fields and others."""
    return {**exactly(required), "additionalProperties": True}


def list_of(of: Schema) -> Schema:
    """Describe a list of entries of this form."""
    return {"type": "array", "items": of}


def map_of(of: Schema) -> Schema:
    """Describe an object with any names and values of this form."""
    return {"type": "object", "additionalProperties": of}


def _or_null(of: Schema) -> Schema:
    return {**of, "type": [of["type"], "null"]}


def fields(names: str, of: Schema) -> dict[str, Schema]:
    """Give fields, whose names stand in a text, one form.

    Examples
    --------
    >>> fields("low high", NUMBER)
    {'low': {'type': 'number'}, 'high': {'type': 'number'}}
    """
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
    tables = {name: list_of(exactly(_columns(found))) for name, found in COLUMNS.items()}
    described = exactly({**_columns(RUN), **tables})
    # Of runs with `trace.solo` or `trace.account` alone.
    alone = exactly(fields("goodput_bps mean_rtt_s", _or_null(NUMBER)))
    asked = {"solo": map_of(alone), "accounts": list_of(TABLE)}
    # Runs that are stored have these only where there are connections over several paths.
    required = [name for name in described["required"] if name not in ("connections", "subflows")]
    properties = {**described["properties"], **asked}
    return {**described, "required": required, "properties": properties}


_INTERVAL = fields("mean ci95_low ci95_high", _or_null(NUMBER))
_ESTIMATE = {**_INTERVAL, "replicates": WHOLE}
_CELL = fields("recovery queue env rule", TEXT)
_IDENTITY = {"replicate": WHOLE, "seed": WHOLE, "trace_hash": TEXT}


def _collection(
    summary: Mapping[str, Schema], run: Mapping[str, Schema], more: Mapping[str, Schema]
) -> Schema:
    rows = exactly({**summary, **_ESTIMATE})
    # A run has its metrics, too, whose names are those of the summary.
    runs = {**at_least({**run, **_IDENTITY}), "additionalProperties": ANY}
    return exactly(
        {**more, "complete": TRUTH, "profile": TEXT, "plan": _plan(), "summary": list_of(rows),
         "runs": list_of(runs)}
    )  # fmt: skip


def _plan() -> Schema:
    level = exactly({"label": TEXT, "patch": TABLE})
    joint = exactly({"cell": TABLE, "patch": TABLE})
    return exactly(
        {"base": TABLE, "axes": map_of(list_of(level)), "replicates": WHOLE, "seed": WHOLE,
         "joint": list_of(joint), "patch": TABLE}
    )  # fmt: skip


def _compare() -> Schema:
    scores = exactly({**fields("recovery queue metric rule", TEXT),
                      **fields("C_a D_a", _or_null(NUMBER))})  # fmt: skip
    return _collection({**_CELL, "metric": TEXT}, _CELL, {"scores": list_of(scores)})


def _against() -> Schema:
    cell = {**_CELL, "flows": WHOLE}
    return _collection({**cell, "measure": TEXT}, cell, {"against": TEXT, "rules": list_of(TEXT)})


def _sweep_fields() -> dict[str, Schema]:
    cell = {"cell": map_of(TEXT), "replicate": WHOLE, "error": TEXT}
    wide = {
        "cell": map_of(TEXT),
        "replicates": WHOLE,
        "wide": list_of(TEXT),
        "without": list_of(TEXT),
    }
    row = at_least({"metric": TEXT, **_ESTIMATE})
    return {
        "build": TEXT, "sweep": TABLE, "complete": TRUTH, "failed": list_of(exactly(cell)),
        "unmet": list_of(exactly(wide)), "notes": list_of(TEXT), "summary": list_of(row),
        "differences": list_of(at_least({"baseline": _or_null(TEXT), "metric": TEXT, **_ESTIMATE})),
        "runs": list_of(at_least(_IDENTITY)),
    }  # fmt: skip


def _sweep() -> Schema:
    return exactly(_sweep_fields())


def _sweep_event() -> Schema:
    result = {"if": {"properties": {"event": {"const": "result"}}},
              "then": {"required": list(_sweep_fields())}}  # fmt: skip
    return {**at_least({"event": TEXT}), **result}


def _search() -> Schema:
    estimate = exactly(_INTERVAL)
    return exactly(
        {**fields("best worst", _or_null(TEXT)),
         **fields("metric family setting profile home", TEXT),
         "values": map_of(NUMBER), "waveform": TABLE, "met": TRUTH, "margin": estimate,
         "rules": map_of(estimate), **fields("replicates waveforms_tried runs", WHOLE),
         "wall_s": NUMBER}
    )  # fmt: skip


def _families() -> Schema:
    parameter = at_least(
        {"name": TEXT, "meaning": TEXT, "low": NUMBER, "high": NUMBER, "kind": TEXT}
    )
    family = exactly({"family": TEXT, "meaning": TEXT, "parameters": list_of(parameter)})
    return exactly({"families": list_of(family)})


def _design() -> Schema:
    """Describe a search for rules."""
    estimate = exactly({**fields("mean low high", _or_null(NUMBER)), "count": WHOLE})
    sensitivity = exactly({"change": TEXT, "value": NUMBER, "before": NUMBER})
    rule = exactly(
        {"rule": TEXT, "size": WHOLE, "training": map_of(_or_null(NUMBER)),
         "validation": map_of(_or_null(NUMBER)), "hidden": map_of(estimate),
         "differences": map_of(map_of(estimate)), "merged": list_of(TEXT),
         "robustness": map_of(sensitivity)}
    )  # fmt: skip
    return exactly(
        {"specification": TABLE, "space": TEXT, "frontier": list_of(rule),
         "references": list_of(rule),
         "worst_links": list_of(TEXT), **fields("tried runs packets", WHOLE), "wall_s": NUMBER}
    )  # fmt: skip


def _assessment() -> Schema:
    """Describe an assessment."""
    interval = fields("mean low high", _or_null(NUMBER))
    comparison = exactly(
        {**fields("test metric verdict", TEXT), "cell": map_of(TEXT),
         **fields("enough tolerant", TRUTH), "weight": NUMBER, "deciding": list_of(TEXT),
         "values": list_of(_or_null(NUMBER)),
         "means": map_of(exactly({**interval, "count": WHOLE})),
         "disadvantages": map_of(exactly({**interval, "count": WHOLE, "margin": NUMBER}))}
    )  # fmt: skip
    criterion = exactly(
        {**fields("section title verdict reason calibrated", TEXT), "must": TRUTH,
         "counts": map_of(WHOLE),
         "comparisons": list_of(comparison)}
    )  # fmt: skip
    test = exactly({**fields("id section title what", TEXT), "sweep": TABLE})
    return exactly(
        {**fields("build rule profile home", TEXT),
         **fields("references deciding suites", list_of(TEXT)),
         "quick": TRUTH, "seed": WHOLE, "criteria": list_of(criterion), "tests": list_of(test),
         "not_run": map_of(TEXT),
         "worst_link": {"type": ["object", "null"]}, "elsewhere": list_of(TABLE)}
    )  # fmt: skip


def _known_results() -> Schema:
    """Describe the record of known results."""
    band = exactly({"text": TEXT, **fields("low high", _or_null(NUMBER))})
    fact = exactly(
        {**fields("fact source unit scenario_hash verdict", TEXT), "expected": band,
         "values": list_of(_or_null(NUMBER)), **fields("mean ci95_low ci95_high", _or_null(NUMBER))}
    )  # fmt: skip
    return exactly({"build": TEXT, "facts": list_of(fact)})


def _conform() -> Schema:
    script = exactly({
        **fields("script verdict expected found", TEXT),
        "line": _or_null(WHOLE), "checks": WHOLE,
        **fields("kernel kernel_reason flow", _or_null(TEXT)), "time_s": _or_null(NUMBER),
    })  # fmt: skip
    return exactly({"scripts": list_of(script)})


def _matrix() -> Schema:
    texts = fields("rule profile check case verdict unit reason", TEXT)
    numbers = fields("measured ci95_low ci95_high", _or_null(NUMBER))
    case = {**texts, **numbers, "bound": NUMBER, "at_least": TRUTH}
    return exactly({"cases": list_of(exactly(case))})


def _explanation() -> Schema:
    pair = {"sides": list_of(NUMBER), "difference": NUMBER}
    phase = exactly(
        {"phase": TEXT, **fields("time sides", list_of(NUMBER)),
         **fields("by_time by_window by_delay", NUMBER)}
    )  # fmt: skip
    rtt = exactly({**pair, **fields("propagation queues acks", NUMBER)})
    predicted = exactly(
        {**fields("side formula", TEXT),
         **fields("loss_event_rate rtt_s predicted_bps measured_bps", NUMBER)}
    )  # fmt: skip
    divergence = at_least({"number": WHOLE, "times_s": list_of(NUMBER)})
    return exactly(
        {"sides": list_of(TEXT), "headline": TEXT,
         "goodput_bps": exactly({**pair, "phases": list_of(phase), "edges": NUMBER}),
         "rtt_s": _or_null(rtt),
         "loss_rate": exactly({**pair, "phases": list_of(ANY), "others": NUMBER}),
         "queued_packets": list_of(NUMBER), "accounts": list_of(list_of(TABLE)),
         "predictions": list_of(predicted), "divergence": _or_null(divergence)}
    )  # fmt: skip


def _results() -> Schema:
    return exactly({"provenance": at_least({"runs": WHOLE, "runs_in_store": WHOLE}),
                    "runs": list_of(at_least(_IDENTITY))})  # fmt: skip


def _stored_run() -> Schema:
    place = exactly({"sweep": TEXT, "definition": TEXT, "cell": map_of(TEXT), "replicate": WHOLE})
    return at_least({"key": TEXT, "scenario": TABLE, "result": _run(), "places": list_of(place)})


def _environments() -> Schema:
    entry = exactly({**fields("name title left_per_flow topology", TEXT), "link_bps": NUMBER})
    return exactly({"environments": list_of(entry)})


def _assumptions() -> Schema:
    return exactly({"assumptions": list_of(at_least({"name": TEXT, "value": ANY}))})


def _rules() -> Schema:
    parameter = exactly(
        {"name": TEXT, "meaning": TEXT, "allowed": TEXT, "option": TRUTH,
         "default": {"type": ["number", "string", "null"]}}
    )  # fmt: skip
    entry = exactly(
        {**fields("name notation summary source example", TEXT), "parameters": list_of(parameter),
         "deployed": TRUTH, "coupled": TRUTH}
    )  # fmt: skip
    return exactly({"rules": list_of(entry)})


def _knobs() -> Schema:
    entry = exactly(
        {**fields("name group meaning", TEXT), "values": TABLE,
         "range": {"type": ["array", "null"], "items": NUMBER}}
    )  # fmt: skip
    return exactly({"knobs": list_of(entry)})


def _doctor() -> Schema:
    return exactly({"parts": list_of(at_least({"there": TRUTH}))})


def _kernel() -> Schema:
    return exactly(
        {**fields("name release identity source", TEXT), "hz": WHOLE,
         "congestion_controls": list_of(TEXT)}
    )  # fmt: skip


def _topology() -> Schema:
    return exactly({"nodes": list_of(TEXT), "links": list_of(TABLE), "paths": list_of(TABLE)})


def _imported() -> Schema:
    """Describe a recorded flow as a scenario."""
    estimate = exactly({**fields("name how", TEXT), "value": NUMBER,
                        **fields("low high", _or_null(NUMBER))})  # fmt: skip
    return exactly(
        {**fields("flow at window rule", TEXT), "flows": list_of(TEXT), "difference": NUMBER,
         "differences": map_of(NUMBER), "notes": list_of(TEXT), "estimates": list_of(estimate),
         "windows": list_of(exactly(fields("time_s recorded_packets simulated_packets", NUMBER))),
         "scenario": TABLE}
    )  # fmt: skip


def _beside() -> Schema:
    side = {"type": "object", "required": list(_sweep_fields())}
    return exactly({"ns2_version": TEXT, "cwndlab": side, "ns2": side,
                    "differences": list_of(at_least({"metric": TEXT, **_ESTIMATE}))})  # fmt: skip


def _made(required: Mapping[str, Schema]) -> Callable[[], Schema]:
    return lambda: exactly(required)


def _live() -> Schema:
    """Describe a run that also says what the host did."""
    run, tables = _run(), ("name", "seed", *COLUMNS)
    return {**run, "additionalProperties": True, "required": list(tables)}


def _live_beside() -> Schema:
    judged = {"metric": TEXT, "simulated": list_of(NUMBER), "inside": _or_null(TRUTH),
              **{key: _or_null(NUMBER) for key in ("mean", "low", "high", "live")}}  # fmt: skip
    return exactly(
        {"live": _live(), "simulated": list_of(_run()), "judged": list_of(exactly(judged))}
    )


_ROWS = {"rows": list_of(TABLE)}
OUTPUTS: Outputs = {
    "run": ("`cwndlab run`: a run with its tables, as docs/metrics.md defines them", _run),
    "saved-run": (
        "run.json of `--out`: fields of a run and its scenario; the tables lie beside it",
        lambda: exactly({"run": at_least({"name": _or_null(TEXT)}), "scenario": TABLE}),
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
    "explanation": ("`cwndlab explain`", _explanation),
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
    "beside": ("`--beside ns2` of `cwndlab run`, `compare` and `sweep`", _beside),
    "imported": ("`cwndlab import`, and its imported.json", _imported),
    "live": ("`cwndlab live linux` and `cwndlab live quic`", _live),
    "live-beside": ("the same with `--beside`", _live_beside),
    "live-rule": ("`cwndlab live install`", lambda: at_least({"rule": TEXT, "name": TEXT})),
    "live-rules": ("`cwndlab live list`", lambda: at_least({})),
    "virtual-kernels": (
        "`cwndlab virtual-kernel list`", lambda: exactly({"kernels": list_of(_kernel())})
    ),
    "theory-phase": (
        "`cwndlab theory phase`", _made({"capacity": NUMBER, "runs": list_of(TABLE)})
    ),
    "theory-fair": ("`cwndlab theory fair`", lambda: at_least({"rule": TEXT, "verdict": TEXT})),
    "theory-rate": (
        "`cwndlab theory rate`",
        lambda: exactly({"rule": TEXT, "values": list_of(ANY),
                         **fields("p rtt_s rto_s packets_per_ack", NUMBER)}),
    ),
    "theory-friendly": ("`cwndlab theory friendly`", lambda: at_least({"d": NUMBER, **_ROWS})),
    "theory-growth": (
        "`cwndlab theory growth`",
        _made({"from_packets": NUMBER, "to_packets": NUMBER, "round_trips": map_of(WHOLE)}),
    ),
    "theory-bimodal": ("`cwndlab theory bimodal`", lambda: at_least({"within": NUMBER, **_ROWS})),
}  # fmt: skip
"""Name to what has the form, and to its schema without the first two fields."""
