"""Types of the native module. Text in and out is JSON; the Python package gives it its shape."""

from collections.abc import Callable
from typing import Literal

class ScenarioError(ValueError):
    """A scenario that is not valid: the message names the key, the value and what is expected."""

class RuleError(ScenarioError):
    """A rule's text that cannot be understood."""

class RunError(ScenarioError):
    """A run that failed: not enough memory, or an error of its rule."""

def version() -> str: ...
def build() -> str: ...
def rules() -> str: ...
def knobs() -> str: ...
def schema() -> str: ...
def parse(text: str, format: Literal["toml", "json"]) -> str: ...
def rule(text: str) -> str: ...
def run(
    scenario: str,
    progress: Callable[[float, int], object] | None = None,
    scheduler: Literal["tree", "heap"] = "tree",
    pcap: str | None = None,
    look_ahead: bool = True,
) -> tuple[str, dict[str, dict[str, tuple[str, bytes]]]]: ...
