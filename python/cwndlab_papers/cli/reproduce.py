"""`cwndlab reproduce`: papers' experiments, and a verdict on each of their claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import EXIT_FAILED, options
from cwndlab.cli.home import home_option
from cwndlab.cli.output import print_table, say
from cwndlab.plugins import plural
from cwndlab_papers.cli.reproduce_sensitivity import (
    READINGS,
    SENSITIVITY,
    print_misfits,
    teller,
    vary,
)
from cwndlab_papers.cli.reproduce_witness import testify

if TYPE_CHECKING:
    from cwndlab_papers import Reproduction

DATED = "dated"
PROFILES = ("ns2-2000", "ns2-2001", "ns2-2002", "ns2-2009", "ns2-2.35", DATED)


@click.command()
@click.argument("targets", nargs=-1, metavar="[PAPER[/ID]]...")
@click.option("--list", "is_list", is_flag=True, help="List papers and their experiments.")
@click.option(
    "--quick",
    is_flag=True,
    help="Run few and short runs as a test; gives no verdicts on the paper.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/reproduce"),
    show_default=True,
    metavar="DIR",
    help="Directory for reports, plots, data, and the store of finished runs.",
)
@click.option(
    "--replicates",
    type=options.whole_number(2, 100_000),
    metavar="N",
    help="Run at most N replicates, for a first look; the same command without this option adds "
    "the others.",
)
@click.option(
    "--sensitivity",
    is_flag=True,
    help="Vary the values that the paper leaves open, one at a time, and show which verdicts "
    "change (coarse plan).",
)
@click.option(
    "--readings",
    is_flag=True,
    help="Vary all values that the paper leaves open together (Latin hypercube), and show for "
    "each claim under which share of these assumption sets it holds, and on which value it "
    "depends.",
)
@click.option(
    "--all",
    "is_all",
    is_flag=True,
    help="All experiments of all papers (the default).",
)
@click.option(
    "--page",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the summary of all verdicts to DIR: reproduction.md, its data, the plots; with "
    "--witness, witness.md and its records. Skipped papers keep their previous results.",
)
@click.option(
    "--witness", type=options.Choice("ns2"), metavar="ns2",
    help="Judge the claims by runs of ns-2 as well as of cwndlab, over the cells that ns-2 can "
         "express.",
)  # fmt: skip
@click.option("--ns", type=click.Path(path_type=Path), metavar="PATH",
              help="With --witness: the ns-2 program.  [default: ns on the path]")  # fmt: skip
@click.option(
    "--profile", type=options.Choice(*PROFILES), metavar="NAME",
    help="Use the endpoints and routers of another ns-2 release: " + ", ".join(PROFILES[:-1]) + "; "
    f"{DATED} is that of each paper's date.",
)  # fmt: skip
@click.option(
    "--reading", type=options.whole_number(0, 1000), metavar="N",
    help="Run plans with all their rules under assumption set N of --readings, in the settings "
         "of the coarse plan; 0 is what the plans assume.",
)  # fmt: skip
@home_option("simulator")
@options.assume_option
@options.jobs_option
@options.on_option
@click.option(
    "--store",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Store of finished runs.  [default: store in the directory of --out]",
)
@click.option("--json", "as_json", is_flag=True, help="Print verdicts, one JSON object per paper.")
def reproduce(
    targets: tuple[str, ...],
    is_list: bool,
    quick: bool,
    out: Path,
    replicates: int | None,
    sensitivity: bool,
    readings: bool,
    is_all: bool,
    page: Path | None,
    witness: str | None,
    ns: Path | None,
    profile: str | None,
    reading: int | None,
    home: str | None,
    assume: tuple[str, ...],
    jobs: int | None,
    on: str | None,
    store: Path | None,
    as_json: bool,
) -> None:
    """Reproduce papers and judge their claims.

    The default is all papers. PAPER/ID is one experiment, such as akella2002/fig4. After Ctrl-C the
    same command resumes.
    """
    options.check_cluster(on, jobs)

    if is_all and targets:
        raise click.UsageError(
            f"`--all` cannot be used with `{targets[0]}`: it reproduces every paper"
        )

    import cwndlab_papers as papers
    from cwndlab.environments import Assumptions
    from cwndlab_papers import open_values
    from cwndlab_papers.witness_scope import read_scope

    chosen = papers.choose(targets)
    if is_list:
        _list(chosen)
        return
    given = Assumptions.from_texts(assume)
    values = {text.partition("=")[0].strip() for text in assume}
    assumed = {name: getattr(given, name) for name in values}
    options.make_folder(out)
    if witness is None and ns is not None:
        raise click.UsageError("`--ns` needs `--witness ns2`")
    alone = {"--witness": witness, "--sensitivity": sensitivity, "--readings": readings,
             "--page": page, "--profile": profile}  # fmt: skip
    if home is not None and (refused := [name for name, value in alone.items() if value]):
        raise click.UsageError(f"`--home` cannot be used with `{refused[0]}`")
    if witness is not None:
        others = {"--sensitivity": sensitivity, "--readings": readings, "--assume": assume,
                  "--reading": reading is not None, "--on": on}  # fmt: skip
        if profile == DATED:
            profile = None  # The witness has it by default.
        if page is not None and (quick or profile is not None):
            raise click.UsageError(
                "`--page` cannot be used with `--quick` or `--profile`: the page has the ns-2 of "
                "each paper's date"
            )
        if refused := [name for name, value in others.items() if value]:
            raise click.UsageError(f"`{refused[0]}` cannot be used with `--witness`")
        if page is not None:
            options.make_folder(page)
        testify(
            chosen, ns=ns, out=out, replicates=replicates, profile=profile, quick=quick,
            jobs=jobs, page=page, as_json=as_json,
        )  # fmt: skip
        return
    kept = store or out / "store"
    if sensitivity and readings:
        raise click.UsageError("`--sensitivity` cannot be used with `--readings`")
    if sensitivity or readings:
        if page is not None and quick:
            raise click.UsageError(
                "`--page` cannot be used with `--quick`: the page has full reproductions only"
            )
        vary(
            SENSITIVITY if sensitivity else READINGS, targets, chosen, quick=quick, out=out,
            page=page, store=kept, jobs=jobs, on=on, as_json=as_json,
            refused={"--replicates": replicates, "--assume": assume, "--profile": profile,
                     "--reading": reading is not None},
        )  # fmt: skip
        return
    if reading is not None:
        if assume or profile is not None or len(chosen) > 1:
            raise click.UsageError(
                "`--reading` cannot be used with `--assume`, `--profile` or several papers: it is "
                "a reading of one paper, and has values of its own"
            )
        open_values.assumptions_of(next(iter(chosen)), reading)
    is_beside = reading is not None or profile == DATED
    if page is not None:
        if quick or assumed or profile not in (None, DATED) or (replicates and reading is None):
            raise click.UsageError(
                "`--page` cannot be used with `--quick`, `--assume`, `--replicates` or `--profile` "
                f"other than {DATED}: the page has full runs only"
            )
        from cwndlab_papers import summary

        for key, ids in chosen.items():
            if is_beside or len(ids) < len(papers.load(key).experiments):
                summary.check(key, page)
        options.make_folder(page)
    if not quick:
        _announce(chosen, jobs)
    done: list[Reproduction] = []
    for key, ids in chosen.items():
        found = _reproduce(
            key, ids, quick=quick, out=out, assume=assumed, reading=reading, replicates=replicates,
            profile=read_scope(key).profile if profile == DATED else profile, home=home,
            store=kept, jobs=jobs, on=on,
        )  # fmt: skip
        if as_json:
            print(found.to_json(indent=None), flush=True)
        else:
            _print(found)
        for note in (note for cost in found.costs for note in cost.notes):
            say(f"note: {note}")
        say(f"wrote {out / key / 'report.html'}")
        if failed := sum(cost.failed for cost in found.costs):
            say(f"{plural(failed, 'run')} failed; claims about them have no value")
        done.append(found)
    if page is not None:
        from cwndlab_papers import summary

        if reading is not None:
            written = summary.under_reading(done[0], page)
        elif profile == DATED:
            written = summary.of_date(done, page)
        else:
            written = summary.update(done, page)
        say(f"wrote {written}")
    elif len(done) > 1:
        _print_all(done)
    if any(cost.failed for found in done for cost in found.costs):
        raise click.exceptions.Exit(EXIT_FAILED)


def _announce(chosen: dict[str, list[str]], jobs: int | None) -> None:
    """Print the expected time of whole papers; runs in the store take none."""
    import os

    import cwndlab_papers as papers

    threads = jobs or os.cpu_count() or 1
    for key, ids in chosen.items():
        paper = papers.load(key)
        if paper.expected_cpu_s and len(ids) == len(paper.experiments):
            minutes = paper.expected_cpu_s / threads / 60
            say(
                f"{key}: about {minutes:.0f} minutes on {threads} threads, less what is in the "
                "store"
            )


def _print_all(done: list[Reproduction]) -> None:
    from cwndlab_papers.page import counts

    found = [counts(entry.judged) for entry in done]
    rows = [
        (entry.paper.key, str(len(entry.judged)), *map(str, count.values()))
        for entry, count in zip(done, found, strict=True)
    ]
    print_table("All papers", ("paper", "claims", *found[0]), rows)


def _reproduce(key: str, ids: list[str], *, store: Path, **given: Any) -> Reproduction:
    import cwndlab_papers as papers
    from cwndlab.cli.sweep_progress import progress_bar

    with progress_bar() as show:
        try:
            return papers.reproduce(key, ids, store=store, progress=teller(key, show), **given)
        except KeyboardInterrupt:
            say(f"stopped; finished runs are kept in {store}, and the same command resumes")
            raise


def _list(chosen: dict[str, list[str]]) -> None:
    import cwndlab_papers as papers

    for key, ids in chosen.items():
        paper = papers.load(key)
        rows = [
            (
                f"{key}/{name}",
                experiment.section,
                str(len(paper.claims_of([name]))),
                experiment.title,
            )
            for name, experiment in paper.experiments.items()
            if name in ids
        ]
        print_table(
            f"{key}: {paper.title}",
            ("experiment", "section", "claims", "what"),
            rows,
            text_columns=4,
        )


def _print(found: Reproduction) -> None:
    from cwndlab_papers.page import SIGNS, counts, number

    table = found.table()
    title = f"{found.paper.key}: {found.paper.title}"
    print_table(title, table.columns, table.rows(), text_columns=6)
    also = [
        (entry.claim.id, entry.claim.name, name, f"{SIGNS[verdict]} {verdict}", number(measured))
        for entry in found.judged
        for name, (measured, verdict) in entry.also.items()
        if name in entry.claim.arguments.get("also", {})
    ]
    if also:
        columns = ("experiment", "claim", "about", "verdict", "measured ± 95 % CI")
        print_table("Also judged", columns, also, text_columns=4)
    notes = [(entry.claim.id, entry.claim.name, entry.note) for entry in found.judged if entry.note]
    if notes:
        print_table(
            "Notes on claims that do not hold",
            ("experiment", "claim", "note"),
            notes,
            text_columns=3,
        )
    if found.beside:
        _print_beside(found)
    if found.misfit:
        print_misfits({"these runs": found.misfit})
    found_counts = ", ".join(
        f"{count} {verdict}" for verdict, count in counts(found.judged).items()
    )
    runs = sum(cost.runs for cost in found.costs)
    say(f"{len(found.judged)} claims: {found_counts}; {runs} runs, {found.wall_s:.0f} s")
    if found.is_quick:
        say("--quick is a test; verdicts need a full run")


def _print_beside(found: Reproduction) -> None:
    from cwndlab_papers.page import number, relative

    rows = [
        (
            entry.printed.claim.id, entry.printed.claim.name,
            f"{entry.printed.value:g} {entry.printed.unit}".strip(),
            number(entry.ours, exact=entry.printed.claim.is_exact), relative(entry.relative),
        )
        for entry in found.beside
    ]  # fmt: skip
    columns = ("experiment", "what", "published", "ours ± 95 % CI", "difference")
    print_table("Numbers that the paper prints", columns, rows, text_columns=2)
