"""Scripts of `cwndlab export` build the same network: examples send the same packets in ns-2, or
agree as distributions where chance decides; what ns-2 cannot express is refused by its key."""

from __future__ import annotations

import random
import statistics
import subprocess

import pytest

import cwndlab
from cwndlab.cli.app import app
from cwndlab.ns2 import tcl
from cwndlab.ns2.results import read
from cwndlab.ns2.script import export
from cwndlab.ns2.timer_seeds import timer_seed

from . import compare, exported, ns2, reference

needs_ns2 = pytest.mark.skipif(
    reference.installed_version() != reference.VERSION,
    reason=f"ns-2 {reference.VERSION} (program `ns`, Debian package ns2) is not installed",
)


def test_every_example_is_exported_or_refused():
    sweeps = {file.stem for file in exported.EXAMPLES.glob("sweep-*.toml")}
    files = {file.stem for file in exported.EXAMPLES.glob("*.toml")} - sweeps
    assert files == {*exported.WITHOUT_CHANCE, *exported.WITH_CHANCE, *exported.WITH_ARRIVALS,
                     *exported.IN_ANOTHER_ENDPOINT, *exported.REFUSED}  # fmt: skip


@pytest.mark.parametrize("name", exported.WITHOUT_CHANCE)
def test_an_example_without_chance_sends_the_same_packets(name):
    scenario = exported.example(name, duration="12s")
    theirs = reference.output(ns2.exported(scenario))
    patch = {"tcp.timer_phase": exported.PHASE_S, "trace": {"packets": True}}
    traced = cwndlab.run(scenario.patch(patch))
    names = traced.flows["flow"].to_list()
    columns = ("time_s", "seq", "size_bytes", "cwnd_packets", "ssthresh_packets")
    sent = traced.traces["packets"].filter(event="send")
    pairs = zip(names, ns2.flows(theirs, [exported.PHASE_S] * len(names)), strict=True)
    for flow, other in pairs:
        rows = sent.filter(flow=flow).select(*columns).rows()
        assert len(rows) > 100
        message = compare.describe(ns2.Flow([ns2.Send(*row) for row in rows]), other, 12.0)
        assert message is None, f"{name}, {flow}: {message}"


@needs_ns2
@pytest.mark.slow
@pytest.mark.parametrize("name", [*exported.WITH_CHANCE, *exported.IN_ANOTHER_ENDPOINT])
def test_an_example_whose_packets_differ_has_the_same_goodput_and_losses(name):
    """Five seeds; the criterion of docs/agreement.md."""
    scenario = exported.example(name)
    pairs = [(cwndlab.run(scenario, seed=seed), cwndlab.ns2.run(scenario, seed=seed))
             for seed in range(1, 6)]  # fmt: skip
    for metric in ("aggregate_goodput_bps", "dropped", "queue"):
        ours, theirs = (
            [_measured(result, metric) for result in side] for side in zip(*pairs, strict=True)
        )
        allowed = max(2 * statistics.stdev(theirs), 0.03 * statistics.fmean(theirs), 0.03)
        assert statistics.fmean(ours) == pytest.approx(statistics.fmean(theirs), abs=allowed), (
            metric
        )


def _measured(result: cwndlab.Result, metric: str) -> float:
    if metric == "dropped":
        return float(result.flows["dropped_packets"].sum())
    return result.links["mean_queue_packets"][0] if metric == "queue" else getattr(result, metric)


@pytest.mark.parametrize(("name", "key"), exported.REFUSED.items())
def test_another_example_is_refused_by_its_key(name, key):
    with pytest.raises(cwndlab.ScenarioError) as caught:
        export(exported.example(name))
    assert key in str(caught.value).replace("`", "")
    assert "ns-2" in str(caught.value)


@needs_ns2
@pytest.mark.slow
@pytest.mark.parametrize(("paper", "plan", "labels"), exported.CELLS)
def test_cells_of_the_papers_run_and_agree(paper, plan, labels):
    """One run of 20 s on either side: goodput and losses are near, as draws of routers differ."""
    document = exported.cell(paper, plan, labels).document()
    document = {**document, "duration": "20s", "measure": ["5s", "20s"]}
    scenario = cwndlab.Scenario({key: value for key, value in document.items() if key != "trace"})
    ours, theirs = cwndlab.run(scenario), cwndlab.ns2.run(scenario)
    assert theirs.aggregate_goodput_bps == pytest.approx(ours.aggregate_goodput_bps, rel=0.06)
    assert theirs.flows["sent_packets"].sum() == pytest.approx(
        ours.flows["sent_packets"].sum(), rel=0.06
    )


BASE = {
    "duration": "5s",
    "profile": "ns2-2.35",
    "dumbbell": {"rate": "1Mbit", "delay": "10ms"},
    "flows": [{"name": "a", "rule": "AIMD(1, 0.5)"}],
}


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"profile": "rfc"}, 'profile: "rfc" is not valid: expected an ns-2 profile'),
        ({"profile": "linux"}, 'profile: "linux" is not valid: expected an ns-2 profile'),
        ({"flows.a.rule": "BBR1"}, 'flows[0].rule: "BBR1" is not valid: expected AIMD'),
        ({"flows.a.rule": "CUBIC", "flows.a.recovery": "reno"},
         'flows[0].recovery: "reno" is not valid: expected sack, with CUBIC'),
        ({"flows.a.rule": "AIMAD(1, 1, 0.9)"}, 'flows[0].rule: "AIMAD(1, 1, 0.9)" is not valid'),
        ({"flows.a.recovery": "fack"}, 'flows[0].recovery: "fack" is not valid: expected tahoe'),
        ({"flows.a.reader": {"buffer": 10}}, "`flows[0].reader` cannot be exported"),
        ({"flows.a.bytes": "5500B"}, 'flows[0].bytes: "5500B" is not valid: expected `packets`'),
        ({"tcp.rack": True}, "tcp.rack: true is not valid: expected false"),
        ({"flows.a.tcp": {"prr": True}}, "flows[0].tcp.prr: true is not valid: expected false"),
        ({"dumbbell.queue": {"kind": "pie"}}, "dumbbell.queue.kind"),
        ({"dumbbell.queue": {"kind": "step", "threshold": "9kB"}}, "dumbbell.queue.threshold"),
        ({"dumbbell.queue": {"kind": "step", "threshold": "2pkt"}}, "dumbbell.queue.threshold"),
        ({"dumbbell.queue": {"kind": "drop-tail", "limit": "9kB"}}, "dumbbell.queue.limit"),
        ({"dumbbell.queue": {"kind": "drr", "flow_limit": "4kB"}}, "dumbbell.queue.flow_limit"),
        ({"dumbbell.jitter": {"kind": "uniform", "high": "1ms"}}, "`dumbbell.jitter`"),
        ({"dumbbell.tunnel": {"overhead": "50B"}}, "`dumbbell.tunnel`"),
        ({"dumbbell.circuit_breaker": {"every": "5s"}}, "`dumbbell.circuit_breaker`"),
        ({"dumbbell.drop": [{"flow": "a", "packet": 30}]}, "`dumbbell.drop`"),
        ({"dumbbell.loss": [{"kind": "bernoulli", "p": 0.1, "after_queue": True}]},
         "dumbbell.loss[0].after_queue: true is not valid"),
        ({"cross": [{"rate": "1Mbit", "on": "1s", "off": "1s"}]}, "cross[0].on"),
    ],
)  # fmt: skip
def test_what_ns2_cannot_express_is_refused_by_its_key(patch, message):
    with pytest.raises(cwndlab.ScenarioError) as caught:
        export(cwndlab.Scenario(BASE).patch(patch))
    assert message in str(caught.value)


def test_a_path_that_ns2_would_not_take_is_refused():
    link = {"rate": "1Mbit", "delay": "5ms"}
    ends = (("A", "B"), ("B", "C"), ("A", "D"), ("D", "C"))
    links = [{**link, "from": start, "to": end} for start, end in ends]
    flow = {"name": "a", "rule": "AIMD(1, 0.5)", "path": ["A-B", "B-C"]}
    scenario = {"duration": "5s", "profile": "ns2-2.35", "links": links, "flows": [flow]}
    with pytest.raises(cwndlab.ScenarioError, match=r"`flows\[0\].path` cannot be exported"):
        export(scenario)
    shorter = [{**each, "delay": "9ms"} if each["from"] == "D" else each for each in links]
    assert "$ns cost $n(A) $n(B) 5000" in export({**scenario, "links": shorter})


@needs_ns2
def test_names_cannot_put_commands_into_a_script():
    name = '"] [exec touch injected] {$x} \\'
    scenario = cwndlab.Scenario(BASE).patch({"name": name, "flows.a.name": name})
    script = export(scenario)
    assert "exec" not in script.replace("_exec", "").replace("[exec", "")
    result = cwndlab.ns2.run(scenario)
    assert result.flows["flow"].to_list() == [name]
    assert result.flows["delivered_packets"][0] > 100


@needs_ns2
def test_the_seed_of_a_phase_gives_that_phase(tmp_path):
    phases = [0.0, 0.1234, 0.5, 0.999]
    seeds = [timer_seed(phase) for phase in phases]
    lines = [f"ns-random {seed}; puts [$defaultRNG uniform 0 1]" for seed in seeds]
    (tmp_path / "seeds.tcl").write_text("\n".join(lines) + "\nexit 0\n")
    printed = subprocess.run(["ns", "seeds.tcl"], cwd=tmp_path, capture_output=True, text=True)
    assert [float(line) for line in printed.stdout.split()] == pytest.approx(phases, abs=1e-5)


@needs_ns2
def test_a_delay_is_read_as_the_double_that_was_written(tmp_path):
    draw = random.Random(1)
    delays = [0.0, 9 * 1e-3, 0.009, 1e-5, 1.5, *(draw.uniform(0.009, 0.011) for _ in range(200))]
    lines = [f"$link set delay_ {tcl.delay(delay)}; puts [$link set delay_]" for delay in delays]
    (tmp_path / "delays.tcl").write_text(
        "\n".join(["set link [new DelayLink]", *lines, "exit 0\n"])
    )
    printed = subprocess.run(["ns", "delays.tcl"], cwd=tmp_path, capture_output=True, text=True)
    assert [float(line) for line in printed.stdout.split()] == delays


@needs_ns2
def test_the_delay_of_a_link_is_reported_as_written():
    scenario = cwndlab.Scenario(BASE).patch({"dumbbell.delay": "9ms"})
    ours, theirs = cwndlab.run(scenario), cwndlab.ns2.run(scenario)
    assert ours.links["delay_s"].to_list() == theirs.links["delay_s"].to_list() == [0.009, 0.009]


@needs_ns2
@pytest.mark.parametrize("seed", [1, 14])
def test_flows_behind_drawn_delays_meet_others_in_the_same_order(seed):
    """Access links are five times as fast as the bottleneck: packets arrive just when others leave,
    and the last bit of a delay decides which of both comes first (of seed 14, one in the 20 s)."""
    scenario = cwndlab.Scenario({
        "duration": "20s", "measure": ["5s", "20s"], "profile": "ns2-2002", "seed": seed,
        "dumbbell": {"rate": "10Mbit", "delay": "50ms", "access_rate": "50Mbit",
                     "access_delay": ["9ms", "11ms"], "queue": {"kind": "drr", "limit": "150kB"}},
        "flows": [{"name": "flow", "count": 10, "rule": "AIAD(1, 2)", "recovery": "reno",
                   "start": ["0s", "1s"]}],
    })  # fmt: skip
    ours, theirs = cwndlab.run(scenario), cwndlab.ns2.run(scenario)
    for column in ("sent_packets", "acknowledged_packets", "dropped_packets", "timeouts"):
        assert ours.flows[column].to_list() == theirs.flows[column].to_list()


@needs_ns2
def test_the_command_writes_what_ns_runs(tmp_path):
    file = tmp_path / "saw.tcl"
    options = ["--profile", "ns2-2.35", "--set", "duration=10s", "--set", "measure=null"]
    example = str(exported.EXAMPLES / "one-flow-sawtooth.toml")
    app.main(["export", example, "--to", "ns2", "-o", str(file), *options], standalone_mode=False)
    printed = subprocess.run(["ns", str(file)], capture_output=True, text=True)
    assert printed.stderr == ""
    scenario = exported.example("one-flow-sawtooth", "10s")
    ours, theirs = cwndlab.run(scenario), read(printed.stdout, scenario)
    assert theirs["flows"][0]["sent_packets"] == ours.flows["sent_packets"][0]
    assert theirs["flows"][0]["delivered_packets"] == ours.flows["delivered_packets"][0]
    assert theirs["links"][0]["mean_queue_packets"] == pytest.approx(
        ours.links["mean_queue_packets"][0], abs=1e-9
    )
