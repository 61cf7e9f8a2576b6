"""A compiled reader, three times as fast, for manifests that mean the same in YAML 1.1 and 1.2.

ryaml is libyaml with the scalars of YAML 1.2. A text that YAML 1.1 reads differently, that has anchors or tags, or that
is invalid is left to the event reader.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
from ahocorasick_rs import BytesAhoCorasick

from gen.load.go_yaml import differs
from gen.load.yaml11 import MAX_CACHED, forms, resolved
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

_loads: Callable[[str], Any] | None = None
with suppress(ImportError):  # on a platform without a wheel
    import ryaml

    _loads = ryaml.loads  # type: ignore[attr-defined] # its stubs import it without exporting it

_REFERENCES = "&*"
_TAG = "!"
_ESCAPED_TAG = regex(r"\\(?:x|u00|U000000)21")
_OTHER_BREAKS = regex("\r(?!\n)|[\x85\u2028\u2029]")
"""Line breaks of YAML 1.1 that a mark may follow."""
_BEFORE_NODES = ("", ":", "-", "?", ",", "[", "{")
MAX_CHARACTERS = 1 << 20
MAX_SUSPECTS = 32
"""Words that the text is searched for, one after the other."""
MAX_BRACKETS = 1000
"""libyaml takes quadratic time for nested brackets."""

_SUSPECTS = BytesAhoCorasick(
    [
        *(f'"{form}"'.encode() for word in ("y", "yes", "on", "n", "no", "off") for form in forms(word)),
        *(f'"{first}'.encode() for first in "+-.0123456789<"),
    ]
)
"""Starts of JSON strings that the two versions may read differently: a whole word, or its first letter."""


def read_compiled(text: str) -> dict[Any, Any] | None:
    """The one document in a text, or None unless all readers certainly agree on it."""
    value = None if differs(text) else mapping_of(text)
    return value if value is not None and _is_sure(value, text) else None


def mapping_of(text: str) -> dict[Any, Any] | None:
    """The one mapping in a text as YAML 1.2; None if it has anchors or tags, or is invalid."""
    if _loads is None or len(text) > MAX_CHARACTERS or text.count("[") + text.count("{") > MAX_BRACKETS:
        return None
    if any(_may_have(text, mark) for mark in _REFERENCES):
        return None
    try:
        value = _loads(text)
    except ValueError:  # ryaml's errors are subclasses
        return None
    if value.__class__ is not dict or (_may_have(text, _TAG) and not _is_content(_TAG, value, text)):
        return None
    return value


def _may_have(text: str, mark: str) -> bool:
    return mark in text and (_OTHER_BREAKS.search(text) is not None or _has_mark(text, mark))


def _is_content(mark: str, value: Any, text: str) -> bool:
    """Whether each mark is inside of a string, as in `[ ! -r file ]` of a script: without aliases and escapes, a value
    has no mark that is not in the text. ryaml returns a tag as the key of a mapping.
    """
    with suppress(TypeError):
        json = orjson.dumps(value)
        whole = json.count(mark.encode()) == text.count(mark)
        return whole and f'"{mark}'.encode() not in json and _ESCAPED_TAG.search(text) is None
    return False


def _has_mark(text: str, mark: str) -> bool:
    """Whether an anchor, an alias or a tag may start anywhere."""
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
    except TypeError:  # a key that is not text, or a number that JSON does not have
        return False
    if b"null" in json and not _is_finite(value):
        return False
    starts = (start + 1 for _, start, _ in _SUSPECTS.find_matches_as_indexes(json))
    words = {json[start : json.find(b'"', start)] for start in starts}
    suspects = [word for word in map(bytes.decode, words) if _differs(word)]
    return len(suspects) <= MAX_SUSPECTS and not any(_is_plain(word, text) for word in suspects)


def _is_finite(value: Any) -> bool:
    """Whether it has no infinity and no `nan`, which JSON turns into null."""
    if value.__class__ is dict or value.__class__ is list:
        return all(map(_is_finite, value.values() if value.__class__ is dict else value))
    return value.__class__ is not float or math.isfinite(value)


_KNOWN: dict[str, bool] = {}


def _differs(text: str) -> bool:
    """Whether it is text in YAML 1.2 and something else in 1.1 when written without quotes."""
    known = _KNOWN.get(text)
    if known is None:
        known = text == "<<" or (resolved(text).__class__ is not str and _is_text(text))
        if len(_KNOWN) < MAX_CACHED:
            _KNOWN[text] = known
    return known


def _is_plain(word: str, text: str) -> bool:
    """Whether a word occurs anywhere without quotes."""
    if text.count(word) == text.count(f'"{word}"'):  # as in everything that gen writes; counting is fast
        return False
    return re.search(rf"(?<![\w.\"'-]){re.escape(word)}(?![\w.\"'-])", text) is not None


def _is_text(text: str) -> bool:
    assert _loads is not None  # noqa: S101 - `read_compiled` returned before
    try:
        return _loads(f"a: {text}")["a"].__class__ is str
    except ValueError:
        return True
