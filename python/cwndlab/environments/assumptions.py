"""Assumptions of the environments: every value that Akella et al. (2002) leave open.

Each has a default and a reason. Values that the paper states and a user may vary (the number of
flows, the RTT, the buffer, the gaps between arrivals) are here too, with the section that states
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

from cwndlab.arguments import listed
from cwndlab.documents import is_number, is_whole
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, unknown
from cwndlab.patching import value_from_text
from cwndlab.quantities import Quantity, bits_per_second, seconds

AUTOMATIC = "automatic"


def _assumed(default: Any, kind: str, meaning: str, reason: str) -> Any:
    return field(default=default, metadata={"kind": kind, "meaning": meaning, "reason": reason})


@dataclass(frozen=True)
class Assumptions:
    """Assumptions of the environments; every field can be set (`with_`, ``--assume key=value``).

    Quantities are written as in a scenario. `assumptions()` lists names, values, meanings and
    reasons.

    Raises
    ------
    ScenarioError
        If a value is not valid.

    Examples
    --------
    >>> Assumptions().with_(floor="200kbit").floor
    '200kbit'
    """

    flows: int = _assumed(
        10,
        "count",
        "test flows",
        "Stated in section 4; with more of them the results are said to be similar",
    )
    low_share: str = _assumed(
        "1Mbit",
        "rate",
        "capacity per test flow in CL, RWL, RDL, RWA, RWM",
        "Section 5.2 says that raw capacities differ. Section 3.2 has 25 to 30 packets as the "
        "smallest window at a"
        " loss: the 15 packets of 1 Mb/s times 120 ms, and as many in the buffer. So the link is "
        "n times 1 Mb/s",
    )
    high_share: str = _assumed(
        "10Mbit",
        "rate",
        "capacity per test flow in CH, SQL, SQH, RWH, RDH",
        "The least rate with a residual 10 Mb/s each",
    )
    cross_link_rate: str = _assumed(
        "20Mbit",
        "rate",
        "links of RCL, RCH, RSQ",
        "Arriving flows of `transfer_mean` packets offer a sixth of it at the stated gap of 0.03 "
        "s, and half at 0.01 s",
    )
    demo_share: str = _assumed(
        "2Mbit",
        "rate",
        "capacity per test flow in the demo's environments",
        "Not the paper's: twice the mean residual bandwidth",
    )
    access_ratio: float = _assumed(
        5.0,
        "number",
        "rate of each access link over the bottleneck's",
        "At 1 a single flow would queue there and lose nothing; bursts are still paced",
    )
    rtt: str = _assumed(
        "120ms", "time", "mean RTT without queueing", "Stated in section 3.2 (as 120s)"
    )
    rtt_spread: str = _assumed(
        "4ms",
        "delay",
        "width of the interval of RTTs",
        "'Slightly' randomised, section 3.3: 118 to 122 ms",
    )
    buffer: str = _assumed(
        "1bdp", "text", "size of the buffers", "Stated in section 4.1; 10 % of it in section 4.2.3"
    )
    duration: str = _assumed(
        "100s",
        "time",
        "duration of a run",
        "Ten periods of the square waves; drop-tail gets fairer with time",
    )
    warm_up: float = _assumed(
        0.2, "number", "share of a run that is not measured", "Start-up is not what is compared"
    )
    step: str = _assumed(
        "1s",
        "time",
        "time between changes of the random environments",
        "Eight RTTs: a rule has time to react",
    )
    floor: str = _assumed(
        "100kbit",
        "rate",
        "least residual bandwidth, per test flow",
        "Without one RWM's median falls to nothing within 100 steps and n(C - B)/B has no value. "
        "100 kb/s allow a packet or two in flight",
    )
    red_min: str = _assumed(
        AUTOMATIC,
        "text",
        "RED's lower threshold, a buffer such as 10pkt",
        "ns-2's automatic values of 2001 (5 ms of delay, at least 5 packets) lie below a tenth of "
        "the buffer: so"
        " smaller buffers change little, as section 4.2.3 says",
    )
    red_max: str = _assumed(
        AUTOMATIC, "text", "RED's upper threshold", "Three times the lower one, as in ns-2"
    )
    red_max_p: float = _assumed(
        0.1, "number", "RED's probability at the upper threshold", "ns-2's default"
    )
    red_gentle: bool = _assumed(True, "flag", "whether RED is gentle", "ns-2's default since 2001")
    rio_in_min: str = _assumed(
        "0.5bdp",
        "text",
        "RIO's lower threshold for cross traffic",
        "Cross traffic must not lose packets after R0-R1 (section 3.3)",
    )
    rio_in_max: str = _assumed(
        "1bdp", "text", "RIO's upper threshold for cross traffic", "As above"
    )
    cross_packet: str = _assumed(
        "1000B",
        "text",
        "packets of CBR sources, on the wire",
        "As long as the test flows', which windows of 15 imply",
    )
    drr_source: float = _assumed(
        1.1,
        "number",
        "rate of a cross source under DRR, in largest fair shares",
        "A source must offer its share to get it; excess would only be dropped",
    )
    low_gap: str = _assumed(
        "30ms", "time", "mean gap between arrivals in RCL and RSQ", "Stated in section 3.1"
    )
    high_gap: str = _assumed(
        "10ms", "time", "mean gap between arrivals in RCH and RSQ", "Stated in section 3.1"
    )
    transfer_mean: float = _assumed(
        12.0, "number", "mean packets of an arriving flow", "ns-2's web traffic example"
    )
    transfer_shape: float = _assumed(
        1.2,
        "number",
        "Pareto shape of that length",
        "ns-2's web traffic example, with infinite variance",
    )
    cross_rule: str = _assumed(
        "AIMD(1, 0.5)",
        "text",
        "rule of arriving flows and placeholders",
        "'TCP-SACK flows implementing AIMD'",
    )
    placeholders: int = _assumed(
        0, "count", "placeholder flows; 0: as many as test flows", "Stated in section 3.3: as many"
    )
    entry_delay: str = _assumed(
        "1ms", "delay", "delay of the link R0-R1", "Gives all flows about the same RTT"
    )
    profile: str = _assumed(
        "linux",
        "text",
        "profile of the endpoints",
        "What runs today; the paper's plans have ns2-2.35, with which agreement is tested",
    )

    def __post_init__(self) -> None:
        for entry in fields(self):
            _check(entry, getattr(self, entry.name))

    def with_(self, **values: Any) -> Assumptions:
        """Return a copy with some values set; an unknown name is refused."""
        known = [entry.name for entry in fields(self)]
        for name in values:
            if name not in known:
                raise ScenarioError(unknown("assume", name, known))
        return replace(self, **values)

    @classmethod
    def from_texts(cls, texts: str | Iterable[str]) -> Assumptions:
        """Read ``key=value`` texts, as `--assume` takes them.

        Examples
        --------
        >>> Assumptions.from_texts(["flows=20", "step=2s"]).flows
        20
        """
        values = {}
        for text in listed(texts):
            key, equals, value = text.partition("=")
            if not equals or not key.strip():
                raise ScenarioError(invalid("--assume", text, "key=value"))
            values[key.strip()] = value_from_text(value.strip())
        return cls().with_(**values)

    def seconds(self, name: str) -> float:
        """Value of a time in seconds."""
        value = seconds(getattr(self, name))
        assert value is not None, "checked when it was set"
        return value

    def bps(self, name: str) -> float:
        """Value of a rate in bit/s."""
        value = bits_per_second(getattr(self, name))
        assert value is not None, "checked when it was set"
        return value


def assumptions(chosen: Assumptions | None = None) -> list[dict[str, Any]]:
    """List the assumptions: ``name``, ``value``, ``default``, ``meaning``, ``reason``.

    Examples
    --------
    >>> [entry["value"] for entry in assumptions() if entry["name"] == "floor"]
    ['100kbit']
    """
    chosen = chosen or Assumptions()
    return [
        {
            "name": entry.name,
            "value": getattr(chosen, entry.name),
            "default": entry.default,
            "meaning": entry.metadata["meaning"],
            "reason": entry.metadata["reason"],
        }
        for entry in fields(chosen)
    ]


def _check(entry: Field[Any], value: Any) -> None:
    kind = _KINDS[entry.metadata["kind"]]
    least, most = _BOUNDS.get(entry.name, (0, float("inf")))
    if not kind.test(value):
        raise ScenarioError(invalid(f"assume.{entry.name}", value, kind.text))
    if is_number(value) and not least <= value <= most:
        raise ScenarioError(invalid(f"assume.{entry.name}", value, f"{least:g} to {most:g}"))


@dataclass(frozen=True)
class _Kind:
    text: str
    test: Callable[[Quantity], bool]


_KINDS: dict[str, _Kind] = {
    "rate": _Kind("a rate such as 10Mbit", lambda value: (bits_per_second(value) or 0.0) > 0.0),
    "time": _Kind("a duration such as 120ms", lambda value: (seconds(value) or 0.0) > 0.0),
    "delay": _Kind(
        "a delay such as 4ms, or 0ms",
        lambda value: (read := seconds(value)) is not None and read >= 0.0,
    ),
    "count": _Kind("a whole number", is_whole),
    "number": _Kind("a number", is_number),
    "flag": _Kind("true or false", lambda value: isinstance(value, bool)),
    "text": _Kind("text", lambda value: isinstance(value, str) and bool(value)),
}
_BOUNDS = {
    "flows": (1, 100_000),
    "warm_up": (0, 0.99),
    "access_ratio": (1, 1e6),
    "drr_source": (1, 1000),
    "transfer_shape": (1.01, 100),
}
