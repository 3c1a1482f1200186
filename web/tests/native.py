"""Runs scenarios natively: a JSON list of texts in, a JSON list of results or messages out.

Files that a scenario names lie in the folder of the first argument. With a second one, `explain`,
the reasons why one of two groups of flows got more come out instead.
"""

from __future__ import annotations

import json
import sys

import cwndlab


def result_of(text: str, folder: str) -> dict[str, object]:
    """Give the result of a scenario as `cwndlab run --json` prints it."""
    try:
        return cwndlab.run(cwndlab.Scenario.from_text(text, folder=folder)).to_dict()
    except cwndlab.CwndlabError as error:
        return {"error": str(error)}


def reasons_of(text: str, folder: str) -> dict[str, object]:
    """Give what `cwndlab explain` says: its headline, and causes in order."""
    return dict(cwndlab.explain(cwndlab.Scenario.from_text(text, folder=folder)).reasons)


answer = reasons_of if "explain" in sys.argv[2:] else result_of
print(json.dumps([answer(text, sys.argv[1]) for text in json.load(sys.stdin)]))
