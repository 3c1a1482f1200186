"""Tables as LaTeX and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

MINUS = "\N{MINUS SIGN}"
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "<": "$<$", ">": "$>$", "|": "$|$",
        MINUS: "$-$", "±": r"$\pm$", "≤": r"$\le$", "≥": r"$\ge$", "Δ": r"$\Delta$",
        "▲": r"$\bigtriangleup$", "▼": r"$\bigtriangledown$",
    }
)  # fmt: skip


def latex(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int
) -> str:
    r"""Write a table with the rules of the package booktabs; its title is a comment.

    An empty row separates two parts.

    Examples
    --------
    >>> print(latex("loss", ["rule", "loss\n[%]"], [["A_1", "0.5 ± 0.1"], [], ["B", "= -1"]], 1))
    % loss
    \begin{tabular}{lr}
    \toprule
    rule & loss [\%] \\
    \midrule
    A\_1 & 0.5 $\pm$ 0.1 \\
    \midrule
    B & = $-$1 \\
    \bottomrule
    \end{tabular}
    """
    lines = [
        f"% {_one_line(title)}",
        rf"\begin{{tabular}}{{{'l' * text_columns}{'r' * (len(columns) - text_columns)}}}",
        r"\toprule",
        _row([_escaped(column) for column in columns]),
        r"\midrule",
        *(_row([_escaped(cell) for cell in row]) if row else r"\midrule" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _escaped(text: str) -> str:
    line = re.sub(r"(?<!\w)-(?=\d)", MINUS, _one_line(text))
    # A label may have formulas.
    parts = re.split(r"(\$[^$]+\$)", line)
    return "".join(part if part.startswith("$") else part.translate(_LATEX) for part in parts)


def markdown(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int
) -> str:
    r"""Write a table in the Markdown of GitHub, below its title.

    Examples
    --------
    >>> print(markdown("loss", ["rule", "loss\n[%]"], [["A|B", "0.5 ± 0.1"], []], 1))
    **loss**
    <BLANKLINE>
    | rule | loss [%] |
    | :--- | ---: |
    | A\|B | 0.5 ± 0.1 |
    """
    marks = [":---" if at < text_columns else "---:" for at in range(len(columns))]
    lines = [
        [_cell(column) for column in columns],
        marks,
        *([_cell(cell) for cell in row] for row in rows if row),
    ]
    return "\n".join(
        [f"**{_one_line(title)}**", "", *(f"| {' | '.join(line)} |" for line in lines)]
    )


def _cell(text: str) -> str:
    # A star would begin emphasis.
    return _one_line(text).replace("\\", "\\\\").replace("|", r"\|").replace("*", r"\*")


def _one_line(text: str) -> str:
    return " ".join(text.replace("-\n", "").split())
