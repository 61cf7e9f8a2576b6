"""Argo Workflows (`argoproj.io/v1alpha1`), from `workflow/validate/validate.go` of argoproj/argo-workflows 4.1.

The name of a workflow is a label of its pods; a time is appended to the name of a cron workflow. Steps are the tasks of
the graph, and templates create their objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gen.base import as_list, follow, regex, with_field
from gen.base.placeholders import TRIAL, with_results
from gen.kubernetes.facts.base import ANY_ITEM, FilledField, Path, Phase, Phases, Resource
from gen.kubernetes.facts.steps import Graph, Task, manifest_body, visible, without_templates
from gen.kubernetes.objects import Body

_VERSIONS: dict[str, tuple[str, ...]] = {"argoproj.io/v1alpha1": ()}
_PHASE = ("status", "phase")

CRON_WORKFLOW: Final = Resource(
    group="argoproj.io",
    kind="CronWorkflow",
    versions=_VERSIONS,
    is_schedule=True,
    steps=("spec", "workflowSpec"),
    suspend=("spec", "suspend"),
    suspend_stops=False,
    deadline=("spec", "workflowSpec", "activeDeadlineSeconds"),
    troubles=("SpecError", "SubmissionError"),  # `pkg/apis/workflow/v1alpha1/cron_workflow_types.go`
    known_to_engines=True,
    max_name=52,
)
TEMPLATE_FIELDS: Final = ("inputs", "outputs", "metadata")
"""Fields of templates that its types always have (`workflow_types.go`): the controller writes the whole object."""
TASK_FIELDS: Final = ("arguments",)
_TEMPLATE: Final = ("spec", "templates", ANY_ITEM)
_WRITTEN: Final = (  # also of runs that earlier versions of gen rendered
    *(FilledField(place=_TEMPLATE, field=(name,), value={}, in_all=False) for name in TEMPLATE_FIELDS),
    *(
        FilledField(place=(*_TEMPLATE, "dag", "tasks", ANY_ITEM), field=(name,), value={}, in_all=False)
        for name in TASK_FIELDS
    ),
)
WORKFLOW: Final = Resource(
    group="argoproj.io",
    kind="Workflow",
    versions=_VERSIONS,
    is_run=True,
    steps=("spec",),
    suspend=("spec", "suspend"),
    suspend_stops=False,
    deadline=("spec", "activeDeadlineSeconds"),
    ttl=("spec", "ttlStrategy"),
    scheduled_by=CRON_WORKFLOW,
    filled=_WRITTEN,
    status=Phases(
        succeeded=(Phase(field=_PHASE, values=("Succeeded",)),),
        failed=(Phase(field=_PHASE, values=("Failed", "Error")),),
    ),
    max_name=63,
)
WORKFLOW_TEMPLATE: Final = Resource(group="argoproj.io", kind="WorkflowTemplate", versions=_VERSIONS, max_name=63)
CLUSTER_WORKFLOW_TEMPLATE: Final = Resource(
    group="argoproj.io", kind="ClusterWorkflowTemplate", versions=_VERSIONS, max_name=63
)


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
    """A workflow. Its templates have the objects."""

    @property
    def route(self) -> Path:
        return (*self.at, "templates")

    def _templates(self, body: Body) -> list[Any]:
        return as_list(follow(body, self.route))

    def tasks(self, body: Body) -> tuple[Task, ...]:
        templates = [one for one in self._templates(body) if isinstance(one, dict)]
        manifests = {
            str(one.get("name")): follow(one, ("resource", "manifest"))
            for one in templates
            if follow(one, ("resource", "action")) == "create"
        }
        return tuple(_task(task, manifests) for one in templates for task in as_list(follow(one, ("dag", "tasks"))))

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


def _task(task: object, manifests: dict[str, Any]) -> Task:
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
