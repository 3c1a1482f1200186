"""`cwndlab matrix`: what every rule must do under every profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli import options
from cwndlab.cli.display import display
from cwndlab.cli.expect_options import EXIT_UNMET
from cwndlab.cli.output import print_line, print_table, say, warn
from cwndlab.message import one_of, plural, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cwndlab.matrix import Case, Found
    from cwndlab.matrix.summary import Summary

HEADINGS = ("rule", "profile", "check", "case", "verdict", "measured", "bound")


@click.command()
@click.argument("rules", nargs=-1, metavar="[RULE...]")
@click.option(
    "--profile", "profiles", multiple=True, metavar="NAMES",
    help="Profiles of the endpoints, separated by commas.  [default: all]",
)  # fmt: skip
@click.option(
    "--check", "checks", multiple=True, metavar="NAMES",
    help="Checks, separated by commas: fills, shares, outage, idle, receiver, floor, undo.  "
         "[default: all]",
)  # fmt: skip
@click.option("--case", "case_name", metavar="NAME", help="One case of the checks.")
@click.option("--draw", type=options.whole_number(1, 1_000_000), metavar="N",
              help="Run only so many cases, selected as evenly as possible.")  # fmt: skip
@options.seed_option
@click.option("--list", "is_list", is_flag=True, help="List checks, cases and bounds.")
@click.option("--scenario", is_flag=True, help="Print the scenario of one case for `cwndlab run`.")
@click.option(
    "--from", "record", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Reuse the answers of an existing record, such as docs/matrix.json, and run the other "
         "cases.",
)  # fmt: skip
@click.option(
    "--page", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
    help="Write the record, the page and its picture to DIR.",
)  # fmt: skip
@click.option(
    "--expect-holds", is_flag=True, help="Exit with code 3 if a case fails or is undecided."
)
@options.rules_option
@options.jobs_option
@options.json_option
@options.format_option
def matrix(
    rules: tuple[str, ...],
    profiles: tuple[str, ...],
    checks: tuple[str, ...],
    case_name: str | None,
    draw: int | None,
    seed: int | None,
    is_list: bool,
    scenario: bool,
    record: Path | None,
    page: Path | None,
    expect_holds: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Check that a rule does what every rule must do.

    RULE is any rule, including a formula or mine.py:Mine; the default is every rule of the
    registry. The checks run under every profile: one flow fills an empty link, two flows share a
    link, a flow recovers after an outage and after an idle period, the receiver's window limits the
    flow, no window falls below one packet, an undone reduction leaves no trace. For one rule under
    one profile, or one check of one rule, the output shows every case.
    """
    options.check_format(as_json)
    if is_list:
        _list()
        return
    if draw is None and seed is not None:
        raise click.UsageError("`--seed` is for `--draw`: the matrix's own seeds are fixed")
    asked = _asked(rules, profiles, checks, case_name, draw, seed)
    if scenario:
        _print_scenario(asked)
        return
    found = _answered(asked, record, jobs, page)
    if page is not None:
        from cwndlab.matrix.page import write

        for file in write(found, page):
            say(f"wrote {file}")
    _print(found, as_json)
    if expect_holds and any(verdict in ("fails", "undecided") for verdict in found.counts()):
        raise click.exceptions.Exit(EXIT_UNMET)


def _asked(
    rules: tuple[str, ...],
    profiles: tuple[str, ...],
    checks: tuple[str, ...],
    case_name: str | None,
    draw: int | None,
    seed: int | None,
) -> list[Case]:
    from cwndlab import matrix, native
    from cwndlab.matrix.path import profiles as all_profiles

    named = [native.rule(rule) for rule in options.rules_of("RULE", rules)] if rules else None
    found = matrix.cases(
        named,
        _known("--profile", profiles, all_profiles()),
        _known("--check", checks, matrix.CHECKS),
    )
    if case_name is not None:
        names = dict.fromkeys(case.name for case in found)
        if case_name not in names:
            raise click.UsageError(unknown("--case", case_name, names))
        found = [case for case in found if case.name == case_name]
    if not found:
        raise click.UsageError(
            "--check: undo needs a profile that undoes reductions: expected linux"
        )
    return found if draw is None else matrix.drawn(found, draw, 1 if seed is None else seed)


def _known(option: str, given: tuple[str, ...], known: Iterable[str]) -> list[str] | None:
    if not given:
        return None
    among = list(known)
    names = options.names_of(option, given, among)
    for name in names:
        if name not in among:
            raise click.UsageError(unknown(option, name, among))
    return names


def _answered(
    asked: Sequence[Case], record: Path | None, jobs: int | None, page: Path | None
) -> Summary:
    from cwndlab.cli.output import meter
    from cwndlab.matrix import answers
    from cwndlab.matrix.record import Record
    from cwndlab.matrix.summary import Summary

    found: dict[Case, Found] = {}
    if record is not None:
        kept = Record.read(record)
        kept.check_build(record)
        by_case = kept.by_case()
        found = {case: by_case[case] for case in asked if case in by_case}
    left = [case for case in asked if case not in found]
    with meter("matrix", len(asked), "cases") as progress:
        try:
            for one in answers(left, jobs=jobs, packets=progress.packets):
                found[one.case] = one
                progress.runs("runs", len(found), len(asked))
        except KeyboardInterrupt:
            so_far = Summary.of(found[case] for case in asked if case in found)
            _say_stopped(so_far, len(asked), page)
            raise
    return Summary.of(found[case] for case in asked)


def _say_stopped(so_far: Summary, of: int, page: Path | None) -> None:
    """Keep what is finished: in the record, or on the screen."""
    from cwndlab.matrix.page import RECORD
    from cwndlab.matrix.record import Record

    kept = ""
    if page is not None and so_far.found:
        Record.of(so_far.found).write(page / RECORD)
        kept = f", which are kept in {page / RECORD}; --from {page / RECORD} continues"
    warn(f"stopped after {len(so_far.found)} of {plural(of, 'case')}{kept}")
    if so_far.found and page is None:
        _print(so_far, as_json=False)


def _print(found: Summary, as_json: bool) -> None:
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.matrix.summary import as_rows
        from cwndlab.outputs import stamped

        click.echo(dumps(stamped("matrix", {"cases": as_rows(found.found)})))
        return
    if display.format == "csv":
        import polars as pl

        from cwndlab.cli.output import print_frame
        from cwndlab.matrix.summary import as_rows

        print_frame(pl.DataFrame(as_rows(found.found), infer_schema_length=None))
        return
    is_one = len(found.rules) == 1 and 1 in (len(found.profiles), len(found.checks))
    if is_one or len(found.found) < len(found.rules) * len(found.profiles) * len(found.checks):
        _print_cases(found)
    else:
        for profile in found.profiles:
            print_table(f"Profile {profile}", ("rule", *found.checks), found.table(profile),
                        text_columns=1 + len(found.checks))  # fmt: skip
    say(", ".join(f"{count} {verdict}" for verdict, count in found.counts().items()))


def _print_cases(found: Summary) -> None:
    from cwndlab.matrix import CHECKS
    from cwndlab.matrix.summary import detail

    rows = detail(found.found)
    # A column in which all rows are equal says nothing: the title has it.
    same = [at for at in range(3) if len({row[at] for row in rows}) == 1]
    title = ", ".join(rows[0][at] for at in same) or "Cases"
    shown = [at for at in range(len(HEADINGS)) if at not in same]
    print_table(title, [HEADINGS[at] for at in shown], [[row[at] for at in shown] for row in rows],
                text_columns=len(shown) - 2)  # fmt: skip
    if not display.is_terminal:
        return
    for check in found.checks:
        print_line(f"{check}: {CHECKS[check].question} Measured: {CHECKS[check].unit}. "
                   f"Bound: {CHECKS[check].why}.")  # fmt: skip
    for one in found.found:
        if one.reason:
            print_line(f"{one.case.text}: {one.reason}")


def _print_scenario(asked: Sequence[Case]) -> None:
    from cwndlab.matrix import scenarios

    if len(asked) > 1:
        names = dict.fromkeys(case.name for case in asked)
        raise click.UsageError(
            f"--scenario: {plural(len(asked), 'case')}: expected one rule, --profile, --check and "
            f"--case NAME, such as {one_of(list(names)[:3])}"
        )
    first, *others = scenarios(asked[0])
    print(first.to_toml(), end="")
    if others:
        say(f"the check compares it with {plural(len(others), 'other run')}")


def _list() -> None:
    from cwndlab.matrix import CHECKS

    for check in CHECKS.values():
        print_line(f"{check.name}: {check.question}", style="bold")
        print_line(f"    measured: {check.unit}; bound: {check.why}")
        print_line(f"    cases: {', '.join(check.cases('linux'))}\n")
