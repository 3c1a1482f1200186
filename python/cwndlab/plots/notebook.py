"""A result's HTML in a notebook: fields, flows, and a small plot of windows."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

from cwndlab.plots.overview import PANELS, overview
from cwndlab.plots.style import png_bytes

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Run

MAX_ROWS = 10


def notebook_html(result: Run) -> str:
    """Return a result as self-contained HTML."""
    fields, table = result.fields, result.table()
    facts = ", ".join(
        f"{key}&nbsp;{escape(_text(fields[key]))}"
        for key in ("simulated_s", "aggregate_goodput_bps", "jain_index", "seed", "trace_hash")
    )
    head = "".join(f"<th>{column}</th>" for column in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_text(value))}</td>" for value in row) + "</tr>"
        for row in table.head(MAX_ROWS).iter_rows()
    )
    more = result.flows.height - MAX_ROWS
    note = f"<p>and {more} more flows</p>" if more > 0 else ""
    return (
        f"<div><p><b>{escape(fields.get('name') or 'cwndlab run')}</b>: {facts}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{note}{_picture(result)}</div>"
    )


def _picture(result: Run) -> str:
    if not any(table in result.traces for table in PANELS):
        return ""
    data = base64.b64encode(png_bytes(overview(result, width=6.5, height=1.6), dpi=80)).decode()
    return f'<img alt="traces over time" src="data:image/png;base64,{data}">'


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
