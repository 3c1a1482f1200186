"""Runs the searches of docs/design.md, and writes its tables and pictures.

``python docs/designs.py [PART...]`` takes about ten minutes on two quiet processors, most of it for
the 36 rules (part ``linear``); runs are kept in ``out/designs``, so that it resumes. ``--draw``
only draws the picture of goodput over queueing delay again, from the tables of docs/design.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from cwndlab import design, plots
from cwndlab.designs import DesignResult
from cwndlab.designs.aims import Aim
from cwndlab.designs.conditions import Conditions, Meter, reduced
from cwndlab.designs.page import with_interval
from cwndlab.plots.style import panels, styled
from cwndlab.runs.store import Store
from cwndlab.sweeps import Sweep
from cwndlab.theory import friendly
from cwndlab.theory.notation import parse
from cwndlab.theory.rules import Linear
from parts.pictures import reduce_colours

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
STORE = ROOT / "out" / "designs"
PAGE = ROOT / "docs" / "design.md"
APPENDIX = ROOT / "python/cwndlab_papers/papers/akella2002/plans/appendix.toml"
SETTINGS = (("sack", "drop-tail"), ("sack", "red"), ("reno", "drop-tail"))
AIMS = (Aim.read("goodput"), Aim.read("fairness"))
REPLICATES = 10
SEED = 300_001
"""Of the runs of the 36 rules and of the frontier: no search used it."""
FAIR = 0.9
"""Jain's index below which a rule is drawn hollow."""
FAMILIES = {"AIMD": "o", "AIAD": "s", "MIMD": "^", "MIAD": "v"}


@styled
def friendly_figure(found: DesignResult) -> Figure:
    """Draw the frontier of examples/designs/friendly.toml over the curves of the theory."""
    figure, (axes,) = panels(1, 1, width=6.0, height=3.6)
    beta = np.linspace(0.3, 0.92, 100)
    axes.fill_between(beta, friendly.td_alpha(beta), friendly.to_alpha(beta), color="#dddddd")
    axes.plot(beta, friendly.td_alpha(beta), "-", color="#555555", label="equation 6, no timeouts")
    axes.plot(beta, friendly.to_alpha(beta), "--", color="#555555", label="equation 7, timeouts")
    points = np.array([_numbers(one.rule) for one in found.frontier])
    axes.plot(points[:, 1], points[:, 0], "o", color="#0072b2", label="frontier of the search")
    axes.set_xlabel("b: share of the window that is kept on loss")
    axes.set_ylabel("a: packets added per RTT")
    axes.legend()
    _headline(figure, "The search finds the TCP-friendly rules of the theory by itself")
    return figure


def _headline(figure: Figure, text: str) -> None:
    figure.suptitle(text, x=0.01, ha="left", fontsize=11, fontweight="bold")


def _numbers(rule: str) -> list[float]:
    return [float(text) for text in re.findall(r"-?[\d.]+", rule)]


def _within_bounds(rule: str) -> str:
    """Return the nearest rule to a linear one that the search may find.

    A term of exactly nothing is at the edge, where a rule may never grow or never shrink.
    """
    found = parse(rule)
    assert isinstance(found, Linear)
    return f"Linear({max(found.ai, 0.01)}, {found.bi}, {found.ad}, {min(found.bd, 0.999)})"


class Setting:
    """The frontier of linear rules in one setting, and the 36 rules of Akella et al. beside it."""

    def __init__(self, recovery: str, queue: str, rules: list[str], store: Store) -> None:
        self.name: str = f"{recovery}/{queue}"
        sets = {
            name: {"env": env, "queue": queue, "recovery": recovery}
            for name, env in (
                ("training", ["CL", "SQH", "RDL"]), ("validation", ["CH", "RWL"]),
                ("hidden", ["SQL", "RWA", "RDH", "RWH"]),
            )
        }  # fmt: skip
        found = design(
            family="Linear(?, ?, ?, ?)", objectives=[aim.text for aim in AIMS],
            start=[_within_bounds(rule) for rule in rules],
            profile="ns2-2.35", duration="60s", budget=320, replicates=2, confirm=2,
            robustness=False, against=["AIMD(1, 0.5)"], store=store, **sets,
        )  # fmt: skip
        self.frontier: list[str] = [one.rule for one in found.frontier]
        self.rules: list[str] = rules
        block = Conditions(
            env=tuple(sets["hidden"]["env"]), queue=(queue,), recovery=(recovery,), duration="60s",
            profile="ns2-2.35",
        )  # fmt: skip
        measured = Meter(store, None, None).measure(
            block, [*self.frontier, *rules], AIMS, seed=SEED, replicates=REPLICATES
        )
        self.values: dict[str, np.ndarray] = {
            rule: reduced(values, AIMS) for rule, values in measured.items()
        }

    def distance(self, rule: str, replicates: np.ndarray) -> float:
        """Return how far a rule is from the frontier, in the mean of some replicates.

        It is the smallest number that, added to goodput and to Jain's index of the rule, puts it on
        the frontier; below 0 for a rule beyond it.
        """
        own = self.values[rule][:, replicates].mean(axis=1)
        return max(
            float((self.values[best][:, replicates].mean(axis=1) - own).min())
            for best in self.frontier
        )

    def interval(self, rule: str) -> tuple[float, float, float]:
        """Return the distance and its 95 % interval, by bootstrap over replicates."""
        drawn = np.random.default_rng(1).integers(0, REPLICATES, (400, REPLICATES))
        many = [self.distance(rule, replicates) for replicates in drawn]
        low, high = np.quantile(many, (0.025, 0.975))
        return self.distance(rule, np.arange(REPLICATES)), float(low), float(high)


class Point(NamedTuple):
    """A rule on the hidden conditions, and whether it is of a frontier or in use."""

    kind: str
    rule: str
    delay_ms: float
    goodput: float
    jain: float


KINDS = {"linear rules": "#d55e00", "rules that read the queueing delay": "#0072b2"}
IN_USE = "in use"
TABLES = dict(zip(("better", "delay-based"), KINDS, strict=True))


def delay_points(page: str) -> list[Point]:
    r"""Read the rules of both searches from the tables of docs/design.md.

    Examples
    --------
    >>> delay_points("<!-- designs: better -->\n"
    ...              "| `Linear(1, 2, 3, 0.5)` | 0.9 [0.8, 1.0] | 50.5 [50, 51] | 0.95 | - |\n"
    ...              "| `CUBIC` | 0.8 [0.7, 0.9] | 60.0 [59, 61] | 0.9 | - |\n<!-- end -->")[0]
    Point(kind='linear rules', rule='Linear(1, 2, 3, 0.5)', delay_ms=50.5, goodput=0.9, jain=0.95)
    """
    found: dict[str, Point] = {}
    for name, kind in TABLES.items():
        for part in re.findall(rf"<!-- designs: {name} -->\n(.*?)<!-- end -->", page, re.DOTALL):
            for rule, *cells in re.findall(
                r"^\| `(.+)` \| ([\d.]+).*? \| ([\d.]+).*? \| ([\d.]+)", part, re.MULTILINE
            ):
                goodput, delay, jain = map(float, cells)
                is_found = rule.startswith(("Linear(", "Rule("))
                found[rule] = Point(kind if is_found else IN_USE, rule, delay, goodput, jain)
    return list(found.values())


def delay_headline(points: Sequence[Point]) -> str:
    """Say how much less fair rules wait that read the queueing delay, at the goodput of others.

    Of each fair linear rule, and of each in use, the wait is compared with the shortest of a
    delay-based rule that is as fair and has no less goodput.
    """
    reading = list(KINDS)[-1]
    less = [
        1 - min(waits) / one.delay_ms
        for one in points
        if one.kind != reading and one.jain >= FAIR
        and (waits := [other.delay_ms for other in points if other.kind == reading
                       and other.jain >= FAIR and other.goodput >= one.goodput])
    ]  # fmt: skip
    least, most = 100 * min(less), 100 * max(less)
    verb = "wait" if least > 0 else "do not always wait"
    return (
        f"With as much goodput, rules that read the queueing delay {verb} "
        f"{least:.0f} to {most:.0f} % less"
    )


@styled
def delay_figure(points: Sequence[Point]) -> Figure:
    """Draw goodput over queueing delay: both frontiers, and the rules in use."""
    figure, (axes,) = panels(1, 1, width=7.2, height=4.0)
    for kind, color in KINDS.items():
        own = sorted((one for one in points if one.kind == kind), key=lambda one: one.delay_ms)
        fair = [one for one in own if one.jain >= FAIR]
        axes.plot([one.delay_ms for one in fair], [one.goodput for one in fair], "-o", color=color,
                  linewidth=1.2, markersize=6)  # fmt: skip
        unfair = [one for one in own if one.jain < FAIR]
        axes.plot([one.delay_ms for one in unfair], [one.goodput for one in unfair], "o",
                  color=color, markerfacecolor="white", alpha=0.6)  # fmt: skip
    for kind, at in zip(KINDS, ((68.5, 0.926), (33, 0.946)), strict=True):  # fmt: skip
        axes.text(*at, kind.replace(" the", "\nthe"), color=KINDS[kind], weight="bold",
                  fontsize=9)  # fmt: skip
    for one in (one for one in points if one.kind == IN_USE):
        axes.plot(one.delay_ms, one.goodput, "k*", markersize=10)
        axes.annotate(one.rule, (one.delay_ms, one.goodput), textcoords="offset points",
                      xytext=(8, -4), fontsize=9)  # fmt: skip
    axes.set_xlabel("mean queueing delay [ms], shorter is better")
    axes.set_ylabel("goodput / available, more is better")
    axes.set_title(f"hollow: unfair, Jain's index below {FAIR}; star: in use",
                   fontsize=9, fontweight="normal")  # fmt: skip
    _headline(figure, delay_headline(points))
    return figure


def beyond_headline(settings: Sequence[Setting]) -> str:
    """Say how many of the rules the search did not reach, in each setting."""
    everyone = np.arange(REPLICATES)
    counts = ", ".join(
        f"{sum(setting.distance(rule, everyone) < 0 for rule in setting.rules)} of "
        f"{len(setting.rules)} with {setting.name.replace('/', ' and ')}"
        for setting in settings
    )
    return f"Rules of Akella et al. beyond the frontier of the search: {counts}"


@styled
def linear_figure(settings: list[Setting]) -> Figure:
    """Draw the 36 rules and the frontier, a panel for each setting."""
    figure, places = panels(
        1, len(settings), width=4.0 * len(settings), height=3.8, sharex=True, sharey=True
    )
    colors = dict(zip(FAMILIES, ("#d55e00", "#009e73", "#cc79a7", "#e69f00"), strict=True))
    for axes, setting in zip(places, settings, strict=True):
        for family, marker in FAMILIES.items():
            points = np.array(
                [setting.values[rule].mean(axis=1) for rule in setting.rules
                 if rule.startswith(family)]
            )  # fmt: skip
            axes.plot(points[:, 0], points[:, 1], marker, color=colors[family], markersize=4.5,
                      label=family, linestyle="none")  # fmt: skip
        best = np.array([setting.values[rule].mean(axis=1) for rule in setting.frontier])
        best = best[np.argsort(best[:, 0])]
        # Above all points: the frontier is what they are compared with.
        axes.plot(best[:, 0], best[:, 1], "-*", color="#000000", markersize=11, linewidth=1.2,
                  markeredgecolor="white", zorder=5, label="frontier of the search")  # fmt: skip
        axes.set_title(setting.name.replace("/", ", "))
        axes.set_xlabel("goodput / available")
    places[0].set_ylabel("Jain's index")
    figure.legend(*places[0].get_legend_handles_labels(), loc="outside lower center",
                  ncols=len(FAMILIES) + 1)  # fmt: skip
    _headline(figure, beyond_headline(settings))
    return figure


def linear_table(settings: list[Setting]) -> str:
    """Write the nearest and the farthest of each family, and the frontier."""
    lines: list[str] = []
    for setting in settings:
        far = {rule: setting.interval(rule) for rule in setting.rules}
        lines += [
            f"**{setting.name}**: the frontier is "
            f"{', '.join(f'`{rule}`' for rule in setting.frontier)}.",
            "",
            "| family | nearest rule | distance, 95 % CI | farthest rule | distance, 95 % CI |",
            "| --- | --- | --- | --- | --- |",
        ]  # fmt: skip
        for family in FAMILIES:
            own = sorted((rule for rule in far if rule.startswith(family)), key=lambda r: far[r][0])
            cells = [
                cell for rule in (own[0], own[-1])
                for cell in (rule, "{:.3f} [{:.3f}, {:.3f}]".format(*far[rule]))
            ]  # fmt: skip
            lines.append(f"| {family} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def better_table(found: DesignResult) -> str:
    """Write a frontier, and which of the known rules each rule beats."""
    aims = found.aims
    lines = [
        f"| rule | {' | '.join(aim.title for aim in aims)} | better than |",
        f"| --- |{' --- |' * len(aims)} --- |",
    ]
    for one in (*found.frontier, *found.references):
        beaten = [other for other in one.differences if found.beats(one, other)]
        values = [with_interval(one.hidden[aim.text], aim) for aim in aims]
        lines.append(f"| `{one.rule}` | {' | '.join(values)} | {', '.join(beaten) or '-'} |")
    return "\n".join(lines) + "\n"


def _searched(name: str, store: Store) -> DesignResult:
    found = design(ROOT / f"examples/designs/{name}.toml", store=store)
    print(name, len(found.frontier), flush=True)
    return found


def draw_friendly(store: Store) -> dict[str, str]:
    """Search AIMD rules without harm to AIMD(1, 0.5)."""
    _draw(friendly_figure(_searched("friendly", store)), "design-friendly.png")
    return {}


def draw_linear(store: Store) -> dict[str, str]:
    """Measure the 36 rules beside the frontier of linear rules."""
    rules = list(Sweep.load(APPENDIX).axes["rule"])
    settings = []
    for recovery, queue in SETTINGS:
        settings.append(Setting(recovery, queue, rules, store))
        print(settings[-1].name, len(settings[-1].frontier), flush=True)
    _draw(linear_figure(settings), "design-linear.png")
    return {"linear": linear_table(settings)}


def draw_better(store: Store) -> dict[str, str]:
    """Search linear rules and delay-based rules that are better than those in use."""
    linear, delay_based = (_searched(name, store) for name in ("better", "delay-based"))
    return {"better": better_table(linear), "delay-based": better_table(delay_based)}


def draw_delay() -> None:
    """Draw what both tables of the page say."""
    _draw(delay_figure(delay_points(PAGE.read_text(encoding="utf-8"))), "design-delay-based.png")


PARTS = {"friendly": draw_friendly, "linear": draw_linear, "better": draw_better}


def main(names: Sequence[str]) -> int:
    """Run the searches of some parts or all, and write their tables and pictures."""
    if list(names) == ["--draw"]:
        draw_delay()
        return 0
    if unknown := sorted({*names} - {*PARTS}):
        print(f"part: {unknown[0]!r} is not known: expected {', '.join(PARTS)}", file=sys.stderr)
        return 2
    with Store(STORE) as store:
        for name in names or PARTS:
            for place, table in PARTS[name](store).items():
                text = PAGE.read_text(encoding="utf-8")
                text = re.sub(
                    rf"<!-- designs: {place} -->\n.*?<!-- end -->",
                    lambda _, place=place, table=table:
                        f"<!-- designs: {place} -->\n{table}<!-- end -->",
                    text, flags=re.DOTALL,
                )  # fmt: skip
                PAGE.write_text(text, encoding="utf-8")
    draw_delay()
    return 0


def _draw(figure: Figure, name: str) -> None:
    plots.save(figure, IMAGES / name)
    reduce_colours(IMAGES / name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
