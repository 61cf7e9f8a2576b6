"""Environment of an expression: variables with types, and functions and macros by the version of Kubernetes.

The registry of functions. A signature is written once; the checker and the evaluator choose by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.base import regex
from gen.kubernetes.cel.values import Type, UnavailableError, parse_types

if TYPE_CHECKING:
    from gen.kubernetes.cel.tree import Fold

_SIGNATURE = regex(r"(?:(?P<target>[\w.]+(?:\(.*?\))?)::)?(?P<name>[^\s(]+)\((?P<of>.*)\) (?P<result>\S.*)")
COSTS_TEXT: Final = 0.1
"""Of one character that is read (`StringTraversalCostFactor` of `checker/cost.go` of cel-go)."""


NEVER: Final = 1000
"""`since` of functions of CEL that API servers do not have."""


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
    since: int
    """Minor version of Kubernetes that introduced it, from `apiserver/pkg/cel/environment/base.go`."""


FUNCTIONS: Final[dict[str, list[Overload]]] = {}
_BY_TAGS: Final[dict[tuple[str, bool, tuple[str, ...]], Overload]] = {}


def function(
    *signatures: str,
    work: Callable[..., float] | None = None,
    after: Callable[[Any], float] | None = None,
    since: int = 0,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function with its signatures: `size(list(A)) int`, or `string::size() int` for a method."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        for signature in signatures:
            match = _SIGNATURE.fullmatch(signature)
            if match is None:
                raise ValueError(f"invalid signature: {signature}")
            target = parse_types(match["target"]) if match["target"] else ()
            parameters = (*target, *parse_types(match["of"]))
            overload = Overload(bool(target), parameters, parse_types(match["result"])[0], run, work, after, since)
            FUNCTIONS.setdefault(match["name"], []).append(overload)
        return run

    return register


def since(minor: int) -> Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """`function` for functions that a version of Kubernetes introduced."""
    return partial(function, since=minor)


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


MAX_SIZE: Final = 10_000_000
"""Sizes above cost more than the limit of any expression."""
_MAX_LISTS: Final = 300_000
"""Lists and mappings in a value; no object that a server stores has so many."""


def size_of(value: object, most: int = MAX_SIZE) -> int:
    """Characters and entries of a value, with all values inside: a comparison reads at most so many.

    Counting ends at `most`, because a few lists inside each other can stand for any number of values.
    """
    if isinstance(value, str | bytes):
        return len(value)
    if not isinstance(value, list | dict):
        return 1
    total, lists, left = 0, 0, [value]
    while left:
        one = left.pop()
        total += len(one)
        if total >= most:
            break
        lists += 1
        if lists > _MAX_LISTS:
            return 2 * MAX_SIZE
        for item in one.values() if isinstance(one, dict) else one:
            if isinstance(item, str | bytes):
                total += len(item)
            elif isinstance(item, list | dict):
                left.append(item)
    return total


def smaller_size(one: object, other: object) -> int:
    """The size of the smaller of two values. The larger one is not read to its end."""
    most = 64
    while True:
        found = min(size_of(one, most), size_of(other, most))
        if found < most or most > MAX_SIZE:
            return found
        most *= 8


def text_work(*texts: object) -> float:
    """The cost of reading all texts and lists once."""
    return sum(len(one) for one in texts if isinstance(one, str | bytes | list | dict)) * COSTS_TEXT


_TWO_VARIABLES: Final = 32
"""The version with loops over two variables."""
_UNKNOWN: Final = frozenset({"cel.bind", "existsOne"})
"""Macros that API servers do not have; `existsOne` with two variables they do."""


def first_version(loop: Fold) -> int:
    """The version of Kubernetes that introduced the macro of a loop."""
    if loop.second:
        return _TWO_VARIABLES
    return NEVER if loop.macro in _UNKNOWN else 0


def unavailable(name: str, since: int, at: int) -> UnavailableError:
    """The error for a function or a macro that a version introduced."""
    return UnavailableError(name, since + 1 if since < NEVER else None, at)


class Environment(Struct, frozen=True):
    """The variables of an expression and their types."""

    variables: Mapping[str, Type]
    messages: Mapping[str, Mapping[str, Type]] = {}
    """Fields of the types that are neither basic nor of a library, by name."""
    mixed: bool = False
    """Whether lists and mappings can have values of several types; API servers reject them."""
    minor: int = 0
    """Minor version of the Kubernetes server that gets the expression as a new one; 0 for all functions of CEL."""

    def has(self, since: int) -> bool:
        """Whether new expressions can use what a version introduced: in the next, because a rollback must know it."""
        return not self.minor or since < self.minor
