"""PyYAML, imported before any other module needs it, and without compiling its patterns.

Its reader, resolver and constructor in Python compile ten patterns when they are imported; the set of all printable
characters takes longest. gen parses with libyaml instead, and starts 6 ms earlier without them.
"""

from __future__ import annotations

import re
from importlib import import_module

from gen.regex import regex


def _with_late_patterns() -> None:
    compiled = re.compile
    # restored below; until then, the import of PyYAML makes patterns that are compiled when they are first used
    setattr(re, "compile", regex)  # noqa: B010 - mypy rejects an assignment to a function
    try:
        import_module("yaml")
    finally:
        setattr(re, "compile", compiled)  # noqa: B010


_with_late_patterns()
