"""Measurements around the engine.

What a rule or a trace costs, threads, processes that start.
"""

from __future__ import annotations

import copy
import statistics
import subprocess
import sys
import time
from pathlib import Path

import callgrind
import ours
from comparison import measure_comparison
from settings import Settings, Skipped, per_packet, ratios, spread
from workloads import Workload

BUILT_IN = "AIMD(1, 0.5)"
SAME_LAW = 'Rule(inc="1", dec="0.5*w")'
# The same law as a class; bench/custom_rule.py.
CUSTOM_RULE = f"{Path(__file__).with_name('custom_rule.py')}:Aimd(1, 0.5)"
SWEEP_RUNS = 64
# Steps of an environment that are timed, and packets that the agent's flow sends in each.
STEPS = 64_000
STEP_PACKETS = 20
# Longer steps, and how many times fewer of them.
LONGER_STEP, LONGER_FACTOR = "500ms", 10


def with_rule(scenario: dict, rule: str) -> dict:
    """Give all flows this rule."""
    return {**scenario, "flows": [{**flow, "rule": rule} for flow in scenario["flows"]]}


def cost(workload: Workload, settings: Settings, variant: dict) -> dict:
    """Time of a variant over that of the built-in rule without traces.

    Both send the same packets.
    """
    plain = with_rule(workload.scenario(settings.quick), BUILT_IN)
    base, other = settings.turns(
        workload, ("built-in", lambda: ours.run(plain)), (workload.name, lambda: ours.run(variant))
    )
    if base[0]["trace_hash"] != other[0]["trace_hash"]:
        raise RuntimeError(f"{workload.name}: not the packets of {BUILT_IN}: trace hashes differ")
    # With what Python gets handed over: traces are made for it.
    slow, fast = per_packet(other, "whole_s"), per_packet(base, "whole_s")
    return {
        **spread("cost", ratios(slow, fast)),
        "ns_per_packet": statistics.median(slow),
        "built_in_ns_per_packet": statistics.median(fast),
        "delivered_packets": base[0]["delivered"],
    }


def formula(workload: Workload, settings: Settings) -> dict:
    """AIMD(1, 0.5) written as two formulas."""
    return cost(workload, settings, with_rule(workload.scenario(settings.quick), SAME_LAW))


def python_rule(workload: Workload, settings: Settings) -> dict:
    """AIMD(1, 0.5) written as a Python class."""
    from cwndlab import ScenarioError, native

    try:
        native.rule(CUSTOM_RULE)
    except ScenarioError as error:
        raise Skipped(
            f"this core reads no rules written in Python: {error}".replace(str(ours.ROOT), ".")
        ) from None
    return cost(workload, settings, with_rule(workload.scenario(settings.quick), CUSTOM_RULE))


def traced(workload: Workload, settings: Settings) -> dict:
    """Window and queue every 10 ms."""
    return cost(
        workload,
        settings,
        {**workload.scenario(settings.quick), "trace": {"cwnd": "10ms", "queue": "10ms"}},
    )


def over_pie(workload: Workload, settings: Settings) -> dict:
    """Instructions a packet under DualPI2 over those under PIE.

    Of Reno flows, and with Prague for every other one, whose packets take the L queue.
    """
    if reason := callgrind.missing():
        raise Skipped(reason)
    scenario = with_rule(workload.scenario(settings.quick), BUILT_IN)
    kinds = {"classic": scenario, "l4s": copy.deepcopy(scenario)}
    for flow in kinds["l4s"]["flows"][1::2]:
        flow["rule"] = "Prague"
    found = {}
    for name, flows in kinds.items():
        each = {}
        for kind, ecn in (("pie", {"ecn": True}), ("dualpi2", {})):
            print(f"{workload.name}: {name} flows, {kind}", file=sys.stderr)
            queue = {"kind": kind, "limit": "1200pkt", **ecn}
            done = callgrind.count({**flows, "dumbbell": {**flows["dumbbell"], "queue": queue}})
            each[kind] = done.instructions / done.delivered
            found[f"{name}_{kind}_instructions"] = each[kind]
        found[f"{name}_over_pie"] = each["dualpi2"] / each["pie"]
    return found


def sweep(workload: Workload, settings: Settings) -> dict:
    """Equal runs on one thread and on two."""
    from cwndlab.runs.execute import default_jobs, run_many
    from cwndlab.scenario import Scenario

    if default_jobs() < 2:
        raise Skipped("this process may use one processor only")
    scenario = Scenario.from_dict(workload.scenario(settings.quick))

    def seconds(jobs: int) -> float:
        begin = time.perf_counter()
        done = sum(
            1 for _ in run_many(((index, scenario) for index in range(SWEEP_RUNS)), jobs=jobs)
        )
        assert done == SWEEP_RUNS
        return time.perf_counter() - begin

    one, two = settings.turns(
        workload, ("1 thread", lambda: seconds(1)), ("2 threads", lambda: seconds(2))
    )
    return {
        **spread("speed_up", ratios(one, two)),
        "one_thread_s": statistics.median(one),
        "runs": SWEEP_RUNS,
    }


def steps(workload: Workload, settings: Settings) -> dict:
    """Count steps a second of an environment: of one copy, and of 64 in one call.

    Of 64 also with longer steps, which are worth the start of a second thread.
    """
    try:
        import gymnasium  # noqa: F401
    except ImportError:
        raise Skipped("gymnasium is not installed") from None
    import numpy as np

    import cwndlab.gym

    scenario = workload.scenario(settings.quick)
    options = {"flows": "agent", "action": "window", "limits": (1, 100)}
    # Half of what fills the link with its buffer: the packets of a step are the same in each.
    window = np.float32(STEP_PACKETS)
    count = STEPS // 10 if settings.quick else STEPS

    def seconds(threads: int, **longer: str) -> float:
        envs = cwndlab.gym.make_vec(scenario, 64, threads=threads, **options, **longer)
        envs.reset(seed=1)
        actions = np.full((64, 1), window)
        calls = count // 64 // (LONGER_FACTOR if longer else 1)
        begin = time.perf_counter()
        for _ in range(calls):
            envs.step(actions)
        return (time.perf_counter() - begin) / (calls * 64)

    def alone() -> float:
        env = cwndlab.gym.make(scenario, **options)
        env.reset(seed=1)
        action = np.full(1, window)
        begin = time.perf_counter()
        for _ in range(count):
            if any(env.step(action)[2:4]):
                env.reset()
        return (time.perf_counter() - begin) / count

    times_s = settings.turns(
        workload,
        ("1 copy", alone),
        ("64 copies", lambda: seconds(1)),
        ("64 copies, 2 threads", lambda: seconds(2)),
        ("64 copies, longer steps", lambda: seconds(1, every=LONGER_STEP)),
        ("64 copies, longer steps, 2 threads", lambda: seconds(2, every=LONGER_STEP)),
    )
    names = ("steps_s", "steps_64_s", "steps_64_threads_s", "longer_64_s", "longer_64_threads_s")
    found = {"packets_a_step": STEP_PACKETS, "longer_step": LONGER_STEP}
    for name, each_s in zip(names, times_s, strict=True):
        found |= spread(name, [1 / time_s for time_s in each_s])
    return found


def process_s(command: list[str]) -> float:
    """Seconds of a whole process."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ours.ROOT, env=ours.fresh())
    return time.perf_counter() - begin


def start_up(workload: Workload, settings: Settings) -> dict:
    """Whole processes, the interpreter's own start included.

    One that imports cwndlab, and `cwndlab --version`.
    """
    program = Path(sys.executable).with_name("cwndlab")
    command = [str(program)] if program.exists() else [sys.executable, "-m", "cwndlab"]
    python, imported, version = settings.turns(
        workload,
        ("python", lambda: process_s([sys.executable, "-c", "pass"])),
        ("import cwndlab", lambda: process_s([sys.executable, "-c", "import cwndlab"])),
        ("cwndlab --version", lambda: process_s([*command, "--version"])),
        # The first one may read from the disk.
        repetitions=2 * settings.repetitions + 1,
    )
    return {
        "python_s": statistics.median(python),
        "import_s": statistics.median(imported),
        "version_s": statistics.median(version),
    }


def comparison(workload: Workload, settings: Settings) -> dict:
    """Four rules, all environments and settings of the paper, as a user runs it."""
    print(f"{workload.name}: about two minutes", file=sys.stderr)
    done = measure_comparison(
        replicates=1 if settings.quick else 3, duration="10s" if settings.quick else None
    )
    return {"runs": done["runs"], "wall_s": done["wall_s"], "peak_bytes": done["peak_bytes"]}
