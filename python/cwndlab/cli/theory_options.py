"""Options that the commands of `cwndlab theory` share, and their number types."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli.figure_options import figure_options
from cwndlab.cli.options import Option, Value
from cwndlab.message import invalid, one_of

if TYPE_CHECKING:
    from cwndlab.theory import Rule


def number(above: float, below: float = math.inf, *, most: bool = False) -> Value:
    """Return the type of numbers between two bounds, both excluded unless `most` is set."""

    def read(value: Any) -> float | None:
        found = float(value)
        return found if above < found < below or (most and found == below) else None

    upper = "" if below == math.inf else f"{', at most' if most else ' and below'} {below:g}"
    return Value("number", read, f"a number above {above:g}{upper}")


def _pair(value: Any) -> tuple[float, float] | None:
    first, second = (float(part) for part in str(value).split(","))
    return (first, second) if 0 <= first < math.inf and 0 <= second < math.inf else None


POSITIVE, FRACTION = number(0), number(0, 1)
PAIR = Value("loads", _pair, "two loads of 0 or above, such as 8,64")


def plot_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--plot FILE` and the options of figures."""
    return click.option(
        "--plot",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Plot the result (.png, .svg, .pdf).",
    )(figure_options(command))


capacity_option: Option = click.option(
    "--capacity",
    type=POSITIVE,
    default=100.0,
    show_default=True,
    metavar="PACKETS",
    help="B: the capacity that all flows share.",
)
exact_option: Option = click.option(
    "--exact",
    is_flag=True,
    help="Let congestion occur exactly at B, as if loads grew continuously.",
)
floor_option: Option = click.option(
    "--floor",
    type=number(-1e-300),
    default=0.0,
    metavar="PACKETS",
    help="Minimum load.",
)


def model_of(text: str) -> Rule:
    """Read a rule, or say that the simulator's rule has no model here."""
    from cwndlab import native
    from cwndlab import theory as models
    from cwndlab.theory.notation import FAMILIES

    name = text.partition("(")[0].strip().lower()
    known = [family.name for family in FAMILIES]
    simulated = {entry["name"].lower() for entry in native.rules()}
    if name in simulated and name not in {model.lower() for model in known}:
        raise click.UsageError(
            invalid(
                "RULE", text, f"a rule that has a model, not only a simulation: {one_of(known)}"
            )
        )
    return models.parse(text)
