"""`cwndlab reproduce --witness ns2`: claims judged by ns-2 beside cwndlab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli.output import print_table, say
from cwndlab_papers.cli.reproduce_sensitivity import teller

if TYPE_CHECKING:
    from cwndlab_papers.claims import Judged
    from cwndlab_papers.witness import Witness


def testify(
    chosen: Mapping[str, Sequence[str]],
    *,
    ns: Path | None,
    out: Path,
    replicates: int | None,
    profile: str | None,
    quick: bool,
    jobs: int | None,
    page: Path | None,
    as_json: bool,
) -> None:
    """Run the claims' cells in both programs, and print who agrees with the paper."""
    from cwndlab.cli.sweep_progress import progress_bar
    from cwndlab.plugins import dumps
    from cwndlab_papers import witness, witness_page, witness_records

    for key, ids in chosen.items():
        with progress_bar() as show:
            found = witness.witness(
                key, ids, out=out, ns=ns, replicates=replicates or witness.REPLICATES,
                profile=profile, quick=quick, jobs=jobs, progress=teller(key, show),
            )  # fmt: skip
        if as_json:
            click.echo(dumps(found.to_dict(), indent=None))
        else:
            _print(found)
        say(f"wrote {out / key / 'witness.json'}")
        if page is not None:
            witness_records.write(page / witness_page.FOLDER, key, found.plans)
            say(f"wrote {witness_page.write(page)}")


def _print(found: Witness) -> None:
    rows = [
        (
            entry.claim.id, entry.claim.name, entry.claim.reading.text,
            _number(entry.ns2), _number(entry.ours), entry.relation,
        )
        for entry in found.testimonies
    ]  # fmt: skip
    print_table(
        f"{found.paper.key}: claims about packets, by both programs over the same cells",
        ("experiment", "claim", "the paper", "ns-2", "cwndlab", "who agrees"),
        rows,
        text_columns=6,
    )
    plans = [
        (plan, record.profile, str(record.replicates), str(record.runs),
         *(f"{record.computed_s.get(side, 0.0):,.0f}" for side in ("ns2", "cwndlab")))
        for plan, record in found.plans.items()
    ]  # fmt: skip
    columns = ("plan", "profile", "replicates", "runs", "ns-2 [s]", "cwndlab [s]")
    print_table("Runs of each program, and the sum of their times", columns, plans, text_columns=2)
    counted = [(relation, str(count)) for relation, count in found.counts.items()]
    print_table("Who disagrees with whom", ("relation", "claims"), counted)
    why = [(entry.claim.id, entry.claim.name, entry.why) for entry in found.testimonies
           if entry.why]  # fmt: skip
    why += [(plan, label, reason) for plan, labels in found.left_out.items()
            for label, reason in labels.items()]  # fmt: skip
    if why:
        print_table("Not judged, or left out", ("where", "what", "why"), why, text_columns=3)


def _number(judged: Judged | None) -> str:
    from cwndlab_papers.page import number

    return "-" if judged is None else f"{number(judged.measured)} ({judged.verdict})"
