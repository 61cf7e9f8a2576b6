"""The steps of a pipeline of Kubeflow Pipelines: the tasks of its graph, and the objects that they create.

From `api/v2alpha1/pipeline_spec.proto` of kubeflow/pipelines 2.17. The object of a step is an argument of its
container. The launcher and Kubernetes replace `{{…}}` and `$(…)` in arguments, and the script of the step replaces
marks such as `<run>`, so that no other text of the object has any of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.kubernetes import RUN, TRIAL, with_field, with_parameters, with_results
from gen.resources.pods import follow
from gen.resources.step_texts import Task, escaped, manifest_body, visible, without_templates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes import Body
    from gen.resources.base import Resource

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


def route(kind: Resource) -> tuple[str, ...]:
    """The part with the containers of the steps."""
    return (*kind.definition, "deploymentSpec", "executors")


def _arguments(body: Body, kind: Resource) -> Iterator[tuple[str, list[Any]]]:
    """The arguments of each container that creates an object."""
    executors = follow(body, route(kind))
    for name, one in executors.items() if isinstance(executors, dict) else ():
        args = follow(one, ("container", "args"))
        if isinstance(args, list) and len(args) > OBJECT:
            yield str(name), args


def tasks_of(body: Body, kind: Resource) -> tuple[Task, ...]:
    """The tasks of the graph. ValueError if an object cannot be read."""
    known = dict(_arguments(body, kind))
    tasks = follow(body, (*kind.definition, "root", "dag", "tasks"))
    return tuple(_task(str(name), one, known) for name, one in (tasks.items() if isinstance(tasks, dict) else ()))


def _task(name: str, task: Any, known: dict[str, list[Any]]) -> Task:
    needs = follow(task, ("dependentTasks",))
    args = known.get(executor(name))
    return Task(
        name=name,
        needs=frozenset(map(str, needs)) if isinstance(needs, list) else frozenset(),
        body=manifest_body(args[OBJECT]) if args is not None else None,
    )


def embedded(body: Body, kind: Resource) -> Iterator[tuple[int, Body]]:
    """The objects that steps create, without those that cannot be read."""
    for index, (_, args) in enumerate(_arguments(body, kind)):
        try:
            yield index, manifest_body(args[OBJECT])
        except ValueError:
            continue


def without_objects(body: Body, kind: Resource) -> Any:
    """The containers of the steps without the objects that `embedded` returns."""
    executors = follow(body, route(kind))
    known = list(_arguments(body, kind))
    for index, _ in embedded(body, kind):
        name, args = known[index]
        executors = with_field(executors, (name, "container", "args"), [*args[:OBJECT], *args[OBJECT + 1 :]])
    return executors


def with_objects(body: Body, kind: Resource, texts: dict[str, str]) -> Body:
    """The definition with the object of each step; patches of the platform can have removed its place."""
    known = dict(_arguments(body, kind))
    for step, text in texts.items():
        args = known.get(executor(step))
        if args is not None:
            own = (*route(kind), executor(step), "container", "args")
            body = with_field(body, own, [*args[:OBJECT], text, *args[OBJECT + 1 :]])
    return body
