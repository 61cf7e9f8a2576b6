"""A patch that is written as a text inside an overlay, read so that its findings have places in the overlay's file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.diagnostics import Findings
from gen.findings.overlays import INVALID_PATCH
from gen.load import Data, Layer, Source, source_of
from gen.regex import regex

if TYPE_CHECKING:
    from gen.diagnostics import Location, Route

_BREAK = regex("\r\n|[\n\r\x85\u2028\u2029]")
"""What counts as a line for a YAML reader."""
_AT_THE_START = ("---", "...", "%")
"""What means something only where a line starts."""


def read_embedded(source: Source, route: Route, text: str, found: Findings) -> tuple[Data, Layer] | None:
    """The data in a text, and its place. None if it is unreadable."""
    place = source.place(route)
    if not text.strip():
        found.error(INVALID_PATCH, place, "the patch is empty", "write the fields to change, or a list")
        return None
    padded = _padded(source.text, place, text)
    if padded is not None:
        inside = source_of(padded.encode(), source.file, found)
        return None if inside is None else (inside.data, Layer(inside))
    inner = Findings()
    inside = source_of(text.encode(), source.file, inner)
    for item in inner:
        message = f"invalid patch: {item.message} (line {item.place.line} of the patch)"
        found.items.append(replace(item, place=place, message=message, related=()))
    return None if inside is None else (inside.data, Layer(source, route))


def _padded(whole: str, place: Location, text: str) -> str | None:
    """The text with its lines and columns as in the file; None if the file does not show it line by line.

    Indenting YAML as a whole keeps its meaning, so places in the result are places in the file.
    """
    lines = _BREAK.split(whole)
    first = lines[place.line - 1][place.column - 1 :]
    body = text.rstrip("\n").split("\n")
    if first.startswith("|"):
        above, indent = place.line, 0
        raw = lines[above : above + len(body)]
        indent = next((len(line) - len(said) for line, said in zip(raw, body, strict=False) if said), 0)
        shown = [line[indent:] for line in raw]
    else:
        quoted = first.startswith(("'", '"'))
        above, indent = place.line - 1, place.column - 1 + quoted
        shown = [first[quoted : quoted + len(body[0])]]
    if shown != body or any(line.startswith(_AT_THE_START) for line in body[1:]):
        return None
    body[0] = re.sub(r"^---\s*$", "", body[0])
    return "\n" * above + "\n".join(" " * indent + line for line in body)
