"""`cwndlab known-results`: what every engineer knows, measured by the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli import options
from cwndlab.cli.display import display
from cwndlab.cli.expect_options import EXIT_UNMET
from cwndlab.cli.output import print_frame, print_line, print_table, say, warn

if TYPE_CHECKING:
    from cwndlab.known_results import Fact
    from cwndlab.known_results.checking import Checked


@click.command("known-results")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--list", "is_list", is_flag=True, help="List the facts without running them.")
@click.option(
    "--quick",
    is_flag=True,
    help="Check only the facts of the quick selection, which takes less than a minute.",
)
@click.option(
    "--scenario", "as_scenario", is_flag=True, help="Print only the scenario of one fact, as TOML."
)
@click.option(
    "--expect-all", is_flag=True,
    help=f"Exit code {EXIT_UNMET} if a fact fails or is undecided.",
)  # fmt: skip
@click.option(
    "--page", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write the record of all facts, the page and its picture to DIR.",
)  # fmt: skip
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the verdicts as JUnit XML, a test case for each fact.",
)  # fmt: skip
@options.jobs_option
@options.json_option
@options.format_option
def known_results(
    names: tuple[str, ...],
    is_list: bool,
    quick: bool,
    as_scenario: bool,
    expect_all: bool,
    page: Path | None,
    junit: Path | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Check known results of congestion control.

    NAME is a fact, such as slow-start/initial-window, which is printed completely, or a theme, such
    as slow-start; the default is all facts. Each has a source, an expected value with a tolerance
    from that source or from theory, a scenario, and the value that the simulator measures.
    """
    options.check_format(as_json)
    options.check_parent("--junit", junit)
    from cwndlab.known_results import select

    facts = select(names, quick=quick)
    if not facts:
        raise click.UsageError("`--quick` leaves none of these facts: expected a run without it")
    if as_scenario:
        if len(facts) != 1:
            raise click.UsageError("`--scenario` prints one scenario and needs exactly one `NAME`")
        click.echo(facts[0].scenario.strip())
        return
    if is_list:
        _list(facts)
        return
    if page is not None and (names or quick):
        raise click.UsageError("`--page` cannot be used with `NAME` or `--quick`: it has all facts")
    found, is_whole = _check(facts, jobs)
    _print(found, as_json)
    if junit is not None:
        _write_junit(found, junit)
    if not is_whole:
        raise KeyboardInterrupt
    if page is not None:
        from cwndlab.known_results.page import write

        options.make_folder(page)
        say(f"wrote {write(found, page)}")
    unmet = [one.fact.id for one in found if one.verdict != "holds"]
    if expect_all and unmet:
        warn(f"{len(unmet)} of {len(found)} facts do not hold: {', '.join(unmet)}")
        raise click.exceptions.Exit(EXIT_UNMET)


def _check(facts: list[Fact], jobs: int | None) -> tuple[list[Checked], bool]:
    """Check facts; after Ctrl-C return those that are finished, and false."""
    from cwndlab.cli.output import steps
    from cwndlab.known_results.checking import checked, sorted_as_listed

    found: list[Checked] = []
    try:
        with steps() as show:
            for one in checked(facts, jobs=jobs, progress=show):
                found.append(one)  # One by one: what is finished stays on Ctrl-C.
    except KeyboardInterrupt:
        say(f"stopped after {len(found)} of {len(facts)} facts")
        return sorted_as_listed(found), False
    return sorted_as_listed(found), True


def _print(found: list[Checked], as_json: bool) -> None:
    from cwndlab.known_results import frame
    from cwndlab.known_results.page import SIGNS, counted, measured_text

    if as_json:
        from cwndlab.known_results.record import of

        click.echo(of(found), nl=False)
    elif display.format == "csv":
        print_frame(frame(found))
    elif len(found) == 1:
        _print_whole(found[0])
    elif found:
        rows = [
            (one.fact.id, f"{SIGNS[one.verdict]} {one.verdict}", one.fact.statement,
             one.fact.expected.text, measured_text(one.measured), one.fact.unit)
            for one in found
        ]  # fmt: skip
        print_table(
            "Known results", ("fact", "verdict", "statement", "expected", "measured", "unit"),
            rows, text_columns=3, optional=("statement",),
        )  # fmt: skip
        print_line(counted([one.verdict for one in found]))


def _print_whole(one: Checked) -> None:
    """Print all about a fact: it can be read, judged and run again."""
    from cwndlab.known_results.page import SIGNS, cell_lines, measured_text

    fact = one.fact
    unit = f" {fact.unit}" if fact.unit else ""
    print_line(fact.statement, style="bold")
    lines = {
        "source": fact.source,
        "expected": f"{fact.expected.text}{unit}",
        "why": " ".join(fact.why.split()),
        "measure": ", ".join(f"{key} = {value}" for key, value in fact.measure.items()),
        "measured": f"{measured_text(one.measured)}{unit} (95 % interval of {len(one.values)} runs)"
        if len(one.values) > 1
        else f"{measured_text(one.measured)}{unit} (nothing is random: one run)",
        "verdict": f"{SIGNS[one.verdict]} {one.verdict}",
        "note": " ".join(fact.note.split()),
    }
    for key, text in lines.items():
        if text:
            print_line(f"{key}: {text}")
    for line in cell_lines(fact):
        print_line(line)
    print_line(f"cwndlab known-results {fact.id} --scenario prints the scenario alone:")
    click.echo()
    click.echo(fact.scenario.strip())


def _list(facts: list[Fact]) -> None:
    rows = [(fact.id, fact.statement, fact.source) for fact in facts]
    print_table("Known results", ("fact", "statement", "source"), rows, text_columns=3)


def _write_junit(found: list[Checked], path: Path) -> None:
    from cwndlab.junit import Case, document
    from cwndlab.known_results.page import measured_text

    cases = [
        Case(
            one.fact.id,
            ""
            if one.verdict == "holds"
            else f"{one.verdict}: expected {one.fact.expected.text}, found "
            f"{measured_text(one.measured)}",
        )
        for one in found
    ]
    path.write_text(document("cwndlab known-results", cases) + "\n", encoding="utf-8")
    say(f"wrote {path}")
