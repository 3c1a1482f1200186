"""Runs the searches of docs/design.md, and writes its tables and pictures.

``python docs/designs.py [PART...]`` takes about ten minutes on two quiet processors, most of it for
the 36 rules (part ``linear``); runs are kept in ``out/designs``, so that it resumes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from cwndlab import design, plots
from cwndlab.designs import DesignResult
from cwndlab.designs.aims import Aim
from cwndlab.designs.conditions import Conditions, Meter, reduced
from cwndlab.designs.page import with_interval
from cwndlab.designs.result import Designed
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


@styled
def delay_figure(linear: DesignResult, delay_based: DesignResult) -> Figure:
    """Draw goodput over queueing delay: both frontiers, and the rules in use."""
    figure, (axes,) = panels(1, 1, width=6.4, height=3.8)
    for found, color, name in (
        (linear, "#d55e00", "linear rules"), (delay_based, "#0072b2", "rules that read qdelay"),
    ):  # fmt: skip
        points = _points(found.frontier)
        fair = points[:, 2] >= FAIR
        axes.plot(*points[fair, :2].T, "o", color=color, label=name)
        axes.plot(*points[~fair, :2].T, "o", color=color, markerfacecolor="none")
    axes.plot([], [], "o", color="#777777", markerfacecolor="none", label=f"Jain's index < {FAIR}")
    for one, (x, y, _) in zip(linear.references, _points(linear.references), strict=True):
        axes.plot(x, y, "k*", markersize=9)
        axes.annotate(one.rule, (x, y), textcoords="offset points", xytext=(7, -12), fontsize=8)
    axes.set_xlabel("mean queueing delay [ms]: shorter is better")
    axes.set_ylabel("goodput / available: more is better")
    axes.legend(fontsize=8, loc="lower right")
    _headline(figure, "At equal goodput, rules that read the queueing delay wait less")
    return figure


def _points(rules: Sequence[Designed]) -> np.ndarray:
    """Return delay in ms, goodput and Jain's index of each rule on the hidden conditions."""
    scales = ((Aim.read("delay"), 1e3), *((aim, 1.0) for aim in AIMS))
    return np.array([[scale * one.hidden[aim.text].mean for aim, scale in scales] for one in rules])


@styled
def linear_figure(settings: list[Setting]) -> Figure:
    """Draw the 36 rules and the frontier, a panel for each setting."""
    figure, places = panels(1, len(settings), width=4.0 * len(settings), height=3.6, sharey=True)
    colors = dict(zip(FAMILIES, ("#d55e00", "#009e73", "#cc79a7", "#e69f00"), strict=True))
    for axes, setting in zip(places, settings, strict=True):
        for family, marker in FAMILIES.items():
            points = np.array(
                [setting.values[rule].mean(axis=1) for rule in setting.rules
                 if rule.startswith(family)]
            )  # fmt: skip
            axes.plot(points[:, 0], points[:, 1], marker, color=colors[family], markersize=4,
                      label=family, linestyle="none")  # fmt: skip
        best = np.array([setting.values[rule].mean(axis=1) for rule in setting.frontier])
        best = best[np.argsort(best[:, 0])]
        axes.plot(best[:, 0], best[:, 1], "-o", color="#0072b2", markersize=4,
                  label="frontier of linear rules")  # fmt: skip
        axes.set_title(setting.name)
        axes.set_xlabel("goodput / available")
    places[0].set_ylabel("Jain's index")
    places[0].legend(fontsize=8, loc="lower left")
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
    _draw(delay_figure(linear, delay_based), "design-delay-based.png")
    return {"better": better_table(linear), "delay-based": better_table(delay_based)}


PARTS = {"friendly": draw_friendly, "linear": draw_linear, "better": draw_better}


def main(names: Sequence[str]) -> int:
    """Run the searches of some parts or all, and write their tables and pictures."""
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
    return 0


def _draw(figure: Figure, name: str) -> None:
    plots.save(figure, IMAGES / name)
    reduce_colours(IMAGES / name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
