"""TCP endpoints: the knobs of a flow as variables of ns-2's agents.

Variables are written where their value differs from ns-2 2.35's default: with the profile
``ns2-2.35`` a script sets what the scenario sets, with a dated one also what has changed since.
What all flows have in common is set on the classes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cwndlab import native
from cwndlab.ns2 import linux, tcl
from cwndlab.ns2.refusals import refused
from cwndlab.ns2.rules import rule_variables
from cwndlab.ns2.tcl import Variable, number
from cwndlab.quantities import seconds

BASE = "ns2-2.35"
SENDERS = {
    "tahoe": "Agent/TCP",
    "reno": "Agent/TCP/Reno",
    "newreno": "Agent/TCP/Newreno",
    "sack": "Agent/TCP/Sack1",
}
SENDER = {
    "packet_size": "packetSize_",
    "timestamp_size": "ts_option_size_",
    "window": "window_",
    "initial_window": "windowInit_",
    "syn": "syn_",
    "delay_growth": "delay_growth_",
    "fast_retransmit_first": "bugfix_ss_",
    "dupack_threshold": "numdupacks_",
    "limited_transmit": "singledup_",
    "bug_fix": "bugFix_",
    "less_careful": "lessCareful_",
    "exit_fast_retransmit": "exitFastRetrans_",
    "impatient": "newreno_changes1_",
    "partial_window_deflation": "partial_window_deflation_",
    "exit_recovery_fix": "exit_recovery_fix_",
    "max_burst": "maxburst_",
    "precise_reduction": "precisionReduce_",
    "slow_start_restart": "slow_start_restart_",
    "ecn": "ecn_",
    "cwr_on_retransmission": "SetCWRonRetransmit_",
    "tick": "tcpTick_",
    "min_rto": "minrto_",
    "max_rto": "maxrto_",
    "initial_rto": "rtxcur_init_",
    "clamp_before_backoff": "rfc2988_",
    "timer_after_sample": "timerfix_",
    "timestamps": "timestamps_",
    "timestamps_reset_backoff": "ts_resetRTO_",
}
"""Knobs that are one variable of the sender, in the order in which scripts set them."""
SINK = {
    "ack_size": "packetSize_",
    "max_sack_blocks": "maxSackBlocks_",
    "timestamp_echo_fix": "ts_echo_bugfix_",
    "immediate_ack_on_fill": "RFC2581_immediate_ack_",
    "immediate_ack_on_syn": "SYN_immediate_ack_",
}
"""Knobs that are one variable of the sink."""
OF_NEWRENO = (
    "lessCareful_", "newreno_changes1_", "partial_window_deflation_", "exit_recovery_fix_"
)  # fmt: skip
"""Variables that only Agent/TCP/Newreno reads."""
ELSEWHERE = (
    "header_size", "syn_size", "delayed_ack", "delayed_ack_interval", "initial_ssthresh",
    "restart_after_syn_loss", "halve_if_half", "stop_keeps_last_packet",
)  # fmt: skip
"""Knobs that are expressed in another way."""
UNBOUNDED = 1e9


@dataclass(frozen=True)
class Endpoints:
    """Agents of a flow: classes, variables, and what is no variable.

    Attributes
    ----------
    sender, sink : str
        Their classes.
    sender_variables, sink_variables : list of Variable
        What is set beyond the defaults of the script (`defaults`), the rule first.
    module : linux.Module, optional
        The rule as a module of Linux.
    initial_ssthresh : float, optional
        Initial ssthresh, packets, where it is not the window.
    knobs : mapping
        Every knob of the flow.
    """

    sender: str
    sink: str
    sender_variables: list[Variable]
    sink_variables: list[Variable]
    module: linux.Module | None
    initial_ssthresh: float | None
    knobs: Mapping[str, Any]

    @property
    def packet_bytes(self) -> int:
        """Size of a data packet on the wire."""
        stamp = self.knobs["timestamp_size"] if self.knobs["timestamps"] else 0
        return self.knobs["packet_size"] + self.knobs["header_size"] + stamp

    def lines(self, sender: str, sink: str) -> list[str]:
        """Write the settings of a sender and a sink, both as Tcl."""
        return [
            *tcl.settings(sender, self.sender_variables),
            *tcl.settings(sink, self.sink_variables),
            *(self.module.lines(sender, sink, self.knobs) if self.module else []),
        ]


def defaults(document: Mapping[str, Any]) -> list[str]:
    """Write the variables of the classes: what the profile and ``[tcp]`` set for all flows."""
    knobs = _common(document)
    changed = _changed(knobs, _profile(BASE))
    given = document.get("tcp", {})

    def key(knob: str) -> str:
        return f"tcp.{knob}" if knob in given else f"{knob} of {document['profile']}"

    sender, sink = _variables(knobs, changed, key)
    newreno = [variable for variable in sender if variable.name in OF_NEWRENO]
    lines = [
        *tcl.settings("Agent/TCP", [each for each in sender if each not in newreno]),
        *tcl.settings("Agent/TCP/Newreno", newreno),
        *tcl.settings("Agent/TCPSink", sink),
    ]
    return ["", f"# profile = {document['profile']}, [tcp]", *lines] if lines else []


def endpoints(document: Mapping[str, Any], index: int, table: str = "flows") -> Endpoints:
    """Return the agents of a ``[[flows]]`` or an ``[[arrivals]]`` entry, with its rule.

    Parameters
    ----------
    document : mapping
        The canonical scenario.
    index : int
        Number of the entry.
    table : str
        ``flows`` or ``arrivals``.

    Raises
    ------
    ScenarioError
        If ns-2 has no such rule, or no variable for a knob that differs from its own behaviour.
    """
    spec = document[table][index]
    recovery = spec.get("recovery", "sack")
    if recovery not in SENDERS:
        raise refused(f"{table}[{index}].recovery", recovery, ", ".join(SENDERS))
    module = linux.module(spec["rule"])
    if module is not None and recovery != "sack":
        raise refused(f"{table}[{index}].recovery", recovery, f"sack, with {spec['rule']}")
    own = spec.get("tcp", {})
    common = _common(document)
    knobs = {**common, **own}

    def key(knob: str) -> str:
        return f"{table}[{index}].tcp.{knob}" if knob in own else f"tcp.{knob}"

    base = _profile(BASE)
    for knob in _changed(knobs, base):
        if knob not in (*SENDER, *SINK, *ELSEWHERE, "timer_phase"):
            raise refused(key(knob), knobs[knob], str(base[knob]).lower())
    if knobs["restart_after_syn_loss"] != knobs["fast_retransmit_first"]:
        wanted = "the value of fast_retransmit_first"
        raise refused(key("restart_after_syn_loss"), knobs["restart_after_syn_loss"], wanted)
    if knobs["header_size"] not in (0, knobs["syn_size"]):
        raise refused(key("syn_size"), knobs["syn_size"], f"header_size, {knobs['header_size']}")
    sender, sink = _variables(knobs, _changed(knobs, common), key)
    if recovery != "newreno":
        sender = [variable for variable in sender if variable.name not in OF_NEWRENO]
    if knobs["delayed_ack"]:
        # A variable of the class of the sink, which has a default of its own.
        interval = Variable("interval_", _number(knobs["delayed_ack_interval"]),
                            key("delayed_ack_interval"))  # fmt: skip
        sink.append(interval)
    if module is not None and knobs["syn"] and knobs["initial_window"] != linux.AFTER_SYN:
        wanted = f"{linux.AFTER_SYN}, with a SYN and {spec['rule']}"
        raise refused(key("initial_window"), knobs["initial_window"], wanted)
    rule = (
        []
        if module
        else rule_variables(
            spec["rule"], f"{table}[{index}].rule", halves_if_half=knobs["halve_if_half"]
        )
    )
    ssthresh = float(knobs["initial_ssthresh"])
    is_set = ssthresh < min(float(knobs["window"]), UNBOUNDED)
    return Endpoints(
        linux.SENDER if module else SENDERS[recovery],
        "Agent/TCPSink" + "/Sack1" * (recovery == "sack") + "/DelAck" * knobs["delayed_ack"],
        [*rule, *sender],
        sink,
        module,
        ssthresh if is_set else None,
        knobs,
    )


def _common(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the knobs of all flows."""
    return {**_profile(document["profile"]), **document.get("tcp", {})}


def _changed(knobs: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    return {knob: value for knob, value in knobs.items() if _plain(value) != _plain(base.get(knob))}


def _variables(
    knobs: Mapping[str, Any], changed: Mapping[str, Any], key: Callable[[str], str]
) -> tuple[list[Variable], list[Variable]]:
    """Return the variables of sender and sink for the knobs that have changed."""
    sender = [
        Variable(name, _number(changed[knob]), key(knob))
        for knob, name in SENDER.items()
        if knob in changed and (knobs["timestamps"] or knob != "timestamp_size")
    ]
    sink = [
        Variable(name, _number(changed[knob]), key(knob))
        for knob, name in SINK.items()
        if knob in changed
    ]
    if "header_size" in changed:
        uses = number(knobs["header_size"] > 0)
        sender.append(Variable("useHeaders_", uses, key("header_size")))
    if "syn_size" in changed:
        size = number(knobs["syn_size"])
        sender.append(Variable("tcpip_base_hdr_size_", size, key("syn_size")))
    return sender, sink


@functools.cache
def _profile(name: str) -> dict[str, Any]:
    return {knob["name"]: knob["values"][name] for knob in native.knobs()}


def _plain(value: object) -> object:
    """Return a knob's value as a number, or as the name that it is."""
    if isinstance(value, str):
        found = seconds(value)
        return value if found is None else found
    return value


def _number(value: object) -> str:
    plain = _plain(value)
    assert isinstance(plain, bool | int | float), "only times and numbers are variables"
    return number(plain)
