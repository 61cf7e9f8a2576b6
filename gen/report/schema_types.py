"""Types and defaults of fields in a JSON Schema, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def type_name(schema: Mapping[str, Any], named: Callable[[str], str]) -> str:
    """The type of a value. `named` returns the text for the name of a definition."""
    if "$ref" in schema:
        return named(str(schema["$ref"]).rsplit("/", 1)[-1])
    if options := schema.get("oneOf") or (schema.get("anyOf") if "title" not in schema else None):
        return " or ".join(dict.fromkeys(type_name(option, named) for option in options))
    if "items" in schema:
        return f"list of {_plural(type_name(schema['items'], named))}"
    if (entry := entries(schema)) is not None:
        return f"map of {_plural(type_name(entry, named))}"
    return _scalar(schema)


def entries(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of the values of a mapping with any keys; None for another type."""
    inner = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    return inner[0] if isinstance(inner[0], dict) else None


def default_text(field: Mapping[str, Any]) -> str:
    """The default of a field as YAML; empty if it has none."""
    value = field.get("default", "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plural(name: str) -> str:
    if " or " in name or not name[-1].isalpha():
        return name
    head, of, entry = name.partition(" of ")
    if of:  # `lists of strings`
        return f"{head}s of {entry}"
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("x") else f"{name}s"


def _scalar(schema: Mapping[str, Any]) -> str:
    words = [schema["const"]] if "const" in schema else schema.get("enum", ())
    if words:
        return ", ".join(f"`{word}`" for word in words if isinstance(word, str))
    return str(schema.get("title") or ("string" if "string" in schema.get("type", ()) else "any value"))
