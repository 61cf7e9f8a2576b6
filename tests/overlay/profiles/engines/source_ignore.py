"""Which files Flux takes from Git, by the patterns of a GitRepository (`fluxcd/pkg` `sourceignore/gitignore`)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import zip_longest
from typing import Any


def taken(source: dict[str, Any], path: str) -> bool:
    """Whether a file is in the artifact. The last pattern that matches counts; each file is matched alone."""
    spec = source["spec"]
    if not any(path.startswith(folder) for folder in spec["sparseCheckout"]):
        return False
    for line in reversed(spec["ignore"].splitlines()):
        if _matches(line.removeprefix("!"), path):
            return bool(line.startswith("!"))
    return True


def _matches(pattern: str, path: str) -> bool:
    """A pattern with `/` matches from the top; one that matches a folder matches all below it."""
    assert pattern.startswith("/")
    assert "**" not in pattern
    steps = zip_longest(pattern[1:].split("/"), path.split("/"))
    return all(step is None or (name is not None and fnmatchcase(name, step)) for step, name in steps)
