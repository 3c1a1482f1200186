"""qlog of a QUIC sender (draft-ietf-quic-qlog-main-schema, draft-ietf-quic-qlog-quic-events)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cwndlab.arguments import Progress
from cwndlab.captures.exchange import LEAST_PACKETS, Delivery, Exchange, Facts, Transmission
from cwndlab.captures.progress import followed
from cwndlab.documents import is_list, is_mapping
from cwndlab.errors import ScenarioError
from cwndlab.message import plural

SEPARATOR = "\x1e"
"""Begins a record of a JSON text sequence (RFC 7464)."""
UDP_BYTES, QUIC_BYTES, ACK_BYTES = 28, 33, 60
"""Headers of IPv4 and UDP; of QUIC's short header, its tag and a stream frame, as live runs count
them; a packet with an ACK frame."""
DATA = ("1RTT", "0RTT")
SCALES = {"ms": 1e-3, "us": 1e-6}


def read(path: Path, progress: Progress | None = None) -> Exchange:
    """Read what a sender's qlog says of its 1-RTT packets.

    Raises
    ------
    ScenarioError
        If the file is no whole qlog, or its connection does not send.
    OSError
        If the file cannot be read.
    """
    header, events = _records(path)
    scale_s = SCALES.get(_deep(header, "trace", "configuration", "time_units") or "ms", 1e-3)
    common = _deep(header, "trace", "common_fields")
    is_delta = is_mapping(common) and common.get("time_format") == "delta"
    sent = [
        event["data"] for event in events
        if _name(event) == "packet_sent" and _kind(event["data"]) in DATA
    ]  # fmt: skip
    lengths = Counter(_length(data) for data in sent)
    if len(sent) < LEAST_PACKETS:
        raise ScenarioError(
            f"{path}: the connection sent {plural(len(sent), '1-RTT packet')}: expected "
            f"{LEAST_PACKETS} or more, as the qlog of a sender of data has"
        )
    lost = {
        int(event["data"]["header"]["packet_number"])
        for event in events
        if _name(event) == "packet_lost" and _kind(event["data"]) in DATA
    }
    follower = _Follower(path, lengths.most_common(1)[0][0], lost)
    time_s = 0.0
    for event in followed(events, path, progress):
        stamp = float(event.get("time", event.get("relative_time", 0.0))) * scale_s
        time_s = time_s + stamp if is_delta else stamp
        follower.event(time_s, _name(event), event.get("data", {}))
    return follower.exchange()


class _Follower:
    """Follows the events of a sender.

    Without ACK frames, what arrives is the oldest that is not lost: the path keeps the order.
    """

    def __init__(self, path: Path, length: int, lost: set[int]) -> None:
        self._path, self._length, self._missing = path, length, lost
        self._begun_s: float | None = None
        self._answered_s: float | None = None
        self._numbers: dict[int, int] = {}
        """Packet number to place among the transmissions."""
        self._outstanding: dict[int, int] = {}
        """Packet number to length."""
        self._transmissions: list[Transmission] = []
        self._lost: set[int] = set()
        self._deliveries: list[Delivery] = []
        self._steps: list[tuple[float, float]] = []
        self._flight: int | None = None
        self._has_frames = False
        self._last_s = 0.0

    def event(self, time_s: float, name: str, data: Mapping[str, Any]) -> None:
        """One event."""
        self._begun_s = time_s if self._begun_s is None else self._begun_s
        time_s -= self._begun_s
        self._last_s = max(self._last_s, time_s)
        if name == "packet_sent" and _kind(data) in DATA:
            self._send(time_s, data)
        elif name == "packet_received":
            self._answered_s = time_s if self._answered_s is None else self._answered_s
            self._receive(time_s, data)
        elif name == "packet_lost" and _kind(data) in DATA:
            number = int(data["header"]["packet_number"])
            if self._outstanding.pop(number, None) is not None:
                self._lost.add(self._numbers[number])
        elif name == "metrics_updated":
            self._measure(time_s, data)

    def exchange(self) -> Exchange:
        """Return the flow."""
        if not self._deliveries or not self._steps:
            what = "an ACK of data" if self._steps else "a congestion window"
            raise ScenarioError(
                f"{self._path}: the qlog does not have {what}: expected the events "
                "packet_received and metrics_updated of a sender"
            )
        facts = Facts(
            f"QUIC, {self._path.name}", "QUIC", "sender", self._length - QUIC_BYTES,
            QUIC_BYTES + UDP_BYTES, ACK_BYTES, None, 0, duration_s=self._last_s,
        )  # fmt: skip
        return Exchange(
            facts, self._transmissions, self._lost, self._deliveries, self._steps, "cwnd"
        )

    def _send(self, time_s: float, data: Mapping[str, Any]) -> None:
        number = int(data["header"]["packet_number"])
        self._numbers[number] = len(self._transmissions)
        self._outstanding[number] = _length(data)
        self._transmissions.append(Transmission(time_s, len(self._transmissions) + 1, 1))

    def _receive(self, time_s: float, data: Mapping[str, Any]) -> None:
        """Take what ACK frames say, where the qlog has frames."""
        frames: list[dict[str, Any]] = data.get("frames") or []
        for frame in frames:
            if frame.get("frame_type") == "ack" and _kind(data) in DATA:
                self._has_frames = True
                ranges: list[list[int]] = frame.get("acked_ranges") or []
                self._deliver(
                    time_s,
                    [
                        number for number in self._outstanding
                        if any(each[0] <= number <= each[-1] for each in ranges)
                    ],
                )  # fmt: skip

    def _measure(self, time_s: float, data: Mapping[str, Any]) -> None:
        """Take the window, and, without frames, what the bytes in flight say to have arrived."""
        if "congestion_window" in data and (self._steps or self._transmissions):
            window = float(data["congestion_window"]) / self._length
            self._steps.append((time_s, window))
        if "bytes_in_flight" not in data:
            return
        flight = int(data["bytes_in_flight"])
        due = sum(self._outstanding.values()) - flight if self._is_after_ack(flight) else 0
        self._flight = flight
        if self._has_frames or due <= 0:
            return
        arrived: list[int] = []
        for number, length in self._outstanding.items():
            if number in self._missing:
                continue
            if due < length:
                break
            arrived.append(number)
            due -= length
        self._deliver(time_s, arrived)

    def _is_after_ack(self, flight: int) -> bool:
        return bool(self._outstanding) and (self._flight is None or flight < self._flight)

    def _deliver(self, time_s: float, numbers: list[int]) -> None:
        if not numbers:
            return
        sent_s = [self._transmissions[self._numbers[number]].time_s for number in numbers]
        size = sum(self._outstanding.pop(number) + UDP_BYTES for number in numbers)
        self._deliveries.append(
            Delivery(
                time_s, size, len(numbers), min(sent_s), max(sent_s),
                is_exact=True, is_prompt=len(numbers) > 1, has_gap=False, is_repeated=False,
            )
        )  # fmt: skip


def _records(path: Path) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """Return the header and the events of a file, of either form of qlog."""
    try:
        text = path.read_text(encoding="utf-8")
        found = list(_values(text))
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: the file is no qlog: expected JSON in UTF-8") from None
    except ValueError as error:
        what = "is no qlog" if path.suffix not in (".qlog", ".sqlog") else "is cut off or damaged"
        raise ScenarioError(f"{path}: the file {what}: {error}: expected JSON") from None
    header: dict[str, Any] = dict(found[0]) if found and is_mapping(found[0]) else {}
    if not {"qlog_version", "qlog_format", "file_schema"} & set(header):
        raise ScenarioError(f"{path}: the file is no qlog: expected a header with `qlog_version`")
    events = [each for each in found[1:] if is_mapping(each)]
    traces: Any = header.get("traces")
    if is_list(traces) and traces and is_mapping(traces[0]):
        header["trace"] = traces[0]
        events = [each for each in traces[0].get("events", []) if is_mapping(each)]
    return header, [dict(each) for each in events if "data" in each]


def _values(text: str) -> Iterator[Any]:
    """Yield the records of a JSON text sequence, or the one value of JSON, or one a line."""
    if SEPARATOR in text:
        yield from (json.loads(part) for part in text.split(SEPARATOR) if part.strip())
        return
    try:
        yield json.loads(text)
    except ValueError:
        lines = text.splitlines()
        if len(lines) < 2:
            raise
        yield from (json.loads(line) for line in lines if line.strip())


def _deep(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key) if is_mapping(table) else None
    return table


def _name(event: Mapping[str, Any]) -> str:
    return str(event.get("name", "")).rpartition(":")[2]


def _kind(data: Mapping[str, Any]) -> str:
    return str(_deep(data, "header", "packet_type") or data.get("packet_type") or "")


def _length(data: Mapping[str, Any]) -> int:
    return int(_deep(data, "raw", "length") or _deep(data, "header", "packet_size") or 0)
