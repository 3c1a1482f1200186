"""The benchmark: what it counts, what it calls met, what fails the guard. It runs nothing long."""

from __future__ import annotations

import importlib
import json
import shutil
import sys

import pytest

from conftest import ROOT

# A program of two functions, 7 + 20 and 5 + 5 + 3 by themselves; the first calls the second. And
# the C library, 5.
DUMP = """\
version: 1
positions: instr line
events: Ir
summary: 45

ob=(1) build/bench
fl=(1) a.rs
fn=(1) main
0x100 10 7
+4 +1 20
cfn=(2)
calls=2 0x200
+4 * 13
ob=(2) libc.so.6
fn=(3) malloc
0x900 1 5

ob=(1)
fn=(2)
0x200 30 5
* +1 5
-16 * 3
"""


@pytest.fixture(scope="module")
def bench():
    """Modules of the folder bench by name."""
    added = [str(ROOT), str(ROOT / "bench")]
    sys.path[:0] = added
    names = (
        "bench", "callgrind", "document", "engine", "guard", "htsim_reference", "ours", "peers",
        "settings", "stages", "tables", "workloads",
    )  # fmt: skip
    yield {name: importlib.import_module(name) for name in names}
    for path in added:
        sys.path.remove(path)


def test_instructions_are_counted_where_they_are_not_those_of_a_call(bench):
    counted = bench["callgrind"].read(DUMP, "bench", {"delivered": 4, "arrived": 0})
    assert counted.instructions == 45
    assert counted.by_address == {0x100: 7, 0x104: 20, 0x200: 10, 0x1F0: 3}
    assert counted.elsewhere == 5
    # Nothing is lost: what a call costs is with what was called.
    assert sum(counted.by_address.values()) + counted.elsewhere == counted.instructions


def test_a_stage_is_that_of_the_innermost_function_of_this_repository(bench):
    stage = bench["stages"].stage
    loop = "crates/sim/src/engine/event_loop.rs"
    assert stage(["library/core/src/slice/mod.rs", "crates/tcp/src/sender.rs", loop]) == "endpoint"
    assert stage(["crates/sim/src/event/stations.rs", loop]) == "scheduling"
    assert stage(["library/alloc/src/raw_vec.rs"]) == "library"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("endpoint/receivers.rs", "endpoint"),
        ("endpoint/arrivals.rs", "flows that come and go"),
        ("engine/sender_events.rs", "endpoint"),
        ("engine/event_loop.rs", "engine"),
        ("network/transport.rs", "engine"),
        ("network/link/scheduled.rs", "queue and link"),
        ("rate/transmitter.rs", "queue and link"),
        ("measure/trace_hash.rs", "trace hash"),
        ("measure/histogram.rs", "results"),
        ("build/routes.rs", "reading and building"),
        ("simulation.rs", "engine"),
    ],
)
def test_a_file_of_the_simulator_is_in_the_stage_of_its_directory(bench, file, expected):
    assert (ROOT / "crates/sim/src" / file).is_file()
    assert bench["stages"].stage([f"crates/sim/src/{file}"]) == expected


@pytest.mark.parametrize(
    "crate", ["rules", "queues", "tcp", "units", "scenario", "sim", "prefetch"]
)
def test_every_file_of_the_simulator_is_in_a_stage(bench, crate):
    files = [
        path.relative_to(ROOT).as_posix() for path in (ROOT / f"crates/{crate}/src").rglob("*.rs")
    ]
    assert files
    assert [file for file in files if bench["stages"].stage([file]) == "library"] == []


def test_the_guard_fails_above_two_percent_and_not_below(bench):
    judge = bench["guard"].judge
    old = {"instructions": 1000, "packets": 10}
    line, grown = judge("a", old, {"instructions": 1020, "packets": 10})
    assert not grown
    assert "+2.00%" in line
    line, grown = judge("a", old, {"instructions": 1021, "packets": 9})
    assert grown
    assert "1,021 instructions" in line
    assert "on record 1,000" in line
    assert "9 packets instead of 10" in line
    assert "record this" in judge("a", old, {"instructions": 800, "packets": 10})[0]


def test_the_record_of_the_guard_has_its_runs(bench):
    record = json.loads((ROOT / "bench" / "instructions.json").read_text())
    assert {name: run["duration"] for name, run in record["runs"].items()} == bench["guard"].RUNS


def test_targets_are_those_that_were_asked_for(bench):
    """The issue's table; a target that is not met stays as it is."""
    asked = {
        ("ten-mixed", "ratio"): 20, ("ten-red", "ratio"): 15, ("ten-red-ecn", "ratio"): 15,
        ("ten-drr", "ratio"): 15, ("thousand", "ratio"): 22, ("thousand-red", "ratio"): 18,
        ("thousand-red-ecn", "ratio"): 18, ("thousand-drr", "ratio"): 15,
        ("parking-lot", "ratio"): 15,
        ("hundred-thousand", "ratio"): 15, ("hundred-thousand", "bytes_per_flow"): 700,
        ("hundred-thousand", "bytes_per_flow_python"): 1500,
        ("dualpi2", "classic_over_pie"): 1.5, ("dualpi2", "l4s_over_pie"): 1.5,
        ("million", "peak_bytes"): 800 * 1024**2, ("formula", "cost"): 1.15,
        ("python-rule", "cost"): 3, ("traced", "cost"): 1.2, ("sweep", "speed_up"): 1.9,
        ("start-up", "version_s"): 0.3, ("start-up", "import_s"): 0.3,
    }  # fmt: skip
    found = {
        (workload.name, target.figure): target.most if target.least is None else target.least
        for workload in bench["workloads"].WORKLOADS
        for target in workload.targets
    }
    assert found == asked


@pytest.mark.parametrize(("value", "word"), [(19.9, "NOT MET"), (20.0, "met")])
def test_a_target_is_met_or_not(bench, value, word):
    entries = {"ten-mixed": {"figures": {"ratio": value, "same_work": True}}}
    _, rows = bench["tables"].targets(entries)
    assert [row[-1] for row in rows] == [word]


def test_a_target_that_the_median_misses_stays_missed_whatever_the_fastest_runs_did(bench):
    own = [{"wall_s": seconds, "delivered": 1000} for seconds in (0.01, 0.02, 0.03)]
    peer = [{"wall_s": seconds, "delivered": 1000} for seconds in (0.2, 0.2, 0.21)]
    figures = bench["engine"].beside(own, peer)
    _, rows = bench["tables"].targets({"ten-mixed": {"figures": figures}})
    assert rows[0][2:] == [
        "10.0 times faster than ns-2",
        "at least 20 times",
        "NOT MET, 20.0 times in the fastest run of each",
    ]


def test_what_was_not_measured_says_why(bench):
    entries = {
        "ten-mixed": {"figures": {"ns_per_packet": 50.0}},
        "thousand": {"figures": {"ratio": 20.0, "same_work": False}},
        "python-rule": {"skipped": "because"},
    }
    _, rows = bench["tables"].targets(entries)
    assert [row[-1] for row in rows] == [
        "skipped: ns-2 is not installed",
        "not the same workload",
        "skipped: because",
    ]


def test_every_scenario_is_valid_and_belongs_to_a_work(bench):
    import cwndlab

    workloads = bench["workloads"]
    used = {workload.base or workload.name for workload in workloads.WORKLOADS}
    used |= {bench["engine"].EMPTY, *bench["guard"].RUNS}
    assert {path.stem for path in workloads.SCENARIOS.glob("*.toml")} == used
    for workload in workloads.WORKLOADS:
        if workload.name not in ("hundred-thousand", "million"):
            cwndlab.Scenario.from_dict(workload.scenario())


@pytest.mark.skipif(
    shutil.which("ns") is None, reason="ns-2 (program `ns`, Debian package ns2) is not installed"
)
@pytest.mark.parametrize("by_hand", [False, True], ids=["nodes", "by hand"])
def test_links_made_by_hand_in_ns2_are_those_of_nodes(bench, by_hand):
    """With either, ns-2 delivers what cwndlab does.

    Ten flows whose delays and starts are written out.
    """
    scenario = {**bench["workloads"].read("ten-mixed"), "duration": "10s"}
    ours, theirs = bench["ours"].run(scenario), bench["engine"].run_ns2(scenario, by_hand=by_hand)
    # The last bit of a rate decides which of two packets is lost; the benchmark itself asks for no
    # more.
    assert theirs["delivered"] == pytest.approx(ours["delivered"], rel=bench["engine"].SAME_WORK)


# What a program built from htsim prints: a line of htsim's own, then the figures.
HTSIM = """\
At 1750 RTO 1305
{"seconds": 0.5, "sent": 1100, "dropped": 100, "version": "abc1234"}
"""


def test_the_last_line_of_the_htsim_program_is_read(bench):
    done = bench["htsim_reference"].read(HTSIM)
    assert (done.wall_s, done.sent_packets, done.delivered_packets) == (0.5, 1100, 1000)
    assert done.version == "abc1234"
    assert bench["htsim_reference"].read('{"seconds": 1, "sent": 2, "dropped": 0}').version is None


@pytest.mark.parametrize(
    "output",
    [
        "",
        "At 1750 RTO 1305",
        "[1, 2, 3]",
        '{"seconds": 1, "sent": 2}',
        '{"seconds": "-", "sent": 2, "dropped": 0}',
        '{"seconds": 1, "sent": 2, "dropped": 2}',
    ],
)
def test_an_htsim_program_that_prints_something_else_fails(bench, output):
    with pytest.raises(RuntimeError, match="htsim program"):
        bench["htsim_reference"].read(output)


@pytest.fixture
def htsim(tmp_path):
    """Write a program in the place of htsim that delivers 1000 packets in half a second.

    It fails where its arguments are not those of ten flows.
    """
    program = tmp_path / "ten"
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "if len(sys.argv) != 26 or sys.argv[1:6] != "
        "['100000000.0', '20000000', '1200', '1000000000.0', '5.0']:\n"
        "    sys.exit(f'arguments: {sys.argv[1:]}')\n"
        f"print({HTSIM!r}, end='')\n"
    )
    program.chmod(0o755)
    return program


def test_htsim_is_run_with_the_network_of_the_scenario(bench, htsim):
    scenario = {**bench["workloads"].read("ten-mixed"), "duration": "5.0s"}
    assert bench["htsim_reference"].run(htsim, scenario).delivered_packets == 1000
    with pytest.raises(RuntimeError, match=r"htsim failed .* arguments: .*'7.0'"):
        bench["htsim_reference"].run(htsim, {**scenario, "duration": "7.0s"})


def test_work_that_is_not_alike_is_marked(bench, htsim, monkeypatch):
    monkeypatch.setattr(bench["peers"].ns3_reference, "missing", lambda: "not here")
    (workload,) = (work for work in bench["workloads"].WORKLOADS if work.name == "peers")
    settings = bench["settings"].Settings(2, quick=True, ns2=False, htsim=htsim)
    figures = bench["peers"].peers(workload, settings)
    assert list(figures["simulators"]) == ["cwndlab", "htsim"]
    entries = {"peers": {"measured": {"commit": "1234567"}, "figures": figures}}
    _, rows = bench["tables"].peers(entries)
    assert rows[1][:3] == ["htsim", "abc1234", "500,000.0"]
    assert rows[1][6] == "1,000"
    assert rows[1][7].endswith("%, not alike")
    assert rows[1][8:] == ["0.09091", "1234567"]


def entry(commit, *simulators, processor="a"):
    """Return the entry of a record."""
    figures = {"machine": {"processor": processor}, "duration": "30s"}
    found = {name: {"from": commit} for name in simulators}
    return {"measured": {"commit": commit}, "figures": {**figures, "simulators": found}}


def test_the_figures_of_a_simulator_that_was_not_there_stay_with_their_commit(bench):
    kept = bench["peers"].kept
    old, new = entry("old", "cwndlab", "htsim"), entry("new", "cwndlab", "ns-2")
    simulators = kept(old, new)["figures"]["simulators"]
    assert simulators == {
        "cwndlab": {"from": "new"},
        "ns-2": {"from": "new"},
        "htsim": {"from": "old", "measured": {"commit": "old"}},
    }
    # Once more, and it is still known where they are from.
    again = kept(kept(old, new), entry("newer", "cwndlab"))["figures"]["simulators"]
    assert again["htsim"]["measured"] == {"commit": "old"}
    assert again["ns-2"]["measured"] == {"commit": "new"}
    other = entry("new", "cwndlab", processor="b")
    assert kept(old, other) == other
    assert kept(None, new) == new


def test_the_simulators_can_be_recorded_without_the_rest(bench, tmp_path, monkeypatch):
    record = tmp_path / "results.json"
    monkeypatch.setattr(bench["bench"], "RECORD", record)
    recorded = bench["bench"].recorded
    here, there = ({"machine": name, "versions": {}} for name in ("here", "there"))
    peers, mixed = entry("old", "cwndlab"), {"figures": {}}
    assert recorded({**here, "workloads": {"peers": peers}})["machine"] == "here"
    record.write_text(json.dumps({**there, "profile": 1, "workloads": {"ten-mixed": mixed}}))
    assert recorded({**here, "workloads": {"peers": peers}}) == {
        **there,
        "profile": 1,
        "workloads": {"ten-mixed": mixed, "peers": peers},
    }
    # Measured elsewhere, the rest replaces what was there, but for the simulators.
    record.write_text(json.dumps({**there, "workloads": {"thousand": mixed, "peers": peers}}))
    assert recorded({**here, "workloads": {"ten-mixed": mixed}}) == {
        **here,
        "workloads": {"ten-mixed": mixed, "peers": peers},
    }
