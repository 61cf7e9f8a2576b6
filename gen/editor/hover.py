"""Hover: the meaning of a field, its effective value and the origin of it, the next times of a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from lsprotocol.types import Hover, MarkupContent, MarkupKind

from gen.base import counted, follow, quoted
from gen.edit.splice import flow
from gen.editor.document import Entry
from gen.editor.names import Use, use_at
from gen.editor.view import JOB, View
from gen.kubernetes.rules.cron import FIELDS, SHORT, all_values, either_day
from gen.report.escaping import code_block, code_span
from gen.report.explain import default_text

_TIMES: Final = 5
_MOST_DAYS: Final = 5 * 366
"""Days to look for a next time: the 29th of February comes at least once."""
_MOST_LINES: Final = 12
"""Lines of a definition that are shown."""


def hover(view: View, line: int, column: int, now: datetime) -> Hover | None:
    """The hover of a position. `now` has a time zone."""
    document = view.document
    entry = document.entry_at(line, column)
    use = use_at(document, line, column, overlay=view.is_overlay)
    parts = [*(_definition(view, use) if use is not None else ())]
    if entry is not None and view.fields is not None:
        parts += _field(view, entry)
        parts += _value(view, entry)
        parts += _times(view, entry, now)
        parts += _devices(view, entry)
    if "{{" in (document.lines[line] if line < len(document.lines) else ""):
        parts += _evaluated(view, line)
    if not parts:
        return None
    where = view.range(line, entry.column, entry.end) if entry is not None else None
    return Hover(contents=MarkupContent(kind=MarkupKind.Markdown, value="\n\n".join(parts)), range=where)


def _field(view: View, entry: Entry) -> Iterator[str]:
    """The name, the default and the description of a field, as `gen explain` has them."""
    assert view.fields is not None  # the caller has looked
    field = view.fields.field(entry.route, view.kind_at)
    if field is None:
        return
    name = ".".join(str(step) for step in entry.route if isinstance(step, str))
    default = default_text(field)
    yield f"**{code_span(name)}**" + (f", default {code_span(default)}" if default else "")
    if field.get("description"):
        yield str(field["description"])


def _value(view: View, entry: Entry) -> Iterator[str]:
    """The value that counts, if an overlay decides it; at `kind`, all values that overlays add."""
    if view.is_overlay or len(entry.route) > 1:
        return
    kind = view.kind_at(())
    for overlay in view.overlays:
        try:
            defaults = overlay.defaults_of(kind)
        except KeyError:  # the kind is half written
            return
        own = set(view.document.keys(()))
        for name in sorted(defaults) if entry.route == ("kind",) else [str(entry.route[0])]:
            if name not in defaults or (entry.route == ("kind",) and name in own):
                continue
            place = next(
                (found.key for layer in overlay.layers_of(kind) if (found := layer.find((name,))).steps == 1), None
            )
            source = f" ({place.file}:{place.line})" if place is not None else ""
            verb = "sets" if entry.route == ("kind",) else "has the default"
            yield f"Overlay `{overlay.name}` {verb} {code_span(f'{name}: {_short(defaults[name])}')}{source}"


def _short(value: object) -> str:
    text = flow(value) if isinstance(value, dict | list) else str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 - the width of a hover


def _definition(view: View, use: Use) -> Iterator[str]:
    """The kind of a name, with the lines that define it."""
    if use.defines:
        return
    yield f"{use.name.what} {code_span(use.text)}"
    for overlay in view.overlays:
        if use.name.field and use.text in getattr(overlay.fields, use.name.field):
            place = overlay.place(use.name.field, use.text, key=True)
            block = code_block(_lines(view, place.file, place.line - 1), "yaml")
            yield f"In overlay `{overlay.name}` ({place.file}:{place.line}):\n{block}"


def _lines(view: View, path: str, line: int) -> list[str]:
    """The lines of an entry."""
    source = view.checker.source(path)
    lines = source.text.split("\n") if source is not None else []
    if line >= len(lines):
        return []
    first = lines[line]
    indentation = len(first) - len(first.lstrip())
    found = [first[indentation:]]
    for text in lines[line + 1 : line + _MOST_LINES]:
        if text.strip() and len(text) - len(text.lstrip()) <= indentation:
            break
        found.append(text[indentation:])
    while not found[-1].strip() and len(found) > 1:
        del found[-1]
    return found


def _devices(view: View, entry: Entry) -> Iterator[str]:
    """The devices that pods get in each overlay, and their nodes."""
    if view.kind != JOB or entry.route[-1] not in {"gpus", "accelerator"} or view.source is None:
        return
    for overlay in view.overlays:
        for plan in view.checker.planned(view.source, view.job, overlay):
            for pod in plan.pods:
                claims = {one.device_class: str(one.count) for one in pod.effect.claims}
                devices = {**pod.effect.resources, **claims}
                if devices:
                    each = ", ".join(f"{count} {code_span(name)}" for name, count in devices.items())
                    labels = sorted(pod.nodes.labels.items())
                    nodes = ", ".join(code_span(f"{label}: {' or '.join(values)}") for label, values in labels)
                    where = f", on nodes with {nodes}" if nodes else ", on any node that has them"
                    pods = counted(pod.role.most, "pod")
                    yield f"Overlay `{overlay.name}`: {pods} of `{pod.role.name}`, each with {each}{where}"


def _times(view: View, entry: Entry, now: datetime) -> Iterator[str]:
    """The next times of a schedule."""
    if view.is_overlay or entry.route not in {("schedule",), ("schedule", "cron")}:
        return
    cron = view.document.value(*entry.route)
    zone = view.document.value("schedule", "timeZone") or "Etc/UTC"
    times = next_times(cron, zone, now)
    if times:
        listed = "\n".join(f"- {time:%a %Y-%m-%d %H:%M}" for time in times)
        yield f"Next times ({zone}):\n{listed}"


def next_times(cron: str, zone: str, now: datetime, count: int = _TIMES) -> list[datetime]:
    """The next times of a schedule in a time zone; none for `@every`, and for what is not valid.

    A day must match both the day of the month and the day of the week if either is `*` or `?`, otherwise one of them.
    """
    fields = SHORT.get(cron, cron).split()
    if len(fields) != len(FIELDS):
        return []
    try:
        here = now.astimezone(ZoneInfo(zone))
    except (KeyError, ValueError, OSError):
        return []
    minutes, hours, days, months, weekdays = all_values(fields)
    either = either_day(fields)
    found: list[datetime] = []
    day = here.replace(hour=0, minute=0, second=0, microsecond=0)
    for _ in range(_MOST_DAYS):
        in_month, in_week = day.day in days, day.isoweekday() % 7 in weekdays
        if day.month in months and (in_month or in_week if either else in_month and in_week):
            times = (day.replace(hour=hour, minute=minute) for hour in sorted(hours) for minute in sorted(minutes))
            found += [time for time in times if time > here][: count - len(found)]
        if len(found) == count:
            break
        day += timedelta(days=1)
    return found


def _evaluated(view: View, line: int) -> Iterator[str]:
    """The text of a line with its expressions replaced, in each overlay."""
    source = view.source
    entries = [one for one in view.document.entries if one.line <= line]
    if view.is_overlay or source is None or not isinstance(source.data, dict) or not entries:
        return
    route = entries[-1].route
    texts: dict[str, list[str]] = {}
    for overlay in view.overlays:
        given = view.checker.expanded(source, view.job, overlay)
        value = follow(given.data, route) if given is not None else None
        if isinstance(value, str):
            texts.setdefault(value.strip(), []).append(overlay.name)
    for text, names in texts.items():
        yield f"In {quoted(names)}:\n{code_block(text.splitlines())}"
