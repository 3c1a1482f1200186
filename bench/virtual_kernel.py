"""How long runs with a kernel in virtual time take.

``python bench/virtual_kernel.py`` runs some scenarios with the kernel ``default``, five times each,
and prints packets and the least wall time.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from cwndlab.kernel_runs import kernels
from cwndlab.live_runs.run import linux
from virtual.scenarios import NAMED, flows, link, scenario

CASES = {
    "nothing but the start: 0.1 s, no packet": scenario(
        link("10Mbit", "20ms", "1bdp"), flows("cubic", start="1s"), "100ms"
    ),
    "CUBIC, 10 Mbit/s, 6 s": NAMED["drop-tail"],
    "four BBRs, 20 Mbit/s, 6 s": NAMED["four-bbrs"],
    "CUBIC, 1 Gbit/s, 2 s": NAMED["gigabit"],
}
TIMES = 5


def main() -> None:
    """Run and print."""
    kernel = kernels.find()
    print(
        "| scenario | packets sent | wall time [s] | per packet [ms] |\n| --- | --- | --- | --- |"
    )
    for name, case in CASES.items():
        runs = [linux(case, kernel=kernel) for _ in range(TIMES)]
        packets = int(runs[0].flows["total_sent_packets"].sum())
        wall_s = min(run.wall_s for run in runs)
        each = f"{1e3 * wall_s / packets:.3f}" if packets else "-"
        print(f"| {name} | {packets:,} | {wall_s:.2f} | {each} |", flush=True)


if __name__ == "__main__":
    main()
