"""Completion: fields, words, and names that the overlays of a job know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    InsertTextFormat,
    InsertTextMode,
    MarkupContent,
    MarkupKind,
    Range,
    TextEdit,
)
from msgspec import Struct

from gen.base import Route
from gen.editor.document import Cursor
from gen.editor.fields import Fields
from gen.editor.names import NAMES, known_names
from gen.editor.view import JOB, OVERLAY, View
from gen.render.expressions import FILTERS
from gen.report.explain import default_text

_VALUES: Final = {"job": ("name", "namespace"), "run": ("id", "hash"), "overlay": ("name",)}
"""Names in `{{ … }}` by scope, besides those that files define."""


class Block(Struct, frozen=True, kw_only=True):
    """A template for a whole block. `$1` and the following are the places to fill in."""

    document: str
    field: str
    text: str
    """The lines below the field, each with the indentation from there."""
    about: str


BLOCKS: Final = (
    Block(document=JOB, field="sweep", text="matrix:\n  ${1:lr}: [${2:0.1, 0.01}]", about="a run for each value"),
    Block(
        document=JOB,
        field="search",
        text="maximize: ${1:accuracy}\nmaxTrials: ${2:12}\nparams:\n  ${3:lr}: {min: ${4:0.001}, max: ${5:0.1}}",
        about="a search with Katib",
    ),
    Block(
        document=JOB,
        field="code",
        text="git: ${1:https://git.example.com/team/project.git}\nref: ${2:main}",
        about="from Git",
    ),
    Block(
        document=JOB,
        field="schedule",
        text='cron: "${1:0 3 * * *}"\ntimeZone: ${2:Europe/Berlin}',
        about="at set times",
    ),
    Block(document=JOB, field="data", text="${1:volume}: ${2:/data}", about="a volume of the overlay"),
    Block(
        document=JOB,
        field="steps",
        text="${1:prepare}:\n  kind: batch\n  command: ${2:python prepare.py}\n"
        "${3:train}:\n  kind: pytorch\n  needs: [$1]",
        about="two steps",
    ),
    Block(
        document=OVERLAY,
        field="volumes",
        text="${1:name}: {size: ${2:100Gi}, ${3:storageClass}: ${4:standard}}",
        about="a volume",
    ),
    Block(
        document=OVERLAY,
        field="namespaces",
        text="${1:team-a}: {gpus: ${2:16}, queues: [${3:training}]}",
        about="grants",
    ),
    Block(
        document=OVERLAY,
        field="accelerators",
        text="${1:h100}: {extended: {resource: nvidia.com/gpu}}",
        about="a device",
    ),
)


def completions(view: View, line: int, column: int, *, snippets: bool) -> list[CompletionItem]:
    """The items for a position."""
    cursor = view.document.cursor(line, column)
    if cursor is None or view.fields is None:
        return []
    if cursor.expression is not None:
        return list(_expression(view, cursor, line, column))
    item = partial(_item, view.range(line, cursor.column, column))
    items: list[CompletionItem] = []
    if cursor.key:
        items += _keys(view, view.fields, cursor, line, column, item, snippets=snippets)
    if cursor.value:
        items += _values(view, view.fields, cursor, item)
    return items


Item = Callable[..., CompletionItem]


def _item(where: Range, label: str, text: str, kind: CompletionItemKind, **more: Any) -> CompletionItem:
    edit = TextEdit(range=where, new_text=text)
    return CompletionItem(label=label, kind=kind, filter_text=label, text_edit=edit, **more)


def _keys(
    view: View, fields: Fields, cursor: Cursor, line: int, column: int, item: Item, *, snippets: bool
) -> Iterator[CompletionItem]:
    present = {*view.document.keys(cursor.route), *cursor.before}
    inline = view.document.lines[line][: cursor.column].strip() not in {"", "-"}  # in braces, or after a field
    if (entry := view.document.entry_at(line, column)) is not None and not inline:
        present.discard(str(entry.route[-1]))  # the key that is being written
    required = fields.required(cursor.route, view.kind_at)
    for name, what in _known(view, cursor.route, key=True).items():
        if name not in present:
            yield item(name, f"{name}: ", CompletionItemKind.Reference, detail=what, sort_text=f"0{name}")
    for name, schema in fields.names(cursor.route, view.kind_at).items():
        if name in present:
            continue
        form = fields.type(schema)
        indentation = " " * (cursor.column + 2)
        after = "" if inline or form == "scalar" else f"\n{indentation}" if form == "mapping" else f"\n{indentation}- "
        yield item(
            name,
            f"{name}:{after}" if after else f"{name}: ",
            CompletionItemKind.Field,
            detail=f"{'required; ' if name in required else ''}{schema.get('title') or form}",
            documentation=description(schema),
            sort_text=f"{'1' if name in required else '2'}{name}",
            insert_text_mode=InsertTextMode.AsIs,
        )
    if snippets and not cursor.route:
        yield from _blocks(view.kind, present, item)


def _blocks(kind: str, present: set[str], item: Item) -> Iterator[CompletionItem]:
    for block in BLOCKS:
        if block.document == kind and block.field not in present:
            body = "".join(f"\n  {text}" for text in block.text.split("\n"))
            yield item(
                f"{block.field}: … {block.about}",
                f"{block.field}:{body}",
                CompletionItemKind.Snippet,
                insert_text_format=InsertTextFormat.Snippet,
                insert_text_mode=InsertTextMode.AsIs,
                sort_text=f"3{block.field}",
            )


def description(schema: Any) -> MarkupContent | None:
    """The description of a field with its default."""
    about = str(schema.get("description", ""))
    default = default_text(schema)
    text = f"{about}\n\nDefault: `{default}`" if default else about
    return MarkupContent(kind=MarkupKind.Markdown, value=text) if text else None


def _known(view: View, route: Route, *, key: bool) -> dict[str, str]:
    """Names that may be written at a route."""
    if view.is_overlay:
        return {} if key else _of_overlay(view, route)
    found = known_names(route, view.overlays, view.namespace, key=key)
    if not key:
        for name in NAMES:
            if name.own and name.used_as_value(route, overlay=False):
                own = route[1] if len(route) > 1 else ""
                found.update((one, name.what) for field in name.own for one in _below(view, field) if one != own)
    return found


def _below(view: View, field: str) -> list[str]:
    """The keys of a field of the same job."""
    return view.document.keys(tuple(field.split(".")))


def _of_overlay(view: View, route: Route) -> dict[str, str]:
    if route == ("extends",):
        own = view.path.split("/")[1]
        overlays = {layer.source.file.split("/")[1] for one in view.checker.overlays for layer in one.layers.layers}
        return dict.fromkeys(sorted(overlays - {own}), "overlay")
    found: dict[str, str] = {}
    for name in NAMES:
        if name.field and name.used_as_value(route, overlay=True):
            found.update((key, name.what) for key in view.document.keys((name.field,)))
            for overlay in view.overlays:
                found.update((str(key), name.what) for key in getattr(overlay.fields, name.field))
    return found


def _values(view: View, fields: Fields, cursor: Cursor, item: Item) -> Iterator[CompletionItem]:
    for name, what in _known(view, cursor.route, key=False).items():
        yield item(name, name, CompletionItemKind.Reference, detail=what, sort_text=f"0{name}")
    for word in fields.words(cursor.route, view.kind_at):
        yield item(word, word, CompletionItemKind.EnumMember, sort_text=f"1{word}")


def _expression(view: View, cursor: Cursor, line: int, column: int) -> Iterator[CompletionItem]:
    inside = (cursor.expression or "").lstrip()
    _, bar, after = inside.rpartition("|")
    if bar:
        word = after.lstrip()
        for name in FILTERS:
            yield _replacing(view, line, column, len(word), name, CompletionItemKind.Function)
        return
    scope, dot, word = inside.rpartition(".")
    if not dot:
        own = [
            name.expression
            for name in NAMES
            if name.expression and (name.expression != "steps" or _below(view, "steps"))
        ]
        for name in (*_VALUES, *own):
            yield _replacing(view, line, column, len(inside), name, CompletionItemKind.Module)
        return
    for label in _in_scope(view, scope):
        yield _replacing(view, line, column, len(word), label, CompletionItemKind.Variable)


def _in_scope(view: View, scope: str) -> Iterator[str]:
    yield from _VALUES.get(scope, ())
    first, *rest = scope.split(".")
    if first == "steps" and rest:
        yield from ["results"] if len(rest) == 1 else view.document.keys(("steps", rest[0], "results"))
        return
    for name in NAMES:
        if name.expression == scope:
            known = {one for field in name.own for one in _below(view, field)}
            known.update(one for overlay in view.overlays for one in name.known(overlay, overlay.grant(view.namespace)))
            yield from sorted(known)


def _replacing(view: View, line: int, column: int, length: int, label: str, kind: CompletionItemKind) -> CompletionItem:
    edit = TextEdit(range=view.range(line, column - length, column), new_text=label)
    return CompletionItem(label=label, kind=kind, text_edit=edit)
