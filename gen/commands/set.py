"""`gen set`: change fields of job files, if the result is valid."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from gen.base.codes.jobs import CANNOT_EDIT, UNKNOWN_FIELD
from gen.base.findings import Diagnostic, Findings, UsageError, counted
from gen.base.repository.files import replace_files
from gen.base.repository.job_files import chosen_jobs
from gen.base.repository.layout import JobFile
from gen.base.routes import dotted, follow
from gen.base.yaml.source import Source, read, source_of
from gen.base.yaml.strict import Data, parse
from gen.commands.common import Result, Root, complete_jobs, completions, repository
from gen.commands.rendering import refused
from gen.edit.change import Change, EditError, NamedField, field_named
from gen.edit.checks import check_quota, in_old_file, job_findings
from gen.edit.splice import edited, flow, scalar
from gen.job.annotations import Form, accepts, fields_at, form_at, models_at
from gen.job.scalars import clipped
from gen.job.suggest import suggest
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.report.formats import Report

_BOM = "\ufeff".encode()
MAX_LISTED_FILES = 40
"""Changes of more files are only counted."""


def complete_fields(incomplete: str) -> list[str]:
    """`FIELD=` of jobs, or the values of a field that has few."""
    from gen.report.fields import document_fields
    from gen.report.schemas import job_schema

    name, given, _ = incomplete.partition("=")
    found: dict[str, list[str]] = {}
    for field in document_fields("job", job_schema()):
        _, path = field.name.split(".", 1)
        found.setdefault(path, []).extend(map(str, field.schema.get("enum", ())))
    if given:
        return [f"{name}={value}" for value in dict.fromkeys(found.get(name, ()))]
    deeper = name.count(".")
    return [f"{field}=" for field in completions(name, (one for one in found if one.count(".") == deeper))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen set`."""

    jobs: Annotated[
        str, typer.Argument(help="Job file, NAMESPACE/NAME, or a pattern.", metavar="JOB", autocompletion=complete_jobs)
    ]
    assignments: Annotated[
        tuple[str, ...],
        typer.Argument(
            help="Such as `state=finished`, `env.DEBUG=on` or `metrics=[loss]`.",
            metavar="FIELD=VALUE",
            autocompletion=complete_fields,
        ),
    ] = ()
    unset: Annotated[
        tuple[str, ...], typer.Option("--unset", metavar="FIELD", help="Remove this field; may be repeated.")
    ] = ()
    root: Root = None


@dataclass(frozen=True, slots=True)
class _Edited:
    file: str
    raw: bytes
    changes: tuple[str, ...]
    """Descriptions of the changed fields."""


def run(request: Request) -> Result[Report]:
    """Change all files, or none if one would become invalid."""
    assignments = [_assignment(text) for text in request.assignments]
    if not assignments and not request.unset:
        raise UsageError("no fields to change: pass `FIELD=VALUE` or `--unset FIELD`")
    root = repository(request.root)
    listed = Findings()
    jobs = chosen_jobs(root, [request.jobs], listed)
    names = [*((name, None) for name in request.unset), *assignments]
    return change_files(root, jobs, names, listed)


def change_files(
    root: Path, jobs: Sequence[JobFile], names: Sequence[tuple[str, str | None]], listed: Findings
) -> Result[Report]:
    """Set fields of all files, or of none if one would become invalid. None as a value removes a field."""
    overlays = OverlayReader(root, Findings()).read()  # `gen render` reports errors in overlays
    found = Findings() if jobs else listed  # errors in other files do not matter here
    results = [_edit(root, job, names, overlays, found) for job in jobs]
    if not found.failed():
        changed = {job: one.raw for job, one in zip(jobs, results, strict=True) if one is not None and one.changes}
        check_quota(root, changed, overlays, found)
    if found.failed():
        return refused(found, root)
    done = [result for result in results if result is not None and result.changes]
    replace_files(root, {result.file: result.raw for result in done})
    return Result(output=Report((), (), _summary(done, len(jobs))))


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"`{text}` has no value: write `{text}=VALUE` or `--unset {text}`")
    found = Findings()
    if not text.isprintable():  # quotes cannot make it valid
        source_of(scalar(text, flow=False, style='"').encode(errors="surrogateescape"), "", found)
    for item in found:
        raise UsageError(f"the value of `{_printable(name)}` cannot be written as YAML: {item.message}")
    return name, value


def _edit(
    root: Path, job: JobFile, names: Sequence[tuple[str, str | None]], overlays: Sequence[Overlay], found: Findings
) -> _Edited | None:
    """One file with the changes; None if there are findings."""
    source = read(root, job.file, found)
    if source is None:
        return None
    text = source.text
    changes: list[str] = []
    fields = [field_named(source.data, dict(names), name) for name, _ in names]
    for field, (_, value) in zip(fields, names, strict=True):
        change = Change(field.route, _data(field, value))
        try:
            after = edited(text, change)
        except EditError as error:
            found.error(CANNOT_EDIT, source.place(error.route), error.message, error.hint)
            continue
        if after != text:
            changes.append(_description(source, change))
        elif value is None:
            _refuse_unknown(field, source, found)
        text = after
    # the reader drops a byte order mark
    mark = _BOM if hashlib.sha256(source.text.encode()).hexdigest() != source.digest else b""
    raw = mark + text.encode()
    new = source_of(raw, job.file, found)
    if new is not None:
        routes = [field.route for field in fields]
        found.extend(in_old_file(caused_errors(source, new, job, overlays), source, new, routes))
    return _Edited(job.file, raw, tuple(changes))


def _data(field: NamedField, value: str | None) -> Data | None:
    """The value as a text, or the list or mapping in brackets that it is for a field without texts."""
    if value is None or value[:1] not in ("[", "{") or accepts(field.model, field.inner, value):
        return value
    if form_at(field.model, field.inner) is Form.FIELDS and not models_at(field.model, field.inner):
        return value
    read = parse(f"value: {value}", "", Findings())
    return read["value"] if isinstance(read, dict) and len(read) == 1 else value


def _refuse_unknown(field: NamedField, source: Source, found: Findings) -> None:
    """Unsetting an absent field is fine; unsetting an unknown field is an error. The model checks assigned values."""
    *above, last = field.inner
    known = fields_at(field.model, tuple(above))
    if known and last not in known:
        hint = suggest(field.model, field.inner).hint
        found.error(UNKNOWN_FIELD, source.place(field.route), f"unknown field `{dotted(field.route, clipped)}`", hint)


def caused_errors(old: Source, new: Source, job: JobFile, overlays: Sequence[Overlay]) -> list[Diagnostic]:
    """Errors of the new text that the old one did not have, so that a file can be corrected step by step."""
    errors = _errors(new, job, overlays)
    known = {(item.code, item.message) for item in _errors(old, job, overlays)} if errors else set()
    return [item for item in errors if (item.code, item.message) not in known]


def _errors(source: Source, job: JobFile, overlays: Sequence[Overlay]) -> list[Diagnostic]:
    return [item for item in job_findings(source, job, overlays) if item.is_error]


def _description(source: Source, change: Change) -> str:
    name = _printable(dotted(change.route, clipped))
    if change.value is None:
        return f"{name} removed"
    old, new = follow(source.data, change.route), _printable(flow(change.value))
    return f"{name} {_printable(flow(old))} → {new}" if old else f"{name} set to {new}"


def _printable(text: str) -> str:
    """Text of a file, without characters that control a terminal."""
    return clipped("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)) or '""'


def _summary(done: Sequence[_Edited], jobs: int) -> str:
    files = counted(jobs, "job file")
    if not done:
        return f"no changes: {files} {'is' if jobs == 1 else 'are'} already up to date"
    lines = [f"{result.file}: {', '.join(result.changes)}" for result in done[:MAX_LISTED_FILES]]
    lines += [f"… and {len(done) - MAX_LISTED_FILES} more"] if len(done) > MAX_LISTED_FILES else []
    return "\n".join([*lines, f"changed {len(done)} of {files}; run `gen render` and commit the result"])
