"""Names of the runs of a sweep: the name of the job and the values of the parameters.

A name depends only on the values of its own run, so other combinations never rename it. A value that a name cannot
show, or that another value could be shown as, gets digits of its hash.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from gen.kubernetes import MAX_NAME
from gen.regex import regex
from gen.render.plan.names import MORE_TIME, TENSORBOARD, VALUES_DIGITS, longest_name, longest_run_suffix

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.resources.base import Resource

_EXACT = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DECIMAL = regex(r"[0-9]+\.[0-9]+")
_LIKE_A_DECIMAL = regex(r"[0-9]+p[0-9]+")
_OTHER = regex(r"[^a-z0-9]+")
_MOST_OF_A_VALUE = 16
_VALUE_DIGITS = 4
_SHORTEST = 3
"""Characters of the values that are worth showing."""


def most_characters(facts: Resource, roles: Iterable[str], *, hashed: bool, scheduled: bool = False) -> int:
    """The longest name of a run of this kind without its hash."""
    room = MAX_NAME - longest_run_suffix(facts, roles, hashed=hashed or scheduled)
    if not hashed or scheduled:
        room = min(room, MAX_NAME - len(TENSORBOARD))
    holder = facts.scheduled_by if scheduled and facts.scheduled_by is not None else facts
    if scheduled and holder.is_workflow:
        room -= MORE_TIME
    return min(room, longest_name(holder, hashed=hashed and not scheduled) or room)


def run_name(job: str, values: Mapping[str, str], most: int) -> str:
    """The name of a run without its hash, of at most so many characters if the name of the job allows it."""
    keys = {key: _OTHER.sub("-", key.lower()).strip("-") or "x" for key in sorted(values)}
    text = "-".join(f"{shown}-{_slug(values[key], keys.values())}" for key, shown in keys.items())
    if len(job) + 1 + len(text) <= most:
        return f"{job}-{text}"
    room = most - len(job) - VALUES_DIGITS - 2
    start = f"{text[:room].strip('-')}-" if room >= _SHORTEST else ""
    return f"{job}-{start}{_digits(orjson.dumps(dict(sorted(values.items()))), VALUES_DIGITS)}"


def _slug(value: str, keys: Iterable[str]) -> str:
    """The value as a part of a name; `keys` are those of the name."""
    if _DECIMAL.fullmatch(value):
        return value.replace(".", "p")
    clear = _EXACT.fullmatch(value) and not _LIKE_A_DECIMAL.fullmatch(value)
    if clear and len(value) <= MAX_NAME and not any(f"-{key}-" in f"-{value}-" for key in keys):
        return value
    start = _OTHER.sub("-", value.lower()).strip("-")[:_MOST_OF_A_VALUE].strip("-")
    digits = _digits(value.encode(), _VALUE_DIGITS)
    return f"{start}-{digits}" if start else digits


def _digits(content: bytes, count: int) -> str:
    return hashlib.sha256(content).hexdigest()[:count]
