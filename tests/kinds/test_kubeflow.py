"""Fields that the kinds of Kubeflow share."""

from __future__ import annotations

from typing import get_args

from gen.kinds.kubeflow import KubeflowJob
from gen.resources.kubeflow import CLEANUP_POLICIES


def test_a_job_can_choose_every_policy_that_the_operators_accept() -> None:
    assert set(get_args(KubeflowJob.model_fields["cleanup"].annotation)) == set(CLEANUP_POLICIES)
