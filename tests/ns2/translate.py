"""What a scenario says, in ns-2's terms: quantities, rules, profiles, knobs.

Anything that ns-2 cannot express raises ``Unsupported``, so that a comparison never silently runs
two different networks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

UNITS = {
    "bit": "1",
    "kbit": "1e3",
    "Mbit": "1e6",
    "Gbit": "1e9",
    "kb/s": "1e3",
    "Mb/s": "1e6",
    "Gb/s": "1e9",
    "ns": "1e-9",
    "us": "1e-6",
    "ms": "1e-3",
    "s": "1",
    "min": "60",
    "": "1",
}

# Where ns-2 2.35's defaults differ from those of the years before 2001 (docs/profiles.md dates
# them).
NS2_2000 = {
    "syn_": "0",
    "delay_growth_": "0",
    "windowInit_": "1",
    "timerfix_": "0",
    "singledup_": "0",
    "useHeaders_": "0",
    "tcpTick_": "0.1",
    "rfc2988_": "0",
    "exitFastRetrans_": "0",
    "minrto_": "0",
    "maxrto_": "64",
    "rtxcur_init_": "6.0",
    "precisionReduce_": "0",
    "bugfix_ss_": "0",
}
NS2_2000_NEWRENO = {"newreno_changes1_": "0", "partial_window_deflation_": "0"}
NS2_2000_SINK = {"ts_echo_bugfix_": "0", "SYN_immediate_ack_": "0"}

# cwndlab's knobs of [tcp] that are a variable of ns-2's sender of the same meaning.
KNOBS = {
    "packet_size": "packetSize_",
    "window": "window_",
    "initial_window": "windowInit_",
    "syn": "syn_",
    "delay_growth": "delay_growth_",
    "dupack_threshold": "numdupacks_",
    "limited_transmit": "singledup_",
    "ecn": "ecn_",
    "bug_fix": "bugFix_",
    "less_careful": "lessCareful_",
    "exit_fast_retransmit": "exitFastRetrans_",
    "impatient": "newreno_changes1_",
    "partial_window_deflation": "partial_window_deflation_",
    "exit_recovery_fix": "exit_recovery_fix_",
    "max_burst": "maxburst_",
    "precise_reduction": "precisionReduce_",
    "tick": "tcpTick_",
    "min_rto": "minrto_",
    "max_rto": "maxrto_",
    "initial_rto": "rtxcur_init_",
    "clamp_before_backoff": "rfc2988_",
    "timer_after_sample": "timerfix_",
    "timestamps": "timestamps_",
    "timestamps_reset_backoff": "ts_resetRTO_",
}
SINK_KNOBS = {
    "delayed_ack_interval": "interval_",
    "max_sack_blocks": "maxSackBlocks_",
    "timestamp_echo_fix": "ts_echo_bugfix_",
    "immediate_ack_on_fill": "RFC2581_immediate_ack_",
    "immediate_ack_on_syn": "SYN_immediate_ack_",
}


class Unsupported(ValueError):
    """The scenario says something that ns-2, or this translation, cannot."""


def instances(groups: list[dict]) -> list[dict]:
    """One entry for each flow or source of these groups, in the order of cwndlab's numbers."""
    return [
        {
            **group,
            "name": group["name"] if group.get("count", 1) == 1 else f"{group['name']}-{index}",
        }
        for group in groups
        for index in range(group.get("count", 1))
    ]


def quantity(value) -> float:
    """A number in SI units, from a number or a string such as ``"1.5Mbit"``.

    The double nearest to what is written.
    """
    if isinstance(value, (int, float)):
        return float(value)
    found = re.fullmatch(r"\s*([0-9.eE+-]+?)\s*([A-Za-z/]*)\s*", value)
    if not found or found[2] not in UNITS:
        raise Unsupported(f"quantity {value!r}")
    return float(Decimal(found[1]) * Decimal(UNITS[found[2]]))


def delay(value) -> str:
    """A link's delay in milliseconds, as scripts for ns-2 have it.

    ns-2 multiplies by 1e-3, which is not always the double nearest to the delay ("9ms" is not
    0.009); such a last bit decides which of two simultaneous events comes first.
    """
    if isinstance(value, str) and (found := re.fullmatch(r"\s*([0-9.]+)\s*ms\s*", value)):
        return f"{found[1]}ms"
    return f"{float(Decimal(repr(quantity(value or 0))) * 1000)!r}ms"


def number(value) -> str:
    """A number as Tcl reads it back without loss.

    Truth as 1 or 0, which ns-2 takes for its flags and its counts.
    """
    return str(int(value)) if isinstance(value, (bool, int)) else repr(float(value))


# What a rule's parameters are where they are not written.
DEFAULTS = {
    "AIMD": (1, 0.5),
    "GAIMD": (0.31, 0.875),
    "AIAD": (),
    "MIMD": (),
    "MIAD": (),
    "Binomial": (None, None, 1, 0.5),
    "IIAD": (1, 0.5),
    "SQRT": (1, 0.5),
}
BINOMIAL = {"IIAD": (1, 0), "SQRT": (0.5, 0.5)}


def parameters(rule: str) -> tuple[str, list[float]]:
    """A rule's name and the values between its parentheses."""
    found = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", rule)
    if not found or found[1] not in DEFAULTS:
        raise Unsupported(f"rule {rule!r}")
    try:
        written = [float(value) for value in (found[2] or "").split(",") if value.strip()]
    except ValueError:
        raise Unsupported(f"rule {rule!r}") from None
    values = [*written, *DEFAULTS[found[1]][len(written) :]]
    if None in values or len(values) != (4 if found[1] == "Binomial" else 2):
        raise Unsupported(f"rule {rule!r}")
    return found[1], values


def rule_variables(rule: str) -> dict[str, str]:
    """A rule as ns-2's ``windowOption_`` 1 (AIMD and GAIMD) or 6 (binomial) with its parameters."""
    name, values = parameters(rule)
    if name in ("AIMD", "GAIMD"):
        return {
            "windowOption_": "1",
            "increase_num_": number(values[0]),
            "decrease_num_": number(values[1]),
        }
    if name == "Binomial" or name in BINOMIAL:
        k, power, increase, subtract = values if name == "Binomial" else (*BINOMIAL[name], *values)
        decrease = 1.0 - subtract
    else:
        increase, k = (values[0], 0) if name[0] == "A" else (values[0] - 1.0, -1)
        decrease, power = (values[1], 1) if name[2] == "M" else (1.0 - values[1], 0)
    return {
        "windowOption_": "6",
        "k_parameter_": number(k),
        "l_parameter_": number(power),
        "increase_num_": number(increase),
        "decrease_num_": number(decrease),
    }


@dataclass
class Endpoints:
    """The variables of one flow's sender and sink, and what is not a variable."""

    sender: dict[str, str]
    sink: dict[str, str]
    initial_ssthresh: float | None = None
    delayed_ack: bool = False


def endpoints(scenario: dict, flow: dict) -> Endpoints:
    recovery = flow.get("recovery", "sack")
    profile = scenario.get("profile", "rfc")
    result = Endpoints({}, {})
    if profile == "ns2-2000":
        result.sender |= NS2_2000 | (NS2_2000_NEWRENO if recovery == "newreno" else {})
        result.sink |= NS2_2000_SINK
    elif profile != "ns2-2.35":
        raise Unsupported(f"profile {profile!r}")
    result.sender |= rule_variables(flow["rule"])
    for knob, value in {**scenario.get("tcp", {}), **flow.get("tcp", {})}.items():
        plain = value if isinstance(value, (bool, int)) else quantity(value)
        if knob in KNOBS:
            result.sender[KNOBS[knob]] = number(plain)
        elif knob in SINK_KNOBS:
            result.sink[SINK_KNOBS[knob]] = number(plain)
        elif knob in ("delayed_ack", "initial_ssthresh"):
            setattr(result, knob, value)
        elif knob != "timer_phase":
            raise Unsupported(f"knob {knob!r}")
    return result
