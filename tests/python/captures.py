"""Captures as other places and other programs have them, made of those that cwndlab writes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import dpkt

import cwndlab

RAW, ETHERNET, COOKED, COOKED_2 = 101, 1, 113, 276
Frame = tuple[float, bytes]


def frames(path: Path) -> list[Frame]:
    """Times and IP packets of a capture of raw IP."""
    with path.open("rb") as file:
        return [(float(time_s), data) for time_s, data in dpkt.pcap.UniversalReader(file)]


def write(path: Path, packets: Iterable[Frame], link: int = RAW, *, nano: bool = True) -> Path:
    """Write a pcap; its link type is `link`."""
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, linktype=link, nano=nano)
        for time_s, data in packets:
            writer.writepkt(data, time_s)
    return path


def in_ethernet(data: bytes) -> bytes:
    return bytes(12) + (b"\x08\x00" if data[0] >> 4 == 4 else b"\x86\xdd") + data


def in_cooked(data: bytes) -> bytes:
    return struct.pack(">HHH8sH", 0, 1, 6, bytes(8), 0x0800) + data


def in_cooked_2(data: bytes) -> bytes:
    return struct.pack(">HHiHBB8s", 0x0800, 0, 2, 1, 0, 6, bytes(8)) + data


def as_ipv6(data: bytes) -> bytes:
    """The same TCP segment in IPv6, whose header is 20 bytes longer."""
    (length,) = struct.unpack(">H", data[2:4])
    source, sink = (b"\xfd" + bytes(11) + address for address in (data[12:16], data[16:20]))
    return struct.pack(">IHBB", 6 << 28, length - 20, 6, 64) + source + sink + data[20:]


def changed(packets: Iterable[Frame], change: Callable[[bytes], bytes]) -> list[Frame]:
    return [(time_s, change(data)) for time_s, data in packets]


def at_receiver(path: Path, result: cwndlab.Result, back_s: float, back_bps: float) -> list[Frame]:
    """What the receiver of a run with one flow sees, from what the sender saw.

    Data arrive when the packet trace says. ACKs leave `back_s`, and their transmission at
    `back_bps`, before they arrive.
    """
    trace = result.traces["packets"]
    arrivals = trace.filter(event="receive").select("time_s", "seq").rows()
    sent = trace.filter(event="send").select("time_s", "seq").rows()
    data = [frame for frame in frames(path) if frame[1][12:16] == b"\x0a\x00\x00\x01"]
    acks = [frame for frame in frames(path) if frame[1][12:16] != b"\x0a\x00\x00\x01"]
    assert len(sent) == len(data)
    headers: dict[int, list[Frame]] = {}
    for (_, number), frame in zip(sent, data, strict=True):
        headers.setdefault(number, []).append(frame)
    found = [
        # The last of its transmissions that can have arrived.
        (time_s, [data for sent_s, data in headers[number] if sent_s <= time_s - back_s][-1])
        for time_s, number in arrivals
    ]
    found += [
        (time_s - back_s - 8 * struct.unpack(">H", data[2:4])[0] / back_bps, data)
        for time_s, data in acks[1:]
    ]
    # A simulated SYN/ACK has the size of an ACK, a captured one also the options of a SYN.
    found.append((arrivals[0][0] + 1e-6, acks[0][1]))
    return sorted(found, key=lambda frame: frame[0])
