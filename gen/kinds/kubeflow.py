"""Common parts of MPIJob and the kinds of the training operator: replica maps and `runPolicy`.

`ttlSecondsAfterFinished` is never set: the operator would delete the object, and a GitOps engine would start it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gen.kinds.base import Job
from gen.kubernetes import Body, present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.plan import Plan


class KubeflowJob(Job):
    """A job whose operator deletes its pods at the end."""

    cleanup: Literal["Running", "All", "None"] = "Running"
    """Pods to delete when the job ends. `Running` frees the GPUs and keeps the logs of completed pods."""

    def run_policy(self, plan: Plan) -> Body:
        return present(
            cleanPodPolicy=self.cleanup,
            activeDeadlineSeconds=plan.timeout,
            backoffLimit=plan.retries,
        )


def replica_specs(plan: Plan, pods: Mapping[str, Body]) -> Body:
    return {
        pod.role.replica_type: {
            "replicas": pod.role.replicas,
            "restartPolicy": pod.role.restart,
            "template": pods[pod.role.name],
        }
        for pod in plan.pods
    }
