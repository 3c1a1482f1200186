"""The matrix: verdicts, measures by hand-made traces, and rules made to violate each check."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cwndlab import custom_rules, matrix
from cwndlab.errors import CwndlabError
from cwndlab.matrix import CHECKS, Case, Found, Outcome, waveform
from cwndlab.matrix.checks import course, idle, shares, undo
from cwndlab.matrix.exceptions import Excepted, judged, known
from cwndlab.matrix.outcomes import worst
from cwndlab.matrix.page import first_of, text
from cwndlab.matrix.path import Path as Link
from cwndlab.matrix.path import profiles
from cwndlab.matrix.record import Record, differences
from cwndlab.matrix.summary import Summary
from cwndlab.results import Result

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "docs/matrix.json"
FIRST_RECORD = ROOT / "docs/matrix-first.json"
DRAWN, SEED = 42, 40
CASE = Case("NewReno", "rfc", "floor", "an outage")


# Verdicts


def test_a_bound_is_kept_from_its_own_side():
    assert Outcome(0.9, 0.9, at_least=True).verdict == "holds"
    assert Outcome(0.89, 0.9, at_least=True).verdict == "fails"
    assert Outcome(40.0, 40.0, at_least=False).verdict == "holds"
    assert Outcome(41.0, 40.0, at_least=False).verdict == "fails"


def test_an_interval_decides_only_as_a_whole():
    assert Outcome(0.7, 0.5, True, 0.6, 0.8).verdict == "holds"
    assert Outcome(0.55, 0.5, True, 0.45, 0.65).verdict == "undecided"
    assert Outcome(0.3, 0.5, True, 0.2, 0.4).verdict == "fails"


@pytest.mark.parametrize("at_least", [True, False])
def test_a_run_that_never_got_there_keeps_no_bound(at_least):
    assert Outcome(math.nan, 1.0, at_least).verdict == "fails"
    assert Outcome(math.inf, 1.0, at_least=False).verdict == "fails"


def test_the_worst_case_is_the_cell():
    assert worst(["holds", "excepted"]) == "excepted"
    assert worst(["excepted", "undecided", "holds"]) == "undecided"
    assert worst(["undecided", "fails"]) == "fails"


# Exceptions


def excepted(shows: str, **others: object) -> Excepted:
    entry = {"rules": ["NewReno"], "check": "floor", "source": "a book", "reason": "because"}
    return Excepted.read({**entry, "shows": shows, **others})


def test_an_exception_that_shows_is_no_failure():
    found = judged(CASE, Outcome(0.5, 1.0, True), [excepted("always")])
    assert (found.verdict, found.reason) == ("excepted", "because (a book)")


def test_an_exception_that_does_not_show_fails():
    held = Outcome(1.0, 1.0, True)
    assert judged(CASE, held, [excepted("always")]).verdict == "fails"
    assert judged(CASE, held, [excepted("somewhere")]).verdict == "holds"


@pytest.mark.parametrize(
    "other", [{"rules": ["CUBIC"]}, {"profiles": ["linux"]}, {"cases": ["x"]}, {"check": "idle"}]
)
def test_an_exception_is_about_nothing_else(other):
    found = judged(CASE, Outcome(0.5, 1.0, True), [excepted("always", **other)])
    assert found.verdict == "fails"


def test_an_exception_with_a_wrong_key_or_value_is_refused():
    with pytest.raises(CwndlabError, match="whole"):
        excepted("always", whole=True)
    with pytest.raises(CwndlabError, match="always or somewhere"):
        excepted("often")


def test_exceptions_name_what_there_is():
    families = {waveform.family(rule) for rule in matrix.registry()}
    for one in known():
        of_linux = {rule for rule in one.rules if rule.startswith("kernel:")}
        assert set(one.rules) <= families | of_linux | {"*"}
        assert set(one.profiles) <= {*profiles(), "*"}
        assert set(one.cases) <= {*CHECKS[one.check].cases("linux"), "*"}
        assert one.source
        assert one.reason


# Waveforms, by hand


def test_utilisation_of_a_sawtooth():
    # Without buffer the window is (1 + b)/2 of the BDP on average.
    assert waveform.sawtooth_utilisation(0.7, 100, 0) == pytest.approx(0.85)
    # Half a BDP: 25 round trips from 75 to 100 bring 2187.5 packets, where the link could have sent
    # 2500; then it is busy for 6250.
    assert waveform.sawtooth_utilisation(0.5, 100, 50) == pytest.approx(8437.5 / 8750)


def test_growth_of_what_theory_does_not_know_is_the_standards():
    assert waveform.rounds_between("mine.py:Mine", 2, 12) == 10


def test_every_path_can_halve_its_window():
    for profile in profiles():
        for name in CHECKS["fills"].cases(profile):
            rate, _, rtt, _ = name.split()
            link = Link(float(rate), float(rtt))
            after = (link.bdp(profile) + link.buffer(profile)) / 2
            # Two packets that wait for an ACK and one in service, where packets are that few; else
            # the BDP, whose half packet a buffer of whole packets may lack.
            needed = 3 if link.bdp(profile) < 2 else -0.5
            assert after >= link.bdp(profile) + needed


# Measures, on results made by hand


def result(flows: dict[str, list[float]] | None = None, **traces: dict[str, list]) -> Result:
    frames = {name: pl.DataFrame(trace) for name, trace in traces.items()}
    return Result({}, pl.DataFrame(flows or {}), pl.DataFrame(), frames)


def windows(times: list[float], packets: list[float], acknowledged: list[int]) -> dict[str, list]:
    return {
        "time_s": list(map(float, times)),
        "cwnd_packets": list(map(float, packets)),
        "acknowledged_packets": acknowledged,
    }


def judge(check: str, case: str, *results: Result, profile: str = "rfc") -> Outcome:
    return CHECKS[check].judge("NewReno", profile, case, list(results))


def test_fills_is_goodput_over_the_payload_that_the_link_carries():
    # Packets of 1000 bytes take 1052 on the wire in profile rfc.
    found = judge("fills", "20 Mbit/s 40 ms", result({"goodput_bps": [10e6]}))
    assert found.measured == pytest.approx(0.5 * 1052 / 1000, rel=1e-3)
    assert found.verdict == "fails"


def test_shares_takes_the_interval_of_five_draws():
    fair = [result({"goodput_bps": [5e6, 4.5e6 + 1e4 * draw]}) for draw in range(5)]
    assert judge("shares", "10 Mbit/s 40 ms", *fair).verdict == "holds"
    mixed = [result({"goodput_bps": [5e6, share]}) for share in [5e6, 1e5, 4e6, 1e6, 3e6]]
    assert judge("shares", "10 Mbit/s 40 ms", *mixed).verdict == "undecided"
    unfair = [result({"goodput_bps": [5e6, 1e6 + 1e4 * draw]}) for draw in range(5)]
    assert judge("shares", "10 Mbit/s 40 ms", *unfair).verdict == "fails"


def test_floor_is_the_smallest_window():
    trace = windows([0, 1, 2], [1, 0.5, 2], [0, 1, 2])
    assert judge("floor", "an outage", result(cwnd=trace)).measured == 0.5


def test_receiver_is_the_largest_window_and_a_window_per_round_trip():
    trace = windows([0, 1, 2], [10, 41, 20], [0, 1, 2])
    assert judge("receiver", "cwnd", result(cwnd=trace)).verdict == "fails"
    # 20 packets of 8000 bits in 100.08 ms.
    found = judge("receiver", "goodput", result({"goodput_bps": [1.6e6 / 1.0008]}))
    assert found.measured == pytest.approx(1.0, rel=1e-3)


def steady(window: float, until: int, later: float = 0.0) -> course.Course:
    """A flow with a constant window, an ACK per packet, from a time on."""
    acknowledged = np.arange(until).astype(float)
    return course.Course(later + acknowledged / 100, np.full(until, window), acknowledged)


def test_idling_may_not_let_a_window_grow():
    grown = course.Course(np.array([9.0]), np.array([33.0]), np.array([100.0]))
    assert idle.excess(grown, steady(10, 200)) == pytest.approx(3.0)
    assert idle.excess(steady(10, 20), steady(10, 200)) < 1


def test_idling_may_cost_two_round_trips():
    sent = [100 * number for number in range(40)]
    seconds = [0.1 * number for number in range(40)]
    twin = result(cwnd=windows(seconds, [100] * 40, sent))

    def answered(lasts_s: float) -> Result:
        return result(
            cwnd=windows([0, 1.5, 21.6], [100, 100, 100], [0, 1500, 1600]),
            transfers={"start_s": [0.0, 21.5], "fct_s": [1.5, lasts_s]},
        )

    # The other takes 1.5 s for as many packets.
    assert judge("idle", "time", answered(1.69), twin, profile="linux").verdict == "holds"
    assert judge("idle", "time", answered(1.71), twin, profile="linux").verdict == "fails"
    # Where cwnd restarts, it is the first response that counts; here it took as long.
    assert judge("idle", "time", answered(1.71), twin, profile="rfc").verdict == "fails"
    never = result(cwnd=windows([0], [1], [0]), transfers={"start_s": [0.0], "fct_s": [None]})
    assert judge("idle", "time", never, twin, profile="linux").verdict == "fails"


def test_an_undone_reduction_may_neither_lose_nor_gain():
    other = steady(10, 200)
    assert undo.lost(steady(5, 100, later=0.5), other) == 0.5
    assert undo.gained(steady(20, 100, later=0.5), other) == 2.0
    assert undo.lost(steady(10, 100), other) == undo.gained(steady(10, 100), other) == 1.0


def test_undo_is_asked_only_where_there_is_one():
    assert [name for name in profiles() if CHECKS["undo"].cases(name)] == ["linux"]


def test_ratio_of_shares():
    assert shares.ratio([3.0, 4.0]) == 0.75


# Rules made to violate each check

VIOLATORS = '''
class Standard:
    """The standard, and what a violator leaves of it."""

    def increase(self, cwnd, ack):
        return cwnd + 1 / cwnd

    def decrease(self, cwnd, signal):
        return cwnd / 2


class Frozen(Standard):
    """Never more than five packets."""

    def slow_start(self, cwnd, ack):
        return 5.0

    def increase(self, cwnd, ack):
        return 5.0


class Additive(Standard):
    """Gives up three packets, which leaves the difference of two flows as it is."""

    def decrease(self, cwnd, signal):
        return cwnd - 3


class Afraid(Standard):
    """After a timeout it never grows again."""

    frozen = False

    def slow_start(self, cwnd, ack):
        return cwnd if self.frozen else cwnd + ack.acked_packets

    def increase(self, cwnd, ack):
        return cwnd if self.frozen else cwnd + 1 / cwnd

    def decrease(self, cwnd, signal):
        self.frozen = self.frozen or signal == "timeout"
        return cwnd / 2


class Scarred(Standard):
    """Does not grow after a timeout, whatever is undone: what is undone is the rule's own state."""

    timeouts = 0

    def __init__(self):
        Scarred.timeouts = 0

    def increase(self, cwnd, ack):
        return cwnd + self.step() / cwnd

    def decrease(self, cwnd, signal):
        Scarred.timeouts += signal == "timeout"
        return cwnd / 2

    def step(self):
        return 0 if Scarred.timeouts else 1


class Reckless(Scarred):
    """Grows five times as fast after a timeout."""

    def step(self):
        return 5 if Scarred.timeouts else 1


class Clock(Standard):
    """Grows with time, and so with the time in which it had nothing to send."""

    last_s = None

    def increase(self, cwnd, ack):
        idle_s = 0.0 if self.last_s is None else ack.now_s - self.last_s
        self.last_s = ack.now_s
        return cwnd + 1 / cwnd + 20 * idle_s


class Deaf(Standard):
    """Grows whatever limits it."""

    def slow_start(self, cwnd, ack):
        return cwnd + 10

    def increase(self, cwnd, ack):
        return cwnd + 10


class Tiny(Standard):
    """Nothing is left after a loss. Only ns-2's endpoints have no floor that would help."""

    def decrease(self, cwnd, signal):
        return 0.0
'''


@pytest.fixture
def violator(tmp_path):
    file = tmp_path / "violators.py"
    file.write_text(VIOLATORS, encoding="utf-8")
    custom_rules.trust(str(file))
    return lambda name: f"{file}:{name}"


@pytest.mark.parametrize(
    ("check", "case", "rule", "profile"),
    [
        ("fills", "20 Mbit/s 40 ms", "Frozen", "rfc"),
        ("shares", "10 Mbit/s 40 ms", "Additive", "ns2-2.35"),
        ("outage", "packets are lost", "Afraid", "rfc"),
        ("idle", "window", "Clock", "linux"),
        ("receiver", "cwnd", "Deaf", "linux"),
        ("receiver", "goodput", "Frozen", "rfc"),
        ("floor", "a fifth is lost", "Tiny", "ns2-2.35"),
        ("undo", "lost", "Scarred", "linux"),
        ("undo", "gained", "Reckless", "linux"),
    ],
)
def test_a_rule_made_to_violate_a_check_fails(violator, check, case, rule, profile):
    # The outcome, because of ns-2 an exception says that it has no floor.
    found = matrix.answer(Case(violator(rule), profile, check, case))
    assert found.outcome.verdict == "fails"


@pytest.mark.parametrize(
    ("check", "case", "profile"),
    [
        ("fills", "20 Mbit/s 40 ms", "rfc"),
        ("outage", "packets are lost", "rfc"),
        ("idle", "window", "linux"),
        ("idle", "time", "rfc"),
        ("receiver", "cwnd", "rfc"),
        ("receiver", "goodput", "rfc"),
        ("floor", "a fifth is lost", "rfc"),
        ("undo", "lost", "linux"),
        ("undo", "gained", "linux"),
    ],
)
def test_the_standard_written_in_python_holds(violator, check, case, profile):
    assert matrix.answer(Case(violator("Standard"), profile, check, case)).verdict == "holds"


# Faults that the first record shows, and the record does not any more


@pytest.mark.parametrize(
    ("rule", "check", "case"),
    [
        ("LEDBAT(0.1, 1)", "fills", "20 Mbit/s 40 ms"),
        ("CUBIC", "idle", "window"),
        ("NewReno", "receiver", "cwnd"),
    ],
)
def test_the_records_show_what_was_mended(rule, check, case):
    mended = Case(rule, "linux", check, case)
    verdicts = [Record.read(file).by_case()[mended].verdict for file in (FIRST_RECORD, RECORD)]
    assert verdicts == ["fails", "holds"]


# The record


def test_a_draw_covers_checks_profiles_and_rules():
    drawn = matrix.drawn(matrix.cases(), DRAWN, SEED)
    assert len(drawn) == DRAWN
    assert {case.check for case in drawn} == set(CHECKS)
    assert {case.profile for case in drawn} == set(profiles())
    assert len({case.rule for case in drawn}) >= 10
    assert drawn == matrix.drawn(matrix.cases(), DRAWN, SEED)


@pytest.mark.slow
def test_drawn_cases_are_as_the_record_has_them():
    found = matrix.answers(matrix.drawn(matrix.cases(), DRAWN, SEED))
    assert differences(found, Record.read(RECORD).by_case()) == []


@pytest.mark.nightly
def test_all_cases_are_as_the_record_has_them():
    assert differences(matrix.answers(matrix.cases()), Record.read(RECORD).by_case()) == []


def test_the_record_has_every_case_and_its_page_is_made_from_it():
    record = Record.read(RECORD)
    left = set(matrix.cases()) - set(record.by_case())
    command = "cwndlab matrix --from docs/matrix.json --page docs"
    assert not left, f"the record lacks {len(left)} cases, which `{command}` finds"
    page = (ROOT / "docs/matrix.md").read_text(encoding="utf-8")
    assert page == text(Summary.of(record.found), record.build, first_of(ROOT / "docs"))


def test_a_record_is_read_as_it_was_written(tmp_path):
    found = (
        Found(CASE, Outcome(0.5, 1.0, True), "fails"),
        Found(Case("CUBIC", "linux", "shares", "x"), Outcome(0.7, 0.5, True, 0.6, 0.8), "holds"),
    )
    Record("abc", found).write(tmp_path / "record.json")
    assert Record.read(tmp_path / "record.json") == Record("abc", found)


def test_a_file_that_is_no_record_is_refused(tmp_path):
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(CwndlabError, match=r"other\.json.*expected a record"):
        Record.read(tmp_path / "other.json")


# The command


def test_a_rule_under_a_profile_is_shown_case_by_case(cli):
    found = cli("matrix", "LEDBAT", "--profile", "linux", "--check", "fills", "--case",
                "20 Mbit/s 40 ms")  # fmt: skip
    assert found.returncode == 0
    assert "● holds" in found.stdout
    assert "Bound: 0.9 of the utilisation" in " ".join(found.stdout.split())


def test_json_and_the_exit_code(cli):
    given = ("matrix", "NewReno", "--profile", "rfc,linux", "--check", "receiver", "--case", "cwnd")
    found = cli(*given, "--json", "--expect-holds")
    rows = {row["profile"]: row for row in json.loads(found.stdout)["cases"]}
    assert rows["rfc"]["verdict"] == "holds"
    assert found.returncode == (3 if rows["linux"]["verdict"] == "fails" else 0)


def test_a_scenario_can_be_run(cli, tmp_path):
    found = cli("matrix", "CUBIC", "--profile", "linux", "--check", "floor", "--case", "an outage",
                "--scenario")  # fmt: skip
    file = tmp_path / "case.toml"
    file.write_text(found.stdout, encoding="utf-8")
    assert cli("run", str(file)).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--profile", "linus"), "did you mean linux?"),
        (("--check", "fill"), "did you mean fills?"),
        (("--case", "1 Gbit/s"), "--case"),
        (("CUBIC", "--scenario"), "expected one rule"),
        (("CUBIC", "--profile", "rfc", "--check", "undo"), "expected linux"),
        (("--seed", "3"), "--draw"),
    ],
)
def test_what_is_wrong_is_said(cli, arguments, expected):
    found = cli("matrix", *arguments)
    assert found.returncode == 2
    assert expected in found.stderr
