"""Manifests as `sigs.k8s.io/yaml` reads them: YAML 1.1 with anchors, aliases and merges, within limits."""

from __future__ import annotations

import base64
import math
import re
from calendar import monthrange
from dataclasses import dataclass, field
from operator import lt
from typing import TYPE_CHECKING, Any, ClassVar

from yaml.events import MappingStartEvent, SequenceEndEvent

from gen.diagnostics import Location
from gen.findings.files import ANCHOR, DUPLICATE_KEY, IGNORED_DOCUMENT, INVALID_KEY, NOT_A_NUMBER, TAG, TOO_LARGE
from gen.load.events import MERGE, Policy, Refused, Stack
from gen.load.yaml11 import CACHE, MAX_CACHED, resolved
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Findings
    from gen.kubernetes import Body
    from gen.load.first_keys import FirstKeys

_TAGS = "tag:yaml.org,2002:"


@dataclass(slots=True)
class ManifestPolicy(Policy):
    """Expanded aliases count towards the limits."""

    max_depth: ClassVar[int] = 200
    max_values: ClassVar[int] = 2_000_000
    known: ClassVar[Mapping[str, Any]] = CACHE

    file: str
    found: Findings
    text: str = ""
    started: bool = False
    anchors: dict[str, Any] = field(default_factory=dict)
    merged: dict[int, tuple[Body, set[str]]] = field(default_factory=dict)
    """Mappings by identity, with the keys that `<<` added to them and that their own keys may replace."""
    first: FirstKeys | None = None
    expanded: int = 0
    """Number of values in expanded aliases and merges."""

    def start(self, event: Any) -> None:
        self.anchors.clear()
        if self.started and self.text[event.start_mark.index - 1] != "\n":  # libyaml knows other ends of lines
            message = "kubectl ignores this document: it is not separated by a line `---`"
            self.found.warning(IGNORED_DOCUMENT, self._place(event), message, "use line feeds as ends of lines")
        self.started = True

    def _place(self, event: Any) -> Location:
        return Location(self.file, event.start_mark.line + 1, event.start_mark.column + 1)

    def quoted(self, event: Any) -> None:
        """Every character is allowed."""

    def plain(self, event: Any) -> Any:
        value = resolved(event.value)
        if isinstance(value, float) and not math.isfinite(value):
            raise Refused(event, NOT_A_NUMBER, f"`{event.value[:40]}` is not a valid JSON number", "quote it")
        if len(CACHE) < MAX_CACHED:
            CACHE[event.value] = value
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
            from gen.load.first_keys import FirstKeys  # noqa: PLC0415 - hardly any file has one

            self.first = self.first or FirstKeys(self.text, self.file, _key)
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


def _text(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _key(event: Any) -> str:
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


def extent(value: Any, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """The number of values in a value with its aliases expanded, and the number of levels."""
    if not isinstance(value, dict | list):
        return 1, 0
    if id(value) not in known:
        inner = [extent(one, known) for one in (value.values() if isinstance(value, dict) else value)]
        known[id(value)] = 1 + sum(size for size, _ in inner), 1 + max((depth for _, depth in inner), default=0)
    return known[id(value)]
