"""A pipeline for Kubeflow Pipelines: its grant, its open parameters, and fields that it cannot have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from gen.findings.files import TOO_LARGE
from gen.findings.grants import NO_PIPELINES, NOT_GRANTED
from gen.findings.jobs import INVALID_VALUE, NO_EFFECT
from gen.kinds.definition_plan import DefinitionPlan
from gen.kinds.pipeline import PipelineJob
from gen.kubernetes import PARAMETER, parameters_in
from gen.model.base import default_of
from gen.regex import regex
from gen.render.build.scripts import script
from gen.render.parse.job import is_definition
from gen.render.plan.context import Context
from gen.render.plan.images import of_platform
from gen.render.plan.lookups import RunPins
from gen.render.plan.placeholders import is_free, strings_in
from gen.render.record import KFP
from gen.resources.kfp import PIPELINE_VERSION

if TYPE_CHECKING:
    from gen.overlay.overlay import Overlay
    from gen.render.expand import Expanded
    from gen.render.job_run import ExpandedStep, JobRun
    from gen.render.plan.lookups import Pins

DRIVER: Final = "-driver"
"""End of the names of tasks that Kubeflow Pipelines adds (`v2/compiler/argocompiler/dag.go`)."""
_PLAIN: Final = regex(r"[A-Za-z0-9_./:@%+=][A-Za-z0-9_./:@%+=-]*")
"""The values that the script of a step accepts: no shell, YAML or template reads them as anything else."""
_MOST: Final = 1024
_MOST_BYTES: Final = 24 << 10
"""Limit for the fields of a step. The driver gets the container of a step in one argument, which Linux limits to
128 KiB, with the object as a string in a string."""
MOST_DEFINED: Final = 256 << 10
"""Limit for the fields of all steps. The workflow of a run has the objects as strings in strings, and 64 scripts."""
_ONCE: Final = {
    "schedule": ("nothing in Git starts its runs", "remove `schedule`, and make a recurring run in Kubeflow Pipelines"),
    "attempt": ("nothing in Git starts its runs", "remove `attempt`, and start another run in Kubeflow Pipelines"),
}


def plan_definition(one: Expanded, overlay: Overlay, pins: Pins | None) -> DefinitionPlan | None:
    """None for a pipeline that Git runs, and for a definition with an error, which is reported."""
    run = one.run
    if run is None or not isinstance(run.given.job, PipelineJob) or run.given.job.kfp is None:
        return None
    _check_fields(run, one)
    _check_names(one)
    params = _params(run, one, overlay)
    grant = overlay.grant(run.given.namespace)
    settings = overlay.fields.pipelines.kfp if overlay.fields.pipelines is not None else None
    if settings is None:
        message = f"overlay `{overlay.name}` has no `pipelines.kfp`"
        hint = "add `pipelines: {kfp: {image: …}}` to the overlay, or remove `kfp` to run the pipeline once"
        one.found.error(NO_PIPELINES, run.given.place(KFP, key=True), message, hint)
    elif grant is not None and not grant.kfp:
        message = f"namespace `{run.given.namespace}` may not have pipelines with `kfp` in overlay `{overlay.name}`"
        hint = f"add `kfp: true` to `namespaces.{run.given.namespace}` of the overlay, or remove `kfp`"
        one.found.error(NOT_GRANTED, run.given.place(KFP, key=True), message, hint)
    if settings is None or grant is None:
        return None
    context = Context(run, overlay, grant, run.name, one.found, RunPins(shared=pins))
    return DefinitionPlan(
        facts=PIPELINE_VERSION,
        image=of_platform(context, settings.image, KFP),
        command=("sh", "-c", script("run_step.sh"), "gen-step"),
        params=params,
    )


def _check_fields(run: JobRun, one: Expanded) -> None:
    job, given = run.given.job, run.given
    for field, (reason, hint) in _ONCE.items():
        if getattr(job, field) != default_of(type(job), field):
            message = f"a pipeline with `kfp` cannot have `{field}`: {reason}"
            one.found.error(INVALID_VALUE, given.place(field, key=True), message, hint)
    if given.own is not None:
        message = "a pipeline with `kfp` cannot have `sweep`: nothing in Git starts its runs"
        hint = "remove `sweep`, and list the parameters in `kfp.params`"
        one.found.error(INVALID_VALUE, given.place("sweep", key=True), message, hint)
    if job.state == "finished":
        message = "a pipeline with `kfp` cannot be `finished`: it is not a run"
        one.found.error(INVALID_VALUE, given.place("state"), message, "remove `state`, or remove the job file")


def _check_names(one: Expanded) -> None:
    names = {step.name for step in one.steps}
    for step in one.steps:
        if step.run is not None and step.name.endswith(DRIVER) and step.name.removesuffix(DRIVER) in names:
            message = f"`{step.name}` is the name of a task that Kubeflow Pipelines adds"
            step.found.error(INVALID_VALUE, step.run.given.place(key=True), message, "choose another name for the step")


def _params(run: JobRun, one: Expanded, overlay: Overlay) -> dict[str, str]:
    """The defaults of the parameters."""
    job, given = run.given.job, run.given
    assert isinstance(job, PipelineJob)  # noqa: S101 - checked by the caller
    assert job.kfp is not None  # noqa: S101 - as above
    used = {name for step in one.steps for name in params_of(step)}
    known = {}
    for index, name in enumerate(job.kfp.params):
        place = given.place(KFP, "params", index)
        value = job.params.get(name)
        if name in job.kfp.params[:index]:
            one.found.error(INVALID_VALUE, place, f"`{name}` is listed twice", "remove one")
        elif name in overlay.fields.params:
            message = f"overlay `{overlay.name}` sets the parameter `{name}` for all jobs"
            hint = f"remove it from `kfp.params`, or remove `params.{name}` of the overlay"
            one.found.error(NOT_GRANTED, place, message, hint)
        elif value is None:
            message = f"`params.{name}` is not defined, so that the parameter has no default"
            one.found.error(INVALID_VALUE, place, message, f"add `{name}` to `params` of the job, with its default")
        elif len(value) > _MOST or not _PLAIN.fullmatch(value):
            message = f"the default of the parameter `{name}` is not a text of letters, digits and `_./:@%+=-`"
            hint = f"change `params.{name}`, or remove it from `kfp.params`, which makes it fixed"
            one.found.error(INVALID_VALUE, place, message, hint)
        elif name not in used:
            message = f"no step uses the parameter `{name}`, so that changing it has no effect"
            hint = f"use it in a step as `{{{{ params.{name} }}}}`, or remove it from `kfp.params`"
            one.found.error(NO_EFFECT, place, message, hint)
        else:
            known[name] = value
    return known


def params_of(step: ExpandedStep) -> tuple[str, ...]:
    """The open parameters in the texts of a step."""
    if step.run is None:
        return ()
    texts = {name: value for name, value in step.run.given.data.items() if name != "params"}
    return tuple(parameters_in(orjson.dumps(texts).decode()))


def check_defined(step: ExpandedStep, one: Expanded) -> None:
    """Report fields that a step of a definition cannot have."""
    run = step.run
    if run is None or one.run is None or not is_definition(type(one.run.given.job), one.run.given.data):
        return
    given = run.given
    if step.order.when != "succeeded":
        message = f"`when: {step.order.when}` is not supported with `kfp`: Kubeflow Pipelines has no such condition"
        step.found.error(INVALID_VALUE, given.place("when"), message, "remove the step, or remove `kfp`")
    for route, text in strings_in(given.data):
        if route[0] != "params" and PARAMETER in text and not is_free(route):
            name = parameters_in(text)[0]
            message = f"the parameter `{name}` has no value here: it is chosen when a run starts"
            hint = "use the parameter in `command`, `args` or `env`, or remove it from `kfp.params`"
            step.found.error(INVALID_VALUE, given.place(*route), message, hint)
    size = len(orjson.dumps(dict(given.data)))
    if size > _MOST_BYTES:
        message = f"the fields of the step have {size} bytes; with `kfp` the maximum is {_MOST_BYTES}"
        step.found.error(TOO_LARGE, given.place(key=True), message, "keep long texts on a volume, or in the image")
