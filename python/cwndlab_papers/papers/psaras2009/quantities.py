"""Numbers that are psaras2009's own: theory, the fit of the error rate, and orders of increases."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cwndlab.theory import growth
from cwndlab_papers import Claim, Data
from cwndlab_papers import quantities as common
from cwndlab_papers.papers.psaras2009 import model
from cwndlab_papers.published import Printed, read_published
from cwndlab_papers.quantities import rules, settings

LINK_DELAY_MS = 20.0
"""One way, of the link of section 2; access delays come on top of it."""


# Theory


def sawtooth_efficiency(_data: Data, _claim: Claim) -> float:
    """Difference between the areas under the sawtooths of a = 1 and a = 0.5, over the capacity."""
    return abs(model.sawtooth(1).efficiency(cycles=8) - model.sawtooth(0.5).efficiency(cycles=8))


def sawtooth_events(_data: Data, _claim: Claim) -> float:
    """Relative difference from a half of the ratio of congestion events, a = 0.5 over a = 1."""
    return abs(model.events_per_round_trip(0.5) / model.events_per_round_trip(1) / 0.5 - 1)


def rounds_to_double(_data: Data, claim: Claim) -> float:
    """Round trips from 20 packets to 40."""
    return float(model.rounds_to_double(claim["law"], claim["acceleration"]))


def rounds_off(data: Data, claim: Claim) -> float:
    """Give how far the round trips to double are from those stated, relative."""
    return abs(rounds_to_double(data, claim) / claim["rounds"] - 1)


def slowed_by_marks(_data: Data, claim: Claim) -> float:
    """Packets that some round trips add with a' = 0.005, over what they add with a' = 0.5."""
    added = [
        growth.windows(
            model.FIRST_WINDOW, claim["rounds"], acceleration=acceleration, law=claim["law"]
        )[-1]
        - model.FIRST_WINDOW
        for acceleration in (0.005, 0.5)
    ]
    return float(added[0] / added[1])


# Orders of increases


def rising(data: Data, claim: Claim) -> float:
    """Least ratio of the metric from one rule of `of` to the next, over the cases."""
    means = data.means(claim["plan"])
    chosen = [means.cases.index(case) for case in claim["cases"]]
    values = np.array([
        means.value(claim["metric"], setting, rule)[chosen]
        for setting in settings(means, claim)
        for rule in rules(data, claim)
    ])  # fmt: skip
    return float(np.min(values[1:] / values[:-1]))


def spread(data: Data, claim: Claim) -> float:
    """Largest difference between two of the rules in one case."""
    means = data.means(claim["plan"])
    chosen = [means.cases.index(case) for case in claim["cases"]]
    setting = settings(means, claim)[0]
    values = np.array(
        [means.value(claim["metric"], setting, rule)[chosen] for rule in rules(data, claim)]
    )
    return float(np.max(np.ptp(values, axis=0)))


def contention(data: Data, claim: Claim) -> float:
    """Goodput in the plan's last case over that in its first."""
    means = data.means(claim["plan"])
    values = means.value(claim["metric"], settings(means, claim)[0], rules(data, claim)[0])
    return float(values[-1] / values[0])


def increase_ratio(data: Data, claim: Claim) -> float:
    """Mean increase in the first of two cases over that in the second."""
    means = data.means(claim["plan"])
    values = means.value(claim["metric"], settings(means, claim)[0], rules(data, claim)[0])
    first, second = (float(values[means.cases.index(case)]) for case in claim["cases"])
    return first / second


# Beside what is printed


def printed(id: str, unit: str) -> list[Printed]:
    """Return the printed numbers of an experiment that have a unit."""
    numbers = read_published(Path(__file__).parent / "published.toml")
    return [number for number in numbers if (number.claim.id, number.unit) == (id, unit)]


def furthest_from_printed(data: Data, claim: Claim) -> float:
    """Largest relative difference between ours and the printed numbers of a unit."""
    return max(
        abs(common.value(data, number.claim) / number.value - 1)
        for number in printed(claim.id, claim["unit"])
    )


# The reading of the error rate


def fit(delays_ms: np.ndarray, goodputs: np.ndarray, targets: np.ndarray) -> tuple[float, float]:
    """Find the access delay at which goodputs are nearest to printed ones.

    Goodput is taken to change with the round trip as a power law between the delays that were run.

    Parameters
    ----------
    delays_ms : ndarray, shape (delays,)
        Access delays that were run, ms, rising.
    goodputs : ndarray, shape (delays, cells)
        Ours, in any unit.
    targets : ndarray, shape (cells,)
        Printed, in the same unit.

    Returns
    -------
    (float, float)
        The delay, ms, and the root mean square of the logarithms of ours over theirs there.
    """
    delays, misfit = _between(delays_ms, goodputs, targets)
    best = int(np.argmin(misfit))
    return float(delays[best]), float(misfit[best])


def _between(
    delays_ms: np.ndarray, goodputs: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    round_trips: np.ndarray = np.log(2 * (delays_ms + LINK_DELAY_MS))
    tried = np.linspace(float(round_trips[0]), float(round_trips[-1]), 2001)
    known: np.ndarray = np.log(goodputs / targets)
    logs = np.array([np.interp(tried, round_trips, known[:, at]) for at in range(known.shape[1])])
    return np.exp(tried) / 2 - LINK_DELAY_MS, np.sqrt(np.mean(logs**2, axis=0))


def readings_of(data: Data) -> list[str]:
    """Return the readings of the error rate that were run."""
    return list(dict.fromkeys(case.split("; ")[0] for case in data.boards["readings"].cases))


def measured(data: Data, reading: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give access delays in ms, our goodputs in KB/s by delay and cell, and the printed ones."""
    means = data.means("readings")
    delays = list(dict.fromkeys(case.split("; ")[1] for case in means.cases))
    numbers = printed("table2", "KB/s")
    goodputs = [
        [
            means.value(
                "aggregate_goodput_bps", means.settings[0], data.rule(number.claim["of"][0])
            )[means.cases.index(f"{reading}; {delay}; {number.claim['cases'][0].split('; ')[2]}")]
            / 8000
            for number in numbers
        ]
        for delay in delays
    ]
    ms = [float(delay.split()[0]) for delay in delays]
    return np.array(ms), np.array(goodputs), np.array([number.value for number in numbers])


def misfits(data: Data, reading: str) -> tuple[np.ndarray, np.ndarray]:
    """Misfit of a reading against the access delay in ms, between the delays that were run."""
    return _between(*measured(data, reading))


def fitted(data: Data, reading: str) -> tuple[float, float]:
    """Fit the access delay of a reading to the ten printed goodputs.

    The delay in ms, and the misfit there.
    """
    return fit(*measured(data, reading))
