"""Writes the generated parts of the documents: ``python docs/generate.py [DOCUMENT ...]``.

A generated part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``. Names: ``api``
(every public name of the package, from docstrings), ``knobs`` (table of endpoint knobs), ``scenario
TYPE`` (table of a type's keys, or of each of its kinds, from the JSON schema), ``columns TABLE``
(of a result, or ``columns run``), ``traces`` (their columns), ``lessons`` (of the studio),
``metrics`` and ``measures`` (of comparisons, and of one rule against another), ``rules`` (table of
window rules), ``rule FAMILY`` (definition of a family of rules), ``events`` (results of each family
on the lossy link), ``four SCENARIO`` (results of all families on one of the four scenarios),
``luck`` (variation of these results over seeds), ``environments`` (their table), ``assumptions``
(their assumptions and the reasons), ``shares`` (bandwidth of a flow under DRR), ``readings``
(numerical meaning of words in papers), ``agents TABLE`` (of `cwndlab.gym`), ``margins`` (of
relevance), ``verdicts`` (of papers, from docs/reproduction.json, which `cwndlab reproduce --all
--page docs` writes), ``known results`` (from docs/known-results.json, which `cwndlab
known-results --page docs` writes), ``trust`` (three numbers of README.md), ``simulated rates``
(beside theory's), ``fallback`` (of Prague), ``$ COMMAND`` (the command and its output, run from the
repository's root), and ``bench NAME`` (the last record of `make bench`, from bench/document.py).
A part whose command runs ns-2 stays as it is where ns-2 is not installed. With a DOCUMENT only
this one is written, and its pictures are drawn.
``--papers PAPER/ID ...`` draws only pictures of docs/reproduction.md again, from the runs in
out/reproduce, and does the runs that it lacks; verdicts stay. ``--check`` ignores run times, and
does not compare pictures.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cwndlab.message import unknown
from parts import (
    agents,
    all_cells,
    api,
    assessment,
    classic_ecn,
    columns,
    families,
    four,
    lessons,
    ns2_cells,
    pictures,
    published,
    rates,
    scenario,
    tables,
    trust,
)
from parts.text import ROOT

DOCUMENTS = (
    "README.md", "docs/api.md", "docs/assess.md", "docs/assess-calibration.md",
    "docs/environments.md", "docs/live-beside.md",
    "docs/custom-rules.md", "docs/design.md", "docs/first-session.md", "docs/gym.md",
    "docs/import.md", "docs/known-results.md", "docs/l4s.md", "docs/lessons/README.md",
    "docs/metrics.md", "docs/multipath.md", "docs/network.md", "docs/ns2.md",
    "docs/ns2-profiles.md", "docs/papers.md",
    "docs/performance.md", "docs/profiles.md", "docs/published.md", "docs/reproduction.md",
    "docs/rules.md", "docs/scenario.md", "docs/search.md", "docs/sweeps.md", "docs/theory.md",
    "docs/traffic.md", "docs/tutorial.md", "docs/waveforms.md", "docs/witness.md",
)  # fmt: skip
PICTURES = {
    "docs/images/against.png": (
        'cwndlab compare CUBIC --against "AIMD(1, 0.5)" --queue drop-tail,red,drr,fq-codel --plot'
    ),
    "docs/images/environments.png": "cwndlab environments all --plot",
    "docs/images/live-beside.png": "python bench/beside.py --draw",
    "docs/images/one-flow-sawtooth.png": "cwndlab run examples/one-flow-sawtooth.toml "
    "--width page --plot",
    "docs/images/theory-bimodal.png": "cwndlab theory bimodal --flows 8 --join 1 --plot",
    "docs/images/theory-friendly.png": "cwndlab theory friendly --beta 0.875 --plot",
    "docs/images/theory-phase.png": (
        'cwndlab theory phase "AIMD(1, 0.5)" --start 8,64 --start 70,10 --plot'
    ),
    "docs/images/sweep-buffers.png": "cwndlab sweep examples/sweep-buffers.toml --store out/docs "
    "--plot",
    "docs/images/figure-column.svg": "cwndlab sweep examples/sweep-buffers.toml --store out/docs "
    "--width column --style paper --order CUBIC --label 'AIMD(1, 0.5)=Reno' "
    "--label 'AIMD(0.31, 0.875)=GAIMD' --plot",
    "docs/images/figure-shares.svg": "cwndlab sweep examples/sweep-shares.toml --store out/docs "
    "--x dumbbell.queue.limit --hue group --style paper --plot",
    "docs/images/search.png": (
        'cwndlab search --best "AIAD(1, 3)" --worst "AIMD(1, 0.8)" --bound period=0.5s..6s '
        "--bound high=1Mbit..2.7Mbit --out out/search && cp out/search/plot.png"
    ),
    "docs/images/report.png": (
        # Runs of an earlier build of the engine would have a banner of their own.
        "rm -rf out/report && cwndlab sweep examples/sweep-buffers.toml --store out/report && "
        "cwndlab report out/report -o out/report/buffers.html && "
        "python docs/parts/screenshot.py out/report/buffers.html"
    ),
    "docs/images/import.png": "mkdir -p out && cwndlab run examples/one-flow-sawtooth.toml -q "
    "--pcap out/flow.pcapng > out/flow.txt && cwndlab import pcap out/flow.pcapng "
    "-o out/flow.toml --plot",
    "docs/images/ring.png": "cwndlab topology examples/ring.toml --plot",
    "docs/images/second-topology.png": "cwndlab topology examples/second-topology.toml --plot",
    **published.pictures(),
}
STUDY = (
    "cwndlab sweep examples/sweep-three-rules.toml --x dumbbell.queue.limit --hue group "
    "--panel beside --style paper --label dumbbell.queue.limit=buffer --label nothing=alone "
    "--label 'bursts=with cross traffic' --label 'losses=with 0.1 % random loss'"
)
PICTURES |= {
    "docs/images/tutorial-run.png": (
        "cwndlab run examples/three-rules.toml --set dumbbell.queue.limit=8bdp --plot"
    ),
    "docs/images/tutorial-shares.svg": f"{STUDY} --plot",
}
PART = re.compile(r"<!-- generated: (?P<name>.+?) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
WALL_CLOCK = re.compile(r"in \d+\.\d+ s \(\d+\.\d+ M packets/s\)")
BUILD = re.compile(r"(?<=, build )[0-9a-f]{16}")
"""Fingerprint of the engine's sources: it changes with every edit of them, whatever they do."""


def call(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of this environment in the repository's root."""
    folder = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONIOENCODING": "utf-8",
        # Not the width of the terminal that asks.
        "COLUMNS": "",
    }
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip


def console(command: str) -> str:
    """Run a command and quote it with its output, messages included."""
    lines = [line.rstrip() for line in call(command).stdout.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return "```console\n" + "\n".join([f"$ {command}", *lines]) + "\n```\n"


def generate(name: str) -> str:
    """Return the text of the part `name`."""
    if name.startswith("$ "):
        return console(name[2:])
    if name.startswith("bench "):
        return measured(name.removeprefix("bench "))
    kind, _, what = name.partition(" ")
    about = {
        "scenario": scenario.scenario_type,
        "rule": families.section,
        "four": four.four,
        "columns": columns.columns,
        "assessment": assessment.part,
        "agents": agents.part,
        "published": published.part,
    }
    if kind in about:
        return about[kind](what)
    makers = {
        "api": api.reference,
        "knobs": tables.knobs,
        "traces": columns.traces,
        "lessons": lessons.lessons,
        "metrics": columns.metrics,
        "measures": columns.measures,
        "dated knobs": tables.dated_knobs,
        "often changed knobs": tables.often_changed_knobs,
        "rules": tables.rules,
        "events": families.events,
        "luck": four.luck,
        "environments": tables.environment_table,
        "assumptions": tables.assumption_table,
        "shares": tables.share_table,
        "margins": tables.margins,
        "readings": tables.readings,
        "verdicts": tables.verdicts,
        "known results": tables.known_results,
        "witness": tables.witness,
        "cells for ns-2": ns2_cells.cells,
        "cells in both": all_cells.both,
        "fallback": classic_ecn.fallback_table,
        "simulated rates": rates.simulated_rates,
        "trust": trust.trust,
    }
    return makers[name]()


def measured(name: str) -> str:
    """Quote the record of the benchmark."""
    spec = importlib.util.spec_from_file_location("bench_document", ROOT / "bench" / "document.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.part(name)


def comparable(text: str) -> str:
    """Remove what depends on the machine or the build."""
    return BUILD.sub("B", WALL_CLOCK.sub("in T s (P M packets/s)", text))


def can_generate(name: str) -> bool:
    """Whether this machine has the program that the part `name` runs."""
    return "--beside ns2" not in name or shutil.which("ns") is not None


def refreshed(text: str) -> str:
    """Return a document with its parts generated again.

    A part that is equal but for run times is kept, and so is one that cannot be generated here.
    """

    def part(found: re.Match[str]) -> str:
        if not can_generate(found["name"]):
            return found[0]
        new = generate(found["name"])
        kept = found["text"] if comparable(found["text"]) == comparable(new) else new
        return f"<!-- generated: {found['name']} -->\n{kept}<!-- end -->"

    return PART.sub(part, text)


def shown(documents: Sequence[str]) -> dict[str, str]:
    """Return the pictures that documents show, with their commands."""
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in documents)
    return {name: command for name, command in PICTURES.items() if Path(name).name in text}


def redraw(experiments: list[str]) -> None:
    """Draw pictures of docs/reproduction.md again."""
    import cwndlab_papers as reproduction
    from cwndlab_papers.summary import shrink

    for key, ids in reproduction.choose(experiments).items():
        found = reproduction.reproduce(key, ids, out=ROOT / "out" / "reproduce")
        for name in found.ids:
            if found.paper.experiments[name].figure:
                shrink(
                    found.folder / name / "plot.png",
                    ROOT / "docs" / "images" / "reproduction" / f"{key}-{name}.png",
                )


def main() -> int:
    """Refresh or check every document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "documents",
        nargs="*",
        metavar="DOCUMENT",
        help="such as docs/sweeps.md; by default all",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing; exit with 1 if something is out of date",
    )
    parser.add_argument(
        "--papers",
        nargs="+",
        metavar="PAPER/ID",
        help="only draw the pictures of these experiments again",
    )
    arguments = parser.parse_args()
    if arguments.papers:
        redraw(arguments.papers)
        return 0
    for name in arguments.documents:
        if name not in DOCUMENTS:
            parser.error(unknown("DOCUMENT", name, DOCUMENTS))
    chosen = arguments.documents or DOCUMENTS
    drawn = shown(chosen) if arguments.documents else PICTURES
    stale = 0
    for name, command in () if arguments.check else drawn.items():
        done = call(f"{command} {name}")
        if done.returncode:
            print(f"{name}: NOT drawn\n{done.stdout}", file=sys.stderr)
            return 1
        if name.endswith(".png"):
            pictures.reduce_colours(ROOT / name)
    for name in () if arguments.check or arguments.documents else pictures.draw_all():
        print(f"{name}: drawn", file=sys.stderr)
    for name in chosen:
        path = ROOT / name
        old = path.read_text(encoding="utf-8")
        new = refreshed(old)
        if new != old:
            stale += 1
            print(f"{name}: {'is out of date' if arguments.check else 'written'}", file=sys.stderr)
            if not arguments.check:
                # Written whole or not at all.
                with tempfile.NamedTemporaryFile(
                    "w", encoding="utf-8", dir=path.parent, delete=False
                ) as part:
                    part.write(new)
                Path(part.name).chmod(0o644)
                Path(part.name).replace(path)
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
