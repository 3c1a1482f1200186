"""One example for each key of a scenario."""

from __future__ import annotations

import json
import re

from parts.text import ROOT

# One example for each key of a scenario, as JSON; tests put every one of them into a scenario and
# check it. Those of queues stand in docs/queues.md, in the table of each kind.
ROUTE = {
    "path": ["west"], "back": ["east"], "from": "A", "to": "B", "reverse": True,
    "access_rate": "100Mbit", "access_delay": "5ms", "sink_rate": "unlimited",
    "sink_delay": "1ms", "tcp": {"delayed_ack": True},
}  # fmt: skip
IMPAIRMENTS = {
    "loss": [{"kind": "bernoulli", "p": 0.01}], "drop": [{"flow": "a", "packet": 300}],
    "jitter": {"kind": "uniform", "high": "5ms"},
    "outages": [{"from": "20s", "to": "22s"}], "marker": {"rate": "2Mbit", "burst": "15kB"},
    "ecn_mangling": "bleach", "tunnel": {"ingress": "compatibility"},
    "policer": {"rate": "8Mbit", "burst": "125kB"},
    "circuit_breaker": {"every": "5s"},
    "shaper": {"rate": "8Mbit", "burst": "125kB"},
}  # fmt: skip
EXAMPLES = {
    "Scenario": {
        "name": "demo", "duration": "60s", "measure": ["10s", "60s"], "seed": 7,
        "home": "linux", "profile": "ns2-2.35",
        "router_profile": "ns2-2001",
        "rate_bin": "500ms", "shares": {"band": 0.1}, "bdp": {"rate": "10Mbit", "rtt": "120ms"},
        "dumbbell": {"rate": "10Mbit", "delay": "20ms"},
        "links": [{"name": "west", "rate": "10Mbit", "delay": "15ms"}],
        "flows": [{"rule": "AIMD(1, 0.5)"}],
        "arrivals": [{"rule": "AIMD(1, 0.5)", "gap": "100ms", "size": 12}],
        "cross": [{"rate": "5Mbit"}], "host_jitter": "1ms", "host_clock": "256ns",
        "tcp": {"window": 64},
        "linux": {"tcp_recovery": 0}, "trace": {"cwnd": "10ms"},
    },
    "LinuxSettings": {
        "initcwnd": 10, "initrwnd": 10, "rto_min": "50ms", "quickack": True, "gso_max_segs": 1,
    },
    "Bdp": {"rate": "10Mbit", "rtt": "120ms"},
    "Dumbbell": {
        "rate": "10Mbit", "delay": "20ms", "queue": {"kind": "drop-tail", "limit": "100pkt"},
        **IMPAIRMENTS,
        "access_rate": "100Mbit", "access_delay": ["1ms", "10ms"],
        "sink_rate": "1Gbit", "sink_delay": "2ms", "back_rate": "unlimited",
        "back_queue": {"kind": "drop-tail", "limit": "50pkt"},
        "back_loss": [{"kind": "bernoulli", "p": 0.1, "from": "20s"}],
    },
    "LinkSpec": {
        "name": "west", "from": "A", "to": "B", "duplex": True, "rate": "10Mbit", "delay": "15ms",
        "queue": {"kind": "drop-tail", "limit": "64kB"}, **IMPAIRMENTS,
    },
    "LossSpec bernoulli": {
        "kind": "bernoulli", "p": 0.01, "flow": "a", "after_queue": True, "from": "20s",
        "to": "30s",
    },
    "LossSpec gilbert-elliott": {
        "kind": "gilbert-elliott", "to_bad": 0.001, "to_good": 0.2, "bad_loss": 0.5,
        "good_loss": 0.0001, "flow": "a",
        "after_queue": True, "from": "20s", "to": "30s",
    },
    "LossSpec list": {"kind": "list", "packets": [20, 25], "flow": "a"},
    "LossSpec marks": {"kind": "marks", "packets": [20, 25], "flow": "a"},
    "DropSpec": {"flow": "a", "packet": 300, "transmission": 2, "hold": "12ms"},
    "JitterSpec uniform": {"kind": "uniform", "low": "1ms", "high": "5ms", "reorder": True},
    "JitterSpec normal": {"kind": "normal", "mean": "5ms", "deviation": "2ms", "reorder": True},
    "JitterSpec exponential": {"kind": "exponential", "mean": "2ms", "reorder": True},
    "JitterSpec bernoulli": {"kind": "bernoulli", "p": 0.5, "by": "40ms", "reorder": True},
    "JitterSpec wi-fi": {
        "kind": "wi-fi", "mean": "7ms", "changes": [["10s", "12ms"], ["20s", "1ms"]],
        "reorder": True,
    },
    "JitterSpec steps": {
        "kind": "steps", "points": [["10s", "60ms"], ["20s", "0ms"]], "reorder": True,
    },
    "OutageSpec": {"from": "20s", "to": "22s", "arrivals": "lost"},
    "MarkerSpec": {"rate": "2Mbit", "burst": "15kB"},
    "PolicerSpec": {
        "rate": "8Mbit", "burst": "125kB", "peak": {"rate": "20Mbit", "burst": "15kB"},
        "excess": "mark",
    },
    "TunnelSpec": {"ingress": "compatibility", "egress": "ignores-outer", "overhead": "50B"},
    "CircuitBreakerSpec": {"loss": 0.2, "every": "5s", "count": 2, "pause": "30s"},
    "TokenBucketSpec": {"rate": "8Mbit", "burst": "125kB"},
    "FlowSpec": {
        "name": "a", "count": 10, "rule": "AIMD(1, 0.5)", "recovery": "newreno",
        "stack": "quinn", "start": ["0s", "1s"], "stop": "50s",
        "join": {"batch": 2, "every": "5s"}, "leave": {"share": 0.5, "every": "10s"},
        "responses": {"size": 20, "think": "1s"}, "frames": {"size": 10, "every": "33.333ms"},
        "page": {"main": 20, "embedded": 30, "size": 16, "think": "5s"},
        "video": {"bitrates": ["375kbit", "1050kbit", "3Mbit"]},
        "reader": {"buffer": 64, "rate": "5Mbit"},
        "priority": 0, "packets": 1000, "bytes": "1MB",
        "subflows": [{"name": "wifi"}, {"access_delay": "20ms"}], "scheduler": "round-robin",
        "connection_buffer": 64, **ROUTE,
    },
    "Subflow": {"name": "wifi", "start": "1s", "stop": "50s", **ROUTE},
    "Reader": {
        "buffer": 64, "rate": "5Mbit",
        "changes": [{"at": "10s", "reads": False}, {"at": "12s", "reads": True}],
    },
    "ReaderChange": {"at": "10s", "buffer": 32, "rate": "1Mbit", "reads": True},
    "Join": {"batch": 2, "every": "5s"},
    "Leave": {"share": 0.5, "batch": 2, "every": "10s"},
    "Responses": {"size": 20, "think": {"kind": "exponential", "mean": "1s"}},
    "Frames": {
        "size": {"kind": "log-normal", "mean": 10, "sigma": 0.5}, "every": "33.333ms",
        "deadline": "150ms",
    },
    "Page": {
        "objects": [
            {"name": "html", "size": 20}, {"name": "style", "size": 8, "after": ["html"]},
        ],
        "main": {"kind": "log-normal", "mean": 20, "sigma": 1},
        "embedded": {"kind": "pareto", "mean": 20, "shape": 1.5, "most": 100},
        "size": {"kind": "log-normal", "mean": 16, "sigma": 1.4}, "chained": 0.2,
        "parse": {"kind": "exponential", "mean": "20ms"},
        "think": {"kind": "exponential", "mean": "5s"},
    },
    "PageObject": {"name": "style", "size": 8, "after": ["html"], "parse": "20ms"},
    "Video": {
        "bitrates": ["375kbit", "1050kbit", "3Mbit"], "segment": "2s", "reservoir": "10s",
        "cushion": "20s", "buffer": "40s", "startup": "8s",
    },
    "ShareSpec": {"bin": "500ms", "starved_below": 0.2, "band": 0.1, "hold": "3s"},
    "ArrivalSpec": {
        "name": "web", "rule": "AIMD(1, 0.5)", "recovery": "newreno", "gap": "100ms",
        "phases": [{"length": "5s", "gap": "30ms"}, {"length": "5s", "gap": "10ms"}],
        "regular": True, "size": {"kind": "pareto", "mean": 12, "shape": 1.2},
        "exchanges": {"kind": "pareto", "mean": 4, "shape": 1.4, "most": 100},
        "think": {"kind": "log-normal", "mean": "2s", "sigma": 1.5},
        "vectors": {"file": "vectors.tmix"},
        "packet_sizes": [{"size": "536B", "share": 0.1}, {"size": "1460B", "share": 0.9}],
        "start": "1s", "stop": "50s", "priority": 0, **ROUTE,
    },
    "VectorFile": {"file": "vectors.tmix"},
    "PacketSize": {"size": "536B", "share": 1},
    "Phase": {"length": "5s", "gap": "30ms"},
    "CrossSpec": {
        "name": "cbr", "count": 3, "rate": "5Mbit",
        "available": {"kind": "square", "high": "15Mbit", "low": "5Mbit", "every": "5s"},
        "source_rate": "1Mbit", "beside": 10, "on": {"kind": "exponential", "mean": "500ms"},
        "off": {"kind": "pareto", "mean": "1s", "shape": 1.5},
        "packet_size": "500B", "priority": 0, "path": ["west"], "from": "A", "to": "B",
        "reverse": True, "access_rate": "100Mbit", "access_delay": "2ms",
        "start": "1s", "first_at_start": True, "stop": "30s",
    },
    "TraceSpec": {"cwnd": "all", "rule": "10ms", "queue": "10ms", "rate": "100ms", "packets": True,
                  "rtt": True, "shares": True, "account": True,
                  "solo": True},
    "Law constant": {"kind": "constant", "value": 12},
    "Law uniform": {"kind": "uniform", "low": 1, "high": 20},
    "Law exponential": {"kind": "exponential", "mean": 12},
    "Law pareto": {"kind": "pareto", "mean": 12, "shape": 1.2, "most": 2000},
    "Law log-normal": {"kind": "log-normal", "mean": 12, "sigma": 1.0},
    "Law empirical": {"kind": "empirical", "file": "lengths.txt"},
    "Shape constant": {"kind": "constant", "rate": "10Mbit"},
    "Shape square": {"kind": "square", "high": "10Mbit", "low": "1Mbit", "every": "5s"},
    "Shape saw-tooth": {"kind": "saw-tooth", "low": "1Mbit", "high": "10Mbit", "period": "10s",
    "step": "100ms"},
    "Shape walk": {
        "kind": "walk", "start": "10Mbit", "spread": "2Mbit", "every": "1s", "min": "1Mbit",
        "max": "20Mbit",
    },
    "Shape uniform": {"kind": "uniform", "low": "1Mbit", "high": "10Mbit", "every": "1s"},
    "Shape trace": {"kind": "trace", "file": "cellular.down", "start": "random"},
    "Shape log": {
        "kind": "log", "file": "bus.csv.gz", "format": "ucc-5g", "time": "Timestamp",
        "time_unit": "date", "elapsed": 6, "every": "100ms", "value": "DL_bitrate",
        "unit": "kbit/s", "holds": "until",
        "only": ["run_num", "3"], "end": "hold", "start": "random",
    },
    "Shape cellular": {
        "kind": "cellular", "mean": "10Mbit", "noise": "4Mbit", "outage_share": 0.05,
        "outage_length": "1s",
    },
    "Shape grants": {"kind": "grants", "rate": "10Mbit", "every": "5ms"},
    "Shape points": {"kind": "points", "points": [["0s", "5Mbit"], ["10s", "1Mbit"]],
    "repeat": "20s"},
}  # fmt: skip


def _queue_examples() -> dict[str, dict[str, object]]:
    """Read the examples of docs/queues.md: a section for each kind, in it a table of its keys."""
    document = (ROOT / "docs" / "queues.md").read_text(encoding="utf-8")
    found = {}
    for section in re.split(r"^## ", document, flags=re.MULTILINE)[1:]:
        kind, _, text = section.partition("\n")
        if "| key | default | example |" in text:
            rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| `([^`|]+)` \|", text, re.MULTILINE)
            examples = {key: json.loads(example) for key, example in rows}
            found[f"QueueSpec {kind}"] = {"kind": kind, **examples}
    return found


EXAMPLES.update(_queue_examples())
