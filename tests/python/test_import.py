"""Recorded flows as scenarios: captures of runs, whose network is known."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, NamedTuple

import jsonschema
import polars as pl
import pytest

import captures
import cwndlab
from cwndlab import outputs
from cwndlab.cli.app import app
from cwndlab.quantities import seconds


class Path(NamedTuple):
    """A flow of a dumbbell, and the bounds of what an import says of it."""

    rule: str
    rate_mbps: float
    rtt_ms: float
    duration_s: float
    limit: int
    tcp: dict[str, Any] = {}
    loss: float = 0.0
    flow: dict[str, Any] = {}

    def scenario(self, seed: int = 7) -> cwndlab.Scenario:
        link: dict[str, Any] = (
            {"loss": [{"kind": "bernoulli", "p": self.loss}]} if self.loss else {}
        )
        return cwndlab.dumbbell(
            f"{self.rate_mbps}Mbit", f"{self.rtt_ms / 2}ms",
            flows={"rule": self.rule, "name": "recorded", **self.flow},
            duration=f"{self.duration_s}s",
            queue={"kind": "drop-tail", "limit": f"{self.limit}pkt"}, link=link, tcp=self.tcp,
            trace={"packets": True}, seed=seed,
        )  # fmt: skip


PROMPT = {"delayed_ack": False}
RENO = "AIMD(1, 0.5)"
PATHS = {
    "slow link": Path(RENO, 1, 40, 20, 10),
    "slow link, prompt ACKs": Path(RENO, 1, 10, 10, 6, PROMPT),
    "Reno": Path(RENO, 10, 40, 10, 33),
    "Reno, random losses": Path(RENO, 10, 200, 15, 100, loss=0.01),
    "Reno, fast and far, random losses": Path(RENO, 200, 200, 8, 1000, loss=0.005),
    "CUBIC": Path("CUBIC", 20, 100, 8, 160),
    "CUBIC, prompt ACKs": Path("CUBIC", 50, 20, 4, 80, PROMPT),
    "CUBIC, random losses": Path("CUBIC", 100, 40, 5, 300, loss=0.001),
    "CUBIC, fast": Path("CUBIC", 200, 10, 2, 160),
    "BBR1": Path("BBR1", 20, 50, 5, 80),
    "BBR1, random losses": Path("BBR1", 5, 80, 8, 33, PROMPT, loss=0.02),
    "BBR3": Path("BBR3", 50, 20, 4, 160),
    "Reno without SACK": Path(RENO, 10, 40, 10, 33, flow={"recovery": "newreno"}),
    "a transfer": Path("CUBIC", 10, 60, 20, 40, flow={"bytes": "4000001B"}),
    "small packets": Path(RENO, 5, 30, 8, 50, {"packet_size": 536, "initial_window": 4}),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a function that runs a path once: file and result."""
    folder, done = tmp_path_factory.mktemp("captures"), {}

    def of(name):
        if name not in done:
            file = folder / f"{len(done)}.pcapng"
            done[name] = (file, cwndlab.run(PATHS[name].scenario(), pcap=file))
        return done[name]

    return of


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHS)
def test_an_imported_capture_is_the_run_that_wrote_it(recorded, name):
    path = PATHS[name]
    file, result = recorded(name)
    found = cwndlab.import_pcap(file)
    assert found.at == "sender"
    rate, rtt = found.estimates["rate_bps"], found.estimates["base_rtt_s"]
    assert rate.value == pytest.approx(path.rate_mbps * 1e6, rel=0.02)
    assert rtt.value == pytest.approx(path.rtt_ms / 1e3, rel=0.02)
    assert rate.low <= rate.value <= rate.high
    assert rtt.low <= rtt.value <= rtt.high
    assert found.rule == path.rule
    assert found.difference < 0.05
    assert found.scenario["tcp"]["delayed_ack"] is path.tcp.get("delayed_ack", True)
    assert found.estimates["initial_window_packets"].value == path.tcp.get("initial_window", 10)
    assert found.estimates["packet_bytes"].value == path.tcp.get("packet_size", 1448)
    # The last ones may be under way.
    dropped = result.traces["packets"].filter(event="drop").height
    assert 0 <= dropped - found.estimates["lost_packets"].value <= max(2, 0.05 * dropped)
    again = cwndlab.run(found.scenario)
    delivered = result.flows["delivered_packets"][0]
    assert again.flows["delivered_packets"][0] == pytest.approx(delivered, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Reno", "CUBIC", "BBR1"])
def test_a_queue_that_overflows_tells_the_buffer(recorded, name):
    found = cwndlab.import_pcap(recorded(name)[0], rule="Reno", losses="rate")
    buffer = found.estimates["buffer_packets"]
    assert buffer.value == pytest.approx(PATHS[name].limit, abs=1)
    assert buffer.high is not None
    # All losses are the queue's, and happen by themselves.
    assert "loss" not in found.scenario["dumbbell"]
    assert "drop" not in found.scenario["dumbbell"]


def test_random_losses_become_a_rate(recorded):
    name = "Reno, random losses"
    file, result = recorded(name)
    found = cwndlab.import_pcap(file, rule="Reno", losses="rate")
    (loss,) = found.scenario["dumbbell"]["loss"]
    dropped = result.traces["packets"].filter(event="drop").height
    sent = result.traces["packets"].filter(event="send").height
    assert loss == {"kind": "bernoulli", "p": pytest.approx(dropped / sent, rel=0.1)}
    estimate = found.estimates["loss_rate"]
    assert estimate.low < PATHS[name].loss < estimate.high


def test_the_lost_packets_are_those_that_were_dropped(recorded):
    file, result = recorded("CUBIC")
    drops = cwndlab.import_pcap(file, rule="CUBIC").scenario["dumbbell"]["drop"]
    trace = result.traces["packets"]
    assert sorted(one["packet"] for one in drops) == sorted(trace.filter(event="drop")["seq"])


def test_the_delay_of_acks_is_the_receivers_timer(recorded):
    file, _ = recorded("Reno, random losses")
    found = cwndlab.import_pcap(file, rule="Reno")
    # Linux's 40 ms.
    assert found.estimates["ack_delay_s"].value == pytest.approx(0.04, rel=0.05)


WRAPPED = {
    "Ethernet": (captures.ETHERNET, captures.in_ethernet),
    "Linux cooked": (captures.COOKED, captures.in_cooked),
    "Linux cooked 2": (captures.COOKED_2, captures.in_cooked_2),
    "raw IPv6": (captures.RAW, captures.as_ipv6),
    "Ethernet, IPv6": (
        captures.ETHERNET,
        lambda data: captures.in_ethernet(captures.as_ipv6(data)),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("nano", [True, False])
def test_other_links_and_microseconds_give_the_same_flow(recorded, tmp_path, name, nano):
    file, _ = recorded("Reno")
    link, wrap = WRAPPED[name]
    packets = captures.changed(captures.frames(file), wrap)
    other = captures.write(tmp_path / "other.pcap", packets, link, nano=nano)
    found = cwndlab.import_pcap(other, rule="Reno")
    longer = 20 if "IPv6" in name else 0
    assert found.scenario["tcp"]["header_size"] == 40 + longer
    # The same packets per second, which are longer.
    scale = (1500 + longer) / 1500
    assert found.estimates["rate_bps"].value == pytest.approx(10e6 * scale, rel=0.02)
    assert found.estimates["base_rtt_s"].value == pytest.approx(0.04, rel=0.02)
    assert found.difference < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bound"),
    # Timestamps say the millisecond in which a packet left, which paced packets show.
    [("Reno", 0.05), ("CUBIC", 0.05), ("CUBIC, random losses", 0.05), ("BBR1", 0.1)],
)
def test_a_capture_at_the_receiver_tells_the_same(recorded, tmp_path, name, bound):
    path = PATHS[name]
    file, result = recorded(name)
    packets = captures.at_receiver(file, result, path.rtt_ms / 2e3, path.rate_mbps * 1e6)
    found = cwndlab.import_pcap(captures.write(tmp_path / "far.pcap", packets), rule=path.rule)
    assert found.at == "receiver"
    assert found.estimates["rate_bps"].value == pytest.approx(path.rate_mbps * 1e6, rel=0.02)
    assert found.estimates["base_rtt_s"].value == pytest.approx(path.rtt_ms / 1e3, rel=0.02)
    assert found.difference < bound


@pytest.mark.slow
def test_of_several_flows_the_largest_is_taken(tmp_path):
    flows = [{"rule": RENO, "name": "late", "start": "2s"}, {"rule": "CUBIC", "name": "early"}]
    scenario = cwndlab.dumbbell(
        "10Mbit", "20ms", flows=flows, duration="4s", trace={"packets": True}
    )
    file = tmp_path / "two.pcapng"
    cwndlab.run(scenario, pcap=file)
    found = cwndlab.import_pcap(file, rule="CUBIC")
    assert len(found.flows) == 2
    assert found.flow == found.flows[0]
    assert "10.0.0.2:40002" in found.flow
    other = cwndlab.import_pcap(file, flow=2, rule="Reno")
    assert other.flow == found.flows[1]
    assert other.scenario.duration_s == pytest.approx(2, abs=0.1)
    with pytest.raises(cwndlab.ScenarioError, match=r"--flow: 3 is not valid: expected .* 1 to 2"):
        cwndlab.import_pcap(file, flow=3)


def _refused(path, **asked):
    with pytest.raises(cwndlab.ScenarioError) as error:
        cwndlab.import_pcap(path, **asked)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_cannot_be_imported_is_said_in_a_sentence(recorded, tmp_path):
    file, _ = recorded("slow link, prompt ACKs")
    packets = captures.frames(file)
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(file.read_bytes()[:-30])
    assert "the file is cut off within packet" in _refused(cut)
    cut = captures.write(tmp_path / "cut.pcap", packets)
    cut.write_bytes(cut.read_bytes()[:-30])
    assert f"is cut off within packet {len(packets)}: expected a whole" in _refused(cut)
    (tmp_path / "nothing.pcap").write_bytes(b"")
    assert "the file is empty" in _refused(tmp_path / "nothing.pcap")
    (tmp_path / "text.pcap").write_text("no capture, but text that is long enough for a header")
    assert "the file is no capture: expected pcap or pcapng" in _refused(tmp_path / "text.pcap")
    assert "has no packets" in _refused(captures.write(tmp_path / "empty.pcap", []))
    late = captures.write(tmp_path / "late.pcap", packets[3:])
    assert "the handshake of 10.0.0.1:40001 > 10.128.0.1:5001 is not in" in _refused(late)
    # UDP has protocol number 17.
    quic = captures.changed(packets, lambda data: data[:9] + b"\x11" + data[10:])
    assert "UDP packets and no TCP: QUIC encrypts" in _refused(
        captures.write(tmp_path / "quic.pcap", quic)
    )
    twice = sorted(packets + [(time_s + 1e-5, data) for time_s, data in packets])
    assert "data packets appear twice" in _refused(captures.write(tmp_path / "twice.pcap", twice))
    assert "has 7 data packets: expected 20" in _refused(
        captures.write(tmp_path / "short.pcap", packets[:9])
    )
    assert "link type 105 is not known" in _refused(
        captures.write(tmp_path / "radio.pcap", packets, 105)
    )
    middle = [(0.01, packets[0][1]), (0.02, packets[1][1]), (0.03, packets[2][1]), *packets[3:]]
    middle = captures.write(tmp_path / "middle.pcap", middle)
    assert "expected `--at sender` or `--at receiver`" in _refused(middle)
    assert 'at: "reciever" is not known' in _refused(file, at="reciever")
    assert 'losses: "lst" is not known' in _refused(file, losses="lst")


def test_a_receiver_without_timestamps_cannot_tell_when_packets_left(tmp_path):
    path = Path(RENO, 2, 40, 4, 20, {"timestamps": False})
    file = tmp_path / "near.pcapng"
    result = cwndlab.run(path.scenario(), pcap=file)
    assert cwndlab.import_pcap(file, rule="Reno").difference < 0.05
    packets = captures.at_receiver(file, result, 0.02, 2e6)
    far = captures.write(tmp_path / "far.pcap", packets)
    assert "expected a capture at the sender" in _refused(far)


def test_without_dpkt_the_message_names_it(recorded):
    file, _ = recorded("slow link, prompt ACKs")
    program = f"import sys; sys.modules['dpkt'] = None; import cwndlab; cwndlab.import_pcap({str(file)!r})"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingPackageError: captures: expected the package dpkt: pip install" in done.stderr


def _cli(*arguments):
    from click.testing import CliRunner

    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


def test_the_command_writes_a_scenario_that_runs(recorded, tmp_path):
    file, _ = recorded("slow link")
    printed = _cli("import", "pcap", file, "--rule", RENO)
    assert printed.exit_code == 0
    assert cwndlab.Scenario.load(printed.stdout)["dumbbell"]["rate"] == "1Mbit"
    target = tmp_path / "flow.toml"
    shown = _cli("import", "pcap", file, "-o", target, "--plot", tmp_path / "flow.png")
    assert "rate of the bottleneck [Mbit/s]" in shown.stdout
    assert "Mean flight in each interval" in shown.stdout
    assert (tmp_path / "flow.png").stat().st_size > 10_000
    loaded = cwndlab.Scenario.load(target)
    assert cwndlab.run(loaded).flows["delivered_packets"][0] > 100
    data = json.loads(_cli("import", "pcap", file, "--rule", RENO, "--json").stdout)
    jsonschema.validate(data, outputs.schema("imported"))
    assert seconds(data["scenario"]["dumbbell"]["delay"]) == pytest.approx(0.02, rel=0.02)


def _events(result, length=1500):
    """Events of a sender, of a run without losses, as RFC 9002 and the drafts name them."""
    flight, number, window = 0, 0, 0
    trace = result.traces["packets"].filter(pl.col("event").is_in(["send", "ack"])).to_dicts()
    acknowledged = 0
    for row in trace:
        time_ms = row["time_s"] * 1e3
        if row["seq"] == 0:
            window = row["cwnd_packets"]
            continue
        if row["event"] == "send":
            flight += length
            header = {"packet_type": "1RTT", "packet_number": number}
            number += 1
            yield time_ms, "transport:packet_sent", {"header": header, "raw": {"length": length}}
            data: dict[str, Any] = {"bytes_in_flight": flight}
        else:
            flight -= length * (row["seq"] - acknowledged)
            acknowledged = row["seq"]
            yield time_ms, "transport:packet_received", {"header": {"packet_type": "1RTT"}}
            data = {"bytes_in_flight": flight}
        if row["cwnd_packets"] != window:
            window = row["cwnd_packets"]
            data["congestion_window"] = round(window * length)
        yield time_ms, "recovery:metrics_updated", data


@pytest.mark.slow
@pytest.mark.parametrize("is_sequence", [True, False])
def test_a_qlog_tells_rate_and_round_trip(tmp_path, is_sequence):
    # Full packets of QUIC, 28 bytes of IP and UDP, and a buffer that slow start does not fill.
    tcp = {"packet_size": 1467, "header_size": 61, "timestamps": False}
    path = Path(RENO, 10, 50, 3, 10_000, tcp)
    events = list(_events(cwndlab.run(path.scenario())))
    keys = ("time", "name", "data")
    rows = [dict(zip(keys, event, strict=True)) for event in events]
    header = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": {}}
    if is_sequence:
        text = "".join(f"\x1e{json.dumps(row)}\n" for row in [header, *rows])
    else:
        text = json.dumps({"qlog_version": "0.3", "traces": [{"events": rows}]})
    file = tmp_path / "flow.qlog"
    file.write_text(text)
    found = cwndlab.import_qlog(file)
    assert found.window == "cwnd"
    assert found.estimates["rate_bps"].value == pytest.approx(10e6, rel=0.02)
    assert found.estimates["base_rtt_s"].value == pytest.approx(0.05, rel=0.02)
    assert found.estimates["lost_packets"].value == 0
    assert found.scenario["tcp"]["packet_size"] == 1467


def test_what_is_no_qlog_is_said_in_a_sentence(tmp_path):
    file = tmp_path / "flow.qlog"
    for text, message in (
        ("", "is cut off or damaged"), ("{}", "expected a header with `qlog_version`"),
        ('\x1e{"qlog_version": "0.3"}\n\x1e{"time": 1, "na', "is cut off or damaged"),
        ('{"qlog_version": "0.3", "traces": [{"events": []}]}', "sent 0 1-RTT packets"),
    ):  # fmt: skip
        file.write_text(text)
        with pytest.raises(cwndlab.ScenarioError, match=message):
            cwndlab.import_qlog(file)
