"""Losses and marks that links apply independently of their queues, as ns-2's error models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cwndlab.ns2 import tcl
from cwndlab.ns2.network import Network
from cwndlab.ns2.refusals import refused, refused_key
from cwndlab.ns2.routes import Routes

ORDER = ("bernoulli", "list", "marks")
"""ns-2 puts a later model in front of an earlier one: lists then count every arrival, and what is
marked is counted whether or not it is lost."""


def loss_lines(network: Network, routes: Routes, document: Mapping[str, Any]) -> list[str]:
    """Write the error models of every link, in front of its queue."""
    if "dumbbell" in document:
        if document["dumbbell"].get("back_loss"):
            raise refused_key("dumbbell.back_loss", "only the bottleneck loses packets")
        tables = {"bottleneck": ("dumbbell", document["dumbbell"])}
    else:
        tables = {name: (key, table) for key, table, names in _links(document) for name in names}
    lines: list[str] = []
    for link in network.links:
        if link.name not in tables:
            continue
        key, table = tables[link.name]
        models = [(f"{key}.loss[{at}]", loss) for at, loss in enumerate(table.get("loss", []))]
        for model_key, loss in models:
            if loss["kind"] not in ORDER:
                raise refused(f"{model_key}.kind", loss["kind"], ", ".join(ORDER))
        start, end = routes.ends[link.name]
        for kind in ORDER:
            chosen = [(model_key, loss) for model_key, loss in models if loss["kind"] == kind]
            lines += _models(network, f"$n({start}) $n({end})", kind, chosen)
    return lines


def _links(document: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], list[str]]]:
    """Return key, table and the names of the links of every ``[[links]]`` entry."""
    found: list[tuple[str, Mapping[str, Any], list[str]]] = []
    for index, table in enumerate(document["links"]):
        name = table.get("name") or f"{table['from']}-{table['to']}"
        back = f"{name}-back" if table.get("name") else f"{table.get('to')}-{table.get('from')}"
        found.append((f"links[{index}]", table, [name, back] if table.get("duplex") else [name]))
    return found


def _models(
    network: Network, ends: str, kind: str, losses: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[str]:
    """Write the models of one kind, lists of the same packets' owner as one list."""
    lines: list[str] = []
    packets: dict[str | None, list[int]] = {}
    for key, loss in losses:
        if kind == "bernoulli":
            if loss.get("after_queue"):
                raise refused(f"{key}.after_queue", True, "false, a loss in front of the queue")
            for name in ("from", "to"):
                if name in loss:
                    raise refused(f"{key}.{name}", loss[name], "a loss during the whole run")
            lines += [
                "",
                f"# {key}: kind = bernoulli, p = {loss['p']:g}",
                "set model [new ErrorModel]",
                "$model unit pkt",
                f"$model set rate_ {tcl.number(loss['p'])}",
                "$model ranvar [new RandomVariable/Uniform]",
                *_insert(network, key, loss.get("flow"), ends),
            ]
        else:
            packets.setdefault(loss.get("flow"), []).extend(loss["packets"])
    for flow, numbers in packets.items():
        key = losses[0][0]
        listed = " ".join(map(str, sorted(set(numbers))))
        if not listed:
            continue
        lines += [
            "",
            f"# {key}: kind = {kind}" + (f", flow = {tcl.plain(flow)}" if flow else ""),
            "set model [new ErrorModel/List]",
            "$model unit pkt",
            f"$model droplist {{{listed}}}",
            *(["$model set markecn_ true"] if kind == "marks" else []),
            *_insert(network, key, flow, ends),
        ]
    return lines


def _insert(network: Network, key: str, flow: str | None, ends: str) -> list[str]:
    """Put a model in front of a queue, for all packets or for those of one flow."""
    if flow is None:
        return [f"$ns lossmodel $model {ends}"]
    numbers = [number for number, each in enumerate(network.flows, 1) if each.name == flow]
    if not numbers:
        raise refused(f"{key}.flow", flow, "a single flow")
    return [
        "set module [new ErrorModule Fid]",
        "$module insert $model",
        f"$module bind $model {numbers[0]}",
        "$module default pass",
        f"$ns lossmodel $module {ends}",
    ]
