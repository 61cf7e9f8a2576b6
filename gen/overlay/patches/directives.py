"""The directives of strategic merge (`$patch`), as far as they can be judged without an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.diagnostics import did_you_mean
from gen.findings.overlays import INVALID_PATCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Findings, Route
    from gen.load import Layer

PATCH = "$patch"
_WORDS = ("delete", "merge", "replace")
_NOT_OBEYED: Final = {
    "$retainKeys": "add `$patch: replace` to the mapping, and list all of its fields",
    "$setElementOrder": "entries of a patch come first; use `$patch: replace` in the list for another order",
    "$deleteFromPrimitiveList": "use a JSON 6902 patch with `op: remove`",
}
"""Directives that `kubectl apply` works out for itself, which Kustomize takes for fields."""


def check_directives(patch: Any, layer: Layer, found: Findings) -> bool:
    """Report directives that cannot be obeyed, and nulls where no field is; whether there are none."""
    before = len(found.items)
    for route, message, hint in _faults(patch, ()):
        found.error(INVALID_PATCH, layer.find(route).value, message, hint)
    return len(found.items) == before


def directive(item: Any) -> str | None:
    """The value of `$patch` in a mapping."""
    return item.get(PATCH) if isinstance(item, dict) else None


def _faults(value: Any, at: Route) -> Iterator[tuple[Route, str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.startswith("$"):
                yield from _directive(key, inner, at)
            else:
                yield from _faults(inner, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            here = (*at, index)
            if item is None:
                yield here, "null entry in a list", 'remove the entry, or write `""` for an empty string'
            elif directive(item) == "replace" and len(item) > 1:
                hint = "write `- $patch: replace` as a separate entry, followed by the new entries"
                yield here, "`$patch: replace` replaces the whole list", hint
            else:
                yield from _faults(item, here)


def _directive(key: str, word: Any, at: Route) -> Iterator[tuple[Route, str, str]]:
    here = (*at, key)
    name = key.partition("/")[0]
    if name in _NOT_OBEYED:
        yield here, f"unsupported directive `{name}`", _NOT_OBEYED[name]
    elif key != PATCH:
        yield here, f"unknown directive `{key}`", f"did you mean `{PATCH}`?"
    elif word not in _WORDS:
        yield here, f"invalid `$patch` directive `{word}`", did_you_mean(str(word), _WORDS)
    elif not at and word == "delete":
        yield here, "a patch cannot remove an object", "remove the field of the job or overlay that creates the object"
    elif not at and word == "replace":
        yield here, "a patch cannot replace an object as a whole", "add `$patch: replace` to the part to replace"
