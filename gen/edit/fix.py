"""Fixes of findings: each edits the text of a file as `gen set` does, and is kept if its finding is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.diagnostics import Findings, Move, Put, Rename, Respell
from gen.edit.change import Change, EditError, value_at
from gen.edit.splice import edited, renamed
from gen.load.strict import parse
from gen.load.yaml_errors import lines_with_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gen.diagnostics import Diagnostic, Fix, Route

    Judge = Callable[[str], Collection[Diagnostic]]

MAX_FIXES: Final = 200
"""Fixes of one file that are tried: each takes a render of its job."""


class Fixed(Struct, frozen=True, kw_only=True):
    """The text of a file, with the findings that were fixed in it."""

    text: str
    findings: tuple[Diagnostic, ...] = ()
    tried: int = 0
    """Fixes that were tried, also those that were not kept."""
    complete: bool = True
    """Whether all fixes were tried."""


def fixed(text: str, judge: Judge, most: int = MAX_FIXES) -> Fixed:
    """The text with its certain fixes. `judge` returns the findings about a text of the file.

    A fix can show errors that nothing could find before, but none in its own line. At most `most` are tried.
    """
    found = judge(text)
    done: list[Diagnostic] = []
    refused: set[tuple[Fix, str]] = set()
    tried = 0
    while waiting := _next(found, refused):
        if tried == most:
            break
        tried += 1
        item, fix = waiting
        after = _applied(text, fix)
        judged = judge(after) if after is not None else ()
        if after is None or not _is_better(item, fix, found, judged):
            refused.add((fix, item.message))
            continue
        text, found = after, judged
        done.append(item)
    return Fixed(text=text, findings=tuple(done), tried=tried, complete=waiting is None)


def _next(found: Collection[Diagnostic], refused: set[tuple[Fix, str]]) -> tuple[Diagnostic, Fix] | None:
    waiting = ((item, fix) for item in found for fix in item.fixes)
    return next(((item, fix) for item, fix in waiting if (fix, item.message) not in refused), None)


def fixed_alone(text: str, item: Diagnostic, found: Collection[Diagnostic], judge: Judge) -> str | None:
    """The text with the certain fix of one of its findings, and of no other; None if it has none."""
    for fix in item.fixes:
        after = _applied(text, fix)
        if after is not None and _is_better(item, fix, found, judge(after)):
            return after
    return None


def _is_better(item: Diagnostic, fix: Fix, before: Collection[Diagnostic], after: Collection[Diagnostic]) -> bool:
    if isinstance(fix, Move):
        return _errors(after) < _errors(before)
    if any((one.code, one.message, one.place) == (item.code, item.message, item.place) for one in after):
        return False
    known = {(one.code, one.message) for one in before}
    here = (one for one in after if one.is_error and one.place.line == item.place.line)
    return isinstance(fix, Respell) or all((one.code, one.message) in known for one in here)


def _errors(found: Collection[Diagnostic]) -> int:
    return sum(item.is_error for item in found)


def _applied(text: str, fix: Fix) -> str | None:
    """The text with a fix; None if it does not have what the fix expects."""
    try:
        return applied(text, fix)
    except EditError:
        return None


def applied(text: str, fix: Fix) -> str:
    """EditError if the text does not have what the fix expects."""
    if isinstance(fix, Rename):
        return renamed(text, fix.route, fix.name)
    if isinstance(fix, Put):
        if _value(text, fix.route) != fix.old:  # such as an expression with this result
            raise EditError("the file has another value", "edit the file", fix.route)
        return edited(text, Change(fix.route, fix.new))
    if isinstance(fix, Move):
        value = _value(text, fix.route)
        if not isinstance(value, str) or _value(text, fix.to) is not None:
            raise EditError("the value cannot be moved", "edit the file", fix.route)
        return edited(edited(text, Change(fix.to, value)), Change(fix.route, None))
    return _respelled(text, fix)


def _value(text: str, route: Route) -> Any:
    return value_at(parse(text, "", Findings()), route)


def _respelled(text: str, fix: Respell) -> str:
    lines = lines_with_ends(text)
    line = lines[fix.line - 1] if fix.line <= len(lines) else ""
    start = fix.column - 1
    if line[start : start + len(fix.old)] != fix.old:
        raise EditError("the file has another text there", "edit the file", ())
    lines[fix.line - 1] = line[:start] + fix.new + line[start + len(fix.old) :]
    return "".join(lines)
