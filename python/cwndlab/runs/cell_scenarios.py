"""Canonical scenarios of a cell, as executors take them, and the keys of their runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cwndlab.errors import ScenarioError
from cwndlab.quantities import seconds
from cwndlab.runs.plan import Cell, named
from cwndlab.runs.store import canonical, has_outside, run_key, scenario_digest
from cwndlab.runs.store.keys import seeded_key


class CellScenarios:
    """Canonical scenarios of a cell's replicates, and their keys.

    Parameters
    ----------
    cell : Cell
        The cell.
    count_arrivals : str or float, optional
        Length of the bins of counted arrivals, if these replace the packet trace.
    trace : mapping, optional
        The ``[trace]`` table of replicate 0.
    """

    def __init__(
        self,
        cell: Cell,
        count_arrivals: str | float | None = None,
        trace: Mapping[str, Any] | None = None,
    ) -> None:
        self._cell, self._trace = cell, trace
        self._counted_s = seconds(count_arrivals) if count_arrivals is not None else None
        document = self._canonical()
        self._digest = scenario_digest(document, self._counted_s)
        # Replicates differ in their seed alone: text before and after it.
        place = "seed of the replicate"
        text = json.dumps({**document, "seed": place}, separators=(",", ":"))
        self._before, _, self._after = text.partition(f'"{place}"')
        self.has_outside: bool = has_outside(text)
        """Whether the runs depend on files or on rules written in Python."""

    def text(self, replicate: int) -> str:
        """Return the scenario of a replicate."""
        document = self._cell.document(replicate)
        if self._trace is not None and replicate == 0:
            return canonical({**document, "trace": {**document.get("trace", {}), **self._trace}})
        if self._cell.is_drawn:
            return canonical(document)
        return f"{self._before}{document['seed']}{self._after}"

    def key(self, replicate: int) -> str:
        """Return the key of a replicate; empty if it has none."""
        if self._cell.is_drawn or (self._trace is not None and replicate == 0):
            return self.key_of(self.text(replicate))
        return (
            ""
            if self._digest is None
            else seeded_key(self._digest, self._cell.document(replicate)["seed"])
        )

    def key_of(self, text: str) -> str:
        """Return the current key of a replicate's text; empty if it has none."""
        return run_key(text, self._counted_s) or ""

    def _canonical(self) -> dict[str, Any]:
        try:
            return json.loads(canonical(self._cell.document()))
        except ScenarioError as error:
            raise type(error)(f"cell {named(self._cell.labels)}: {error}") from None
