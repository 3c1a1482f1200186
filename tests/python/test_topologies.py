"""Topologies: builders, the reading of links and routes beside the core's, tables and pictures."""

from __future__ import annotations

import json

import pytest

import cwndlab
from cwndlab import environments, plots, topologies
from cwndlab.topology import Topology, topology

GRAPH = """
duration = "20s"
links = [
    { from = "client", to = "edge", rate = "100Mbit", delay = "1ms", duplex = true },
    { from = "edge", to = "core", rate = "50Mbit", delay = "5ms", duplex = true },
    {name = "trunk", from = "core", to = "server", rate = "20Mbit", delay = "10ms", duplex = true},
    { from = "edge", to = "cache", rate = "100Mbit", delay = "1ms", duplex = true },
    { from = "cache", to = "server", rate = "10Mbit", delay = "14ms", duplex = true },
]
cross = [{ name = "cbr", rate = "1Mbit", from = "cache", to = "client" }]
[[flows]]
name = "down"
rule = "AIMD(1, 0.5)"
from = "server"
to = "client"
[[flows]]
name = "up"
rule = "AIAD(1, 3)"
from = "client"
to = "server"
count = 2
access_delay = ["1ms", "5ms"]
"""


def _read(scenario: cwndlab.Scenario) -> Topology:
    return topology(scenario.core)


def _scenarios() -> dict[str, cwndlab.Scenario]:
    return {
        "graph": cwndlab.Scenario.from_text(GRAPH),
        "lot": topologies.parking_lot(3, "10Mbit", "15ms", rule="AIMD(1, 0.5)", duration="10s"),
        "ring": topologies.ring(
            5, "10Mbit", "15ms", rule={"rule": "AIMD(1, 0.5)", "count": 2}, duration="10s"
        ),
        "second": environments.scenario("RSQ", queue="ecn"),
        "dumbbell": environments.scenario("SQH", queue="drr"),
    }


def test_routes_of_least_delay_there_and_back():
    read = _read(cwndlab.Scenario.from_text(GRAPH))
    down, up, cbr = read.paths
    # By the cache 1 + 1 + 14 ms, by the core 1 + 5 + 10: equal delay and links, so the links that
    # come first decide.
    assert up.forward == ("client-edge", "edge-core", "trunk")
    assert up.back == ("trunk-back", "core-edge", "edge-client")
    assert down.forward == up.back
    assert cbr.forward == ("cache-edge", "edge-client")
    assert cbr.back == ()
    assert read.route(up.forward) == ["client", "edge", "core", "server"]


def test_the_core_goes_the_same_ways():
    """Base round trips and the links that carry packets say where the core sends them."""
    result = cwndlab.run(cwndlab.Scenario.from_text(GRAPH))
    rtts = dict(result.flows.select("flow", "base_rtt_s").iter_rows())
    assert rtts["down"] == pytest.approx(0.032)
    assert all(0.034 <= rtts[f"up-{i}"] <= 0.042 for i in (0, 1))
    used = set(result.links.filter(arrived_packets=0)["link"])
    assert used == {"edge-cache", "cache-server", "server-cache"}


def test_nodes_of_links_without_names_are_found_by_the_paths():
    scenario = cwndlab.Scenario.from_text(
        """
        duration = "5s"
        links = [
            { name = "a", rate = "1Mbit", delay = "1ms" },
            { name = "b", rate = "1Mbit", delay = "1ms" },
        ]
        flows = [{ rule = "AIMD(1, 0.5)", path = ["b", "a"] }]
        """
    )
    read = _read(scenario)
    assert read.link("b").end == read.link("a").start
    assert len(read.nodes) == 3


def test_every_flow_of_a_ring_meets_another_on_each_of_its_links():
    read = _read(topologies.ring(5, "10Mbit", "15ms", rule="AIMD(1, 0.5)"))
    for link in read.links:
        assert sum(link.name in way.forward for way in read.paths) == 2
    assert all(len(way.forward) == 2 for way in read.paths)


def test_parking_lot_favours_the_short():
    result = cwndlab.run(
        topologies.parking_lot(3, "10Mbit", "15ms", rule="AIMD(1, 0.5)", duration="60s")
    )
    goodput = dict(result.flows.select("flow", "goodput_bps").iter_rows())
    assert goodput["long"] < min(goodput[f"short-{i}"] for i in (1, 2, 3)) / 2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: topologies.parking_lot(0, "1Mbit", "1ms", rule="AIMD(1, 0.5)"), "hops: 0"),
        (lambda: topologies.ring(2, "1Mbit", "1ms", rule="AIMD(1, 0.5)"), "size: 2"),
        (lambda: topologies.ring(3, "1Mbit", "1ms", rule="AIDM(1, 0.5)"), "AIDM"),
    ],
)
def test_bad_topologies(build, message):
    with pytest.raises(cwndlab.ScenarioError, match=message):
        build()


@pytest.mark.parametrize("name", _scenarios())
def test_pictures_show_every_node_link_and_way(name):
    read = _read(_scenarios()[name])
    figure = plots.network(read)
    (axes,) = figure.axes
    texts = " ".join(text.get_text() for text in axes.texts).replace("\n", " ")
    assert all(node in texts for node in read.nodes)
    shown = {link.name for link in read.links if link.name in texts}
    # The second of a pair shares the label of the first.
    assert {frozenset((read.link(link).start, read.link(link).end)) for link in shown} == {
        frozenset((link.start, link.end)) for link in read.links
    }
    paths = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    assert [line.get_label().split(":")[0].removesuffix(" (arriving)") for line in paths] == [
        way.name for way in read.paths
    ]
    assert len({line.get_linestyle() + line.get_color() for line in paths}) == len(paths)


@pytest.mark.slow
def test_cli_prints_and_draws(cli, tmp_path):
    (tmp_path / "graph.toml").write_text(GRAPH)
    answer = cli("topology", "graph.toml", "--plot", "graph.png")
    assert answer.returncode == 0, answer.stderr
    for word in ("trunk-back", "client > edge > core > server", "32.0", "1Mbit", "drop-tail"):
        assert word in answer.stdout
    assert (tmp_path / "graph.png").stat().st_size > 10_000
    data = json.loads(cli("topology", "graph.toml", "--json").stdout)
    assert data["nodes"] == ["client", "edge", "core", "server", "cache"]
    assert data["paths"][0]["least_base_rtt_s"] == pytest.approx(0.032)
    assert data["links"][0]["limit_packets"] > 0


def test_cli_refuses(command, tmp_path):
    (tmp_path / "graph.toml").write_text(GRAPH)
    for arguments, word in (
        (["graph.toml", "--plot", "x.gif"], ".svg"),
        (["nowhere.toml"], "nowhere.toml"),
        (["graph.toml", "--set", "flows.up.to=sever"], "sever"),
    ):
        answer = command("topology", *arguments)
        assert answer.returncode == 2
        assert answer.stdout == ""
        assert word in answer.stderr
