"""Random scenarios that cwndlab and ns-2 can both run, one for each seed."""

from __future__ import annotations

import random

from .case import RECOVERIES, Case, scenario

# More packets than this only make a run slow: what differs shows within a few recoveries.
PACKETS = 8000


def random_scenario(seed: int) -> Case:
    """The scenario of a seed: same seed, same scenario."""
    draw = random.Random(seed)
    profile = "ns2-2000" if draw.random() < 0.3 else "ns2-2.35"
    recovery = draw.choice(RECOVERIES)
    # Whole bits per second, as cwndlab has them.
    rate = int(round(10 ** draw.uniform(5.3, 7.2), draw.choice([-5, -4, 0])))
    access_rate = draw.choice(
        [10 * rate, 10 * rate, round(7.3 * rate), round(draw.uniform(1.05, 50) * rate)]
    )
    delay = draw.choice([f"{draw.randint(1, 100)}ms", f"{draw.uniform(0.5, 200):.3f}ms"])
    access_delay = draw.choice(["0ms", "1ms", "5ms", f"{draw.uniform(0, 30):.4f}ms"])
    duration = min(draw.choice([20, 40, 60, 100]), PACKETS * 8320 / rate)
    tcp: dict = {"window": draw.choice([3, 4, 5, 6, 8, 12, 16, 20, 20, 20, 30, 64, 128, 300, 1000])}
    options(draw, tcp)
    packets = draw.randint(1, 400) if draw.random() < 0.15 else None
    bell = {}
    if draw.random() < 0.15:
        bell |= {
            "sink_rate": round(draw.uniform(1.1, 20) * rate),
            "sink_delay": f"{draw.uniform(0, 20):.3f}ms",
        }
    if draw.random() < 0.15:
        bell["back_rate"] = round(draw.uniform(0.02, 5) * rate)
    start = f"{draw.uniform(0, 3):.4f}s" if draw.random() < 0.3 else None
    return Case(
        f"seed-{seed}",
        scenario(
            recovery,
            random_rule(draw),
            random_drops(draw, tcp["window"]),
            profile=profile,
            duration=round(duration, 3),
            rate=rate,
            delay=delay,
            access_rate=access_rate,
            access_delay=access_delay,
            limit=draw.choice([3, 5, 8, 10, 15, 20, 35, 50, 50, 100, 200]),
            packets=packets,
            start=start,
            bell=bell,
            **tcp,
        ),
        draw=draw.randint(0, 8),
    )


def random_crowd(seed: int) -> Case:
    """Several flows of one bottleneck.

    Some of them alike in everything, which makes events of equal times.
    """
    draw = random.Random(f"crowd {seed}")
    one = random_scenario(seed)
    bell = {**one.scenario["dumbbell"], "access_delay": "1ms"}
    bell.pop("loss", None)
    bell["queue"] = {**bell["queue"], "limit": f"{draw.randint(5, 60)}pkt"}
    flows = []
    for index in range(draw.randint(2, 6)):
        flow = {"name": f"f{index}", "rule": random_rule(draw), "recovery": draw.choice(RECOVERIES)}
        if draw.random() < 0.8:
            flow["access_delay"] = f"{draw.uniform(0, 50):.3f}ms"
        if draw.random() < 0.8:
            flow["start"] = round(draw.uniform(0, 2), 3)
        flows.append(flow)
    return Case(f"crowd-{seed}", {**one.scenario, "dumbbell": bell, "flows": flows}, one.draw)


def random_rule(draw: random.Random) -> str:
    kind = draw.choice(["AIMD"] * 4 + ["AIAD", "MIMD", "MIAD"])
    increase = (
        round(draw.uniform(0.1, 3), 3) if kind[0] == "A" else round(draw.uniform(1.01, 1.3), 3)
    )
    decrease = round(draw.uniform(0.3, 0.95), 3) if kind[2] == "M" else round(draw.uniform(1, 6), 2)
    if kind == "AIMD" and draw.random() < 0.5:
        increase, decrease = 1, 0.5
    return f"{kind}({increase}, {decrease})"


def random_drops(draw: random.Random, window: int) -> list[int]:
    """Clusters of losses about a window wide, some of them dense enough to hit retransmissions
    again and again."""
    drops: set[int] = set()
    for _ in range(draw.choice([0, 1, 1, 2, 3, 5, 8])):
        first = draw.choice([draw.randint(0, 20), draw.randint(10, 200), draw.randint(100, 1500)])
        width = draw.choice([1, 4, window, 2 * window, 3 * window])
        share = draw.choice([0.1, 0.3, 0.7, 1.0])
        chosen = [first + offset for offset in range(min(width, 40)) if draw.random() < share]
        drops.update(chosen or [first])
    return sorted(drops)


def options(draw: random.Random, tcp: dict) -> None:
    if draw.random() < 0.2:
        tcp["delayed_ack"] = True
        if draw.random() < 0.4:
            tcp["delayed_ack_interval"] = draw.choice(["40ms", "200ms", "500ms"])
    if draw.random() < 0.15:
        tcp["timestamps"] = True
    if draw.random() < 0.15:
        tcp["limited_transmit"] = draw.random() < 0.5
    if draw.random() < 0.15:
        tcp["packet_size"] = draw.choice([100, 512, 960, 1460])
    if draw.random() < 0.15:
        # Never above the window: cwndlab caps it there.
        tcp["initial_ssthresh"] = min(draw.choice([2, 4, 10, 50, 200]), tcp["window"])
    if draw.random() < 0.1:
        tcp["initial_window"] = draw.choice([1, 3, 4, 10])
    if draw.random() < 0.1:
        tcp["min_rto"] = draw.choice(["50ms", "500ms", "1s"])
    if draw.random() < 0.05:
        tcp["max_rto"] = draw.choice(["2s", "10s"])
    if draw.random() < 0.05:
        tcp["initial_rto"] = draw.choice(["1s", "6s"])
