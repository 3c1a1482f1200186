"""Runs scenarios natively: a JSON list of texts in, a JSON list of results or messages out.

Files that a scenario names lie in the folder of the first argument.
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


print(json.dumps([result_of(text, sys.argv[1]) for text in json.load(sys.stdin)]))
