"""The YAML event reader: libyaml's events into plain data. A policy decides on allowed features and values of scalars.

It uses events instead of nodes, because libyaml's composer recurses and crashes on 200,000 opening brackets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from yaml import events

from gen.base.codes import Code
from gen.base.codes.files import INVALID_KEY, TOO_DEEP, TOO_LARGE

MERGE = object()
"""The key `<<`: the policy merges the mapping, or the mappings of the list, that follows."""

Stack = list[tuple[Any, Any]]
"""Containers around the current one, each with the key that waits for its value."""


class Refused(Exception):  # noqa: N818 - it becomes a finding, and is not an error of the program
    """Ends the reading at an event, with the code, the message and the hint of the finding."""

    def __init__(self, event: Any, code: Code, message: str, hint: str) -> None:
        super().__init__(message)
        self.mark, self.code, self.message, self.hint = event.start_mark, code, message, hint


class Policy(ABC):
    """Values of scalars, allowed features of YAML, and size limits. One instance per file.

    Methods raise `Refused` for an event that ends the reading.
    """

    __slots__ = ()

    max_depth: ClassVar[int]
    max_values: ClassVar[int]
    known: ClassVar[Mapping[str, Any]] = {}
    """Values of plain scalars that are looked up here before `plain` is called."""
    texts: ClassVar[Collection[type]] = (str,)
    """Types of scalars that are keys as they are. `key` is called for others, for `<<` and for keys that exist."""
    checks_quoted: ClassVar[bool] = False
    """Whether `quoted` is called for each scalar in double quotes."""

    @abstractmethod
    def start(self, event: object) -> None:
        """A document starts."""

    @abstractmethod
    def plain(self, event: object) -> Any:
        """The value of a scalar without quotes, tag and anchor."""

    @abstractmethod
    def quoted(self, event: object) -> None:
        """Check a scalar in double quotes, which may have escapes."""

    @abstractmethod
    def marked(self, event: object) -> Any:
        """The value of a scalar with a tag or an anchor."""

    @abstractmethod
    def key(self, event: object, value: object, holder: dict[str, Any]) -> Any:
        """The key of a scalar with this value, or `MERGE`."""

    @abstractmethod
    def container(self, event: object) -> Any:
        """A new mapping or list."""

    @abstractmethod
    def alias(self, event: object, stack: Stack, holder: object, *, expects_key: bool) -> Any:
        """The value of an alias."""

    @abstractmethod
    def merge(self, event: object, holder: dict[str, Any], value: object) -> None:
        """Add the keys of the value of `<<`; `event` is the alias or the scalar, or the end of a mapping or list."""


def read_events(parser: Any, policy: Policy) -> Iterator[tuple[Any, Any]]:
    """Each document of a stream, with the mark of its start. Raises `Refused`, and the parser's YAMLError."""
    get = parser.get_event
    get()  # the stream starts
    values = 0
    while (event := get()).__class__ is not events.StreamEndEvent:
        policy.start(event)
        document, values = _document(get, policy, values)
        yield event.start_mark, document


def _document(get: Any, policy: Policy, values: int) -> tuple[Any, int]:  # noqa: C901, PLR0912, PLR0915 - a call for each event would take half as long again
    """The next document, and the number of values up to its end."""
    known, texts, checks_quoted = policy.known, policy.texts, policy.checks_quoted
    stack: Stack = []
    holder: Any = None
    in_mapping = False
    key: Any = None
    root: Any = None
    for number in range(values, policy.max_values):
        event = get()
        kind = event.__class__
        if kind is events.ScalarEvent:
            value = event.value
            if event.tag is not None or event.anchor is not None:
                value = policy.marked(event)
            elif event.implicit[0]:
                value = known.get(value, known)
                if value is known:
                    value = policy.plain(event)
            elif checks_quoted and event.style == '"':
                policy.quoted(event)
            if in_mapping:
                if key is None:
                    simple = value.__class__ in texts and value not in holder and value != "<<"
                    key = str(value) if simple else policy.key(event, value, holder)
                elif key is MERGE:
                    policy.merge(event, holder, value)
                    key = None
                else:
                    holder[key] = value
                    key = None
            elif holder is None:
                root = value
            else:
                holder.append(value)
        elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
            if in_mapping and key is None:
                message = "invalid key: expected a string, found a list or a mapping"
                raise Refused(event, INVALID_KEY, message, "quote the key")
            if len(stack) >= policy.max_depth:
                message = f"nested deeper than {policy.max_depth} levels"
                raise Refused(event, TOO_DEEP, message, "flatten the data")
            value = policy.container(event)
            stack.append((holder, key))
            if holder is None:
                root = value
            elif not in_mapping:
                holder.append(value)
            elif key is not MERGE:  # a mapping or list to merge is complete where it ends
                holder[key] = value
            holder, key, in_mapping = value, None, kind is events.MappingStartEvent
        elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
            value = holder
            holder, key = stack.pop()
            if key is MERGE:
                policy.merge(event, holder, value)
            key, in_mapping = None, holder.__class__ is dict
        elif kind is events.DocumentEndEvent:
            return root, number
        else:
            value = policy.alias(event, stack, holder, expects_key=in_mapping and key is None)
            if not in_mapping:
                holder.append(value)
            elif key is MERGE:
                policy.merge(event, holder, value)
            else:
                holder[key] = value
            key = None
    raise Refused(event, TOO_LARGE, f"more than {policy.max_values} values in one file", "split the file")
