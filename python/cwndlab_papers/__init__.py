"""Reproduce papers: run what they ran, and judge what they say.

>>> import cwndlab_papers
>>> paper = cwndlab_papers.load("akella2002")
>>> paper.experiments["fig4"].title
'Reno over drop-tail'
>>> claim = paper.claims_of(["fig8"])[0]
>>> claim.statement, claim.reading.text
('All four rules have near-identical goodput', '<= 0.02')

A claim is a sentence of the paper, in our words, with a number that decides it and bounds for that
number (`readings.toml`), both written down before the first full run. `reproduce` does the
runs.
"""

from __future__ import annotations

from cwndlab_papers.claims import Claim, Judged
from cwndlab_papers.paper import Experiment, Paper, choose, load, names
from cwndlab_papers.readings import Reading, margins, reading, readings
from cwndlab_papers.results_grid import Data, Means, ResultsGrid
from cwndlab_papers.running import Reproduction, judge, reproduce

__all__ = [
    "Claim",
    "Data",
    "Experiment",
    "Judged",
    "Means",
    "Paper",
    "Reading",
    "Reproduction",
    "ResultsGrid",
    "choose",
    "judge",
    "load",
    "margins",
    "names",
    "reading",
    "readings",
    "reproduce",
]
