"""Sending rates of theory and of the simulator with the same random losses."""

from __future__ import annotations

import cwndlab
from cwndlab import theory
from parts.text import table


def simulated_rates() -> str:
    """Table of packets per RTT from theory and from the simulator, with independent losses."""
    head = [
        "rule",
        "loss rate",
        "equation 34",
        "equation 33",
        "independent losses",
        "simulated",
        "timeouts",
    ]
    rows = []
    for rule in ("GAIMD(1, 0.5)", "GAIMD(0.58, 0.75)", "GAIMD(0.31, 0.875)"):
        pair = theory.parse(rule).gaimd
        assert pair is not None, "a rule of that kind"
        for loss in (0.01, 0.0025, 0.0005):
            laws = (
                theory.gaimd.square_root_rate,
                theory.gaimd.rate_without_timeouts,
                theory.gaimd.independent_loss_rate,
            )
            even, full, independent = (float(law(*pair, loss, rtt=1)) for law in laws)
            mean, error, timeouts = lossy_rate(rule, loss, independent)
            found = f"{mean:.2f} ± {error:.2f}"
            rows.append(
                [
                    f"`{rule}`",
                    f"{loss:g}",
                    f"{even:.2f}",
                    f"{full:.2f}",
                    f"{independent:.2f}",
                    found,
                    timeouts,
                ]
            )
    return table(head, rows)


def lossy_rate(rule: str, loss: float, window: float) -> tuple[float, float, str]:
    """Packets sent per RTT, with the standard error.

    And the fraction of window reductions that were timeouts.
    """
    rtt, flows, cycles = 0.1, 20, 60
    cycle = rtt / (loss * window)
    begin, end = 10 * cycle, (10 + cycles) * cycle
    scenario = cwndlab.dumbbell(
        "10Tbit", rtt / 2, flows=[{"rule": rule, "count": flows}], duration=end,
        measure=[begin, end], profile="rfc",
        queue={"kind": "drop-tail", "limit": "unlimited"},
        link={"loss": [{"kind": "bernoulli", "p": loss}], "back_rate": "unlimited"},
        # The RTT never varies, so without a floor the RTO would converge to the RTT.
        tcp={"initial_ssthresh": window, "min_rto": 2 * rtt},
    )  # fmt: skip
    found = cwndlab.run(scenario).flows
    # Each flow is scaled to the same loss rate: one that lost more by chance is slower.
    own = found["dropped_packets"] / found["sent_packets"]
    sent = found["sent_packets"] * (rtt / (end - begin)) * (own / loss) ** 0.5
    timeouts = found["timeouts"].sum() / found["window_reductions"].sum()
    return sent.mean(), sent.std() / flows**0.5, f"{100 * timeouts:.1f} %"
