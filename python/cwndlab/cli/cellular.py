"""`cwndlab cellular`: a synthetic cellular link as a file in mahimahi's format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cwndlab.cli import options
from cwndlab.errors import ScenarioError


@click.command()
@click.option("--mean", default="10Mbit", show_default=True, metavar="RATE", help="Mean rate.")
@click.option(
    "--noise",
    metavar="RATE",
    help="Standard deviation of the rate's change within a second.  [default: 0.4 of the mean]",
)
@click.option(
    "--outage-share",
    default=0.05,
    show_default=True,
    type=float,
    metavar="SHARE",
    help="Share of time without any delivery opportunity, 0 to 0.5.",
)
@click.option(
    "--outage-length",
    default="1s",
    show_default=True,
    metavar="TIME",
    help="Mean length of an outage.",
)
@click.option(
    "--duration", default="60s", show_default=True, metavar="TIME", help="Duration of the trace."
)
@options.seed_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the trace to this file instead of standard output.",
)
def cellular(
    mean: str,
    noise: str | None,
    outage_share: float,
    outage_length: str,
    duration: str,
    seed: int | None,
    output: Path | None,
) -> None:
    """Write a synthetic cellular link as a mahimahi trace.

    Each line is a millisecond at which 1500 bytes may leave. These opportunities are a Poisson
    process whose rate follows a Brownian motion, with outages: the same as those of a bottleneck of
    kind "cellular" with this seed (page "Waveforms" of the documentation).
    """
    options.check_parent("--output", output)
    rate: dict[str, Any] = {
        "kind": "cellular", "mean": mean, "outage_share": outage_share,
        "outage_length": outage_length, **({} if noise is None else {"noise": noise}),
    }  # fmt: skip
    milliseconds = _drawn(rate, duration, 1 if seed is None else seed)
    text = "".join(f"{ms}\n" for ms in milliseconds)
    if output is None:
        click.echo(text, nl=False)
        return
    from cwndlab.cli.output import say
    from cwndlab.files import write_whole

    write_whole(output, text.encode())
    say(f"wrote {output}")


def _drawn(rate: dict[str, Any], duration: str, seed: int) -> list[int]:
    from cwndlab.message import invalid
    from cwndlab.scenario import Scenario

    document = {
        "seed": seed, "duration": duration, "dumbbell": {"rate": rate, "delay": "0s"},
        "flows": [{"rule": "AIMD(1, 0.5)"}],
    }  # fmt: skip
    try:
        milliseconds = Scenario(document).core.opportunities_ms()
    except ScenarioError as error:
        # The keys of the scenario are the options of this command.
        key, colon, rest = str(error).partition(": ")
        option = key.removeprefix("dumbbell.rate.").replace("_", "-")
        raise click.UsageError(f"--{option}{colon}{rest}") from None
    if not milliseconds:
        raise click.UsageError(
            invalid(
                "--duration", duration, f"enough for an opportunity at a mean of {rate['mean']}"
            )
        )
    return milliseconds
