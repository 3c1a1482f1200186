"""The interface for packages that extend cwndlab, such as the package of papers in this repository.

Two groups of entry points add to the command line. One in ``cwndlab.commands`` names a command of
click, which becomes a command of ``cwndlab``. One in ``cwndlab.outputs`` names a mapping of JSON
outputs, as `cwndlab.outputs.OUTPUTS` is one, whose schemas ``cwndlab schema --output`` then
prints::

    [project.entry-points."cwndlab.commands"]
    reproduce = "my_package.commands:reproduce"

Commands find shared options in `cwndlab.cli.options`, tables and messages in `cwndlab.cli.output`,
and progress in `cwndlab.cli.sweep_progress`. A message has the form of all others, and a file is
written whole or not at all:

>>> from cwndlab import plugins
>>> plugins.unknown("paper", "akela2002", ["akella2002", "yang2000"])
'paper: "akela2002" is not known: expected akella2002 or yang2000 (did you mean akella2002?)'
>>> plugins.seconds("20ms"), plugins.bits_per_second("10Mbit")
(0.02, 10000000.0)
"""

from __future__ import annotations

from cwndlab.arguments import keywords, listed
from cwndlab.columns import ESTIMATE
from cwndlab.documents import is_mapping
from cwndlab.files import write_parquet, write_whole
from cwndlab.jsontext import dumps
from cwndlab.message import invalid, missing, one_of, plural, unknown
from cwndlab.native import build
from cwndlab.pages import page
from cwndlab.patching import patched
from cwndlab.quantities import bits_per_second, seconds
from cwndlab.result_tables import ResultTables
from cwndlab.runs.cell_scenarios import CellScenarios
from cwndlab.runs.execution import opened
from cwndlab.runs.executors import Executor, built
from cwndlab.runs.ns2_runs import Ns2Runs
from cwndlab.runs.plan import Cell

__all__ = [
    "ESTIMATE",
    "Cell",
    "CellScenarios",
    "Executor",
    "Ns2Runs",
    "ResultTables",
    "bits_per_second",
    "build",
    "built",
    "dumps",
    "invalid",
    "is_mapping",
    "keywords",
    "listed",
    "missing",
    "one_of",
    "opened",
    "page",
    "patched",
    "plural",
    "seconds",
    "unknown",
    "write_parquet",
    "write_whole",
]
