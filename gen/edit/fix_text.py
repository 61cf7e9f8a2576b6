"""The text of a file with a fix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.diagnostics import Findings, Move, Put, Rename
from gen.edit.change import Change, EditError, value_at
from gen.edit.splice import comment_at, edited, renamed, with_comment
from gen.load.strict import parse
from gen.load.yaml_errors import lines_with_ends

if TYPE_CHECKING:
    from gen.diagnostics import Fix, Respell, Route


def applied_or_none(text: str, fix: Fix) -> str | None:
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
        after = edited(edited(text, Change(fix.to, value)), Change(fix.route, None))
        if after.count("#") == text.count("#"):
            return after
        return with_comment(after, fix.to, comment_at(text, fix.route))
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
