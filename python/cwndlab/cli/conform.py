"""`cwndlab conform`: the simulator's sender held against scripts and recorded runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli import options
from cwndlab.cli.display import display
from cwndlab.cli.expect_options import EXIT_UNMET
from cwndlab.cli.output import print_frame, print_line, print_table, say, warn
from cwndlab.cli.profile import profile_option
from cwndlab.message import invalid, plural, unknown

if TYPE_CHECKING:
    from cwndlab.conformance import Checked

MOST_NAMES = 8
"""Scripts that a message names."""


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...",
    type=click.Path(path_type=Path),
)  # fmt: skip
@click.option(
    "--rule", metavar="RULE",
    help="A rule that replaces the congestion control of each script or flow.",
)  # fmt: skip
@profile_option("linux")
@click.option(
    "--tolerance", metavar="TIME",
    help="Time by which a packet may be early or late, instead of the script's own.  [default: "
         "4ms, or an eighth of the time since the previous event; 20us for a recorded run]",
)  # fmt: skip
@click.option(
    "--kernel", "program", metavar="PROGRAM",
    help="A packetdrill program, which also runs each script with this machine's kernel, in a "
         "network namespace of its own (root). Scripts that the kernel does not confirm do not "
         "count.",
)  # fmt: skip
@click.option(
    "--allow-not-modelled", "lacking", multiple=True, metavar="NAMES",
    help="Scripts that may require features that the simulator lacks: names of files, separated "
         "by commas.",
)  # fmt: skip
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the verdicts as JUnit XML, a test case for each script.",
)  # fmt: skip
@options.rules_option
@options.json_option
@options.format_option
def conform(
    paths: tuple[Path, ...],
    rule: str | None,
    profile: str | None,
    tolerance: str | None,
    program: str | None,
    lacking: tuple[str, ...],
    junit: Path | None,
    as_json: bool,
) -> None:
    """Compare the sender with packetdrill or with kernel runs.

    PATH is a script, the folder of a run in virtual time with `trace = { packets = true }` (`live
    linux --virtual --out`), or a folder to search for both. A script defines what an application
    writes, which ACKs arrive when, and what TCP must send and report. The simulator's sender gets
    the same writes and ACKs, or, for a flow of a run, the ACKs that the kernel's sender got. Each
    script or flow agrees, differs (the command prints the first difference, in the script's own
    notation), or is not modelled (it prints the line and the reason). Exit code 3 unless all agree.
    """
    options.check_format(as_json)
    options.check_parent("--junit", junit)
    from cwndlab import native
    from cwndlab.conformance import scripts_of
    from cwndlab.scenario import DEFAULT_PROFILE

    profiles = list(native.knobs()[0]["values"])
    chosen = DEFAULT_PROFILE if profile is None else profile
    if chosen not in profiles:
        raise click.UsageError(unknown("--profile", chosen, profiles))
    scripts = scripts_of(paths)
    may_lack = _may_lack(lacking, scripts)
    recorded = next((path for path in scripts if path.is_dir()), None)
    if program is not None and recorded is not None:
        raise click.UsageError(f"`--kernel` needs scripts, and {recorded} is a recorded run")
    found, is_whole = _check(
        scripts,
        rule=None if rule is None else native.rule(rule),
        profile=chosen,
        tolerance_us=_tolerance_us(tolerance),
        program=None if program is None else _program(program),
    )
    _print(found, as_json)
    if junit is not None:
        _write_junit(found, junit)
    _end_unless_all_agree(found, may_lack)
    if not is_whole:
        raise KeyboardInterrupt


def _tolerance_us(text: str | None) -> float | None:
    return None if text is None else 1e6 * options.seconds_of("--tolerance", text)


def _program(name: str) -> Path:
    """Find a program by its path or by its name."""
    import shutil

    found = shutil.which(name)
    if found is None:
        raise click.UsageError(invalid("--kernel", name, "a packetdrill that can be run"))
    return Path(found)


def _may_lack(names: tuple[str, ...], scripts: Sequence[Path]) -> set[str]:
    """Return the files that need not be modelled; refuse a name that is none of the scripts'."""
    chosen = options.names_of("--allow-not-modelled", names) if names else []
    known = dict.fromkeys(path.name for path in scripts)
    for name in chosen:
        if name not in known:
            raise click.UsageError(unknown("--allow-not-modelled", name, known))
    return set(chosen)


def _check(
    scripts: Sequence[Path], *, rule: str | None, profile: str, tolerance_us: float | None,
    program: Path | None,
) -> tuple[list[Checked], bool]:  # fmt: skip
    """Check scripts and recorded runs; return what is finished, and whether that is all."""
    from cwndlab.cli.output import steps
    from cwndlab.conformance import checked

    found: list[Checked] = []
    try:
        with steps() as show:
            asked = checked(
                scripts, rule=rule, profile=profile, tolerance_us=tolerance_us, program=program
            )
            for one in asked:
                found.append(one)
                done = len({one.verdict.script for one in found})
                show(Path(one.verdict.script).name, done, len(scripts))
    except KeyboardInterrupt:
        say(f"stopped after {_number(found)} of {plural(len(scripts), 'path')}")
        return found, False
    return found, True


def _rows(found: Sequence[Checked]) -> list[dict[str, object]]:
    return [
        {
            "script": one.verdict.script,
            "verdict": one.verdict.verdict,
            "line": one.verdict.line or None,
            "expected": one.verdict.expected,
            "found": one.verdict.found,
            "checks": one.verdict.checks,
            "kernel": None if one.kernel is None else one.kernel.outcome,
            "kernel_reason": None if one.kernel is None else one.kernel.reason,
            "flow": one.verdict.flow or None,
            "time_s": one.verdict.time_s,
        }
        for one in found
    ]


def _print(found: Sequence[Checked], as_json: bool) -> None:
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        click.echo(dumps(stamped("conform", {"scripts": _rows(found)})))
        return
    if display.format == "csv":
        import polars as pl

        print_frame(pl.DataFrame(_rows(found), infer_schema_length=None))
        return
    if not found:
        return
    has_kernel = found[0].kernel is not None
    short = _short_names([one.verdict.script for one in found])
    names = [f"{name} {one.verdict.flow}".rstrip() for name, one in zip(short, found, strict=True)]
    rows = [
        (name, one.verdict.verdict, *((one.kernel.outcome,) if one.kernel else ()),
         str(one.verdict.checks))
        for name, one in zip(names, found, strict=True)
    ]  # fmt: skip
    heading = ("script", "verdict", *(("kernel",) if has_kernel else ()), "checks")
    print_table("Conformance", heading, rows, text_columns=len(heading) - 1)
    for name, one in zip(names, found, strict=True):
        if not one.verdict.agrees:
            print_line(f"{name}: {one.verdict}")
        if one.kernel is not None and one.kernel.reason:
            print_line(f"{name}: kernel: {one.kernel.outcome}: {one.kernel.reason}")
    print_line(_counted(found))


def _short_names(scripts: Sequence[str]) -> list[str]:
    """Leave out the folders that all scripts share."""
    import os

    if len(set(scripts)) == 1:
        return [Path(script).name for script in scripts]
    shared = os.path.commonpath([str(Path(script).parent) for script in scripts])
    return [os.path.relpath(script, shared or ".") for script in scripts]


def _counted(found: Sequence[Checked]) -> str:
    """Count verdicts, and how many of the scripts agree that the kernel confirms."""
    from cwndlab.conformance import VERDICTS

    words = dict(zip(VERDICTS, ("agree", "differ", "not modelled"), strict=True))
    counts = {word: sum(one.verdict.verdict == verdict for one in found)
              for verdict, word in words.items()}  # fmt: skip
    text = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    confirmed = [one for one in found if one.kernel and one.kernel.outcome == "confirmed"]
    if any(one.kernel for one in found):
        agree = sum(one.verdict.agrees for one in confirmed)
        text += f"; of {len(confirmed)} that the kernel confirms {agree} agree"
    return f"{_number(found)}: {text}"


def _number(found: Sequence[Checked]) -> str:
    """Count scripts, and flows of recorded runs."""
    flows = sum(bool(one.verdict.flow) for one in found)
    scripts = len(found) - flows
    counts = [plural(scripts, "script")] * (scripts > 0 or not flows)
    return " and ".join(counts + [plural(flows, "flow")] * (flows > 0))


def _write_junit(found: Sequence[Checked], path: Path) -> None:
    from cwndlab.conformance.verdict import DIFFERS, NOT_MODELLED
    from cwndlab.junit import Case, document

    def case(one: Checked) -> Case:
        if not one.counts and not one.verdict.agrees:
            return Case(one.verdict.script, skipped="the kernel does not confirm the script")
        script = f"{one.verdict.script} {one.verdict.flow}".rstrip()
        verdict, text = one.verdict.verdict, str(one.verdict)
        failure, skipped = text * (verdict == DIFFERS), text * (verdict == NOT_MODELLED)
        return Case(script, failure, skipped)

    path.write_text(document("cwndlab conform", map(case, found)) + "\n", encoding="utf-8")
    say(f"wrote {path}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _end_unless_all_agree(found: Sequence[Checked], may_lack: set[str]) -> None:
    """Say what differs and what is not modelled, and end with `EXIT_UNMET` if there is any."""
    from cwndlab.conformance.verdict import DIFFERS, NOT_MODELLED

    def named(verdict: str) -> list[Checked]:
        return [one for one in found if one.verdict.verdict == verdict and one.counts]

    def names(chosen: Sequence[Checked]) -> list[str]:
        return list(dict.fromkeys(Path(one.verdict.script).name for one in chosen))

    differ = named(DIFFERS)
    lacking = [name for name in names(named(NOT_MODELLED)) if name not in may_lack]
    if differ:
        warn(f"{_number(differ)} with a difference: {_listed(names(differ))}")
    if lacking:
        warn(f"not modelled, so not passed: {_listed(lacking)}")
        if len(lacking) <= MOST_NAMES:
            warn(f"to allow that: --allow-not-modelled {','.join(lacking)}")
    if differ or lacking:
        raise click.exceptions.Exit(EXIT_UNMET)
