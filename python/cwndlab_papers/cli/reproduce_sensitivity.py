"""`cwndlab reproduce --sensitivity` and `--readings`: verdicts under varied assumptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import EXIT_FAILED
from cwndlab.cli.output import print_table, say, warn
from cwndlab.plugins import plural

if TYPE_CHECKING:
    from cwndlab_papers.open_values import Readings
    from cwndlab_papers.variants import Sensitivity

SENSITIVITY, READINGS = "--sensitivity", "--readings"


def vary(
    option: str,
    targets: tuple[str, ...],
    chosen: Mapping[str, list[str]],
    *,
    refused: Mapping[str, Any],
    out: Path,
    store: Path,
    page: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Vary each paper's assumptions, print the table, and update the page of verdicts.

    With `option` ``--sensitivity`` one at a time, with ``--readings`` all of them together.
    """
    from cwndlab.cli.sweep_progress import progress_bar
    from cwndlab_papers import load, open_values, sensitivity, summary

    for name, value in refused.items():
        if value:
            raise click.UsageError(f"`{name}` cannot be used with `{option}`, whose plan is fixed")
    if any("/" in target for target in targets):
        raise click.UsageError(
            f"`{option}` needs a whole `PAPER`, and `{targets[0]}` is one experiment"
        )
    is_readings = option == READINGS
    form = open_values if is_readings else sensitivity
    papers = [key for key in chosen if targets or form.is_defined(load(key))]
    if page is not None:
        for key in papers:
            summary.check(key, page)
    failed = 0
    for key in papers:
        with progress_bar() as show:
            try:
                found = form.run(key, out=out, store=store, progress=teller(key, show), **given)
            except KeyboardInterrupt:
                say(f"stopped; finished runs are kept in {store}, and the same command resumes")
                raise
        if as_json:
            from cwndlab.outputs import stamped
            from cwndlab.plugins import dumps

            name = option.removeprefix("--")
            print(dumps(stamped(name, found.to_dict()), indent=None), flush=True)
        elif isinstance(found, open_values.Readings):
            _print_readings(found)
        else:
            _print(found)
        say(f"wrote {out / key / form.NAME}")
        if page is not None:
            say(f"wrote {summary.vary(found, page)}")
        failed += found.failed
    if failed:
        warn(f"{plural(failed, 'run')} failed; claims about them have no value")
        raise click.exceptions.Exit(EXIT_FAILED)


def teller(key: str, show: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Return a function that prints a reproduction's events to standard error."""

    def tell(event: dict[str, Any]) -> None:
        if event["event"] == "plan":
            say(f"{key}: plan {event['number']} of {event['of']}, {event['plan']}")
        elif event["event"] == "writing":
            say(f"{key}: plots and report")
        elif event["event"] == "workers":
            say(f"{event['address']}: workers {event['workers']}, threads {event['threads']}")
        elif event["event"] == "failed":
            say(f"failed: {event['cell']}, replicate {event['replicate']}: {event['error']}")
        else:
            show(event)

    return tell


def _print(found: Sensitivity) -> None:
    data = found.to_dict()
    kinds = list(data["variants"][0]["medians"])
    rows = [
        (
            entry["assumption"] or "as assumed",
            entry["value"],
            f"{entry['met']} of {entry['claims']}",
            f"+{len(entry['now_met'])} -{len(entry['no_longer_met'])}",
            *(f"{entry['medians'][kind]:.2f}" for kind in kinds),
            str(len(entry["moved"])),
            f"{entry['computed_s']:.0f}",
        )
        for entry in data["variants"]
    ]
    columns = (
        "assumption",
        "value",
        "claims met",
        "change",
        *(f"median {kind}" for kind in kinds),
        "moved",
        "s now",
    )
    print_table(f"{found.paper}: sensitivity to assumed values, {found.replicates} replicates",
                columns, rows,
                text_columns=2)  # fmt: skip
    say("claims are judged by their means, without intervals")
    say(
        f"{found.took_s:.0f} s of processor time, {data['computed_s']:.0f} s of it now; "
        f"this call took {found.wall_s:.0f} s"
    )
    if found.failed:
        say(f"{plural(found.failed, 'run')} failed")


def print_misfits(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Print root mean square differences from printed numbers, by reading and part."""
    from cwndlab_papers.open_values import PAIRS, PARTS

    rows = [
        (name, PARTS[part], f"{scores[PAIRS]:g}",
         *(f"{value:.3f}" for score, value in scores.items() if score != PAIRS))
        for name, parts in found.items() for part, scores in parts.items()
    ]  # fmt: skip
    scores = next(iter(next(iter(found.values())).values()))
    head = ("reading", "printed numbers", "pairs",
            *(f"RMS, {score}" for score in scores if score != PAIRS))  # fmt: skip
    print_table("Differences from printed numbers", head, rows, text_columns=2)


def _print_readings(found: Readings) -> None:
    """Print how many readings meet each claim, the classes, and the reading that fits best."""
    data = found.to_dict()
    rows = [
        (entry["claim"], f"{100 * entry['share']:.0f} %", "yes" if entry["as_assumed"] else "no",
         entry["class"])
        for entry in data["claims"]
    ]  # fmt: skip
    title = f"{found.paper}: claims under {len(found.readings)} readings of what it leaves open"
    print_table(title, ("claim", "readings that meet it", "as assumed", "class"), rows,
                text_columns=1)  # fmt: skip
    fitted = found.fitted
    if fitted is not None:
        from cwndlab_papers.open_values import reading_name

        both = (found.readings[at] for at in dict.fromkeys((0, fitted.number)))
        print_misfits({reading_name(entry.number): entry.misfit for entry in both})
    say("claims are judged by their means, without intervals")
    say(f"{plural(found.runs, 'run')}; {found.computed_s:.0f} s of processor time now")
    if found.failed:
        say(f"{plural(found.failed, 'run')} failed")
