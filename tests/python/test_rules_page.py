"""docs/rules.md: no rule is left out, each is written as it is read, and the text says what the
runs show."""

from __future__ import annotations

import re

import polars as pl
import pytest

import cwndlab
from conftest import ROOT
from parts import equations, families, four, pictures

PAGE = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
FAMILIES = list(families.families())


def _run(name: str, rule: str, **patch) -> cwndlab.Result:
    scenario = cwndlab.Scenario.load(ROOT / "examples" / f"rules-{name}.toml").set(
        "flows.*.rule", rule
    )
    return cwndlab.run(
        scenario.patch({key.replace("__", "."): value for key, value in patch.items()})
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_section_a_law_and_a_picture(family):
    assert f"\n### {family}\n\n<!-- generated: rule {family} -->\n" in PAGE
    assert "<-" in equations.law(family) or family.startswith("BBR"), "a law says what becomes of w"
    # Of a single flow, a rule that couples subflows has the picture of NewReno.
    if family in families.of_single_flows():
        assert (ROOT / families.picture(family)).stat().st_size > 5_000
    names = [entry["name"] for entry in families.families()[family]["parameters"]]
    assert all(f"| `{name}` |" in PAGE or f"| `{name}=` |" in PAGE for name in names)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_page_shows_is_the_notation_that_is_printed(family):
    for rule in (families.notation(family), four.rule_of(family)):
        assert cwndlab.rule(rule) == rule


def test_a_family_without_a_law_is_named():
    with pytest.raises(
        KeyError, match=r"Nagle: has no equations: expected a line of FILES or SPECIAL"
    ):
        equations.law("Nagle")


SPECIAL = {
    "AIMD(3, 0.6)": ("3", "0.6*w"), "AIAD(3, 5)": ("3", "w - 5"),
    "MIMD(1.05, 0.6)": ("0.05*w", "0.6*w"),
    "MIAD(1.02, 40)": ("0.02*w", "w - 40"), "AIMAD(3, 5, 0.6)": ("3", "0.6*w - 5"),
    "MAIMD(3, 1.02, 0.6)": ("0.02*w + 3", "0.6*w"), "NewReno": ("1", "w/2"),
    "IIAD(50, 20)": ("50/w", "w - 20"), "SQRT(5, 2)": ("5/sqrt(w)", "w - 2*sqrt(w)"),
}  # fmt: skip


@pytest.mark.parametrize("rule", SPECIAL)
def test_a_special_case_follows_its_law(rule):
    """Its window is that of the law typed as a formula, as far as another order of the same sums
    allows."""
    assert rule.split("(")[0] in equations.SPECIAL
    grown, cut = SPECIAL[rule]
    runs = [
        _run("window", text, duration="25s") for text in (rule, f'Rule(inc="{grown}", dec="{cut}")')
    ]
    named, typed = (run.traces["cwnd"]["cwnd_packets"].to_numpy() for run in runs)
    assert named == pytest.approx(typed, rel=1e-6)
    assert runs[0].flows["fast_retransmits"][0] > 0


def test_special_cases_are_all_compared():
    assert {rule.split("(")[0] for rule in SPECIAL} == set(equations.SPECIAL)


def test_pictures_are_those_of_the_page():
    shown = {
        f"docs/{name}"
        for name in re.findall(r"\]\((images/(?:rules?-.+?|bbr3-cellular)\.png)\)", PAGE)
    }
    assert shown == set(pictures.names())
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "images").glob("rule*.png")}
    assert there == {name for name in shown if "/rule" in name}


def test_a_picture_marks_losses_and_timeouts():
    figure = pictures.window_figure({"NewReno": _run("window", "NewReno")})
    axes = figure.axes[0]
    assert axes.get_ylabel() == "window [packets]"
    lines = {line.get_label(): line.get_xdata() for line in axes.get_lines()}
    assert lines["timeout"] == pytest.approx([41.1], abs=0.2)
    assert any(abs(time_s - 20) < 0.1 for time_s in lines["lost"])


def test_rules_window():
    newreno, cubic = (_run("window", rule) for rule in ("NewReno", "CUBIC"))
    for result in (newreno, cubic):
        times = result.traces["packets"].filter(pl.col("event") == "timeout")["time_s"]
        assert [round(time_s) for time_s in times] == [41]
    # Wire size 1052 bytes: 10 Mbit/s x 100 ms fill 118.8 packets, 60 more the queue, with the one
    # in service.
    assert 175 < newreno.traces["cwnd"]["cwnd_packets"].max() < 185
    # Halved and multiplied by 0.7, both from the window at 20 s.
    for result, factor in ((newreno, 0.5), (cubic, 0.7)):
        trace = result.traces["cwnd"]
        before = trace.filter(pl.col("time_s") < 20)["cwnd_packets"][-1]
        after = trace.filter(pl.col("time_s").is_between(20.1, 20.4))["cwnd_packets"].min()
        assert after / before == pytest.approx(factor, rel=0.02)


def test_rules_marks():
    dctcp, newreno = (_run("marks", rule) for rule in ("DCTCP", "NewReno"))
    settled = dctcp.traces["cwnd"].filter(pl.col("time_s").is_between(50, 60))["cwnd_packets"]
    assert settled.std() < 0.02 * settled.mean()
    assert newreno.flows["ecn_reductions"][0] < 10 < dctcp.flows["ecn_reductions"][0]
    assert newreno.links["mean_queueing_delay_s"][0] < dctcp.links["mean_queueing_delay_s"][0]


def test_rules_of_the_four_scenarios():
    """What the examples say to look at."""
    assert _run("shared", "CUBIC").links["utilization"][0] > 0.99
    far = _run("unequal", "NewReno").flows.filter(flow="far")["goodput_bps"][0]
    assert far < 0.3 * _run("unequal", "NewReno").aggregate_goodput_bps
    assert (
        _run("random", "BBR1").aggregate_goodput_bps
        > 1.5 * _run("random", "NewReno").aggregate_goodput_bps
    )
    delays = [
        _run("square", rule).links["mean_queueing_delay_s"][0]
        for rule in ("LEDBAT(0.025, 1)", "NewReno")
    ]
    assert delays[0] < 0.5 * delays[1]


def test_what_the_page_says_of_bbr_over_a_deep_buffer():
    for rule in ("BBR1", "BBR3"):
        deep = _run("random", rule, dumbbell__queue__limit="4bdp").flows
        assert deep["dropped_packets"].sum() / deep["sent_packets"].sum() == pytest.approx(
            0.01, rel=0.1
        )
