"""Argo Workflows (`argoproj.io/v1alpha1`): length of names.

From `workflow/validate/validate.go` of argoproj/argo-workflows 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.resources.argo import CLUSTER_WORKFLOW_TEMPLATE, CRON_WORKFLOW, WORKFLOW, WORKFLOW_TEMPLATE
from gen.rules.fault import Fault
from gen.rules.rule import operators

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_MAX_NAME_LENGTH = {
    resource.kind: resource.max_name or 0
    for resource in (WORKFLOW, WORKFLOW_TEMPLATE, CLUSTER_WORKFLOW_TEMPLATE, CRON_WORKFLOW)
}


@operators(
    "workflow-name",
    *(f"{WORKFLOW.group}/{kind}" for kind in _MAX_NAME_LENGTH),
    reason="The controller rejects longer names: the name of a workflow is a label of its pods, and a time is "
    "appended to the name of a cron workflow.",
    remedy="Use at most 63 characters, for a CronWorkflow 52.",
)
def workflow_name(view: ObjectView) -> Faults:
    """The name is too long for the names and labels derived from it."""
    if len(view.metadata.get("name", "")) > _MAX_NAME_LENGTH[view.kind]:
        yield Fault(("metadata", "name"), f"longer than {_MAX_NAME_LENGTH[view.kind]} characters")
