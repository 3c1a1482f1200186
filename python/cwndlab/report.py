"""A comparison as one self-contained HTML file: tables, plots, settings, where it came from."""

from __future__ import annotations

import base64
import platform
from pathlib import Path
from typing import Any

from cwndlab import native, plots
from cwndlab.comparison import SETTING, Comparison
from cwndlab.environments import ENVIRONMENTS
from cwndlab.metrics import METRICS, Metric
from cwndlab.plan import Plan
from cwndlab.results import Result
from cwndlab.tables import number, with_interval

TRACES = {"cwnd": plots.windows_by_rule, "rate": plots.goodput_by_rule, "queue": plots.queue_by_rule}
CAPTIONS = {
    "cwnd": "Congestion windows over time, one panel per rule",
    "rate": "Goodput against available bandwidth over time, one panel per rule",
    "queue": "Queue at the bottleneck over time, one panel per rule",
}


def write_report(comparison: Comparison, path: str | Path, *, title: str = "Rules side by side") -> Path:
    """Write a comparison as one HTML file that loads nothing from elsewhere.

    Parameters
    ----------
    comparison : Comparison
        Traces of its replicate 0, if recorded, become plots over time.
    path : str or Path
        The file; its folder is made.
    title : str
        Heading.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab.comparison import compare, plan_rules
    >>> comparison = compare(plan_rules(["AIMD(1, 0.5)"], replicates=1, duration_s=2.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(comparison, Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("cwndlab"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    html = environment.get_template("report.html.jinja").render(_content(comparison, title))
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(html, encoding="utf-8")
    return target


def _content(comparison: Comparison, title: str) -> dict[str, Any]:
    plan = comparison.plan
    names = [level.label for level in plan.axes["env"]]
    base = plan.base.to_dict()
    return {
        "title": title,
        "settings": [_setting(comparison, setting) for setting in _settings(comparison)],
        "environments": [ENVIRONMENTS[name] for name in names],
        "facts": {
            "rules": ", ".join(level.label for level in plan.axes["rule"]),
            "runs": f"{len(comparison.results)} of {len(plan)} finished",
            "replicates": _replicates(plan),
            "duration": f"{base['duration']} (measured {base['measure']})",
            "profile": base.get("profile", "rfc"),
            "cwndlab": native.version(),
            "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        },
        "scenario": plan.base.to_json(),
        "hashes": comparison.runs.select("recovery", "queue", "env", "rule", "seed", "trace_hash").to_dicts(),
    }


def _replicates(plan: Plan) -> str:
    last = plan.seed + plan.replicates - 1
    return f"{plan.replicates} per cell, seeds {plan.seed} to {last} in every cell"


def _settings(comparison: Comparison) -> list[tuple[str, str]]:
    return comparison.runs.select(SETTING).unique(maintain_order=True).rows()


def _setting(comparison: Comparison, setting: tuple[str, str]) -> dict[str, Any]:
    recovery, queue = setting
    bars = plots.comparison_bars(comparison, setting=setting)
    return {
        "title": f"{recovery} over {queue}",
        "bars": plots.svg_text(bars),
        "tables": [_table(comparison, setting, metric) for metric in METRICS],
        "timelines": [
            {"environment": level.label, "images": _timelines(comparison, setting, level.label)}
            for level in comparison.plan.axes["env"]
        ],
    }


def _table(comparison: Comparison, setting: tuple[str, str], metric: Metric) -> dict[str, Any]:
    recovery, queue = setting
    chosen = {"recovery": recovery, "queue": queue, "metric": metric.key}
    summary = comparison.summary.filter(**chosen)
    scores = {row["rule"]: row for row in comparison.scores.filter(**chosen).to_dicts()}
    environments = summary["env"].unique(maintain_order=True).to_list()
    rows = []
    for rule in summary["rule"].unique(maintain_order=True):
        cells = {row["env"]: row for row in summary.filter(rule=rule).to_dicts()}
        rows.append(
            {
                "rule": rule,
                "cells": [with_interval(cells.get(name), metric) for name in environments],
                "scores": [number(scores[rule][key], metric) for key in ("C_a", "D_a")],
            }
        )
    return {"metric": metric, "environments": environments, "rows": rows}


def _timelines(comparison: Comparison, setting: tuple[str, str], environment: str) -> list[dict[str, str]]:
    recovery, queue = setting
    results: dict[str, Result] = {}
    for level in comparison.plan.axes["rule"]:
        cell = {"recovery": recovery, "queue": queue, "env": environment, "rule": level.label}
        if (result := comparison.result(**cell)) is not None:
            results[level.label] = result
    return [
        {"caption": CAPTIONS[trace], "data": base64.b64encode(plots.png_bytes(draw(results))).decode()}
        for trace, draw in TRACES.items()
        if results and all(trace in result.traces for result in results.values())
    ]
