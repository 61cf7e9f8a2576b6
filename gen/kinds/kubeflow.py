"""What the training operator's kinds and MPIJob have in common: replica maps and `runPolicy`.

No `ttlSecondsAfterFinished`: the operator would delete the object, and a GitOps engine would start it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from gen.kinds.base import Conditions, Job
from gen.kubernetes import Body, at, present

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.kinds.plan import Plan

RESTART_V1 = ("OnFailure", "Never", "Always", "ExitCode")
"""Restart policies of `kubeflow.org/v1` (training-operator `common_types.go`)."""


class KubeflowJob(Job):
    """A job whose operator cleans up after it."""

    suspend: ClassVar[tuple[str, ...]] = ("spec", "runPolicy", "suspend")
    # training-operator `common_types.go`; mpi-operator `pkg/apis/kubeflow/v2beta1/types.go` has the same words
    conditions: ClassVar[Conditions] = Conditions("Succeeded", "Failed", "Suspended")
    deadline: ClassVar[tuple[str, ...]] = ("spec", "runPolicy", "activeDeadlineSeconds")

    cleanup: Literal["Running", "All", "None"] = "Running"
    """Which pods are removed when the job ends; `Running` frees the GPUs and keeps the logs of what completed."""

    @classmethod
    def pods_of(cls, spec: Body) -> Iterator[tuple[Any, Any]]:
        _, replica_map, *_ = cls.templates
        roles = at(spec, replica_map)
        for role in roles.values() if isinstance(roles, dict) else ():
            yield at(role, "replicas"), at(role, "template")

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
