"""Argo Workflows (`argoproj.io/v1alpha1`), from `workflow/validate/validate.go` of argoproj/argo-workflows 4.1.

The name of a workflow is a label of its pods; a time is appended to the name of a cron workflow.
"""

from __future__ import annotations

from typing import Final

from gen.resources.base import Phase, Phases, Resource

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
