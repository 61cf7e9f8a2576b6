"""Regular expressions that are compiled when they are first used.

A run imports about two hundred of them and uses a quarter; compiling all would take a tenth of the time of one job.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = (
    "search",
    "match",
    "fullmatch",
    "split",
    "findall",
    "finditer",
    "sub",
    "subn",
    "groupindex",
    "groups",
    "flags",
)


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
