"""`gen set`: change fields of job files, if the result is valid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct

from gen.base import Findings, UsageError, at, dotted, follow
from gen.base.codes.jobs import CANNOT_EDIT, UNKNOWN_FIELD
from gen.base.repository.job_files import chosen_jobs, overlay_names
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import Source, read, source_of
from gen.base.yaml.strict import Data, parse
from gen.commands.common import DryRun, Result, Root, complete_jobs, completions, repository
from gen.commands.verb import Draft, Edit, change_files, printable
from gen.edit.change import Change, NamedField, field_named
from gen.edit.splice import scalar
from gen.job.model import Form, accepts, fields_at, form_at, models_at
from gen.job.scalars import clipped
from gen.job.suggest import suggest
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.report.formats import Report


def complete_fields(ctx: typer.Context, incomplete: str) -> list[str]:
    """`FIELD=` or `FIELD.` of the kind of the jobs, or the values of a field that has few."""
    from gen.report.explain import document_fields
    from gen.report.schemas import job_schema

    name, given, _ = incomplete.partition("=")
    kinds = {str(at(source.data, "kind")) for source in _given(ctx)}
    found: dict[str, list[str]] = {}
    for field in document_fields("job", job_schema()):
        if not field.kinds or not kinds or not kinds.isdisjoint(field.kinds):
            _, path = field.name.split(".", 1)
            found.setdefault(path, []).extend(_words(field.schema))
    if given:
        values = (*found.get(name, ()), *_offered(name))
        return [f"{name}={value}" for value in dict.fromkeys(values) if f"{name}={value}".startswith(incomplete)]
    if name.startswith("data."):
        return [f"{field}=" for field in completions(name, (f"data.{volume}" for volume in _offered("data")))]
    above, deeper = {path.rpartition(".")[0] for path in found} | {"data", "env"}, name.count(".")
    fields = completions(name, (one for one in found if one.count(".") == deeper))
    return [f"{field}{'.' if field in above else '='}" for field in fields]


def _words(schema: Any) -> Iterator[str]:
    """The values of a schema with few."""
    if schema.get("type") == "boolean":
        yield from ("true", "false")
    yield from map(str, schema.get("enum", ()))
    for form in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from _words(form)


def complete_present(ctx: typer.Context, incomplete: str) -> list[str]:
    """The fields that the jobs have."""
    return completions(incomplete, (path for source in _given(ctx) for path in _present(source.data, "")))


def _given(ctx: typer.Context) -> Iterator[Source]:
    """The files of the jobs of an incomplete command line."""
    with suppress(UsageError, IndexError):
        root = repository(None)
        named = ctx.params.get("jobs") or ctx.args[0]  # not parsed yet while the value of an option is missing
        for job in chosen_jobs(root, [str(named)], Findings()):
            if (source := read(root, job.file, Findings())) is not None:
                yield source


def _present(data: Data, above: str) -> Iterator[str]:
    for name, value in data.items() if isinstance(data, dict) else ():
        yield f"{above}{name}"
        yield from _present(value, f"{above}{name}.")


def _offered(field: str) -> list[str]:
    """Names that the overlays offer for a field."""
    with suppress(UsageError):
        overlays = OverlayReader(repository(None), Findings()).read()
        return sorted({name for overlay in overlays for name in _names(field, overlay)})
    return []


def _names(field: str, overlay: Overlay) -> Iterable[str]:
    offers: dict[str, Iterable[str]] = {
        "clusters": [overlay.name],
        "network": overlay.fields.networks,
        "data": overlay.fields.volumes,
        "accelerator": overlay.fields.accelerators,
        "queue": [str(queue) for grant in overlay.fields.namespaces.values() for queue in grant.queues],
    }
    return offers.get(field, ())


class Request(Struct, frozen=True, kw_only=True):
    jobs: Annotated[
        str, typer.Argument(help="Job file, name, or a pattern.", metavar="JOB", autocompletion=complete_jobs)
    ]
    assignments: Annotated[
        tuple[str, ...],
        typer.Argument(
            help="Such as `gpus=8`, `env.DEBUG=on` or `metrics=[loss]`; `attempt+=1` adds, `args+=--lr` appends.",
            metavar="FIELD=VALUE",
            autocompletion=complete_fields,
        ),
    ] = ()
    unset: Annotated[
        tuple[str, ...],
        typer.Option(
            "--unset", metavar="FIELD", help="Remove this field; may be repeated.", autocompletion=complete_present
        ),
    ] = ()
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the `checkpoints` of the last run: writes `resume`.")
    ] = False
    dry_run: DryRun = False
    root: Root = None


class Assignment(Struct, frozen=True):
    """A new value of a field; None removes it."""

    name: str
    value: str | None
    more: bool = False
    """Whether the value is added to the present one."""


def run(request: Request) -> Result[Report]:
    """Change all files, or none if one would become invalid."""
    assignments = [_assignment(text) for text in request.assignments]
    if not assignments and not request.unset and not request.resume:
        raise UsageError("no fields to change: pass `FIELD=VALUE` or `--unset FIELD`")
    root = repository(request.root)
    listed = Findings()
    jobs = chosen_jobs(root, [request.jobs], listed)
    names = [*(Assignment(name, None) for name in request.unset), *assignments]
    edit: Edit = partial(with_fields, names)
    if request.resume:
        edit = _resumed(root, jobs, edit)
    return change_files(root, jobs, edit, listed, dry_run=request.dry_run)


def _resumed(root: Path, jobs: Sequence[JobFile], edit: Edit) -> Edit:
    """The edit, and `resume` with the last run of each job."""
    from gen.commands.verb import LastRuns
    from gen.live.desired import desired_runs

    runs = desired_runs(root, overlay_names(root, Findings()), frozenset(jobs))
    last = LastRuns(root, runs)
    return lambda job, source, found: last.continued(edit(job, source, found), job, source, {}, found)


def _assignment(text: str) -> Assignment:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"`{text}` has no value: write `{text}=VALUE` or `--unset {text}`")
    found = Findings()
    if not text.isprintable():  # quotes cannot make it valid
        source_of(scalar(text, flow=False, style='"').encode(errors="surrogateescape"), "", found)
    for item in found:
        raise UsageError(f"the value of `{printable(name)}` cannot be written as YAML: {item.message}")
    return Assignment(name.removesuffix("+"), value, name.endswith("+"))


def with_fields(names: Sequence[Assignment], _job: JobFile, source: Source, found: Findings) -> Draft:
    """The file with new values of fields."""
    draft = Draft(text=source.text)
    new = {one.name: one.value for one in names}
    for one in names:
        field = field_named(source.data, new, one.name)
        for change in _added(field, one, source, found) if one.more else [Change(field.route, _data(field, one.value))]:
            before, faults = draft, len(found.items)
            draft = draft.with_change(source, change, found)
            if one.value is None and draft.text == before.text and len(found.items) == faults:
                _refuse_unknown(field, source, found)
    return draft


def _added(field: NamedField, one: Assignment, source: Source, found: Findings) -> list[Change]:
    """What `+=` changes: entries of a list, or a number. None after an error, which is reported."""
    value, name = str(one.value), printable(one.name)
    if form_at(field.model, field.inner) is Form.LIST:
        data = _data(field, value)
        return [Change(field.route, entry, append=True) for entry in (data if isinstance(data, list) else [value])]
    present = follow(source.data, field.route)
    present = "1" if present is None and field.route == ("attempt",) else present
    if isinstance(present, str) and present.isascii() and present.isdecimal() and value.isascii() and value.isdecimal():
        return [Change(field.route, str(int(present) + int(value)))]
    known = field.inner[-1] in fields_at(field.model, field.inner[:-1]) or present is not None
    if not known:
        return [Change(field.route, value)]  # which the model rejects
    message = f"`+=` adds to a list or a number, and the file has none at `{name}`"
    found.error(CANNOT_EDIT, source.place(field.route), message, f"write `{name}={value}`")
    return []


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
