"""`gen set`: change fields of job files, when what comes of it is right."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gen.commands.compared import refused, repository
from gen.commands.options import Root
from gen.commands.result import Result
from gen.diagnostics import Findings, UsageError, did_you_mean
from gen.edit.change import Change, EditError
from gen.edit.quota import check_quota
from gen.edit.route import route_of
from gen.edit.scalar import scalar
from gen.edit.splice import edited
from gen.kinds import KINDS
from gen.load import read, source_of
from gen.model.annotations import fields_at
from gen.model.explain import dotted
from gen.model.job import JobFields
from gen.model.scalars import clipped
from gen.overlay.read import OverlayReader
from gen.overlay.select import selects
from gen.render.parse.job import parse_job
from gen.render.pipeline import render_job
from gen.report.formats import REPORTERS
from gen.report.types import Report
from gen.repository.job_files import chosen_jobs
from gen.repository.place_files import replace_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gen.diagnostics import Diagnostic, Route
    from gen.load import Source
    from gen.overlay.overlay import Overlay
    from gen.repository.layout import JobFile

_BOM = "\ufeff".encode()
_LISTED = 40
"""Files whose changes are told one by one."""


FORMATS = REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen set`."""

    jobs: Annotated[str, typer.Argument(help="Job file, NAMESPACE/NAME, or a pattern.", metavar="JOB")]
    assignments: Annotated[
        tuple[str, ...],
        typer.Argument(help="Such as `state=finished` or `env.DEBUG=on`.", metavar="FIELD=VALUE", show_default=False),
    ] = ()
    unset: Annotated[tuple[str, ...], typer.Option("--unset", help="Remove this field; may be repeated.")] = ()
    root: Root = None


@dataclass(frozen=True, slots=True)
class _Edited:
    file: str
    raw: bytes
    said: tuple[str, ...]
    """What is different, field by field; nothing when nothing is."""


def run(request: Request) -> Result[Report]:
    """Change the files that are named; none of them when one of them would be wrong."""
    assignments = [_assignment(text) for text in request.assignments]
    if not assignments and not request.unset:
        raise UsageError("nothing to set: write `field=value`, or --unset field")
    root = repository(request.root)
    listed = Findings()
    jobs = chosen_jobs(root, [request.jobs], listed)
    overlays = OverlayReader(root, Findings()).read()  # a mistake in an overlay is for `gen render` to tell
    names = [*((name, None) for name in request.unset), *assignments]
    found = Findings() if jobs else listed  # what is wrong with other files does not matter here
    results = [_edit(root, job, names, overlays, found) for job in jobs]
    if not found.failed():
        changed = {job: one.raw for job, one in zip(jobs, results, strict=True) if one is not None and one.said}
        check_quota(root, changed, overlays, found)
    if found.failed():
        return refused(found)
    done = [result for result in results if result is not None and result.said]
    replace_files(root, {result.file: result.raw for result in done})
    return Result(output=Report((), (), _summary(done, len(jobs))))


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"`{text}` sets nothing: write `{text}=VALUE`, or --unset {text}")
    found = Findings()
    if not text.isprintable():  # what no quotes can make readable
        source_of(scalar(text, flow=False, style='"').encode(errors="surrogateescape"), "", found)
    for item in found:
        raise UsageError(f"the value of `{_printable(name)}` cannot be written: {item.message}")
    return name, value


def _edit(
    root: Path, job: JobFile, names: Sequence[tuple[str, str | None]], overlays: Sequence[Overlay], found: Findings
) -> _Edited | None:
    """One file with the changes made; None when something was found."""
    source = read(root, job.file, found)
    if source is None:
        return None
    text = source.text
    said: list[str] = []
    model = _model(source, names)
    for name, value in names:
        change = Change(route_of(model, name), value)
        try:
            after = edited(text, change)
        except EditError as error:
            found.error("cannot-edit", source.place(error.route), error.message, error.hint)
            continue
        if after != text:
            said.append(_said(source, change))
        elif value is None:
            _refuse_unknown(model, source, change, found)
        text = after
    # the reader left out a mark of the byte order, if there was one
    mark = _BOM if hashlib.sha256(source.text.encode()).hexdigest() != source.digest else b""
    raw = mark + text.encode()
    new = source_of(raw, job.file, found)
    if new is not None:
        found.extend(_caused(source, new, job, overlays))
    return _Edited(job.file, raw, tuple(said))


def _model(source: Source, names: Sequence[tuple[str, str | None]]) -> type[JobFields]:
    """The model of the kind that the job will be of."""
    written = source.data.get("kind") if isinstance(source.data, dict) else None
    kind = next((value for name, value in names if name == "kind"), written)
    return KINDS.get(kind, JobFields) if isinstance(kind, str) else JobFields


def _refuse_unknown(model: type[JobFields], source: Source, change: Change, found: Findings) -> None:
    """Removing what is not there is no mistake, unless it never could be; what is set is for the model to judge."""
    *above, last = change.route
    known = fields_at(model, tuple(above))
    if known and last not in known:
        hint = did_you_mean(str(last), known)
        found.error("unknown-field", source.place(change.route), f"unknown field `{dotted(change.route)}`", hint)


def _caused(old: Source, new: Source, job: JobFile, overlays: Sequence[Overlay]) -> list[Diagnostic]:
    """The errors of the new text that the old one did not have: a file may be put right step by step."""
    errors = _errors(new, job, overlays)
    known = {(item.code, item.message) for item in _errors(old, job, overlays)} if errors else set()
    return [item for item in errors if (item.code, item.message) not in known]


def _errors(source: Source, job: JobFile, overlays: Sequence[Overlay]) -> list[Diagnostic]:
    """What a render would refuse, in the overlays that select the job; without any, what the job's model refuses."""
    found = Findings()
    selected = [overlay for overlay in overlays if selects(overlay, job.key)]
    for overlay in selected:
        own = Findings()
        render_job(source, job.namespace, overlay, own)
        found.extend(own.items)
    if not selected:
        parse_job(source, job.namespace, None, found)
    return [item for item in found if item.severity.value == "error"]


def _said(source: Source, change: Change) -> str:
    name = _printable(dotted(change.route))
    if change.value is None:
        return f"{name} removed"
    old, new = _written(source.data, change.route), _printable(change.value)
    return f"{name} {_printable(old)} → {new}" if isinstance(old, str) and old else f"{name} is {new}"


def _written(data: Any, route: Route) -> Any:
    """What a file says at a route; None when it says nothing."""
    for step in route:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _printable(text: str) -> str:
    """A text of a file, which must not be able to write anything it likes into a terminal."""
    return clipped("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)) or '""'


def _summary(done: Sequence[_Edited], jobs: int) -> str:
    files = f"{jobs} job file{'' if jobs == 1 else 's'}"
    if not done:
        return f"{files} say{'s' if jobs == 1 else ''} so already; nothing was written"
    lines = [f"{result.file}: {', '.join(result.said)}" for result in done[:_LISTED]]
    lines += [f"… and {len(done) - _LISTED} more"] if len(done) > _LISTED else []
    return "\n".join([*lines, f"changed {len(done)} of {files}; run `gen render` and commit the result"])
