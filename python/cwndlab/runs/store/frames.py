"""Frames of a journal: magic number, length, checksum, payload.

A truncated or corrupt frame is never taken for a good one.
"""

from __future__ import annotations

import hashlib
import struct
from typing import NamedTuple

from cwndlab.message import invalid, plural

MARK = b"\xf0cwj"
"""Magic number of every frame; its first byte is not ASCII, as payloads are.

A reader that looks for the next frame finds it.
"""
_HEAD = struct.Struct("<4sI8s")
MOST_BYTES = 1 << 30
"""Largest length of a payload: a larger length is corrupt."""


class Frames(NamedTuple):
    """The frames of a part of a journal."""

    payloads: list[bytes]
    good_bytes: int
    """End of the last good frame."""
    damaged_bytes: int
    """Bytes before that end outside good frames."""


def frame(payload: bytes) -> bytes:
    """Return the frame of a payload.

    Examples
    --------
    >>> read(frame(b"one") + frame(b"two"))
    Frames(payloads=[b'one', b'two'], good_bytes=38, damaged_bytes=0)
    """
    if len(payload) > MOST_BYTES:
        raise ValueError(invalid("record", plural(len(payload), "byte"), f"at most {MOST_BYTES}"))
    return _HEAD.pack(MARK, len(payload), _checksum(payload)) + payload


def read(data: bytes | memoryview) -> Frames:
    """Read every good frame, and skip the bytes between them.

    A truncated frame at the end, of a journal in use or of a killed process, is after `good_bytes`.

    Examples
    --------
    >>> text = frame(b"one") + frame(b"two") + frame(b"three")
    >>> read(text[:-1]).payloads, read(text[:18] + b"?" + text[19:])
    ([b'one', b'two'], Frames(payloads=[b'two', b'three'], good_bytes=59, damaged_bytes=19))
    """
    data = bytes(data)
    payloads: list[bytes] = []
    at = good = damaged = 0
    while (at := data.find(MARK, at)) >= 0:
        payload = _payload(data, at)
        if payload is None:
            at += 1
            continue
        damaged += at - good
        payloads.append(payload)
        at = good = at + _HEAD.size + len(payload)
    return Frames(payloads, good, damaged)


def _payload(data: bytes, at: int) -> bytes | None:
    if at + _HEAD.size > len(data):
        return None
    _, length, checksum = _HEAD.unpack_from(data, at)
    begin = at + _HEAD.size
    if length > MOST_BYTES or begin + length > len(data):
        return None
    payload = data[begin : begin + length]
    return payload if _checksum(payload) == checksum else None


def _checksum(payload: bytes) -> bytes:
    # 64 bits: damage is undetected with probability 5e-20. The hash covers the length, too.
    return hashlib.blake2b(payload, digest_size=8, salt=len(payload).to_bytes(8, "little")).digest()
