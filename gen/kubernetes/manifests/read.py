"""Manifests of any origin, read as `kubectl`, Argo CD and Flux read them: streams of YAML 1.1, or JSON.

Scalars follow `sigs.k8s.io/yaml` and not YAML 1.2: `yes` is true, `010` is 8, `1e3` is a number, a date is text.
Anchors, aliases and merges have limits.
"""

from __future__ import annotations

import base64
import json
import math
import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from functools import cached_property
from operator import lt
from typing import Any, ClassVar, Final

from msgspec import Struct
from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without saying so
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import MappingStartEvent, SequenceEndEvent
from yaml.reader import ReaderError

from gen.base import Findings, Location, Route, regex
from gen.base.codes.files import (
    ANCHOR,
    DUPLICATE_KEY,
    IGNORED_DOCUMENT,
    INVALID_KEY,
    INVALID_YAML,
    NOT_A_NUMBER,
    NOT_UTF_8,
    TAG,
    TOO_LARGE,
)
from gen.base.yaml.places import FirstKeys, Places
from gen.base.yaml.strict import MERGE, Policy, Refused, Stack, read_events
from gen.base.yaml.yaml_errors import explained, location
from gen.kubernetes.manifests.go_yaml import as_kubectl
from gen.kubernetes.objects import Body


def _forms(word: str) -> tuple[str, ...]:
    """The spellings of a word that is not text in YAML 1.1."""
    return word, word.title(), word.upper()


_NULLS = {"", "~", "null", "Null", "NULL"}
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(_NULLS),
    **{form: True for word in ("y", "yes", "on", "true") for form in _forms(word)},
    **{form: False for word in ("n", "no", "off", "false") for form in _forms(word)},
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"), math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_NUMERIC = frozenset("+-.0123456789")
_INT = regex(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = regex(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MAX_DIGITS = 300
_MAX_BITS = 1023
"""Length of the largest finite number."""
_MAX_CACHED = 50_000
_CACHE: dict[str, Any] = {text: value for text, value in _WORDS.items() if not isinstance(value, float)}
"""Plain scalars seen before: manifests repeat the same few."""
_TAGS = "tag:yaml.org,2002:"


class ManifestPolicy(Policy):
    """Expanded aliases count towards the limits."""

    __slots__ = ("anchors", "expanded", "file", "first", "found", "merged", "started", "text")

    max_depth: ClassVar[int] = 200
    max_values: ClassVar[int] = 2_000_000
    known: ClassVar[Mapping[str, Any]] = _CACHE

    def __init__(self, file: str, found: Findings, text: str = "") -> None:
        self.file = file
        self.found = found
        self.text = text
        self.started = False
        self.anchors: dict[str, Any] = {}
        self.merged: dict[int, tuple[Body, set[str]]] = {}
        """Mappings by identity, with the keys that `<<` added to them and that their own keys may replace."""
        self.first: FirstKeys | None = None
        self.expanded = 0
        """Number of values in expanded aliases and merges."""

    @property
    def is_unique(self) -> bool:
        """Whether no mapping read so far has two equal keys or a merge key."""
        return self.first is None and not self.merged

    def start(self, event: Any) -> None:
        self.anchors.clear()
        if self.started and self.text[event.start_mark.index - 1] != "\n":  # libyaml knows other ends of lines
            message = "kubectl ignores this document: it is not separated by a line `---`"
            self.found.warning(IGNORED_DOCUMENT, self._place(event), message, "use line feeds as ends of lines")
        self.started = True

    def _place(self, event: Any) -> Location:
        return Location(self.file, event.start_mark.line + 1, event.start_mark.column + 1)

    def quoted(self, event: object) -> None:
        """Every character is allowed."""

    def plain(self, event: Any) -> Any:
        value = resolved(event.value)
        if isinstance(value, float) and not math.isfinite(value):
            raise Refused(event, NOT_A_NUMBER, f"`{event.value[:40]}` is not a valid JSON number", "quote it")
        if len(_CACHE) < _MAX_CACHED:
            _CACHE[event.value] = value
        return value

    def marked(self, event: Any) -> Any:
        tag = event.tag.removeprefix(_TAGS) if event.tag is not None else "str" if not event.implicit[0] else ""
        value: Any = event.value
        if tag in {"", "int", "float", "bool", "null"}:
            value = self.plain(event)
        elif tag == "binary":
            value = self._binary(event)
        elif tag not in _PLAIN_TAGS:
            self._ignore_tag(event)
        if (tag in _DECODED and value.__class__ not in _DECODED[tag]) or (tag == "timestamp" and not _is_time(value)):
            raise Refused(event, TAG, f"`{event.value[:40]}` is not a valid `!!{tag}`", "remove the tag")
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def key(self, event: Any, value: Any, holder: Body) -> Any:
        if event.value == "<<" and (event.implicit[0] or event.tag == f"{_TAGS}merge"):
            return MERGE
        if value is None:
            raise Refused(event, INVALID_KEY, "missing key", "write a key before the `:`")
        key = _text(value)
        _, from_merge = self.merged.get(id(holder), (holder, set()))
        if key in holder and key not in from_merge:
            self.first = self.first or FirstKeys(self.text, self.file, key_of)
            self.first.report(event, key, self.found)
        from_merge.discard(key)
        return key

    def container(self, event: Any) -> Any:
        if event.tag not in {None, f"{_TAGS}map", f"{_TAGS}seq"}:
            self._ignore_tag(event)
        value: Any = {} if event.__class__ is MappingStartEvent else []
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def _binary(self, event: Any) -> str:
        """The text in base64, which go-yaml decodes; JSON has no bytes."""
        try:
            decoded = base64.b64decode(event.value.replace("\n", "").replace("\r", ""), validate=True)
        except ValueError:
            hint = "encode the value with `base64`, or remove the tag"
            raise Refused(event, TAG, "the value of `!!binary` is not valid base64", hint) from None
        text = decoded.decode("utf-8", "replace")
        if text.encode() != decoded:
            message = "kubectl replaces the bytes of `!!binary` that are not UTF-8"
            self.found.warning(TAG, self._place(event), message, "use `binaryData` of a ConfigMap, without the tag")
        return text

    def _ignore_tag(self, event: Any) -> None:
        """Warn about a tag that changes nothing for kubectl. Tags that run code in other readers are never accepted."""
        if event.tag.startswith(f"{_TAGS}python/"):
            raise Refused(event, TAG, f"unsupported tag `{event.tag}`", "remove the tag")
        message = f"kubectl ignores the tag `{event.tag.replace(_TAGS, '!!')}`"
        self.found.warning(TAG, self._place(event), message, "remove the tag, or replace it before you apply the file")

    def alias(self, event: Any, stack: Stack, holder: Any, *, expects_key: bool) -> Any:
        if event.anchor not in self.anchors:
            message = f"undefined alias `*{event.anchor}`"
            raise Refused(event, ANCHOR, message, "correct the name, or define the anchor")
        value = self.anchors[event.anchor]
        if expects_key:
            raise Refused(event, INVALID_KEY, "invalid key: expected a string, found an alias", "write the key")
        if value.__class__ in {dict, list}:
            if value is holder or any(value is one for one, _ in stack):
                raise Refused(event, ANCHOR, f"`*{event.anchor}` refers to itself", "write the value")
            size, depth = extent(value, {})
            self.expanded += size
            if len(stack) + depth > self.max_depth or self.expanded > self.max_values:
                message = "document is too large with its aliases expanded"
                raise Refused(event, TOO_LARGE, message, "use fewer aliases")
        return value

    def merge(self, event: Any, holder: Body, value: Any) -> None:
        for one in value if event.__class__ is SequenceEndEvent else [value]:
            if not isinstance(one, dict):
                hint = "use a mapping, an alias of one, or a list of them"
                raise Refused(event, INVALID_KEY, "`<<` expects a mapping", hint)
            self.expanded += len(one)
            if self.expanded > self.max_values:
                raise Refused(event, TOO_LARGE, "document is too large with its merges expanded", "merge less")
            new = {key: inner for key, inner in one.items() if key not in holder}
            merged = self.merged.setdefault(id(holder), (holder, set()))[1]
            for key in (key for key in one if key in holder and key not in merged):
                message = f"`<<` sets the key `{key}` again"
                self.found.error(DUPLICATE_KEY, self._place(event), message, "move `<<` above the other keys")
            merged.update(new)
            holder.update(new)


def resolved(text: str) -> Any:
    """The value of a plain scalar in YAML 1.1 as go-yaml 2 reads it."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMERIC:
        plain = text.replace("_", "")
        if _INT.fullmatch(plain):
            return _whole(plain)
        if _FLOAT.fullmatch(plain):
            return float(plain)
    return text


def _whole(text: str) -> int | float:
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.removeprefix("+"))
    if len(digits) > _MAX_DIGITS:
        return float(digits) * sign if digits.isdecimal() else math.inf
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567"
    value = sign * (int(digits, 8) if octal else int(digits, 0))
    if -(2**63) <= value < 2**64:
        return value
    return float(value) if value.bit_length() <= _MAX_BITS else math.inf


def _text(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def key_of(event: Any) -> str:
    """The key of a scalar that the reader accepted."""
    return _text(resolved(event.value) if event.implicit[0] else event.value)


_DECODED: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}
"""Types of values that a tag can have."""
_PLAIN_TAGS = frozenset({"str", "!", "timestamp", "merge"})
_TIME = regex(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?)?"
)


def _is_time(value: str) -> bool:
    """Whether go-yaml reads a text as a time, see `allowedTimestampFormats` of its `resolve.go`."""
    if _TIME.fullmatch(value) is None:
        return False
    year, month, day, *clock = (int(part) for part in re.findall(r"[0-9]+", value)[:6])
    limits = (24, 60, 60)
    return 0 < month <= 12 and 0 < day <= monthrange(year, month)[1] and all(map(lt, clock, limits))  # noqa: PLR2004 - months


def extent(value: object, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """The number of values in a value with its aliases expanded, and the number of levels."""
    if not isinstance(value, dict | list):
        return 1, 0
    if id(value) not in known:
        inner = [extent(one, known) for one in (value.values() if isinstance(value, dict) else value)]
        known[id(value)] = 1 + sum(size for size, _ in inner), 1 + max((depth for _, depth in inner), default=0)
    return known[id(value)]


MAX_BYTES = 16 << 20
MAX_PLACED = 2 << 20
"""Largest document with places that are looked up, in characters."""


class Manifests(Struct, frozen=True, dict=True):
    """The documents of one file. Places are looked up only when a finding needs one."""

    file: str
    text: str
    documents: tuple[Any, ...]
    begins: tuple[tuple[int, int], ...] = ((0, 0),)
    """For each document: the offset of its text, and its line, both counted from 0."""
    is_unique: bool = True
    """Whether no mapping has two equal keys or a merge key."""
    is_yaml: bool = True

    def place(self, document: int, route: Route, *, key: bool = False) -> Location:
        """The place of the value at a route, or of its key; else of the nearest value around it.

        For a document of more than 2 MiB, its start: the places would take hundreds of MiB.
        """
        return self.place_of_existing(document, _existing(self.documents[document], route), key=key)

    def place_of_existing(self, document: int, route: Route, *, key: bool = False) -> Location:
        """The place of a value that exists. It needs only the text, and not the documents."""
        line = self.begins[document][1]
        places = self._places(document)
        mark = None if places is None else places.mark(route, key=key)
        return (
            Location(self.file, line + 1)
            if mark is None
            else Location(self.file, line + mark.line + 1, mark.column + 1)
        )

    def _places(self, document: int) -> Places | None:
        """The places in one document. Only the last is kept, because they take much memory."""
        if document not in self._known:
            begin = self.begins[document][0]
            end = self.begins[document + 1][0] if document + 1 < len(self.begins) else len(self.text)
            placed = self.is_yaml and end - begin <= MAX_PLACED
            self._known.clear()
            self._known[document] = Places(self.text[begin:end], key_of, is_unique=self.is_unique) if placed else None
        return self._known[document]

    @cached_property
    def _known(self) -> dict[int, Places | None]:
        return {}


def _existing(value: Any, route: Route) -> Route:
    """The part of a route that exists in a value: what does not exist need not be searched for in the text."""
    for number, step in enumerate(route):
        is_there = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if not is_there:
            return route[:number]
        value = value[step]
    return route


def objects_in(document: Any) -> Iterator[tuple[Route, Any]]:
    """The objects of a document, of any type: itself, or the items of a list of any kind."""
    items = document.get("items") if isinstance(document, dict) else None
    if isinstance(items, list) and str(document.get("kind", "")).endswith("List"):
        yield from ((("items", index), item) for index, item in enumerate(items))
    else:
        yield (), document


def decoded(raw: bytes) -> str:
    """The text of a file. UnicodeDecodeError if it is not UTF-8."""
    return raw.decode("utf-8").removeprefix("\ufeff")


def read_manifests(raw: bytes, file: str, found: Findings) -> Manifests | None:
    """Every document in a file; None, with a finding, if it is unreadable."""
    if len(raw) > MAX_BYTES:
        found.error(TOO_LARGE, Location(file), f"file is larger than {MAX_BYTES >> 20} MiB", "split it")
        return None
    try:
        text = decoded(raw)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        place = Location(file, line, error.start - raw.rfind(b"\n", 0, error.start))
        found.error(NOT_UTF_8, place, "file is not UTF-8", "save it as UTF-8")
        return None
    try:
        text = as_kubectl(text, file, found)
        policy = ManifestPolicy(file, found, text)
        read = [(mark, document) for mark, document in read_events(CParser(text), policy) if document is not None]
    except Refused as problem:
        found.error(problem.code, location(file, problem.mark), *(_of_helm(text) or (problem.message, problem.hint)))
    except MarkedYAMLError as error:
        as_json = _json(text)
        if as_json is not None:
            return Manifests(file, text, (as_json,), is_yaml=False)
        wrong = explained(error, text)
        found.error(wrong.code, wrong.location(file), *(_of_helm(text) or (wrong.message, wrong.hint)))
    except ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else ""
        place = Location(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        found.error(INVALID_YAML, place, f"invalid YAML: {error.reason}", "remove the character")
    except YAMLError as error:  # pragma: no cover - libyaml gives a mark for every error it knows
        found.error(INVALID_YAML, Location(file), f"invalid YAML: {error}", "check the encoding of the file")
    else:
        begins = tuple((mark.index - mark.column, mark.line) for mark, _ in read)
        return Manifests(file, text, tuple(document for _, document in read), begins, policy.is_unique)
    return None


_HELM: Final = regex(r"\{\{-?\s*(?:[.$][A-Za-z]|(?:if|else|end|range|with|define|include|template|toYaml|tpl)\b)")


OF_HELM: Final = regex(r"\{\{[^{}\n]*(?:\.(?:Values|Release|Chart|Capabilities)\b|\b(?:include|toYaml|tpl|n?indent)\b)")
"""What only templates of Helm have, and other Go templates do not."""


def _of_helm(text: str) -> tuple[str, str] | None:
    """The message and remedy for a file that cannot be read because it is a template of Helm, or another one of Go."""
    if _HELM.search(text) is None:
        return None
    if OF_HELM.search(text) is None:
        return "a Go template is not YAML until it is rendered", "render it first, and validate the result"
    return "a template of Helm is not YAML until it is rendered", "run `helm template` first, and validate its output"


def _json(text: str) -> Any | None:
    """JSON that YAML parsers refuse: with tabs as indentation, or halves of surrogate pairs."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text, parse_int=resolved, parse_constant=_refuse)
        if extent(value, {})[1] > ManifestPolicy.max_depth:
            return None
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")  # halves of pairs become `?`
        return json.loads(whole, parse_int=resolved)
    except (ValueError, RecursionError):
        return None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a valid JSON number")


_OLD_TRUTH: Final = regex(rb"(?m)(?:^|[\s\[{,])(?i:y|n|yes|no|on|off)\s*(?:[:,\]}]|$)")


def as_go_yaml_3(raw: bytes) -> bytes:
    """A document with quotes around `y`, `no` and `on`: go-yaml 3 takes them for texts."""
    if not _OLD_TRUTH.search(raw):
        return raw
    import yaml

    text = raw.decode("utf-8", "replace")
    try:
        plain = [one for one in yaml.parse(text, yaml.CLoader) if isinstance(one, yaml.ScalarEvent) and one.implicit[0]]
    except yaml.YAMLError:
        return raw
    for one in reversed(plain):
        old = isinstance(resolved(one.value), bool) and one.value.lower() not in ("true", "false")
        if old and one.start_mark is not None and one.end_mark is not None:
            text = f'{text[: one.start_mark.index]}"{one.value}"{text[one.end_mark.index :]}'
    return text.encode()
