"""`cwndlab design`: a search for rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import options
from cwndlab.cli.hints import refuse_other
from cwndlab.cli.home import home_option
from cwndlab.cli.output import print_table, say, steps
from cwndlab.cli.profile import profile_option

if TYPE_CHECKING:
    from cwndlab.designs import DesignResult

OUT = Path("out/design")


@click.command()
@click.argument("what", nargs=-1, metavar="[SPEC.toml | pick N]")
@click.option("--family", metavar="RULE", help='Rule with open parameters, such as "AIMD(?, ?)".')
@click.option(
    "--aim", "aims", multiple=True, metavar="OBJECTIVES",
    help="Objectives, separated by commas: a metric, worst(METRIC), harm(RULE), share(RULE), "
         "fluid(AXIOM), size.",
)  # fmt: skip
@click.option(
    "--require", multiple=True, metavar="CONSTRAINT",
    help='A condition that every rule must meet, such as "harm(CUBIC) < 0.1".',
)  # fmt: skip
@click.option(
    "--bound", multiple=True, metavar="NAME=LOW..HIGH", help="Bounds of an open parameter."
)
@click.option(
    "--env", multiple=True, metavar="NAMES",
    help="Environments; of every three, one is for training, one for validation, and one is "
         "hidden.",
)  # fmt: skip
@click.option(
    "--against", multiple=True, metavar="RULES", help="Rules with which the result is compared."
)
@click.option(
    "--budget", type=options.whole_number(4, 1_000_000), metavar="N", help="Rules to try."
)
@click.option(
    "--replicates", type=options.whole_number(1, 1000), metavar="N",
    help="Runs of each rule per training condition.",
)  # fmt: skip
@click.option(
    "--confirm", type=options.whole_number(2, 10_000), metavar="N",
    help="Runs of each rule per hidden condition.",
)  # fmt: skip
@click.option(
    "--adversary", type=options.whole_number(0, 100_000), metavar="N",
    help="Number of links that an adversary tries against each of the best rules.",
)  # fmt: skip
@click.option("--duration", metavar="TIME", help="Simulated time of a run.")
@profile_option("the specification's, else linux")
@home_option("the specification's")
@options.seed_option
@options.jobs_option
@options.on_option
@options.store_option
@options.json_option
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=OUT, show_default=True,
    metavar="DIR",
    help="Directory for the page, the tables and, without --store, the finished runs, from which "
         "the same command resumes.",
)  # fmt: skip
def design(
    what: tuple[str, ...],
    family: str | None,
    aims: tuple[str, ...],
    require: tuple[str, ...],
    bound: tuple[str, ...],
    env: tuple[str, ...],
    against: tuple[str, ...],
    budget: int | None,
    replicates: int | None,
    confirm: int | None,
    adversary: int | None,
    duration: str | None,
    profile: str | None,
    home: str | None,
    seed: int | None,
    jobs: int | None,
    on: str | None,
    store: Path | None,
    as_json: bool,
    out: Path,
) -> None:
    """Search for rules that are best for several objectives.

    The search varies the open parameters of a family of rules, or whole formulas, on training
    conditions. The best rules are validated on other conditions, and measured with new seeds on
    hidden conditions that the search never used. SPEC.toml defines all of these; options override
    its keys. `cwndlab design pick N` prints rule N of the frontier.
    """
    if what[:1] == ("pick",):
        _pick(what[1:], out)
        return
    if len(what) > 1:
        raise click.UsageError(f"got {len(what)} files: expected one SPEC.toml, or pick N")
    from cwndlab import designs
    from cwndlab.documents import split_list

    options.check_cluster(on, jobs)
    changes: dict[str, Any] = {
        "family": family, "budget": budget, "replicates": replicates, "confirm": confirm,
        "adversary": adversary, "duration": duration, "profile": profile,
        "home": home, "seed": seed,
        "objectives": [part for text in aims for part in split_list(text)] or None,
        "constraints": list(require) or None,
        "parameters": dict(map(_bound, bound)) or None,
        "against": options.rules_of("--against", against) or None,
        **_sets(env),
    }  # fmt: skip
    changes = {key: value for key, value in changes.items() if value is not None}
    if what:
        refuse_other(Path(what[0]), "design")
        given = designs.Specification.load(what[0], **changes)
    else:
        given = designs.Specification.from_dict(changes)
    options.make_folder(out)
    kept = store if store is not None else out / "store"
    with steps() as show:
        try:
            found = designs.design(given, store=kept, jobs=jobs, on=on, progress=show)
        except KeyboardInterrupt:
            say(f"stopped; finished runs are kept in {kept}, and the same command resumes")
            raise
    if as_json:
        click.echo(found.to_json())
    else:
        _print(found)
    folder = found.save(out)
    pick = f"; `cwndlab design pick 1{_at(out)}` prints a rule" if found.frontier else ""
    say(f"wrote {folder / 'frontier.html'}{pick}")


def _at(out: Path) -> str:
    return "" if out == OUT else f" --out {out}"


def _pick(rest: tuple[str, ...], out: Path) -> None:
    import json

    from cwndlab.designs.result import DesignResult
    from cwndlab.errors import ScenarioError
    from cwndlab.message import invalid

    if len(rest) != 1 or not rest[0].isdigit():
        raise click.UsageError(f"pick {' '.join(rest)}: expected the number of a rule")
    file = out / DesignResult.FILE
    if not file.is_file():
        raise ScenarioError(invalid("--out", out, f"a directory of a search, with {file.name}"))
    frontier = json.loads(file.read_text(encoding="utf-8"))["frontier"]
    number = int(rest[0])
    if not 1 <= number <= len(frontier):
        raise ScenarioError(invalid("pick", number, f"from 1 to {len(frontier)}"))
    click.echo(frontier[number - 1]["rule"])


def _bound(text: str) -> tuple[str, list[float]]:
    from cwndlab.errors import ScenarioError
    from cwndlab.message import invalid

    key, equals, span = (part.strip() for part in text.partition("="))
    low, dots, high = span.partition("..")
    try:
        if not (equals and dots):
            raise ValueError
        return key, [float(low), float(high)]
    except ValueError:
        raise ScenarioError(invalid("--bound", text, "NAME=LOW..HIGH, two numbers")) from None


def _sets(env: tuple[str, ...]) -> dict[str, Any]:
    """Deal environments to training, validation and hidden conditions, in turn."""
    if not env:
        return {}
    from cwndlab import environments
    from cwndlab.designs.specification import SETS
    from cwndlab.errors import ScenarioError
    from cwndlab.message import invalid

    names = environments.names([part.strip() for text in env for part in text.split(",")])
    if len(names) < len(SETS):
        raise ScenarioError(invalid("--env", ", ".join(names), f"{len(SETS)} environments or more"))
    return {name: {"env": names[at :: len(SETS)]} for at, name in enumerate(SETS)}


def _print(found: DesignResult) -> None:
    from cwndlab.designs.page import SIGNS, with_interval

    if not found.frontier:
        say("no rule meets the constraints on the validation conditions")
        return
    hidden = ", ".join(found.specification.sets["hidden"].labels)
    print_table(
        f"Frontier on hidden conditions ({hidden}): mean, 95 % CI, "
        f"{found.specification.confirm} replicates",
        ("no.", "rule", *(aim.title for aim in found.aims)), found.table().rows(), text_columns=2,
    )  # fmt: skip
    compared = [
        (str(number), other, *(f"{SIGNS[found.verdict(one, other, aim)]} "
                          f"{with_interval(one.differences[other][aim.text], aim)}"
                          for aim in found.aims))
        for number, one in enumerate(found.frontier, 1)
        for other in one.differences
    ]  # fmt: skip
    print_table(
        "Difference from known rules, paired by replicate (▲ better, ▼ worse, = no significant "
        "difference)",
        ("no.", "from", *(aim.title for aim in found.aims)), compared, text_columns=2,
    )  # fmt: skip
    for text in found.worst_links:
        say(f"adversary: {text}")
    say(
        f"{len(found.tried)} rules tried, {found.runs} runs, {found.packets:,} packets, "
        f"{found.wall_s:.0f} s"
    )
