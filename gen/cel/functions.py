"""The registry of functions. A signature is written once; the checker and the evaluator choose by it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.cel.types import Type, parse_types

if TYPE_CHECKING:
    from collections.abc import Callable

_SIGNATURE = re.compile(r"(?:(?P<target>[\w.]+(?:\(.*?\))?)::)?(?P<name>[^\s(]+)\((?P<of>.*)\) (?P<result>\S.*)")
COSTS_TEXT: Final = 0.1
"""Of one character that is read (`StringTraversalCostFactor` of `checker/cost.go` of cel-go)."""


class Overload(Struct, frozen=True):
    """One signature of a function."""

    method: bool
    parameters: tuple[Type, ...]
    """With the target of a method first."""
    result: Type
    run: Callable[..., Any]
    work: Callable[..., float] | None
    """Cost of a call beyond 1, from the arguments."""
    work_after: Callable[[Any], float] | None
    """Cost of the result, such as of a list that was made."""


FUNCTIONS: Final[dict[str, list[Overload]]] = {}
_BY_TAGS: Final[dict[tuple[str, bool, tuple[str, ...]], Overload]] = {}


def function(
    *signatures: str, work: Callable[..., float] | None = None, after: Callable[[Any], float] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function with its signatures: `size(list(A)) int`, or `string::size() int` for a method."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        for signature in signatures:
            match = _SIGNATURE.fullmatch(signature)
            if match is None:
                raise ValueError(f"invalid signature: {signature}")
            target = parse_types(match["target"]) if match["target"] else ()
            parameters = (*target, *parse_types(match["of"]))
            overload = Overload(bool(target), parameters, parse_types(match["result"])[0], run, work, after)
            FUNCTIONS.setdefault(match["name"], []).append(overload)
        return run

    return register


def chosen(name: str, tags: tuple[str, ...], *, method: bool) -> Overload | None:
    """The overload for arguments of some types; None if there is none."""
    key = name, method, tags
    found = _BY_TAGS.get(key)
    if found is None:
        for overload in FUNCTIONS.get(name, ()):
            if overload.method == method and _accepts(overload, tags):
                found = _BY_TAGS[key] = overload
                break
    return found


def _accepts(overload: Overload, tags: tuple[str, ...]) -> bool:
    return len(tags) == len(overload.parameters) and all(
        type_.is_parameter or type_.name in {tag, "dyn"} for tag, type_ in zip(tags, overload.parameters, strict=True)
    )


def size_of(value: Any) -> int:
    """Characters and entries of a value, with all values inside: what a comparison reads at most."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list):
        return len(value) + sum(size_of(item) for item in value if isinstance(item, str | list | dict))
    if isinstance(value, dict):
        return len(value) + sum(size_of(item) for item in value.values() if isinstance(item, str | list | dict))
    return 1


def text_work(*texts: Any) -> float:
    """The cost of reading all texts and lists once."""
    return sum(len(one) for one in texts if isinstance(one, str | bytes | list | dict)) * COSTS_TEXT
