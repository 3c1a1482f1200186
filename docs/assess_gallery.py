"""Writes the gallery of docs/assess: dossiers of eight rules, and a table of criteria and rules.

``python docs/assess_gallery.py`` has the quick tests and takes about two minutes on two processors,
``--full`` the whole suite, 920 s of processor time; runs are kept in ``out/assess-gallery``, so
that it resumes. ``--draw`` only draws the table again, from the dossiers that are there.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from types import SimpleNamespace

from cwndlab import assess, plots
from cwndlab.assessment import ADVERSARY, Assessment, dossier
from cwndlab.assessment.dossier import SIGNS, counts
from cwndlab.plots.assessment import COLORS
from cwndlab.plots.subjects import Assessed
from parts.pictures import reduce_colours

RULES = ("AIMD(1, 0.5)", "CUBIC", "BBR1", "BBR3", "Prague", "GAIMD(0.31, 0.875)", "SQRT",
         "MIMD(1.125, 0.8)")  # fmt: skip
DOCS = Path(__file__).resolve().parent
PART = re.compile(r"<!-- gallery -->\n.*?<!-- end -->", re.DOTALL)
STORE = DOCS.parent / "out" / "assess-gallery"


TILE = re.compile(
    r'<a class="[^"]*" href="#s[^"]*"><span class="must">[^<]*</span><b>(?P<section>[^<]+)</b> '
    r'<span class="v [^"]*">\S+ (?P<verdict>[^<]+)</span><br>(?P<title>[^<]+)</a>'
)


class Kept:
    """What a dossier says of its rule, for the table.

    Parameters
    ----------
    rule : str
        The rule of the dossier.
    """

    deciding = ()

    def __init__(self, rule: str) -> None:
        text = (DOCS / "assess" / file_of(rule)).read_text(encoding="utf-8")
        self.rule = unescape(text.partition("<h1>")[2].partition(" by the criteria")[0])
        self._judged = [
            SimpleNamespace(
                criterion=SimpleNamespace(section=tile["section"], title=unescape(tile["title"])),
                verdict=tile["verdict"],
                comparisons=[tile["verdict"]] if tile["verdict"] in COLORS else [],
            )
            for tile in TILE.finditer(text)
        ]

    def judged(self) -> list[SimpleNamespace]:
        """Return each criterion with its verdict."""
        return self._judged


def draw_league(found: Sequence[Assessed]) -> None:
    """Draw the table of criteria and rules."""
    path = plots.save(plots.league(found), DOCS / "images" / "assess-league.png")
    reduce_colours(path)


def file_of(rule: str) -> str:
    """Return the name of a rule's dossier."""
    return rule.partition("(")[0].lower() + ".html"


def gallery(found: list[Assessment]) -> str:
    """Write the gallery as Markdown."""
    lines = [
        "| rule | worse | undecided | better | no worse | the worst link found |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in found:
        number = counts(one)
        cells = [str(number.get(name, 0)) for name in ("worse", "undecided", "better", "no worse")]
        worst = "" if one.worst is None else one.worst.text
        lines.append(
            f"| [{one.rule}](assess/{file_of(one.rule)}) | {' | '.join(cells)} | {worst} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Assess the rules, and write their dossiers, the table and the picture."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--full", action="store_true", help="all cells, 20 replicates of each")
    options.add_argument("--jobs", type=int, help="runs at a time; by default one per processor")
    options.add_argument("--draw", action="store_true", help="only the table, from the dossiers")
    given = options.parse_args()
    if given.draw:
        draw_league([Kept(rule) for rule in RULES])
        return 0
    quick = not given.full
    found: list[Assessment] = []
    for rule in RULES:
        began_s = time.process_time()
        one = assess(rule, suites=("rfc9743", ADVERSARY), quick=quick, store=STORE, jobs=given.jobs)
        print(f"{one.rule}: {', '.join(f'{SIGNS[k]} {n} {k}' for k, n in counts(one).items())}; "
              f"{time.process_time() - began_s:.0f} s of processor time",
              flush=True)  # fmt: skip
        found.append(one)
    for one in found:
        dossier.write(one, DOCS / "assess" / file_of(one.rule))
    page = DOCS / "assess.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(
        PART.sub(lambda _: f"<!-- gallery -->\n{gallery(found)}<!-- end -->", text),
        encoding="utf-8",
    )
    first = next(one for one in found if one.rule == "BBR1")
    reduce_colours(plots.save(first.plot(), DOCS / "images" / "assess-bbr1.png"))
    draw_league(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
