"""Kubeflow Pipelines (`pipelines.kubeflow.org/v2beta1`), from `backend/src` of kubeflow/pipelines 2.17.

The webhook of a PipelineVersion (`apiserver/webhook`) refuses one whose Pipeline does not exist, and every change of
its `spec` but `displayName` and `tags`. It makes the Pipeline its owner. Workflows are named after the Pipeline, each
with five random characters (`v2/compiler/argocompiler/argo.go`).
"""

from __future__ import annotations

from typing import Final

from gen.resources.base import Resource

_VERSIONS: dict[str, tuple[str, ...]] = {"pipelines.kubeflow.org/v2beta1": ()}

PIPELINE: Final = Resource(group="pipelines.kubeflow.org", kind="Pipeline", versions=_VERSIONS, max_name=63)
PIPELINE_VERSION: Final = Resource(
    group="pipelines.kubeflow.org",
    kind="PipelineVersion",
    versions=_VERSIONS,
    is_definition=True,
    steps=("spec", "pipelineSpec"),
    max_name=63,
)
