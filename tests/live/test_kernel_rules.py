"""Tests of rules in the kernel, with real flows: windows after cuts, slope, guard. `pytest -s`
shows figures."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

import netns_path
import pytest
from host_load import measured, once_more, unless_busy
from netns_path import Row

from cwndlab.errors import LiveError
from cwndlab.kernel_runs import program
from cwndlab.live_runs import doctor
from waiting import HANG_S, wait_until

OPEN, DISORDER, RECOVERY = 0, 1, 3
INFINITE = 0x7FFFFFFF


def _reason_to_skip() -> str | None:
    parts = {part.name: part for part in doctor.look()}
    needed = (
        "kernel types (BTF)",
        "struct_ops for TCP",
        "privileges",
        "network namespaces",
        "cwndlab-live",
    )
    for name in needed:
        if parts[name].found is None:
            return f"no {name}: {parts[name].how}"
    if not program.ask("about")["rules_in_kernel"]:
        return "cwndlab-live was built without rules in the kernel"
    return netns_path.missing()


REASON = _reason_to_skip()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")


@contextmanager
def registered(rule: str, name: str, *more: str) -> Iterator[program.Held]:
    held = program.Held("install", rule, "--name", name, "--until-stopped", *more)
    try:
        yield held
    finally:
        held.close()


class Equations(NamedTuple):
    """The equations of a rule: growth per acknowledged packet, and window after a cut."""

    growth: Callable[[float], float]
    cut: Callable[[float], float]


# By hand from the papers' update equations, independent of crates/rules.
EQUATIONS = {
    "AIMD(1, 0.5)": Equations(lambda w: 1 / w, lambda w: 0.5 * w),
    "GAIMD(0.31, 0.875)": Equations(lambda w: 0.31 / w, lambda w: 0.875 * w),
    "AIAD(1, 3)": Equations(lambda w: 1 / w, lambda w: w - 3),
    "SQRT(1, 0.5)": Equations(lambda w: 1 / w**1.5, lambda w: w - 0.5 * w**0.5),
    "MIMD(1.125, 0.8)": Equations(lambda _: 0.125, lambda w: 0.8 * w),
    'Rule(inc="2", dec="w - 0.25*w^0.9")': Equations(lambda w: 2 / w, lambda w: w - 0.25 * w**0.9),
}


# A cut is not judged if the window may have grown by more than this between two samples.
UNSEEN_PACKETS = 0.25
# Nor if, during recovery, it may have ended and begun again between two samples: that takes three
# duplicate acknowledgements (RFC 5681 section 3.2), unless packets after the recovery point were
# selectively acknowledged before: then the threshold falls again.
DUPLICATES = 3
WILD_THRESHOLD = 1000


def cuts(rows: list[Row], equations: Equations) -> list[tuple[int, int, int]]:
    """Window before each recovery that was sampled densely enough, and threshold and window at
    its end.

    At its end, because the guard repairs the threshold of a skipped callback at the next
    acknowledgement."""

    def is_seen(row: Row) -> bool:
        return (
            row.unseen_s * netns_path.RATE_PACKETS_S * equations.growth(row.cwnd) < UNSEEN_PACKETS
        )

    found, before = [], None
    for last, row in pairwise(rows):
        if row.state == RECOVERY and last.state in (OPEN, DISORDER):
            before = last.cwnd if is_seen(row) else None
        elif row.unseen_s * netns_path.RATE_PACKETS_S >= DUPLICATES or (
            row.ssthresh < last.ssthresh < WILD_THRESHOLD
        ):
            before = None
        elif row.state == OPEN and last.state == RECOVERY:
            if before is not None and is_seen(row):
                found.append((before, row.ssthresh, row.cwnd))
            before = None
    return found


def slope(rows: list[Row], equations: Equations) -> tuple[float, int]:
    """Growth as a share of the rule's, median over stretches between cuts, and their number.

    A stretch lasts from its first increase of the window to its last: at an increase the fraction
    of a packet, which the kernel does not show, is nearly zero. The kernel counts the acknowledged
    packets in between. The median ignores stretches in which a busy machine keeps the sender from
    filling its window, which then does not grow (RFC 7661)."""
    stretches: list[list[Row]] = [[]]
    for last, row in pairwise(rows):
        if row.state not in (OPEN, DISORDER) or row.cwnd < row.ssthresh or row.cwnd < last.cwnd:
            stretches.append([])
        elif row.cwnd > last.cwnd and last.state in (OPEN, DISORDER):
            stretches[-1].append(row)
    shares = [_share(stretch, equations) for stretch in stretches if len(stretch) > 1]
    assert shares, "no stretch between cuts"
    return median(shares), len(shares)


def _share(stretch: list[Row], equations: Equations) -> float:
    first, last = stretch[0], stretch[-1]
    window = float(first.cwnd)
    for _ in range(last.delivered - first.delivered):
        window += equations.growth(window)
    return (last.cwnd - first.cwnd) / (window - first.cwnd)


# tests/live/test_live_equations.py tests one of these rules through the emulator in the quick tier.
@pytest.mark.nightly
@pytest.mark.parametrize("rule", EQUATIONS)
@once_more
def test_a_flow_alone_cuts_and_grows_as_its_rule_says(rule):
    equations = EQUATIONS[rule]
    # Slow start ends below the capacity of the path: rules with shallow cuts would take long to
    # recover from its overshoot.
    with measured() as load, registered(rule, "cwl_t_law", "--initial-ssthresh", "50") as held:
        rows = netns_path.run_flow("cwl_t_law", 20)
        hits = held.end()["hits"]
    assert hits["beyond_table"] == 0
    with unless_busy(load):
        _keeps(equations, rows)
    print(f"  {hits['cuts']} calls of ssthresh(), {hits['skipped_ssthresh']} skipped and repaired")


def _keeps(equations: Equations, rows: list[Row]) -> None:
    seen = cuts(rows, equations)
    assert len(seen) >= 5, f"{len(seen)} cuts"
    # The kernel does not show the fraction of the window that was cut: the window after the cut
    # lies between the equation's at the whole part and at one packet more.
    off = [
        max(equations.cut(before) - after, after - equations.cut(before + 1), 0.0)
        for before, after, _ in seen
    ]
    share, stretches = slope(rows, equations)
    windows = f"{min(b for b, _, _ in seen)} to {max(b for b, _, _ in seen)} packets"
    print(f"\n{len(seen)} cuts at {windows}, at most {max(off):.2f} packets off")
    print(f"  slope {share:.4f} of the rule's, median of {stretches} stretches")
    for (before, threshold, after), distance in zip(seen, off, strict=True):
        assert distance <= max(1.0, 0.02 * equations.cut(before)), (
            f"{before} packets were cut to {threshold}"
        )
        # Proportional rate reduction ends at the threshold (RFC 6937); the sample may include the
        # growth of one acknowledgement.
        assert abs(after - threshold) <= max(1.0, 0.02 * threshold), (
            f"threshold {threshold}, window {after}"
        )
    assert share == pytest.approx(1, abs=0.03)


def test_the_guard_repairs_episodes_that_were_skipped():
    """Windows are correct although every fourth ssthresh() and its set_state() are skipped."""
    rule, equations = "AIAD(1, 3)", EQUATIONS["AIAD(1, 3)"]
    with (
        measured() as load,
        registered(rule, "cwl_t_guard", "--initial-ssthresh", "50", "--skip-every", "4") as held,
    ):
        rows = netns_path.run_flow("cwl_t_guard", 5)
        hits = held.end()["hits"]
    off = [
        max(equations.cut(before) - after, after - equations.cut(before + 1), 0.0)
        for before, after, _ in cuts(rows, equations)
    ]
    wild = max(row.ssthresh for row in rows if row.ssthresh != INFINITE)
    print(
        f"\n{hits['left_unanswered']} episodes left unanswered, {hits['skipped_ssthresh']} repaired"
    )
    print(f"  thresholds at most {wild}")
    print(f"  {len(off)} cuts seen, at most {max(off, default=0.0):.2f} packets off")
    assert (
        hits["skipped_ssthresh"] >= hits["left_unanswered"] - 1
    )  # the last may be skipped as the flow ends
    assert rows[-1].ssthresh < WILD_THRESHOLD
    with unless_busy(load):
        assert hits["left_unanswered"] >= 2
        assert len(off) >= 2
        assert max(off) <= 1.0


def test_a_delay_based_rule_lets_as_many_packets_wait_as_its_formula_says():
    """A window that an increase lowers stays in congestion avoidance, and ends where the increase
    is 0."""
    with (
        measured() as load,
        registered(
            'Rule(inc="2 - 10*w*qdelay", dec="w/2")', "cwl_t_delay", "--initial-ssthresh", "50"
        ),
    ):
        rows = netns_path.run_flow("cwl_t_delay", 4)
    lowered = [
        row for last, row in pairwise(rows)
        if last.state == row.state == OPEN and row.cwnd < last.cwnd
    ]  # fmt: skip
    late = median(row.cwnd for row in rows if row.time_s > 2)
    print(f"\n{len(lowered)} decreases without loss; from 2 s on, {late} packets")
    assert lowered
    assert all(row.ssthresh <= row.cwnd for row in lowered)
    # All packets wait: qdelay = w/rate, and 10 w^2/rate = 2.
    with unless_busy(load):
        assert late == pytest.approx((0.2 * netns_path.RATE_PACKETS_S) ** 0.5, abs=2)


def test_install_and_remove():
    assert program.ask("install", "SQRT(1, 0.5)", "--name", "cwl_t_stay")["program"] == "table"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cwl_t_stay")
            client.connect(server.getsockname())
            connection, _ = server.accept()
            client.sendall(bytes(100_000))
            received = 0
            while received < 100_000:
                received += len(connection.recv(65536))
            assert (
                client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")
                == b"cwl_t_stay"
            )
            connection.close()
        [entry] = [entry for entry in program.ask("list")["rules"] if entry["name"] == "cwl_t_stay"]
        assert (entry["rule"], entry["installed"], entry["hits"]["flows"]) == (
            "SQRT(1, 0.5)",
            True,
            1,
        )
        with pytest.raises(LiveError, match='name "cwl_t_stay" is in use'):
            program.ask("install", "SQRT(1, 0.5)", "--name", "cwl_t_stay")
    finally:
        program.ask("remove", "cwl_t_stay")
    assert "cwl_t_stay" not in available()
    with pytest.raises(LiveError, match='rule "cwl_t_stay" is not installed'):
        program.ask("remove", "cwl_t_stay")


def available() -> list[str]:
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


@pytest.mark.parametrize("end", ["kill", "terminate", "close its input"])
def test_the_rule_is_unregistered_however_the_command_ends(end):
    held = program.Held("install", "AIMD(1, 0.5)", "--name", "cwl_t_gone", "--until-stopped")
    assert "cwl_t_gone" in available()
    process = held._process
    if end == "close its input":
        held.end()
    else:
        getattr(process, end)()
        process.communicate(timeout=HANG_S)
    # The kernel unregisters the rule after an RCU grace period.
    wait_until(lambda: "cwl_t_gone" not in available(), "the end of the rule")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("CUBIC", "--name", "x1"), 'rule "CUBIC" cannot run in the kernel: it has a memory'),
        (
            ("AIMD(1, 0.5)", "--name", "much_too_long_name"),
            'name: "much_too_long_name" is not valid: expected 1 to 15 letters',
        ),
        (("AIMD(1, 0.5)", "--name", "a.b"), 'name: "a.b" is not valid'),
        (("AIMD(1, 0.5)", "--name", "1ab"), 'name: "1ab" is not valid'),
        (("AIMD(1, 0.5)", "--name", "reno"), 'name "reno" is in use'),
        (('Rule(inc="1/(w - 4)", dec="w/2")', "--name", "x2"), "is inf at w = 4"),
        (("MIMD(100, 0.5)", "--name", "x3"), "expected at most 64 packets"),
        (("AIMD(1, 0.5)",), "--name: a name is missing"),
    ],
)
def test_rules_and_names_that_are_not_valid_are_refused_by_name(arguments, says):
    before = available()
    with pytest.raises(LiveError) as error:
        program.ask("install", *arguments)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert available() == before
