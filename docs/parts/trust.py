"""The table of README.md: how far cwndlab can be trusted, in three numbers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

from parts.text import ROOT, table

NS2 = "python -m tests.ns2.fuzz --count 1000 --seed 1"
LINUX = "python tests/virtual/replay.py"
KNOWN = "cwndlab known-results"


def trust() -> str:
    """Table of the three numbers, each with the command that prints it.

    ns-2 is not on every machine: its number is that of docs/agreement.md. The replays run here, and
    the known results are those on record.
    """
    (ns2,) = re.findall(
        rf"^\| random, one flow \| `{re.escape(NS2)}` \| (\d+ of \d+) \|$",
        (ROOT / "docs" / "agreement.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    replays = subprocess.run(
        [sys.executable, *LINUX.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    flows, equal = re.findall(r"^(\d+) flows: (\d+) whole", replays, re.MULTILINE)[0]
    verdicts = [fact["verdict"] for fact in _known_results()]
    rows = [
        ["[ns-2](docs/agreement.md)", ns2, "random scenarios with the same packets in both", NS2],
        ["[Linux](docs/linux.md)", f"{equal} of {flows}",
         "recorded flows of a kernel whose every packet the simulated sender sends, too", LINUX],
        ["[known results](docs/known-results.md)", f"{verdicts.count('holds')} of {len(verdicts)}",
         "results of theory and of published measurements that hold here", KNOWN],
    ]  # fmt: skip
    return table(
        ["compared with", "agrees", "what is counted", "command"],
        [[*cells, f"`{command}`"] for *cells, command in rows],
    )


def _known_results() -> list[dict[str, Any]]:
    record = json.loads((ROOT / "docs" / "known-results.json").read_text(encoding="utf-8"))
    return record["facts"]
