"""The deterministic scenarios on which cwndlab and ns-2 have to send the same packets."""

from __future__ import annotations

from . import scenarios_binomial, scenarios_routers
from .case import RECOVERIES, Case, scenario

ONE_WINDOW = {1: [30], 2: [30, 33], 3: [30, 32, 36], 4: [28, 30, 33, 37]}
# A packet, and then every retransmission of it until the timer has backed off several times.
STUBBORN = [12, 15, 16, 17, 18, 40, 41, 42, 43, 60]
ODD = {"rate": "1.37Mbit", "delay": "17.3ms", "access_rate": "7.77Mbit", "access_delay": "3.1ms"}


def drop_lists() -> list[Case]:
    cases = []
    for index, recovery in enumerate(RECOVERIES):
        for count, drops in ONE_WINDOW.items():
            cases.append(
                Case(
                    f"{recovery}-{count}-in-a-window",
                    scenario(recovery, drops=drops),
                    draw=(index + count) % 4,
                )
            )
        spread = [30, 150, 151, 600, 603, 607, 1200]
        cases.append(
            Case(f"{recovery}-spread", scenario(recovery, drops=spread, duration=30), draw=index)
        )
        cases.append(
            Case(
                f"{recovery}-again-in-recovery",
                scenario(recovery, drops=[50, 58, 64, 66, 67, 90], window=16),
            )
        )
    cases.append(
        Case("sack-retransmission-lost", scenario("sack", drops=[30, 46, 47, 48, 49], window=16))
    )
    cases.append(
        Case(
            "newreno-retransmission-lost",
            scenario("newreno", drops=[30, 46, 47, 48, 49], window=16),
        )
    )
    return cases


def overshoot() -> list[Case]:
    cases = []
    for recovery in RECOVERIES:
        cases.append(
            Case(
                f"{recovery}-overshoot",
                scenario(recovery, duration=40, rate="2Mbit", delay="40ms", limit=10, window=1000),
                draw=1,
            )
        )
        cases.append(
            Case(
                f"{recovery}-overshoot-odd",
                scenario(recovery, duration=40, limit=7, window=500, **ODD),
            )
        )
    cases.append(
        Case(
            "sack-large-window",
            scenario(
                "sack",
                duration=20,
                rate="10Mbit",
                delay="45ms",
                access_rate="100Mbit",
                limit=60,
                window=4000,
            ),
        )
    )
    cases.append(
        Case(
            "newreno-large-window",
            scenario(
                "newreno",
                duration=20,
                rate="10Mbit",
                delay="45ms",
                access_rate="100Mbit",
                limit=100,
                window=4000,
            ),
        )
    )
    return cases


def ties() -> list[Case]:
    """Round numbers, where a packet arrives just when another leaves, or when a timer fires.

    Slow start sends two packets for each that leaves the bottleneck, so that the first of every
    pair comes to the queue at the very moment of a departure; which of the two ns-2 handles first
    decides what is dropped.
    """
    paths = {
        "1M-10ms": {"rate": "1Mbit", "delay": "10ms", "access_delay": "2ms", "limit": 8},
        "1.5M-50ms": {"rate": "1.5Mbit", "delay": "50ms", "access_delay": "1ms", "limit": 20},
        "8M-9ms": {
            "rate": "8Mbit",
            "delay": "9ms",
            "access_rate": "100Mbit",
            "access_delay": "1ms",
            "limit": 25,
        },
        "500k-100ms": {
            "rate": "500kbit",
            "delay": "100ms",
            "access_rate": "5Mbit",
            "access_delay": "13ms",
            "limit": 6,
        },
    }
    cases = []
    for name, path in paths.items():
        for recovery in RECOVERIES:
            cases.append(
                Case(f"{recovery}-{name}", scenario(recovery, window=500, duration=15, **path))
            )
    self_clocked = {
        "rate": 880_000,
        "delay": "60ms",
        "access_rate": 8_800_000,
        "limit": 10,
        "delayed_ack": True,
    }
    cases.append(
        Case(
            "sack-delayed-ack-timer-meets-packet",
            scenario(
                "sack",
                "AIAD(0.223, 5.89)",
                drops=[12, 13, 14, 15],
                initial_ssthresh=10,
                **self_clocked,
            ),
            draw=3,
        )
    )
    return cases


def time_outs() -> list[Case]:
    cases = []
    for index, recovery in enumerate(RECOVERIES):
        cases.append(
            Case(
                f"{recovery}-small-window-back-off",
                scenario(recovery, drops=STUBBORN, duration=90, window=3),
                draw=index,
            )
        )
        cases.append(
            Case(
                f"{recovery}-burst-lost",
                scenario(recovery, drops=range(40, 58), duration=60, window=16),
                draw=index,
            )
        )
    cases.append(Case("sack-syn-lost", scenario("sack", drops=[0], duration=30)))
    cases.append(
        Case("reno-syn-lost-twice", scenario("reno", drops=[0, 1, 30], duration=40), draw=2)
    )
    cases.append(Case("newreno-first-data-lost", scenario("newreno", drops=[1, 6, 7], duration=30)))
    cases.append(
        Case("tahoe-first-window-lost", scenario("tahoe", drops=[1, 2, 3], duration=40), draw=3)
    )
    return cases


def long_back_off() -> list[Case]:
    """One packet lost until the RTO reaches its maximum, and what the sender does after it."""
    drops = range(20, 32)
    return [
        Case(
            "sack-back-off-to-the-cap",
            scenario("sack", drops=drops, duration=400, window=2, rate="100kbit"),
        ),
        Case(
            "2000-reno-back-off-to-the-cap",
            scenario("reno", drops=drops, duration=600, window=2, profile="ns2-2000"),
        ),
        Case(
            "newreno-low-cap", scenario("newreno", drops=drops, duration=60, window=4, max_rto="2s")
        ),
    ]


def several_flows() -> list[Case]:
    """Flows of different round trip times share the queue; each has losses of its own."""
    two = scenario("sack", duration=30, rate="2.3Mbit", delay="21.7ms", limit=18, window=100)
    two["flows"] = [
        {"name": "near", "rule": "AIMD(1, 0.5)", "recovery": "sack", "access_delay": "3.33ms"},
        {
            "name": "far",
            "rule": "AIMD(0.31, 0.875)",
            "recovery": "newreno",
            "access_delay": "41.9ms",
            "start": 0.7,
        },
    ]
    lossy = {
        **two,
        "dumbbell": {
            **two["dumbbell"],
            "loss": [{"kind": "list", "packets": [50, 55, 400], "flow": "far"}],
        },
    }
    return [Case("two-flows", two, draw=1), Case("two-flows-one-lossy", lossy)]


def rules() -> list[Case]:
    small = {"duration": 60, "limit": 15, "window": 1000}
    cases = []
    for rule, recovery in (
        ("AIMD(0.31, 0.875)", "sack"),
        ("AIMD(0.31, 0.875)", "reno"),
        ("AIMD(1, 0.8)", "newreno"),
        ("AIMD(2, 0.5)", "tahoe"),
        ("AIAD(1, 3)", "sack"),
        ("AIAD(1, 3)", "newreno"),
        ("MIMD(1.125, 0.8)", "sack"),
        ("MIMD(1.125, 0.8)", "reno"),
        ("MIAD(1.125, 3)", "sack"),
        ("MIAD(1.125, 3)", "newreno"),
    ):
        name = rule.replace("(", "-").replace(", ", "-").rstrip(")")
        cases.append(Case(f"{name}-{recovery}", scenario(recovery, rule, **small)))
        cases.append(
            Case(
                f"{name}-{recovery}-dropped",
                scenario(recovery, rule, drops=[60, 200, 500, 501, 505], duration=40, window=60),
            )
        )
    # A window of 3 or less minus 3 is a window below one, which ns-2 allows.
    cases.append(
        Case(
            "AIAD-1-3-below-one",
            scenario(
                "sack", "AIAD(1, 3)", drops=[20, 40, 47, 52, 58, 64, 71, 80], duration=60, window=5
            ),
        )
    )
    cases.append(
        Case(
            "AIAD-1-3-below-one-reno",
            scenario(
                "reno", "AIAD(1, 3)", drops=[20, 40, 47, 52, 58, 64, 71, 80], duration=60, window=5
            ),
        )
    )
    return cases


def endpoint_options() -> list[Case]:
    drops = [40, 90, 92, 300]
    return [
        Case("sack-delayed-ack", scenario("sack", drops=drops, delayed_ack=True), draw=1),
        Case("reno-delayed-ack", scenario("reno", drops=drops, delayed_ack=True)),
        Case(
            "newreno-delayed-ack-200ms",
            scenario("newreno", drops=drops, delayed_ack=True, delayed_ack_interval="200ms"),
        ),
        Case(
            "tahoe-delayed-ack-small-window",
            scenario("tahoe", drops=[9, 30], delayed_ack=True, window=3),
        ),
        Case("sack-timestamps", scenario("sack", drops=drops, timestamps=True)),
        Case(
            "newreno-timestamps-delayed-ack",
            scenario("newreno", drops=drops, timestamps=True, delayed_ack=True),
        ),
        Case("reno-timestamps-overshoot", scenario("reno", limit=8, window=200, timestamps=True)),
        Case("sack-window-8", scenario("sack", drops=[25, 60, 61], window=8)),
        Case("newreno-window-20-odd", scenario("newreno", drops=[35, 36, 140], window=20, **ODD)),
        Case(
            "sack-no-limited-transmit",
            scenario("sack", drops=[10, 40, 43], limited_transmit=False, window=12),
        ),
        Case(
            "reno-packet-size", scenario("reno", drops=drops, packet_size=512, window=30, limit=12)
        ),
        Case(
            "sack-initial-window-4",
            scenario("sack", drops=[3, 60], initial_window=4, initial_ssthresh=10, window=40),
        ),
        Case(
            "sack-min-rto",
            scenario("sack", drops=range(30, 50), duration=60, min_rto="1s", max_rto="8s"),
            draw=2,
        ),
        Case("sack-one-packet", scenario("sack", packets=1, duration=5)),
        Case("reno-finite", scenario("reno", packets=50, drops=[50], duration=20)),
        Case(
            "newreno-finite-tail-lost",
            scenario("newreno", packets=120, drops=[60, 119, 120, 121], duration=20),
        ),
        Case(
            "sack-finite-late-start",
            scenario("sack", packets=300, drops=[70, 75, 76, 299], start=1.2345, duration=30),
        ),
        Case(
            "sack-sink-link",
            scenario("sack", drops=[30, 33], bell={"sink_rate": "5Mbit", "sink_delay": "2.5ms"}),
        ),
        Case(
            "sack-slow-back",
            scenario("sack", drops=[30, 33, 200], bell={"back_rate": "30kbit"}, window=40),
        ),
        Case(
            "newreno-slow-access",
            scenario("newreno", drops=[30, 33], access_rate="0.9Mbit", window=40),
        ),
        Case(
            "sack-no-access-link",
            scenario("sack", limit=12, window=100, access_rate=None, access_delay=None),
        ),
    ]


def papers_years() -> list[Case]:
    old = {"profile": "ns2-2000"}
    cases = []
    for index, recovery in enumerate(RECOVERIES):
        cases.append(
            Case(
                f"2000-{recovery}-3-in-a-window",
                scenario(recovery, drops=ONE_WINDOW[3], duration=30, **old),
                draw=index,
            )
        )
        cases.append(
            Case(
                f"2000-{recovery}-overshoot",
                scenario(recovery, duration=60, limit=10, window=300, **old),
                draw=index,
            )
        )
        cases.append(
            Case(
                f"2000-{recovery}-back-off",
                scenario(recovery, drops=STUBBORN, duration=100, window=3, **old),
                draw=index,
            )
        )
        cases.append(
            Case(
                f"2000-{recovery}-spread-odd",
                scenario(recovery, drops=[20, 25, 90, 200, 201], window=17, **ODD, **old),
            )
        )
    cases += [
        Case("2000-first-lost", scenario("sack", drops=[0, 2, 3], duration=60, **old)),
        Case(
            "2000-AIMD-0.31-0.875",
            scenario("sack", "AIMD(0.31, 0.875)", duration=60, limit=15, window=200, **old),
        ),
        Case(
            "2000-AIAD-1-3",
            scenario("newreno", "AIAD(1, 3)", duration=60, limit=15, window=200, **old),
        ),
        Case(
            "2000-MIMD-1.125-0.8",
            scenario("reno", "MIMD(1.125, 0.8)", duration=60, limit=15, window=200, **old),
        ),
        Case("2000-delayed-ack", scenario("reno", drops=[40, 90], delayed_ack=True, **old)),
    ]
    return cases


def everything() -> list[Case]:
    cases = [
        *drop_lists(),
        *overshoot(),
        *ties(),
        *time_outs(),
        *long_back_off(),
        *rules(),
        *endpoint_options(),
        *papers_years(),
        *several_flows(),
        *scenarios_routers.everything(),
        *scenarios_binomial.everything(),
    ]
    names = [case.name for case in cases]
    assert len(names) == len(set(names)), "two cases of one name"
    return cases
