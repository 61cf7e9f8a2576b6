"""The objects of steps, as texts in the object that contains them.

A rendered file can have been edited by anyone, so any part of it can have any form.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from gen.base import regex
from gen.base.placeholders import RESULT, TRIAL
from gen.kubernetes.objects import Body

if TYPE_CHECKING:
    from gen.kubernetes.facts.base import Path


class Task(Struct, frozen=True, kw_only=True):
    """A task of a graph."""

    name: str
    needs: frozenset[str]
    body: Body | None
    """The object that it creates."""


class Graph(Struct, frozen=True):
    """The steps of an object. One class for each tool that runs steps."""

    at: Path
    """Route of the workflow or pipeline."""

    @property
    @abstractmethod
    def route(self) -> Path:
        """The part that contains the objects."""

    @abstractmethod
    def tasks(self, body: Body) -> tuple[Task, ...]:
        """The tasks of all graphs. ValueError if an object cannot be read."""

    @abstractmethod
    def objects(self, body: Body) -> Iterator[Body]:
        """The objects that steps create, without those that cannot be read."""

    @abstractmethod
    def without_objects(self, body: Body) -> Any:
        """The part at `route` without the objects that `objects` returns."""

    @abstractmethod
    def with_objects(self, body: Body, objects: Mapping[str, Body]) -> Body:
        """The body with the object of each step; patches of the platform can have removed its place."""


_UNSEEN = regex("[\x7f-\xa0\xad\u0600-\u0605\u2000-\u200f\u2028-\u202f\u205f-\u2069\ufdd0-\ufdef\ufeff\ufff0-\uffff]")
"""Characters that readers of YAML drop or take for the end of a line, or that are invisible.

YAML and JSON have no common escape for larger codes; the writer of files escapes a text with them as a whole.
"""
_BRACE = regex(rf"\{{(?=[{TRIAL}{RESULT}])")


def manifest_body(text: object) -> Body:
    """The object in a manifest as gen writes it. ValueError for other texts."""
    body = orjson.loads(text) if isinstance(text, str) else None
    if not isinstance(body, dict):
        raise ValueError("a step has no object")  # noqa: TRY004 - an unreadable value, and not a wrong argument
    return body


def without_templates(body: Body) -> str:
    """The object in JSON. No value of a job has two braces there, so that none becomes a template of Argo."""
    text = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode().replace("{{", r"\u007b\u007b")
    return _BRACE.sub(r"\\u007b", text)  # which would be the first of two braces


def visible(text: str) -> str:
    """The text in JSON, with escapes for characters that a reviewer cannot see. It is YAML, too."""
    return _UNSEEN.sub(lambda match: escaped(match[0]), text)


def escaped(character: str) -> str:
    return f"\\u{ord(character):04x}"
