"""The reference of what the packages export, from their docstrings."""

from __future__ import annotations

import inspect
import re
import textwrap
from types import ModuleType

import cwndlab
import cwndlab_papers
from parts.text import code_name, table

KINDS = ("Functions", "Results", "Classes", "Errors", "Modules")
"""Headings, in the order of the page."""
FIELDS = ("Parameters", "Returns", "Yields", "Raises", "Attributes")


def reference() -> str:
    """Describe every public name: signature, fields, methods, and an example."""
    parts = []
    for kind, names in _by_kind().items():
        parts.append(f"## {kind}\n")
        parts += [_entry(cwndlab, name) for name in names]
    parts.append("## Papers\n\nThe package `cwndlab_papers`, beside cwndlab.\n")
    parts += [_entry(cwndlab_papers, name) for name in ("reproduce", "Reproduction")]
    return "\n" + "\n".join(parts) + "\n"


def _by_kind() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name in cwndlab.__all__:
        found[_kind(getattr(cwndlab, name))].append(name)
    return found


def _kind(thing: object) -> str:
    if inspect.ismodule(thing):
        return "Modules"
    if not inspect.isclass(thing):
        return "Functions"
    if issubclass(thing, Exception):
        return "Errors"
    return "Results" if hasattr(thing, "to_pandas") else "Classes"


def _entry(package: ModuleType, name: str) -> str:
    thing = getattr(package, name)
    if name == "__version__":
        return '### `__version__`\n\nThe version of the package, such as "0.1.0".\n'
    sections = _sections(inspect.getdoc(thing) or "")
    lines = [f"### `{name}`\n", _signature(name, thing), _prose(sections.pop("")) + "\n"]
    for heading in FIELDS:
        if heading in sections:
            lines.append(f"**{heading}**\n\n{_fields(sections[heading])}")
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        lines.append(_members(thing))
    if example := sections.get("Examples", ""):
        # Live runs need a program that not every machine has: only their docstrings are run.
        language = "pycon" if name in ("live", "LiveResult") else "python"
        lines.append(_examples(package, example, language))
    if inspect.ismodule(thing):
        lines.append(_names(thing))
    return "\n".join(line for line in lines if line) + "\n"


def _signature(name: str, thing: object) -> str:
    """Write how it is called; results, errors and modules are not."""
    if _kind(thing) not in ("Functions", "Classes") or thing in (cwndlab.Ack, cwndlab.WindowRule):
        return ""
    found = inspect.signature(thing)
    bare = [one.replace(annotation=one.empty) for one in found.parameters.values()]
    call = f"{name}{found.replace(parameters=bare, return_annotation=found.empty)}"
    return f"```text\n{textwrap.fill(call, 96, subsequent_indent='    ')}\n```\n"


def _sections(doc: str) -> dict[str, str]:
    """Split a docstring at its underlined headings; the text before them has no name."""
    first, *rest = re.split(r"^(\w[\w ]*)\n-{3,}\n", doc, flags=re.MULTILINE)
    found = {"": first.strip()}
    for heading, text in zip(rest[::2], rest[1::2], strict=True):
        found[heading] = text.strip("\n")
    if ">>>" in first:
        # A module's text, with its example inside.
        found[""], _, example = first.partition(">>>")
        found["Examples"] = f">>>{example}".rstrip()
    return found


def _fields(text: str) -> str:
    """Write ``name : type`` and the indented text below it as a list."""
    entries: list[list[str]] = []
    for line in text.splitlines():
        if line and not line.startswith(" "):
            entries.append([line])
        elif entries and line.strip():
            entries[-1].append(line.strip())
    lines = []
    for head, *about in entries:
        name, colon, kind = head.partition(" : ")
        shown = f"`{name}`" + (f" ({kind})" if colon else "")
        lines.append(f"- {shown}: {_prose(' '.join(about))}" if about else f"- {shown}")
    return "\n".join(lines) + "\n"


def _members(thing: type) -> str:
    rows = []
    for name, member in inspect.getmembers(thing):
        is_public = not name.startswith("_")
        described = inspect.getdoc(member) if callable(member) or _is_property(member) else None
        if is_public and described and not _is_inherited(name):
            shown = name if _is_property(member) else f"{name}()"
            rows.append([code_name(shown), _prose(described.split("\n\n")[0])])
    return table(["member", "what it is"], rows) if rows else ""


def _names(module: ModuleType) -> str:
    """List what a module exports and describes."""
    rows = []
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        is_described = inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing)
        about = (inspect.getdoc(thing) or "").split("\n\n")[0] if is_described else "a constant"
        rows.append([code_name(name), _prose(" ".join(about.split()))])
    return table(["name", "what it is"], rows) if rows else ""


def _is_property(member: object) -> bool:
    return isinstance(member, property) or inspect.isdatadescriptor(member)


def _is_inherited(name: str) -> bool:
    """Whether every number or tuple has it."""
    return hasattr(float, name) or hasattr(tuple, name)


def _prose(text: str) -> str:
    """Write markup of reStructuredText as Markdown."""
    plain = re.sub(r"``(.+?)``", r"`\1`", text).replace("::\n", ":\n")
    return re.sub(r"\.\. \[(\d+)\]", r"[\1]", plain).replace("]_", "]")


def _examples(package: ModuleType, text: str, language: str) -> str:
    """Write paragraphs of text, and examples as code."""
    parts = []
    for block in re.split(r"\n\s*\n", text):
        is_code = block.lstrip().startswith(">>>")
        block = f"{_imports(package, block)}{block}" if is_code else block
        parts.append(f"```{language}\n{block.rstrip()}\n\n```" if is_code else _prose(block))
    return "\n\n".join(parts) + "\n"


def _imports(package: ModuleType, block: str) -> str:
    """Import what a docstring's example has from its module."""
    given = " ".join(re.findall(r"^>>> (?:from|import) .*$", block, re.MULTILINE))
    bound = set(re.findall(r"\b\w+\b", given))
    used = set(re.findall(r"(?<![\w.\"'])[A-Za-z_]\w*(?=[.(])", block)) - bound
    names = sorted(used & set(package.__all__))
    lines = [f">>> from {package.__name__} import {', '.join(names)}\n"] if names else []
    lines += [">>> from pathlib import Path\n"] if "Path" in used else []
    lines += [">>> import polars as pl\n"] if "pl" in used else []
    return "".join(lines)
