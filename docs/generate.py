"""Writes the generated parts of the documents: ``python docs/generate.py``; ``--check`` only says what is out of date.

A generated part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``. Names: ``knobs`` (table of
endpoint knobs), ``scenario TYPE`` (table of a type's keys, from the JSON schema), ``rules`` (table of window rules),
``environments`` (their table), ``assumptions`` (what they assume, and why), ``shares`` (what DRR gives a flow in them),
and ``$ COMMAND`` (the command and what it printed, run from the repository's root). What depends on the machine, the
time a run took, is not compared. Pictures are drawn anew as well, but not compared.
``bench NAME`` is what `make bench` measured last, from its record (bench/document.py).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cwndlab
from cwndlab import environments, native, tomltext
from cwndlab.quantities import rate_text

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (
    "README.md",
    "docs/environments.md",
    "docs/own-rules.md",
    "docs/performance.md",
    "docs/profiles.md",
    "docs/scenario.md",
    "docs/theory.md",
)
PICTURES = {
    "docs/images/environments.png": "cwndlab environments all --plot",
    "docs/images/ring.png": "cwndlab topology examples/ring.toml --plot",
    "docs/images/second-topology.png": "cwndlab topology examples/second-topology.toml --plot",
}
PART = re.compile(r"<!-- generated: (?P<name>.+?) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
WALL_CLOCK = re.compile(r"in \d+\.\d+ s \(\d+\.\d+ M packets/s\)")

# One example for each key of a scenario, as JSON; tests put every one of them into a scenario and check it.
WAY = {
    "path": ["west"], "back": ["east"], "from": "A", "to": "B", "reverse": True, "access_rate": "100Mbit",
    "access_delay": "5ms", "sink_rate": "unlimited", "sink_delay": "1ms", "tcp": {"delayed_ack": True},
}  # fmt: skip
BESIDE = {
    "loss": [{"kind": "bernoulli", "p": 0.01}], "jitter": {"kind": "uniform", "high": "5ms"},
    "outages": [{"from": "20s", "to": "22s"}], "marker": {"rate": "2Mbit", "burst": "15kB"},
}  # fmt: skip
EXAMPLES = {
    "Scenario": {
        "name": "demo", "duration": "60s", "measure": ["10s", "60s"], "seed": 7, "profile": "ns2-2.35",
        "rate_bin": "500ms", "bdp": {"rate": "10Mbit", "rtt": "120ms"},
        "dumbbell": {"rate": "10Mbit", "delay": "20ms"},
        "links": [{"name": "west", "rate": "10Mbit", "delay": "15ms"}], "flows": [{"rule": "AIMD(1, 0.5)"}],
        "arrivals": [{"rule": "AIMD(1, 0.5)", "gap": "100ms", "size": 12}],
        "cross": [{"rate": "5Mbit"}], "tcp": {"window": 64}, "trace": {"cwnd": "10ms"},
    },
    "Bdp": {"rate": "10Mbit", "rtt": "120ms"},
    "Dumbbell": {
        "rate": "10Mbit", "delay": "20ms", "queue": {"kind": "drop-tail", "limit": "100pkt"}, **BESIDE,
        "access_rate": "100Mbit", "access_delay": ["1ms", "10ms"],
        "sink_rate": "1Gbit", "sink_delay": "2ms", "back_rate": "unlimited",
        "back_queue": {"kind": "drop-tail", "limit": "50pkt"},
    },
    "LinkSpec": {
        "name": "west", "from": "A", "to": "B", "duplex": True, "rate": "10Mbit", "delay": "15ms",
        "queue": {"kind": "drop-tail", "limit": "64kB"}, **BESIDE,
    },
    "QueueSpec drop-tail": {"kind": "drop-tail", "limit": "50ms", "count_in_service": False},
    "QueueSpec red": {
        "kind": "red", "limit": "100pkt", "min": "10pkt", "max": "30pkt", "max_p": 0.02, "weight": 0.002,
        "gentle": False, "wait": False, "bytes": True, "queue_in_bytes": True, "mean_packet": "500B", "ecn": True,
        "mark_p": 0.3, "adaptive": True, "target_delay": "10ms",
    },
    "QueueSpec rio": {
        "kind": "rio", "limit": "100pkt", "min": "10pkt", "max": "30pkt", "max_p": 0.02, "in_min": "40pkt",
        "in_max": "80pkt", "in_max_p": 0.01, "weight": 0.002, "gentle": False, "wait": False,
        "out_drop_tail": True, "mean_packet": "500B", "ecn": True, "target_delay": "10ms",
    },
    "QueueSpec drr": {"kind": "drr", "limit": "1bdp", "quantum": "500B", "buckets": 16, "flow_limit": "10pkt"},
    "QueueSpec priority": {"kind": "priority", "limit": "50pkt"},
    "QueueSpec codel": {
        "kind": "codel", "limit": "1000pkt", "target": "10ms", "interval": "200ms", "ecn": True,
    },
    "QueueSpec fq-codel": {
        "kind": "fq-codel", "limit": "1000pkt", "target": "10ms", "interval": "200ms", "quantum": "300B",
        "buckets": 1024, "ecn": True,
    },
    "QueueSpec pie": {
        "kind": "pie", "limit": "1000pkt", "target": "20ms", "update": "30ms", "alpha": 0.25, "beta": 2.5,
        "burst": "100ms", "ecn": True, "mark_p": 0.2,
    },
    "LossSpec bernoulli": {"kind": "bernoulli", "p": 0.01, "flow": "a", "after_queue": True},
    "LossSpec gilbert-elliott": {
        "kind": "gilbert-elliott", "to_bad": 0.001, "to_good": 0.2, "bad_loss": 0.5, "good_loss": 0.0001, "flow": "a",
        "after_queue": True,
    },
    "LossSpec list": {"kind": "list", "packets": [20, 25], "flow": "a"},
    "LossSpec marks": {"kind": "marks", "packets": [20, 25], "flow": "a"},
    "JitterSpec uniform": {"kind": "uniform", "low": "1ms", "high": "5ms", "reorder": True},
    "JitterSpec normal": {"kind": "normal", "mean": "5ms", "deviation": "2ms", "reorder": True},
    "JitterSpec exponential": {"kind": "exponential", "mean": "2ms", "reorder": True},
    "OutageSpec": {"from": "20s", "to": "22s", "arrivals": "lost"},
    "MarkerSpec": {"rate": "2Mbit", "burst": "15kB"},
    "FlowSpec": {
        "name": "a", "count": 10, "rule": "AIMD(1, 0.5)", "recovery": "newreno", "start": ["0s", "1s"], "stop": "50s",
        "join": {"batch": 2, "every": "5s"}, "leave": {"share": 0.5, "every": "10s"},
        "responses": {"size": 20, "think": "1s"}, "priority": 0, "packets": 1000, **WAY,
    },
    "Join": {"batch": 2, "every": "5s"},
    "Leave": {"share": 0.5, "batch": 2, "every": "10s"},
    "Responses": {"size": 20, "think": {"kind": "exponential", "mean": "1s"}},
    "ArrivalSpec": {
        "name": "web", "rule": "AIMD(1, 0.5)", "recovery": "newreno", "gap": "100ms",
        "phases": [{"length": "5s", "gap": "30ms"}, {"length": "5s", "gap": "10ms"}], "regular": True,
        "size": {"kind": "pareto", "mean": 12, "shape": 1.2}, "start": "1s", "stop": "50s", "priority": 0, **WAY,
    },
    "Phase": {"length": "5s", "gap": "30ms"},
    "CrossSpec": {
        "name": "cbr", "count": 3, "rate": "5Mbit",
        "available": {"kind": "square", "high": "15Mbit", "low": "5Mbit", "every": "5s"},
        "source_rate": "1Mbit", "beside": 10, "on": {"kind": "exponential", "mean": "500ms"},
        "off": {"kind": "pareto", "mean": "1s", "shape": 1.5},
        "packet_size": "500B", "priority": 0, "path": ["west"], "from": "A", "to": "B", "reverse": True,
        "start": "1s", "stop": "30s",
    },
    "TraceSpec": {"cwnd": "all", "queue": "10ms", "rate": "100ms", "packets": True},
    "Law constant": {"kind": "constant", "value": 12},
    "Law uniform": {"kind": "uniform", "low": 1, "high": 20},
    "Law exponential": {"kind": "exponential", "mean": 12},
    "Law pareto": {"kind": "pareto", "mean": 12, "shape": 1.2, "most": 2000},
    "Law log-normal": {"kind": "log-normal", "mean": 12, "sigma": 1.0},
    "Law empirical": {"kind": "empirical", "file": "lengths.txt"},
    "Shape constant": {"kind": "constant", "rate": "10Mbit"},
    "Shape square": {"kind": "square", "high": "10Mbit", "low": "1Mbit", "every": "5s"},
    "Shape saw-tooth": {"kind": "saw-tooth", "low": "1Mbit", "high": "10Mbit", "period": "10s", "step": "100ms"},
    "Shape walk": {
        "kind": "walk", "start": "10Mbit", "spread": "2Mbit", "every": "1s", "min": "1Mbit", "max": "20Mbit",
    },
    "Shape uniform": {"kind": "uniform", "low": "1Mbit", "high": "10Mbit", "every": "1s"},
    "Shape trace": {"kind": "trace", "file": "cellular.down"},
    "Shape points": {"kind": "points", "points": [["0s", "5Mbit"], ["10s", "1Mbit"]], "repeat": "20s"},
}  # fmt: skip


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


def code(value: object) -> str:
    """Write a value as it stands in a scenario."""
    return f"`{tomltext.inline(value)}`"


def knobs() -> str:
    """Table of the endpoint knobs with their value in each profile."""
    entries = native.knobs()
    profiles = list(entries[0]["values"])
    rows = [
        [code_name(entry["name"]), *(knob_value(entry["values"][name]) for name in profiles), entry["meaning"]]
        for entry in entries
    ]
    return table(["knob", *profiles, "meaning"], rows)


def code_name(name: str) -> str:
    """Write a name in code type."""
    return f"`{name}`"


def knob_value(value: object) -> str:
    """Write a knob's value as `cwndlab knobs` does."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def rules() -> str:
    """Table of the window rules."""
    rows = []
    for rule in native.rules():
        allowed = "; ".join(f"{p['name']}: {p['meaning']}, {p['allowed']}" for p in rule["parameters"])
        rows.append([code_name(rule["notation"]), rule["summary"], allowed, rule["source"]])
    return table(["rule", "what it does", "parameters", "source"], rows)


def environment_table() -> str:
    """Table of the environments."""
    assume = environments.Assumptions()
    found = environments.ENVIRONMENTS.values()
    rows = [
        [code_name(entry.name), entry.title, entry.summary, rate_text(entry.capacity_bps(assume)), entry.topology]
        for entry in found
    ]
    return table(["name", "title", "left per test flow", "link", "topology"], rows)


def assumption_table() -> str:
    """Table of what the environments assume."""
    rows = [
        [code_name(entry["name"]), code(entry["default"]), entry["meaning"], entry["reason"]]
        for entry in environments.assumptions()
    ]
    return table(["key", "value", "what", "why"], rows)


def share_table() -> str:
    """Table of what DRR gives a greedy flow, beside what was asked for."""
    rows = []
    for name in environments.PAPER:
        if environments.ENVIRONMENTS[name].topology == "simple":
            asked, got = greedy_share(name)
            rows.append([name, f"{asked / 1e6:.3f}", f"{got / 1e6:.3f}", f"{got / asked:.3f}"])
    return table(["environment", "asked for, Mb/s", "got, Mb/s", "ratio"], rows)


def greedy_share(name: str, duration: str = "30s") -> tuple[float, float]:
    """Bandwidth per flow, bit/s: what an environment asks for under DRR, and what sources that never stop get."""
    assume = environments.Assumptions(duration=duration)
    document = environments.scenario(name, queue="drr", assume=assume).to_dict()
    capacity = environments.ENVIRONMENTS[name].capacity_bps(assume)
    # Twice the largest share each: they have packets in their queues all the time.
    greedy = {"name": "greedy", "count": assume.flows, "rate": rate_text(2 * capacity / assume.flows)}
    document |= {"flows": [], "cross": [*document.get("cross", []), {**greedy, "start": ["0s", "1s"]}]}
    result = cwndlab.run(document)
    # The course is the same under every queue; here the greedy sources would count as cross traffic themselves.
    asked = cwndlab.run(environments.scenario(name, assume=assume)).links["available_bps"][0]
    return asked / assume.flows, result.cross.filter(source="greedy")["delivered_bps"][0] / assume.flows


def types() -> dict[str, dict]:
    """Tables of a scenario by name: the document itself, and every definition or variant that has keys."""
    schema = native.schema()
    found = {"Scenario": schema}
    for name, definition in schema["$defs"].items():
        if "properties" in definition:
            found[name] = definition
        for variant in definition.get("oneOf", []):
            if "properties" in variant:
                found[f"{name} {variant['properties']['kind']['const']}"] = variant
    # A law of times has the keys of one of packets.
    return {name: definition for name, definition in found.items() if not name.startswith("Law2 ")}


def scenario_type(name: str) -> str:
    """Table of one type's keys: unit or kind, default, example, meaning."""
    definition = types()[name]
    required = definition.get("required", [])
    rows = []
    for key, entry in definition["properties"].items():
        if "default" in entry:
            default = code(entry["default"])
        elif key in required:
            default = "required"
        else:
            default = "`false`" if entry.get("type") == "boolean" else "none"
        meaning = entry.get("description", "which kind of table this is" if key == "kind" else "")
        rows.append([code_name(key), kind_of(entry), default, code(EXAMPLES[name][key]), meaning])
    order = {key: place for place, key in enumerate(EXAMPLES[name])}
    rows.sort(key=lambda row: order[row[0].strip("`")])
    return table(["key", "kind", "default", "example", "meaning"], rows)


KINDS = {
    "Time": "time", "Rate": "rate", "Bytes": "bytes", "Buffer": "buffer", "RateLimit": "rate or `\"unlimited\"`",
    "Span": "time, or `[low, high]`", "Waveform": "rate or waveform", "Sampling": "time or `\"all\"`",
    "ProfileName": "name", "RecoveryName": "name", "Packets": "number", "Arrivals": "`\"wait\"` or `\"lost\"`",
    "Distribution": "number, or a law", "Distribution2": "time, or a law",
}  # fmt: skip


def kind_of(entry: dict) -> str:
    """Say what a key takes, in a word or two."""
    if "const" in entry:
        return f"`{json.dumps(entry['const'])}`"
    for option in [entry, *entry.get("anyOf", [])]:
        if "$ref" in option:
            name = option["$ref"].rsplit("/", 1)[1]
            return KINDS.get(name, "table")
    type_ = entry.get("type", "array" if "prefixItems" in entry else "")
    type_ = next(one for one in type_ if one != "null") if isinstance(type_, list) else type_
    if type_ == "array":
        inner = entry.get("items", {})
        return f"list of {kind_of(inner)}s" if isinstance(inner, dict) and inner else "pair"
    return {"integer": "whole number", "boolean": "truth value", "string": "name"}.get(type_, type_)


def console(command: str) -> str:
    """Run a command and quote it with what it printed, messages included."""
    folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return "```console\n" + "\n".join([f"$ {command}", *lines]) + "\n```\n"


def generate(name: str) -> str:
    """Text of the part called `name`."""
    if name.startswith("$ "):
        return console(name[2:])
    if name.startswith("bench "):
        return measured(name.removeprefix("bench "))
    if name.startswith("scenario "):
        return scenario_type(name.removeprefix("scenario "))
    makers = {
        "knobs": knobs,
        "rules": rules,
        "environments": environment_table,
        "assumptions": assumption_table,
        "shares": share_table,
    }
    return makers[name]()


def measured(name: str) -> str:
    """Quote what is on record of the benchmark."""
    spec = importlib.util.spec_from_file_location("bench_document", ROOT / "bench" / "document.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.part(name)


def comparable(text: str) -> str:
    """Take out what depends on the machine."""
    return WALL_CLOCK.sub("in T s (P M packets/s)", text)


def refreshed(text: str) -> str:
    """Return a document with its generated parts made anew; a part that says the same stays as it is."""

    def part(found: re.Match[str]) -> str:
        new = generate(found["name"])
        kept = found["text"] if comparable(found["text"]) == comparable(new) else new
        return f"<!-- generated: {found['name']} -->\n{kept}<!-- end -->"

    return PART.sub(part, text)


def main() -> int:
    """Refresh or check every document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if something is out of date")
    arguments = parser.parse_args()
    stale = 0
    for name, command in {} if arguments.check else PICTURES.items():
        console(f"{command} {name}")
    for name in DOCUMENTS:
        path = ROOT / name
        old = path.read_text(encoding="utf-8")
        new = refreshed(old)
        if new != old:
            stale += 1
            print(f"{name}: {'is out of date' if arguments.check else 'written'}", file=sys.stderr)
            if not arguments.check:
                # Written whole or not at all.
                with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as part:
                    part.write(new)
                Path(part.name).chmod(0o644)
                Path(part.name).replace(path)
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
