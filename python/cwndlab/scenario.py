"""Scenarios: the Python interface to the native core's definition."""

from __future__ import annotations

import copy
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cwndlab import native, tomltext
from cwndlab.arguments import keywords, listed
from cwndlab.document_kinds import other_kind
from cwndlab.documents import is_list, is_mapping, is_table, is_whole
from cwndlab.errors import RuleError, ScenarioError
from cwndlab.foreign_files import instead
from cwndlab.message import invalid, same_name
from cwndlab.names import queues
from cwndlab.patching import patched, plain
from cwndlab.quantities import Quantity, bare_rates, seconds

if TYPE_CHECKING:
    from cwndlab.custom_rules import Rule

SEEDS = 2**63
"""Upper bound of seeds: integers of TOML and of tables are below it."""


DEFAULT_PROFILE: str = native.schema()["properties"]["profile"]["default"]
"""Profile of a scenario that names none."""


def check_seed(seed: object) -> None:
    """Refuse what is no seed.

    Raises
    ------
    ScenarioError
        If it is not a whole number from 0 to 2^63 - 1.

    Examples
    --------
    >>> check_seed(7)
    """
    if not is_whole(seed) or not 0 <= seed < SEEDS:
        raise ScenarioError(invalid("seed", seed, "a whole number from 0 to 2^63 - 1"))


def check_rule(rule: str, home: str, key: str = "rule") -> None:
    """Refuse a rule that a home cannot run; whether its kernel is built is another question.

    Raises
    ------
    ScenarioError
        With this key, the rule, and what the home can run.

    Examples
    --------
    >>> check_rule("AIMD(1, 0.5)", "linux")
    >>> try:
    ...     check_rule("CUBIC", "linux", "against")
    ... except ScenarioError as error:
    ...     print(str(error)[:51])
    against: rule "CUBIC" cannot run in the kernel: it
    """
    link = {"rate": "1Mbit", "delay": "1ms"}
    document = {"duration": "1s", "home": home, "dumbbell": link, "flows": [{"rule": rule}]}
    try:
        Scenario(document).core.check_home()
    except ScenarioError as error:
        # The scenario is ours, and its key is no key of the user's.
        raise type(error)(str(error).replace("flows[0].rule", key, 1)) from None


class Scenario:
    """A network, its traffic, and its measurements.

    A scenario is parsed and checked once, when it is made, and never changes.

    Attributes
    ----------
    core : cwndlab.native.Scenario
        What the core made of it.

    Examples
    --------
    >>> scenario = Scenario.from_dict({
    ...     "duration": "5s",
    ...     "dumbbell": {"rate": "10Mbit", "delay": "20ms"},
    ...     "flows": [{"name": "a", "rule": "AIMD(1, 0.5)"}],
    ... })
    >>> scenario.set("dumbbell.rate", "20Mbit")["dumbbell"]["rate"]
    '20Mbit'
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document: dict[str, Any] = copy.deepcopy(dict(document))
        if is_whole(seed := self._document.get("seed")):
            check_seed(seed)
        try:
            text = json.dumps(self._document, allow_nan=False)
        except (TypeError, ValueError):
            self._document = plain(self._document)
            text = _json(self._document)
        self.core: native.Scenario = native.Scenario(text, "json")

    @classmethod
    def load(cls, source: str | Path) -> Scenario:
        """Read a scenario from a file, or from text that holds one.

        Parameters
        ----------
        source : str or Path
            Path of a ``.toml`` or ``.json`` file. A string with a line break or a leading ``{`` is
            taken as the text itself. Paths in a scenario file are relative to its directory.

        Raises
        ------
        ScenarioError
            If the text is not a valid scenario.
        OSError
            If the file cannot be read.

        Examples
        --------
        >>> Scenario.load('''
        ... duration = "5s"
        ... dumbbell = { rate = "10Mbit", delay = "20ms" }
        ... flows = [{ name = "a", rule = "AIMD(1, 0.5)" }]
        ... ''')["duration"]
        '5s'
        """
        if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
            return cls.from_text(source, "json" if source.lstrip().startswith("{") else "toml")
        path = Path(source)
        if found := instead(path):
            raise ScenarioError(f"{path}: {found}")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ScenarioError(
                f"{path}: the file is not valid: expected TOML or JSON in UTF-8"
            ) from None
        try:
            return cls.from_text(text, "json" if path.suffix == ".json" else "toml", path.parent)
        except ScenarioError as error:
            raise type(error)(f"{path}: {error}") from None

    @classmethod
    def of(cls, source: Source) -> Scenario:
        """Return what describes a scenario as one: itself, a mapping, a path or text.

        Raises
        ------
        ScenarioError
            If it is no scenario; a message says what a sweep, a design or a rule is instead.
        OSError
            If a file cannot be read.

        Examples
        --------
        >>> Scenario.of("CUBIC")
        Traceback (most recent call last):
        ...
        cwndlab.ScenarioError: scenario: 'CUBIC' is a rule: expected a scenario, such as \
dumbbell("10Mbit", "20ms", flows="CUBIC")
        """
        given: Any = source
        if isinstance(given, Scenario):
            return given
        is_named = isinstance(given, str | Path)
        try:
            if is_named:
                return cls.load(given)
            if is_mapping(given):
                return cls.from_dict(given)
        except FileNotFoundError:
            if not _is_rule(given):
                raise
        except ScenarioError as error:
            found = re.search(r'scenario: key "(\w+)" is not known', str(error))
            other = other_kind(found.groups(), "scenario") if found is not None else None
            if other is None:
                raise
            raise ScenarioError(f"{given if is_named else 'the mapping'} {other}") from None
        if _is_rule(given):
            name = getattr(given, "__name__", repr(given))
            such = f'such as dumbbell("10Mbit", "20ms", flows={name})'.replace("'", '"')
            raise ScenarioError(f"scenario: {name} is a rule: expected a scenario, {such}")
        expected = "a Scenario, a mapping, a path or text"
        raise ScenarioError(f"scenario: {given!r} is not valid: expected {expected}")

    @classmethod
    def from_text(
        cls, text: str, format: Literal["toml", "json"] = "toml", folder: str | Path | None = None
    ) -> Scenario:
        """Read a scenario from text in ``"toml"`` or ``"json"``.

        Paths in it are relative to `folder`, by default to the working directory.
        """
        core = native.Scenario(text, format, None if folder is None else Path(folder).resolve())
        return cls._of(core, json.loads(core.to_json()))

    @classmethod
    def _of(cls, core: native.Scenario, document: dict[str, Any]) -> Scenario:
        new = cls.__new__(cls)
        new.core, new._document = core, document
        return new

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Scenario:
        """Make a scenario from a dictionary with the structure of its TOML or JSON form."""
        return cls(document)

    def set(self, key: str, value: Any) -> Scenario:
        """Return the scenario with one dotted key set: ``scenario.set("dumbbell.rate", "20Mbit")``.

        Inside a list a part of the key is an index, an entry's name, or ``*`` for all:
        ``flows.*.recovery``.
        """
        return self.patch({key: value})

    def patch(self, patch: Mapping[str, Any]) -> Scenario:
        """Return the scenario with several dotted keys set at once, in their order.

        None removes a key.

        A table whose ``kind`` changes keeps the keys that the new kind has.

        Examples
        --------
        >>> queue = {"kind": "drop-tail", "limit": "50pkt", "count_in_service": False}
        >>> scenario = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", queue=queue)
        >>> scenario.set("dumbbell.queue.kind", "codel")["dumbbell"]["queue"]
        {'kind': 'codel', 'limit': '50pkt'}
        """
        document = self._document
        for key, value in patch.items():
            changed = patched(document, {key: value})
            document = _fitting(changed, document) if key.endswith("kind") else changed
        return Scenario(document)

    def with_seed(self, seed: int) -> Scenario:
        """Return the scenario with another seed, without checking the rest again.

        Raises
        ------
        ScenarioError
            If the seed is not a whole number from 0 to 2^63 - 1.

        Examples
        --------
        >>> dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)").with_seed(7)["seed"]
        7
        """
        check_seed(seed)
        return self._of(self.core.with_seed(seed), {**self._document, "seed": seed})

    @property
    def duration_s(self) -> float:
        """Simulated time, seconds."""
        value = seconds(self._document["duration"])
        assert value is not None, "the native core has checked it"
        return value

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario as a new dictionary."""
        return copy.deepcopy(self._document)

    def canonical(self) -> dict[str, Any]:
        """Return the scenario with every default, in canonical notation.

        Examples
        --------
        >>> dumbbell("10Mbit", "20ms", flows="AIMD(1,.5)").canonical()["flows"][0]["rule"]
        'AIMD(1, 0.5)'
        """
        return json.loads(self.core.to_json())

    @property
    def recoveries(self) -> list[str]:
        """Loss recovery of each group of flows, as it runs: SACK with the knob ``rack`` is rack.

        Examples
        --------
        >>> scenario = dumbbell("10Mbit", "20ms", flows=["CUBIC", {"rule": "Reno"}])
        >>> scenario.recoveries, scenario.set("profile", "rfc").recoveries
        (['rack', 'rack'], ['sack', 'sack'])
        """
        whole = self.canonical()
        usual = next(knob for knob in native.knobs() if knob["name"] == "rack")
        of_all = whole.get("tcp", {}).get("rack", usual["values"][whole["profile"]])
        return [
            "rack"
            if flow["recovery"] == "sack" and flow.get("tcp", {}).get("rack", of_all)
            else flow["recovery"]
            for flow in whole["flows"]
        ]

    def to_json(self, indent: int | None = 2) -> str:
        """Return the scenario as JSON text."""
        return json.dumps(self._document, indent=indent)

    def to_toml(self) -> str:
        """Return the scenario as TOML text, which `load` reads back."""
        return tomltext.dumps(self._document)

    def __getitem__(self, key: str) -> Any:
        return copy.deepcopy(self._document[key])

    def __contains__(self, key: str) -> bool:
        return key in self._document

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.core == other.core

    def __repr__(self) -> str:
        rules = ", ".join(str(flow.get("rule")) for flow in self._document["flows"])
        return (
            f"<Scenario {self._document.get('name') or 'unnamed'}: {rules} for "
            f"{self._document['duration']}>"
        )


Source = Scenario | Mapping[str, Any] | str | Path
"""What describes a scenario."""


def _is_rule(given: Any) -> bool:
    try:
        native.rule(given)
    except (RuleError, TypeError):
        return False
    return True


def _json(document: Mapping[str, Any]) -> str:
    try:
        return json.dumps(document)
    except (TypeError, ValueError) as error:
        raise ScenarioError(
            f"scenario: {error}: expected tables, lists, text, numbers, true or false"
        ) from None


def _fitting(node: Any, before: Any) -> Any:
    """Drop the keys that only a table's former kind has."""
    if is_list(node) and is_list(before):
        return [_fitting(*pair) for pair in zip(node, before, strict=True)]
    if not (is_table(node) and is_table(before)):
        return node
    keys = (
        _keys_of_kind(before.get("kind"), node["kind"])
        if node.get("kind") != before.get("kind")
        else None
    )
    return {
        key: _fitting(value, before.get(key))
        for key, value in node.items()
        if keys is None or key in keys or key not in before
    }


def _keys_of_kind(before: Any, kind: Any) -> set[str] | None:
    """Keys of a kind of table that may also be of kind `before`; None if there is no such kind."""
    for definition in native.schema()["$defs"].values():
        kinds = {
            variant["properties"]["kind"]["const"]: set(variant["properties"])
            for variant in definition.get("oneOf", [])
            if "kind" in variant.get("properties", {})
        }
        if before in kinds and kind in kinds:
            return kinds[kind]
    return None


def _instead() -> dict[str, str]:
    link = native.schema()["$defs"]["Dumbbell"]["properties"]
    words = {"rtt": "delay, one way", "rule": "flows", "cc": "flows", "buffer": "queue"}
    return {**{name: f'link={{"{name}": ...}}' for name in link}, **words}


@keywords(lambda: native.schema()["properties"], _instead)
def dumbbell(
    rate: Quantity | Mapping[str, Any],
    delay: Quantity,
    *,
    flows: Rule | Mapping[str, Any] | Sequence[Rule | Mapping[str, Any]],
    duration: Quantity = "60s",
    queue: str | Mapping[str, Any] | None = None,
    link: Mapping[str, Any] | None = None,
    cross: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
    **settings: Any,
) -> Scenario:
    """Build a scenario of flows that share one bottleneck link.

    Parameters
    ----------
    rate : str, float or mapping
        Rate of the bottleneck (bit/s if a bare number), or a waveform.
    delay : str or float
        One-way propagation delay of the bottleneck (seconds if a bare number).
    flows : rule, mapping or sequence
        A rule such as ``"AIMD(1, 0.5)"``, a class of your own or an instance of it, a table
        (``{"rule": ..., "count": 10}``), or a list of them. Flows without a name are called
        ``flow-1``, ``flow-2`` and so on.
    duration : str or float
        Simulated time (seconds if a bare number).
    queue : str or mapping, optional
        The bottleneck's queue, or its kind; by default drop-tail, one bandwidth-delay product.
    link : mapping, optional
        Other keys of the bottleneck: ``loss``, ``access_delay``, ``access_rate``, ``back_rate``,
        ...
    cross : mapping or sequence of mapping
        Constant-bit-rate cross traffic.
    **settings
        Other keys of the scenario: ``name``, ``seed``, ``measure``, ``profile``, ``tcp``,
        ``trace``, ...

    Raises
    ------
    ScenarioError
        If a key or value is not valid.

    Warns
    -----
    UserWarning
        Of a bare rate below 1 kbit/s, which was probably meant in Mbit/s.

    Examples
    --------
    >>> dumbbell("10Mbit", "20ms", flows=["AIMD(1, 0.5)", {"rule": "AIAD(1, 3)", "count": 4}])
    <Scenario unnamed: AIMD(1, 0.5), AIAD(1, 3) for 60s>
    """
    for text in bare_rates({"rate": rate, **(link or {})}):
        warnings.warn(text, stacklevel=3)
    tables = [
        dict(entry) if is_mapping(entry) else {"rule": native.rule(entry)}
        for entry in listed(flows)
    ]
    usual = {"kind": "drop-tail", "limit": "1bdp"}
    document: dict[str, Any] = {
        "duration": duration,
        "dumbbell": {
            "rate": rate,
            "delay": delay,
            "queue": usual if isinstance(queue, str) or not queue else dict(queue),
            **(link or {}),
        },
        "flows": [{"name": f"flow-{number}", **table} for number, table in enumerate(tables, 1)],
        **settings,
    }
    if cross:
        document["cross"] = [dict(table) for table in listed(cross)]
    found = Scenario(document)
    if not isinstance(queue, str):
        return found
    return found.set("dumbbell.queue.kind", same_name(queue, queues()))
