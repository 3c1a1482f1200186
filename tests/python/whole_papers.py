"""What the tests of papers share.

A paper's folder has what each of its claims and experiments names.
"""

from __future__ import annotations

from cwndlab_papers import Paper


def check_whole(paper: Paper, catalogue: set[str]) -> None:
    """See that experiments and claims are those of the catalogue, and quantities, figures, tables
    and plans are there.

    `assumed` shows what the paper leaves open.
    """
    assert set(paper.experiments) == {*catalogue, "assumed"}
    assert {claim.id for claim in paper.claims} == catalogue
    for claim in (*paper.claims, *(number.claim for number in paper.published)):
        assert callable(paper.quantity(claim)), claim.name
        assert claim.section
    for experiment in paper.experiments.values():
        for kind, module in (("figure", "figures"), ("table", "tables")):
            assert callable(getattr(paper.module(module), getattr(experiment, kind)))
    for plan in paper.plans_of(paper.experiments):
        paper.sweep(plan).plan.check()
