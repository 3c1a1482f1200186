"""Plays a script to the simulator's sender, and compares what it sends and reports."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

from cwndlab.conformance.assertions import Assertions
from cwndlab.conformance.connection import Connection, has_model
from cwndlab.conformance.handshake import Handshake
from cwndlab.conformance.refusal import NotModelledError
from cwndlab.conformance.script import Call, Code, Command, Event, Packet, Script
from cwndlab.conformance.segment import Segment
from cwndlab.conformance.settings import Settings
from cwndlab.conformance.transmission import Transmission
from cwndlab.conformance.verdict import AGREES, DIFFERS, NOT_MODELLED, Verdict
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.scenario import DEFAULT_PROFILE

TOLERANCE_US = 4000
"""Microseconds that a packet may come early or late: a tick of a kernel with 250 Hz."""
TOLERANCE_PERCENT = 12.5
"""The same in percent of the time since the event before, where that is more."""
LONGEST_WAIT_S = 200.0
"""Time after which a packet counts as not sent."""
_ROUNDING_S = 1e-9
_IGNORED_CALLS = (
    "socket", "bind", "listen", "read", "recv", "recvfrom", "recvmsg", "fcntl",
)  # fmt: skip
_WRITES = ("write", "writev", "send", "sendto", "sendmsg")
_IGNORED_OPTIONS = (
    "SO_REUSEADDR", "SO_REUSEPORT", "SO_SNDBUF", "SO_RCVBUF", "SO_LINGER", "SO_PRIORITY",
    "SO_KEEPALIVE", "SO_MARK", "IP_TOS", "IP_MTU_DISCOVER", "TCP_NOTSENT_LOWAT", "TCP_QUICKACK",
    "TCP_SYNCNT", "TCP_DEFER_ACCEPT", "TCP_FASTOPEN", "TCP_KEEPIDLE", "TCP_KEEPINTVL",
)  # fmt: skip


class _DifferentError(Exception):
    """The first difference."""

    def __init__(self, line: int, expected: str, found: str) -> None:
        super().__init__(expected)
        self.line, self.expected, self.found = line, expected, found


def play(
    script: Script,
    folder: Path,
    *,
    name: str = "script",
    rule: str | None = None,
    profile: str = DEFAULT_PROFILE,
    tolerance_us: float | None = None,
) -> Verdict:
    """Hold the simulator's sender against a script.

    Parameters
    ----------
    script : Script
        The script.
    folder : Path
        Where the files lie that its commands name.
    name : str
        Name of the script in the verdict.
    rule : str, optional
        A rule in place of the script's congestion control.
    profile : str
        Profile of the endpoint.
    tolerance_us : float, optional
        Tolerance of times in place of the script's, microseconds.

    Raises
    ------
    ScenarioError
        If the rule or the profile is not known.

    Examples
    --------
    >>> text = '''
    ... 0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
    ... +0  < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
    ... +0  > S. 0:0(0) ack 1 <...>
    ... +.1 < . 1:1(0) ack 1 win 257
    ... +0  accept(3, ..., ...) = 4
    ... +0  write(4, ..., 2000) = 2000
    ... +0  > P. 1:2001(2000) ack 1
    ... +.1 < . 1:1(0) ack 2001 win 257
    ... +0  %{ assert tcpi_snd_cwnd == 10 }%
    ... '''
    >>> play(Script.parse(text), Path(".")).verdict
    'agrees'
    """
    given_us = _number(script, "tolerance_usecs", TOLERANCE_US)
    tolerance_s = (given_us if tolerance_us is None else tolerance_us) * 1e-6
    played = _Played(script, folder, rule, profile, tolerance_s)
    try:
        played.run()
    except _DifferentError as error:
        return Verdict(name, DIFFERS, error.line, error.expected, error.found, played.checks)
    except NotModelledError as error:
        return Verdict(name, NOT_MODELLED, error.line, "", error.reason, played.checks)
    if played.checks == 0:
        line = script.events[0].line
        return Verdict(
            name, NOT_MODELLED, line, "", "nothing of the script is about a sender's data"
        )
    return Verdict(name, AGREES, checks=played.checks)


class _Played:
    """A script that is being played."""

    def __init__(
        self, script: Script, folder: Path, rule: str | None, profile: str, tolerance_s: float
    ) -> None:
        self._script, self._folder = script, folder
        self._rule, self._profile = rule, profile
        self.checks = 0
        self._tolerance_s = tolerance_s
        self._share = _number(script, "tolerance_percent", TOLERANCE_PERCENT) / 100
        self._settings = Settings()
        self._handshake = Handshake.of(_segments(script))
        self._connection: Connection | None = None
        self._assertions = Assertions()
        self._now_s = 0.0
        self._last: Event | None = None
        self._last_s = 0.0
        self._is_nagle = True
        self._is_closed = False

    def run(self) -> None:
        """Play all events."""
        for event in self._script.events:
            self._play(event)
            if self._is_closed:
                return
            fault = self._connection and self._connection.fault()
            if fault:
                raise _DifferentError(event.line, event.text, f"the rule failed: {fault}")

    def _play(self, event: Event) -> None:
        at_s, until_s = self._times(event)
        body = event.body
        if isinstance(body, Packet):
            segment = Segment.parse(body.text)
            if segment is None:
                raise NotModelledError(event.line, body.text)
            if segment.is_inbound:
                self._wait_until(at_s)
                self._receive(event, segment)
            else:
                self._expect(event, segment, at_s, until_s)
        else:
            self._wait_until(at_s)
            match body:
                case Call():
                    self._call(event, body)
                case Command():
                    self._command(event, body)
                case Code():
                    self._check(event, body)
        self._last, self._last_s = event, self._now_s if at_s is None else at_s

    def _times(self, event: Event) -> tuple[float | None, float]:
        """Return when an event is due, and the end of that range; None for any time."""
        moment = event.moment
        if moment is None:
            return self._now_s, self._now_s
        if moment.from_s is None:
            return None, math.inf
        base_s = 0.0
        if moment.is_relative:
            # Packets that arrive one after the other keep the distances of the script.
            arrive = _arrives(self._last) and _arrives(event)
            base_s = self._last_s if arrive else self._now_s
        return base_s + moment.from_s, base_s + moment.to_s

    def _wait_until(self, at_s: float | None) -> None:
        self._now_s = max(self._now_s, at_s or 0.0)
        if self._connection is not None:
            self._connection.advance(self._now_s)

    def _receive(self, event: Event, segment: Segment) -> None:
        """Take a packet from the peer."""
        if segment.has("S") and segment.size:
            raise NotModelledError(event.line, "data in the SYN")
        if segment.has("R"):
            self._is_closed = True
        elif self._connection is not None:
            if segment.has("S") and not segment.has("."):
                raise NotModelledError(event.line, "a second connection")
            self._connection.receive(self._now_s, segment, event.line)
        elif segment.has("S") and not segment.has("."):
            self._open(event, "S.")
        else:
            raise NotModelledError(event.line, "a packet without a connection")

    def _open(self, event: Event, flags: str) -> None:
        """Send the SYN, or the answer to the peer's."""
        if self._connection is not None:
            raise NotModelledError(event.line, "a second connection")
        if self._handshake.peer is None:
            raise NotModelledError(event.line, "a connection without an answer")
        for name, option in (("tcp_sack", "sackOK"), ("tcp_timestamps", "TS")):
            if not self._settings.is_set(name, "1"):
                self._handshake.refused.add(option)
        rule = self._rule or self._congestion_control(event)
        # The settings are those of Linux: another profile has its own.
        knobs = self._settings.knobs() if self._profile == DEFAULT_PROFILE else {}
        is_ecn = self._handshake.ecn(self._settings.sysctls.get("tcp_ecn", "2"))
        self._connection = Connection(
            self._handshake, rule, knobs,
            is_ecn=is_ecn, is_paced=self._settings.is_paced, profile=self._profile,
        )  # fmt: skip
        self._connection.is_nagle = self._is_nagle
        self._connection.connect(self._now_s, flags)

    def _congestion_control(self, event: Event) -> str:
        """Return the rule of the script: the application's choice, or the kernel's setting."""
        name = _congestion_of(self._script) or self._settings.congestion_control()
        if not has_model(f"kernel:{name}"):
            raise NotModelledError(event.line, f"congestion control {name}")
        return f"kernel:{name}"

    def _call(self, event: Event, call: Call) -> None:
        """Take a system call of the application."""
        name = call.name
        if name in _WRITES:
            self._write(event, call)
        elif name == "connect":
            self._open(event, "S")
        elif name == "setsockopt":
            self._set_option(event, call)
        elif name in ("close", "shutdown"):
            self._close(event)
        elif name not in _IGNORED_CALLS and name != "accept":
            raise NotModelledError(event.line, f"{name}()")

    def _write(self, event: Event, call: Call) -> None:
        if self._connection is None:
            raise NotModelledError(event.line, f"{call.name}() without a connection")
        if call.result is None or any(
            "MSG_MORE" in one or "MSG_FASTOPEN" in one or "MSG_EOR" in one for one in call.arguments
        ):
            raise NotModelledError(event.line, event.text)
        if call.result > 0:
            self._connection.write(self._now_s, call.result, event.line)

    def _set_option(self, event: Event, call: Call) -> None:
        name = call.arguments[2] if len(call.arguments) > 2 else ""
        value = call.arguments[3].strip("[]") if len(call.arguments) > 3 else ""
        if name == "TCP_NODELAY":
            self._is_nagle = value == "0"
            if self._connection is not None:
                self._connection.is_nagle = self._is_nagle
        elif name == "TCP_MAXSEG" and self._connection is None and value.isdigit():
            self._handshake.maxseg_bytes = int(value)
        elif name == "TCP_CONGESTION":
            if self._connection is not None and self._connection.stream.end > 1:
                raise NotModelledError(event.line, "another congestion control after data")
        elif name not in _IGNORED_OPTIONS:
            raise NotModelledError(event.line, f"setsockopt {name}")

    def _close(self, event: Event) -> None:
        """End the comparison: the FIN is none of the sender's, if all data is acknowledged."""
        if self._connection is not None and not self._connection.is_all_acknowledged():
            raise NotModelledError(event.line, "the end of a connection with data outstanding")
        self._is_closed = True

    def _command(self, event: Event, command: Command) -> None:
        before = self._settings.of_a_connection()
        self._settings.read(command.text, event.line, self._folder)
        if self._connection is not None:
            if self._settings.of_a_connection() != before:
                raise NotModelledError(event.line, "other settings for an open connection")
            self._connection.refuse_packets(self._settings.refuses_packets, event.line)
        elif self._settings.refuses_packets:
            raise NotModelledError(event.line, "a local queue that refuses the SYN")

    def _check(self, event: Event, code: Code) -> None:
        tcp_info = self._connection.tcp_info() if self._connection is not None else {}
        unmet = self._assertions.check(code.text, event.line, tcp_info)
        self.checks += 1
        if unmet is not None:
            raise _DifferentError(unmet.line, f"assert {unmet.expected}", f"found {unmet.found}")

    def _expect(self, event: Event, segment: Segment, at_s: float | None, until_s: float) -> None:
        """Compare a packet that is due."""
        connection = self._connection
        if connection is None:
            raise NotModelledError(event.line, "a packet without a connection")
        is_syn, is_probe = segment.has("S"), connection.is_probe(segment)
        if not segment.size and not is_syn and not is_probe:
            # An acknowledgement of the receiver, or a FIN: none of the sender's.
            self._wait_until(at_s)
            return
        self.checks += not is_syn
        start_s = self._now_s
        found = self._await(segment, self._now_s if at_s is None else until_s)
        text = _since(found, start_s)
        if not found or not _equals(found, segment):
            raise _DifferentError(event.line, event.text, f"sent {text}")
        ecn = found[0].ecn_name
        if segment.ecn in ("noecn", "ect0", "ect1", "ce") and segment.ecn != ecn:
            raise _DifferentError(event.line, event.text, f"sent [{ecn}] {text}")
        # What packetdrill joins has the time of the last packet.
        sent_s = found[-1].time_s
        self._now_s = max(self._now_s, sent_s)
        if at_s is None:
            return
        tolerance_s = max(self._tolerance_s, self._share * (at_s - self._last_s)) + _ROUNDING_S
        if not at_s - tolerance_s <= sent_s <= until_s + tolerance_s:
            raise _DifferentError(
                event.line, event.text,
                f"sent {text}, {_apart(sent_s, at_s, until_s)}, tolerance {tolerance_s:.3f} s",
            )  # fmt: skip

    def _await(self, segment: Segment, until_s: float) -> list[Transmission]:
        """Take the next packets that left, as many as a segment has; wait for what is missing."""
        connection = self._connection
        assert connection is not None
        found: list[Transmission] = []
        size = 0
        while True:
            while connection.sent and (not found or size < segment.size):
                found.append(connection.sent.popleft())
                size += found[-1].end - found[-1].start
            if found and size >= segment.size:
                return found
            due_s = connection.deadline_s
            if due_s > max(until_s, self._now_s) + LONGEST_WAIT_S:
                return found
            connection.advance(math.nextafter(due_s, math.inf))


def _number(script: Script, option: str, default: float) -> float:
    text = script.options.get(option, str(default))
    try:
        return float(text)
    except ValueError:
        raise ScenarioError(invalid(f"--{option}", text, "a number")) from None


def _segments(script: Script) -> Iterator[Segment | None]:
    for event in script.events:
        if isinstance(event.body, Packet):
            yield Segment.parse(event.body.text)


def _congestion_of(script: Script) -> str | None:
    """Return the congestion control that the application chooses, if it does."""
    for event in script.events:
        match event.body:
            case Call("setsockopt", (_, _, "TCP_CONGESTION", value, *_)):
                return value.strip('["]')
            case _:
                pass
    return None


def _arrives(event: Event | None) -> bool:
    return event is not None and isinstance(event.body, Packet) and event.body.text[:1] == "<"


def _equals(found: list[Transmission], segment: Segment) -> bool:
    """Whether packets are those of a segment: the same bytes in order."""
    is_syn = segment.has("S")
    if is_syn != ("S" in found[0].flags):
        return False
    if is_syn:
        return segment.has(".") == ("." in found[0].flags)
    is_in_order = all(a.end == b.start for a, b in itertools.pairwise(found))
    return is_in_order and (found[0].start, found[-1].end) == (segment.start, segment.end)


def _since(found: list[Transmission], start_s: float) -> str:
    """Write packets with their times from `start_s` on."""
    if not found:
        return "nothing"
    joined = Transmission.joined(found)
    return "; ".join(f"{one.time_s - start_s:+.6f} {one}" for one in joined)


def _apart(sent_s: float, from_s: float, to_s: float) -> str:
    if sent_s < from_s:
        return f"{from_s - sent_s:.3f} s early"
    return f"{sent_s - to_s:.3f} s late"
