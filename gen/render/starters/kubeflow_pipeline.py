"""A pipeline of Kubeflow Pipelines, where people start its runs: the Pipeline, and a version of it with the steps.

From `api/v2alpha1/pipeline_spec.proto` of kubeflow/pipelines 2.17. Each step is a container that creates the object of
the step and waits for its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final, cast

import orjson

from gen.base import as_list, at, regex
from gen.base.codes.files import TOO_LARGE
from gen.base.codes.grants import NO_PIPELINES, NOT_GRANTED
from gen.base.codes.jobs import INVALID_VALUE, NO_EFFECT
from gen.base.engines import RECORDS
from gen.base.placeholders import PARAMETER, TRIAL, parameters_in
from gen.base.placeholders import parameter as open_parameter
from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.job.plan import Edit, Plan, StarterPlan, StepPlan
from gen.kubernetes.facts import kfp
from gen.kubernetes.facts.argo import parameter
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.state import wait_for
from gen.kubernetes.objects import Body, present
from gen.overlay.overlay import Overlay
from gen.pins.lock import Pins, RunPins
from gen.render.emit import KFP
from gen.render.job_run import ExpandedRun, ExpandedStep, JobRun
from gen.render.parts import containers, grants
from gen.render.parts.context import Context
from gen.render.parts.metadata import job_metadata, run_metadata
from gen.render.starters.base import Starter
from gen.render.starters.start_values import is_free, once_only, strings_in

if TYPE_CHECKING:
    from gen.job.kinds.pipeline import Definition, PipelineJob

DRIVER: Final = "-driver"
"""End of the names of tasks that Kubeflow Pipelines adds (`v2/compiler/argocompiler/dag.go`)."""
_PLAIN: Final = regex(r"[A-Za-z0-9_./:@%+=][A-Za-z0-9_./:@%+=-]*")
"""The values that the script of a step accepts: no shell, YAML or template reads them as anything else."""
_MOST: Final = 1024
_MOST_BYTES: Final = 24 << 10
"""Limit for the fields of a step. The driver gets the container of a step in one argument, which Linux limits to
128 KiB, with the object as a string in a string."""
_ONCE: Final = {
    "schedule": ("nothing in Git starts its runs", "remove `schedule`, and make a recurring run in Kubeflow Pipelines"),
    "attempt": ("nothing in Git starts its runs", "remove `attempt`, and start another run in Kubeflow Pipelines"),
}


_RUN: Final = "run"
_NAME_OF_RUN: Final = "{{$.pipeline_job_resource_name}}"
"""The driver replaces it if it is a whole value (`backend/src/v2/driver/resolve.go`)."""
_TEXT: Final = {"parameterType": "STRING"}
_RETRIES: Final = {"maxRetryCount": 5, "backoffDuration": "15s", "backoffFactor": 2, "backoffMaxDuration": "120s"}
"""Kubernetes can evict the pod that waits. The next one finds the object that exists."""
_HELPER: Final = {
    "resourceCpuLimit": "100m",
    "resourceMemoryLimit": "256Mi",
    "resourceCpuRequest": "100m",
    "resourceMemoryRequest": "256Mi",
}


class KubeflowPipeline(Starter, frozen=True, kw_only=True):
    name: ClassVar[str] = "Kubeflow pipeline"
    field: ClassVar[str] = KFP
    edit: ClassVar[Edit] = Edit.NEW_VERSION
    runs_in_git: ClassVar[bool] = False
    named_later: ClassVar[bool] = True
    whole_hash: ClassVar[bool] = True
    digits: ClassVar[str] = "run"
    creator: ClassVar[str] = "Kubeflow Pipelines"
    phrase: ClassVar[str] = "`kfp`"
    where: ClassVar[str] = "in a pipeline with `kfp`, which can have many runs"
    name_of_run: ClassVar[str] = kfp.NAME_OF_RUN
    most_bytes: ClassVar[int] = 256 << 10
    """The workflow of a run has the objects as strings in strings, and 64 scripts."""

    image: str = ""
    """Image of the containers that create the objects of steps and wait for them."""
    command: tuple[str, ...] = ()
    defaults: Mapping[str, str] = {}
    """Defaults of the open parameters, which people can change when they start a run."""

    @property
    def reader(self) -> str | None:
        return self.image or None

    @classmethod
    def resource(cls, facts: Resource) -> Resource:
        return kfp.PIPELINE_VERSION

    @classmethod
    def makes(cls, resource: Resource) -> bool:
        return resource.is_definition

    @classmethod
    def starts(cls, model: type[Job], data: Mapping[str, Data]) -> bool:
        return KFP in data and bool(model.own_fields)

    @classmethod
    def step_params(cls, data: Mapping[str, Data]) -> Mapping[str, str | None]:
        definition = data[KFP]
        return {str(name): open_parameter(str(name)) for name in as_list(at(definition, "params"))}

    @classmethod
    def plan_pipeline(
        cls, one: ExpandedRun, planned: StarterPlan | None, overlay: Overlay, pins: Pins | None
    ) -> StarterPlan | None:
        run = one.run
        definition = _definition(run.given.job) if run is not None else None
        if run is None or definition is None:
            return None
        _check_fields(run, one)
        _check_names(one)
        params = _params(definition, run, one, overlay)
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
        return cls(
            facts=kfp.PIPELINE_VERSION,
            image=grants.of_platform(context, settings.image, KFP),
            command=("sh", "-c", containers.script("run_step.sh"), "gen-step"),
            defaults=params,
        )

    @classmethod
    def check_step(cls, step: ExpandedStep) -> None:
        run = step.run
        if run is None:
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

    def workload(self, job: Job, plan: Plan, pods: dict[str, Body]) -> Body:
        """The version, without the objects of the steps."""
        metadata = run_metadata(plan, plan.run, plan.kind)
        return {
            "apiVersion": self.facts.served[0],
            "kind": self.facts.kind,
            "metadata": metadata,
            "spec": _version_spec(plan, self),
        }

    def objects(self, plan: Plan) -> tuple[Body, ...]:
        """The Pipeline. All versions of a job have the same."""
        kind, metadata = kfp.PIPELINE, job_metadata(plan, plan.name, plan.kind)
        spec = {"displayName": plan.job}
        return ({"apiVersion": kind.served[0], "kind": kind.kind, "metadata": metadata, "spec": spec},)

    @classmethod
    def permitted(cls, overlay: Overlay) -> Iterator[tuple[str, str]]:
        if overlay.fields.pipelines is not None and overlay.fields.pipelines.kfp is not None:
            yield from (kfp.PIPELINE.key, kfp.PIPELINE_VERSION.key)


def _check_fields(run: JobRun, one: ExpandedRun) -> None:
    job, given = run.given.job, run.given
    for field, message, hint in once_only(job, _ONCE, "a pipeline with `kfp`"):
        one.found.error(INVALID_VALUE, given.place(field, key=True), message, hint)
    if given.own is not None:
        message = "a pipeline with `kfp` cannot have `sweep`: nothing in Git starts its runs"
        hint = "remove `sweep`, and list the parameters in `kfp.params`"
        one.found.error(INVALID_VALUE, given.place("sweep", key=True), message, hint)
    if job.state in RECORDS:
        message = f"a pipeline with `kfp` cannot be `{job.state}`: it is not a run"
        one.found.error(INVALID_VALUE, given.place("state"), message, "remove `state`, or remove the job file")


def _check_names(one: ExpandedRun) -> None:
    names = {step.name for step in one.steps}
    for step in one.steps:
        if step.run is not None and step.name.endswith(DRIVER) and step.name.removesuffix(DRIVER) in names:
            message = f"`{step.name}` is the name of a task that Kubeflow Pipelines adds"
            step.found.error(INVALID_VALUE, step.run.given.place(key=True), message, "choose another name for the step")


def _definition(job: Job) -> Definition | None:
    """The field `kfp`, which only pipelines have; None after an error in it."""
    return cast("PipelineJob", job).kfp


def _params(definition: Definition, run: JobRun, one: ExpandedRun, overlay: Overlay) -> dict[str, str]:
    """The defaults of the parameters."""
    job, given = run.given.job, run.given
    used = {name for step in one.steps for name in step.params}
    known = {}
    for index, name in enumerate(definition.params):
        place = given.place(KFP, "params", index)
        value = job.params.get(name)
        if name in definition.params[:index]:
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


def _version_spec(plan: Plan, definition: KubeflowPipeline) -> Body:
    parameters = {name: {**_TEXT, "defaultValue": value} for name, value in sorted(definition.defaults.items())}
    return {
        "pipelineName": plan.name,
        "pipelineSpec": {
            "pipelineInfo": {"name": plan.name},
            "schemaVersion": "2.1.0",
            "sdkVersion": "kfp-2.14.0",
            "components": {kfp.component(step.name): _component(step) for step in plan.steps},
            "deploymentSpec": {
                "executors": {
                    kfp.executor(step.name): {"container": _container(step, definition)} for step in plan.steps
                }
            },
            "root": present(
                dag={"tasks": {step.name: _task(step) for step in plan.steps}},
                inputDefinitions=present(parameters=parameters),
            ),
        },
    }


def _task(step: StepPlan) -> Body:
    inputs: dict[str, Body] = {_RUN: {"runtimeValue": {"constant": _NAME_OF_RUN}}}
    inputs |= {_parameter(name): {"componentInputParameter": name} for name in step.params}
    inputs |= {
        parameter(*use): {"taskOutputParameter": {"producerTask": use[0], "outputParameterKey": use[1]}}
        for use in step.uses
    }
    return present(
        taskInfo={"name": step.name},
        componentRef={"name": kfp.component(step.name)},
        cachingOptions={"enableCache": False},
        dependentTasks=list(step.needs),
        inputs={"parameters": inputs},
        retryPolicy=_RETRIES,
    )


def _component(step: StepPlan) -> Body:
    names = (_RUN, *map(_parameter, step.params), *(parameter(*use) for use in step.uses))
    results = step.results.names if step.results is not None else ()
    return present(
        executorLabel=kfp.executor(step.name),
        inputDefinitions={"parameters": dict.fromkeys(names, _TEXT)},
        outputDefinitions=present(parameters=dict.fromkeys(results, _TEXT)),
    )


def _container(step: StepPlan, definition: KubeflowPipeline) -> Body:
    return {
        "image": definition.image,
        "command": list(definition.command),
        "args": [*_arguments(step), *_results(step)],
        "resources": _HELPER,
    }


def _arguments(step: StepPlan) -> Iterator[str]:
    found, kind = wait_for(step.facts, step.plan.api_version)
    values = [(kfp.mark_of_parameter(name), _parameter(name)) for name in step.params]
    values += [(kfp.mark_of_result(*use), parameter(*use)) for use in step.uses]
    yield _input(_RUN)
    yield from (step.plan.namespace, kind, step.plan.run.removeprefix(TRIAL))
    yield from (found.state, " ".join(found.succeeded), " ".join(found.failed))
    yield ""  # the object
    yield str(len(values))
    for mark, name in values:
        yield from (mark, _input(name))


def _results(step: StepPlan) -> Iterator[str]:
    results = step.results
    if results is not None:
        yield str(len(results.names))
        for name in results.names:
            yield from (name, f"{{{{$.outputs.parameters['{name}'].output_file}}}}")
        yield from (*results.command, *results.args)


def _input(name: str) -> str:
    return f"{{{{$.inputs.parameters['{name}']}}}}"


def _parameter(name: str) -> str:
    """The input of a step with a parameter. That of a result begins with the name of a step."""
    return f"_{name}"
