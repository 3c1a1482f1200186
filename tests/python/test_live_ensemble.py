"""A live run is judged by the spread of simulated ones, not by one of them."""

from __future__ import annotations

import json

import jsonschema
import polars as pl
import pytest

from cwndlab import Result, dumbbell, outputs
from cwndlab.cli.live_tables import print_beside
from cwndlab.errors import ScenarioError
from cwndlab.live_runs.ensemble import HOST_JITTER, Ensemble, Judged, sentence
from cwndlab.live_runs.result import LiveResult
from cwndlab.live_runs.running import live
from cwndlab.metrics import Metric
from cwndlab.statistics import prediction

PATH = dumbbell(
    "5Mbit", "10ms", flows=[{"name": "near", "rule": "CUBIC"}, {"name": "far", "rule": "BBR1"}],
    duration="4s", trace={"cwnd": "50ms", "queue": "50ms"},
)  # fmt: skip
SHARE = Metric(key="share.near", label="share of near", meaning="", unit="%", scale=100, digits=1)


@pytest.fixture(scope="module")
def found() -> LiveResult:
    """A "live" run that is in truth one more simulated one."""
    runs = Ensemble.run(PATH, 5)
    other = Ensemble.run(PATH.set("seed", 90), 2)[0]
    answer = LiveResult(
        {**other.fields, "valid": True, "reasons": []}, other.flows, other.links,
        traces=other.traces, scenario=other.scenario,
    )  # fmt: skip
    answer.simulated = runs
    return answer


def test_runs_differ_in_their_seed_and_have_host_jitter(found):
    assert [run.fields["seed"] for run in found.simulated] == [1, 2, 3, 4, 5]
    assert {run.scenario["host_jitter"] for run in found.simulated} == {HOST_JITTER}
    assert len({run.fields["trace_hash"] for run in found.simulated}) == 5
    own = Ensemble.run(PATH.set("host_jitter", "2ms"), 2)
    assert own.host_jitter == "2ms"
    # Traces are those of the first run, for the plot.
    assert [bool(run.traces) for run in found.simulated] == [True, *[False] * 4]


def test_a_run_is_judged_by_the_spread():
    # Mean 0.5, s = 0.1, t of 4 degrees of freedom 2.776: 0.5 -+ 2.776 x 0.1 x sqrt(1.2).
    values = (0.4, 0.4, 0.5, 0.6, 0.6)
    low, high = prediction(values)
    assert (low, high) == pytest.approx((0.5 - 0.30414, 0.5 + 0.30414), abs=1e-4)
    inside = Judged(SHARE, values, 0.79, 0.5, low, high)
    outside = Judged(SHARE, values, 0.82, 0.5, low, high)
    assert (inside.says, outside.says) == ("inside", "outside")
    assert sentence([inside], 5) == ("Live is inside the spread of 5 simulated runs: share of near")
    assert "outside the spread of 5 simulated runs: share of near" in sentence([outside], 5)
    assert Judged(SHARE, (0.5,), 0.5, 0.5).says == "-"


def test_one_more_run_is_inside_the_spread_of_others():
    """By definition of the interval 95 % of further normal values are: of 400 between 92 and 98 %
    (three standard errors of 1.1 %)."""
    import random

    draw = random.Random(4)
    count = 0
    for _ in range(400):
        *values, more = (draw.gauss(3, 2) for _ in range(11))
        low, high = prediction(values)
        count += low <= more <= high
    assert 0.92 * 400 <= count <= 0.98 * 400


def test_tables_json_and_files_have_every_run(found, tmp_path, capsys):
    table = found.table()
    assert table.filter(pl.col("run") == "live").height == 2
    assert table.filter(pl.col("run") == "simulated")["seed"].unique().sort().to_list() == [
        1, 2, 3, 4, 5,
    ]  # fmt: skip
    answer = json.loads(found.to_json())
    assert answer["schema"] == "live-beside/1"
    assert len(answer["simulated"]) == 5
    keys = [one["metric"] for one in answer["judged"]]
    assert keys[:2] == ["share.near", "aggregate_goodput_bps"]
    assert all(len(one["simulated"]) == 5 for one in answer["judged"])
    found.save(tmp_path)
    for folder in ("live", *(f"simulated/seed-{seed}" for seed in range(1, 6))):
        assert Result.load(tmp_path / folder).flows.height == 2
    print_beside(found)
    said = capsys.readouterr().out
    assert "Beside 5 simulated runs, seeds 1 to 5, host jitter 1ms" in said
    assert "spread of 5 simulated runs" in said
    assert "differ by" not in said


def test_the_judgement_fits_its_schema(found):
    schema = outputs.schema("live-beside")["properties"]["judged"]
    jsonschema.validate(found.to_dict()["judged"], schema)


def test_the_plot_says_the_same(found):
    figure = found.plot()
    title = figure.get_suptitle().replace("\n", " ")
    assert title == sentence(found.judged, 5)


def test_one_simulated_run_is_refused():
    with pytest.raises(ScenarioError, match="replicates: 1 is not valid: expected at least 2"):
        live(PATH, "quic", beside=True, replicates=1)


@pytest.mark.parametrize("kind", ["linux", "quic"])
def test_replicates_need_beside(cli, tmp_path, kind):
    (tmp_path / "path.toml").write_text(PATH.to_toml())
    done = cli("live", kind, "path.toml", "--replicates", "5")
    assert done.returncode == 2
    assert "`--replicates` needs `--beside`" in done.stderr
    done = cli("live", kind, "path.toml", "--beside", "--replicates", "1")
    assert done.returncode == 2
    assert "--replicates" in done.stderr
