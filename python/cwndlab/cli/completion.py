"""`cwndlab completion`: the script that completes names in a shell, by click's own mechanism.

The names come from the core and the catalogue each time, so that a new rule needs no new script.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from cwndlab.cli.options import Choice
from cwndlab.documents import is_table

SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "cwndlab", "_CWNDLAB_COMPLETE"
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _among(names: Callable[[], Iterable[str]]) -> Complete:
    """Complete one of some names, or the last one of a list joined by commas."""

    def complete(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        *before, last = incomplete.split(",")
        found = [name for name in names() if name.lower().startswith(last.lower())]
        return [CompletionItem(",".join([*before, name])) for name in found]

    return complete


def _complete_rule(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete a rule with the parameters of its example; bash takes parentheses escaped."""
    from cwndlab import native

    examples = [entry["example"] for entry in native.rules()]
    found = [text for text in examples if text.lower().startswith(incomplete.lower())]
    words = os.environ.get("COMP_WORDS", "")
    is_bash = os.environ.get(VARIABLE, "").startswith("bash")
    if is_bash and words.count('"') % 2 == 0 and words.count("'") % 2 == 0:
        found = [re.sub(r"([^\w.,/-])", r"\\\1", text.replace(", ", ",")) for text in found]
    return [CompletionItem(text) for text in found]


def _environments() -> list[str]:
    from cwndlab.environments import ENVIRONMENTS, GROUPS

    return [*GROUPS, *ENVIRONMENTS]


def _queues() -> list[str]:
    from cwndlab.environments import BOTTLENECK

    return list(BOTTLENECK)


def _recoveries() -> list[str]:
    from cwndlab.names import recoveries

    return list(recoveries())


def _settings() -> list[str]:
    return [f"{recovery}/{queue}" for recovery in _recoveries() for queue in _queues()]


def _metrics() -> list[str]:
    from cwndlab.metrics import BY_KEY

    return list(BY_KEY)


def _examples() -> list[str]:
    from cwndlab.cli.examples import by_name

    return list(by_name())


def _profiles() -> list[str]:
    from cwndlab import native

    return list(native.knobs()[0]["values"])


def _keys() -> list[str]:
    """Return the keys of `--set` up to the equals sign, from the scenario's schema."""
    from cwndlab import native

    schema = native.schema()
    return [f"{key}=" for key in _keys_of(schema, schema, "", depth=4)]


def _keys_of(
    schema: Mapping[str, Any], node: Mapping[str, Any], before: str, depth: int
) -> list[str]:
    """List the dotted keys of a table; the entries of a list have the name ``*``."""
    if "$ref" in node:
        return _keys_of(schema, schema["$defs"][node["$ref"].rsplit("/", 1)[-1]], before, depth)
    found: list[str] = []
    for part in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        found += _keys_of(schema, part, before, depth)
    if "items" in node and is_table(node["items"]):
        found += _keys_of(schema, node["items"], f"{before}*.", depth)
    for name, value in node.get("properties", {}).items():
        inner = _keys_of(schema, value, f"{before}{name}.", depth - 1) if depth > 1 else []
        found += [f"{before}{name}"] if _is_plain(schema, value) else []
        found += inner
    return list(dict.fromkeys(found))


def _is_plain(schema: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether a key may have a value that is no table."""
    if "$ref" in node:
        return _is_plain(schema, schema["$defs"][node["$ref"].rsplit("/", 1)[-1]])
    parts = (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ()))
    if parts:
        return any(_is_plain(schema, part) for part in parts)
    return "properties" not in node and node.get("type") != "null"


_RULE, _ENVIRONMENT, _QUEUE = _complete_rule, _among(_environments), _among(_queues)
_COMPLETED: dict[str, Complete] = {
    # The name of a parameter, whatever the command.
    "rules": _RULE, "rule": _RULE, "other": _RULE, "against": _RULE, "baseline": _RULE,
    "best": _RULE, "worst": _RULE,
    "env": _ENVIRONMENT, "names": _ENVIRONMENT,
    "queue": _QUEUE, "recovery": _among(_recoveries), "setting": _among(_settings),
    "metric": _among(_metrics), "metrics": _among(_metrics), "profile": _among(_profiles),
    "settings": _among(_keys), "wanted": _among(_examples),
}  # fmt: skip


def _completed(
    complete: Complete, parameter: click.Parameter, ctx: click.Context, incomplete: str
) -> list[CompletionItem]:
    return complete(ctx, parameter, incomplete)


def complete_names(command: click.Command) -> None:
    """Let the parameters of a command, and of those of a group, complete their names."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            complete_names(one)
    for parameter in command.params:
        if isinstance(parameter.type, click.types.StringParamType) and (
            complete := _COMPLETED.get(parameter.name or "")
        ):
            parameter.shell_complete = functools.partial(_completed, complete, parameter)


@click.command()
@click.argument("shell", type=Choice(*SHELLS), metavar="bash|zsh|fish")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    r"""Print the script that completes commands and names.

    \b
    bash: cwndlab completion bash >> ~/.bashrc
    zsh:  cwndlab completion zsh >> ~/.zshrc
    fish: cwndlab completion fish > ~/.config/fish/completions/cwndlab.fish
    """
    found = get_completion_class(shell)
    assert found is not None, "click has one for each of them"
    source = found(context.find_root().command, {}, PROGRAM, VARIABLE).source()
    # A value follows the key of `--set` at once.
    reply = "COMPREPLY+=($value)"
    click.echo(source.replace(reply, f"{reply}; [[ $value == *= ]] && compopt -o nospace"))
