"""The page of the matrix, docs/matrix.md, with its record and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cwndlab.custom_rules import shown
from cwndlab.matrix import exceptions
from cwndlab.matrix.checks import CHECKS
from cwndlab.matrix.outcomes import MARKS, Found
from cwndlab.matrix.path import profiles
from cwndlab.matrix.record import Record
from cwndlab.matrix.running import cases
from cwndlab.matrix.summary import Summary, number
from cwndlab.matrix.waveform import family
from cwndlab.message import plural

RECORD, PAGE, PICTURE = "matrix.json", "matrix.md", "images/matrix.png"
FIRST = "matrix-first.json"
"""The record of before anything was mended, kept as it came out."""
HEAD = """# The matrix: what every rule must do under every profile

Every rule of the registry, with the parameters of its example, under every
[profile](profiles.md), is asked {checks}: {cases}. A
bound comes from a source or from theory, never from what was measured. What is known to fail is an
exception with its source, and an exception that no longer shows fails, too.

{counts}

![For each check a grid of rules and profiles, with a mark for each verdict]({picture})

{legend}. A mark is the worst of its cases.

`cwndlab matrix RULE` asks any rule, also `mine.py:Mine` or a formula, in about a minute for all
profiles; `--profile linux --check idle` shows its cases with measured values and bounds, and
`--scenario` prints the scenario of one for `cwndlab run`. `cwndlab matrix --page docs` asks all
rules, and writes this page, its picture and its record, [matrix.json](matrix.json); with
`--from docs/matrix.json` the page alone is written anew. CI draws cases whose verdicts must be
those of the record, nightly all of them run.
"""


def write(found: Summary, folder: Path) -> list[Path]:
    """Write page, picture and record.

    Returns
    -------
    list of Path
        The files.
    """
    from cwndlab.plots.matrix import verdicts
    from cwndlab.plots.style import save_flat

    page, record = folder / PAGE, folder / RECORD
    kept = Record.of(found.found)
    kept.write(record)
    page.write_text(text(found, kept.build, first_of(folder)), encoding="utf-8")
    return [page, save_flat(verdicts(found), folder / PICTURE), record]


def first_of(folder: Path) -> Summary | None:
    """Return what was found before anything was mended, if the folder has it."""
    path = folder / FIRST
    return Summary.of(Record.read(path).found) if path.exists() else None


def text(found: Summary, build: str, first: Summary | None = None) -> str:
    """Return the page as Markdown; `first` was found before anything was mended."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.counts().items())
    head = HEAD.format(
        checks=plural(len(found.checks), "question"),
        cases=f"{len(found.found)} cases of {len(found.rules)} rules and {len(found.profiles)} "
        "profiles",
        counts=f"**{counts}.** Found by the core `{build}`.{_not_run(found)}",
        picture=PICTURE,
        legend=", ".join(f"{MARKS[verdict]} {verdict}" for verdict in reversed(MARKS)),
    )
    tables = [_profile(found, profile) for profile in found.profiles]
    parts = [head, f"## Where it is red\n\n{_red(found)}\n", _checks(found), *tables,
             _exceptions(found), *([] if first is None else [_first(first)])]  # fmt: skip
    return "\n".join(parts)


def _not_run(found: Summary) -> str:
    """Say how many cases of the whole matrix have no answer yet."""
    answered = {one.case for one in found.found}
    left = [case for case in cases() if case not in answered]
    if not left:
        return ""
    names = ", ".join(dict.fromkeys(case.check for case in left))
    return (
        f" **{plural(len(left), 'case')} not run yet ({names})**: "
        "`cwndlab matrix --from docs/matrix.json --page docs` runs them."
    )


def _red(found: Summary) -> str:
    """Where it is red: per check and case, the rules that fail, and the worst of them."""
    groups: dict[tuple[str, str], list[Found]] = {}
    for one in found.failures():
        groups.setdefault((one.case.check, one.case.name), []).append(one)
    order = sorted(groups, key=lambda key: (list(CHECKS).index(key[0]), key[1]))
    rows = [
        (check, name, _profiles_of(groups[check, name], found.rules), _worst(groups[check, name]))
        for check, name in order
    ]
    return _table(("check", "case", "fails: rules by profile", "worst"), rows)


def _first(first: Summary) -> str:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in first.counts().items())
    return (
        f"## At first\n\n{counts}, before anything was mended ([record]({FIRST})).\n\n"
        f"{_red(first)}\n"
    )


def _profiles_of(found: Sequence[Found], asked: Sequence[str]) -> str:
    """Say which rules fail under which profiles; profiles with the same rules stand together."""
    together: dict[tuple[str, ...], list[str]] = {}
    for profile in profiles():
        failed = {one.case.rule for one in found if one.case.profile == profile}
        if failed:
            rules = tuple(rule for rule in asked if rule in failed)
            together.setdefault(rules, []).append(profile)
    return "; ".join(
        f"**{', '.join(names)}**: {_named(rules, asked)}" for rules, names in together.items()
    )


def _named(rules: Sequence[str], asked: Sequence[str]) -> str:
    """Name rules by their families; of more than half of those asked, name the others."""
    others = [rule for rule in asked if rule not in rules]
    if len(others) >= len(rules):
        return ", ".join(map(family, rules))
    return f"all but {', '.join(map(family, others))}" if others else "all"


def _worst(found: Sequence[Found]) -> str:
    first = found[0]
    bound = f"{first.outcome.sign} {first.outcome.bound:.4g}"
    return f"{shown(first.case.rule)}, {first.case.profile}: {number(first)} ({bound})"


def _checks(found: Summary) -> str:
    rows = [
        (name, CHECKS[name].question, CHECKS[name].unit, CHECKS[name].why) for name in found.checks
    ]
    table = _table(("check", "question", "measured", "bound, and where it comes from"), rows)
    return f"## The checks\n\n{table}\n"


def _profile(found: Summary, profile: str) -> str:
    table = _table(("rule", *found.checks), found.table(profile))
    return f"## Profile {profile}\n\n{table}\n"


def _exceptions(found: Summary) -> str:
    """List the exceptions, each with how many cases of the run it explains."""
    rows = [
        (
            one.check,
            _listed(one.rules),
            _listed(one.profiles),
            _listed(one.cases),
            one.reason,
            one.source,
            str(
                sum(
                    each.verdict == "excepted" and one.is_first_about(each.case)
                    for each in found.found
                )
            ),
        )
        for one in exceptions.known()
    ]
    heading = ("check", "rules", "profiles", "cases", "why it does not hold", "source", "explains")
    return f"## Exceptions\n\n{_table(heading, rows)}\n"


def _listed(names: Sequence[str]) -> str:
    return ", ".join("all" if name == exceptions.ANY else name for name in names)


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
