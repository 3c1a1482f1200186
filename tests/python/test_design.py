"""`cwndlab design`: known truths are found again; formulas, frontier, files and exit codes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cwndlab
from cwndlab.designs import Specification
from cwndlab.designs.aims import Aim
from cwndlab.designs.optimiser import ranks
from cwndlab.designs.running import merge
from cwndlab.designs.searching import Tried
from cwndlab.designs.space import Formulas, dynamics
from cwndlab.errors import ScenarioError
from cwndlab.theory import axioms, formulas, friendly
from waiting import HANG_S, wait_until

SMALL = {
    "family": "AIMD(?, ?)", "objectives": ["goodput", "delay"], "budget": 8, "population": 4,
    "replicates": 1, "validate": 2, "confirm": 2, "duration": "5s",
    "training": {"env": "CL"}, "validation": {"env": "RWL"}, "hidden": {"env": "RDL"},
}  # fmt: skip
FILE = """
family = "AIMD(?, ?)"
objectives = ["goodput", "delay"]
duration = "40s"
budget = 40
replicates = 2
confirm = 3
robustness = false
training = { env = "CL" }
validation = { env = "RWL" }
hidden = { env = "RDL" }
"""


def numbers(rule):
    return [float(text) for text in re.findall(r"-?[\d.]+(?:e-?\d+)?", rule.partition("(")[2])]


# --- known truths, each with a fixed budget


@pytest.mark.slow
def test_rules_without_harm_lie_on_the_tcp_friendly_curve():
    # Yang and Lam (2000): equation 6 without timeouts, equation 7 for equal time in timeouts. Their
    # figures 9 to 11 tell the rates of neighbours on either curve apart by about a quarter.
    found = cwndlab.design("examples/designs/friendly.toml", budget=160, confirm=2)
    assert len(found.frontier) >= 5
    decreases = [numbers(one.rule)[1] for one in found.frontier]
    assert min(decreases) < 0.5
    assert max(decreases) > 0.8
    for one in found.frontier:
        a, b = numbers(one.rule)
        curves = float(friendly.td_alpha(b)), float(friendly.to_alpha(b))
        assert min(curves) / 1.25 < a < 1.25 * max(curves), one.rule


@pytest.mark.slow
def test_hybrids_appear_where_speed_and_fairness_are_wanted():
    # Akella et al. (2002), section 5: AIMAD subtracts and multiplies.
    found = cwndlab.design(
        "examples/designs/hybrids.toml", budget=90, population=30, confirm=4, robustness=False,
        replicates=2, duration="30s",
    )  # fmt: skip
    assert found.frontier
    hybrids = [one for one in found.frontier if numbers(one.rule)[2] < -0.1]
    assert len(hybrids) >= len(found.frontier) / 2
    fast = found.frontier[0]
    assert found.verdict(fast, "AIMD(1, 0.8)", Aim.read("goodput")) == "better"


def test_rules_that_shrink_little_win_where_loss_is_random():
    found = cwndlab.design(
        "examples/designs/random-loss.toml", budget=60, population=20, confirm=5, robustness=False
    )
    _, b = numbers(found.frontier[0].rule)
    assert b > 0.85
    table = found.table()
    assert table["rule"][0] == found.frontier[0].rule
    assert table.columns == ["no.", "rule", *(aim.title for aim in found.aims)]
    assert found.to_markdown().count("\n") == table.height + 1
    assert found.verdict(found.frontier[0], "AIMD(1, 0.5)", Aim.read("goodput")) == "better"


@pytest.mark.nightly
def test_formulas_subtract_the_queueing_delay_where_delay_counts():
    found = cwndlab.design("examples/designs/delay.toml", confirm=5, robustness=False)
    delay, goodput = Aim.read("delay").text, Aim.read("goodput").text
    aimd = found.references[0]
    assert aimd.rule == "AIMD(1, 0.5)"
    subtracts = re.compile(r'inc="[^"]* - [^"]*qdelay')
    half_the_queue = [
        one for one in found.frontier
        if one.hidden[delay].mean < 0.6 * aimd.hidden[delay].mean
        and one.hidden[goodput].mean > 0.95 * aimd.hidden[goodput].mean
    ]  # fmt: skip
    assert half_the_queue
    assert all(subtracts.search(one.rule) for one in half_the_queue)


@pytest.mark.slow
def test_delay_based_rules_are_better_than_those_in_use():
    found = cwndlab.design(
        "examples/designs/delay-based.toml", budget=180, population=30, confirm=6, robustness=False
    )
    known = [one.rule for one in found.references]
    assert known == ["AIMD(1, 0.5)", "AIAD(1, 3)", "CUBIC"]
    in_use = ("AIMD(1, 0.5)", "CUBIC")
    assert any(all(found.beats(one, rule) for rule in in_use) for one in found.frontier)


# --- the fluid model


@pytest.mark.parametrize(("a", "b"), [(1, 0.5), (2, 0.5), (1, 0.8), (0.5, 0.25)])
def test_axioms_of_aimd_are_those_of_the_paper(a, b):
    # Zarchy et al. (2019), table 1, for n senders on C packets with a buffer of tau.
    rule = dynamics(f"AIMD({a}, {b})")
    pipe, senders = axioms.CAPACITY + axioms.BUFFER, axioms.SENDERS
    assert axioms.efficiency(rule) == pytest.approx(min(1.0, b * pipe / axioms.CAPACITY), abs=0.03)
    assert axioms.loss_avoidance(rule) <= senders * a / (pipe + senders * a) + 1e-9
    assert axioms.fairness(rule) == pytest.approx(1.0, abs=1e-3)
    assert axioms.convergence(rule) == pytest.approx(2 * b / (1 + b), abs=0.03)
    assert axioms.fast_utilization(rule) == pytest.approx(a, rel=0.02)
    assert axioms.friendliness(rule) == pytest.approx(3 * (1 - b) / (a * (1 + b)), rel=0.05)


def test_a_search_by_axioms_has_no_queueing_delay():
    asked = {"objectives": ["goodput", "fluid(fairness)"]}
    found = Specification(**asked).space
    assert found.variables == ("w", "rtt")
    for wrong in (
        {"formulas": {"variables": ["w", "qdelay"]}},
        {"family": 'Rule(inc="? - qdelay", dec="w/2")', "parameters": {"p1": (1, 2)}},
    ):
        with pytest.raises(ScenarioError, match=r"no qdelay where fluid\(fairness\) is asked for"):
            _ = Specification(**asked, **wrong).space


def test_formulas_and_rules_are_the_same_in_the_fluid_model():
    windows = np.array([3.0, 40.0])
    for rule, formula in (
        ("AIMD(2, 0.25)", 'Rule(inc="2", dec="w/4")'),
        ("AIAD(1, 3)", 'Rule(inc="1", dec="max(1, w - 3)")'),
        ("SQRT(1, 0.5)", 'Rule(inc="1/w^0.5", dec="w - 0.5*w^0.5")'),
    ):
        one, other = dynamics(rule), dynamics(formula)
        assert other.grow(windows) == pytest.approx(one.grow(windows))
        assert other.shrink(windows)[1] == pytest.approx(one.shrink(windows)[1])


# --- formulas


@given(st.integers(0, 10_000))
def test_a_formula_reads_back_as_itself(seed):
    random = np.random.default_rng(seed)
    space = Formulas(operators=(*formulas.BINARY, *formulas.UNARY))
    for tree in space.random(random):
        again = formulas.read(tree.text)
        windows = np.array([2.0, 7.0, 90.0])
        assert again.value(windows, 0.07, 0.02) == pytest.approx(
            tree.value(windows, 0.07, 0.02), nan_ok=True
        )
        assert tree.size <= space.terms


@given(st.integers(0, 10_000))
def test_new_formulas_are_valid_rules(seed):
    random = np.random.default_rng(seed)
    space = Formulas()
    one, two = space.random(random), space.random(random)
    for pair in (space.mutated(one, random), *space.crossed(one, two, random)):
        assert space.is_valid(pair)
        assert cwndlab.rule(space.rule(pair))
    for _, rule in space.near(one):
        assert rule != space.rule(one)


@pytest.mark.parametrize("text", ["w w", "open(w)", "w.real", "lambda: 1", "x + 1", "True", ""])
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ValueError, match="expected numbers, w, rtt"):
        formulas.read(text)


# --- the frontier


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=30))
def test_the_front_is_what_nothing_beats(rows):
    costs = np.array(rows, dtype=float)
    front = np.flatnonzero(ranks(costs) == 0)
    for at, row in enumerate(rows):
        beaten = any(
            all(x <= y for x, y in zip(other, row, strict=True)) and other != row for other in rows
        )
        assert (at in front) != beaten


def test_rules_that_differ_by_noise_are_merged():
    aims = [Aim.read("goodput"), Aim.read("delay")]
    noise = np.random.default_rng(1).normal(0.0, 0.01, (2, 8))
    values = {
        "A": np.full((2, 8), 0.5), "A with noise": 0.5 + noise, "B": np.full((2, 8), 0.9) + noise,
    }  # fmt: skip
    rules = [Tried(name, (), 0, 0, found) for name, found in values.items()]
    kept, merged = merge(rules, values, aims)
    assert [one.rule for one in kept] == ["A", "B"]
    assert merged == {"A": ["A with noise"], "B": []}


def test_an_adversary_adds_its_links_to_the_training():
    found = cwndlab.design(**SMALL, adversary=5, against=["Reno"], robustness=False)
    assert 1 <= len(found.worst_links) <= 3
    assert "the worst for" in found.worst_links[0]


def test_hidden_conditions_are_hidden():
    with pytest.raises(ScenarioError, match="that neither training nor validation has"):
        Specification(**{**SMALL, "hidden": {"env": ["CL", "RWH"]}})
    for name, block in Specification(**SMALL).sets.items():
        others = [one for key, one in Specification(**SMALL).sets.items() if key != name]
        assert not {*block.labels} & {label for one in others for label in one.labels}


def test_a_search_tries_first_what_it_starts_from():
    start = ["AIMD(1, 0.5)", "GAIMD(0.31, 0.875)"]
    found = cwndlab.design(**{**SMALL, "family": "Linear(?, 1, 0, ?)", "start": start})
    assert [one["rule"] for one in found.tried][:2] == [
        "Linear(1, 1, 0, 0.5)",
        "Linear(0.31, 1, 0, 0.875)",
    ]
    formula = 'Rule(inc="0.3 / w", dec="0.9 * w")'
    found = cwndlab.design(**{**SMALL, "family": "", "start": [formula]})
    assert found.tried[0]["rule"] == cwndlab.rule(formula)


def test_a_short_first_round_takes_fewer_packets():
    given = {**SMALL, "budget": 12, "population": 12, "replicates": 2, "duration": "20s"}
    whole = cwndlab.design(**given)
    halved = cwndlab.design(**given, first_duration="5s")
    assert halved.packets < 0.85 * whole.packets
    # Of twelve six are left after the first round, and three after the second.
    assert sum(one["replicates"] == 2 for one in halved.tried) <= 6
    assert {one["rule"] for one in halved.tried} == {one["rule"] for one in whole.tried}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first_duration": "5s"}, "a time shorter than the 5s of training"),
        ({"first_duration": "soon"}, 'first_duration: "soon" is not valid'),
        (
            {
                "first_duration": "1s",
                "training": {"base": {"seed": 1}, "cases": {"a": {"seed": 2}}},
            },
            "must not be given with",
        ),
    ],
)
def test_a_first_round_that_is_none_is_refused(changes, message):
    with pytest.raises(ScenarioError, match=message):
        Specification(**{**SMALL, **changes})


@pytest.mark.parametrize(
    ("family", "rule"),
    [
        ("AIMD(?, ?)", "AIAD(1, 3)"),
        ("AIMD(?, 0.5)", "AIMD(1, 0.6)"),
        ("AIMD(?, ?)", "AIMD(9, 0.5)"),
        ("Linear(?, 1, 0, ?)", "MIMD(1.1, 0.5)"),
        ("AIMD(?, ?)", "BBR1"),
        ("Linear(?, 1, 0, ?)", "CUBIC(beta=0.8)"),
        ("", "AIMD(1, 0.5)"),
        ("", 'Rule(inc="log(w)", dec="0.5*w")'),
    ],
)
def test_a_start_that_the_search_cannot_find_is_refused(family, rule):
    with pytest.raises(ScenarioError, match=r"start: .* is not valid: expected a rule of"):
        _ = Specification(**{**SMALL, "family": family, "start": [rule]}).space


# --- files, resumption, errors


def test_a_search_is_the_same_again_and_from_its_store(tmp_path):
    first = cwndlab.design(**SMALL, store=tmp_path / "store")
    again = cwndlab.design(**SMALL, store=tmp_path / "store", jobs=1)
    alone = cwndlab.design(**SMALL)
    strip = ("packets", "wall_s")
    plain = [{key: value for key, value in one.to_dict().items() if key not in strip}
             for one in (first, again, alone)]  # fmt: skip
    assert plain[0] == plain[1] == plain[2]
    assert first.packets > 0
    assert again.packets == 0


@pytest.mark.slow
def test_a_killed_search_resumes(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(FILE)
    command = [sys.executable, "-m", "cwndlab", "design", str(file), "--quiet"]
    store = tmp_path / "out" / "store"
    process = subprocess.Popen([*command, "--out", str(tmp_path / "out")])

    def has_runs():
        from cwndlab import Store

        if not store.exists():
            return False
        with Store(store) as kept:
            return len(kept) > 20

    wait_until(has_runs)
    process.send_signal(signal.SIGKILL)
    assert process.wait(HANG_S) == -signal.SIGKILL
    for out in ("out", "whole"):
        subprocess.run([*command, "--out", str(tmp_path / out)], check=True, timeout=HANG_S)
    resumed, whole = (
        json.loads((tmp_path / out / "design.json").read_text()) for out in ("out", "whole")
    )
    assert resumed["frontier"] == whole["frontier"]
    assert resumed["packets"] < whole["packets"]


def test_pick_prints_a_rule_that_runs(tmp_path, command):
    (tmp_path / "small.toml").write_text(FILE)
    done = command("design", "small.toml", "--budget", "8", "--out", "found")
    assert done.returncode == 0, done.stderr
    rule = command("design", "pick", "1", "--out", "found").stdout.strip()
    assert cwndlab.rule(rule) == rule
    page = (tmp_path / "found" / "frontier.html").read_text()
    assert rule in page
    assert "<script src" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--family", "AIMD(1, 0.5)"], "expected a rule with open parameters"),
        (["--family", "CUBIC(?)"], "missing"),
        (["--aim", "speed"], "objective"),
        (["--aim", "goodput"], "two or more"),
        (["--aim", "goodput, fluid(kindness)"], "axiom"),
        (["--require", "harm(CUBIC)"], "OBJECTIVE < NUMBER"),
        (["--bound", "a=1", "--family", "AIMD(?, ?)"], "NAME=LOW..HIGH"),
        (["--bound", "c=1..2", "--family", "AIMD(?, ?)"], "parameter"),
        (["--env", "CL, CH"], "3 environments or more"),
        (["--family", "AIMD(?, ?)", "--aim", "goodput, size"], "no `size`"),
        (["none.toml"], "none.toml"),
        (["pick", "x"], "number of a rule"),
        (["pick", "3", "--out", "none"], "directory of a search"),
    ],
)
def test_what_is_not_valid_is_refused(arguments, message, tmp_path, command):
    done = command("design", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
