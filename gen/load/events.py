"""The YAML event reader: libyaml's events into plain data. A policy decides on allowed features and values of scalars.

It uses events instead of nodes, because libyaml's composer recurses and crashes on 200,000 opening brackets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from gen.findings.files import INVALID_KEY, TOO_DEEP, TOO_LARGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.findings.code import Code

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
    checks_quoted: ClassVar[bool] = False
    """Whether `quoted` is called for each scalar in double quotes."""

    @abstractmethod
    def start(self, event: Any) -> None:
        """A document starts."""

    @abstractmethod
    def plain(self, event: Any) -> Any:
        """The value of a scalar without quotes, tag and anchor."""

    @abstractmethod
    def quoted(self, event: Any) -> None:
        """Check a scalar in double quotes, which may have escapes."""

    @abstractmethod
    def marked(self, event: Any) -> Any:
        """The value of a scalar with a tag or an anchor."""

    @abstractmethod
    def key(self, event: Any, value: Any, holder: dict[str, Any]) -> Any:
        """The key of a scalar with this value, or `MERGE`."""

    @abstractmethod
    def container(self, event: Any) -> Any:
        """A new mapping or list."""

    @abstractmethod
    def alias(self, event: Any, stack: Stack, holder: Any, *, expects_key: bool) -> Any:
        """The value of an alias."""

    @abstractmethod
    def merge(self, event: Any, holder: dict[str, Any], value: Any) -> None:
        """Add the keys of the value of `<<`; `event` is the alias or the scalar, or the end of a mapping or list."""


def read_events(parser: Any, policy: Policy) -> Iterator[tuple[Any, Any]]:
    """Each document of a stream, with the mark of its start. Raises `Refused`, and the parser's YAMLError."""
    get = parser.get_event
    get()  # the stream starts
    values = 0
    while (event := get()).__class__ is not StreamEndEvent:
        policy.start(event)
        document, values = _document(get, policy, values)
        yield event.start_mark, document


def _document(get: Any, policy: Policy, values: int) -> tuple[Any, int]:  # noqa: C901, PLR0912, PLR0915 - a call for each event would take half as long again
    """The next document, and the number of values up to its end."""
    known, quoted = policy.known, policy.checks_quoted
    stack: Stack = []
    holder: Any = None
    key: Any = None
    root: Any = None
    for number in range(values, policy.max_values):
        event = get()
        kind = event.__class__
        if kind is ScalarEvent:
            value = event.value
            if event.tag is not None or event.anchor is not None:
                value = policy.marked(event)
            elif event.implicit[0]:
                value = known.get(value, known)
                if value is known:
                    value = policy.plain(event)
            elif quoted and event.style == '"':
                policy.quoted(event)
            if key is None and holder.__class__ is dict:
                simple = value.__class__ is str and value not in holder and value != "<<"
                key = value if simple else policy.key(event, value, holder)
                continue
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if key is None and holder.__class__ is dict:
                message = "invalid key: expected a string, found a list or a mapping"
                raise Refused(event, INVALID_KEY, message, "quote the key")
            if len(stack) >= policy.max_depth:
                message = f"nested deeper than {policy.max_depth} levels"
                raise Refused(event, TOO_DEEP, message, "flatten the data")
            value = policy.container(event)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            value = holder
            holder, key = stack.pop()
            if key is MERGE:
                policy.merge(event, holder, value)
                key = None
            continue
        elif kind is DocumentEndEvent:
            return root, number
        else:
            value = policy.alias(event, stack, holder, expects_key=key is None and holder.__class__ is dict)
        if holder is None:
            root = value
        elif holder.__class__ is not dict:
            holder.append(value)
        elif key is not MERGE:
            holder[key] = value
            key = None
        elif kind is AliasEvent or kind is ScalarEvent:
            policy.merge(event, holder, value)
            key = None
        # else it is merged where it ends
        if kind is MappingStartEvent or kind is SequenceStartEvent:
            stack.append((holder, key))
            holder, key = value, None
    raise Refused(event, TOO_LARGE, f"more than {policy.max_values} values in one file", "split the file")
