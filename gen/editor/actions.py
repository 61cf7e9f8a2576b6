"""Actions on a file: the certain fixes of its findings, states of its run, and silence for a finding with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from lsprotocol.types import CodeAction, CodeActionKind, Command, Position, Range, TextEdit, WorkspaceEdit
from lsprotocol.types import Diagnostic as Shown

from gen.base import Diagnostic, Findings, Move, Put, Rename, Respell, Route, follow, quoted
from gen.base.codes.commands import SILENCEABLE
from gen.base.corrections import PrintedCorrection, fixes_of
from gen.base.line_changes import changed_lines
from gen.base.yaml.source import source_of
from gen.base.yaml.strict import parse
from gen.edit.change import VERBS, Change, EditError, runs_change
from gen.edit.checks import job_findings
from gen.edit.fixes import applied_or_none, fixed_alone
from gen.edit.splice import edited
from gen.editor.view import JOB, View
from gen.kubernetes.rules import SILENCE
from gen.pins.lock import is_full_commit, is_full_digest

PIN = "gen.pin"


def actions(view: View, lines: range, findings: Sequence[Diagnostic], shown: Sequence[Shown]) -> list[CodeAction]:
    """The actions for lines. `shown` are the findings of these lines as the client has them."""
    items = [one for one in findings if one.place.file == view.path and one.place.line - 1 in lines]
    by_key = {(one.code, one.range.start.line): one for one in shown}
    found: list[CodeAction] = []
    for item in items:
        diagnostics = [one] if (one := by_key.get((item.code, item.place.line - 1))) is not None else None
        found += _fixes(view, item, diagnostics)
        found += _silence(view, item, diagnostics)
    if view.kind == JOB:
        found += _pin(view, lines)
        found += _to_roles(view, lines)
        found += _verbs(view)
    return found


def _fixes(view: View, item: Diagnostic, shown: list[Shown] | None) -> Iterator[CodeAction]:
    """The fix of a finding that `gen check --fix` would make."""
    if not fixes_of(item):
        return

    def judge(text: str) -> list[Diagnostic]:
        found = Findings()
        source = source_of(text.encode("utf-8", "surrogateescape"), view.path, found)
        if source is not None and view.kind == JOB:
            found.extend(job_findings(source, view.job, view.checker.overlays).items)
        return [one for one in found if one.place.file == view.path]

    if view.kind == JOB:
        after = fixed_alone(view.text, item, judge(view.text), judge)
        if after is not None:
            yield _action(view, _title(item), after, CodeActionKind.QuickFix, shown, preferred=True)


def _title(item: Diagnostic) -> str:
    match fixes_of(item)[0]:
        case PrintedCorrection(meant=meant, write=write):
            return f"Change it to `{meant or write}`"
        case Rename(name=name):
            return f"Rename it to `{name}`"
        case Put(new=new) | Respell(new=new):
            return f"Change it to `{new}`"
        case fix:
            return f"Move it to `{'.'.join(map(str, fix.to))}`"


def _silence(view: View, item: Diagnostic, shown: list[Shown] | None) -> Iterator[CodeAction]:
    """Accept a warning that annotations can silence. The reason is for the author to write."""
    if item.is_error or item.code not in SILENCEABLE or view.kind != JOB:
        return
    after = _changed(view.text, Change(("annotations", f"{SILENCE}{item.code}"), "<reason>"))
    if after is not None:
        yield _action(view, f"Accept `{item.code}` with a reason", after, CodeActionKind.QuickFix, shown)


def _pin(view: View, lines: range) -> Iterator[CodeAction]:
    """`gen pin` for an image or a ref that can get other content."""
    data = view.source.data if view.source is not None else {}
    routes = {_pinned_route(one.route) for one in view.document.entries if one.line in lines}
    values = [str(value) for route in routes if route and (value := follow(data, route)) is not None]
    lock = view.checker.lock(view.job)
    known = {*lock.images, *(ref for _, ref in lock.commits)} if lock is not None else set()
    if any(not is_full_digest(one) and not is_full_commit(one) and one not in known for one in values):
        command = Command(title="Pin", command=PIN, arguments=[(view.checker.root / view.path).as_uri()])
        yield CodeAction(title="Pin images and code (as `gen pin`)", kind=CodeActionKind.Refactor, command=command)


def _pinned_route(route: Route) -> Route:
    """The route of the image or the ref that a field is about; empty for other fields."""
    if route[-1:] == ("image",):
        return route
    return (*route[: route.index("code") + 1], "ref") if "code" in route else ()


def _to_roles(view: View, lines: range) -> Iterator[CodeAction]:
    """Fields of the job, or of a step, as those of one of its roles."""
    if view.fields is None or view.source is None or view.source.text != view.text:
        return
    chosen = [one for one in view.document.entries if one.line in lines and one.route]
    for outer in {one.route[:-1] for one in chosen if len(one.route) == 1 or one.route[0] == "steps"}:
        for role in view.fields.names((*outer, "roles"), view.kind_at):
            allowed = view.fields.names((*outer, "roles", role), view.kind_at)
            names = [str(one.route[-1]) for one in chosen if one.route[:-1] == outer and one.route[-1] in allowed]
            after: str | None = view.text
            for name in names:
                after = _moved(after, (*outer, name), (*outer, "roles", role, name)) if after is not None else None
            if names and after is not None:
                what = quoted(names)
                yield _action(view, f"Move {what} to the role `{role}`", after, CodeActionKind.Refactor)


def _moved(text: str, route: Route, to: Route) -> str | None:
    """The text with a field at another place; None if it is there already, or if a comment would be lost."""
    data = parse(text, "", Findings())
    value = follow(data, route)
    if value is None or follow(data, to) is not None:
        return None
    if isinstance(value, str):
        return applied_or_none(text, Move(route, to))
    after = _changed(text, Change(to, value))
    after = _changed(after, Change(route, None)) if after is not None else None
    return after if after is not None and after.count("#") == text.count("#") else None


def _verbs(view: View) -> Iterator[CodeAction]:
    """The edits of `gen stop`, `gen rerun` and the like, for all runs of the job."""
    data = view.source.data if view.source is not None and view.source.text == view.text else None
    if not isinstance(data, dict):
        return
    for verb in VERBS.values():
        after: str | None = view.text
        for change in runs_change(verb, data, {}).changes:
            after = _changed(after, change) if after is not None else None
        if after is not None and after != view.text:
            yield _action(view, f"{verb.name.capitalize()} (as `gen {verb.name}`)", after, CodeActionKind.Refactor)


def _changed(text: str, change: Change) -> str | None:
    """The text after a change; None if it is impossible, as in half-written files."""
    with suppress(EditError, ValueError, TypeError, AttributeError):
        return edited(text, change)
    return None


def _action(
    view: View,
    title: str,
    after: str,
    kind: CodeActionKind,
    shown: list[Shown] | None = None,
    *,
    preferred: bool = False,
) -> CodeAction:
    edit = WorkspaceEdit(changes={(view.checker.root / view.path).as_uri(): edits(view, after)})
    return CodeAction(title=title, kind=kind, edit=edit, diagnostics=shown, is_preferred=preferred or None)


def edits(view: View, after: str) -> list[TextEdit]:
    """The lines that differ from another text, as edits."""
    old, new = view.text.split("\n"), after.split("\n")
    found = []
    for first, last, begin, stop in changed_lines(old, new):
        text = "".join(f"{line}\n" for line in new[begin:stop])
        start, end = Position(line=first, character=0), Position(line=last, character=0)
        if last >= len(old):  # the last line has no end
            end = view.position(len(old) - 1, len(old[-1]))
            text = text.removesuffix("\n")
            if first >= len(old):
                start, text = end, f"\n{text}"
        found.append(TextEdit(range=Range(start=start, end=end), new_text=text))
    return found
