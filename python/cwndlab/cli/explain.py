"""`cwndlab explain`: why a flow or a rule did better than another."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import figure_options, options
from cwndlab.cli.display import display
from cwndlab.cli.hints import document, refuse_other, warn_of_bare_rates
from cwndlab.cli.output import meter, print_frame, print_line, print_table, say
from cwndlab.cli.profile import assumptions, profile_option
from cwndlab.message import missing

if TYPE_CHECKING:
    from cwndlab.explanation import Explanation
    from cwndlab.plots import FigureStyle

SCENARIOS = (".toml", ".json")
LEAST = 0.0005
"""Below it a number of a table is 0."""
CAUSES = {
    "slow_start": "slow start",
    "growth": "growth after slow start",
    "ecn": "ECN",
    "undo": "undone reductions",
    "idle": "idle periods",
    "rule": "the rule's own decrease",
}
"""How the table names causes of changes of cwnd that it does not name by their key."""


@click.command()
@click.argument("what", nargs=-1, metavar="FILE.toml | RULE RULE")
@click.option(
    "--flows", metavar="NAMES",
    help="Of FILE: two flows or groups, or one, which is compared with its link.  [default: all, "
         "if there are one or two]",
)  # fmt: skip
@click.option("--env", metavar="NAME", help="Of rules: environment.  [default: constant]")
@click.option("--queue", metavar="NAME", help="Of rules: queue.  [default: drop-tail]")
@click.option("--recovery", metavar="NAME", help="Of rules: loss recovery.  [default: sack]")
@click.option("--duration", metavar="TIME", help="Of rules: simulated time.  [default: 100s]")
@profile_option("the scenario's, else linux")
@options.assume_option
@options.seed_option
@options.set_option
@options.rules_option
@options.json_option
@options.format_option
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Plot the parts, and the phases of both over time (.png, .svg, .pdf).",
)  # fmt: skip
@figure_options.figure_options
def explain(
    what: tuple[str, ...],
    flows: str | None,
    env: str | None,
    queue: str | None,
    recovery: str | None,
    duration: str | None,
    profile: str | None,
    assume: tuple[str, ...],
    seed: int | None,
    settings: tuple[str, ...],
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Explain why a flow or a rule did better than another.

    With a scenario, FILE, it compares two flows or groups of one run, or one flow with the capacity
    of its link. With two RULEs, it compares two runs in the scenarios of `cwndlab compare`. The
    parts add up to the differences of goodput, RTT and loss.
    """
    options.check_plot(plot)
    options.check_format(as_json)
    file = Path(what[0]) if len(what) == 1 else None
    is_file = file is not None and (file.suffix in SCENARIOS or file.is_file())
    if not is_file and len(what) != 2:
        raise click.UsageError(missing("RULE", "a scenario FILE.toml, or two rules"))
    patch = options.patch_of(settings)
    of_rules = {"env": env, "queue": queue, "recovery": recovery, "duration": duration}
    if file is not None:
        for option, value in {**of_rules, "assume": assume}.items():
            if value:
                raise click.UsageError(f"`--{option}` needs two rules: FILE determines it")
        found = _of_file(file, flows, profile, seed, patch)
    else:
        if flows is not None:
            raise click.UsageError("`--flows` needs a scenario FILE.toml")
        given = {key: value for key, value in of_rules.items() if value is not None}
        if duration is not None:
            given["duration"] = str(options.seconds_of("--duration", duration))
        found = _of_rules(what, given, assumptions(assume, profile), seed, patch)
    figure_options.check(look, found.names, ())
    if plot is not None:
        figure_options.save(look, plot, found.plot)
    if as_json:
        click.echo(found.to_json())
    else:
        _print(found if look is None else found.labelled(_labels(look, found.names)))


def _of_file(
    file: Path, flows: str | None, profile: str | None, seed: int | None, patch: dict[str, Any]
) -> Explanation:
    from cwndlab import explaining
    from cwndlab.scenario import Scenario

    refuse_other(file, "scenario")
    warn_of_bare_rates({**document(file), **patch})
    scenario = Scenario.load(file)
    names = None if flows is None else options.names_of("--flows", (flows,))
    with meter(file.stem, scenario.duration_s, "s") as progress:
        return explaining.explain(
            scenario, names, seed=seed, profile=profile, patch=patch, progress=progress.simulated
        )


def _of_rules(
    rules: tuple[str, ...],
    given: dict[str, Any],
    assume: Any,
    seed: int | None,
    patch: dict[str, Any],
) -> Explanation:
    from cwndlab import explaining

    first, second = rules
    if seed is not None:
        given["seed"] = seed
    duration_s = options.seconds_of("--duration", given.get("duration", "100s"))
    with meter("explain", 2 * float(duration_s), "s") as progress:
        return explaining.explain_rules(
            first, second, assume=assume, patch=patch, progress=progress.simulated, **given
        )


def _labels(look: FigureStyle, names: Iterable[str]) -> dict[str, str]:
    """Return the labels of these names, whatever spaces those in the labels have."""
    from cwndlab.plots.figure_style import same

    labels = {same(name): label for name, label in look.labels.items()}
    return {name: labels.get(same(name), name) for name in names}


def _print(found: Explanation) -> None:
    """Print the headline, then each difference with its parts."""
    if display.format == "csv":
        print_frame(found.goodput)
        return
    print_line(f"{found.headline}.", style="bold")
    print()
    table = found.table()
    if found.is_of_capacity:
        table = table.drop("by time", "by window", "by delay", f"{found.names[1]} [% of time]")
    sides = found.parts["goodput_bps"]["sides"]
    print_table(
        f"goodput: {sides[0] / 1e6:.4g} and {sides[1] / 1e6:.4g} Mbit/s; parts by phase",
        ["phase", *table.columns[1:]],
        [[str(row[0]), *map(_number, row[1:])] for row in table.iter_rows()],
    )
    _print_rtt(found)
    _print_loss(found)
    _print_cwnd_changes(found)
    _print_predictions(found)
    _print_divergence(found)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "0" if abs(value) < LEAST else f"{value:.4g}"


def _count(times: float | None) -> str:
    if not times:
        return ""
    return f"{times:.0f}" if times == round(times) else f"{times:.1f}"


def _print_rtt(found: Explanation) -> None:
    rtt = found.parts["rtt_s"]
    if rtt is None:
        return
    first, second = rtt["sides"]
    words = {"propagation": "propagation", "queues": "queues", "acks": "ACKs and the rest"}
    # Adding 0 takes the sign from a rounded 0.
    parts = ", ".join(
        f"{word} {round(1e3 * rtt[part], 6) + 0.0:+.3g}" for part, word in words.items()
    )
    queued = " and ".join(f"{packets:.3g}" for packets in found.parts["queued_packets"])
    print_line(
        f"RTT: {1e3 * first:.4g} and {1e3 * second:.4g} ms, difference "
        f"{1e3 * rtt['difference']:+.3g} ms = {parts}; packets in queues: {queued}"
    )


def _print_loss(found: Explanation) -> None:
    from cwndlab.explanation import TITLES

    loss = found.parts["loss_rate"]
    parts = [
        f"{TITLES.get(phase, phase)} {100 * part:+.3g}" for phase, part in loss["phases"]
        if abs(part) > 1e-9
    ]  # fmt: skip
    first, second = (100 * rate for rate in loss["sides"])
    because = f" = {', '.join(parts)}" if parts else ""
    print_line(
        f"loss: {first:.3g} and {second:.3g} %, difference "
        f"{100 * loss['difference']:+.3g} points{because}"
    )
    print()


def _print_cwnd_changes(found: Explanation) -> None:
    sides = [side for side, accounts in zip(found.names, found.accounts, strict=True) if accounts]
    by_cause: dict[str, list[dict[str, Any]]] = {}
    for row in found.cwnd_changes.to_dicts():
        by_cause.setdefault(row["cause"], []).append(row)
    lines: list[list[str]] = []
    for cause, rows in by_cause.items():
        if not any(row["packets"] for row in rows):
            continue
        line = [CAUSES.get(cause, cause)]
        for row in rows:
            # How many ACKs grew the window says nothing.
            counts = row["times"] if cause not in ("slow_start", "growth") else None
            line += [_count(counts), f"{row['packets']:+.4g}" if row["packets"] else "0"]
        lines.append(line)
    ends = ["from start to end of the measurement"]
    for side, accounts in zip(found.names, found.accounts, strict=True):
        if side in sides:
            change = sum(one["last_cwnd"] - (one["first_cwnd"] or 0.0) for one in accounts)
            ends += ["", f"{change / len(accounts):+.4g}"]
    headings = [part for side in sides for part in (f"{side}: times", "packets")]
    print_table("changes of cwnd by cause", ["", *headings], [*lines, [], ends])


def _print_predictions(found: Explanation) -> None:
    rows = [
        [row["side"], row["formula"], f"{100 * row['loss_event_rate']:.3g}",
         f"{1e3 * row['rtt_s']:.4g}", f"{row['predicted_bps'] / 1e6:.4g}",
         f"{row['measured_bps'] / 1e6:.4g}"]
        for row in found.predictions.to_dicts()
    ]  # fmt: skip
    if rows:
        print_table(
            "theory, at the measured loss events and RTT",
            ["", "formula", "loss events [%]", "RTT [ms]", "predicted [Mbit/s]",
             "measured [Mbit/s]"],
            rows, text_columns=2,
        )  # fmt: skip


def _print_divergence(found: Explanation) -> None:
    divergence = found.divergence
    if divergence is None:
        return
    times = " and ".join(f"{time_s:.6f} s" for time_s in divergence.times_s)
    cwnd = " and ".join(f"{window:.4g}" for window in divergence.cwnd)
    acked = " and ".join(map(str, divergence.acknowledged))
    print_line(
        f"first difference: event {divergence.number + 1}, at {times}: cwnd {cwnd} packets, "
        f"{acked} acknowledged"
    )
    for side, packets in zip(found.names, divergence.packets, strict=True):
        rows = [
            [row["event"], f"{row['time_s']:.6f}", str(row["seq"]),
             "retransmission" if row["retransmission"] else "marked" if row["marked"] else ""]
            for row in packets.to_dicts()
        ]  # fmt: skip
        print_table(f"packets of {side} around it", ["event", "time [s]", "number", ""], rows)
    say("all parts add up to the differences; --json has every account")
