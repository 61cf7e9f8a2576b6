"""Where a name is defined, where it is used, and its rename in all files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lsprotocol.types import Location as Target
from lsprotocol.types import Range, TextEdit, WorkspaceEdit
from msgspec import Struct

from gen.base import regex
from gen.base.repository.layout import JOBS, OVERLAYS, overlay_file
from gen.editor.names import Name, Use, use_at, uses_in
from gen.editor.view import JOB, OVERLAY, View, kind_of

_NAME = regex(r"[A-Za-z0-9_]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


class Found(Struct, frozen=True, kw_only=True):
    """A use in a file."""

    path: str
    use: Use
    where: Range


def definitions(view: View, line: int, column: int) -> list[Found]:
    """The places that define the name at a position: in the file itself, or in overlays that select the job."""
    use = use_at(view.document, line, column, overlay=view.is_overlay)
    if use is None:
        return []
    own = [one for one in _uses(view, use) if one.defines]
    found = [Found(path=view.path, use=one, where=view.range(one.line, one.column, one.end)) for one in own]
    if use.name.field:
        files = {layer.source.file for overlay in view.overlays for layer in overlay.layers.layers}
        found += [
            one for one in _in_files(view, use.name, use.text) if one.use.defines and one.path in files - {view.path}
        ]
    return found or _overlay_file(view, use)


def _overlay_file(view: View, use: Use) -> list[Found]:
    """The file of an overlay that a job or another overlay names."""
    path = overlay_file(use.text)
    if use.name.what != "cluster" or view.checker.source(path) is None:
        return []
    other = view.other(path)
    return [Found(path=path, use=use, where=other.range(0, 0, 0))] if other is not None else []


def references(view: View, line: int, column: int, *, declaration: bool = True) -> list[Found]:
    """All places with the name at a position. A parameter or a step that its job defines is used in that job alone."""
    use = use_at(view.document, line, column, overlay=view.is_overlay)
    if use is None:
        return []
    found = _everywhere(view, use)
    return [one for one in found if declaration or not one.use.defines]


def rename(view: View, line: int, column: int, new: str) -> WorkspaceEdit | None:
    """The edits that give a name another text everywhere; None if nothing can be renamed. ValueError for a bad name."""
    use = use_at(view.document, line, column, overlay=view.is_overlay)
    if use is None:
        return None
    if _NAME.fullmatch(new) is None:
        raise ValueError(f"`{new}` is not a valid name for a {use.name.what}")
    found = _everywhere(view, use)
    if not any(one.use.defines for one in found):
        raise ValueError(f"the {use.name.what} `{use.text}` is not defined in this repository, so it cannot be renamed")
    changes: dict[str, list[TextEdit]] = {}
    for one in found:
        uri = (view.checker.root / one.path).as_uri()
        changes.setdefault(uri, []).append(TextEdit(range=one.where, new_text=new))
    return WorkspaceEdit(changes=dict(changes.items()))


def target(root: Path, found: Found) -> Target:
    return Target(uri=(root / found.path).as_uri(), range=found.where)


def _uses(view: View, use: Use) -> list[Use]:
    same = (use.name.what, use.text)
    return [one for one in uses_in(view.document, overlay=view.is_overlay) if (one.name.what, one.text) == same]


def _everywhere(view: View, use: Use) -> list[Found]:
    own = _uses(view, use)
    of_job = not view.is_overlay and any(one.defines for one in own)
    overlays = use.name.field and any(use.text in getattr(one.fields, use.name.field) for one in view.overlays)
    if (of_job and not overlays) or not use.name.field:
        return [Found(path=view.path, use=one, where=view.range(one.line, one.column, one.end)) for one in own]
    return list(_in_files(view, use.name, use.text))


def _in_files(view: View, name: Name, text: str) -> Iterator[Found]:
    """The uses of a name in all jobs and overlays, in the order of their paths."""
    copy = view.checker.workspace.copy
    for top in (JOBS, OVERLAYS):
        for file in sorted((copy / top).rglob("*.yaml")):
            path = file.relative_to(copy).as_posix()
            if kind_of(path) not in (JOB, OVERLAY):
                continue
            other = view if path == view.path else view.other(path)
            if other is None or text not in other.text:
                continue
            for use in uses_in(other.document, overlay=other.is_overlay):
                if use.name.what == name.what and use.text == text:
                    yield Found(path=path, use=use, where=other.range(use.line, use.column, use.end))
