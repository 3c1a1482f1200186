"""Frames of a journal: a mark, the length, a checksum, the payload.

What was cut or changed is never taken for good.
"""

from __future__ import annotations

import hashlib
import struct
from typing import NamedTuple

from cwndlab.message import invalid, plural

MARK = b"\xf0cwj"
"""Begins every frame. Payloads are ASCII, which its first byte is not.

Whoever looks for the next frame finds one.
"""
_HEAD = struct.Struct("<4sI8s")
MOST_BYTES = 1 << 30
"""No payload is longer: a length beyond it is damage."""


class Frames(NamedTuple):
    """What a stretch of a journal holds."""

    payloads: list[bytes]
    good_bytes: int
    """Where the last good frame ends."""
    damaged_bytes: int
    """Bytes before that end that belong to no good frame."""


def frame(payload: bytes) -> bytes:
    """Put a payload into its frame.

    Examples
    --------
    >>> read(frame(b"one") + frame(b"two"))
    Frames(payloads=[b'one', b'two'], good_bytes=38, damaged_bytes=0)
    """
    if len(payload) > MOST_BYTES:
        raise ValueError(invalid("record", plural(len(payload), "byte"), f"at most {MOST_BYTES}"))
    return _HEAD.pack(MARK, len(payload), _checksum(payload)) + payload


def read(data: bytes | memoryview) -> Frames:
    """Read every good frame; what lies between is passed over.

    A frame whose end is missing is the last thing in a journal that is being written, or whose
    process was killed: it lies after `good_bytes`.

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
    # 64 bits: that damage passes for good has a chance of 5e-20. The length is in it, as part of
    # what is hashed.
    return hashlib.blake2b(payload, digest_size=8, salt=len(payload).to_bytes(8, "little")).digest()
