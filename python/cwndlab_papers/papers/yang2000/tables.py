"""Data of yang2000's experiments as tables, one function each.

What was measured, and what follows from it.
"""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from cwndlab import theory
from cwndlab.statistics import Estimate
from cwndlab.theory import friendly, gaimd
from cwndlab_papers import Data, Experiment
from cwndlab_papers.frames import cell_table
from cwndlab_papers.papers.yang2000 import formulas, quantities, windows
from cwndlab_papers.papers.yang2000.published import ours, printed, published

LOSSES = np.geomspace(0.001, 0.9, 60)


def formula_table(_data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Rates by equations 2 and 55 over the loss rate, packets per second, RTT 0.1 s, T0 0.4 s."""
    rows: list[tuple[object, ...]] = []
    for (alpha, beta), p in itertools.product(((1.0, 0.5), (0.31, 0.875)), LOSSES):
        rtt_s, rto_s = formulas.RTT_S, formulas.RTO_S
        short, full = (
            gaimd.rate_approximation(alpha, beta, p, rtt=rtt_s, rto=rto_s),
            gaimd.rate(alpha, beta, p, rtt=rtt_s, rto=rto_s),
        )
        without = gaimd.square_root_rate(alpha, beta, p, rtt=rtt_s)
        second = gaimd.timeout_term(alpha, beta, p, rto=rto_s)
        rows.append((alpha, beta, p, *map(float, (short, full, without, second * short))))
    columns = [
        "alpha",
        "beta",
        "p",
        "equation_2",
        "equation_55",
        "without_timeouts",
        "share_of_timeouts",
    ]
    return pl.DataFrame(rows, schema=columns, orient="row")


def accuracy_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Means of each cell with one beta.

    Predicted over actual rate, loss rate, share of timeouts beside Q.
    """
    found = cell_table(data, experiment.plans[0]).filter(
        ~pl.col("metric").str.starts_with("flows.")
    )
    wanted = [
        rule
        for rule in found["rule"].unique()
        if theory.parse_linear(rule).bd == experiment.arguments["beta"]
    ]
    return found.filter(pl.col("rule").is_in(wanted))


def spread_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Predicted over actual rate and loss rate of each flow of each run."""
    plan, rule = experiment.plans[0], experiment.arguments["rule"]
    board = data.boards[plan]
    rows: list[tuple[object, ...]] = []
    for place in itertools.product(*map(range, board.series["ratios-gaimd"].shape)):
        if board.rules[place[2]] == rule:
            for group in ("gaimd", "tcp"):
                ratios, losses = (
                    board.series[f"{name}-{group}"][place] for name in ("ratios", "losses")
                )
                if ratios is not None:
                    where = (board.settings[place[0]], board.cases[place[1]], place[3], group)
                    rows += [
                        (*where, at, *pair)
                        for at, pair in enumerate(zip(losses, ratios, strict=True))
                    ]
    columns = ["setting", "case", "replicate", "group", "flow", "loss", "ratio"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def minimiser_table(_data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Minimising alpha of beta = 0.875 by formula, T0 and threshold, beside the printed ones."""
    theirs = {0.1: printed("minimiser-0.1"), 0.3: printed("minimiser-0.3")}
    rows = [
        (
            formula,
            times,
            edge,
            formulas.minimiser(formulas.BETA, edge, formulas.Setting(formula, times)),
            theirs.get(edge),
        )
        for formula, times, edge in itertools.product(
            friendly.FORMULAS, (1.0, 2.0, 4.0, 8.0), formulas.THRESHOLDS
        )
    ]
    columns = ["formula", "rto_over_rtt", "threshold", "alpha", "printed"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def curves_table(_data: Data, _experiment: Experiment) -> pl.DataFrame:
    """TCP-friendly alpha by curve over beta.

    ``to 0.3`` minimises the error up to a loss rate of 0.3.
    """
    betas = np.linspace(0.1, 0.95, 18)
    return pl.DataFrame({"beta": betas, **formulas.curves(betas)})


def ratios_table(_data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Rate over Reno's by equation 2 over the loss rate, beta = 0.875, for three alphas."""
    return pl.DataFrame(
        {"p": LOSSES}
        | {
            f"{name} {alpha:.4f}": friendly.rate_ratio(alpha, formulas.BETA, LOSSES)
            for name, alpha in formulas.three_alphas().items()
        }
    )


def windows_table(_data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Windows of both models step by step, packets."""
    return pl.DataFrame(
        {
            f"{name}_{model}_packets": windows.course(model)[:, at]
            for model in (windows.SYNCHRONOUS, windows.ALONE)
            for at, name in enumerate(("gaimd", "tcp"))
        }
    )


def friendliness_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Means of each cell under one setting: normalised rates, loss rate, spread of single flows.

    The crossover.
    """
    setting = experiment.arguments["setting"]
    found = cell_table(data, "friendliness", [setting]).filter(
        ~pl.col("metric").str.starts_with("flows.")
    )
    rows = [
        (
            "friendliness",
            setting,
            "crossover",
            rule,
            "flows",
            crossed.mean,
            crossed.half_width,
        )
        for rule in data.boards["friendliness"].rules
        for crossed in (crossover(data, "friendliness", setting, rule),)
    ]
    return pl.concat([found, pl.DataFrame(rows, schema=found.schema, orient="row")])


def crossover(data: Data, plan: str, setting: str, rule: str) -> Estimate:
    """Crossover with its interval, in flows in all."""
    return data.estimate(
        lambda chosen: quantities.crossover(chosen.means(plan), setting, rule), [plan]
    )


def crossovers(data: Data) -> pl.DataFrame:
    """Crossover by assumption, with its interval; 2 and 128 flows are the ends of what was run."""
    rows: list[tuple[object, ...]] = []
    for setting in data.boards["assumed"].settings:
        what, other = setting.rsplit("/", 1)
        found = crossover(data, "assumed", setting, quantities.PAIR)
        rows.append((what, f"crossover beside {other}", found.mean, found.half_width))
    return pl.DataFrame(
        rows, schema=["assumed", "what", "value", "ci95"], orient="row", infer_schema_length=None
    )


def assumed_table(data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Crossovers in flows, and all that is measured of predictions, by assumption."""
    accuracy = cell_table(data, "assumed-accuracy").select(
        assumed="setting", what="metric", value="value", ci95="ci95"
    )
    return pl.concat([crossovers(data), accuracy])


def rates_table(data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Coefficients of variation and round trip."""
    return cell_table(data, "rates")


def beside(data: Data) -> dict[str, Estimate]:
    """Give our number for each printed one, with its interval where it was simulated."""
    found: dict[str, Estimate] = {}
    for row in published():
        claim = ours(row)
        quantity = getattr(quantities, claim.quantity)
        found[row["name"]] = data.estimate(
            lambda chosen, claim=claim, quantity=quantity: quantity(chosen, claim), claim.plans
        )
    return found


def published_table(data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Every printed number next to ours, with the relative difference and our half-width."""
    found = beside(data)
    rows = [
        (
            row["name"], row["what"], row["place"], float(row["value"]),
            found[row["name"]].mean, found[row["name"]].half_width,
        )
        for row in published()
    ]  # fmt: skip
    columns = ["name", "what", "place", "printed", "ours", "ci95"]
    table = pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
    return table.with_columns(relative_difference=pl.col("ours") / pl.col("printed") - 1)
