"""The browser of claims: one HTML file, made of ``reproduction.json`` alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cwndlab.reproduction.open_values import DEPENDS
from cwndlab.reproduction.overview import outcome
from cwndlab.reproduction.page import SIGNS
from cwndlab.reproduction.readings import FAILS, UNDECIDED
from cwndlab.reproduction.summary_text import measured

NOT_RUN = "not run"


def html(data: Mapping[str, Any]) -> str:
    """Write the browser; it needs no network, and without JavaScript it shows every claim."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("cwndlab"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    claims = [row for key, paper in data["papers"].items() for row in _rows(key, paper)]
    names = {"paper": "paper", "verdict": "verdict", "cause": "cause", "tag": "tag",
             "readings": "kind"}  # fmt: skip
    choices = {
        name: sorted({claim[key] for claim in claims if claim[key]}) for name, key in names.items()
    }
    template = environment.get_template("claims.html.jinja")
    return template.render(claims=claims, papers=data["papers"], choices=choices)


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
