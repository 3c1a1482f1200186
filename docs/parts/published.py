"""Figures of published papers, drawn from runs of cwndlab: the parts of docs/published.md.

Each is one command, a sweep of examples/published. ``published NAME`` is the command, its picture
and whether the paper's finding is there, by the numbers of the same runs. These are kept in
``out/published``; all of them take about a minute on two processors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import cwndlab
from parts.text import ROOT

FOLDER = "docs/images/published"
STORE = "out/published"


class Numbers:
    """Means of the cells of a sweep.

    Parameters
    ----------
    found : SweepResult
        The sweep.
    """

    def __init__(self, found: cwndlab.SweepResult) -> None:
        self._found = found

    def __call__(self, metric: str, **cell: str) -> float:
        """Return the mean of a metric in a cell, in the unit of its column.

        The axes of `cell` are named by the last parts of their keys.
        """
        named = {axis.rpartition(".")[2]: axis for axis in self._found.axes}
        chosen = {named[axis]: level for axis, level in cell.items()}
        (mean,) = self._found.summary.filter(metric=metric, **chosen)["mean"]
        return mean


class Figure(NamedTuple):
    """A figure of a paper."""

    options: tuple[str, ...]
    """What the command has beside the sweep's file: a line each."""
    alt: str
    """The picture in words."""
    finding: Callable[[Numbers], tuple[str, str]]
    """Verdict, and a sentence with the measured numbers."""
    keys: Mapping[str, list[str]] = {}
    """Keys that the options add to the sweep."""


def _holds(is_there: bool) -> str:
    return "holds" if is_there else "fails"


def _mathis(mean: Numbers) -> tuple[str, str]:
    window = functools.partial(mean, "flows.flow.mean_cwnd_packets", receiver="ACK per packet")
    ratios = {p: window(p=p) * float(p) ** 0.5 for p in ("0.0003", "0.001", "0.003", "0.01", "0.1")}
    near = [ratios[p] for p in ("0.0003", "0.001", "0.003", "0.01")]
    return _holds(all(1.1 < ratio < 1.35 for ratio in near) and ratios["0.1"] < 1.0), (
        f"with an ACK per packet the window times √p is {min(near):.2f} to {max(near):.2f} up to "
        f"p = 0.01, and {ratios['0.1']:.2f} at p = 0.1, where many losses end in timeouts."
    )


def _padhye(mean: Numbers) -> tuple[str, str]:
    rate_bps = {p: mean("flows.flow.goodput_bps", p=p) for p in ("0.001", "0.1", "0.3")}
    without = {p: 8000 / 0.1 * (1.5 / float(p)) ** 0.5 for p in rate_bps}
    above = {p: without[p] / rate_bps[p] for p in rate_bps}
    return _holds(above["0.001"] < 1.2 and above["0.1"] > 2), (
        f"the formula without timeouts is {above['0.001']:.2f} times the rate at p = 0.001, "
        f"{above['0.1']:.1f} times at 0.1 and {above['0.3']:.0f} times at 0.3. The one with "
        "timeouts stays close to the points up to p = 0.1; beyond that it is too low, as losses "
        "here are independent and end in a timeout less often."
    )


def _floyd(mean: Numbers) -> tuple[str, str]:
    window = functools.partial(mean, "flows.flow.mean_cwnd_packets")
    high, standard = (window(p="1e-05", rule=rule) for rule in ("HighSpeed", "AIMD(1, 0.5)"))
    same = window(p="0.01", rule="HighSpeed") / window(p="0.01", rule="AIMD(1, 0.5)")
    return _holds(high > 3 * standard and abs(same - 1) < 0.1), (
        f"at p = 0.00001 the windows are {high:.0f} and {standard:.0f} packets (the response "
        f"functions give 1794 and 386), at p = 0.01 they differ by {100 * abs(same - 1):.0f} %."
    )


def _appenzeller(mean: Numbers) -> tuple[str, str]:
    used = functools.partial(mean, "links.bottleneck.utilization")
    cells = {"25 flows": "0.2bdp", "100 flows": "0.1bdp", "400 flows": "0.05bdp"}
    found = [100 * used(flows=flows, limit=limit) for flows, limit in cells.items()]
    return _holds(min(found) > 97), (
        "with 1/√n of the bandwidth-delay product, which is 0.2, 0.1 and 0.05, the link of 25, 100 "
        f"and 400 flows is used to {found[0]:.1f}, {found[1]:.1f} and {found[2]:.1f} %."
    )


def _dukkipati(mean: Numbers) -> tuple[str, str]:
    time_s = functools.partial(mean, "arrivals.web.mean_fct_s")
    three, ten, most = (time_s(window=f"{count} packets") for count in (3, 10, 42))
    return ("differs" if ten < 0.85 * three else _holds(ten < three)), (
        f"the mean falls from {1e3 * three:.0f} to {1e3 * ten:.0f} ms, by "
        f"{100 * (1 - ten / three):.0f} %, more than the tenth of the paper, whose responses also "
        "wait for a server. A window of 42 packets brings little more: "
        f"{1e3 * most:.0f} ms."
    )


def _alizadeh(mean: Numbers) -> tuple[str, str]:
    queue = {name: mean("links.bottleneck.mean_queue_packets", sender=name)
             for name in ("TCP", "DCTCP")}  # fmt: skip
    used = mean("links.bottleneck.utilization", sender="DCTCP")
    return _holds(queue["DCTCP"] < 25 and queue["TCP"] > 200 and used > 0.99), (
        f"the mean queue of DCTCP is {queue['DCTCP']:.0f} packets, that of TCP {queue['TCP']:.0f}; "
        f"DCTCP uses the link to {100 * used:.1f} %."
    )


def _carofiglio(mean: Numbers) -> tuple[str, str]:
    first, late = (1e-6 * mean(f"groups.{name}.goodput_bps") for name in ("first", "latecomer"))
    return _holds(late > 3 * first), (
        f"from 100 to 120 s the first flow has {first:.1f} Mbit/s and the second {late:.1f} Mbit/s."
    )


def _nichols(mean: Numbers) -> tuple[str, str]:
    delay = functools.partial(mean, "links.bottleneck.p50_queueing_delay_s")
    used = functools.partial(mean, "links.bottleneck.utilization", rate="100Mbit")
    low, high = (1e3 * delay(rate=rate, queue="codel") for rate in ("100Mbit", "3Mbit"))
    full = 1e3 * delay(rate="3Mbit", queue="drop-tail")
    return _holds(high < 20 and full > 1000), (
        f"from 100 down to 3 Mbit/s the median delay of CoDel rises from {low:.1f} to {high:.0f} "
        f"ms, that of tail drop to {full:.0f} ms. RED, with parameters for any rate, keeps the "
        "delay low as well, but at 100 Mbit/s it uses the link to "
        f"{100 * used(queue='red'):.0f} %, CoDel to {100 * used(queue='codel'):.0f} %."
    )


def _cardwell(mean: Numbers) -> tuple[str, str]:
    rate = functools.partial(mean, "flows.flow.goodput_bps")
    bbr = {p: 1e-6 * rate(p=p, rule="BBR1") for p in ("0.05", "0.15", "0.2")}
    cubic = [1e-6 * rate(p=p, rule="CUBIC") for p in ("1e-05", "0.001", "0.01")]
    return _holds(cubic[1] < 0.1 * cubic[0] and bbr["0.05"] > 85), (
        f"CUBIC falls from {cubic[0]:.0f} to {cubic[1]:.1f} Mbit/s at p = 0.001 and to "
        f"{cubic[2]:.1f} Mbit/s at 0.01; BBR has {bbr['0.05']:.0f} Mbit/s at p = 0.05, "
        f"{bbr['0.15']:.0f} at 0.15 and {bbr['0.2']:.0f} at 0.2, where its gain "
        "of 1.25 no longer makes up for the losses."
    )


def _ware(mean: Numbers) -> tuple[str, str]:
    shares = [100 * mean("groups.bbr.share", count=str(count)) for count in (1, 2, 4, 8, 16)]
    return _holds(max(shares) - min(shares) < 5 and min(shares) > 35), (
        f"the share of the BBR flow is {min(shares):.0f} to {max(shares):.0f} %, against one CUBIC "
        f"flow and against sixteen; an equal share of seventeen is 6 %."
    )


LOSS = "--label 'dumbbell.loss.0.p=loss probability p'"
WINDOW = "--label 'flows.flow.mean_cwnd_packets=mean window'"
FIGURES = {
    "mathis1997": Figure(
        (
            "--x dumbbell.loss.0.p --y flows.flow.mean_cwnd_packets --hue receiver --log y",
            "--curve '1.22/√p=1.22/sqrt(x)' --curve '0.87/√p=0.87/sqrt(x)'",
            f"{LOSS} {WINDOW}",
            "--title 'The window of TCP with SACK follows C/√p'",
        ),
        "Mean window over the loss probability, both logarithmic: two rows of points on two "
        "straight lines, which they leave downwards from p = 0.03 on",
        _mathis,
    ),
    "padhye1998": Figure(
        (
            "--x dumbbell.loss.0.p --log y",
            "--curve 'without timeouts=0.08*sqrt(1.5/x)'",
            "--curve 'with timeouts=0.008/(0.1*sqrt(2*x/3) + min(1, 3*sqrt(3*x/8))*x*(1+32*x^2))'",
            f"{LOSS} --label 'flows.flow.goodput_bps=rate'",
            "--title 'Frequent losses: the formula without timeouts is far too high'",
        ),
        "Rate over the loss probability, both logarithmic: the points fall away from the straight "
        "line without timeouts and stay near the bent line with timeouts",
        _padhye,
    ),
    "floyd2003": Figure(
        (
            "--x dumbbell.loss.0.p --hue rule --log y",
            "--curve '0.12/p^0.835=0.12/x^0.835' --curve '1.22/√p=1.22/sqrt(x)'",
            f"{LOSS} {WINDOW} --label 'AIMD(1, 0.5)=standard TCP'",
            "--title 'Below p = 0.001 the windows of HighSpeed TCP are larger'",
        ),
        "Mean window over the loss probability, both logarithmic: HighSpeed TCP and standard TCP "
        "are one line above p = 0.001 and part below it, each along its formula",
        _floyd,
    ),
    "appenzeller2004": Figure(
        (
            "--x dumbbell.queue.limit --hue flows --label dumbbell.queue.limit=buffer",
            "--label links.bottleneck.utilization=utilization",
            "--title 'The more flows, the smaller the buffer that keeps a link busy'",
        ),
        "Utilization over the buffer from 0.02 to 1 bandwidth-delay products: 400 flows reach 100 "
        "% first, 25 flows last",
        _appenzeller,
    ),
    "dukkipati2010": Figure(
        (
            "--cdf fct_s --hue window --log x --label 'window=initial window'",
            "--title 'An initial window of 10 instead of 3 packets saves a round trip'",
        ),
        "Cumulative distribution of completion times: the line for 3 packets lies 90 ms right of "
        "those for 10 and 42 packets, which are nearly the same",
        _dukkipati,
    ),
    "alizadeh2010": Figure(
        (
            "--bands queue --hue sender",
            "--title 'DCTCP holds the queue at K = 20 packets, TCP fills the buffer'",
        ),
        "Queue over one second: TCP is a sawtooth between 240 and 466 packets, DCTCP a level line "
        "at 18 packets",
        _alizadeh,
        {"over_time": ["queue"]},
    ),
    "carofiglio2010": Figure(
        (
            "--bands rate,queue",
            "--title 'A LEDBAT flow that comes later takes the bandwidth of the first'",
        ),
        "Goodput over two minutes: the first flow falls from 9.5 Mbit/s to nothing, the latecomer "
        "rises to 9.5 Mbit/s; below, the queue doubles when it comes",
        _carofiglio,
        {"over_time": ["rate", "queue"]},
    ),
    "nichols2012": Figure(
        (
            "--x dumbbell.rate --hue queue --log y",
            "--label 'dumbbell.rate=rate of the link'",
            "--label 'links.bottleneck.p50_queueing_delay_s=median queueing delay'",
            "--label 'drop-tail=tail drop' --label codel=CoDel --label red=RED",
            "--title 'CoDel keeps the delay low at every rate, without being told it'",
        ),
        "Median queueing delay over the rate of the link, both logarithmic: tail drop falls from 3 "
        "s to 80 ms, CoDel and RED are a hundredfold below",
        _nichols,
    ),
    "cardwell2016": Figure(
        (
            "--x dumbbell.loss.0.p --hue rule",
            "--curve '100 (1 - p)=100*(1 - x)'",
            f"{LOSS} --label flows.flow.goodput_bps=goodput --label BBR1=BBR",
            "--title 'BBR keeps its goodput under random loss, CUBIC does not'",
        ),
        "Goodput over the loss probability: BBR is at 90 Mbit/s up to p = 0.05 and falls at 0.2, "
        "CUBIC is below 10 Mbit/s from p = 0.001 on",
        _cardwell,
    ),
    "ware2019": Figure(
        (
            "--x flows.cubic.count --hue group",
            "--curve 'an equal share=100/(x + 1)'",
            "--label 'flows.cubic.count=CUBIC flows' --label 'BBR1=one BBR flow' "
            "--label 'CUBIC=all CUBIC flows'",
            "--title 'One BBR flow takes two fifths, however many CUBIC flows there are'",
        ),
        "Share of goodput over the number of CUBIC flows: one BBR flow is level at 42 %, all CUBIC "
        "flows together at 58 %; an equal share falls from 50 to 6 %",
        _ware,
    ),
}  # fmt: skip


def file_of(name: str) -> str:
    """Return the sweep of a figure."""
    return f"examples/published/{name}.toml"


def pictures() -> dict[str, str]:
    """Return the picture of each figure, and the command that draws it, as `generate` has them."""
    return {
        f"{FOLDER}/{name}.png": f"cwndlab sweep {file_of(name)} --store {STORE} "
        f"{' '.join(figure.options)} --plot"
        for name, figure in FIGURES.items()
    }


def part(name: str) -> str:
    """Write the command, the picture and the finding of a figure."""
    figure = FIGURES[name]
    lines = (f"cwndlab sweep {file_of(name)} --plot {name}.png", *figure.options)
    command = " \\\n".join(f"{'        ' if number else '    '}{line}"
                           for number, line in enumerate(lines))  # fmt: skip
    found = cwndlab.sweep(ROOT / file_of(name), store=ROOT / STORE, **figure.keys)
    verdict, sentence = figure.finding(Numbers(found))
    picture = f"![{figure.alt}](images/published/{name}.png)"
    return f"{command}\n\n{picture}\n\n**The finding {verdict}:** {sentence}\n"
