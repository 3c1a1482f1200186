"""The kept outputs are those of ns-2 2.35: all are there, and a random tenth is what ns-2 prints
now.

`CWNDLAB_NS2_LIVE=1` does all again, as `make test-all` does.
"""

from __future__ import annotations

import functools
import random

import pytest

from . import reference
from .reference_runs import everything

PARTS = 24


@functools.cache
def _runs() -> list[reference.Run]:
    return list({run.key: run for run in everything()}.values())


def test_every_run_is_kept_and_no_other():
    runs = _runs()
    missing = [run for run in runs if reference.kept(run) is None]
    assert not missing, f"{len(missing)} runs are not kept: python -m tests.ns2.reference"
    for name in {run.archive for run in runs}:
        wanted = {run.key for run in runs if run.archive == name}
        assert set(reference.keys(name)) == wanted, (
            "python -m tests.ns2.reference drops what no test asks for"
        )


@pytest.mark.skipif(
    reference.installed_version() != reference.VERSION,
    reason=(
        f"ns-2 {reference.VERSION} (program `ns`, Debian package ns2) is not installed: agreement"
        " is judged by its kept outputs alone"
    ),
)
@pytest.mark.parametrize("part", range(PARTS))
def test_ns2_prints_what_is_kept(part):
    share = reference.share_done_again()
    for run in _runs()[part::PARTS]:
        if random.random() < share:
            message = reference.differing(run)
            assert message is None, f"{message}; arguments {run.arguments}, script:\n{run.script}"


def test_a_difference_is_noticed(monkeypatch):
    run = _runs()[0]
    columns = reference.kept(run)
    column = columns["seq"].copy()
    column[-1] += 1
    monkeypatch.setattr(reference, "live", lambda _: {**columns, "seq": column})
    assert "seq" in reference.differing(run)
