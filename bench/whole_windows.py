"""Fractions of the window after a reduction: what they change in live-red and live-ecn, simulated.

``python bench/whole_windows.py [--seeds N]``

Linux's own rules have whole windows after a reduction; rules loaded as BPF programs keep the
fraction. Each row simulates the scenarios with fractions for other groups, and prints Reno's share
of the goodput: mean and 95 % confidence interval over seeds.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

from beside import shares  # noqa: E402

from cwndlab import Scenario  # noqa: E402
from cwndlab.live_runs.run import counterpart  # noqa: E402
from cwndlab.runs import execute  # noqa: E402

FRACTIONS = {"precise_reduction": True, "integer_ssthresh": False}
WHOLE = {"precise_reduction": False, "integer_ssthresh": True}
ROWS = {
    "whole windows of both": {"reno": WHOLE, "gaimd": WHOLE},
    "fractions of Reno alone": {"reno": FRACTIONS, "gaimd": WHOLE},
    "fractions of GAIMD alone (as live)": {"reno": WHOLE, "gaimd": FRACTIONS},
    "fractions of both": {"reno": FRACTIONS, "gaimd": FRACTIONS},
}
OTHERS = {
    "as live, without PRR": {"prr": False},
    "as live, paced": {"pacing": True},
}
"""Other candidates for the difference between live and simulated."""


def share(name: str, knobs: dict[str, dict[str, bool]], seeds: int) -> str:
    """Reno's share of the goodput in one of the scenarios, percent."""
    whole = counterpart(Scenario.load(ROOT / "examples" / f"live-{name}.toml")).to_dict()
    whole.pop("trace", None)
    whole["flows"] = [{**flow, "tcp": knobs[flow["name"]]} for flow in whole["flows"]]
    scenario = Scenario.from_dict(whole)
    found = [
        shares(execute.run(scenario.set("seed", seed)))["reno"] for seed in range(1, seeds + 1)
    ]
    half = 1.96 * statistics.stdev(found) / math.sqrt(seeds)
    return f"{statistics.mean(found):.1f} ± {half:.1f}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=40)
    asked = parser.parse_args()
    print(f"{'share of reno [%]':36}{'red':>14}{'ecn':>14}")
    as_live = ROWS["fractions of GAIMD alone (as live)"]
    others = {
        label: {group: {**knobs, **more} for group, knobs in as_live.items()}
        for label, more in OTHERS.items()
    }
    for label, knobs in {**ROWS, **others}.items():
        red, ecn = (share(name, knobs, asked.seeds) for name in ("red", "ecn"))
        print(f"{label:36}{red:>14}{ecn:>14}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
