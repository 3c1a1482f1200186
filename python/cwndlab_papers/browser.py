"""The browser of claims: one HTML file, made of ``reproduction.json`` alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cwndlab.plugins import page
from cwndlab_papers.open_values import DEPENDS
from cwndlab_papers.overview import outcome
from cwndlab_papers.page import SIGNS
from cwndlab_papers.readings import FAILS, UNDECIDED
from cwndlab_papers.summary_text import measured

NOT_RUN = "not run"


def html(data: Mapping[str, Any]) -> str:
    """Write the browser; it needs no network, and without JavaScript it shows every claim."""
    claims = [row for key, paper in data["papers"].items() for row in _rows(key, paper)]
    names = {"paper": "paper", "verdict": "verdict", "cause": "cause", "tag": "tag",
             "readings": "kind"}  # fmt: skip
    choices = {
        name: sorted({claim[key] for claim in claims if claim[key]}) for name, key in names.items()
    }
    return page(
        "claims.html.jinja", package="cwndlab_papers", claims=claims, papers=data["papers"],
        choices=choices,
    )  # fmt: skip


def _rows(key: str, paper: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    known = {entry["claim"]: entry for entry in paper.get("readings", {}).get("claims", ())}
    for claim in paper["claims"]:
        found = known.get(f"{claim['id']}/{claim['claim']}")
        kind = NOT_RUN if found is None else str(found["class"])
        yield {
            **claim,
            "paper": key,
            "name": claim["claim"],
            "measured": measured(claim, "measured"),
            "sign": SIGNS[claim["verdict"]],
            "cause": outcome(claim) if claim["verdict"] in (FAILS, UNDECIDED) else "",
            "kind": DEPENDS + " a value" if kind.startswith(DEPENDS) else kind,
            "readings": "-" if found is None else (
                f"{100 * found['share']:.0f} % of {found['readings']}: {kind}"),
        }  # fmt: skip
