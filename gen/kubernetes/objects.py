"""Names of Kubernetes that several stages use: object bodies, identities, labels, annotations and label selectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gen.base import at

Body = dict[str, Any]
"""A Kubernetes object, or a part of one, as plain data."""

# Labels and annotations of gen itself, on runs and their pods
OWN = "gen/"
"""Prefix of our own labels and annotations."""

JOB_LABEL = "gen/job"
RUN_LABEL = "gen/run"
STEP_LABEL = "gen/step"
"""On the objects and pods of a step. All steps of a pipeline have the same run."""
WORKFLOW_LABEL = "gen/workflow"
"""On the objects and pods of a step of a scheduled pipeline: the name of the workflow. All have the same `gen/run`."""
VOLUME_LABEL = "gen/volume"
ACCELERATOR_LABEL = "gen/accelerator"
"""On pods: the accelerator of the overlay that they request."""
DEVICES_LABEL = "gen/devices"
"""On pods: the number of devices that they get by claims."""
METRICS = "gen/metrics"
"""On the workload of a run: how its program prints its metrics, as JSON."""
VALUES = "gen/values"
"""On the workload of a run of a sweep: the values of its parameters, as JSON."""
CHECKPOINTS = "gen/checkpoints"
"""On the workload of a run: the folder of its checkpoints, as `volume:path`."""
RESUMES = "gen/resume"
"""On the workload of a run: the folder of the earlier run that it continues from, as `volume:path`."""
QUEUE = "gen/queue"
"""The queue of the overlay that a run uses. Without declared queues, a run only has the label of Kueue."""

MANAGED_BY = "app.kubernetes.io/managed-by"
NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
NVIDIA_GPU = "nvidia.com/gpu"
NVIDIA_PRODUCT = "nvidia.com/gpu.product"  # product of the GPUs, by GPU Feature Discovery
ZONE = "topology.kubernetes.io/zone"
ARCHITECTURE = "kubernetes.io/arch"
HOSTNAME = "kubernetes.io/hostname"
CONTROL_PLANE = "node-role.kubernetes.io/"
"""Prefix of the labels and taints of nodes that run the cluster itself."""
GITSYNC_REPO = "GITSYNC_REPO"
GITSYNC_REF = "GITSYNC_REF"
"""Settings of git-sync: the URL and the revision that it fetches."""
NVIDIA_DEVICES = "NVIDIA_VISIBLE_DEVICES"
"""Variable that selects the GPUs of a container in NVIDIA's container runtime; many images set it to `all`."""

POLICY = "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"
POLICY_KINDS = (POLICY, BINDING)

MAX_NAME = 63


def qualified(namespace: str, name: str) -> str:
    """`namespace/name`; only the name for an object without a namespace."""
    return f"{namespace}/{name}" if namespace else name


def identity(kind: str, namespace: str, name: str) -> str:
    """`Kind namespace/name`, as messages name an object."""
    return f"{kind} {qualified(namespace, name)}"


def identity_of(body: object) -> str:
    """`Kind namespace/name` of any data, without parts that are missing or not text."""
    kind, namespace, name = at(body, "kind"), at(body, "metadata", "namespace"), at(body, "metadata", "name")
    names = (part for part in (namespace, name) if isinstance(part, str) and part)
    return f"{kind if isinstance(kind, str) else ''} {'/'.join(names)}".strip()


def present(**fields: Any) -> Body:
    """The fields that are not None, empty text, empty list or empty mapping; `False` and 0 stay.

    Null and empty fields would show as differences in a GitOps engine, so none is ever rendered.
    """
    return {name: value for name, value in fields.items() if value or value == 0}


def selects(selector: Body | None, labels: Mapping[str, object]) -> bool:
    """Whether a selector matches some labels; an empty one matches all."""
    found = selector or {}
    if any(labels.get(key) != value for key, value in (found.get("matchLabels") or {}).items()):
        return False
    return all(_holds(one, labels) for one in found.get("matchExpressions") or ())


def keys_of(selector: Body | None) -> set[str]:
    """The labels that a selector reads."""
    found = selector or {}
    return {*(found.get("matchLabels") or {}), *(one.get("key", "") for one in found.get("matchExpressions") or ())}


def _holds(requirement: Body, labels: Mapping[str, object]) -> bool:
    key, operator = requirement.get("key", ""), requirement.get("operator")
    values = requirement.get("values") or ()
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    return (key in labels) is (operator == "Exists")
