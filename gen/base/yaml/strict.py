"""YAML text into plain data, for the files that job authors and platform owners write.

Only mappings, lists and strings come out: `1e-3`, `on` or `010` stays that text until a model decides its type.
Anchors, aliases and tags are refused.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without exporting it
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import AliasEvent, MappingStartEvent

from gen.base.codes import files as codes
from gen.base.findings import Findings, Location, Respell
from gen.base.regex import regex
from gen.base.yaml.events import Policy, Refused, Stack, read_events
from gen.base.yaml.places import FirstKeys
from gen.base.yaml.yaml_errors import explained, location, lookalikes

if TYPE_CHECKING:
    import re

    from gen.base.codes import Code

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
        found.error(codes.INVALID_YAML, wrong.location(file), wrong.message, wrong.hint, fixes=wrong.fixes)
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

    def container(self, event: Any) -> Any:
        if event.tag is not None or event.anchor is not None:
            raise _refused_mark(event)
        return {} if event.__class__ is MappingStartEvent else []

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
