"""Tables and JSON of `cwndlab theory rate`, `friendly` and `growth`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click
import numpy as np

from cwndlab import theory
from cwndlab.cli.output import print_table
from cwndlab.jsontext import dumps
from cwndlab.outputs import stamped

LOSSES = (0.001, 0.01, 0.05, 0.1, 0.3)
"""Loss rates at which the table shows the rates of a friendly pair."""
Curve = tuple[np.ndarray, np.ndarray]


def rate(
    rule: theory.Linear | theory.Binomial,
    loss: float,
    rtt_s: float,
    rto_s: float,
    b: float,
    as_json: bool,
) -> None:
    """Print the sending rate of a rule beside standard TCP's."""
    rows = (
        _gaimd_rows(rule, loss, rtt_s, rto_s, b)
        if isinstance(rule, theory.Linear)
        else _binomial_rows(rule, loss, rtt_s)
    )
    entry = {
        "rule": rule.text,
        "p": loss,
        "rtt_s": rtt_s,
        "rto_s": rto_s,
        "packets_per_ack": b,
        "values": rows,
    }
    if as_json:
        click.echo(dumps(stamped("theory-rate", entry)))
        return
    table = [
        [
            row["quantity"],
            row["source"],
            f"{row['rule']:.4f}",
            f"{row['tcp']:.4f}",
            f"{row['rule'] / row['tcp']:.4f}",
        ]
        for row in rows
    ]
    title = f"{rule.text}, loss rate {loss:g}, RTT {rtt_s * 1e3:g} ms"
    if isinstance(rule, theory.Linear):
        title += f", timeout {rto_s * 1e3:g} ms, packets per ACK {b:g}"
    print_table(title, ["", "source", "rule", "AIMD(1, 0.5)", "ratio"], table, text_columns=2)


def _gaimd_rows(
    rule: theory.Linear, p: float, rtt_s: float, rto_s: float, b: float
) -> list[dict[str, Any]]:
    from cwndlab.theory import gaimd

    own, tcp = rule.gaimd, (1.0, 0.5)
    assert own is not None, "the command takes no other linear rule"

    def row(
        key: str, quantity: str, source: str, value: Callable[[float, float], np.ndarray]
    ) -> dict[str, Any]:
        pair = [float(value(alpha, beta)) for alpha, beta in (own, tcp)]
        return {"key": key, "quantity": quantity, "source": source, "rule": pair[0], "tcp": pair[1]}

    return [
        row("rate_pps", "rate [packets/s]", "equation 55",
            lambda alpha, beta: gaimd.rate(alpha, beta, p, rtt=rtt_s, rto=rto_s, b=b)),
        row("rate_approximation_pps", "rate, approximation [packets/s]", "equation 2",
            lambda alpha, beta: gaimd.rate_approximation(alpha, beta, p, rtt=rtt_s, rto=rto_s,
                                                         b=b)),
        row("rate_without_timeouts_pps", "rate without timeouts [packets/s]", "equation 33",
            lambda alpha, beta: gaimd.rate_without_timeouts(alpha, beta, p, rtt=rtt_s, b=b)),
        row("square_root_rate_pps", "its leading term [packets/s]", "equation 34",
            lambda alpha, beta: gaimd.square_root_rate(alpha, beta, p, rtt=rtt_s, b=b)),
        row("mean_window_packets", "window at a loss, E[W] [packets]", "equation 24",
            lambda alpha, beta: gaimd.mean_window(alpha, beta, p, b)),
        row("mean_rounds", "round of a loss, E[X]", "equation 28",
            lambda alpha, beta: gaimd.mean_rounds(alpha, beta, p, b)),
        row("timeout_probability", "losses that end in a timeout, Q", "equation 45",
            lambda alpha, beta: gaimd.timeout_probability(
                gaimd.mean_window(alpha, beta, p, b), p)),
    ]  # fmt: skip


def _binomial_rows(rule: theory.Binomial, p: float, rtt_s: float) -> list[dict[str, Any]]:
    from cwndlab.theory import binomial

    tcp = theory.Binomial(0, 1, 1, 0.5)
    rows: list[tuple[str, str, str, Callable[[theory.Binomial], np.ndarray | float]]] = [
        ("rate_pps", "rate [packets/s]", "cuts of any size",
        lambda r: binomial.rate(r, p, rtt=rtt_s)),
        ("rate_approximation_pps", "rate [packets/s]", "small cuts",
         lambda r: binomial.rate_approximation(r, p, rtt=rtt_s)),
        ("peak_window_packets", "window at a loss [packets]", "cuts of any size",
        lambda r: binomial.peak_window(r, p)),
        ("exponent", "exponent of the loss rate", "-1 / (k + l + 1)", binomial.exponent),
    ]  # fmt: skip
    return [
        {
            "key": key,
            "quantity": quantity,
            "source": source,
            "rule": float(value(rule)),
            "tcp": float(value(tcp)),
        }
        for key, quantity, source, value in rows
    ]


def rate_curves(
    rule: theory.Linear | theory.Binomial, loss: float, rtt_s: float, rto_s: float, b: float
) -> dict[str, Curve]:
    """Compute the rates of the rule and of standard TCP over the loss rate around `loss`."""
    from cwndlab.theory import binomial, gaimd

    largest = 0.05 if isinstance(rule, theory.Binomial) else 0.5
    losses = np.geomspace(min(1e-4, loss), max(largest, loss), 200)
    if isinstance(rule, theory.Binomial):
        tcp = theory.Binomial(0, 1, 1, 0.5)
        losses = losses[[_keeps_a_window(rule, p) for p in losses]]
        return {
            rule.text: (losses, binomial.rate(rule, losses, rtt=rtt_s)),
            "AIMD(1, 0.5)": (losses, binomial.rate(tcp, losses, rtt=rtt_s)),
            f"{rule.text}, small cuts": (
                losses,
                binomial.rate_approximation(rule, losses, rtt=rtt_s),
            ),
        }
    assert rule.gaimd is not None, "the command takes no other linear rule"
    alpha, beta = rule.gaimd
    return {
        rule.text: (losses, gaimd.rate(alpha, beta, losses, rtt=rtt_s, rto=rto_s, b=b)),
        "AIMD(1, 0.5)": (losses, gaimd.rate(1, 0.5, losses, rtt=rtt_s, rto=rto_s, b=b)),
        f"{rule.text} without timeouts": (
            losses,
            gaimd.square_root_rate(alpha, beta, losses, rtt=rtt_s, b=b),
        ),
    }


def _keeps_a_window(rule: theory.Binomial, p: float) -> bool:
    from cwndlab.theory import binomial

    try:
        binomial.peak_window(rule, p)
    except ValueError:
        return False
    return True


def friendly(
    betas: tuple[float, ...],
    d: float,
    thresholds: tuple[float, ...],
    path: Mapping[str, Any],
    as_json: bool,
) -> None:
    """Print the friendly alphas and their rates."""
    from cwndlab.theory.friendly import rate_ratio

    rows: list[dict[str, Any]] = []
    for beta in betas:
        for choice, alpha in _choices(beta, d, thresholds, path).items():
            ratios = rate_ratio(alpha, beta, LOSSES, **path).tolist()
            rows.append({"beta": beta, "choice": choice, "alpha": alpha, "ratios": ratios})
    if as_json:
        click.echo(
            dumps(stamped("theory-friendly", {"d": d, **path, "p": list(LOSSES), "rows": rows}))
        )
        return
    columns = ["beta", "choice", "alpha", *(f"p = {loss:g}" for loss in LOSSES)]
    table = [
        [
            f"{row['beta']:g}",
            row["choice"],
            f"{row['alpha']:.4f}",
            *(f"{ratio:.3f}" for ratio in row["ratios"]),
        ]
        for row in rows
    ]
    title = f"Alpha for {d:g} times TCP's rate, and rate / TCP's rate; equation {path['formula']}"
    print_table(f"{title}, timeout {path['rto_over_rtt']:g} RTT", columns, table, text_columns=2)


def _choices(
    beta: float, d: float, thresholds: tuple[float, ...], path: Mapping[str, Any]
) -> dict[str, float]:
    from cwndlab.theory.friendly import minimising_alpha, td_alpha, to_alpha

    return {
        "TD": float(td_alpha(beta, d)),
        "TO": float(to_alpha(beta, d)),
        **{
            f"least error to {up_to:g}": minimising_alpha(beta, up_to, d=d, **path)
            for up_to in thresholds
        },
    }


def friendly_curves(
    beta: float, d: float, thresholds: tuple[float, ...], path: Mapping[str, Any]
) -> tuple[dict[str, Curve], dict[str, Curve], dict[str, Curve]]:
    """Compute alpha over beta, ratio over loss rate, and mean error over alpha, for each choice."""
    from cwndlab.theory.friendly import error, rate_ratio

    betas = np.linspace(0.3, 0.95, 14)
    by_beta = [_choices(one, d, thresholds, path) for one in betas]
    curves = {
        choice: (betas, np.array([entry[choice] for entry in by_beta])) for choice in by_beta[0]
    }
    losses = np.geomspace(1e-4, 0.9, 150)
    chosen = _choices(beta, d, thresholds, path)
    ratios = {
        choice: (losses, rate_ratio(alpha, beta, losses, **path))
        for choice, alpha in chosen.items()
    }
    alphas = np.linspace(0.7 * min(chosen.values()), 1.3 * max(chosen.values()), 60)
    errors = {
        f"loss up to {up_to:g}": (
            alphas,
            np.array([error(one, beta, up_to, d=d, **path) / up_to for one in alphas]),
        )
        for up_to in thresholds
    }
    return curves, ratios, errors


def growth_rounds(start: float, target: float, a: float, acceleration: float) -> dict[str, int]:
    """Count round trips for each reading, and for AIMD with the same first increase."""
    from cwndlab.theory.growth import LAWS, rounds_to

    found = {
        law: rounds_to(start, target, most=10**6, a=a, acceleration=acceleration, law=law)
        for law in LAWS
    }
    return {**found, "AIMD": rounds_to(start, target, most=10**7, a=a, acceleration=0.0)}


def growth_courses(
    start: float, rounds: Mapping[str, int], a: float, acceleration: float
) -> dict[str, np.ndarray]:
    """Compute windows for each reading, for as long as the slowest one grows."""
    from cwndlab.theory.growth import windows

    longest = min(100_000, max(rounds.values()))
    courses: dict[str, np.ndarray] = {}
    for law, needed in rounds.items():
        if law == "AIMD":
            courses[f"AIMD({a:g})"] = windows(start, longest, a=a, acceleration=0.0)
        else:
            courses[f"MR-AIMD, {law}"] = windows(
                start, min(longest, needed + 4), a=a, acceleration=acceleration, law=law
            )
    return courses


def growth(start: float, target: float, rounds: Mapping[str, int], as_json: bool) -> None:
    """Print the round trips."""
    from cwndlab.theory.growth import LAWS

    if as_json:
        found = {"from_packets": start, "to_packets": target, "round_trips": dict(rounds)}
        click.echo(dumps(stamped("theory-growth", found)))
        return
    notes = {**LAWS, "AIMD": "the increase stays as it is"}
    rows = [[name, notes[name], str(count)] for name, count in rounds.items()]
    print_table(
        f"From {start:g} to {target:g} packets without congestion",
        ["", "how", "RTTs"],
        rows,
        text_columns=2,
    )
