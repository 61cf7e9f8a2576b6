"""A registry of classes that are imported when they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Generic, TypeVar

Class = TypeVar("Class")


class LazyRegistry(MutableMapping[str, type[Class]], Generic[Class]):
    """Classes by name. An entry is a class, or `module:class` until it is used."""

    def __init__(self, entries: Mapping[str, str | type[Class]]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> type[Class]:
        entry = self._entries[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            loaded: type[Class] = getattr(import_module(module), attribute)
            entry = self._entries[name] = loaded
        return entry

    def __setitem__(self, name: str, model: type[Class]) -> None:
        self._entries[name] = model

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def loaded(self) -> Mapping[str, type[Class]]:
        """Classes that are imported already."""
        return {name: entry for name, entry in self._entries.items() if not isinstance(entry, str)}

    def __contains__(self, name: object) -> bool:
        """Without importing the class."""
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
