"""What the training operator's kinds and MPIJob have in common: replica maps and `runPolicy`.

No `ttlSecondsAfterFinished`: the operator would delete the object, and a GitOps engine would start it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import Body, present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.plan.types import Plan

SUSPEND = ("spec", "runPolicy", "suspend")

RESTART_V1 = ("OnFailure", "Never", "Always", "ExitCode")
"""Restart policies of `kubeflow.org/v1` (training-operator `common_types.go`)."""


def run_policy(plan: Plan) -> Body:
    return present(
        cleanPodPolicy=plan.cleanup,
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
