"""A job file in an overlay: defaults applied, expressions replaced, every field validated."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Final, cast

from pydantic import ValidationError

from gen.base import Findings, Location, Put, Rename, Route, did_you_mean, near, only_near
from gen.base.codes.files import INVALID_NAME
from gen.base.codes.jobs import MISSING_FIELD, NO_EFFECT, NO_VALUE, UNKNOWN_FIELD, UNKNOWN_KIND
from gen.base.codes.overlays import PLUGIN_NOT_NAMED
from gen.base.placeholders import RUN, TRIAL
from gen.base.yaml.layers import Layer, Layers, lay_over, without
from gen.base.yaml.source import Source, report_not_a_mapping
from gen.base.yaml.strict import Data
from gen.job.fields import JobFields
from gen.job.kinds import ALL_KINDS, has_declared_name, is_declared
from gen.job.kinds.base import Job
from gen.job.literal_secrets import report_secrets
from gen.job.names import JOB_NAME, name_meant
from gen.job.scalars import empty, null, shown
from gen.job.suggest import Models, field_of_others, intended_kind, with_new_names
from gen.overlay.overlay import Overlay
from gen.overlay.plugins import KIND_GROUP, unnamed_plugin
from gen.render.emit import SWEEP
from gen.render.expressions import evaluate_fields
from gen.render.job_run import JobInput, RunValues, WrittenJob
from gen.render.starters import starter_of
from gen.render.text_mistakes import report_texts, warn_unused_params


def read_job(source: Source, namespace: str, overlay: Overlay | None, found: Findings) -> WrittenJob | None:
    """A job file with the defaults of an overlay; None if it cannot be used at all."""
    kind = _kind(source, found)
    if kind is None or (overlay is not None and not named_kind(kind, lambda: source.place(("kind",)), overlay, found)):
        return None
    source = with_new_names(source, models_of(kind, source.data), found)
    written = cast("dict[str, Data]", source.data)
    _check_file_name(source, found)
    report_texts(source, ALL_KINDS[kind], found)
    if overlay is not None:
        _report_unusable_defaults(kind, overlay, found)
    return WrittenJob(
        model=ALL_KINDS[kind],
        kind=kind,
        name=job_name(source)[0],
        namespace=namespace,
        source=source,
        overlay=overlay,
        data=lay_over(overlay.defaults_of(kind), written) if overlay else written,
        layers=Layers((Layer(source), *(overlay.layers_of(kind) if overlay else ()))),
    )


def models_of(kind: str, data: Data) -> Models:
    """The model of a job, and of each step of a pipeline."""
    steps = data.get("steps") if isinstance(data, dict) and ALL_KINDS[kind].own_fields else None
    inner = steps if isinstance(steps, dict) else {}
    return {(): ALL_KINDS[kind], **{("steps", name): JobFields for name in inner}}


def _report_unusable_defaults(kind: str, overlay: Overlay, found: Findings) -> None:
    """Warn about defaults for all jobs that those of a kind cannot have."""
    for name, reason in overlay.unusable_defaults(kind).items():
        message = f"the default `{name}` has no effect on jobs of `kind: {kind}`: {reason}"
        hint = f"move `{name}` to `defaults.kinds`, for the kinds that have it"
        found.warning(NO_EFFECT, overlay.place("defaults", name, key=True), message, hint)


def parse_run(written: WrittenJob, found: Findings, own: RunValues | None = None) -> JobInput | None:
    """Validate the job, or one run of its sweep. None if it cannot be used at all."""
    source, overlay, layers, data = written.source, written.overlay, written.layers, written.data
    if own is not None:
        data = {**data, **own.fields}
        data.pop(SWEEP, None)
    if written.model.own_fields:
        data = _without_common(data, written.model)
    job_values = {"name": written.name, "namespace": written.namespace, "kind": written.kind}
    name, params = (own.name, own.params) if own is not None else (written.name, {})
    starter = starter_of(written.model, data)
    run = TRIAL if written.later or starter.named_later else f"{name}-{RUN}"
    chosen = starter.params(data)
    params = chosen if chosen is not None else params
    runs = own.runs if own is not None else 1
    texts = evaluate_fields(data, job_values, run, params, overlay, layers, found, runs, written.step)
    if overlay is not None and not texts.failed and not written.step:
        warn_unused_params(source.data, written.data, partial(source.place, key=True), found)
    hidden = report_secrets(texts.data, layers, found, texts.failed)
    values, unusable = _concealed(texts.data, hidden)
    job, left_out = _validated(written.model, values, texts.failed | unusable, layers, found)
    if job is None:
        return None
    return JobInput(job, job.name or job_stem(source), written.namespace, source, layers, left_out, texts.data, own)


_CONCEALED: Final = "concealed"
"""In place of a secret in `env`, so that the rest of the job is checked as a whole."""


def _concealed(data: dict[str, Data], hidden: set[Route]) -> tuple[dict[str, Data], set[Route]]:
    """The values without secrets in `env`, and the routes of other secrets, which are left out."""
    env = data.get("env")
    if not isinstance(env, dict) or not hidden:
        return data, hidden
    own = {str(name): _CONCEALED for name, value in env.items() if isinstance(value, str) and ("env", name) in hidden}
    return {**data, "env": {**env, **own}}, hidden - {("env", name) for name in own}


def _without_common(data: dict[str, Data], model: type[Job]) -> dict[str, Data]:
    """The fields of a pipeline itself. Its steps have the others; volumes are for TensorBoard, too."""
    own = model.own_fields | ({"data"} if data.get("tensorboard") else frozenset())
    return {name: value for name, value in data.items() if name in own}


def parse_job(source: Source, namespace: str, found: Findings) -> JobInput | None:
    """Validate one job file without an overlay, as far as that is possible. None if the job cannot be used at all."""
    written = read_job(source, namespace, None, found)
    return parse_run(written, found) if written is not None else None


def job_name(source: Source) -> tuple[str, str]:
    """Name and kind of the job in a file, which may be invalid: the file's name and an empty kind if they are unset."""
    data = source.data if isinstance(source.data, dict) else {}
    name, kind = data.get("name"), data.get("kind")
    return str(name) if isinstance(name, str) and name else job_stem(source), str(kind) if isinstance(kind, str) else ""


def job_stem(source: Source) -> str:
    """Name of a job file without its ending."""
    return source.file.rsplit("/", 1)[-1].removesuffix(".yaml")


def _check_file_name(source: Source, found: Findings) -> None:
    """The file name must be a valid job name unless the job sets `name`, which is validated with the other fields."""
    stem = job_stem(source)
    if not (isinstance(source.data, dict) and "name" in source.data) and not JOB_NAME.fullmatch(stem):
        meant = name_meant(stem)
        form = f"such as `{meant}`" if JOB_NAME.fullmatch(meant) else "with a letter first"
        hint = f"rename the file, or add `name`: lower-case letters, digits and `-`, {form}"
        found.error(INVALID_NAME, source.place((), key=True), f"`{stem}` is not a valid job name", hint)


def _kind(source: Source, found: Findings) -> str | None:
    if not isinstance(source.data, dict):
        report_not_a_mapping(source, "a job", found)
        return None
    kind = source.data.get("kind")
    choice = ", ".join(f"`{name}`" for name in ALL_KINDS)
    if kind is None and (misspelt := near("kind", source.data)):
        place = source.place((misspelt,), key=True)
        fixes = (Rename((misspelt,), "kind"),) if misspelt.lower() == "kind" else ()
        found.error(UNKNOWN_FIELD, place, f"unknown field `{misspelt}`", "did you mean `kind`?", fixes=fixes)
    elif kind is None:
        found.error(MISSING_FIELD, source.place((), key=True), "`kind` is missing", f"add `kind`: {choice}")
    elif empty(kind) or null(kind):
        found.error(NO_VALUE, source.place(("kind",)), "`kind` is empty", f"choose one: {choice}")
    elif isinstance(kind, str) and kind not in ALL_KINDS and has_declared_name(kind):
        return None  # its declaration has an error
    elif not isinstance(kind, str) or kind not in ALL_KINDS:
        meant = only_near(kind, ALL_KINDS) if isinstance(kind, str) and "apiVersion" not in source.data else ""
        put = (Put(("kind",), str(kind), meant),) if meant else ()
        found.error(UNKNOWN_KIND, source.place(("kind",)), *unknown_kind(source.data, kind), fixes=put)
    else:
        return kind
    return None


def unknown_kind(data: dict[str, Data], kind: Data) -> tuple[str, str]:
    """Message and hint about a kind of job that gen does not know."""
    if not isinstance(kind, str):
        return (
            f"`kind`: expected a string, got {shown(kind)}",
            f"write one kind: {', '.join(f'`{k}`' for k in ALL_KINDS)}",
        )
    meant = intended_kind(kind)
    if "apiVersion" in data:
        form = f"`kind: {meant}`" if meant else "a `kind`"
        hint = f"write a job with {form} and its own fields instead"
        facts = [model.facts for model in ALL_KINDS.values()]
        kinds = {one.kind for known in facts for one in (known, known.scheduled_by) if one is not None}
        more = "; `gen import manifests` makes one of it" if kind in kinds else ", or move the file out of `jobs/`"
        hint = f"{hint}{more}"
        return f"this is a manifest of {shown(kind)}, not a job", hint
    return f"unknown kind of job {shown(kind)}", f"did you mean `{meant}`?" if meant else did_you_mean(kind, ALL_KINDS)


def named_kind(kind: str, place: Callable[[], Location], overlay: Overlay, found: Findings) -> bool:
    """Whether the kind is one of gen, of the overlay, or of a plugin that the overlay names.

    `place` is only called for a finding, because finding it parses the file again.
    """
    if is_declared(kind) and kind not in overlay.fields.kinds:
        message = f"overlay `{overlay.name}` does not declare the kind `{kind}`"
        hint = "declare it under `kinds` of the overlay, or exclude the job in `select`"
        found.error(UNKNOWN_KIND, place(), message, hint)
        return False
    plugin = unnamed_plugin(KIND_GROUP, kind, overlay.fields.plugins)
    if plugin is not None:
        message = f"kind `{kind}` comes from plugin `{plugin}`, which overlay `{overlay.name}` does not name"
        found.error(PLUGIN_NOT_NAMED, place(), message, f"add `{plugin}` to `plugins` of the overlay")
    return plugin is None


def _validated(
    model: type[Job], data: dict[str, Data], failed: Collection[Route], layers: Layers, found: Findings
) -> tuple[Job | None, frozenset[str]]:
    """The job without its invalid values, which are reported, and the fields that contained them."""
    data = without(data, failed)
    left_out = {str(route[0]) for route in failed}
    try:
        return model.model_validate(data), frozenset(left_out)
    except ValidationError as error:
        from gen.job.suggest import intended_fields
        from gen.job.validation_errors import explain

        wrong = explain(error, model, layers, found, elsewhere=field_of_others)
    left_out |= {str(route[0]) for route in wrong} | intended_fields(model, wrong)
    try:
        return model.model_validate(without(data, wrong)), frozenset(left_out)
    except ValidationError:
        return None, frozenset(left_out)
