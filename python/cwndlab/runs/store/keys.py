"""Keys of runs: equal keys mean equal results."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cwndlab import custom_rules, native
from cwndlab.documents import is_list, is_mapping, is_sequence, is_table
from cwndlab.kernel_runs import virtual
from cwndlab.names import TRACE

SCHEME = "cwndlab run 1"
"""Version of the key's definition.

Runs under keys of another version are not found.
"""


def canonical(document: Mapping[str, Any]) -> str:
    """Validate a scenario for its home, and write it with every default in canonical notation.

    The text is one line of JSON.

    Raises
    ------
    ScenarioError
        If it is not valid, or its home cannot run a rule.

    Examples
    --------
    >>> link = {"rate": 1e6, "delay": "20ms"}
    >>> text = canonical({"duration": 0.5, "dumbbell": link, "flows": [{"rule": "AIMD(1,.5)"}]})
    >>> json.loads(text)["duration"], json.loads(text)["flows"][0]["rule"]
    ('500ms', 'AIMD(1, 0.5)')
    """
    checked = native.Scenario(json.dumps(document), "json")
    checked.check_home()
    return checked.to_json()


def run_key(scenario: str, counted_s: float | None = None) -> str | None:
    """Return the key of a run: a hash, 32 hexadecimal digits, of all that its result depends on.

    Parameters
    ----------
    scenario : str
        The canonical scenario, with its seed.
    counted_s : float, optional
        Length of the bins of counted arrivals, if these replace the packet trace.

    Returns
    -------
    str or None
        None if the source of a rule in Python is unavailable, or a file cannot be read.

    Examples
    --------
    >>> document = {"dumbbell": {"rate": "1Mbit", "delay": "20ms"},
    ...             "flows": [{"rule": "AIMD(1, 0.5)"}]}
    >>> keys = {run_key(canonical({**document, "seed": seed, "duration": text})) for seed in (1, 2)
    ...         for text in ("5s", "5000ms")}
    >>> len(keys)
    2
    """
    document = json.loads(scenario)
    digest = scenario_digest(document, counted_s)
    return None if digest is None else seeded_key(digest, document["seed"])


def scenario_digest(document: Mapping[str, Any], counted_s: float | None = None) -> bytes | None:
    """Hash a canonical scenario without its seed, and the files and rules that it names.

    All replicates of a cell share this digest.
    """
    document = copy.deepcopy({key: value for key, value in document.items() if key != "seed"})
    outside: list[str] = []
    for table, key, text in list(named_outside(document)):
        content = _content(key, text)
        if content is None:
            return None
        outside.append(content)
        # Paths do not count: the same file elsewhere, such as on a cluster, is the same run.
        table[key] = custom_rules.shown(text) if key == "rule" else ""
    parts = [
        SCHEME,
        native.build(),
        json.dumps(document, sort_keys=True, separators=(",", ":")),
        *outside,
    ]
    if not virtual.is_simulated(document):
        parts.append(f"kernel {virtual.identity(document)}")
    if counted_s is not None:
        parts.append(f"arrivals counted in {counted_s} s")
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()


def seeded_key(digest: bytes, seed: int) -> str:
    """Return the key of the run of a scenario (`scenario_digest`) with a seed."""
    return hashlib.blake2b(digest + str(seed).encode(), digest_size=16).hexdigest()


def definition_digest(definition: Mapping[str, Any]) -> str:
    """Hash the definition of a sweep, the files and rules that it names, and the engine's build.

    The digest has 16 digits.

    Parameters
    ----------
    definition : mapping
        Base, axes in their order, seed, ...: plain data.

    Examples
    --------
    >>> first = {"base": {"duration": "5s"}, "axes": {"rule": ["CUBIC"]}}
    >>> definition_digest(first) == definition_digest({**first, "axes": {"rule": ["CUBIC", "BIC"]}})
    False
    """
    outside = [f"{text} {_content(key, text)}" for key, text in _texts("", definition)]
    parts = [SCHEME, native.build(), json.dumps(definition, separators=(",", ":")), *outside]
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def _texts(key: str, node: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts at any depth that name a rule in Python or a file, for `_content`."""
    if is_mapping(node):
        for name, value in node.items():
            # Axes and `set` have dotted keys.
            yield from _texts(name.rpartition(".")[2], value)
    elif is_sequence(node):
        for value in node:
            yield from _texts(key, value)
    elif isinstance(node, str) and key == "env" and node.startswith(TRACE):
        yield "file", node.removeprefix(TRACE)
    elif isinstance(node, str) and (key == "file" or _is_custom(node)):
        yield ("file" if key == "file" else "rule"), node


def has_outside(scenario: str) -> bool:
    """Whether a canonical scenario depends on files or on rules written in Python."""
    return '"file"' in scenario or any(True for _ in named_outside(json.loads(scenario)))


def named_outside(node: Any) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield every table with a key that names a file or a rule in Python."""
    if is_list(node):
        for entry in node:
            yield from named_outside(entry)
    elif is_table(node):
        for key, value in node.items():
            if is_table(value) or is_list(value):
                yield from named_outside(value)
            elif isinstance(value, str) and (
                key == "file" or (key == "rule" and _is_custom(value))
            ):
                yield node, key, value


@functools.lru_cache(maxsize=4096)
def _is_custom(rule: str) -> bool:
    return ":" in rule and custom_rules.NOTATION.fullmatch(rule.strip()) is not None


def _content(key: str, text: str) -> str | None:
    """Hash the named files and rules; None if one is unavailable."""
    try:
        data = custom_rules.source(text) if key == "rule" else Path(text).read_bytes()
    except (OSError, ValueError):
        return None
    if data is None:
        return None
    return hashlib.blake2b(
        data.encode() if isinstance(data, str) else data, digest_size=16
    ).hexdigest()
