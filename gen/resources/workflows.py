"""The steps of a workflow of Argo: the tasks of its graph, and the objects that its templates create."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.kubernetes import TRIAL, with_field, with_results
from gen.regex import regex
from gen.resources.pods import follow
from gen.resources.step_texts import manifest_body, visible, without_templates
from gen.resources.steps import Graph, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.kubernetes import Body
    from gen.resources.base import Path

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


class Workflow(Graph, frozen=True):
    """A workflow, whose templates have the objects."""

    @property
    def route(self) -> Path:
        return (*self.at, "templates")

    def _templates(self, body: Body) -> list[Any]:
        return _list(follow(body, self.route))

    def tasks(self, body: Body) -> tuple[Task, ...]:
        templates = [one for one in self._templates(body) if isinstance(one, dict)]
        manifests = {
            str(one.get("name")): follow(one, ("resource", "manifest"))
            for one in templates
            if follow(one, ("resource", "action")) == "create"
        }
        return tuple(_task(task, manifests) for one in templates for task in _list(follow(one, ("dag", "tasks"))))

    def objects(self, body: Body) -> Iterator[Body]:
        for _, one in self._placed(body):
            yield one

    def _placed(self, body: Body) -> Iterator[tuple[int, Body]]:
        """The objects, each with the place of its template."""
        for index, one in enumerate(self._templates(body)):
            text = follow(one, ("resource", "manifest"))
            if isinstance(text, str):
                try:
                    yield index, manifest_body(text)
                except ValueError:
                    continue

    def without_objects(self, body: Body) -> Any:
        templates = list(self._templates(body))
        for index, _ in self._placed(body):
            resource = {key: value for key, value in templates[index]["resource"].items() if key != "manifest"}
            templates[index] = {**templates[index], "resource": resource}
        return templates

    def with_objects(self, body: Body, objects: Mapping[str, Body]) -> Body:
        texts = {step: manifest_text(one) for step, one in objects.items()}
        templates = [
            {**one, "resource": {**one["resource"], "manifest": texts[one["name"]]}} if one["name"] in texts else one
            for one in follow(body, self.route)
        ]
        return with_field(body, self.route, templates)


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


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
