"""Options that the commands of `cwndlab theory` share, and their number types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli.figure_options import figure_options
from cwndlab.cli.options import Option, ParamType
from cwndlab.message import invalid, invalid_value, one_of

if TYPE_CHECKING:
    from cwndlab.theory import Rule


class Number(ParamType):
    """A number between two bounds, both excluded unless `most` is set."""

    name = "number"

    def __init__(self, above: float, below: float, *, most: bool = False) -> None:
        self.above: float = above
        self.below: float = below
        self.most: bool = most

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the value, or raise an error that says what is expected."""
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not (self.above < number < self.below or (self.most and number == self.below)):
            upper = (
                ""
                if self.below == float("inf")
                else f"{', at most' if self.most else ' and below'} {self.below:g}"
            )
            self.fail(
                invalid_value(value, f"a number above {self.above:g}{upper}"),
                param,
                ctx,
            )
        return number


class Pair(ParamType):
    """Two loads, such as 8,64."""

    name = "loads"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        """Read it, or say what is expected."""
        try:
            first, second = (float(part) for part in str(value).split(","))
        except ValueError:
            first = second = float("nan")
        if not (0 <= first < float("inf") and 0 <= second < float("inf")):
            self.fail(
                invalid_value(value, "two loads of 0 or above, such as 8,64"),
                param,
                ctx,
            )
        return first, second


POSITIVE, FRACTION = Number(0, float("inf")), Number(0, 1)


def plot_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--plot FILE` and the options of figures."""
    return click.option(
        "--plot",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Draw it (.png, .svg, .pdf).",
    )(figure_options(command))


capacity_option: Option = click.option(
    "--capacity",
    type=POSITIVE,
    default=100.0,
    show_default=True,
    metavar="PACKETS",
    help="B: what all flows share.",
)
exact_option: Option = click.option(
    "--exact", is_flag=True, help="Let congestion fall exactly at B, as if loads grew continuously."
)
floor_option: Option = click.option(
    "--floor",
    type=Number(-1e-300, float("inf")),
    default=0.0,
    metavar="PACKETS",
    help="Loads never fall below it.",
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
