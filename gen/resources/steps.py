"""What gen reads and writes of objects that contain those of their steps as texts.

A rendered file can have been edited by anyone, so any part of it can have any form.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.kubernetes import Body
    from gen.resources.base import Path


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
