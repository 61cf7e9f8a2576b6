"""Characters that look like spaces or quotes, where YAML reads them as part of a key or of a value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without exporting it
from yaml.events import ScalarEvent, StreamEndEvent

from gen.load.slips import ODD_SPACES, named
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_OPENING, _CLOSING = "\u201c\u2018\u201e\u201a", "\u201d\u2019\u201c\u2018"
_ANY = regex(f"[{ODD_SPACES}{_OPENING}{_CLOSING}]")
_EDGE = regex(f"^[{ODD_SPACES}]|[{ODD_SPACES}]$")
_QUOTED = regex(f"[{_OPENING}].*[{_CLOSING}]", re.DOTALL)


class Lookalike(Struct, frozen=True, kw_only=True):
    """A character at the start or the end of a scalar without quotes."""

    mark: Any
    """Start of the scalar."""
    message: str
    hint: str


def lookalikes(text: str) -> Iterator[Lookalike]:
    """Characters in a valid YAML text that are probably meant as a space or as a quote."""
    if text.isascii() or _ANY.search(text) is None:  # as in nearly every file
        return
    get = CParser(text).get_event
    while (event := get()).__class__ is not StreamEndEvent:
        if isinstance(event, ScalarEvent) and event.implicit[0] and (found := _of(event)) is not None:
            yield found


def _of(event: Any) -> Lookalike | None:
    if (match := _EDGE.search(event.value)) is not None:
        message = f"{named(match[0])} is not a space in YAML"
        return Lookalike(mark=event.start_mark, message=message, hint="replace it with a space, or remove it")
    if _QUOTED.fullmatch(event.value):
        message = f"`{event.value[0]}` and `{event.value[-1]}` are not quotes in YAML"
        hint = 'replace both with `"`; to keep them in the value, put it in `"` as well'
        return Lookalike(mark=event.start_mark, message=message, hint=hint)
    return None
