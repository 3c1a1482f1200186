"""`cwndlab.compare`: one call, on threads, with a store, on a cluster."""

from __future__ import annotations

import polars as pl
import pytest

import cwndlab
from cwndlab import Sweep
from stores import count

RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)"]
SHORT = {"replicates": 2, "duration": "2s"}
SHORT_ONCE = {"replicates": 1, "duration": "2s"}
RUN = ["env", "rule", "queue", "recovery", "replicate", "trace_hash"]


def rows(comparison) -> pl.DataFrame:
    return comparison.runs.select(*RUN, "goodput", "loss_rate").sort(RUN)


def test_a_rule_is_compared_by_its_name_alone():
    found = cwndlab.compare("AIMD(1,.5)", **SHORT)
    assert found.runs["rule"].to_list() == ["AIMD(1, 0.5)"] * 2
    assert found.complete
    assert len(found.results) == 2


def test_the_command_line_finds_the_same(cli):
    """Same words, same numbers."""
    import json

    options = ("--env", "constant,square", "--queue", "red", "--replicates", "2")
    shown = cli("compare", *RULES, *options, "--duration", "2s", "--json")
    found = cwndlab.compare(RULES, env=["constant", "square"], queue="red", **SHORT)
    there = [row["trace_hash"] for row in json.loads(shown.stdout)["runs"]]
    assert there == found.runs["trace_hash"].to_list()


def test_a_store_keeps_runs_and_the_same_call_goes_on(tmp_path, monkeypatch):
    plain = cwndlab.compare(RULES, env=["constant", "RWM"], **SHORT)
    first = cwndlab.compare(RULES[:1], env=["constant", "RWM"], store=tmp_path, **SHORT)
    assert first.runs.height == 4
    seen = []
    both = cwndlab.compare(
        RULES, env=["constant", "RWM"], store=tmp_path, progress=lambda *at: seen.append(at),
        **SHORT,
    )  # fmt: skip
    assert rows(both).equals(rows(plain))
    assert both.summary.equals(plain.summary)
    assert seen[-1] == ("runs", 8, 8)

    monkeypatch.setattr("cwndlab.runs.execution.Threads", lambda *_: _nothing_to_do)
    assert rows(cwndlab.compare(RULES, env=["constant", "RWM"], store=tmp_path, **SHORT)).equals(
        rows(plain)
    )


def test_the_command_line_keeps_runs_too(cli, tmp_path):
    command = ("compare", *RULES, "--replicates", "2", "--duration", "2s")
    plain, first, again = (
        cli(*command),
        cli(*command, "--store", "s"),
        cli(*command, "--store", "s"),
    )
    assert plain.stdout == first.stdout == again.stdout
    with cwndlab.Store(tmp_path / "s", write=False) as store:
        assert len(store) == 4
    assert cli(*command, "--store", "s", "--out", "o").stdout == plain.stdout
    assert (tmp_path / "o" / "runs" / "00003" / "run.json").exists()


def test_a_pairwise_comparison_keeps_runs_too(cli, tmp_path):
    command = ("compare", "MIMD(1.125, 0.5)", "--against", RULES[0], "--flows", "2",
               "--replicates", "3", "--duration", "5s", "--store", "s")  # fmt: skip
    first = cli(*command)
    assert first.returncode == 0, first.stderr
    kept = count(tmp_path / "s")
    assert kept == 6, "a mixed and a baseline run of each replicate"
    assert cli(*command).stdout == first.stdout == cli(*command[:-2]).stdout
    assert count(tmp_path / "s") == kept


def test_replicates_are_added_until_the_intervals_are_narrow(cli):
    few = cwndlab.compare(RULES, until="ci(goodput) < 100%", most=9, **SHORT_ONCE)
    assert set(few.runs["replicate"]) == set(range(5))
    assert few.unmet == []
    many = cwndlab.compare(RULES, until="ci(goodput) < 0.000001%", most=9, **SHORT_ONCE)
    assert set(many.runs["replicate"]) == set(range(9))
    assert {entry["replicates"] for entry in many.unmet} == {9}
    refused = cli("compare", *RULES, "--duration", "2s", "--until", "ci(goodput) < 0.000001%",
                  "--most", "6")  # fmt: skip
    assert refused.returncode == 3
    assert "did not reach `ci(goodput) < 0.000001%` with 6 replicates" in refused.stderr
    with pytest.raises(cwndlab.ScenarioError, match='until: "nothing" is not known'):
        cwndlab.compare(RULES, until="ci(nothing) < 1%", **SHORT_ONCE)


def _nothing_to_do(tasks):
    assert list(tasks) == [], "a run that is in the store is done again"
    yield from ()


def test_a_store_takes_assumptions_and_settings(tmp_path):
    given = {
        "assume": {"rtt": "40ms", "flows": 4},
        "patch": {"dumbbell.delay": "7ms"},
        "seed": 5,
        **SHORT,
    }
    plain = cwndlab.compare(RULES, **given)
    kept = cwndlab.compare(RULES, store=tmp_path, **given)
    assert rows(kept).equals(rows(plain))
    assert not rows(plain).equals(rows(cwndlab.compare(RULES, **{**given, "patch": None})))


def test_a_cluster_finds_the_same(tmp_path, client):
    plain = cwndlab.compare(RULES, **SHORT)
    assert rows(cwndlab.compare(RULES, on=client, store=tmp_path, **SHORT)).equals(rows(plain))


def test_rules_run_with_todays_endpoints_unless_others_are_named():
    usual = cwndlab.compare("AIMD(1, 0.5)", replicates=1, duration="1s")
    assert usual.profile == "linux"
    assert usual.recovery("sack") == "rack"
    named = cwndlab.compare("CUBIC", replicates=1, duration="1s", profile="rfc")
    assert named.profile == "rfc"
    given = cwndlab.compare("CUBIC", replicates=1, duration="1s", assume={"profile": "ns2-2.35"})
    assert given.profile == "ns2-2.35"
    assert given.recovery("sack") == "sack"


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"env": "constnt"}, "constnt"),
        ({"queue": "dropp-tail"}, "dropp-tail"),
        ({"recovery": "sac"}, "sac"),
        ({"duration": "0s"}, 'duration: "0s" is not valid: expected a duration above 0'),
        ({"profile": "linus"}, "linus"),
        ({"assume": {"rtt": "fast"}}, "fast"),
        ({"replicates": 0}, "replicates: 0 is not valid"),
        ({"trace": {"cwnd": "10ms"}, "store": "none"}, "`trace` cannot be used with `store`"),
    ],
)
def test_what_is_not_valid_is_said(named, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=said):
        cwndlab.compare("AIMD(1, 0.5)", **named)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_ends_a_comparison_with_a_store(tmp_path):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n"
        "    def increase(self, cwnd, ack):\n        return 1 / 0\n"
        "    def decrease(self, cwnd, signal):\n        return cwnd / 2\n"
    )
    with pytest.raises(cwndlab.RunError, match=r"the run of cell .* failed: ") as error:
        cwndlab.compare(f"{tmp_path / 'bad.py'}:Bad", store=tmp_path / "store", **SHORT)
    assert str(error.value).count("ZeroDivisionError: division by zero") == 1
    assert "bad.py, line 3" in str(error.value)


def test_a_method_with_too_few_parameters_is_named_once(tmp_path):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n"
        "    def increase(self, cwnd):\n        return cwnd + 1\n"
        "    def decrease(self, cwnd, signal):\n        return cwnd / 2\n"
    )
    with pytest.raises(cwndlab.RunError) as error:
        cwndlab.compare(f"{tmp_path / 'bad.py'}:Bad", **SHORT)
    assert str(error.value).count("TypeError") == 1
    assert "Bad.increase() takes 2 positional arguments but 3 were given" in str(error.value)


def test_a_comparison_shows_itself(tmp_path):
    found = cwndlab.compare(RULES, env=["constant", "square"], queue=["drop-tail", "red"], **SHORT)
    table = found.table("loss_rate")
    assert table.columns == ["queue", "rule", "constant", "square"]
    mean = found.summary.row(
        by_predicate=(pl.col("metric") == "loss_rate") & (pl.col("env") == "constant")
        & (pl.col("rule") == RULES[0]) & (pl.col("queue") == "red"),
        named=True,
    )  # fmt: skip
    (cell,) = table.filter(queue="red", rule=RULES[0])["constant"]
    ends = [f"{100 * mean[end]:.3f}" for end in ("ci95_low", "ci95_high")]
    assert cell == f"{100 * mean['mean']:.3f} [{', '.join(ends)}]"
    assert "loss rate [%]" in found._repr_html_()
    assert found.to_pandas().shape == found.summary.shape
    assert pl.read_parquet(found.save(tmp_path) / "summary.parquet").equals(found.summary)
    with pytest.raises(cwndlab.ScenarioError, match='metric: "goodputt" is not known'):
        found.table("goodputt")


def test_a_store_of_a_comparison_is_one_of_sweeps(tmp_path):
    """So that `cwndlab results` and `cwndlab report` read it."""
    cwndlab.compare(RULES, store=tmp_path, **SHORT)
    with cwndlab.Store(tmp_path, write=False) as store:
        assert list(store.definitions()) == ["compare"]
        assert Sweep.from_dict(store.definitions()["compare"]).axes["rule"] == RULES
