"""A pipeline as Kubeflow Pipelines runs it: the Pipeline, and a version of it with the steps.

From `api/v2alpha1/pipeline_spec.proto` of kubeflow/pipelines 2.17. Each step is a container that creates the object of
the step and waits for its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.kubernetes import TRIAL, present
from gen.render.build.metadata import job_metadata
from gen.resources.definitions import component, executor, mark_of_parameter, mark_of_result
from gen.resources.kfp import PIPELINE
from gen.resources.waiting import wait_for
from gen.resources.workflows import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kinds.definition_plan import DefinitionPlan
    from gen.kinds.plan import Plan, StepPlan
    from gen.kubernetes import Body

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


def pipeline(plan: Plan) -> Body:
    """The Pipeline. All versions of a job have the same."""
    return {
        "apiVersion": PIPELINE.served[0],
        "kind": PIPELINE.kind,
        "metadata": job_metadata(plan, plan.name, plan.kind),
        "spec": {"displayName": plan.job},
    }


def version_spec(plan: Plan, definition: DefinitionPlan) -> Body:
    """The `spec` of the version, without the objects of the steps."""
    parameters = {name: {**_TEXT, "defaultValue": value} for name, value in sorted(definition.params.items())}
    return {
        "pipelineName": plan.name,
        "pipelineSpec": {
            "pipelineInfo": {"name": plan.name},
            "schemaVersion": "2.1.0",
            "sdkVersion": "kfp-2.14.0",
            "components": {component(step.name): _component(step) for step in plan.steps},
            "deploymentSpec": {
                "executors": {executor(step.name): {"container": _container(step, definition)} for step in plan.steps}
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
        componentRef={"name": component(step.name)},
        cachingOptions={"enableCache": False},
        dependentTasks=list(step.needs),
        inputs={"parameters": inputs},
        retryPolicy=_RETRIES,
    )


def _component(step: StepPlan) -> Body:
    names = (_RUN, *map(_parameter, step.params), *(parameter(*use) for use in step.uses))
    results = step.results.names if step.results is not None else ()
    return present(
        executorLabel=executor(step.name),
        inputDefinitions={"parameters": dict.fromkeys(names, _TEXT)},
        outputDefinitions=present(parameters=dict.fromkeys(results, _TEXT)),
    )


def _container(step: StepPlan, definition: DefinitionPlan) -> Body:
    return {
        "image": definition.image,
        "command": list(definition.command),
        "args": [*_arguments(step), *_results(step)],
        "resources": _HELPER,
    }


def _arguments(step: StepPlan) -> Iterator[str]:
    found, kind = wait_for(step.facts, step.plan.api_version)
    values = [(mark_of_parameter(name), _parameter(name)) for name in step.params]
    values += [(mark_of_result(*use), parameter(*use)) for use in step.uses]
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


def definition_objects(plan: Plan) -> tuple[Body, ...]:
    """The other objects."""
    return (pipeline(plan),) if plan.definition is not None else ()
