"""Files of other programs, where one of this one's is expected: what works instead."""

from __future__ import annotations

from pathlib import PurePath

_PACKETS = (
    "a capture holds what was sent, not what to simulate: `cwndlab import pcap FILE -o FLOW.toml` "
    "makes a scenario of one of its flows (docs/import.md)"
)
_QLOG = (
    "a qlog holds what an endpoint did, not what to simulate: `cwndlab import qlog FILE -o "
    "FLOW.toml` makes a scenario of it (docs/import.md)"
)
_POLICY = (
    "a trained model is no file that is read: write a Python class that loads it and returns its "
    "window, and name it as FILE.py:Class (docs/custom-rules.md)"
)
_TABLE = (
    "a table is no scenario: name it in one, as the rate of a link with "
    'rate = { kind = "log", file = "FILE", unit = "Mbit/s" }'
)
_NS3 = "a program for ns-3 is not read: write the network as a scenario in TOML (`cwndlab init`)"
INSTEAD = {
    ".tcl": "a script of ns-2 is not read: write the network as a scenario in TOML (`cwndlab "
    "init`), and `cwndlab export FILE.toml` writes the script for it",
    ".cc": _NS3,
    ".ned": "a network of OMNeT++ is not read: write it as a scenario in TOML (`cwndlab init`)",
    ".pcap": _PACKETS, ".pcapng": _PACKETS, ".cap": _PACKETS,
    ".qlog": _QLOG, ".sqlog": _QLOG,
    ".onnx": _POLICY, ".pt": _POLICY, ".pth": _POLICY, ".pb": _POLICY, ".h5": _POLICY,
    ".csv": _TABLE, ".tsv": _TABLE,
    ".down": "a trace of mahimahi is no scenario: name it in one, as the rate of a link with "
    'rate = { kind = "trace", file = "FILE" }, or give `--env trace:FILE`',
    ".yaml": "YAML is not read: write the scenario in TOML or JSON",
    ".yml": "YAML is not read: write the scenario in TOML or JSON",
    ".py": "Python is no scenario: run it with `python FILE`, or name its rule in a scenario as "
    "FILE.py:Class(values)",
}  # fmt: skip
"""Endings of names, and one sentence for each."""


def instead(file: str | PurePath) -> str | None:
    """Say what works instead of a file, by the ending of its name; None if it may be the right one.

    Examples
    --------
    >>> print(instead("network.YAML"))
    YAML is not read: write the scenario in TOML or JSON
    >>> instead("network.toml") is None
    True
    """
    return INSTEAD.get(PurePath(file).suffix.lower())
