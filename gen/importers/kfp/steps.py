"""Steps of a compiled pipeline: templates of an Argo Workflow (version 1), or executors of the IR (version 2).

From `pkg/apis/workflow/v1alpha1/workflow_types.go` of argo-workflows and `api/v2alpha1/pipeline_spec.proto` of
kubeflow/pipelines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.kubernetes import at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route


class Step(Struct, frozen=True, kw_only=True):
    """A step that runs a container, or creates an object."""

    name: str
    route: Route
    """Route in the document."""
    words: tuple[str, ...] = ()
    """Command and arguments of the container."""
    manifest: str = ""
    """The object that it creates, as text."""
    after: tuple[str, ...] = ()
    """Steps that end before it."""


def steps(document: Any) -> Iterator[Step]:
    """Steps of a document, which may be of any type."""
    spec = at(document, "pipelineSpec") or document
    start: Route = ("pipelineSpec",) if spec is not document else ()
    if isinstance(at(spec, "deploymentSpec", "executors"), dict):
        yield from _of_ir(spec, start)
    elif isinstance(at(document, "spec", "templates"), list):
        yield from _of_argo(document)


def _of_argo(document: Any) -> Iterator[Step]:
    templates = [one for one in document["spec"]["templates"] if isinstance(one, dict)]
    order = _order(templates)
    for number, template in enumerate(document["spec"]["templates"]):
        name = at(template, "name")
        if not isinstance(name, str):
            continue
        after, route = tuple(order.get(name, ())), ("spec", "templates", number)
        if isinstance(manifest := at(template, "resource", "manifest"), str):
            yield Step(name=name, route=(*route, "resource", "manifest"), manifest=manifest, after=after)
        elif isinstance(container := at(template, "container"), dict):
            yield Step(name=name, route=(*route, "container"), words=_words(container), after=after)
        elif isinstance(at(template, "script"), dict):
            words = (str(at(template, "script", "source") or ""),)
            yield Step(name=name, route=(*route, "script"), words=words, after=after)


def _order(templates: list[Any]) -> dict[str, list[str]]:
    """By template: the templates of the tasks that end before it."""
    order: dict[str, list[str]] = {}
    for template in templates:
        tasks = at(template, "dag", "tasks")
        called = {at(one, "name"): at(one, "template") for one in tasks} if isinstance(tasks, list) else {}
        for task in tasks if isinstance(tasks, list) else ():
            before = at(task, "dependencies") or str(at(task, "depends") or "").replace("&&", " ").split()
            names = [called.get(str(one).partition(".")[0], one) for one in before if isinstance(one, str)]
            order.setdefault(str(at(task, "template")), []).extend(str(one) for one in names)
        groups = at(template, "steps")
        last: list[str] = []
        for group in groups if isinstance(groups, list) else ():
            now = [str(at(one, "template")) for one in group] if isinstance(group, list) else []
            for name in now:
                order.setdefault(name, []).extend(last)
            last = now
    return order


def _of_ir(spec: Any, start: Route) -> Iterator[Step]:
    executors = spec["deploymentSpec"]["executors"]
    components = at(spec, "components")
    labels = (
        {at(one, "executorLabel"): name for name, one in components.items()} if isinstance(components, dict) else {}
    )
    for name, executor in executors.items():
        container = at(executor, "container")
        if not isinstance(container, dict):
            continue
        component = labels.get(name, "")
        task, after = _task(spec, component)
        route = (*start, "deploymentSpec", "executors", str(name), "container")
        yield Step(name=task or str(name), route=route, words=_words(container), after=after)


def _task(spec: Any, component: str) -> tuple[str, tuple[str, ...]]:
    """Name and predecessors of the task of a component, in the pipeline or in one of its parts."""
    components = at(spec, "components")
    parts = [at(spec, "root"), *(components.values() if isinstance(components, dict) else ())]
    for part in parts:
        tasks = at(part, "dag", "tasks")
        for name, task in tasks.items() if isinstance(tasks, dict) else ():
            if at(task, "componentRef", "name") == component:
                before = at(task, "dependentTasks")
                return str(name), tuple(str(one) for one in before) if isinstance(before, list) else ()
    return "", ()


def _words(container: Any) -> tuple[str, ...]:
    words = [*(at(container, "command") or ()), *(at(container, "args") or ())]
    return tuple(str(one) for one in words)
