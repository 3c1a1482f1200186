"""`cwndlab reproduce`: what papers found, found again, and a verdict on each of their claims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import options
from cwndlab.cli.output import print_table, say

if TYPE_CHECKING:
    from cwndlab.reproduce import Reproduction


@click.command()
@click.argument("targets", nargs=-1, metavar="[PAPER[/ID]]...")
@click.option("--list", "is_list", is_flag=True, help="List papers and their experiments.")
@click.option(
    "--quick", is_flag=True, help="Few and short runs, to see that all of it works; no verdicts on the paper."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/reproduce"),
    show_default=True,
    metavar="DIR",
    help="For reports, plots, data, and the store that keeps finished runs.",
)
@options.assume_option
@options.jobs_option
@click.option(
    "--on",
    metavar="ADDRESS",
    help="Do the runs on a cluster of dask.distributed, whose scheduler is at dask://HOST:PORT.",
)
@click.option("--json", "as_json", is_flag=True, help="Print verdicts, one JSON object a paper.")
def reproduce(
    targets: tuple[str, ...],
    is_list: bool,
    quick: bool,
    out: Path,
    assume: tuple[str, ...],
    jobs: int | None,
    on: str | None,
    as_json: bool,
) -> None:
    """Run the experiments of papers again, and judge what the papers say of them.

    Without a target: all of all papers. PAPER/ID is one experiment, such as akella2002/fig4. After Ctrl-C the same
    command goes on where it was.
    """
    if on is not None and jobs is not None:
        raise click.UsageError("--jobs: is for threads of this process; allowed: without --on")

    from cwndlab import reproduce as papers
    from cwndlab.environments import Assumptions

    chosen = papers.choose(targets)
    if is_list:
        _list(chosen)
        return
    given = Assumptions.from_texts(assume)
    values = {text.partition("=")[0].strip() for text in assume}
    assumed = {name: getattr(given, name) for name in values}
    options.make_folder(out)
    for key, ids in chosen.items():
        found = _reproduce(key, ids, quick=quick, out=out, assume=assumed, jobs=jobs, on=on)
        if as_json:
            from cwndlab.jsontext import dumps

            print(dumps(found.to_dict(), indent=None), flush=True)
        else:
            _print(found)
        for note in (note for cost in found.costs for note in cost.notes):
            say(f"note: {note}")
        say(f"wrote {out / key / 'report.html'}")
        if failed := sum(cost.failed for cost in found.costs):
            say(f"{failed} runs failed; claims about them have no value")


def _reproduce(key: str, ids: list[str], *, out: Path, **given: Any) -> Reproduction:
    from cwndlab import reproduce as papers
    from cwndlab.cli.sweep_progress import progress_bar

    with progress_bar() as show:
        try:
            return papers.reproduce(key, ids, out=out, progress=_teller(key, show), **given)
        except KeyboardInterrupt:
            say(f"stopped; finished runs are kept in {out / 'store'}, and the same command goes on there")
            raise


def _teller(key: str, show: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def tell(event: dict[str, Any]) -> None:
        if event["event"] == "plan":
            say(f"{key}: plan {event['number']} of {event['of']}, {event['plan']}")
        elif event["event"] == "writing":
            say(f"{key}: plots and report")
        elif event["event"] == "failed":
            say(f"failed: {event['cell']}, replicate {event['replicate']}: {event['error']}")
        else:
            show(event)

    return tell


def _list(chosen: dict[str, list[str]]) -> None:
    from cwndlab import reproduce as papers

    for key, ids in chosen.items():
        paper = papers.load(key)
        rows = [
            (f"{key}/{name}", experiment.section, str(len(paper.claims_of([name]))), experiment.title)
            for name, experiment in paper.experiments.items()
            if name in ids
        ]
        print_table(f"{key}: {paper.title}", ("experiment", "section", "claims", "what"), rows, text_columns=4)


def _print(found: Reproduction) -> None:
    from cwndlab.reproduce.page import SIGNS, counts, number

    rows = []
    for entry in found.judged:
        claim = entry.claim
        measured = number(entry.measured, exact=claim.is_exact)
        verdict = f"{SIGNS[entry.verdict]} {entry.verdict}" + (f": {entry.note}" if entry.note else "")
        rows.append((claim.id, claim.name, verdict, measured, claim.reading.text, claim.statement))
    columns = ("experiment", "claim", "verdict", "measured ± 95 % CI", "wanted", "the paper states")
    print_table(f"{found.paper.key}: {found.paper.title}", columns, rows, text_columns=6)
    found_counts = ", ".join(f"{count} {verdict}" for verdict, count in counts(found.judged).items())
    runs = sum(cost.runs for cost in found.costs)
    say(f"{len(found.judged)} claims: {found_counts}; {runs} runs, {found.wall_s:.0f} s")
    if found.is_quick:
        say("the quick form says whether all of it works; verdicts need the full one")
