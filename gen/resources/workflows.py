"""The steps of a workflow: the tasks of its graph, and the objects that they create.

A rendered file can have been edited by anyone, so any part of it can have any form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.kubernetes import TRIAL, identity_of, with_results
from gen.regex import regex
from gen.resources import definitions
from gen.resources.argo import WORKFLOW
from gen.resources.pods import follow
from gen.resources.step_texts import Task, manifest_body, visible, without_templates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.kubernetes import Body
    from gen.resources.base import Resource

_NAMES = regex(r"([A-Za-z0-9][A-Za-z0-9-]*)(?:\.[A-Z][A-Za-z]*)?")
"""Tasks in `depends`, each with its result."""
NAME_OF_RUN: Final = "{{workflow.name}}"
STATUS_OF_RUN: Final = "{{workflow.status}}"
"""Argo replaces both; the status only at the end."""
_PARAMETER = r"{{inputs.parameters.\1_\2}}"
"""A result of another step; names of steps have no `_`."""


def parameter(step: str, name: str) -> str:
    """The name of the parameter with a result of another step."""
    return f"{step}_{name}"


def tasks_of(body: Body, kind: Resource) -> tuple[Task, ...]:
    """The tasks of all graphs of a workflow. ValueError if an object cannot be read."""
    if kind.definition:
        return definitions.tasks_of(body, kind)
    templates = [one for one in _list(follow(body, (*kind.workflow, "templates"))) if isinstance(one, dict)]
    manifests = {
        str(one.get("name")): follow(one, ("resource", "manifest"))
        for one in templates
        if follow(one, ("resource", "action")) == "create"
    }
    return tuple(_task(task, manifests) for one in templates for task in _list(follow(one, ("dag", "tasks"))))


def _task(task: Any, manifests: dict[str, Any]) -> Task:
    name, template = str(follow(task, ("name",))), str(follow(task, ("template",)))
    written = follow(task, ("depends",))
    needs = _NAMES.findall(written) if isinstance(written, str) else ()
    body = manifest_body(manifests[template]) if template in manifests else None
    return Task(name=name, needs=frozenset(needs), body=body)


def manifest_text(body: Body) -> str:
    """An object as a text in a workflow.

    `TRIAL` is the name of the workflow, and results of other steps are parameters.
    """
    text = with_results(without_templates(body), _PARAMETER)
    return visible(text.replace(TRIAL, NAME_OF_RUN)) + "\n"


def embedded(body: Body, kind: Resource) -> Iterator[tuple[int, Body]]:
    """The objects that the templates create, with their places; without those that cannot be read."""
    if kind.definition:
        yield from definitions.embedded(body, kind)
        return
    for index, one in enumerate(_list(follow(body, (*kind.workflow, "templates")))):
        text = follow(one, ("resource", "manifest"))
        if isinstance(text, str):
            try:
                yield index, manifest_body(text)
            except ValueError:
                continue


def created_by(bodies: Iterable[Body]) -> tuple[str, ...]:
    """The objects that workflows create, as `Kind namespace/name`."""
    return tuple(identity_of(created) for body in bodies for _, created in embedded(body, WORKFLOW))


def route_of_steps(kind: Resource) -> tuple[str, ...]:
    """The part of an object that contains those of its steps."""
    return definitions.route(kind) if kind.definition else (*kind.workflow, "templates")


def without_objects(body: Body, kind: Resource) -> Any:
    """The templates without the objects that `embedded` returns."""
    if kind.definition:
        return definitions.without_objects(body, kind)
    templates = list(_list(follow(body, (*kind.workflow, "templates"))))
    for index, _ in embedded(body, kind):
        resource = {key: value for key, value in templates[index]["resource"].items() if key != "manifest"}
        templates[index] = {**templates[index], "resource": resource}
    return templates


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
