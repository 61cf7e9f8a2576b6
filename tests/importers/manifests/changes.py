"""Objects with more fields than those of `EQUAL`."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.importers.manifests.forms import EQUAL, an_object, pod, replicas

PYTORCH = EQUAL["pytorch-on-volumes"]


def changed(body: dict[str, Any], **of_pod: Any) -> dict[str, Any]:
    """A PyTorchJob with more fields in the pod of its master."""
    body = deepcopy(body)
    body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"] |= of_pod
    return body


def of_container(**fields: Any) -> dict[str, Any]:
    template = pod("pytorch", **fields)
    return an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas(Master=(1, template))})
