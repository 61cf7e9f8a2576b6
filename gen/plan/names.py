"""Names, labels and annotations: what Kubernetes and the operators accept, and what only gen may set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gen.kubernetes import MAX_NAME
from gen.model.scalars import LABEL_KEY, LABEL_VALUE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.plan.context import Context
    from gen.plan.types import PodPlan

HASH_LENGTH = 8
TENSORBOARD = "-tensorboard"

_KEY = re.compile(LABEL_KEY)
_VALUE = re.compile(LABEL_VALUE)
_MAX_ANNOTATIONS = 256 << 10
_RESERVED = (
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/name",
    "app.kubernetes.io/component",
    "argocd.argoproj.io/",
    "argocd-image-updater.argoproj.io/",
    "batch.kubernetes.io/",
    "config.kubernetes.io/",
    "gen/",
    "helm.sh/",
    "helm.toolkit.fluxcd.io/",
    "internal.config.kubernetes.io/",
    "jobset.sigs.k8s.io/",
    "k8s.aliyun.com/",
    "kubectl.kubernetes.io/",
    "kueue.x-k8s.io/",
    "kustomize.toolkit.fluxcd.io/",
    "meta.helm.sh/",
    "notifications.argoproj.io/",
    "training.kubeflow.org/",
)
"""Metadata that steers GitOps engines, queues, operators and networks: fields and overlays say it, not jobs."""


def check_name(context: Context, pods: tuple[PodPlan, ...]) -> None:
    """The job's name, with everything that is appended to it, must be a DNS label that starts with a letter."""
    name = context.given.name
    route = ("name",) if context.job.name else ()
    if not re.fullmatch(r"[a-z](?:[-a-z0-9]*[a-z0-9])?", name):
        hint = "use lower-case letters, digits and `-`, with a letter first; Services are named after the job"
        context.error("invalid-name", route, f"a job cannot be called `{name}`", hint)
        return
    hashed = 0 if context.overlay.fields.runs.naming == "stable" else HASH_LENGTH + 1
    suffixes = {pod.role.last_pod_suffix: hashed + len(pod.role.last_pod_suffix) for pod in pods}
    if context.job.tensorboard:
        suffixes[TENSORBOARD] = len(TENSORBOARD)
    suffix, room = max(suffixes.items(), key=lambda item: item[1])
    if len(name) + room > MAX_NAME:
        shown = f"`-<hash>{suffix}`" if suffix != TENSORBOARD and hashed else f"`{suffix}`"
        message = f"the name has {len(name)} characters, and with {shown} it is longer than {MAX_NAME}"
        context.error("name-too-long", route, message, f"shorten it to at most {MAX_NAME - room} characters")


def check_metadata(context: Context) -> None:
    """Labels and annotations of the author."""
    job = context.job
    for field, values in (("labels", job.labels), ("podLabels", job.pod_labels)):
        _check_keys(context, field, values)
        for key, value in values.items():
            if not _VALUE.fullmatch(value):
                hint = "use at most 63 letters, digits, `-`, `_` and `.`, or make it an annotation"
                context.error("invalid-label", (field, key), f"`{value}` cannot be the value of a label", hint)
    for field, values in (("annotations", job.annotations), ("podAnnotations", job.pod_annotations)):
        _check_keys(context, field, values)
        if (size := sum(len(key.encode()) + len(value.encode()) for key, value in values.items())) > _MAX_ANNOTATIONS:
            message = f"the {field} have {size} bytes together, and {_MAX_ANNOTATIONS} are possible"
            context.error("too-large", (field,), message, "keep long texts in `files`")


def _check_keys(context: Context, field: str, values: Mapping[str, str]) -> None:
    for key in values:
        if any(key.startswith(reserved) for reserved in _RESERVED):
            hint = "remove it; what it steers is set by a field of the job or by the overlay"
            context.error("reserved-metadata", (field, key), f"a job cannot set `{key}`", hint, key=True)
        elif not _KEY.fullmatch(key):
            hint = "write it like `team` or `example.com/team`"
            context.error("invalid-label", (field, key), f"`{key}` cannot be a key", hint, key=True)
