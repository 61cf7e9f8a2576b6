"""YAML text into plain data, for the files that job authors and platform owners write.

Only mappings, lists and strings come out: `1e-3`, `on` or `010` stays that text until a model decides its type.
Anchors, aliases and tags are refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from yaml import events
from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without exporting it
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import AliasEvent

from gen.base.codes import Code
from gen.base.codes import files as codes
from gen.base.codes.files import INVALID_KEY, TOO_DEEP, TOO_LARGE
from gen.base.findings import Findings, Location, Respell
from gen.base.lazy import regex
from gen.base.yaml.places import FirstKeys
from gen.base.yaml.yaml_errors import explained, location, lookalikes

if TYPE_CHECKING:
    import re

    from gen.base.codes import Code


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
        """A new mapping or list, with a tag or an anchor."""

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
            if event.tag is not None or event.anchor is not None:
                value = policy.container(event)
            else:
                value = {} if kind is events.MappingStartEvent else []
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


_MAX_KNOWN = 50_000
MAX_LOOKALIKES = 20
"""Findings of a file. More have the same cause."""

Data = dict[str, "Data"] | list["Data"] | str
"""The content of a file before a model reads it."""


class Plain(str):
    """A scalar without quotes: only these may be read as a number or a boolean."""

    __slots__ = ()


def parse(text: str, file: str, found: Findings) -> Data | None:
    """The one document in `text`, or None with a finding if the text is unreadable."""
    if (refused := _forbidden_character(text, file)) is not None:
        found.error(*refused)
        return None
    try:
        for _, document in read_events(CParser(text), policy := StrictPolicy(file, found, text)):
            policy.document = document
    except Refused as problem:
        _report_refused(problem, text, file, found)
        return None
    except MarkedYAMLError as error:
        wrong = explained(error, text)
        found.error(wrong.code, wrong.location(file), wrong.message, wrong.hint, fixes=wrong.fixes)
        return None
    except YAMLError as error:  # pragma: no cover - libyaml gives a mark for every error it knows
        found.error(codes.INVALID_YAML, Location(file), f"invalid YAML: {error}", "check the encoding of the file")
        return None
    if not policy.started or (isinstance(policy.document, Plain) and not policy.document):
        found.error(codes.EMPTY_FILE, Location(file), "the file is empty", "write a mapping of fields")
        return None
    wrong_characters = list(lookalikes(text))
    for item in wrong_characters[:MAX_LOOKALIKES]:
        found.error(codes.LOOKALIKE, location(file, item.mark), item.message, item.hint)
    return None if wrong_characters else policy.document


def _of(problem: Refused, file: str) -> tuple[Code, Location, str, str]:
    return problem.code, location(file, problem.mark), problem.message, problem.hint


def _report_refused(problem: Refused, text: str, file: str, found: Findings) -> None:
    """Report an expression without quotes, which YAML reads as a mapping with a mapping as its key, or as refused."""
    index = problem.mark.index
    if problem.code is not codes.INVALID_KEY or text[index - 1 : index + 1] != "{{":
        found.error(*_of(problem, file))
        return
    place = Location(file, problem.mark.line + 1, problem.mark.column)
    message = "`{{ … }}` without quotes is a mapping in YAML"
    value = _EXPRESSION.match(text, index - 1)
    fixes = (Respell(place.line, place.column, value[0], f'"{value[0]}"'),) if value is not None else ()
    found.error(codes.INVALID_KEY, place, message, 'quote the value: `"{{ … }}"`', fixes=fixes)


_EXPRESSION = regex(r"\{\{[^{}\"\\\n]*\}\}(?=[ \t]*(?:[\r\n,}\]]|\Z|[ \t]#))")
"""An expression that is a whole value."""


class StrictPolicy(Policy):
    """One document without anchors, aliases and tags. Every scalar stays text."""

    max_depth: ClassVar[int] = 64
    max_values: ClassVar[int] = 20_000
    known: ClassVar[dict[str, Plain]] = {}
    """Plain scalars seen before: files repeat the same few."""
    texts: ClassVar[Collection[type]] = (str, Plain)
    checks_quoted: ClassVar[bool] = True

    __slots__ = ("document", "file", "first", "found", "started", "text")

    def __init__(self, file: str, found: Findings, text: str) -> None:
        self.file, self.found = file, found
        self.text = text
        self.first: FirstKeys | None = None
        self.started = False
        self.document: Data = ""

    def start(self, event: object) -> None:
        if self.started:
            message = "more than one YAML document in the file"
            raise Refused(event, codes.MANY_DOCUMENTS, message, "keep one document per file")
        self.started = True

    def plain(self, event: Any) -> Plain:
        value = Plain(event.value)
        if len(self.known) < _MAX_KNOWN:
            self.known[event.value] = value
        return value

    def quoted(self, event: Any) -> None:
        # the text of other scalars was checked before parsing
        if (match := _NEVER.search(event.value)) is not None:
            raise Refused(event, codes.CONTROL_CHARACTER, _invalid_character(match), "remove it")

    def marked(self, event: object) -> NoReturn:
        raise _refused_mark(event)

    def key(self, event: object, value: object, holder: dict[str, Any]) -> str:
        key = str(value)
        if key == "<<" and isinstance(value, Plain):
            raise Refused(
                event, codes.ANCHOR, "merge keys (`<<`) are not supported", "repeat the fields, or quote the key"
            )
        if key in holder:
            self.first = self.first or FirstKeys(self.text, self.file, lambda key: str(key.value))
            self.first.report(event, key, self.found)
        return key

    def container(self, event: object) -> NoReturn:
        raise _refused_mark(event)

    def alias(self, event: object, stack: Stack, holder: object, *, expects_key: bool) -> NoReturn:
        raise _refused_mark(event)

    def merge(self, event: object, holder: dict[str, Any], value: object) -> NoReturn:
        raise _refused_mark(event)


def _refused_mark(event: Any) -> Refused:
    if isinstance(event, AliasEvent) or event.anchor is not None:
        message = "anchors and aliases (`&`, `*`) are not supported"
        return Refused(event, codes.ANCHOR, message, "repeat the value, or quote it")
    hint = "remove the tag; quote the value if it starts with `!`"
    return Refused(event, codes.TAG, f"unsupported tag `{event.tag}`", hint)


_CONTROL = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FORBIDDEN = regex(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_NEVER = regex("[\0\ufdd0-\ufdef]")
"""Refused as escapes, too: no process can receive a NUL, and gen uses noncharacters itself."""


def forbidden_character(text: str) -> re.Match[str] | None:
    """The first control character, or character that shows a reviewer another order than programs read."""
    return (_CONTROL if text.isascii() else _FORBIDDEN).search(text)


def _forbidden_character(text: str, file: str) -> tuple[Code, Location, str, str] | None:
    if (match := forbidden_character(text)) is None:
        return None
    before = text[: match.start()]
    place = Location(file, before.count("\n") + 1, match.start() - (before.rfind("\n") + 1) + 1)
    return codes.CONTROL_CHARACTER, place, _invalid_character(match), "remove it"


def _invalid_character(match: re.Match[str]) -> str:
    return f"invalid character U+{ord(match[0]):04X}"


_NUMERIC = frozenset("+-.0123456789")
_INTEGER = regex(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = regex(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,2})?")
MAX_EXACT = 2**53
"""Up to here each float equals exactly one integer."""
_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


def typed(data: Data) -> Any:
    """The same data with the numbers, booleans and nulls of the YAML 1.2 core schema in place of plain scalars.

    For the parts of a file that are Kubernetes data, such as patches.
    """
    if isinstance(data, dict):
        return {key: typed(value) for key, value in data.items()}
    if isinstance(data, list):
        return [typed(value) for value in data]
    return _scalar(data) if isinstance(data, Plain) else data


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return str(text)
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and not _leading_zero(text):
        return _number(float(text))
    return str(text)


def _number(value: float) -> float:
    """`3.0` is the integer 3, as for a server that gets it as JSON."""
    return int(value) if value.is_integer() and abs(value) < MAX_EXACT else value


def _leading_zero(text: str) -> bool:
    """`010` is 8, 10 or text, depending on the reader: it stays text."""
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
