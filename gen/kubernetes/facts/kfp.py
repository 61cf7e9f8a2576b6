"""Kubeflow Pipelines (`pipelines.kubeflow.org/v2beta1`), from `backend/src` of kubeflow/pipelines 2.17.

The webhook of a PipelineVersion (`apiserver/webhook`) refuses one without its Pipeline, and every change of
its `spec` but `displayName` and `tags`. It makes the Pipeline its owner. Workflows are named after the Pipeline, each
with five random characters (`v2/compiler/argocompiler/argo.go`).

Steps are the tasks of the graph (`api/v2alpha1/pipeline_spec.proto`), and the object of a step is an argument of its
container. The launcher and Kubernetes replace `{{…}}` and `$(…)` in arguments, and the script of the step replaces
marks such as `<run>`, so that no other text of the object has any of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gen.base import as_mapping, follow, with_field
from gen.base.placeholders import RUN, TRIAL, with_parameters, with_results
from gen.kubernetes.facts.base import Path, Resource
from gen.kubernetes.facts.steps import Graph, Task, escaped, manifest_body, visible, without_templates
from gen.kubernetes.objects import Body

_VERSIONS: dict[str, tuple[str, ...]] = {"pipelines.kubeflow.org/v2beta1": ()}

PIPELINE: Final = Resource(group="pipelines.kubeflow.org", kind="Pipeline", versions=_VERSIONS, max_name=63)
PIPELINE_VERSION: Final = Resource(
    group="pipelines.kubeflow.org",
    kind="PipelineVersion",
    versions=_VERSIONS,
    is_definition=True,
    steps=("spec", "pipelineSpec"),
    max_name=63,
)


OBJECT: Final = 7
"""Place of the object in the arguments of a step."""
NAME_OF_RUN: Final = "<run>"
"""The script of a step replaces it, and the others."""
OWNER: Final = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Workflow",
    "name": TRIAL,
    "uid": RUN,  # no other text has this placeholder when the hash of the run is known
    "controller": True,
}
"""The workflow of the run owns the objects of its steps, so that they are removed with it."""


def mark_of_result(step: str, name: str) -> str:
    """The mark that the script of a step replaces with a result of another step."""
    return f"steps/{step}/{name}"


def mark_of_parameter(name: str) -> str:
    return f"params/{name}"


_FIRST, _SECOND = r"\1", r"\2"
_RESULT: Final = f"<{mark_of_result(_FIRST, _SECOND)}>"
_PARAMETER: Final = f"<{mark_of_parameter(_FIRST)}>"
"""Replacements for `re.sub`."""


def component(step: str) -> str:
    return f"comp-{step}"


def executor(step: str) -> str:
    return f"exec-{step}"


def object_text(body: Body) -> str:
    """The object of a step as an argument."""
    text = without_templates(with_field(body, ("metadata", "ownerReferences"), [OWNER]))
    text = text.replace("<", escaped("<")).replace("$(", f"{escaped('$')}(")
    text = text.replace(RUN, "<uid>").replace(TRIAL, NAME_OF_RUN)
    text = with_results(text, _RESULT)
    return visible(with_parameters(text, _PARAMETER))


class Definition(Graph, frozen=True):
    """A pipeline. Its containers have the objects."""

    @property
    def route(self) -> Path:
        return (*self.at, "deploymentSpec", "executors")

    def _arguments(self, body: Body) -> Iterator[tuple[str, list[object]]]:
        """The arguments of each container that creates an object."""
        for name, one in as_mapping(follow(body, self.route)).items():
            args = follow(one, ("container", "args"))
            if isinstance(args, list) and len(args) > OBJECT:
                yield str(name), args

    def tasks(self, body: Body) -> tuple[Task, ...]:
        known = dict(self._arguments(body))
        tasks = as_mapping(follow(body, (*self.at, "root", "dag", "tasks")))
        return tuple(_task(str(name), one, known) for name, one in tasks.items())

    def objects(self, body: Body) -> Iterator[Body]:
        for _, _, one in self._placed(body):
            yield one

    def _placed(self, body: Body) -> Iterator[tuple[str, list[object], Body]]:
        """The objects, each with its container and the arguments."""
        for name, args in self._arguments(body):
            try:
                yield name, args, manifest_body(args[OBJECT])
            except ValueError:
                continue

    def without_objects(self, body: Body) -> Any:
        executors = follow(body, self.route)
        for name, args, _ in self._placed(body):
            executors = with_field(executors, (name, "container", "args"), [*args[:OBJECT], *args[OBJECT + 1 :]])
        return executors

    def with_objects(self, body: Body, objects: Mapping[str, Body]) -> Body:
        known = dict(self._arguments(body))
        for step, one in objects.items():
            args = known.get(executor(step))
            if args is not None:
                own = (*self.route, executor(step), "container", "args")
                body = with_field(body, own, [*args[:OBJECT], object_text(one), *args[OBJECT + 1 :]])
        return body


def _task(name: str, task: object, known: dict[str, list[object]]) -> Task:
    needs = follow(task, ("dependentTasks",))
    args = known.get(executor(name))
    return Task(
        name=name,
        needs=frozenset(map(str, needs)) if isinstance(needs, list) else frozenset(),
        body=manifest_body(args[OBJECT]) if args is not None else None,
    )
