"""Windows of the modern rules in ns-2 and in cwndlab, in the same network and under the same
losses.

ns-2's Agent/TCP/Linux runs the congestion modules of Linux 2.6.16 to 2.6.22 behind a recovery of
its own, in whole packets; HighSpeed and Vegas are agents of ns-2 as well. So not packets are
compared but the law: how deep a loss cuts, and the window as a function of the time since the cut,
both over the window before it."""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import polars

from . import reference
from .reference import Columns, Run, millionths

HEAD = Path(__file__).with_name("modern_rules.tcl")
EVERY_S = 0.002
AGENTS = {"Vegas": "TCPSink", "Sack1": "TCPSink/Sack1"}


@dataclass(frozen=True)
class Network:
    """A dumbbell of 100 ms whose queue is never full; the first flow loses the listed packets."""

    rate_bps: float = 100e6
    delay_s: float = 0.04
    limit: int = 10_000
    drops: tuple[int, ...] = ()
    starts_s: tuple[float, ...] = (0.001,)
    duration_s: float = 20.0


@dataclass(frozen=True)
class Side:
    """A rule on either side: a module of Linux or an agent of ns-2 with its parameters, and
    cwndlab's rule and knobs."""

    module: str
    rule: str
    parameters: dict[str, float] = field(default_factory=dict)
    knobs: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Trace:
    """One flow: its window, threshold and acknowledged packets at these times, seconds."""

    time_s: list[float]
    cwnd: list[float]
    ssthresh: list[float]
    acked: list[float]

    def at(self, time_s: float) -> float:
        return self.cwnd[min(bisect_left(self.time_s, time_s), len(self.time_s) - 1)]


@dataclass(frozen=True)
class Epoch:
    """From one cut to the next: the window before, the threshold it left, and the window at times
    since the cut."""

    before: float
    after: float
    begin_s: float
    end_s: float
    trace: Trace

    @property
    def cut(self) -> float:
        return self.after / self.before

    def at(self, since_s: float) -> float:
        """Window at a time since the cut, over the one before it."""
        return self.trace.at(self.begin_s + since_s) / self.before


def epochs(trace: Trace) -> list[Epoch]:
    """Split at every change of the threshold, which on both sides is a cut; the last ends with the
    trace."""
    cuts = [i for i in range(1, len(trace.time_s)) if trace.ssthresh[i] != trace.ssthresh[i - 1]]
    ends = [trace.time_s[i] for i in cuts[1:]] + [trace.time_s[-1]]
    return [
        Epoch(trace.cwnd[cut - 1], trace.ssthresh[cut], trace.time_s[cut], end, trace)
        for cut, end in zip(cuts, ends, strict=True)
    ]


def script(side: Side, network: Network) -> str:
    """The Tcl that samples the windows."""
    variables = " ".join(f"{name} {value}" for name, value in side.parameters.items())
    lines = [HEAD.read_text(), "set r1 [$ns node]", "set r2 [$ns node]"]
    lines += [
        f"bottleneck $r1 $r2 {network.rate_bps} {1e3 * network.delay_s}ms DropTail {network.limit}"
    ]
    for index, start_s in enumerate(network.starts_s):
        source, sink = f"$s({index})", f"$d({index})"
        lines += [f"set s({index}) [$ns node]", f"set d({index}) [$ns node]"]
        lines += [f"pipe {source} $r1 1e9 5ms", f"pipe $r2 {sink} 1e9 5ms"]
        if side.module in AGENTS:
            lines.append(f"agent {index} {side.module} {AGENTS[side.module]} {{{variables}}}")
        else:
            lines.append(f"linux {index} {side.module} {{{variables}}}")
        lines.append(f'$ns at {start_s} "$ftp({index}) start"')
    if network.drops:
        lines.append(f"drops $r1 $r2 {{{' '.join(map(str, network.drops))}}} 0")
    lines += [
        f"sample {EVERY_S}",
        f"$ns at {network.duration_s} {{ close $out; exit 0 }}",
        "$ns run",
    ]
    return "\n".join(lines) + "\n"


def run_of(side: Side, network: Network) -> Run:
    """The run of ns-2 that samples the windows."""
    return Run("windows", script(side, network), ("samples",), _read)


def _read(folder: Path) -> Columns:
    """Times to the nanosecond; flow by flow, which compresses best."""
    rows = sorted(
        (line.split() for line in (folder / "samples").read_text().splitlines()),
        key=lambda row: int(row[0]),
    )
    flow, time_s, cwnd, ssthresh, acked = zip(*rows, strict=True)
    return {
        "flow": numpy.array(flow, "i2"),
        "time_ns": numpy.rint(numpy.array(time_s, float) * 1e9).astype("i8"),
        "cwnd_millionths": millionths(cwnd),
        "ssthresh_millionths": millionths(ssthresh),
        "acked": numpy.array(acked, "i4"),
    }


def theirs(side: Side, network: Network) -> list[Trace]:
    """Each flow in ns-2, every 2 ms from just after its start, when the agent has taken the
    window's limit for its threshold."""
    columns = reference.output(run_of(side, network))
    time_s = columns["time_ns"] * 1e-9
    windows = (columns["cwnd_millionths"] / 1e6, columns["ssthresh_millionths"] / 1e6)
    values = (time_s, *windows, columns["acked"])
    traces = []
    for index, start_s in enumerate(network.starts_s):
        rows = (columns["flow"] == index) & (time_s > start_s + 0.01)
        traces.append(Trace(*(column[rows].tolist() for column in values)))
    return traces


def scenario(side: Side, network: Network) -> dict:
    """The same for cwndlab."""
    access = {"rate": "1Gbit", "delay": "5ms"}
    bell = {"rate": network.rate_bps, "delay": network.delay_s}
    bell |= {f"{end}_{key}": value for end in ("access", "sink") for key, value in access.items()}
    bell["queue"] = {"kind": "drop-tail", "limit": f"{network.limit}pkt", "count_in_service": True}
    if network.drops:
        bell["loss"] = [{"kind": "list", "packets": list(network.drops)}]
    flows = [
        {"name": f"f{index}", "rule": side.rule, "recovery": "sack", "start": start_s}
        for index, start_s in enumerate(network.starts_s)
    ]
    return {
        "duration": network.duration_s,
        "profile": "rfc",
        "dumbbell": bell,
        "flows": flows,
        "tcp": {"initial_window": 2, **side.knobs},
        "trace": {"packets": True},
    }


def ours(side: Side, network: Network) -> list[Trace]:
    """Each flow in cwndlab, at every packet sent."""
    from cwndlab import native

    traces = native.Scenario(json.dumps(scenario(side, network)), "json").run().traces()
    packets = polars.DataFrame(traces["packets"])
    columns = {column.name: column.to_numpy() for column in packets}
    result = []
    for index in range(len(network.starts_s)):
        sent = (columns["event"] == 0) & (columns["flow"] == index)
        names = ("time_s", "cwnd_packets", "ssthresh_packets", "seq")
        result.append(Trace(*(columns[name][sent].tolist() for name in names)))
    return result
