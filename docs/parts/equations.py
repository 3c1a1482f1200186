"""The equations of the window rules, from the headers of the rules' source files."""

from __future__ import annotations

import re
from pathlib import Path

from parts.text import ROOT

SOURCES = ROOT / "crates" / "rules" / "src" / "rule"
# A file's header has the equations of its rule; families that share a file with another are in
# SPECIAL.
FILES = {
    "Linear": "linear.rs", "GAIMD": "gaimd.rs", "Binomial": "binomial.rs", "Bimodal": "bimodal.rs",
    "MRAIMD": "mraimd.rs", "CUBIC": "cubic.rs", "DCTCP": "dctcp.rs", "Prague": "prague.rs",
    "HighSpeed": "highspeed.rs",
    "Scalable": "scalable.rs", "Westwood": "westwood.rs", "Vegas": "vegas.rs", "HTCP": "htcp.rs",
    "Hybla": "hybla.rs", "Illinois": "illinois.rs", "BIC": "bic.rs", "LEDBAT": "ledbat.rs",
    "LIA": "lia.rs", "OLIA": "olia.rs", "BALIA": "balia.rs",
    "NADA": "nada/mod.rs", "BBR1": "bbr/v1.rs",
    "BBR3": "bbr/v3.rs",
    "Rule": "formula/rule.rs",
}  # fmt: skip
SPECIAL = {
    "AIMD": ("w + a", "b w"),
    "AIAD": ("w + a", "w - d"),
    "MIMD": ("m w", "b w"),
    "MIAD": ("m w", "w - d"),
    "AIMAD": ("w + a", "b w - d"),
    "MAIMD": ("m w + a", "b w"),
    "NewReno": ("w + 1", "w / 2"),
    "IIAD": ("w + alpha / w", "w - beta"),
    "SQRT": ("w + alpha / sqrt(w)", "w - beta sqrt(w)"),
}
"""Window after an RTT without loss, and after a loss."""
HEADER = re.compile(r"^//! ```text\n(?P<law>(?://!.*\n)+?)//! ```$", re.MULTILINE)


def law(family: str) -> str:
    """Return the update equations of a family.

    Raises
    ------
    KeyError
        If the family has no equations here, nor a file whose header has them.
    """
    if family in SPECIAL:
        grown, cut = SPECIAL[family]
        return (
            f"without loss, per round trip:  w <- {grown}\non loss:                       w <- "
            f"{cut}\n"
        )
    if family not in FILES:
        raise KeyError(
            f"{family}: has no equations: "
            "expected a line of FILES or SPECIAL in docs/parts/equations.py"
        )
    return header_law(SOURCES / FILES[family])


def header_law(path: Path) -> str:
    """Return the equations at the top of a rule's source file."""
    found = HEADER.search(path.read_text(encoding="utf-8"))
    if found is None:
        raise KeyError(
            f"{path.name}: has no equations in its header: expected a block ```text after `//!`"
        )
    lines = [
        line.removeprefix("//!").removeprefix(" ").rstrip() for line in found["law"].splitlines()
    ]
    return "\n".join(lines) + "\n"
