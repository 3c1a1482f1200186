"""Prints what an optional group of pyproject.toml requires, a line each: ``requirements.py GROUP``."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

with (Path(__file__).parent.parent / "pyproject.toml").open("rb") as file:
    print("\n".join(tomllib.load(file)["project"]["optional-dependencies"][sys.argv[1]]))
