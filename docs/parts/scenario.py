"""Tables of the scenario's keys, from its JSON schema."""

from __future__ import annotations

import json

from cwndlab import native
from parts.keys import EXAMPLES
from parts.text import code, code_name, table


def types() -> dict[str, dict]:
    """Tables of a scenario by name.

    The document itself, and every definition or variant that has keys.
    """
    schema = native.schema()
    found = {"Scenario": schema}
    for name, definition in schema["$defs"].items():
        if "properties" in definition:
            found[name] = definition
        for variant in definition.get("oneOf", []):
            if "properties" in variant:
                found[f"{name} {variant['properties']['kind']['const']}"] = variant
    # A distribution of times has the keys of one of packets.
    return {name: definition for name, definition in found.items() if not name.startswith("Law2 ")}


def scenario_type(name: str) -> str:
    """Table of a type's keys, or a table for each of its variants."""
    definitions = types()
    variants = [one for one in definitions if one == name or one.startswith(f"{name} ")]
    return "\n".join(key_table(variant, definitions[variant]) for variant in variants)


def key_table(name: str, definition: dict) -> str:
    """Table of one type's keys: unit or kind, default, example, meaning."""
    required = definition.get("required", [])
    rows = []
    for key, entry in definition["properties"].items():
        if "default" in entry:
            default = code(entry["default"])
        elif key in required:
            default = "required"
        else:
            default = "`false`" if entry.get("type") == "boolean" else "none"
        meaning = entry.get("description", "kind of this table" if key == "kind" else "")
        rows.append([code_name(key), kind_of(entry), default, code(EXAMPLES[name][key]), meaning])
    order = {key: place for place, key in enumerate(EXAMPLES[name])}
    rows.sort(key=lambda row: order[row[0].strip("`")])
    return table(["key", "kind", "default", "example", "meaning"], rows)


KINDS = {
    "Time": "time", "Rate": "rate", "Bytes": "bytes", "Buffer": "buffer",
    "RateLimit": "rate or `\"unlimited\"`",
    "Span": "time or `[low, high]`",
    "PerFlow_Span": "time, `[low, high]` or one for each", "Waveform": "rate or waveform",
    "BackRate": "rate, waveform or `\"unlimited\"`",
    "Sampling": "time or `\"all\"`", "TraceStart": "time or `\"random\"`",
    "Home": "name", "ProfileName": "name", "RecoveryName": "name", "Packets": "number",
    "OutagePolicy": "`\"wait\"` or `\"lost\"`",
    "LogFormat": "name", "Column": "integer or name", "TimeUnit": "name", "ValueUnit": "name",
    "Holds": "`\"from\"` or `\"until\"`", "LogEnd": "`\"repeat\"` or `\"hold\"`",
    "Excess": "`\"drop\"` or `\"mark\"`",
    "EcnMangling": "`\"bleach\"`, `\"clear-ce\"` or `\"mark-all\"`",
    "TunnelIngress": "`\"normal\"` or `\"compatibility\"`",
    "TunnelEgress": "`\"rfc6040\"` or `\"ignores-outer\"`",
    "FlowIsolation": "name", "Framing": "`\"none\"`, `\"atm\"` or `\"ptm\"`",
    "Distribution": "number or distribution", "Distribution2": "time or distribution",
}  # fmt: skip


def kind_of(entry: dict) -> str:
    """Return the kind of value of a key, in a word or two."""
    if "const" in entry:
        return f"`{json.dumps(entry['const'])}`"
    for option in [entry, *entry.get("anyOf", [])]:
        if "$ref" in option:
            name = option["$ref"].rsplit("/", 1)[1]
            return KINDS.get(name, "table")
    type_ = entry.get("type", "array" if "prefixItems" in entry else "")
    type_ = next(one for one in type_ if one != "null") if isinstance(type_, list) else type_
    if type_ == "array":
        inner = entry.get("items", {})
        return f"list of {kind_of(inner)}s" if isinstance(inner, dict) and inner else "pair"
    return {"integer": "integer", "boolean": "boolean", "string": "name"}.get(type_, type_)
