"""A registry of kinds whose models are imported when they are used."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.kinds.base import Job


class KindRegistry(MutableMapping[str, "type[Job]"]):
    """Models by name. An entry is a model, or `module:class` until it is used."""

    def __init__(self, entries: dict[str, str | type[Job]]) -> None:
        self._entries = entries

    def __getitem__(self, name: str) -> type[Job]:
        entry = self._entries[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            entry = self._entries[name] = getattr(import_module(module), attribute)
        return entry

    def __setitem__(self, name: str, model: type[Job]) -> None:
        self._entries[name] = model

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __contains__(self, name: object) -> bool:
        """Without importing the model."""
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
