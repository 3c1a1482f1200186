"""Writes docs/assess-league.md: 22 rules by the quick tests, and what is said of them.

``python docs/assess_league.py`` keeps runs in ``out/assess-league``, so that it resumes; runs of
the references are shared. Verdicts, with the decisive comparison of each, are in
docs/assess-league.json. ``--draw`` writes the page and pictures again from that file. With
``--dossiers DIR`` each rule's dossier is written there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cwndlab import assess, custom_rules, native, plots
from cwndlab.assessment import Assessment, criteria, dossier, judging
from cwndlab.assessment.dossier import SIGNS
from cwndlab.assessment.judging import BETTER, JUDGED, NO_WORSE, UNDECIDED, WORSE
from cwndlab.documents import is_list, is_mapping
from cwndlab.files import write_whole
from cwndlab.sweeps.base import parse
from parts.pictures import reduce_colours
from parts.text import table

RULES = (
    "AIMD(1, 0.5)", "CUBIC", "BBR1", "BBR3", "Prague", "LEDBAT", "Vegas", "MIMD(1.125, 0.8)",
    "Hybla", "NADA(rmin=1000, rmax=1000)", 'Rule(inc="1", dec="w - 0.001")', "DCTCP",
    "kernel:reno", "kernel:cubic", "kernel:bbr", "HTCP", "Illinois", "HighSpeed", "Westwood", "BIC",
    "GAIMD(0.31, 0.875)", "SQRT",
)  # fmt: skip
SHORT = {
    'Rule(inc="1", dec="w - 0.001")': "hardly shrinks",
    "NADA(rmin=1000, rmax=1000)": "unresponsive",
}
DOCS = Path(__file__).resolve().parent
DATA, PAGE = DOCS / "assess-league.json", DOCS / "assess-league.md"
STORE = DOCS.parent / "out" / "assess-league"


def entry_of(found: Assessment) -> dict[str, Any]:
    """Return what the league keeps of an assessment."""
    return {
        "rule": found.rule,
        "references": list(found.references),
        "criteria": [
            {"section": one.criterion.section, "verdict": one.verdict, "counts": one.counts,
             "reason": one.reason, "calibrated": one.calibrated.startswith("Calibrated"),
             "decisive": None if one.decisive is None else _without_values(one.decisive)}
            for one in found.judged() if one.comparisons
        ],
    }  # fmt: skip


def _without_values(one: judging.Comparison) -> dict[str, Any]:
    return {key: value for key, value in judging.plain(one).items() if key != "values"}


def _short(node: Any) -> Any:
    """Round numbers to six digits."""
    if is_mapping(node):
        return {key: _short(value) for key, value in node.items()}
    if is_list(node):
        return [_short(value) for value in node]
    return float(f"{node:.6g}") if isinstance(node, float) else node


class Listed:
    """A rule of the league, as a figure takes it."""

    deciding: Sequence[str] = ()

    def __init__(self, entry: dict[str, Any]) -> None:
        self.rule: str = SHORT.get(str(entry["rule"]), str(entry["rule"]))
        self._judged = [
            SimpleNamespace(
                criterion=criteria()[one["section"]], verdict=one["verdict"], comparisons=[one]
            )
            for one in entry["criteria"]
        ]

    def judged(self) -> Sequence[Any]:
        """Return each criterion with its verdict."""
        return self._judged


def draw(entries: list[dict[str, Any]]) -> None:
    """Draw the table of criteria and rules."""
    figure = plots.league([Listed(entry) for entry in entries])
    reduce_colours(plots.save(figure, DOCS / "images" / "assess-league.png"))


def said(entries: list[dict[str, Any]]) -> tuple[str, int, int]:
    """Return the table of what is said of rules, how much of it agrees, and of how much."""
    verdicts = {
        (entry["rule"], one["section"]): one for entry in entries for one in entry["criteria"]
    }
    texts = parse((DOCS / "assess_sayings.toml").read_text(encoding="utf-8"))["said"]
    rows: list[list[str]] = []
    agree = 0
    for text in texts:
        rule = custom_rules.shown(native.rule(text["rule"]))
        one = verdicts.get((rule, text["section"]))
        verdict = "not run" if one is None else one["verdict"]
        agree += verdict in text["verdicts"]
        rows.append([
            SHORT.get(rule, rule), text["section"], f"{text['says']} ({text['source']})",
            f"{SIGNS[verdict]} {verdict}", "yes" if verdict in text["verdicts"] else "**no**",
            text.get("but") or ("" if one is None else one["reason"]),
        ])  # fmt: skip
    head = ["rule", "section", "what is said", "verdict", "agrees", "why"]
    return table(head, rows), agree, len(rows)


def rows_of(entries: list[dict[str, Any]]) -> str:
    """Return a row for each rule: numbers of verdicts, and the criteria that are worse."""
    rows: list[list[str]] = []
    for entry in entries:
        by = {name: [one for one in entry["criteria"] if one["verdict"] == name] for name in JUDGED}
        rule = SHORT.get(entry["rule"], entry["rule"])
        must = ", ".join(
            one["section"] + (" (MUST)" if criteria()[one["section"]].must else "")
            for one in by[WORSE]
        )
        counts = [str(len(by[name])) for name in (WORSE, UNDECIDED, BETTER, NO_WORSE)]
        rows.append([f"`{rule}`", *counts, must])
    return table(["rule", "worse", "undecided", "better", "no worse", "worse in"], rows)


def page(entries: list[dict[str, Any]]) -> str:
    """Write the page."""
    sayings, agree, of = said(entries)
    calibrated = {one["section"] for entry in entries for one in entry["criteria"]
                  if one["calibrated"]}  # fmt: skip
    judged = {one["section"] for entry in entries for one in entry["criteria"]}
    return f"""# League table

{len(entries)} rules by the criteria of RFC 9743, with the quick tests of
[`cwndlab assess`](assess.md) (`python docs/assess_league.py`, which writes this page;
[assess-league.json](assess-league.json) has every verdict with its decisive comparison). Each rule
stands beside Reno and CUBIC, which decide, and BBR3. "unresponsive" sends 1000 packets a second
whatever happens, `NADA(rmin=1000, rmax=1000)`; "hardly shrinks" is
`Rule(inc="1", dec="w - 0.001")`. {len(calibrated)} of
{len(judged)} criteria are [calibrated](assess-calibration.md).

![Criteria in rows, rules in columns, a sign for each verdict](images/assess-league.png)

A rule that is worse by few criteria is not therefore the best: criteria differ in weight, and
"worse" is against what standards achieve there. CUBIC, a standard itself, is judged against Reno
alone, and its queues are longer.

{rows_of(entries)}

## Beside what is said of them

Statements of RFCs, drafts and papers, with the verdicts that agree with them
([assess_sayings.toml](assess_sayings.toml)), and the verdicts here. {agree} of {of} agree.

{sayings}
"""


def main() -> int:
    """Assess the rules, and write data, page and picture."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--jobs", type=int, help="runs at a time; by default one per processor")
    options.add_argument("--draw", action="store_true", help="only write the page again")
    options.add_argument("--dossiers", type=Path, metavar="DIR", help="write the dossiers, too")
    given = options.parse_args()
    entries: list[dict[str, Any]] = []
    if given.draw:
        entries = json.loads(DATA.read_text(encoding="utf-8"))["rules"]
    else:
        for rule in RULES:
            began_s = time.process_time()
            found = assess(rule, quick=True, store=STORE, jobs=given.jobs)
            entries.append(entry_of(found))
            counts = dossier.counts(found)
            print(f"{found.rule}: {', '.join(f'{SIGNS[k]} {n} {k}' for k, n in counts.items())}; "
                  f"{time.process_time() - began_s:.0f} s of processor time",
                  flush=True)  # fmt: skip
            if given.dossiers is not None:
                file = "".join(c if c.isalnum() else "-" for c in rule).strip("-") + ".html"
                dossier.write(found, given.dossiers / file)
        data: dict[str, Any] = {"build": native.build(), "rules": entries}
        write_whole(DATA, f"{json.dumps(_short(data), separators=(',', ':'))}\n".encode())
        first = assess("BBR1", quick=True, store=STORE, jobs=given.jobs)
        reduce_colours(plots.save(first.plot(), DOCS / "images" / "assess-bbr1.png"))
    write_whole(PAGE, page(entries).encode())
    draw(entries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
