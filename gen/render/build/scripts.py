"""Scripts that run in pods, from `gen/templates/pods/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gen.render.plan.places import literal

_FOLDER = Path(__file__).parents[2] / "templates/pods"  # `importlib.resources` takes a millisecond to import


@cache
def script(name: str) -> str:
    """The script as an argument of a container, without its comments."""
    return literal(source(name))


def source(name: str) -> str:
    """The script as a shell reads it, without its comments."""
    text = (_FOLDER / name).read_text("utf-8")
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))
