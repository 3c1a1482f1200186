"""Packs for a worker what a scenario names and does not contain.

- ``file`` keys and rules ``FILE.py:Class()``: the content is sent; the worker writes it to a file
  of its own.
- Classes of this program or notebook: sent as a cloudpickle, with everything they refer to here.
- ``package.module:Class()``: not sent; the worker must have the module, with the same source.

A token in the scenario's text stands for what is sent.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from cwndlab import custom_rules
from cwndlab.runs.store.keys import has_outside, named_outside

BY_FILE, BY_VALUE, BY_NAME = "file", "class", "module"


class Payload(NamedTuple):
    """One thing outside a scenario."""

    kind: str
    """`BY_FILE`, `BY_VALUE` or `BY_NAME`."""
    here: str
    """Its text in the original scenario."""
    name: str
    """Name of the file, or of the class."""
    digest: str
    """Hash of its path and content; for a module's rule its `fingerprint`."""

    @property
    def token(self) -> str:
        """Its text in the scenario that is sent."""
        return f"cwndlab-payload-{self.digest}"


class Packer:
    """Packs scenarios; reads each named file once, and again when it has changed."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[tuple[int, int], Payload, bytes]] = {}
        self._classes: dict[object, tuple[Payload, bytes]] = {}

    def pack(self, scenario: str) -> tuple[str, list[tuple[Payload, bytes | None]]]:
        """Return the scenario to send, and its payloads.

        Payloads come with their content, if they have one.

        An unreadable file stays as it is: the worker reports it as a local run would.
        """
        if not has_outside(scenario):
            return scenario, []
        document = json.loads(scenario)
        packed: dict[Payload, bytes | None] = {}
        for table, key, text in list(named_outside(document)):
            found = self._rule(text) if key == "rule" else self._file(text)
            if found is None:
                continue
            payload, content = found
            packed[payload] = content
            if content is not None:
                table[key] = payload.token + text.removeprefix(payload.here)
        return json.dumps(document, separators=(",", ":")), list(packed.items())

    def _rule(self, text: str) -> tuple[Payload, bytes | None] | None:
        place = text.partition(":")[0]
        if place.endswith(".py"):
            return self._file(place)
        if place == "__main__":
            return self._class(place, text)
        return Payload(BY_NAME, text, text, fingerprint(text)), None

    def _file(self, path: str) -> tuple[Payload, bytes] | None:
        try:
            status = Path(path).stat()
            changed = status.st_mtime_ns, status.st_size
            if path not in self._files or self._files[path][0] != changed:
                content = Path(path).read_bytes()
                digest = _hash(path.encode(), content)
                self._files[path] = (
                    changed,
                    Payload(BY_FILE, path, Path(path).name, digest),
                    content,
                )
        except OSError:
            return None
        return self._files[path][1:]

    def _class(self, place: str, text: str) -> tuple[Payload, bytes] | None:
        import cloudpickle  # pyright: ignore[reportMissingTypeStubs]

        try:
            name, rule = custom_rules.class_of(text)
        except ValueError:
            return None
        if rule not in self._classes:
            content = cloudpickle.dumps(rule)
            self._classes[rule] = Payload(BY_VALUE, place, name, _hash(content)), content
        return self._classes[rule]


def fingerprint(rule: str) -> str:
    """Hash the source of a rule's module; empty if there is none.

    Examples
    --------
    >>> len(fingerprint("fractions:Fraction(1)")), fingerprint("no_such_module:Rule")
    (32, '')
    """
    try:
        source = custom_rules.source(rule)
    except ValueError:
        source = None
    return "" if source is None else _hash(source.encode())


def escaped(text: str) -> str:
    r"""Escape text for a JSON string.

    Examples
    --------
    >>> print(escaped('a "b"'))
    a \"b\"
    """
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _hash(*parts: bytes) -> str:
    return hashlib.blake2b(b"\0".join(parts), digest_size=16).hexdigest()
