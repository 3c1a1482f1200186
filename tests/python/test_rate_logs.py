"""Bandwidth logs as the rate of a link, compressed files, and files of other programs."""

from __future__ import annotations

import gzip

import pytest

import cwndlab
from cwndlab.foreign_files import INSTEAD

# 4.2 Mbit/s, an outage, 0.4 Mbit/s and 12 Mbit/s, a second each: 16.6 Mbit in 4 s.
LOG = "timestamp,bitrate_mbps\n0,4.2\n1,0\n2,0.4\n3,12\n"
PER_SECOND_BPS = (4.2e6, 0.0, 0.4e6, 12e6)
PACKET_BITS = 12_000


def scenario(file, **changes):
    """A flow that keeps a link of this log full for two rounds of it."""
    return {
        "duration": "8s", "measure": ["0s", "8s"], "tcp": {"window": 4000, "initial_window": 100},
        "dumbbell": {
            "rate": {"kind": "log", "file": str(file), "unit": "Mbit/s", **changes},
            "delay": "20ms", "queue": {"kind": "drop-tail", "limit": "3000pkt"},
        },
        "flows": [{"rule": "CUBIC"}],
    }  # fmt: skip


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    return tmp_path / "log.csv"


def test_utilisation_follows_the_log(log):
    for second in range(8):
        window = [f"{second}s", f"{second + 1}s"]
        link = cwndlab.run({**scenario(log), "measure": window}).links.row(0, named=True)
        expected_bps = PER_SECOND_BPS[second % 4]
        assert link["rate_bps"] == expected_bps
        departed_bits = PACKET_BITS * link["departed_packets"]
        if expected_bps == 0:
            # An outage: packets wait, and none leaves.
            assert departed_bits == 0
            assert link["utilization"] is None
            assert link["queued_packets"] > 0
        elif second > 0:
            # The queue is never empty: what leaves is the log's, up to a packet at each end.
            assert departed_bits == pytest.approx(expected_bps, abs=PACKET_BITS)


def test_mean_rate_of_a_repeated_and_of_a_held_log(log):
    repeated, held = (
        cwndlab.run(scenario(log, end=end)).links["rate_bps"][0] for end in ("repeat", "hold")
    )
    assert repeated == pytest.approx(16.6e6 / 4)
    assert held == pytest.approx((16.6e6 + 4 * 12e6) / 8)


def test_start_in_the_log(log):
    found = cwndlab.run({**scenario(log, start="3s"), "measure": ["0s", "1s"]})
    assert found.links["rate_bps"][0] == 12e6
    rates = {
        cwndlab.run({**scenario(log, start="random"), "seed": seed, "measure": ["0s", "1s"]})
        .links["rate_bps"][0]
        for seed in range(1, 6)
    }  # fmt: skip
    assert len(rates) == 5


def test_compressed_files_are_equal(log, tmp_path):
    plain = cwndlab.run(scenario(log)).trace_hash
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(LOG.encode(), mtime=0))
    assert cwndlab.run(scenario(tmp_path / "log.csv.gz")).trace_hash == plain

    (tmp_path / "a.down").write_text("1\n5\n")
    (tmp_path / "a.down.gz").write_bytes(gzip.compress(b"1\n5\n", mtime=0))
    hashes = set()
    for name in ("a.down", "a.down.gz"):
        document = scenario(log)
        document["dumbbell"]["rate"] = {"kind": "trace", "file": str(tmp_path / name)}
        hashes.add(cwndlab.run(document).trace_hash)
    assert len(hashes) == 1


def test_formats_of_recorded_connections_are_equal(tmp_path):
    original = "SEQ 2000000 2 7 1\n> 245\nt 51000\n< 510\nt 4000000\n> 300\nt 9000\n< 20000\n"
    alternate = "S 2000000 2 7 1\nI 0 0 245\nA 0 51000 510\nI 0 4000000 300\nA 0 9000 20000\n"
    hashes = set()
    for name, text in (("original", original), ("alternate", alternate)):
        (tmp_path / name).write_text(text)
        vectors = {"rule": "AIMD(1, 0.5)", "vectors": {"file": str(tmp_path / name)}}
        document = {"duration": "8s", "dumbbell": {"rate": "1Mbit", "delay": "1ms"}}
        hashes.add(cwndlab.run({**document, "arrivals": [vectors]}).trace_hash)
    assert len(hashes) == 1


FILE = """
duration = "1s"
dumbbell = {{ delay = "1ms", rate = {{ kind = "{kind}", file = "{name}"{more} }} }}
flows = [{{ rule = "CUBIC" }}]
"""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"", "x.csv is empty: expected rows"),
        ("x.csv", b"t,rate\n", "x.csv has a header alone: expected rows"),
        ("x.csv", b"0,1\n1,-2\n", 'x.csv line 2: column 2: "-2" is not valid: expected a number'),
        ("x.csv", b"0,1\n1,nan\n", 'x.csv line 2: column 2: "nan" is not valid'),
        ("x.csv", b"1,1\n0,1\n", 'x.csv line 2: column 1: "0" is not valid: expected a time not'),
        ("x.csv", b"0,0\n1,0\n", "x.csv has only rates of 0: expected one above 0"),
        ("x.csv.gz", gzip.compress(b"0,1\n1,2\n", mtime=0)[:-4], "its gzip is incomplete"),
        ("x.csv", b"\xff\xfe0\x00", "it is not text: expected UTF-8"),
        ("x.pcapng", b"\n\r\r\n", "captures are not read: expected text"),
        ("none.csv", None, "No such file"),
    ],
)  # fmt: skip
def test_bad_logs(tmp_path, command, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    text = FILE.format(kind="log", name=name, more=', unit = "Mbit/s"')
    (tmp_path / "log.toml").write_text(text)
    found = command("run", "log.toml")
    assert found.returncode == 2
    assert found.stderr.startswith("error: log.toml: dumbbell.rate.file: ")
    assert message in found.stderr


def test_a_trace_with_columns_says_what_reads_it(tmp_path, command):
    (tmp_path / "x.csv").write_text(LOG)
    (tmp_path / "trace.toml").write_text(FILE.format(kind="trace", name="x.csv", more=""))
    found = command("run", "trace.toml")
    assert found.returncode == 2
    assert 'line 1: "timestamp,bitrate_mbps" is not valid' in found.stderr
    assert 'kind = "log" reads columns of times and rates' in found.stderr


def test_ns2_has_no_outage(log, tmp_path):
    document = {**scenario(log), "profile": "ns2-2.35"}
    document.pop("tcp")
    with pytest.raises(cwndlab.ScenarioError, match=r"`dumbbell.rate` .*no rate of zero"):
        cwndlab.ns2.export(document)
    (tmp_path / "up.csv").write_text(LOG.replace("1,0\n", "1,1\n"))
    document["dumbbell"]["rate"]["file"] = str(tmp_path / "up.csv")
    assert "set bandwidth_ $bps" in cwndlab.ns2.export(document)


@pytest.mark.parametrize("ending", sorted(INSTEAD))
def test_files_of_other_programs(tmp_path, command, ending):
    (tmp_path / f"x{ending}").write_bytes(b"\x00\xff")
    for name in ("run", "sweep"):
        found = command(name, f"x{ending}")
        assert found.returncode == 2
        assert found.stderr == f"error: x{ending}: {INSTEAD[ending]}\n"


@pytest.mark.parametrize("rule", ["x.onnx", "x.onnx:Policy", "x.tcl", "x.qlog", "x.pcapng"])
def test_files_of_other_programs_as_rules(command, rule):
    found = command("compare", rule)
    assert found.returncode == 2
    assert found.stderr.startswith(f'error: rule: "{rule}": ')
    assert found.stderr.endswith("or a Python class, as FILE.py:Class(values)\n")
    assert found.stderr.count("\n") == 1
