"""Names that operators and controllers derive from the name of an object, by the facts of its kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.resources.base import ANY_ITEM
from gen.resources.pods import get, largest_at, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.resources.base import Derived, Resource

_ROLE = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"


def longest_suffixes(resource: Resource, body: Any) -> Iterator[str]:
    """The longest suffix of each derived name of an object, which is the one with the highest indices."""
    for derived in resource.derived:
        if not derived.each:
            yield from _suffix(derived, "", [largest_at(body, count, ()) for count in derived.counts])
        for number, (route, holder) in enumerate(matches(body, derived.each) if derived.each else ()):
            yield from _suffix(
                derived,
                _role(derived, route, holder, number),
                [largest_at(body, count, route) for count in derived.counts],
            )


def last_suffixes(resource: Resource, role: str, *counts: int) -> Iterator[str]:
    """The same for the pods of one role, before there is an object. The counts are the numbers of its indices."""
    for derived in resource.derived:
        yield from _suffix(derived, role.lower(), counts[: len(derived.counts)])


def is_derived(resource: Resource, suffix: str) -> bool:
    """Whether an object gets a name that consists of the name of an object of this kind and the suffix."""
    return any(_pattern(derived).fullmatch(suffix) for derived in resource.derived if derived.kinds)


def _pattern(derived: Derived) -> re.Pattern[str]:
    role = "|".join(derived.only) or _ROLE
    text = re.escape(derived.suffix).replace(r"\{role\}", f"(?:{role})")
    return re.compile(re.sub(r"\\\{[0-9]\\\}", "[0-9]+", text))


def _suffix(derived: Derived, role: str, counts: Any) -> Iterator[str]:
    if (derived.only and role not in derived.only) or not all(isinstance(count, int) and count > 0 for count in counts):
        return
    yield derived.suffix.format(*(count - 1 for count in counts), role=role)


def _role(derived: Derived, route: Route, holder: Any, number: int) -> str:
    if derived.each[-1] is not ANY_ITEM:
        return str(route[-1]).lower()
    name = get(holder, "name")
    return name if isinstance(name, str) and name else derived.unnamed.format(number)
