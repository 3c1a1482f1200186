"""Scenarios for kernels in virtual time: twenty by hand, and random ones."""

from __future__ import annotations

import random
from typing import Any

Toml = dict[str, Any]

BULK = ("cubic", "reno", "bbr")


def link(rate: str, delay: str, limit: str | None = None, **more: Any) -> Toml:
    """A dumbbell; `limit` is that of a drop-tail queue."""
    queue = {} if limit is None else {"queue": {"kind": "drop-tail", "limit": limit}}
    return {"rate": rate, "delay": delay, **queue, **more}


def flows(*names: str, **more: Any) -> list[Toml]:
    """One flow of each of these congestion controls."""
    return [{"name": f"{i}-{name}", "rule": f"kernel:{name}", **more}
            for i, name in enumerate(names)]  # fmt: skip


def scenario(dumbbell: Toml, flows: list[Toml], duration: str = "6s", **more: Any) -> Toml:
    """A scenario of packets of 1448 bytes with timestamps."""
    return {"duration": duration, "dumbbell": dumbbell, "flows": flows,
            "tcp": {"packet_size": 1448}, **more}  # fmt: skip


NAMED: dict[str, Toml] = {
    "drop-tail": scenario(link("10Mbit", "20ms", "1bdp"), flows("cubic")),
    "shallow": scenario(link("20Mbit", "10ms", "10pkt"), flows("cubic", "reno")),
    "deep": scenario(link("10Mbit", "20ms", "4bdp"), flows("cubic", "bbr")),
    "red": scenario(
        link("10Mbit", "20ms", queue={"kind": "red", "limit": "100pkt", "min": "10pkt",
                                      "max": "40pkt"}),
        flows("reno", "reno"),
    ),
    "fq-codel": scenario(link("20Mbit", "20ms", queue={"kind": "fq-codel"}),
                         flows("cubic", "bbr", "reno")),
    "codel": scenario(link("20Mbit", "20ms", queue={"kind": "codel"}), flows("cubic")),
    "ecn": scenario(
        link("10Mbit", "20ms", queue={"kind": "red", "limit": "100pkt", "min": "10pkt",
                                      "max": "40pkt", "ecn": True}),
        flows("reno", "cubic", tcp={"ecn": True}),
    ),
    "unequal-rtts": scenario(
        link("10Mbit", "10ms", "1bdp"),
        [*flows("cubic"), {**flows("cubic")[0], "name": "far", "access_delay": "40ms"}],
    ),
    "late-flow": scenario(link("10Mbit", "20ms", "1bdp"),
                          [*flows("cubic"), {**flows("reno")[0], "name": "late", "start": "2s"}]),
    "transfers": scenario(link("10Mbit", "20ms", "1bdp"), flows("cubic", "reno", packets=500)),
    "random-loss": scenario(
        link("10Mbit", "20ms", "2bdp", loss=[{"kind": "bernoulli", "p": 0.01}]), flows("cubic")
    ),
    "no-delayed-acks": scenario(link("10Mbit", "20ms", "1bdp"), flows("reno"),
                                tcp={"packet_size": 1448, "delayed_ack": False}),
    "no-sack": scenario(link("10Mbit", "20ms", "1bdp"), flows("reno", recovery="newreno")),
    "receiver-limited": scenario(link("10Mbit", "20ms", "1bdp"),
                                 flows("cubic", tcp={"window": 20})),
    "four-bbrs": scenario(link("20Mbit", "20ms", "2bdp"), flows("bbr", "bbr", "bbr", "bbr")),
    "dctcp": scenario(
        link("100Mbit", "1ms", queue={"kind": "step", "limit": "200pkt", "threshold": "20pkt"}),
        flows("dctcp", "dctcp", tcp={"ecn": True}), "2s",
    ),
    "gigabit": scenario(link("1Gbit", "5ms", "1bdp"), flows("cubic"), "2s"),
    "policer": scenario(
        link("50Mbit", "20ms", policer={"rate": "10Mbit", "burst": "30kB"}), flows("cubic")
    ),
    "reordering": scenario(
        link("10Mbit", "20ms", "2bdp",
             jitter={"kind": "bernoulli", "p": 0.02, "by": "15ms", "reorder": True}),
        flows("cubic"),
    ),
    "others": scenario(link("20Mbit", "20ms", "1bdp"),
                       flows("illinois", "htcp", "vegas", "westwood")),
}  # fmt: skip


def single(seed: int) -> Toml:
    """A random scenario of one flow."""
    return _random(random.Random(seed), 1)


def long(seed: int) -> Toml:
    """A random scenario of one slow BBR, long enough for its ProbeRTT."""
    draw = random.Random(3_000_000 + seed)
    delay, limit = draw.choice(["5ms", "20ms", "50ms"]), draw.choice(["1bdp", "2bdp", "4bdp"])
    made = scenario(link("2Mbit", delay, limit), flows("bbr"), "25s")
    return {**made, "seed": draw.randrange(1, 1000)}


def marked(seed: int) -> Toml:
    """A random scenario of one flow whose bottleneck marks packets beyond a threshold."""
    draw = random.Random(2_000_000 + seed)
    rate, one_way_ms = draw.choice([5, 10, 20, 50]), draw.choice([1, 2, 5, 10, 20])
    threshold, limit = draw.choice([5, 10, 20, 40]), draw.choice([60, 200])
    queue = {"kind": "step", "limit": f"{limit}pkt", "threshold": f"{threshold}pkt"}
    dumbbell = link(f"{rate}Mbit", f"{one_way_ms}ms", queue=queue)
    if draw.random() < 0.3:
        dumbbell["loss"] = [{"kind": "bernoulli", "p": draw.choice([0.001, 0.01])}]
    made = flows("dctcp", tcp={"ecn": True})
    return scenario(dumbbell, made, "4s", seed=draw.randrange(1, 1000))


def pair(seed: int) -> Toml:
    """A random scenario of two flows."""
    return _random(random.Random(1_000_000 + seed), 2)


def _random(draw: random.Random, count: int) -> Toml:
    rate = draw.choice([2, 5, 10, 20, 50])
    one_way_ms = draw.choice([2, 5, 10, 20, 50])
    bdps = draw.choice([0.5, 1, 2, 4])
    names = [draw.choice(BULK) for _ in range(count)]
    made = flows(*names)
    for flow in made[1:]:
        flow["start"] = f"{draw.choice([0, 100, 500, 1000])}ms"
    dumbbell = link(f"{rate}Mbit", f"{one_way_ms}ms", f"{bdps:g}bdp")
    if draw.random() < 0.3:
        dumbbell["loss"] = [{"kind": "bernoulli", "p": draw.choice([0.001, 0.01])}]
    return scenario(dumbbell, made, "8s", seed=draw.randrange(1, 1000))
