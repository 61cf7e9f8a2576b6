"""One job of kind `pipeline` of the jobs that the calls of a pipeline create."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import methodcaller
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Location, with_texts
from gen.base.codes.imports import CANNOT_RUN, INVALID_MANIFEST, NOT_CARRIED, OTHER_VALUE
from gen.importers import Fields, ImportedJob
from gen.importers.draft import literal, with_object
from gen.importers.kfp.calls import Call
from gen.importers.kfp.graph import OF_STEP, Pipeline, When
from gen.importers.kfp.parts import Part
from gen.importers.kfp.step_names import pipeline_name
from gen.importers.manifests.container_names import with_names_of_steps
from gen.importers.overlay_needs import clashes, merge
from gen.job.kinds.pipeline import PipelineJob
from gen.job.search import param_name

ACCOUNT: Final = "gen-pipeline"
_MERGED: Final = frozenset({"labels", "annotations", "metrics"})
"""Fields of the pipeline as a whole that have those of all steps."""


_MAX_SHOWN: Final = 100


def comment_of(pipeline: Pipeline) -> str:
    """The comment above the job of a pipeline."""
    name = "".join(char if char.isprintable() else " " for char in pipeline.name[:_MAX_SHOWN]).strip("-. ")
    return f"Imported from the pipeline {name or 'without a name'}."


class CallJobs(Struct, frozen=True, kw_only=True):
    """A call with the jobs that it creates."""

    call: Call
    place: Location
    parts: list[Part]
    obstacles: tuple[Diagnostic, ...] = ()
    """Why the pipeline does something else without the parts that the step lacks."""


class _Step(Struct, frozen=True, kw_only=True):
    """A step of the pipeline of gen."""

    name: str
    part: Part
    needs: tuple[str, ...]
    when: When
    lacks: tuple[Diagnostic, ...]
    """Why the pipeline does something else without the parts that it lacks."""
    is_known: bool
    """Whether other steps may know its object by its name: the pod of a program has a name of Argo."""


def assembled(pipeline: Pipeline, every: Sequence[CallJobs], place: Location, found: Findings) -> list[ImportedJob]:
    """The pipeline; a single step becomes a job of its own."""
    steps = _with_names(_steps(every, found), found)
    own = [one for step in steps for one in (*step.part.obstacles, *step.part.job.obstacles)]
    obstacles = tuple(dict.fromkeys([*own, *(one for made in every for one in made.obstacles)]))
    if len(steps) < 2:  # noqa: PLR2004 - one step has no order
        comment = comment_of(pipeline)
        jobs = [replace(step.part.job, obstacles=obstacles, comment=comment) for step in steps]
        return [_with_params(job, steps[0].part.params, pipeline.parameters) for job in jobs]
    steps, own_params = _with_own_params(steps)
    jobs = [step.part.job for step in steps]
    fields: Fields = {"kind": "pipeline", **_common(jobs)}
    for step in steps:
        _hoist(fields, step, found)
    fields_of = {step.name: _own(step, fields) for step in steps}
    _check_clashes(steps, found)
    params = frozenset().union(*(step.part.params for step in steps))
    overlay, grants = Fields(), Fields()
    for one in jobs:
        merge(overlay, one.overlay)
        merge(grants, one.grants)
    of_pods = pipeline.account in grants.get("serviceAccounts", ())  # which must not be that of pipelines
    account = ACCOUNT if of_pods else pipeline.account or ACCOUNT
    merge(overlay, {"pipelines": {"argo": {"serviceAccount": account}}})
    job = ImportedJob(
        name=pipeline_name(pipeline.name, fields_of),
        namespace=jobs[0].namespace,
        fields={**fields, **({"params": own_params} if own_params else {}), "steps": fields_of},
        overlay=overlay,
        grants=grants,
        comment=comment_of(pipeline),
        place=place,
        places={f"steps.{step.name}": step.part.job.place for step in steps},
        originals=tuple(
            replace(one, step=step.name, lacks=step.lacks) for step in steps for one in step.part.job.originals[:1]
        ),
        obstacles=obstacles,
    )
    return [_with_params(job, params, pipeline.parameters)]


def _with_own_params(steps: list[_Step]) -> tuple[list[_Step], dict[str, str]]:
    """Steps without parameters of their own, and those of all: a pipeline has one of each name. Steps get them from the
    placeholders of their objects, so that values differ only with the names.
    """
    every: dict[str, str] = {}
    changed = []
    for step in steps:
        fields = {name: value for name, value in step.part.job.fields.items() if name != "params"}
        every |= step.part.job.fields.get("params", {})
        changed.append(replace(step, part=replace(step.part, job=replace(step.part.job, fields=fields))))
    return changed, every


def _with_params(job: ImportedJob, names: frozenset[str], parameters: Mapping[str, str]) -> ImportedJob:
    if not names:
        return job
    params = {param_name(name): literal(value) for name, value in parameters.items() if name in names}
    fields = {**job.fields, "params": {**params, **job.fields.get("params", {})}}
    if "steps" in fields:
        fields["steps"] = fields.pop("steps")
    return replace(job, fields=fields)


def _steps(every: Sequence[CallJobs], found: Findings) -> list[_Step]:
    """Steps with jobs. A step that waits for one without a job waits for what that waits for."""
    names: dict[str, tuple[str, ...]] = {}
    steps = []
    for made in every:
        call = made.call
        needs = tuple(dict.fromkeys(name for need in call.needs for name in names.get(need, ())))
        gone = [need for need in call.needs if not any(one.call.name == need and one.parts for one in every)]
        if call.when == "failed" and gone and made.parts:
            known = {one.call.name for one in every if one.parts}
            needs = tuple(name for need in call.needs if need in known for name in names[need])
            message = f"step `{call.task}` waits for the failure of `{gone[0]}`, which is not carried"
            found.warning(NOT_CARRIED, made.place, message, "check `needs` and `when` of the step")
        if not made.parts or (call.when == "failed" and not needs):
            names[call.name] = needs
            continue
        own = [call.name, *(f"{call.name}-{number}" for number in range(2, len(made.parts) + 1))]
        names[call.name] = tuple(own)
        steps += [
            _Step(
                name=name,
                part=part,
                needs=needs,
                when=call.when if needs else "succeeded",
                lacks=(*made.obstacles, *(one for one in part.obstacles if one.place != made.place)),
                is_known=bool(call.leaf.manifest) or part.job.name != call.name,
            )
            for name, part in zip(own, made.parts, strict=True)
        ]
    return steps


def _with_names(steps: list[_Step], found: Findings) -> list[_Step]:
    """Steps with the names that objects have in a run, in place of their own and of those of other steps."""
    several = len(steps) > 1
    made = []
    for step in steps:
        run = f"{{{{ run.id }}}}-{step.name}" if several else "{{ run.id }}"
        fields = with_texts(step.part.job.fields, methodcaller("replace", OF_STEP, run))
        known = [one for one in steps if one is not step and one.is_known]
        job = with_names_of_steps(replace(step.part.job, fields=fields), (one.part.job for one in known))
        obstacles = list(step.part.obstacles)
        for other in known:
            job, left = with_object(job, other.part.job, name := f"{{{{ run.id }}}}-{other.name}")
            if left:
                message = f"`{left}` of step `{step.name}` is the object of step `{other.name}`, which has another name"
                hint = f"write `{name}` in its place, in a program of the job"
                found.warning(CANNOT_RUN, job.place, message, hint)
                obstacles.append(found.items[-1])
        made.append(replace(step, part=replace(step.part, job=job, obstacles=tuple(obstacles))))
    return made


def _common(jobs: Sequence[ImportedJob]) -> Fields:
    """Fields with the same value in all steps, which a pipeline has once."""
    first = jobs[0].fields
    return {
        name: value
        for name, value in first.items()
        if name != "kind" and name not in PipelineJob.own_fields and all(job.fields.get(name) == value for job in jobs)
    }


def _hoist(fields: Fields, step: _Step, found: Findings) -> None:
    """Fields that only the pipeline as a whole can have."""
    job = step.part.job
    for name, value in job.fields.items():
        if name not in PipelineJob.own_fields or name in {"kind", "params"}:
            continue
        if name == "metrics":
            fields[name] = [*fields.get(name, []), *(one for one in value if one not in fields.get(name, []))]
        elif name in _MERGED:
            _merge_texts(fields.setdefault(name, {}), value, name, step, found)
        elif name == "tensorboard" and name not in fields:
            fields[name] = value
        elif (why := PipelineJob.unsupported.get(name)) is not None:
            message = f"step `{step.name}` cannot have a `{name}`: {why}"
            found.error(INVALID_MANIFEST, job.place, message, "import its object as a job of its own")
        else:
            message = f"`{name}` of step `{step.name}` is not carried: only a pipeline as a whole can have it"
            found.warning(NOT_CARRIED, job.place, message, "check whether the pipeline needs it")


def _merge_texts(known: Fields, more: Fields, name: str, step: _Step, found: Findings) -> None:
    for key, value in more.items():
        if known.setdefault(key, value) != value:
            message = f"`{name}.{key}` of step `{step.name}` is not carried: another step has another value"
            found.warning(NOT_CARRIED, step.part.job.place, message, "check which one the pipeline needs")


def _own(step: _Step, common: Fields) -> Fields:
    fields = step.part.job.fields
    order: Fields = {"needs": list(step.needs)} if step.needs else {}
    order |= {"when": step.when} if step.when != "succeeded" else {}
    kept = {
        name: value
        for name, value in fields.items()
        if name == "kind" or (name not in PipelineJob.own_fields and name not in common)
    }
    return {"kind": kept.pop("kind"), **order, **kept}


def _check_clashes(steps: Sequence[_Step], found: Findings) -> None:
    """All steps are in one overlay, so one name of a profile has one meaning."""
    for job, route, _ in clashes([replace(step.part.job, name=step.name) for step in steps]):
        message = f"`{'.'.join(map(str, route))}` of step `{job.name}` is not that of another step"
        found.error(OTHER_VALUE, job.place, message, "change the name of one of the two")
