"""Calibrates the verdicts of `cwndlab assess --quick`: ``python docs/assess_calibration.py``.

It fills a pool of runs (``out/assess-calibration``, which a second call reads), draws assessments
of twins and violators (`cwndlab.assessment.calibrating`), writes what it counts to the package, and
prints the table of docs/assess-calibration.md. ``--draws 20 --pool 40`` tries it in a few minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from cwndlab import native
from cwndlab.assessment import calibrating, calibration
from parts.text import table

DOCS = Path(__file__).resolve().parent
STORE = DOCS.parent / "out" / "assess-calibration"
DRAWS, POOL = 200, 256


def main() -> int:
    """Count, write, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--draws", type=int, default=DRAWS, help="assessments of each rule")
    options.add_argument("--pool", type=int, default=POOL, help="runs of each cell and standard")
    options.add_argument("--seed", type=int, default=1, help="of the draws")
    options.add_argument("--keep", action="store_true", help="write what is counted to the package")
    given = options.parse_args()
    STORE.mkdir(parents=True, exist_ok=True)
    found = calibrating.count(
        calibrating.Pool(given.pool, STORE), given.draws, _show, given.seed
    )  # fmt: skip
    for name, number in found.dossiers.items():
        print(f"dossiers of a twin of {name} with any criterion worse: {number} of {given.draws}")
    print(table(calibrating.COLUMNS, [*calibrating.rows(found.sections)]))
    if given.keep:
        data = {
            "build": native.build(), "draws": given.draws, "pool": given.pool,
            "dossiers": found.dossiers, "sections": [asdict(one) for one in found.sections],
        }  # fmt: skip
        suites = DOCS.parent / "python" / "cwndlab" / "assessment" / "suites"
        (suites / calibration.FILE).write_text(f"{json.dumps(data, indent=1)}\n", encoding="utf-8")
    return 0


def _show(what: str, done: int, of: int) -> None:
    if sys.stderr.isatty() or done == 0:
        print(f"{what}: {done} of {of}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
