"""TCP segments of a capture: pcap and pcapng, read by dpkt."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from cwndlab.arguments import Progress
from cwndlab.captures.progress import STEP
from cwndlab.errors import MissingPackageError, ScenarioError

MISSING = "captures: expected the package dpkt: pip install 'dpkt>=1.9.8,<2' (or cwndlab[pcap])"
UDP = 17
NO_OPERATION, MSS, WINDOW_SCALE, SACK, TIMESTAMPS = 1, 2, 3, 5, 8
"""Kinds of TCP options (IANA)."""
_MAGIC_OF_BIG_ENDIAN = (b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d")
_OF_ETHERNET, _OF_LOOPBACK = 1, (0, 108)
_OF_RAW = (12, 14, 101, 228, 229)
_OF_COOKED, _OF_COOKED_2 = 113, 276
"""Link types (https://www.tcpdump.org/linktypes.html)."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A TCP segment; sequence numbers as on the wire, 32 bits."""

    time_s: float
    source: tuple[str, int]
    sink: tuple[str, int]
    sequence: int
    acknowledged: int
    payload: int
    """Bytes of data."""
    size: int
    """Bytes of the IP packet."""
    syn: bool
    ack: bool
    fin: bool
    window: int
    identification: int
    """Of an IPv4 header, else 0."""
    options: dict[int, bytes]
    """TCP options: kind to value."""

    @property
    def timestamps(self) -> tuple[int, int] | None:
        """TSval and TSecr (RFC 7323 section 3)."""
        value = self.options.get(TIMESTAMPS, b"")
        return struct.unpack(">II", value) if len(value) == 8 else None

    @property
    def sack(self) -> list[tuple[int, int]]:
        """SACK blocks: first byte, and the one behind the last (RFC 2018 section 3)."""
        value = self.options.get(SACK, b"")
        return list(struct.iter_unpack(">II", value)) if len(value) % 8 == 0 else []

    @property
    def segment_size(self) -> int:
        """MSS of a SYN (RFC 9293 section 3.7.1), 0 without it."""
        return int.from_bytes(self.options.get(MSS, b""), "big")

    @property
    def window_scale(self) -> int | None:
        """Shift of the windows that follow a SYN (RFC 7323 section 2); None without it."""
        value = self.options.get(WINDOW_SCALE)
        return None if value is None else int.from_bytes(value, "big")


@dataclass
class Capture:
    """What a file holds."""

    segments: list[Segment] = field(default_factory=list[Segment])
    packets: int = 0
    datagrams: int = 0
    """UDP, which QUIC uses."""


def read(path: Path, progress: Progress | None = None) -> Capture:
    """Read all TCP segments of a capture.

    Parameters
    ----------
    path : Path
        A file of pcap or pcapng; Ethernet, raw IP, Linux cooked or loopback.
    progress : callable, optional
        Called with what is done, and bytes read of bytes in the file.

    Raises
    ------
    ScenarioError
        If the file is no capture, is cut off, or has another link type.
    MissingPackageError
        If dpkt is not installed.
    OSError
        If the file cannot be read.
    """
    library = _library("dpkt")
    size = path.stat().st_size
    found = Capture()
    with path.open("rb") as file:
        try:
            reader: Any = _library("dpkt.pcap").UniversalReader(file)
        except (ValueError, library.UnpackError, struct.error):
            what = "is empty" if size == 0 else "is no capture"
            raise ScenarioError(f"{path}: the file {what}: expected pcap or pcapng") from None
        decode = _decoder(path, int(reader.datalink()))
        last = b""
        for time_s, last in _whole(path, reader, found, library):
            found.packets += 1
            if progress is not None and found.packets % STEP == 0:
                progress(f"reading {path.name}", file.tell(), size)
            _add(found, time_s, decode(last))
        _check_last(path, file, last, found.packets)
    return found


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackageError(MISSING) from None


def _cut_off(path: Path, packets: int) -> ScenarioError:
    return ScenarioError(
        f"{path}: the file is cut off within packet {packets + 1}: expected a whole capture "
        f"(`editcap {path} WHOLE.pcapng` keeps the packets before it)"
    )


def _whole(
    path: Path, reader: Any, found: Capture, library: ModuleType
) -> Iterator[tuple[float, bytes]]:
    """Yield times and bytes of packets; a cut within a block is said in a sentence."""
    packets = iter(reader)
    while True:
        try:
            time_s, data = next(packets)
        except StopIteration:
            return
        except (library.UnpackError, struct.error):
            raise _cut_off(path, found.packets) from None
        yield float(time_s), data


def _check_last(path: Path, file: BinaryIO, last: bytes, packets: int) -> None:
    """Refuse a pcap that ends within a packet, which dpkt returns shortened."""
    file.seek(0)
    magic = file.read(4)
    if packets == 0 or magic == b"\x0a\x0d\x0d\x0a":
        return
    # The header of a record ends with the captured length and the original one.
    file.seek(-len(last) - 8, 2)
    order = ">" if magic in _MAGIC_OF_BIG_ENDIAN else "<"
    (captured,) = struct.unpack(f"{order}I", file.read(4))
    if captured != len(last):
        raise _cut_off(path, packets - 1)


def _decoder(path: Path, link: int) -> Callable[[bytes], Any]:
    """Return what makes an IP packet of a frame; something else where there is none."""
    ip, ip6 = _library("dpkt.ip").IP, _library("dpkt.ip6").IP6
    unpack_error = _library("dpkt").UnpackError

    def of_ip(data: bytes) -> Any:
        return ip6(data) if data[:1] and data[0] >> 4 == 6 else ip(data)

    outer = of_ip
    if link not in _OF_RAW:
        names = {
            _OF_ETHERNET: "dpkt.ethernet.Ethernet",
            _OF_COOKED: "dpkt.sll.SLL",
            _OF_COOKED_2: "dpkt.sll2.SLL2",
            **dict.fromkeys(_OF_LOOPBACK, "dpkt.loopback.Loopback"),
        }
        if link not in names:
            raise ScenarioError(
                f"{path}: link type {link} is not known: expected Ethernet (1), raw IP (101), "
                "Linux cooked (113, 276) or loopback (0, 108)"
            )
        module, _, name = names[link].rpartition(".")
        frame = getattr(_library(module), name)

        def of_frame(data: bytes) -> Any:
            return frame(data).data

        outer = of_frame

    def decode(data: bytes) -> Any:
        try:
            return outer(data)
        except unpack_error:
            return None

    return decode


def _add(found: Capture, time_s: float, packet: Any) -> None:
    """Count an IP packet, and keep it if it is a TCP segment."""
    protocol = getattr(packet, "p", None)
    found.datagrams += protocol == UDP
    tcp = getattr(packet, "tcp", None)
    if tcp is None:
        return
    four = hasattr(packet, "_v_hl")
    if four:
        header, size = 20 + len(packet.opts), packet.len
    else:
        header = 40 + sum(each.length for each in packet.all_extension_headers)
        size = 40 + packet.plen
    # A length of 0 is that of a segment too large for the field, which an offload divides later.
    own = header + 20 + len(tcp.opts)
    size = size if size > header else own + len(tcp.data)
    found.segments.append(
        Segment(
            time_s, (_address(packet.src), tcp.sport), (_address(packet.dst), tcp.dport),
            tcp.seq, tcp.ack, size - own, size, bool(tcp.flags & 2), bool(tcp.flags & 16),
            bool(tcp.flags & 1), tcp.win, packet.id if four else 0, _options(tcp.opts),
        )
    )  # fmt: skip


def _address(packed: bytes) -> str:
    return _library("dpkt.utils").inet_to_str(packed)


def _options(data: bytes) -> dict[int, bytes]:
    """Return options by kind, up to the one that ends the list (RFC 9293 section 3.1)."""
    found = takewhile(lambda one: one and one[0], _library("dpkt.tcp").parse_opts(data))
    return {kind: value for kind, value in found if kind != NO_OPERATION}
