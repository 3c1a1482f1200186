"""chandrayana2002: the paper's folder, Hurst estimators on noise of known H, counted arrivals,
quantities by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import cwndlab_papers as reproduce
from cwndlab import Store, Sweep, link_arrivals, run
from cwndlab.errors import ScenarioError
from cwndlab_papers import Data, ResultsGrid
from cwndlab_papers.papers.chandrayana2002 import hurst, measures

CATALOGUE = {"fig2a", "fig2b", "fig2c", "fig2d", "fig3", "robust", "fig4a", "fig4b", "fig4c"}
PAPER = reproduce.load("chandrayana2002")
BINS = 35_000
"""Of 0.1 s, 100 to 3600 s."""


def _value(data: Data, id: str, name: str) -> float:
    claim = next(claim for claim in PAPER.claims if (claim.id, claim.name) == (id, name))
    return PAPER.quantity(claim)(data, claim)


def test_the_paper_is_whole():
    assert set(PAPER.experiments) == CATALOGUE
    assert {claim.id for claim in PAPER.claims} == CATALOGUE
    for claim in PAPER.claims:
        assert callable(PAPER.quantity(claim))
        assert set(claim.plans) <= set(PAPER.plans_of([claim.id]))
    for experiment in PAPER.experiments.values():
        for kind, module in (("figure", "figures"), ("table", "tables")):
            assert callable(getattr(PAPER.module(module), getattr(experiment, kind)))
    assert (PAPER.folder / "README.md").is_file()


def test_plans_are_those_of_the_catalogue():
    for plan, cases in (("loads", [40, 50, 60, 70, 80]), ("mixed", [2, 10, 20, 30, 40, 50])):
        for name in (plan, f"{plan}-one"):
            axes = PAPER.sweep(name).plan.axes
            assert [int(level.label) for level in axes["case"]] == cases
            k = [
                float(level.label.removeprefix("Binomial(").split(",")[0]) for level in axes["rule"]
            ]
            assert k == [tenth / 10 for tenth in range(0 if plan == "loads" else 1, 11)]
    assert PAPER.sweep("loads").base["duration"] == "3600s"
    assert PAPER.sweep("mixed").base["duration"] == "500s"
    assert {level.label for level in PAPER.sweep("loads").plan.axes["variant"]} == {
        "quirk",
        "exact",
    }


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [0.5, 0.6, 0.7, 0.8])
def test_estimators_find_a_known_hurst_parameter(wanted):
    fbm = pytest.importorskip("fbm", reason="needs the package fbm: `make setup` installs it")
    # Its generator takes numpy's global stream (method of Davies and Harte, exact).
    np.random.seed(int(10 * wanted))  # noqa: NPY002
    series = [fbm.FBM(BINS, wanted, length=BINS).fgn() for _ in range(8)]
    found = pl.DataFrame([hurst.estimates(one) for one in series]).mean().to_dicts()[0]
    # Means of eight. Absolute values and R/S are biased in finite series, by up to 0.05 at this
    # length and these H: the former loses what the mean takes, the latter begins too large. The
    # periodogram is not.
    assert found["absolute"] == pytest.approx(wanted, abs=0.06)
    assert found["rescaled"] == pytest.approx(wanted, abs=0.06)
    assert found["periodogram"] == pytest.approx(wanted, abs=0.03)


def test_estimators_of_what_has_no_long_memory_or_all_of_it():
    stream = np.random.default_rng(3)
    noise = stream.normal(size=BINS)
    # What is added is taken away again: sums do not spread, H goes to 0. A random walk has H near 1
    # in its values.
    assert all(value < 0.2 for value in hurst.estimates(np.diff(noise)).values())
    assert all(value > 0.8 for value in hurst.estimates(np.cumsum(noise)).values())
    assert all(np.isnan(value) for value in hurst.estimates(noise[:300]).values())
    assert all(np.isnan(value) for value in hurst.estimates(np.ones(BINS)).values())


BASE = {
    "duration": "60s", "measure": ["10s", "60s"], "trace": {"packets": True},
    "dumbbell": {"rate": "1Mbit", "delay": "40ms", "access_rate": "5Mbit",
                 "access_delay": ["2ms", "12ms"],
                 "queue": {"kind": "drop-tail", "limit": "20pkt"}},
    "flows": [{"name": "flow", "count": 6, "rule": "AIMD(1, 0.5)", "recovery": "reno",
    "start": ["0s", "1s"]}],
}  # fmt: skip


def test_times_of_arrival_are_those_of_the_link():
    result = run(BASE)
    arrived = np.sort(link_arrivals._times(result))
    assert len(arrived) == result.links["total_arrived_packets"][0] + np.sum(arrived > 60)
    # What is lost is traced with the time of its arrival at the link: each is among the times that
    # were computed.
    dropped = result.traces["packets"].filter(pl.col("event") == "drop")["time_s"].to_numpy()
    assert len(dropped) > 20
    nearest = np.abs(
        arrived[np.clip(np.searchsorted(arrived, dropped), 1, len(arrived) - 1)][:, None]
        - dropped[:, None]
    )
    before = np.abs(arrived[np.searchsorted(arrived, dropped) - 1] - dropped)
    assert np.max(np.minimum(nearest[:, 0], before)) < 1e-9


def test_a_sweep_keeps_counts_in_place_of_packets(tmp_path):
    sweep = Sweep(
        name="counts",
        base=BASE,
        replicates=1,
        traces=True,
        count_arrivals="100ms",
        metrics=["goodput"],
    )
    sweep.run(tmp_path)
    with Store(tmp_path, write=False) as store:
        record = next(store.records())
        traces = store.traces(record)
        arrived = record.run()["links"][0]["total_arrived_packets"]
    assert list(traces) == [link_arrivals.TRACE]
    counted = traces[link_arrivals.TRACE]
    assert counted.height == 600
    assert counted["arrived_packets"].sum() == arrived


def test_counts_in_other_bins_are_other_runs(tmp_path):
    heights = []
    for length in ("100ms", "500ms", None, "0.1s"):
        named = {} if length is None else {"count_arrivals": length}
        sweep = Sweep(
            name=f"in {length}", base=BASE, replicates=1, traces=True, metrics=["goodput"], **named
        )
        sweep.run(tmp_path)
        with Store(tmp_path, write=False) as store:
            heights = sorted(
                frame.height
                for record in store.records()
                for frame in store.traces(record).values()
            )
            tables = len(list(store.records()))
    assert tables == 3, "100ms and 0.1s are one"
    assert heights[:2] == [120, 600]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"traces": False}, "needs `traces = true`"),
        ({"base": {**BASE, "trace": {}}}, "needs traced packets"),
        ({"base": {**BASE, "cross": [{"rate": "1Mbit"}]}}, "the scenario has `cross`"),
        (
            {"base": {**BASE, "flows": [{**BASE["flows"][0], "access_rate": "1Mbit"}]}},
            "`flows.access_rate`",
        ),
    ],
)
def test_where_arrivals_cannot_be_counted_it_is_said(changes, words):
    with pytest.raises(ScenarioError, match=words):
        Sweep(**{"base": BASE, "traces": True, "count_arrivals": "100ms", **changes})


def test_measures_by_hand():
    counts = {
        "sent_packets": 100,
        "timeouts": 1,
        "window_reductions": 4,
        "dropped_packets": 10,
        "goodput_bps": 1e5,
    }
    idle = {**counts, "timeouts": 0, "window_reductions": 0, "dropped_packets": 0}
    flows = [
        {"group": "tcp", **counts},
        {"group": "binomial", **counts, "timeouts": 3, "goodput_bps": 3e5},
    ]
    found = measures.flows({"flows": [*flows, {"group": "tcp", **idle}]}, {})
    # A flow that lost nothing has no share; its loss rate is 0.
    assert found["timeout_share"] == pytest.approx((0.25 + 0.75) / 2)
    assert found["timeouts_per_loss"] == pytest.approx((0.1 + 0.3) / 2)
    assert found["loss_per_flow"] == pytest.approx(0.2 / 3)
    both = measures.two_kinds({"flows": flows}, {})
    assert (both["goodput-tcp"], both["goodput-binomial"], both["timeouts-binomial"]) == (
        1e5,
        3e5,
        3.0,
    )


def _loads(**tables) -> Data:
    """Make the data of plan loads: three k, two cases, three equal replicates."""
    rules = ("Binomial(0, 1, 1, 0.5)", "Binomial(0.5, 0.5, 1, 0.5)", "Binomial(1, 0, 1, 0.5)")
    values = {
        name: np.array(rows)[None, :, :, None].repeat(3, axis=-1) for name, rows in tables.items()
    }
    return Data({"loads": ResultsGrid(("quirk",), ("40", "80"), rules, values)}, {})


def test_quantities_by_hand():
    data = _loads(
        goodput=[[0.9, 0.8, 0.7], [0.9, 0.85, 0.5]],
        timeout_share=[[0.2, 0.4, 0.6], [0.3, 0.5, 0.9]],
        loss_per_flow=[[0.10, 0.20, 0.05], [0.2, 0.3, 0.1]],
    )
    # Leads of AIMD 0.1 and 0.05; IIAD behind by 0.1 and 0.35.
    assert _value(data, "fig2a", "highest-at-0") == pytest.approx(0.05)
    assert _value(data, "fig2a", "lowest-at-1") == pytest.approx(0.1)
    assert _value(data, "fig2a", "gradual") == pytest.approx(1.0)
    # k = 1 falls by 0.2, the others by 0 and -0.05.
    assert _value(data, "fig2a", "slow-deteriorate") == pytest.approx(0.225)
    assert _value(data, "fig2c", "lowest-at-1") == pytest.approx(0.05)
    # Ranks 2 3 1 in both: Spearman -0.5.
    assert _value(data, "fig2c", "rises-with-k") == pytest.approx(-0.5)
    assert _value(data, "fig2d", "highest-at-1") == pytest.approx(0.2)
    assert _value(data, "fig2d", "aimd-recovers") == pytest.approx(0.7)
    assert _value(data, "fig2d", "slow-deteriorate") == pytest.approx(0.2)


def test_quantities_of_mixed_flows_by_hand():
    rules = ("Binomial(0.5, 0.5, 1, 0.5)", "Binomial(1, 0, 1, 0.5)")
    tables = {
        "goodput-tcp": [[4.0, 2.0], [6.0, 6.0]], "goodput-binomial": [[8.0, 8.0], [6.0, 5.0]],
        "dropped-tcp": [[6.0, 6.0], [1.0, 3.0]], "dropped-binomial": [[4.0, 2.0], [1.0, 2.0]],
    }  # fmt: skip
    values = {
        name: np.array(rows)[None, :, :, None].repeat(2, axis=-1) for name, rows in tables.items()
    }
    data = Data({"mixed": ResultsGrid(("quirk",), ("20", "50"), rules, values)}, {})
    assert _value(data, "fig4a", "beaten-at-20") == pytest.approx(1 - (0.5 + 0.25) / 2)
    assert _value(data, "fig4a", "fair-at-50") == pytest.approx((0 + 0.2) / 2)
    assert _value(data, "fig4a", "fairer-with-more") == pytest.approx(0.625 - 0.1)
    assert _value(data, "fig4b", "even-at-50") == pytest.approx((0 + 0.1) / 2)


def test_leads_are_signed_and_divided_by_the_mean():
    own = PAPER.module("quantities")
    rules = ("Binomial(0, 1, 1, 0.5)", "Binomial(1, 0, 1, 0.5)")
    values = {"goodput": [[3.0, 1.0]], "loss_per_flow": [[3.0, 1.0]], "timeout_share": [[0.0, 0.0]]}
    tables = {name: np.array(rows)[None, :, :, None] for name, rows in values.items()}
    data = Data({"robust": ResultsGrid(("",), ("one",), rules, tables)}, {})
    claims = {claim.name: claim for claim in PAPER.claims if claim.id == "robust"}
    assert own.relative_lead(data, claims["throughput"]) == pytest.approx(1.0)
    assert own.relative_lead(data, claims["loss"]) == pytest.approx(-1.0)
    assert own.relative_lead(data, claims["timeouts"]) == 0.0
