"""Constants of modules: names, and regular expressions and registries that are compiled or imported at the first use.

A run imports about two hundred regular expressions and uses a quarter; compiling all would take a tenth of the time of
one job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, AnyStr, Generic, TypeVar, cast

Class = TypeVar("Class")


def names(text: str) -> frozenset[str]:
    """The names in a text, with spaces between them."""
    return frozenset(text.split())


_METHODS = names("search match fullmatch split findall finditer sub subn groupindex groups flags")


class LazyPattern:
    """Behaves like the compiled pattern."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Only names that are not there yet get here, so later calls are as fast as those of a compiled pattern."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled: re.Pattern[Any] = re.compile(self.pattern, self._flags)
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return self.__dict__[name]


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile` at the first use. re.error then, so a test compiles every pattern of the program."""
    return cast("re.Pattern[AnyStr]", LazyPattern(pattern, flags))


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
