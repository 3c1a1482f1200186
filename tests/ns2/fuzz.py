"""Compares many random scenarios.

``python -m tests.ns2.fuzz --count 200 --seed 1`` from the repository's root.

Prints every disagreement around its first differing send, then a summary; exits with 1 if there was
any.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

from . import compare, ns2, product, reference
from .case import Case
from .generate import random_crowd, random_scenario
from .generate_binomial import under_new_rules
from .generate_mixed import random_mixed
from .generate_routers import random_routers
from .generate_ties import random_ties
from .scenarios import everything


def check(case: Case) -> str | None:
    """None where both agree, else what differs."""
    theirs = ns2.flows(reference.live(ns2.run_of(case.scenario, case.draw)))
    try:
        ours = product.run(case.scenario, [flow.timer_phase_s for flow in theirs])
    except (
        Exception
    ) as error:  # a refusal or a panic of one scenario is a finding, not the end of the run
        return f"cwndlab failed: {type(error).__name__}: {error}"
    messages = [
        compare.describe(a, b, case.scenario["duration"]) for a, b in zip(ours, theirs, strict=True)
    ]
    return "\n".join(message for message in messages if message) or None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="number of scenarios")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the first scenario; the others follow"
    )
    parser.add_argument(
        "--listed", action="store_true", help="the listed scenarios instead of random ones"
    )
    parser.add_argument("--crowd", action="store_true", help="random scenarios of several flows")
    parser.add_argument(
        "--routers", action="store_true", help="random scenarios with marks, RED or DRR"
    )
    parser.add_argument(
        "--ties", action="store_true", help="random scenarios full of simultaneous events"
    )
    parser.add_argument(
        "--mixed", action="store_true", help="random scenarios that combine all of it"
    )
    parser.add_argument(
        "--binomial",
        action="store_true",
        help="random scenarios under GAIMD and the binomial rules",
    )
    parser.add_argument(
        "--only", default="", help="of these, the scenarios whose name contains this"
    )
    parser.add_argument(
        "--show-scenario", action="store_true", help="print the scenario of each disagreement"
    )
    arguments = parser.parse_args()
    if reference.program() is None:
        print("ns-2 (program `ns`, Debian package ns2) is not installed", file=sys.stderr)
        return 2
    if arguments.listed:
        cases = everything()
    else:
        make = (
            random_routers
            if arguments.routers
            else random_ties
            if arguments.ties
            else random_crowd
            if arguments.crowd
            else random_mixed
            if arguments.mixed
            else random_scenario
        )
        cases = [make(seed) for seed in range(arguments.seed, arguments.seed + arguments.count)]
        if arguments.binomial:
            cases = [under_new_rules(case) for case in cases]
    cases = [case for case in cases if arguments.only in case.name]
    kinds: Counter[str] = Counter()
    for case in cases:
        message = check(case)
        if message is None:
            continue
        what = (
            case.scenario["flows"][0]["recovery"]
            if len(case.scenario["flows"]) == 1
            else "several flows"
        )
        kinds[
            f"{case.scenario['profile']} {case.scenario['dumbbell']['queue']['kind']} {what}"
        ] += 1
        flow = case.scenario["flows"][0]
        knobs = case.scenario.get("tcp", {})
        print(
            f"## {case.name}: {case.scenario['profile']} {flow['recovery']} {flow['rule']} {knobs}"
        )
        if arguments.show_scenario:
            print(json.dumps(case.scenario))
        print(message, flush=True)
    print(f"{len(cases) - kinds.total()} of {len(cases)} scenarios agree")
    for kind, count in sorted(kinds.items()):
        print(f"  {kind}: {count} differ")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
