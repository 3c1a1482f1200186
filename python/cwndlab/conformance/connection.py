"""A connection of a script, held by the simulator's sender."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from cwndlab import native
from cwndlab.conformance.byte_stream import ByteStream
from cwndlab.conformance.handshake import Handshake
from cwndlab.conformance.refusal import NotModelledError
from cwndlab.conformance.segment import Segment
from cwndlab.conformance.transmission import Transmission
from cwndlab.errors import ScenarioError
from cwndlab.kernel_runs.virtual import SIMULATOR
from cwndlab.scenario import DEFAULT_PROFILE, Scenario, check_rule

MOST_BLOCKS = 3
_NETWORK: dict[str, object] = {
    "duration": "1s", "dumbbell": {"rate": "1Gbit", "delay": "1ms"},
}  # fmt: skip
"""A scenario needs a network; nothing is sent into it."""
_ACE_FLAGS = "A0123456789"


def has_model(rule: str) -> bool:
    """Whether the simulator has a model of a rule of the kernel.

    Examples
    --------
    >>> has_model("kernel:cubic"), has_model("kernel:yeah")
    (True, False)
    """
    try:
        check_rule(rule, SIMULATOR)
    except ScenarioError:
        return False
    return True


class Connection:
    """The sender of a connection, which counts packets, seen from a script, which counts bytes.

    Parameters
    ----------
    handshake : Handshake
        What the SYNs agree on.
    rule : str
        Congestion control.
    knobs : mapping
        Settings of the endpoint besides those of the handshake.
    is_ecn : bool
        Whether both sides agree on ECN.
    is_paced : bool
        Whether the device below paces.
    profile : str
        Profile of the endpoint.

    Examples
    --------
    >>> shake = Handshake.of([Segment.parse("< S 0:0(0) win 9000 <mss 1000,sackOK>")])
    >>> connection = Connection(shake, "kernel:cubic", {})
    >>> connection.connect(0.0, "S.")
    >>> connection.receive(0.1, Segment.parse("< . 1:1(0) ack 1 win 9000"), 1)
    >>> connection.write(0.1, 3000)
    >>> [str(sent) for sent in Transmission.joined(list(connection.sent))]
    ['> S. 0:0(0)', '> . 1:3001(3000)']
    """

    def __init__(
        self,
        handshake: Handshake,
        rule: str,
        knobs: Mapping[str, object],
        *,
        is_ecn: bool = False,
        is_paced: bool = False,
        profile: str = DEFAULT_PROFILE,
    ) -> None:
        self.handshake = handshake
        self._mss_bytes = handshake.mss_bytes()
        self.stream: ByteStream = ByteStream(self._mss_bytes)
        self.sent: deque[Transmission] = deque()
        """What left and was not compared yet."""
        self.is_nagle = True
        self._refuses_packets = False
        self._is_ecn = is_ecn
        self._has_sack = has_sack = handshake.both("sackOK")
        tcp = {
            **knobs,
            "packet_size": self._mss_bytes,
            "timestamps": handshake.both("TS"),
            "ecn": is_ecn,
            "syn": True,
        }
        if not has_sack:
            # Tail loss probes need SACK.
            tcp.pop("tlp", None)
        flow = {"rule": rule, "recovery": "sack" if has_sack else "newreno"}
        core = Scenario.from_dict(
            {**_NETWORK, "profile": profile, "tcp": tcp, "flows": [flow]}
        ).core
        core.check_home()
        self._sender = native.DrivenSender(core, 0)
        if is_paced:
            self._sender.pace_bursts()
        self._syn_flags = "S"
        self._started_s = 0.0
        # The first byte that is not acknowledged, the last packet sent, bytes that Nagle's
        # algorithm holds, and the end of the last packet that is not full.
        self._una = self._last_sent = self._held_bytes = self._small_end = 0

    @property
    def deadline_s(self) -> float:
        """When a timer expires next, seconds; infinite if none runs."""
        return self._sender.deadline_s()

    def connect(self, time_s: float, flags: str) -> None:
        """Send the SYN, or the answer to the peer's."""
        self._syn_flags, self._started_s = flags, time_s
        self._sender.start(time_s)
        self._collect()

    def refuse_packets(self, refuses: bool, line: int) -> None:
        """Let the device below refuse packets, or take them again.

        Raises
        ------
        NotModelledError
            If it refuses data that were not sent before.
        """
        if refuses and self.stream.acknowledged_by(self.stream.end) > self._last_sent:
            raise NotModelledError(line, "a local queue that refuses new data")
        self._refuses_packets = refuses
        self._sender.refuse_packets(refuses)

    def advance(self, time_s: float) -> None:
        """Let the timers expire that are due before a time."""
        self._sender.advance(time_s)
        self._collect()

    def write(self, time_s: float, size_bytes: int, line: int = 0) -> None:
        """Give the application's data to the sender.

        A packet that is not full waits while another such one is not acknowledged (Nagle's
        algorithm as Linux has it, `tcp_nagle_check`).
        """
        if self._refuses_packets:
            raise NotModelledError(line, "a local queue that refuses new data")
        self.advance(time_s)
        size_bytes, self._held_bytes = size_bytes + self._held_bytes, 0
        tail = self.stream.tail_of(size_bytes, self._last_sent)
        if tail and self.is_nagle and self._small_end > self._una:
            self._held_bytes = min(tail, size_bytes)
            size_bytes -= self._held_bytes
        if size_bytes:
            packets = self.stream.write(size_bytes, self._last_sent)
            if self.stream.has_short_packet():
                self._small_end = self.stream.end
            self._sender.write(time_s, packets)
            self._collect()

    def receive(self, time_s: float, segment: Segment, line: int) -> None:
        """Take an ACK with its window and what it echoes.

        Raises
        ------
        NotModelledError
            If it has something that the sender cannot read.
        """
        if segment.ack is None or segment.ack > self.stream.bytes_of(self._last_sent)[1]:
            # RFC 9293 section 3.10.7.4 drops an acknowledgement of what was never sent.
            return
        if any(flag in segment.flags for flag in _ACE_FLAGS):
            raise NotModelledError(line, "ACE: feedback of AccECN")
        if len(segment.sack) > MOST_BLOCKS:
            raise NotModelledError(line, f"{len(segment.sack)} SACK blocks")
        if segment.size and not self._has_sack and segment.ack <= self._una:
            # Data of the peer's is no duplicate ACK (RFC 5681 section 2).
            return
        number = self.stream.acknowledged_by(segment.ack)
        blocks = [self.stream.within(left, right) for left, right in segment.sack]
        self._una = max(self._una, segment.ack)
        self._sender.ack(
            time_s, number, [block for block in blocks if block is not None],
            self._is_ecn and segment.has("E") and not segment.has("S"),
            self._window_packets(segment), self._echo_s(segment),
        )  # fmt: skip
        self._collect()
        if self._held_bytes and self._small_end <= self._una:
            held, self._held_bytes = self._held_bytes, 0
            self.write(time_s, held)

    def tcp_info(self) -> dict[str, int]:
        """Return the state under the names of ``struct tcp_info``, without ``tcpi_``."""
        return {**self._sender.tcp_info(), "snd_mss": self._mss_bytes}

    def fault(self) -> str | None:
        """Return what an own rule did wrong, if it did."""
        return self._sender.fault()

    def is_all_acknowledged(self) -> bool:
        """Whether all data is acknowledged."""
        return self._una >= self.stream.end and not self._held_bytes

    def is_probe(self, segment: Segment) -> bool:
        """Whether an outbound segment without data asks for a window of zero."""
        return segment.size == 0 and 0 < segment.start < self._una

    def _window_packets(self, segment: Segment) -> int | None:
        if segment.window is None:
            return None
        # The window of a SYN is not scaled.
        shift = 0 if segment.has("S") else self.handshake.window_shift()
        return (segment.window << shift) // self._mss_bytes

    def _echo_s(self, segment: Segment) -> float | None:
        """Return when the packet was sent whose timestamp is echoed, seconds."""
        first = self.handshake.first_timestamp()
        words = (segment.options or {}).get("TS", "").split()
        if first is None or len(words) != 4:
            return None
        return self._started_s + (int(words[3]) - first) / 1000

    def _collect(self) -> None:
        """Take over what the sender sent."""
        for time_s, number, _, ecn, _ in self._sender.take_sent():
            start, end = self.stream.bytes_of(number)
            if number == 0 and self._una < 1:
                self.sent.append(Transmission(time_s, self._syn_flags, 0, 1, ecn))
            elif end <= self._una:  # a window probe
                self.sent.append(Transmission(time_s, ".", self._una - 1, self._una - 1, ecn))
            else:
                start = max(start, self._una)
                self.sent.append(Transmission(time_s, ".", start, end, ecn))
            self._last_sent = max(self._last_sent, number)
