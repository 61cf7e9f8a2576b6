"""Changes of a text that leave the rest of it unchanged, byte by byte.

Reading and writing the whole file would change its layout. The marks of the YAML reader are the position of a value.
Each possible change of the text there is tried on the whole file, and accepted only if the reader then returns exactly
the expected data. Strings are written without quotes if the reader returns the same string.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from gen.base import Findings, Route, regex
from gen.base.yaml.source import node_of
from gen.base.yaml.strict import Data, Plain, parse
from gen.edit.change import Change, EditError, changed

# characters that JSON does not escape, but YAML readers reject or take for line breaks, or terminals reorder
_ESCAPED = regex("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")

_SPECIAL = ("=", "<<")
"""Strings with a meaning in YAML 1.1 that some readers reject and others apply."""


def scalar(text: str, *, flow: bool, style: str | None = None) -> str:
    """The text as a value after `key: `, on one line. `style` is the quote of the previous value, if any."""
    if style != '"' and text.isprintable():
        if style is None and _plain(text, flow=flow):
            return text
        return "'" + text.replace("'", "''") + "'"
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _plain(text: str, *, flow: bool) -> bool:
    """Whether the text needs no quotes, as a value and as a key."""
    documents = [f"{text}: {text}\n", f"{{{text}: {text}}}"] if flow else [f"{text}: {text}\n"]
    return text not in _SPECIAL and all(_reads_as(document, text) for document in documents)


def _reads_as(document: str, text: str) -> bool:
    read = parse(document, "", Findings())
    return isinstance(read, dict) and list(read.items()) == [(text, text)] and isinstance(read[text], Plain)


_BREAK = regex(r"\r\n|\n|\r")
_REST = regex(r"[^\r\n]*")
_HEADER = regex(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)?")
EMPTY = "{}"


class Splice(Struct, frozen=True):
    """Replacement of the text between two indices."""

    start: int
    end: int
    new: str

    def on(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def edited(text: str, change: Change) -> str:
    """The changed text, or the same text if it has the value already. EditError if the change is impossible."""
    before = parse(text, "", Findings())
    wanted = changed(before, change)
    if before is None or wanted is before:
        return text
    for splice in _Place(text).splices(change):
        new = splice.on(text)
        if parse(new, "", Findings()) == wanted:
            return new
    raise EditError("this value is written in a form that cannot be edited safely", "edit the file", change.route)


def renamed(text: str, route: Route, name: str) -> str:
    """The text with another key for the value at a route. EditError if there is no such value, or if it has the key."""
    before = parse(text, "", Findings())
    wanted = _with_name(before, route, name)
    for splice in _Place(text).renames(route, name) if wanted is not None else ():
        new = splice.on(text)
        if parse(new, "", Findings()) == wanted:
            return new
    raise EditError("this field cannot be renamed safely", "edit the file", route)


def comment_at(text: str, route: Route) -> str:
    """The comment behind the value at a route, with the blanks before it; empty if there is none."""
    rest = _Place(text).rest_of_line(route)
    return rest if rest.lstrip().startswith("#") else ""


def with_comment(text: str, route: Route, comment: str) -> str:
    """The text with a comment behind the value at a route. EditError if there is none, or no place for it."""
    place = _Place(text)
    rest, end = place.rest_of_line(route), place.end_of(route)
    new = Splice(end, end + len(rest), comment).on(text)
    if not comment or rest.strip() or parse(new, "", Findings()) != parse(text, "", Findings()):
        raise EditError("the comment behind the value would be lost", "edit the file", route)
    return new


def _with_name(data: Data | None, route: Route, name: str) -> Data | None:
    """The data with another key; None if that is impossible."""
    step, *rest = route
    inner = data[step] if isinstance(data, dict) and step in data else None
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        inner = data[step]
    if inner is None or (not rest and (not isinstance(data, dict) or name in data)):
        return None
    changed = _with_name(inner, tuple(rest), name) if rest else inner
    if changed is None:
        return None
    if isinstance(data, list):
        return [changed if index == step else value for index, value in enumerate(data)]
    assert isinstance(data, dict)  # a value has one of the two around it
    return {
        (name if key == step and not rest else key): changed if key == step else value for key, value in data.items()
    }


class _Entry(Struct, frozen=True):
    """A node and its position: in a mapping with `key`, in a list, or the root if `parent` is None."""

    parent: Any
    key: Any
    value: Any


class _Place:
    """The nodes of a text, and the possible changes of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root: Any = node_of(text)

    def splices(self, change: Change) -> Iterator[Splice]:
        trail = self._trail(change)
        missing = [str(step) for step in change.route[len(trail) - 1 :]]
        if change.value is None:
            yield from self._removals(trail)
        elif change.append and not missing and isinstance(trail[-1].value, SequenceNode) and trail[-1].value.value:
            yield self._addition(trail[-1].value, change.value)
        elif change.append and missing:
            yield from self.splices(Change(change.route, [change.value]))
        elif change.append:
            yield from self._replacements(trail[-1], _text([change.value], flow=self._flow(trail[-1])))
        elif not missing:
            style = trail[-1].value.style if isinstance(trail[-1].value, ScalarNode) else None
            style = style if style in ("'", '"') else None
            yield from self._replacements(trail[-1], _text(change.value, flow=self._flow(trail[-1]), style=style))
        elif isinstance(trail[-1].value, MappingNode):
            yield from self._insertions(trail[-1].value, missing, change.value)
        else:  # `key:` without a value
            yield from self._replacements(trail[-1], _flow_mapping(missing, change.value))

    def renames(self, route: Route, name: str) -> Iterator[Splice]:
        key = self._trail(Change(route, None))[-1].key
        if key is not None:
            yield Splice(key.start_mark.index, key.end_mark.index, scalar(name, flow=True))

    def end_of(self, route: Route) -> int:
        """Index after the value at a route."""
        return self._end(self._trail(Change(route, None))[-1].value)

    def rest_of_line(self, route: Route) -> str:
        """The text between the value at a route and the end of the line."""
        end = self.end_of(route)
        return self.text[end : self._line_end(end)]

    def _trail(self, change: Change) -> list[_Entry]:
        """The document, then the node of each step of the route that exists."""
        trail = [_Entry(None, None, self.root)]
        for step in change.route:
            node = trail[-1].value
            if isinstance(node, SequenceNode):
                trail.append(_Entry(node, None, node.value[int(step)]))
                continue
            pairs = node.value if isinstance(node, MappingNode) else []
            pair = next(((key, value) for key, value in pairs if key.value == step), None)
            if pair is None:
                break
            trail.append(_Entry(node, *pair))
        return trail

    def _replacements(self, entry: _Entry, new: str) -> Iterator[Splice]:
        node = entry.value
        start, end = node.start_mark.index, self._end(node)
        if isinstance(node, ScalarNode):
            if node.style in ("|", ">"):
                header = _HEADER.match(self.text, start)
                yield Splice(start, end, new + (header[1] or "" if header else ""))
            elif start == end:
                yield Splice(start, end, f" {new}")
                yield Splice(start, end, f": {new}")  # `{key}`
            else:
                yield Splice(start, end, new)
        elif node.flow_style or entry.key is None:
            yield Splice(start, end, new)
        else:
            colon = self.text.index(":", entry.key.end_mark.index) + 1
            before = self.text[colon : start - node.start_mark.column]  # comments before the line of the first entry
            yield Splice(colon, end, f" {new}{before.rstrip()}")

    def _insertions(self, mapping: Any, keys: list[str], value: Data) -> Iterator[Splice]:
        if mapping.flow_style:
            entry = _flow_entry(keys, value)
            at = self._end(mapping.value[-1][1]) if mapping.value else mapping.start_mark.index + 1
            yield Splice(at, at, f", {entry}" if mapping.value else entry)
            return
        line_break = match[0] if (match := _BREAK.search(self.text)) else "\n"
        indent = " " * mapping.start_mark.column
        step = " " * self._indentation()
        lines = [f"{step * depth}{scalar(key, flow=False)}:" for depth, key in enumerate(keys)]
        lines[-1] += f" {_text(value, flow=False)}"
        at = self._line_end(self._end(mapping))
        yield Splice(at, at, "".join(f"{line_break}{indent}{line}" for line in lines))
        first = mapping.start_mark.index  # if the end does not work, as after a text that continues to the end
        yield Splice(first, first, "".join(f"{line}{line_break}{indent}" for line in lines))

    def _addition(self, sequence: Any, value: Data) -> Splice:
        """One more entry behind the last one of a list."""
        at = self._end(sequence.value[-1])
        if sequence.flow_style:
            return Splice(at, at, f", {_text(value, flow=True)}")
        at = self._line_end(at)
        line_break = match[0] if (match := _BREAK.search(self.text)) else "\n"
        return Splice(at, at, f"{line_break}{' ' * sequence.start_mark.column}- {_text(value, flow=False)}")

    def _removals(self, trail: list[_Entry]) -> Iterator[Splice]:
        entry = trail[-1]
        pairs = entry.parent.value
        index = next(index for index, (key, _) in enumerate(pairs) if key is entry.key)
        start, end = entry.key.start_mark.index, self._end(entry.value)
        if len(pairs) == 1:
            yield from self._replacements(trail[-2], EMPTY)
        elif entry.parent.flow_style and index:
            yield Splice(self._end(pairs[index - 1][1]), end, "")
        elif entry.parent.flow_style:
            yield Splice(start, pairs[1][0].start_mark.index, "")
        elif (indent := start - entry.key.start_mark.column) >= 0 and not self.text[indent:start].strip(" "):
            after = self._line_end(end)
            line_break = _BREAK.match(self.text, after)
            yield Splice(indent, line_break.end() if line_break else after, "")
        elif index + 1 < len(pairs):
            yield Splice(start, pairs[index + 1][0].start_mark.index, "")

    def _end(self, node: Any) -> int:
        """Index after the last character of a value, without the comments and empty lines that the parser includes."""
        if isinstance(node, ScalarNode):
            start, end = node.start_mark.index, node.end_mark.index
            return start + len(self.text[start:end].rstrip(" \r\n")) if node.style in ("|", ">") else int(end)
        if node.flow_style or not node.value:
            return int(node.end_mark.index)
        last = node.value[-1]
        return self._end(last[1] if isinstance(last, tuple) else last)

    def _line_end(self, index: int) -> int:
        match = _REST.match(self.text, index)
        return match.end() if match else len(self.text)

    def _indentation(self) -> int:
        """Indentation of the first nested mapping, relative to its parent."""
        inner = (value for _, value in self.root.value if isinstance(value, MappingNode) and not value.flow_style)
        return int(next((node.start_mark.column - self.root.start_mark.column for node in inner), 0) or 2)

    @staticmethod
    def _flow(entry: _Entry) -> bool:
        return bool(entry.parent is not None and entry.parent.flow_style)


def _text(value: Data, *, flow: bool, style: str | None = None) -> str:
    """A value on one line: a list or a mapping in brackets."""
    if isinstance(value, str):
        return scalar(value, flow=flow, style=style)
    if isinstance(value, list):
        return f"[{', '.join(_text(entry, flow=True) for entry in value)}]"
    entries = (f"{scalar(key, flow=True)}: {_text(entry, flow=True)}" for key, entry in value.items())
    return f"{{{', '.join(entries)}}}"


def flow(value: Data) -> str:
    """A value as one line of a message."""
    return value if isinstance(value, str) else _text(value, flow=True)


def _flow_entry(keys: list[str], value: Data) -> str:
    key, *inner = keys
    return f"{scalar(key, flow=True)}: {_flow_mapping(inner, value) if inner else _text(value, flow=True)}"


def _flow_mapping(keys: list[str], value: Data) -> str:
    return f"{{{_flow_entry(keys, value)}}}"
