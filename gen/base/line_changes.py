"""Lines that differ between two texts of any length.

The time of `difflib` grows with up to the third power of the number of lines, if most lines are equal, and strangers
write the texts. So only the lines between the first and the last change are compared, and only if they are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Final

MAX_COMPARED: Final = 500
"""Lines between the first and the last change that are compared with each other."""

Lines = tuple[int, int, int, int]
"""First line of the old text, the line after the last, and the same of the new text; from 0."""


def common_start(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of characters that two texts begin with, or of lines."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def between_ends(old: Sequence[str], new: Sequence[str]) -> Lines:
    """The lines, or characters, from the first to the last change."""
    start = common_start(old, new)
    same = common_start(old[start:][::-1], new[start:][::-1])
    return start, len(old) - same, start, len(new) - same


def changed_lines(old: Sequence[str], new: Sequence[str]) -> list[Lines]:
    """The parts that differ, from top to bottom: one for all lines between the ends if these are many."""
    import difflib

    begin, end, first, last = whole = between_ends(old, new)
    if (begin, first) == (end, last):
        return []
    if max(end - begin, last - first) > MAX_COMPARED:
        return [whole]
    matcher = difflib.SequenceMatcher(None, old[begin:end], new[first:last], autojunk=False)
    return [(begin + a, begin + b, first + c, first + d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def unified(
    old: Sequence[str], new: Sequence[str], before: str = "", after: str = "", context: int = 3
) -> Iterator[str]:
    """The lines of a unified diff, as `difflib.unified_diff` returns them for short texts."""
    import difflib

    if max(len(old), len(new)) <= MAX_COMPARED:
        yield from difflib.unified_diff(old, new, before, after, n=context, lineterm="")
        return
    changes = changed_lines(old, new)
    if changes:
        yield f"--- {before}"
        yield f"+++ {after}"
    while changes:
        near = takewhile(lambda pair: pair[1][0] - pair[0][1] <= 2 * context, pairwise(changes))
        hunk = changes[: 1 + sum(1 for _ in near)]
        changes = changes[len(hunk) :]
        yield from _hunk(old, new, hunk, context)


def _hunk(old: Sequence[str], new: Sequence[str], changes: list[Lines], context: int) -> Iterator[str]:
    start, end = max(changes[0][0] - context, 0), min(changes[-1][1] + context, len(old))
    first = changes[0][2] - (changes[0][0] - start)
    last = changes[-1][3] + (end - changes[-1][1])
    yield f"@@ -{_range(start, end)} +{_range(first, last)} @@"
    for begin, stop, top, bottom in changes:
        yield from (f" {line}" for line in old[start:begin])
        yield from (f"-{line}" for line in old[begin:stop])
        yield from (f"+{line}" for line in new[top:bottom])
        start = stop
    yield from (f" {line}" for line in old[start:end])


def _range(start: int, end: int) -> str:
    """Lines as `diff -u` counts them: an empty range is behind the line before it."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
