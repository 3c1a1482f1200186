"""Random scenarios full of simultaneous events, one for each seed.

Rates and delays are round and start times coincide, so that packets of different flows reach a link
at bit-equal instants, and nothing is random: the order of simultaneous events decides what differs.
"""

from __future__ import annotations

import random

from .case import RECOVERIES, Case

# More packets than this only make a run slow: ties come all along.
PACKETS = 6000


def random_ties(seed: int) -> Case:
    """One to five flows over one bottleneck."""
    draw = random.Random(f"ties {seed}")
    rate = draw.choice([1, 2, 4, 5, 8, 10]) * 1_000_000
    access_rate = draw.choice([rate, 2 * rate, 10 * rate, 100_000_000])
    duration = min(draw.choice([5, 10, 20]), PACKETS * 8320 / rate)
    bell = {
        "rate": rate,
        "delay": draw.choice(["5ms", "10ms", "20ms", "50ms"]),
        "access_rate": access_rate,
        "access_delay": draw.choice(["1ms", "5ms", "10ms"]),
        "queue": {
            "kind": "drop-tail",
            "limit": f"{draw.choice([5, 10, 20, 30, 50])}pkt",
            "count_in_service": True,
        },
    }
    if draw.random() < 0.7:
        bell |= {
            "sink_rate": draw.choice([rate, 10 * rate, access_rate, 100_000_000]),
            "sink_delay": draw.choice(["1ms", "5ms", "10ms"]),
        }
    if draw.random() < 0.1:
        bell["back_rate"] = rate // draw.choice([1, 2, 10])
    flows = []
    for index in range(draw.randint(2, 5)):
        flow = {
            "name": f"f{index}",
            "rule": draw.choice(["AIMD(1, 0.5)", "AIMD(1, 0.5)", "AIMD(0.2, 0.875)"]),
            "recovery": draw.choice(RECOVERIES),
            "start": draw.choice([0, 0, 0.1, 0.5, 1]),
        }
        if draw.random() < 0.6:
            flow["access_delay"] = f"{draw.choice([1, 2, 5, 10, 15, 20])}ms"
        if draw.random() < 0.2:
            flow["access_rate"] = draw.choice([rate, 10 * rate, 100_000_000])
        if "sink_rate" in bell and draw.random() < 0.4:
            flow["sink_delay"] = f"{draw.choice([1, 2, 5, 10, 15, 20])}ms"
        flows.append(flow)
    if draw.random() < 0.15:
        # The senders at the router: their packets enter the queue within the event of the ACK.
        for own in (bell, *flows):
            own.pop("access_rate", None)
            own.pop("access_delay", None)
    if draw.random() < 0.1:
        del flows[1:]
    tcp: dict = {"window": draw.choice([8, 20, 64, 1000, 1000])}
    if draw.random() < 0.1:
        tcp["delayed_ack"] = True
    if draw.random() < 0.1:
        tcp["packet_size"] = draw.choice([460, 960, 1460])
    return Case(
        f"ties-{seed}",
        {
            "duration": round(duration, 3),
            "profile": draw.choice(["ns2-2.35", "ns2-2.35", "ns2-2000"]),
            "dumbbell": bell,
            "flows": flows,
            "tcp": tcp,
        },
        draw=draw.randint(0, 8),
    )
