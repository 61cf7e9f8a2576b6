"""The short way for manifests that say the same in YAML 1.1 and 1.2: read in compiled code, three times as fast.

ryaml is libyaml, too, with the scalars of YAML 1.2. A text of which version 1.1 would make something else, that has
anchors or tags, or in which anything is wrong, goes the long way.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
from ahocorasick_rs import BytesAhoCorasick

from gen.load.scalars import MOST_CACHED, forms, resolved

if TYPE_CHECKING:
    from collections.abc import Callable

_loads: Callable[[str], Any] | None = None
with suppress(ImportError):  # of a platform that it is not built for
    import ryaml

    _loads = ryaml.loads  # type: ignore[attr-defined] # its stubs import it without saying so

_MARKS = "&*!"
_OTHER_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
"""Ends of lines of YAML 1.1 behind which a mark may stand."""
_BEFORE_NODES = ("", ":", "-", "?", ",", "[", "{")
_LONGEST = 1 << 20
_MOST_SUSPECTS = 32
"""Words of which the text is searched for each."""
_MOST_BRACKETS = 1000
"""Many within each other take libyaml a time that grows with their square."""

_SUSPECTS = BytesAhoCorasick(
    [
        *(f'"{form}"'.encode() for word in ("y", "yes", "on", "n", "no", "off") for form in forms(word)),
        *(f'"{first}'.encode() for first in "+-.0123456789<"),
    ]
)
"""How a text begins in JSON that the two versions may read differently: all of a word, or the first letter."""


def fast(text: str) -> Any | None:
    """The one document in a text, or None when it is not sure that it says the same to everybody."""
    if _loads is None or len(text) > _LONGEST or text.count("[") + text.count("{") > _MOST_BRACKETS:
        return None
    if any(mark in text and (_OTHER_BREAKS.search(text) or _has_mark(text, mark)) for mark in _MARKS):
        return None
    try:
        value = _loads(text)
    except ValueError:  # of which what it says of YAML is a kind
        return None
    return value if value.__class__ is dict and _is_sure(value, text) else None


def _has_mark(text: str, mark: str) -> bool:
    """Whether an anchor, an alias or a tag may begin somewhere."""
    position = text.find(mark)
    while position >= 0:
        before = text[max(text.rfind("\n", 0, position) + 1, position - 80) : position].rstrip(" \t")
        if before[-1:] in _BEFORE_NODES:
            return True
        position = text.find(mark, position + 1)
    return False


def _is_sure(value: Any, text: str) -> bool:
    try:
        json = orjson.dumps(value)
    except TypeError:  # a key that is no text, or a number that JSON has not
        return False
    if b"null" in json and not _is_finite(value):
        return False
    starts = (start + 1 for _, start, _ in _SUSPECTS.find_matches_as_indexes(json))
    words = {json[start : json.find(b'"', start)] for start in starts}
    suspects = [word for word in map(bytes.decode, words) if _differs(word)]
    return len(suspects) <= _MOST_SUSPECTS and not any(_is_plain(word, text) for word in suspects)


def _is_finite(value: Any) -> bool:
    """Whether there is no infinity in it, and no `nan`, of which JSON makes nulls."""
    if value.__class__ is dict or value.__class__ is list:
        return all(map(_is_finite, value.values() if value.__class__ is dict else value))
    return value.__class__ is not float or math.isfinite(value)


_KNOWN: dict[str, bool] = {}


def _differs(text: str) -> bool:
    """Whether without quotes it would be text in YAML 1.2 and something else in 1.1."""
    known = _KNOWN.get(text)
    if known is None:
        known = text == "<<" or (resolved(text).__class__ is not str and _is_text(text))
        if len(_KNOWN) < MOST_CACHED:
            _KNOWN[text] = known
    return known


def _is_plain(word: str, text: str) -> bool:
    """Whether a word stands somewhere without quotes around it."""
    if text.count(word) == text.count(f'"{word}"'):  # as in all that gen writes; counting is quick
        return False
    return re.search(rf"(?<![\w.\"'-]){re.escape(word)}(?![\w.\"'-])", text) is not None


def _is_text(text: str) -> bool:
    assert _loads is not None  # noqa: S101 - it made the text
    try:
        return _loads(f"a: {text}")["a"].__class__ is str
    except ValueError:
        return True
