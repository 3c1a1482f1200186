"""Canonical scenarios of a cell, as executors take them, and the keys of their runs."""

from __future__ import annotations

import json
from typing import Any

from cwndlab.errors import ScenarioError
from cwndlab.quantities import seconds
from cwndlab.runs.plan import Cell
from cwndlab.runs.store import canonical, has_outside, run_key, scenario_digest
from cwndlab.runs.store.keys import seeded_key
from cwndlab.sweeps.notes import named


class CellScenarios:
    """Canonical scenarios of a cell's replicates, and their keys."""

    def __init__(self, cell: Cell, count_arrivals: str | float | None = None) -> None:
        self._cell = cell
        self._counted_s = seconds(count_arrivals) if count_arrivals is not None else None
        document = self._canonical(0)
        self._digest = scenario_digest(document, self._counted_s)
        # Replicates differ in their seed alone: text before and after it.
        place = "seed of the replicate"
        text = json.dumps({**document, "seed": place}, separators=(",", ":"))
        self._before, _, self._after = text.partition(f'"{place}"')
        self.has_outside = has_outside(text)
        """Whether the runs depend on files or on rules written in Python."""

    def text(self, replicate: int) -> str:
        """Return the scenario of a replicate."""
        if self._cell.is_drawn:
            return canonical(self._cell.document(replicate))
        return f"{self._before}{self._cell.document(replicate)['seed']}{self._after}"

    def key(self, replicate: int) -> str:
        """Return the key of a replicate; empty if it has none."""
        if self._cell.is_drawn:
            return self.key_of(self.text(replicate))
        return (
            ""
            if self._digest is None
            else seeded_key(self._digest, self._cell.document(replicate)["seed"])
        )

    def key_of(self, text: str) -> str:
        """Return the current key of a replicate's text; empty if it has none."""
        return run_key(text, self._counted_s) or ""

    def _canonical(self, replicate: int) -> dict[str, Any]:
        try:
            return json.loads(canonical(self._cell.document(replicate)))
        except ScenarioError as error:
            raise type(error)(f"cell {named(self._cell.labels)}: {error}") from None
