"""Names that files of a repository define and use: of volumes, queues, parameters, steps and others.

One table says where a name is defined and where it is used. Completion reads it, and definitions, references and
renames in all files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from lsprotocol.types import Location as Target
from lsprotocol.types import Range, TextEdit, WorkspaceEdit
from msgspec import Struct

from gen.base import Route, regex
from gen.base.repository.layout import JOBS, OVERLAYS, overlay_file
from gen.base.yaml.layers import HOLDERS
from gen.editor.document import Document, Entry
from gen.editor.view import JOB, OVERLAY, View, kind_of
from gen.job.fields import POD_NETWORK
from gen.overlay.grant import Grant
from gen.overlay.overlay import Overlay, names_of

_DEFAULTS: Final = "defaults"


Known = Callable[[Overlay, Grant | None], Iterable[str]]


class Name(Struct, frozen=True, kw_only=True):
    """Names of one kind of thing. Patterns are routes with dots; `*` is any step."""

    what: str
    field: str = ""
    """The field of an overlay with the names as keys; empty for other things."""
    values: tuple[str, ...] = ()
    """Fields of jobs with a name as the value."""
    keys: tuple[str, ...] = ()
    """Fields of jobs with names as keys."""
    in_overlays: tuple[str, ...] = ()
    """Fields of overlays with a name as the value."""
    own: tuple[str, ...] = ()
    """Fields of the same job with the names as keys."""
    expression: str = ""
    """The scope of the name in `{{ … }}`."""
    known: Known = lambda _overlay, _grant: ()
    """The names that a job may use in an overlay."""

    def defines(self, route: Route, *, overlay: bool) -> bool:
        """Whether the key at a route defines a name."""
        if overlay:
            return bool(self.field) and route[:-1] == (self.field,)
        return any(_matches(route[:-1], pattern) for pattern in self.own)

    def used_as_value(self, route: Route, *, overlay: bool) -> bool:
        patterns = self.in_overlays if overlay and route[:1] != (_DEFAULTS,) else self.values
        return any(_matches(route, pattern) for pattern in patterns)

    def used_as_key(self, route: Route, *, overlay: bool) -> bool:
        """Whether the key at a route is a name that is defined elsewhere."""
        if overlay and route[:1] != (_DEFAULTS,):
            return False
        return any(_matches(route[:-1], pattern) for pattern in self.keys)


def _granted_in(field: str) -> tuple[str, ...]:
    """Routes of the names in the grants of an overlay."""
    return f"namespaces.*.{field}.*", f"groups.*.{field}.*"


def _granted(field: str) -> Known:
    """The names that a field of a grant lists."""
    return lambda _, grant: getattr(grant, field) if grant is not None else ()


def _declared(field: str, *more: str) -> Known:
    """The names in a field of an overlay that a grant permits, which are all if it lists none; and others."""
    return lambda overlay, grant: [*more, *_permitted(getattr(overlay.fields, field), field, grant)]


def _permitted(names: Iterable[str], field: str, grant: Grant | None) -> list[str]:
    granted = getattr(grant, field) if grant is not None else ()
    return [name for name in names if granted is None or name in granted]


def _runtimes(overlay: Overlay, grant: Grant | None) -> Iterable[str]:
    return sorted(_permitted({name for _, name in overlay.runtimes.known}, "runtimes", grant))


NAMES: Final = (
    Name(
        what="volume",
        field="volumes",
        keys=("data",),
        values=("inputs.*.volume", "outputs.*.volume", "logs.volume"),
        in_overlays=_granted_in("volumes"),
        known=_declared("volumes"),
    ),
    Name(
        what="object store",
        field="stores",
        values=("inputs.*.store", "outputs.*.store", "logs.store"),
        in_overlays=_granted_in("stores"),
        known=_declared("stores"),
    ),
    Name(
        what="network",
        field="networks",
        values=("network",),
        in_overlays=_granted_in("networks"),
        known=_declared("networks", POD_NETWORK),
    ),
    Name(
        what="accelerator",
        field="accelerators",
        values=("accelerator",),
        in_overlays=_granted_in("accelerators"),
        known=_declared("accelerators"),
    ),
    Name(what="queue", field="queues", values=("queue",), in_overlays=_granted_in("queues"), known=_granted("queues")),
    Name(
        what="priority",
        field="priorities",
        values=("priority",),
        in_overlays=_granted_in("priorities"),
        known=_granted("priorities"),
    ),
    Name(
        what="runtime",
        field="runtimes",
        values=("runtime", "runtime.name"),
        in_overlays=_granted_in("runtimes"),
        known=_runtimes,
    ),
    Name(
        what="ServiceAccount",
        values=("serviceAccount",),
        known=_granted("service_accounts"),
    ),
    Name(what="cluster", values=("clusters.*",), known=lambda overlay, _: sorted(names_of(overlay))),
    Name(what="step", values=("needs.*", "needs"), own=("steps",), expression="steps"),
    Name(
        what="parameter",
        field="params",
        own=("params", "sweep.matrix", "search.params"),
        expression="params",
        known=lambda overlay, _: overlay.fields.params,
    ),
)
"""All kinds of names. One more is one entry."""


class Use(Struct, frozen=True, kw_only=True):
    """A name in a document."""

    name: Name
    text: str
    line: int
    column: int
    end: int
    defines: bool = False


def uses_in(document: Document, *, overlay: bool) -> Iterator[Use]:
    """All names in a document, in the order of its lines."""
    for entry in document.entries:
        key = str(entry.route[-1]) if entry.route else ""
        for name in NAMES:
            if isinstance(entry.route[-1], str):
                defines = name.defines(entry.route, overlay=overlay)
                if defines or name.used_as_key(entry.route, overlay=overlay):
                    yield _key(document, entry, name, key, defines=defines)
            in_list = entry.value[:1] == "[" and name.used_as_value((*entry.route, 0), overlay=overlay)
            if in_list or (entry.value and name.used_as_value(entry.route, overlay=overlay)):
                yield from _values(entry, name)
            elif entry.value[:1] == "{" and (
                (overlay and entry.route == (name.field,)) or _holds(name, entry.route, overlay)
            ):
                yield from _flow_keys(entry, name, defines=overlay or bool(name.own))
    yield from _expressions(document)


def _holds(name: Name, route: Route, overlay: bool) -> bool:
    inner = (*route, "x")
    return name.used_as_key(inner, overlay=overlay) or (not overlay and name.defines(inner, overlay=False))


def _key(document: Document, entry: Entry, name: Name, key: str, *, defines: bool) -> Use:
    quoted = document.lines[entry.line][entry.column] in "\"'"
    start = entry.column + quoted
    return Use(name=name, text=key, line=entry.line, column=start, end=start + len(key), defines=defines)


def _values(entry: Entry, name: Name) -> Iterator[Use]:
    """The words of a scalar or of a flow list."""
    column = entry.value_column
    text = entry.value
    if text[:1] == "[":
        column, text = column + 1, text[1:].rstrip("]")
    for part in text.split(","):
        word = part.strip().strip("\"'")
        if word and not word.startswith("{"):
            start = column + part.index(word)
            yield Use(name=name, text=word, line=entry.line, column=start, end=start + len(word))
        column += len(part) + 1


def _flow_keys(entry: Entry, name: Name, *, defines: bool) -> Iterator[Use]:
    """The keys of a flow mapping in one line, at its first level."""
    depth, start = 0, 0
    for position, char in enumerate(entry.value):
        if char in "{[":
            depth += 1
            start = position + 1 if depth == 1 else start
        elif char in "}]":
            depth -= 1
        elif char == "," and depth == 1:
            start = position + 1
        elif char == ":" and depth == 1 and entry.value[position + 1 : position + 2] in {"", " "}:
            part = entry.value[start:position]
            word = part.strip().strip("\"'")
            if word and "," not in word:
                column = entry.value_column + start + part.index(word)
                yield Use(name=name, text=word, line=entry.line, column=column, end=column + len(word), defines=defines)
            start = len(entry.value)


def _expressions(document: Document) -> Iterator[Use]:
    """Names in `{{ … }}`, such as `{{ params.lr }}`."""
    scopes = {name.expression: name for name in NAMES if name.expression}
    for number, line in enumerate(document.lines):
        position = line.find("{{")
        while position >= 0:
            end = line.find("}}", position)
            inside = line[position + 2 : end if end >= 0 else None]
            scope, dot, rest = inside.strip().partition(".")
            if dot and scope in scopes:
                word = rest.split(".")[0].split("|")[0].strip()
                if word:
                    column = line.index(f"{scope}.{word}", position) + len(scope) + 1
                    yield Use(name=scopes[scope], text=word, line=number, column=column, end=column + len(word))
            position = line.find("{{", position + 2)


def use_at(document: Document, line: int, column: int, *, overlay: bool) -> Use | None:
    """The name at a position."""
    for use in uses_in(document, overlay=overlay):
        if use.line == line and use.column <= column <= use.end:
            return use
    return None


def known_names(route: Route, overlays: Sequence[Overlay], namespace: str, *, key: bool) -> dict[str, str]:
    """The names that a job can write at a route, as its key or as its value, with a description of each."""
    found: dict[str, str] = {}
    for name in NAMES:
        matches = name.used_as_key((*route, ""), overlay=False) if key else name.used_as_value(route, overlay=False)
        if matches:
            for overlay in overlays:
                found.update((one, name.what) for one in name.known(overlay, overlay.grant(namespace)))
    return found


def _matches(route: Route, pattern: str) -> bool:
    """Whether a pattern matches a route, from the job, step or role that it is in."""
    steps = pattern.split(".")
    while len(route) > len(steps) and (depth := HOLDERS.get(str(route[0]))) is not None:
        route = route[depth:]
    return len(route) == len(steps) and all(want in ("*", step) for want, step in zip(steps, route, strict=True))


_NAME = regex(r"[A-Za-z0-9_]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


class Occurrence(Struct, frozen=True, kw_only=True):
    """A use in a file."""

    path: str
    use: Use
    where: Range


def definitions(view: View, line: int, column: int) -> list[Occurrence]:
    """The places that define the name at a position: in the file itself, or in overlays that select the job."""
    use = use_at(view.document, line, column, overlay=view.is_overlay)
    if use is None:
        return []
    own = [one for one in _uses(view, use) if one.defines]
    found = [Occurrence(path=view.path, use=one, where=view.range(one.line, one.column, one.end)) for one in own]
    if use.name.field:
        files = {layer.source.file for overlay in view.overlays for layer in overlay.layers.layers}
        found += [
            one for one in _in_files(view, use.name, use.text) if one.use.defines and one.path in files - {view.path}
        ]
    return found or _overlay_file(view, use)


def _overlay_file(view: View, use: Use) -> list[Occurrence]:
    """The file of an overlay that a job or another overlay names."""
    path = overlay_file(use.text)
    if use.name.what != "cluster" or view.checker.source(path) is None:
        return []
    other = view.other(path)
    return [Occurrence(path=path, use=use, where=other.range(0, 0, 0))] if other is not None else []


def references(view: View, line: int, column: int, *, declaration: bool = True) -> list[Occurrence]:
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


def target(root: Path, found: Occurrence) -> Target:
    return Target(uri=(root / found.path).as_uri(), range=found.where)


def _uses(view: View, use: Use) -> list[Use]:
    same = (use.name.what, use.text)
    return [one for one in uses_in(view.document, overlay=view.is_overlay) if (one.name.what, one.text) == same]


def _everywhere(view: View, use: Use) -> list[Occurrence]:
    own = _uses(view, use)
    of_job = not view.is_overlay and any(one.defines for one in own)
    overlays = use.name.field and any(use.text in getattr(one.fields, use.name.field) for one in view.overlays)
    if (of_job and not overlays) or not use.name.field:
        return [Occurrence(path=view.path, use=one, where=view.range(one.line, one.column, one.end)) for one in own]
    return list(_in_files(view, use.name, use.text))


def _in_files(view: View, name: Name, text: str) -> Iterator[Occurrence]:
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
                    yield Occurrence(path=path, use=use, where=other.range(use.line, use.column, use.end))
