"""Keys of a scenario in docs/scenario.md and its pages.

Each has an example there, and each example is allowed.
"""

from __future__ import annotations

import gzip
import json
import math
import re

import pytest

import cwndlab
from conftest import ROOT
from cwndlab import native
from parts import scenario as scenario_tables
from parts.keys import EXAMPLES as KEYS

LINKS = [{"name": name, "rate": "10Mbit", "delay": "15ms"} for name in ("west", "east")]
OF_PATHS = ("FlowSpec", "Subflow", "ArrivalSpec", "CrossSpec")
NODES = [{"from": "A", "to": "B", "rate": "10Mbit", "delay": "15ms", "duplex": True}]
EXAMPLES = [(name, key) for name, keys in KEYS.items() for key in keys]
# What a key needs beside it, or must not have beside it.
TOGETHER = {
    ("Leave", "batch"): {"share": None},
    ("Leave", "share"): {"batch": None},
    ("Leave", "every"): {"batch": None},
    ("CrossSpec", "source_rate"): {"available": "5Mbit", "rate": None},
    ("CrossSpec", "beside"): {"available": "5Mbit", "source_rate": "2Mbit", "rate": None},
    ("CrossSpec", "available"): {"rate": None},
    ("CrossSpec", "on"): {"off": "1s"},
    ("CrossSpec", "off"): {"on": "1s"},
    ("ArrivalSpec", "phases"): {"gap": None},
    ("ArrivalSpec", "exchanges"): {"think": "1s"},
    ("ArrivalSpec", "think"): {"exchanges": 4},
    ("ArrivalSpec", "vectors"): {"gap": None, "size": None},
    ("FlowSpec", "leave"): {"stop": None},
    ("FlowSpec", "scheduler"): {"subflows": [{}, {}]},
    ("FlowSpec", "connection_buffer"): {"subflows": [{}, {}]},
    ("Frames", "every"): {"size": 10},
    ("Frames", "deadline"): {"size": 10},
    **{
        ("Page", key): {"main": 20, "embedded": 5, "size": 9, key: KEYS["Page"][key]}
        for key in ("main", "embedded", "size", "chained", "parse", "think")
    },
    **{
        ("Shape log", key): {"format": "ucc-5g"}
        for key in KEYS["Shape log"]
        if key not in ("kind", "format")
    },
    ("Shape log", "kind"): {"unit": "kbit/s", "every": "1s", "value": 2},
    ("QueueSpec codel", "ce_threshold_l4s"): {"ce_threshold": "1ms"},
    ("QueueSpec fq-codel", "ce_threshold_l4s"): {"ce_threshold": "1ms"},
    ("QueueSpec fq", "ce_threshold_l4s"): {"ce_threshold": "1ms"},
}


def test_every_key_of_a_scenario_is_documented_with_an_example():
    types = scenario_tables.types()
    knobs = types.pop("KnobOverrides")["properties"]
    assert {name: set(entry["properties"]) for name, entry in types.items()} == {
        name: set(keys) for name, keys in KEYS.items()
    }
    pages = ("scenario", "network", "traffic", "waveforms")
    text = "".join((ROOT / f"docs/{page}.md").read_text(encoding="utf-8") for page in pages)
    parts = set(re.findall(r"<!-- generated: scenario (.+?) -->", text))
    assert all(name in parts or name.split()[0] in parts for name in types)
    assert set(knobs) - {knob["name"] for knob in native.knobs()} == {"timer_phase"}


@pytest.mark.parametrize(("name", "key"), EXAMPLES, ids=[f"{name}.{key}" for name, key in EXAMPLES])
def test_every_example_of_a_key_is_allowed(name, key, tmp_path):
    (tmp_path / "cellular.down").write_text("1\n5\n")
    rows = [f"2020-01-01 0:0:{second},{8 * second},3,D,9,1" for second in range(9)]
    text = "\n".join(["Timestamp,DL_bitrate,run_num,State,UL_bitrate,elapsed", *rows])
    (tmp_path / "bus.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    (tmp_path / "lengths.txt").write_text("1 0.5\n9 1\n")
    (tmp_path / "vectors.tmix").write_text("SEQ 1000 1 1 1\n> 300\n< 900\n")
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps(_with_example(name, key)))
    cwndlab.Scenario.load(scenario)


NUMBERS = [math.nan, math.inf, -math.inf, -1, True, "", "nan", "-1s", "1e400s", [1, 1, 1], {}]
"""No number, time, rate or size of a scenario."""
ALLOWED = {("QueueSpec cake", "overhead"): [-1]}
"""The framing of a link may be shorter than that of Linux (tc-cake(8), `overhead`)."""


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (name, key)
        for name, key in EXAMPLES
        if re.match(r"\d", str(KEYS[name][key])) or isinstance(KEYS[name][key], dict)
    ],
)
def test_what_is_no_value_of_a_key_is_refused(name, key):
    wrong = [[], [2, 1]] if isinstance(KEYS[name][key], dict) else NUMBERS
    accepted = []
    for value in wrong:
        try:
            cwndlab.Scenario.from_dict(_with_example(name, key, value))
        except cwndlab.ScenarioError:
            continue
        accepted.append(value)
    assert accepted == ALLOWED.get((name, key), [])


def _with_example(name: str, key: str, value: object = None) -> dict:
    """A scenario in which this key of this type has its example, or another value."""
    value, kind = KEYS[name][key] if value is None else value, name.split()[0]
    scenario = {"duration": "60s", "dumbbell": {"rate": "10Mbit", "delay": "20ms"}}
    scenario["flows"] = [{"name": "a", "rule": "AIMD(1, 0.5)"}]
    required = {
        part: KEYS[name][part] for part in scenario_tables.types()[name].get("required", [])
    }
    if kind in ("Bdp", "Join", "Leave", "Law"):
        required = KEYS[name]
    if kind == "CrossSpec":
        required = {"rate": "5Mbit"}
    if kind == "ArrivalSpec":
        required |= {"gap": "100ms", "size": 12}
    table = {**required, **TOGETHER.get((name, key), {}), key: value}
    table = {part: entry for part, entry in table.items() if entry is not None}
    places = {
        "Bdp": lambda: scenario.update(bdp=table),
        "LinuxSettings": lambda: scenario.update(home="linux", linux=table),
        "Dumbbell": lambda: scenario["dumbbell"].update(table),
        "QueueSpec": lambda: scenario["dumbbell"].update(queue=table),
        "LossSpec": lambda: scenario["dumbbell"].update(loss=[table]),
        "DropSpec": lambda: scenario["dumbbell"].update(drop=[table]),
        "JitterSpec": lambda: scenario["dumbbell"].update(jitter=table),
        "OutageSpec": lambda: scenario["dumbbell"].update(outages=[table]),
        "PolicerSpec": lambda: scenario["dumbbell"].update(policer=table),
        "TunnelSpec": lambda: scenario["dumbbell"].update(tunnel=table),
        "CircuitBreakerSpec": lambda: scenario["dumbbell"].update(circuit_breaker=table),
        "TokenBucketSpec": lambda: scenario["dumbbell"].update(shaper=table),
        "MarkerSpec": lambda: scenario["dumbbell"].update(marker=table),
        "Shape": lambda: scenario["dumbbell"].update(rate=table),
        "TraceSpec": lambda: scenario.update(trace=table),
        "FlowSpec": lambda: scenario.update(flows=[table]),
        "Join": lambda: scenario["flows"][0].update(count=8, join=table),
        "Leave": lambda: scenario["flows"][0].update(count=8, leave=table),
        "Responses": lambda: scenario["flows"][0].update(responses=table),
        "Frames": lambda: scenario["flows"][0].update(frames=table),
        "Page": lambda: scenario["flows"][0].update(page=table),
        "PageObject": lambda: scenario["flows"][0].update(
            page={"objects": [{"name": "html", "size": 9}, table], "think": "1s"}
        ),
        "Video": lambda: scenario["flows"][0].update(video=table),
        "Subflow": lambda: scenario["flows"][0].update(subflows=[table]),
        "Reader": lambda: scenario["flows"][0].update(reader={"buffer": 64, **table}),
        "ReaderChange": lambda: scenario["flows"][0].update(
            reader={"buffer": 64, "changes": [{"at": "10s", "reads": False, **table}]}
        ),
        "ShareSpec": lambda: scenario.update(shares=table),
        "ArrivalSpec": lambda: scenario.update(arrivals=[table]),
        "VectorFile": lambda: scenario.update(
            arrivals=[{"rule": "AIMD(1, 0.5)", "vectors": table}]
        ),
        "PacketSize": lambda: scenario.update(
            arrivals=[{"rule": "AIMD(1, 0.5)", "size": 12, "gap": "1s", "packet_sizes": [table]}]
        ),
        "Phase": lambda: scenario.update(
            arrivals=[{"rule": "AIMD(1, 0.5)", "size": 12, "phases": [table]}]
        ),
        "Law": lambda: scenario.update(
            arrivals=[{"rule": "AIMD(1, 0.5)", "size": table, "gap": "100ms"}]
        ),
        "CrossSpec": lambda: scenario.update(cross=[table]),
        "LinkSpec": lambda: scenario.update(links=[{**NODES[0], **table}]),
        "Scenario": lambda: scenario.update({key: value}),
    }
    assert kind in places, f"no place for {name} in a scenario: add one here"
    places[kind]()
    return _on_a_network(scenario, kind, key, table)


def _on_a_network(scenario: dict, kind: str, key: str, table: dict) -> dict:
    """Replace the dumbbell where the key is about links, and send the flows over them."""
    if "links" in scenario:
        del scenario["dumbbell"]
        links = scenario["links"]
        scenario["flows"][0]["path"] = [
            links[0].get("name") or f"{links[0]['from']}-{links[0]['to']}"
        ]
    elif kind in OF_PATHS and key in ("path", "back", "from", "to"):
        del scenario["dumbbell"]
        by_name = key in ("path", "back")
        scenario["links"] = LINKS if by_name else NODES
        way = {"path": ["west"]} if by_name else {"from": "A", "to": "B"}
        scenario["flows"][0].update(way)
        table.update(way)
    return scenario
