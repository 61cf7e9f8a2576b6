"""Katib (`kubeflow.org/v1beta1`), from `pkg/apis/controller` of kubeflow/katib 0.19."""

from __future__ import annotations

from typing import Final

from gen.resources.base import Conditions, Resource, retired

_V1BETA1 = "kubeflow.org/v1beta1"
_RETIRED = retired(_V1BETA1, "kubeflow.org/v1alpha3")
_STATUS = Conditions(succeeded="Succeeded", failed="Failed")

EXPERIMENT: Final = Resource(
    group="kubeflow.org",
    kind="Experiment",
    versions={_V1BETA1: ()},
    retired=_RETIRED,
    partial_templates=("trialTemplate",),
    status=_STATUS,
    max_name=40,  # trials are named `<experiment>-<8 characters>`
)
TRIAL: Final = Resource(group="kubeflow.org", kind="Trial", versions={_V1BETA1: ()}, retired=_RETIRED, status=_STATUS)
SUGGESTION: Final = Resource(group="kubeflow.org", kind="Suggestion", versions={_V1BETA1: ()}, retired=_RETIRED)
