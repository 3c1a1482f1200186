"""`cwndlab run`, `rules`, `schema`: what they print, where, and what they write."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import polars as pl
import pytest

import cwndlab
from conftest import SMALL

RUN_FIELDS = {
    "name", "seed", "profile", "duration_s", "measure_from_s", "measure_to_s", "trace_hash",
    "simulated_s", "wall_s",
    "packets_per_wall_s", "delivered_packets", "jain_index", "rtt_weighted_jain_index",
    "fairness_spread",
    "aggregate_goodput_bps",
}  # fmt: skip
FLOW_FIELDS = {
    "flow", "group", "rule", "recovery", "goodput_bps", "delivered_packets", "sent_packets",
    "retransmitted_packets",
    "timeouts", "fast_retransmits", "ecn_reductions", "window_reductions", "undone_reductions",
    "loss_rate",
    "dropped_packets",
    "mean_rtt_s", "mean_rto_s", "mean_cwnd_packets", "rate_cov", "base_rtt_s",
    "received_s", "finish_s",
    "limited_by_timeout", "limited_by_recovery", "limited_by_application", "limited_by_receiver",
    "limited_by_pacing", "limited_by_slow_start", "limited_by_cwnd",
}  # fmt: skip
LINK_FIELDS = {
    "link", "rate_bps", "delay_s", "queue", "limit_packets", "arrived_packets", "dropped_packets",
    "marked_packets",
    "departed_packets", "utilization", "mean_queue_packets", "mean_queueing_delay_s",
    "p95_queueing_delay_s",
    "cross_bps", "available_bps",
}  # fmt: skip


def _json(answer) -> dict:
    assert answer.returncode == 0, answer.stderr

    def no_constant(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(answer.stdout, parse_constant=no_constant)


def test_json_is_one_object_with_all_names(cli, small_file):
    answer = cli("run", small_file, "--json")
    run = _json(answer)
    assert answer.stderr.startswith("note: 3 flows with exact delays share a drop-tail queue")
    assert set(run) >= RUN_FIELDS | {"flows", "links"}
    assert [flow["flow"] for flow in run["flows"]] == ["a-0", "a-1", "b"]
    assert [flow["recovery"] for flow in run["flows"]] == ["sack", "sack", "reno"]
    assert all(set(flow) >= FLOW_FIELDS for flow in run["flows"])
    assert run["links"][0]["link"] == "bottleneck"
    assert all(set(link) >= LINK_FIELDS for link in run["links"])
    total = sum(flow["goodput_bps"] for flow in run["flows"])
    assert run["aggregate_goodput_bps"] == pytest.approx(total)
    assert 0.5 * 4e6 < total <= 4e6
    assert run["flows"][0]["finish_s"] is None


def test_tables_go_to_standard_output(cli, small_file):
    answer = cli("run", small_file)
    assert answer.returncode == 0
    assert answer.stderr.startswith("note: 3 flows with exact delays share a drop-tail queue")
    for word in (
        "a-0",
        "a-1",
        "bottleneck",
        "AIAD(1, 3)",
        "goodput",
        "[Mbit/s]",
        "seed 1, profile rfc, trace hash",
        "measured 2 to 10 s",
    ):
        assert word in answer.stdout


def test_tables_say_what_else_than_cwnd_limited_flows(cli, small_file):
    """Windows of 3 packets: 9 are below the path's 20, and 63 fit into it with the buffer."""
    sets = ("--set", "flows.*.tcp.window=3", "--set", "dumbbell.queue.limit=1000pkt")
    limited = "limited by the receiver's window, share of time: "
    words = " ".join(cli("run", small_file, *sets).stdout.split())
    assert limited + "a-0 100 %, a-1 100 %, b 100 % Links" in words
    words = " ".join(cli("run", small_file, *sets, "--set", "flows.a.count=20").stdout.split())
    assert limited + "a 100 %, b 100 % Links" in words


def test_many_flows_are_shown_by_group(cli, small_file):
    answer = cli("run", small_file, "--set", "flows.a.count=20")
    assert answer.returncode == 0
    assert "a-13" not in answer.stdout
    rows = [line.split() for line in answer.stdout.splitlines() if line.split()[:1] == ["a"]]
    assert len(rows) == 1
    assert "20" in rows[0]


def test_set_seed_and_profile_reach_the_scenario(cli, small_file):
    run = _json(
        cli("run", small_file, "--json", "--set", "dumbbell.rate=2Mbit", "--set",
            "flows.*.recovery=newreno",
            "--seed", "5", "--profile", "ns2-2.35")
    )  # fmt: skip
    assert run["links"][0]["rate_bps"] == 2e6
    assert {flow["recovery"] for flow in run["flows"]} == {"newreno"}
    assert (run["seed"], run["profile"]) == (5, "ns2-2.35")


@pytest.mark.slow
def test_json_scenario_gives_the_same_run(cli, small_file, tmp_path):
    (tmp_path / "small.json").write_text(cwndlab.Scenario.load(small_file).to_json())
    hashes = {
        _json(cli("run", name, "--json"))["trace_hash"] for name in ("small.toml", "small.json")
    }
    assert len(hashes) == 1


def test_out_writes_tables_and_traces(cli, tmp_path):
    (tmp_path / "traced.toml").write_text(
        SMALL + '\n[trace]\ncwnd = "100ms"\nqueue = "100ms"\npackets = true\n'
    )
    run = _json(cli("run", "traced.toml", "--json", "--out", "result"))
    assert pl.read_parquet(tmp_path / "result/flows.parquet")["goodput_bps"].sum() == pytest.approx(
        run["aggregate_goodput_bps"]
    )
    assert {path.name for path in (tmp_path / "result").iterdir()} >= {
        "run.json", "links.parquet", "trace-cwnd.parquet", "trace-queue.parquet",
        "trace-packets.parquet",
    }  # fmt: skip
    assert cwndlab.Result.load(tmp_path / "result").trace_hash == run["trace_hash"]


@pytest.mark.slow
def test_plot_takes_an_optional_file_and_changes_no_result(cli, small_file, tmp_path):
    plain = _json(cli("run", small_file, "--json"))
    # The option before the scenario must not swallow it.
    plotted = _json(cli("run", "--json", "--plot", "small.toml"))
    assert (tmp_path / "small.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert plotted["trace_hash"] == plain["trace_hash"]
    assert plotted["flows"] == plain["flows"]
    answer = cli("run", small_file, "--plot", "own.svg")
    assert "wrote own.svg" in answer.stderr
    assert "<svg" in (tmp_path / "own.svg").read_text()


def test_pcap_is_pcapng(cli, small_file, tmp_path):
    assert cli("run", small_file, "--pcap", "packets.pcapng").returncode == 0
    data = (tmp_path / "packets.pcapng").read_bytes()
    assert data[:4] == b"\x0a\x0d\x0d\x0a"
    assert len(data) > 100_000


def test_one_rule_is_described_by_its_name(command):
    answer = command("rules", "cubic", "AIAD(1, 3)")
    assert answer.returncode == 0, answer.stderr
    first = [line for line in answer.stdout.splitlines() if line and not line.startswith(" ")]
    assert [line.split("(")[0] for line in first] == ["CUBIC", "AIAD"]
    assert "source: RFC 9438" in answer.stdout
    refused = command("rules", "CUBC")
    assert refused.returncode == 2
    assert "did you mean CUBIC?" in refused.stderr


def test_rules_lists_every_rule(cli):
    answer = cli("rules")
    entries = json.loads(cli("rules", "--json").stdout)["rules"]
    assert {"AIMD", "AIAD", "MIMD", "MIAD", "AIMAD", "MAIMD", "Linear"} <= {
        entry["name"] for entry in entries
    }
    for entry in entries:
        assert entry["notation"] in answer.stdout
        assert entry["source"] in " ".join(answer.stdout.split())
        cwndlab.rule(entry["example"])


def test_schema_is_a_json_schema_of_the_scenario(cli):
    schema = json.loads(cli("schema").stdout)
    assert {"duration", "dumbbell", "flows", "links", "cross", "tcp", "trace"} <= set(
        schema["properties"]
    )


def test_version(cli):
    assert cli("--version").stdout == f"cwndlab {cwndlab.__version__}\n"


@pytest.mark.parametrize(
    "printed", ["schema", "knobs", "rules", "--help", "assess --list", "run -q", "explain"]
)
def test_closed_pipe_is_no_failure_to_speak_of(printed, small_file):
    reader, writer = os.pipe()
    os.close(reader)
    file = [str(small_file)] if printed in ("run -q", "explain") else []
    with os.fdopen(writer) as closed:
        answer = subprocess.run(
            [sys.executable, "-m", "cwndlab", *printed.split(), *file],
            stdout=closed, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    # The status of a program that SIGPIPE ends (128 + 13), such as `yes | head`.
    assert (answer.returncode, answer.stderr) == (141, "")
