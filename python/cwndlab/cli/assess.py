"""`cwndlab assess`: a rule by the criteria of RFC 9743."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import options
from cwndlab.cli.display import display
from cwndlab.cli.expect_options import EXIT_UNMET
from cwndlab.cli.output import print_line, print_table, say, warn
from cwndlab.cli.profile import profile_option
from cwndlab.message import invalid
from cwndlab.names import HOMES, is_home

if TYPE_CHECKING:
    from cwndlab.assessment import Assessment
    from cwndlab.assessment.baseline import Change
    from cwndlab.junit import Case


NO_WORSE_MEANS = (
    "no worse: within the margin that counts as a difference (page "
    '"Assessing a rule" of the documentation)'
)


def _homes(_context: click.Context, _option: click.Parameter, text: str | None) -> list[str]:
    from cwndlab.assessment.suite import QUIC

    homes = [] if text is None else [home.strip() for home in text.split(",")]
    for home in homes:
        if home != QUIC and not is_home(home):
            raise click.UsageError(invalid("--home", home, f'{HOMES}, or "{QUIC}"'))
    return list(dict.fromkeys(homes))


def _no_live(_context: click.Context, _option: click.Parameter, is_given: bool) -> None:
    if is_given:
        raise click.UsageError("`--live` is not known: expected --home simulator,linux,quic")


@click.command()
@click.argument("rule", required=False)
@click.option(
    "--against", multiple=True, metavar="RULES",
    help="References, separated by commas; NewReno and CUBIC are decisive if they are among "
         "them.  [default: Reno, CUBIC, BBR3; in a kernel those of Linux]",
)  # fmt: skip
@click.option(
    "--quick", is_flag=True, help="Only the short tests, by default of the suite rfc9743."
)
@click.option("--full", is_flag=True, help="All suites, and the adversary.")
@click.option(
    "--suite", "suites", multiple=True, metavar="NAMES",
    help="Suites, separated by commas (--list shows them); adversary searches for the worst "
         "link.  [default: rfc9743]",
)  # fmt: skip
@click.option(
    "--section", "sections", multiple=True, metavar="NUMBERS",
    help="Sections of RFC 9743, separated by commas, such as 5.1.2 or 5.2.  [default: all]",
)  # fmt: skip
@click.option("--list", "is_list", is_flag=True, help="List criteria, suites and tests.")
@click.option(
    "--replicates", type=options.whole_number(2, 100_000), metavar="N",
    help="Number of runs of each cell, instead of that of the test.",
)  # fmt: skip
@click.option(
    "--vectors", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Connection vectors (Tmix) as the traffic of the suite tcpeval.",
)  # fmt: skip
@profile_option("linux")
@click.option(
    "--home", callback=_homes, metavar="HOMES",
    help="simulator; linux, a kernel of `cwndlab virtual-kernel build`; linux:NAME; or quic, the "
    "rule in quinn. Several, with commas, stand side by side; the first has the verdicts.  "
    "[default: simulator]",
)  # fmt: skip
@click.option("--live", is_flag=True, hidden=True, expose_value=False, callback=_no_live)
@options.seed_option
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Directory of the dossier (HTML, JSON, Markdown), and of the store of finished runs "
    "without --store.  [default: out/assess/RULE]",
)  # fmt: skip
@click.option(
    "--baseline", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="The assessment.json of an earlier version of the rule; shows what has changed since.",
)  # fmt: skip
@click.option(
    "--expect-no-worse", is_flag=True,
    help="Exit with code 3 if a criterion is worse than in --baseline (without it: worse than "
         "the references), or if something was skipped.",
)  # fmt: skip
@click.option(
    "--allow-not-run", "not_run", multiple=True, metavar="NAMES",
    help="With --expect-no-worse: sections or suites that may be skipped, separated by commas.",
)  # fmt: skip
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the verdicts as JUnit XML, a test case for each criterion.",
)  # fmt: skip
@options.rules_option
@options.jobs_option
@options.on_option
@options.store_option
@options.json_option
@options.format_option
def assess(
    rule: str | None,
    against: tuple[str, ...],
    quick: bool,
    full: bool,
    suites: tuple[str, ...],
    sections: tuple[str, ...],
    is_list: bool,
    replicates: int | None,
    vectors: Path | None,
    profile: str | None,
    home: list[str],
    seed: int | None,
    out: Path | None,
    baseline: Path | None,
    expect_no_worse: bool,
    not_run: tuple[str, ...],
    junit: Path | None,
    jobs: int | None,
    on: str | None,
    store: Path | None,
    as_json: bool,
) -> None:
    """Assess a rule by the criteria of RFC 9743.

    It is compared with Reno, CUBIC and BBR3. Every criterion gets a verdict (page "Assessing a
    rule" of the documentation defines them), and DIR receives a dossier with all numbers. After
    Ctrl-C the same command resumes.
    """
    options.check_cluster(on, jobs)
    options.check_format(as_json)
    options.check_parent("--junit", junit)
    if full and quick:
        raise click.UsageError("`--full` cannot be used with `--quick`")
    if full and suites:
        raise click.UsageError("`--full` cannot be used with `--suite`: it is all suites")
    from cwndlab import assessment, native
    from cwndlab.assessment import baseline as before
    from cwndlab.kernel_runs.virtual import SIMULATOR
    from cwndlab.scenario import DEFAULT_PROFILE

    if is_list:
        _list()
        return
    if rule is None:
        raise click.UsageError("RULE is missing: expected a rule, such as CUBIC or mine.py:Mine")
    if not_run and not expect_no_worse:
        raise click.UsageError("`--allow-not-run` needs `--expect-no-worse`")
    named = (
        (*assessment.SUITES, assessment.ADVERSARY)
        if full
        else options.names_of("--suite", suites or ("rfc9743",))
    )
    wanted = options.names_of("--section", sections) if sections else []
    may_lack = _may_lack(not_run, named, quick=quick)
    given: dict[str, Any] = {
        "quick": quick, "profile": profile or DEFAULT_PROFILE,
        "home": home[0] if home else SIMULATOR, "seed": 1 if seed is None else seed,
        "suites": named,
    }  # fmt: skip
    earlier = None
    if baseline is not None:
        from cwndlab.custom_rules import shown

        earlier = before.read(baseline)
        before.check(earlier, rule=shown(native.rule(rule)), **given)
    folder = out or Path("out") / "assess" / _file_name(native.rule(rule))
    options.make_folder(folder)
    kept = store or folder / "store"
    found = _assess(
        rule, against=options.rules_of("--against", against) or None,
        sections=wanted, replicates=replicates, vectors=vectors, store=kept, jobs=jobs, on=on,
        **{**given, "home": home or SIMULATOR},
    )  # fmt: skip
    changed = None if earlier is None else before.changes(found, earlier)
    if as_json:
        click.echo(found.to_json())
    else:
        _print(found)
        if changed is not None:
            _print_changes(changed, str(earlier["rule"]) if earlier else "")
    if changed is not None:
        say(f"since the baseline: {before.line(changed)}")
    say(f"wrote {_write(found, folder)}")
    missing = _missing(found, changed)
    lacking = {name: why for name, why in missing.items() if name not in may_lack}
    if junit is not None:
        from cwndlab.files import write_whole
        from cwndlab.junit import document

        judged = _cases(found, changed, missing, lacking if expect_no_worse else {})
        write_whole(junit, f"{document(f'cwndlab assess {found.rule}', judged)}\n".encode())
        say(f"wrote {junit}")
    if not expect_no_worse:
        return
    if changed is not None:
        _refuse_uncompared(changed, baseline)
    _end_unless_no_worse(_verdicts(found, changed), lacking)


def _assess(rule: str, *, store: Path, **given: Any) -> Assessment:
    from cwndlab import assessment
    from cwndlab.cli.output import steps

    with steps() as show:
        try:
            return assessment.assess(rule, store=store, progress=show, **given)
        except KeyboardInterrupt:
            say(f"stopped; finished runs are kept in {store}, and the same command resumes")
            raise


def _write(found: Assessment, folder: Path) -> Path:
    from cwndlab.assessment import appendix, dossier
    from cwndlab.cli.output import steps
    from cwndlab.files import write_whole

    found.save(folder)
    write_whole(folder / "assessment.md", appendix.markdown(found).encode())
    with steps() as show:
        return dossier.write(found, folder / "assessment.html", show)


def _print(found: Assessment) -> None:
    from cwndlab.assessment.dossier import SIGNS, counts
    from cwndlab.assessment.judging import NOT_RUN

    is_whole = "rfc9743" in found.suites
    rows = [
        (one.criterion.section + (" *" if one.criterion.must else ""), one.criterion.title,
         f"{SIGNS[one.verdict]} {one.verdict}", one.reason)
        for one in found.judged()
        if one.comparisons or (is_whole and one.verdict != NOT_RUN)
    ]  # fmt: skip
    print_table(
        f"{found.rule} beside {', '.join(found.references)}",
        ("section", "criterion (* MUST)", "verdict", "why"), rows, text_columns=4,
    )  # fmt: skip
    say(", ".join(f"{count} {name}" for name, count in counts(found).items()))
    if rows and display.is_terminal:
        print_line(NO_WORSE_MEANS)
    if found.elsewhere:
        _print_homes(found)
    if found.worst is not None:
        print_line(found.worst.text)


def _print_homes(found: Assessment) -> None:
    from cwndlab.assessment.dossier import SIGNS, home_rows

    rows = [
        (section, title, *(f"{SIGNS[one]} {one}" for one in verdicts), "differ" if differ else "")
        for section, title, verdicts, differ in home_rows(found)
    ]
    homes = [one.home for one in (found, *found.elsewhere)]
    print_table(
        "The same elsewhere", ("section", "criterion", *homes, "verdicts"), rows,
        text_columns=3 + len(homes),
    )  # fmt: skip


def _print_changes(changed: Iterable[Change], earlier: str) -> None:
    from cwndlab.assessment.baseline import NOT_COMPARED
    from cwndlab.assessment.dossier import SIGNS
    from cwndlab.assessment.judging import NOT_RUN

    signs = {**SIGNS, NOT_COMPARED: SIGNS[NOT_RUN]}
    rows = [
        (one.section, one.title, f"{signs[one.verdict]} {one.verdict}", one.reason)
        for one in changed
        if one.verdict != NOT_RUN
    ]
    print_table(
        f"Since the baseline, {earlier}", ("section", "criterion", "verdict", "why"), rows,
        text_columns=4,
    )  # fmt: skip


def _refuse_uncompared(changed: Iterable[Change], baseline: Path | None) -> None:
    """Refuse a baseline with which nothing was compared: no criterion would ever be worse."""
    from cwndlab.assessment.baseline import NOT_COMPARED
    from cwndlab.assessment.judging import NOT_RUN

    ran = [one for one in changed if one.verdict != NOT_RUN]
    if all(one.verdict == NOT_COMPARED for one in ran):
        raise click.UsageError(
            f"baseline: {baseline} has none of the criteria that were run "
            f"({', '.join(one.section for one in ran)}): expected a baseline of the same "
            "--section, --suite and --quick"
        )


def _may_lack(names: tuple[str, ...], suites: Sequence[str], *, quick: bool) -> set[str]:
    """Return what need not be run; refuse a name of nothing that could be run."""
    from cwndlab import assessment
    from cwndlab.assessment.suite import left_out, select
    from cwndlab.message import unknown

    tests = [test.id for test in select(suites)]
    known = [*assessment.criteria(), *suites, *left_out(suites, quick=quick), *tests]
    chosen = options.names_of("--allow-not-run", names) if names else []
    for name in chosen:
        if name not in known:
            raise click.UsageError(unknown("--allow-not-run", name, dict.fromkeys(known)))
    return set(chosen)


def _verdicts(found: Assessment, changed: list[Change] | None) -> list[tuple[str, str, str, str]]:
    """Section, title, verdict and reason of each criterion: since the baseline, if there is one."""
    return (
        [(one.criterion.section, one.criterion.title, one.verdict, one.reason)
         for one in found.judged()]
        if changed is None
        else [(one.section, one.title, one.verdict, one.reason) for one in changed]
    )  # fmt: skip


def _missing(found: Assessment, changed: list[Change] | None) -> dict[str, str]:
    """Return what was not run, or not in the baseline, and why."""
    return {**{one.section: one.lacks for one in changed or () if one.lacks}, **found.not_run}


def _end_unless_no_worse(
    verdicts: Sequence[tuple[str, str, str, str]], lacking: Mapping[str, str]
) -> None:
    """Say what is worse and what was not run, and end with `EXIT_UNMET` if there is any."""
    from cwndlab.assessment.judging import BETTER, NO_WORSE, UNDECIDED, WORSE

    found = [verdict for _, _, verdict, _ in verdicts]
    worse = [f"{section} {title}" for section, title, verdict, _ in verdicts if verdict == WORSE]
    if worse:
        counted = "1 criterion is" if len(worse) == 1 else f"{len(worse)} criteria are"
        warn(f"{counted} worse: {'; '.join(worse)}")
    if lacking:
        names: dict[str, list[str]] = {}
        for name, why in lacking.items():
            names.setdefault(why.rstrip("."), []).append(name)
        texts = (f"{', '.join(of_it)} ({why})" for why, of_it in names.items())
        warn(f"skipped, so not passed: {'; '.join(texts)}")
        warn(f"to allow that: --allow-not-run {','.join(lacking)}")
    if UNDECIDED in found and not {WORSE, BETTER, NO_WORSE} & set(found):
        warn("no criterion is decided, so nothing is shown: use more --replicates")
    if worse or lacking:
        raise click.exceptions.Exit(EXIT_UNMET)


def _cases(
    found: Assessment, changed: list[Change] | None, missing: Mapping[str, str],
    lacking: Mapping[str, str],
) -> list[Case]:  # fmt: skip
    """Return the test cases: criteria, and what else is missing; what is `lacking` has failed."""
    from cwndlab.assessment.judging import BETTER, NO_WORSE, WORSE
    from cwndlab.junit import Case

    cases: list[Case] = []
    for section, title, verdict, reason in _verdicts(found, changed):
        failure = reason if verdict == WORSE else ""
        if section in lacking:
            failure = "; ".join(filter(None, (failure, f"not run: {lacking[section]}")))
        is_judged = verdict in (WORSE, BETTER, NO_WORSE)
        skipped = "" if failure or is_judged else f"{verdict}: {reason}"
        cases.append(Case(f"{section} {title}", failure, skipped))
    sections = {section for section, *_ in _verdicts(found, changed)}
    for name, why in missing.items():
        if name not in sections:
            text = f"not run: {why}"
            is_lacking = name in lacking
            cases.append(Case(name, text if is_lacking else "", "" if is_lacking else text))
    return cases


def _list() -> None:
    from cwndlab import assessment

    rows: list[tuple[str, ...]] = []
    for name in assessment.SUITES:
        for test in assessment.suite(name).tests:
            rows.append((test.section, name, test.name, test.title))
    rows.sort(key=lambda row: [int(part) for part in row[0].split(".")])
    print_table("Tests", ("section", "suite", "test", "what"), rows, text_columns=4)


def _file_name(rule: str) -> str:
    """Return a directory's name for a rule; formulas that differ in operators differ in a number.

    Examples
    --------
    >>> _file_name("MIMD(1.125, 0.8)"), _file_name("rules/mine.py:Mine")
    ('MIMD-1.125-0.8', 'mine.py-Mine')
    >>> _file_name('Rule(inc="2/w", dec="0.7*w")')
    'Rule-inc-2-w-dec-0.7-w-8582b84d'
    """
    is_formula = '"' in rule
    name = re.sub(r"[^\w.]+", "-", rule if is_formula else rule.rsplit("/", 1)[-1]).strip("-")
    return f"{name}-{zlib.crc32(rule.encode()):08x}" if is_formula else name
