"""Names that files of a repository define and use: of volumes, queues, parameters, steps and others.

One table says where a name is defined and where it is used. Completion, definitions, references and renames read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from gen.base import Route
from gen.editor.document import Document, Entry
from gen.job.fields import POD_NETWORK
from gen.overlay.grant import Grant
from gen.overlay.overlay import Overlay, names_of

_DEFAULTS: Final = "defaults"
_HOLDERS: Final = frozenset({_DEFAULTS, "kinds", "roles", "steps"})
"""Fields with the fields of jobs inside, or with steps and roles by name."""


class Name(Struct, frozen=True, kw_only=True):
    """Names of one kind of thing. Patterns are routes with dots, in which `*` is any step."""

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
    known: Callable[[Overlay, Grant | None], Iterable[str]] = lambda _overlay, _grant: ()
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


def _granted(names: Iterable[str], granted: Iterable[str] | None) -> list[str]:
    return [name for name in names if granted is None or name in granted]


def _queues(_: Overlay, grant: Grant | None) -> Iterable[str]:
    return grant.queues if grant is not None else ()


def _priorities(_: Overlay, grant: Grant | None) -> Iterable[str]:
    return grant.priorities if grant is not None else ()


def _volumes(overlay: Overlay, grant: Grant | None) -> Iterable[str]:
    return _granted(overlay.fields.volumes, grant.volumes if grant is not None else ())


def _stores(overlay: Overlay, grant: Grant | None) -> Iterable[str]:
    return _granted(overlay.fields.stores, grant.stores if grant is not None else ())


def _networks(overlay: Overlay, grant: Grant | None) -> Iterable[str]:
    return [POD_NETWORK, *_granted(overlay.fields.networks, grant.networks if grant is not None else ())]


def _accelerators(overlay: Overlay, grant: Grant | None) -> Iterable[str]:
    return _granted(overlay.fields.accelerators, grant.accelerators if grant is not None else ())


def _runtimes(overlay: Overlay, grant: Grant | None) -> Iterable[str]:
    names = {name for _, name in overlay.runtimes.known}
    return sorted(_granted(names, grant.runtimes if grant is not None else ()))


NAMES: Final = (
    Name(
        what="volume",
        field="volumes",
        keys=("data",),
        values=("inputs.*.volume", "outputs.*.volume", "logs.volume"),
        in_overlays=("namespaces.*.volumes.*",),
        known=_volumes,
    ),
    Name(
        what="object store",
        field="stores",
        values=("inputs.*.store", "outputs.*.store", "logs.store"),
        in_overlays=("namespaces.*.stores.*",),
        known=_stores,
    ),
    Name(
        what="network", field="networks", values=("network",), in_overlays=("namespaces.*.networks.*",), known=_networks
    ),
    Name(
        what="accelerator",
        field="accelerators",
        values=("accelerator",),
        in_overlays=("namespaces.*.accelerators.*",),
        known=_accelerators,
    ),
    Name(what="queue", field="queues", values=("queue",), in_overlays=("namespaces.*.queues.*",), known=_queues),
    Name(
        what="priority",
        field="priorities",
        values=("priority",),
        in_overlays=("namespaces.*.priorities.*",),
        known=_priorities,
    ),
    Name(
        what="runtime",
        field="runtimes",
        values=("runtime", "runtime.name"),
        in_overlays=("namespaces.*.runtimes.*",),
        known=_runtimes,
    ),
    Name(
        what="ServiceAccount",
        values=("serviceAccount",),
        known=lambda _, grant: grant.service_accounts if grant else (),
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
    """The names that a job can write at a route: as its key, or as its value. By name: what it is."""
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
    while len(route) > len(steps) and route[0] in _HOLDERS:
        route = route[1 if route[0] == _DEFAULTS else 2 :]
    return len(route) == len(steps) and all(want in ("*", step) for want, step in zip(steps, route, strict=True))
