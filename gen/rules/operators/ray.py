"""RayJob and RayCluster (`ray.io/v1`).

From `controllers/ray/utils/validation.go` of ray-project/kuberay 1.7: a job that fails there becomes
`ValidationFailed`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from gen.rules.fault import Fault, not_one_of
from gen.rules.field_checks import duplicates
from gen.rules.rule import operators
from gen.rules.value_checks import dns_1035_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_JOB, _CLUSTER = "ray.io/RayJob", "ray.io/RayCluster"
_CONTROLLER = "KubeRay marks the job `ValidationFailed`, or the cluster never starts."
_MAX_NAME_LENGTH = {"RayJob": 47, "RayCluster": 53}
_MODES = ("K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode")
_WITH_TOKEN = (2, 52)


def _clusters(view: ObjectView) -> Iterator[tuple[Route, Body]]:
    if view.kind == "RayCluster":
        yield ("spec",), view.spec
    elif view.spec.get("rayClusterSpec"):
        yield ("spec", "rayClusterSpec"), view.spec["rayClusterSpec"]


def _groups(view: ObjectView) -> Iterator[tuple[Route, Body]]:
    """The head and every group of workers."""
    for route, cluster in _clusters(view):
        if cluster.get("headGroupSpec"):
            yield (*route, "headGroupSpec"), cluster["headGroupSpec"]
        for index, group in enumerate(cluster.get("workerGroupSpecs") or ()):
            yield (*route, "workerGroupSpecs", index), group


@operators(
    "ray-name",
    _JOB,
    _CLUSTER,
    reason="KubeRay appends what it needs to the name, and refuses longer ones.",
    remedy="Begin with a letter; a RayJob has at most 47 characters, a RayCluster 53.",
)
def ray_name(view: ObjectView) -> Faults:
    """The name is a DNS-1035 label short enough for what is appended to it."""
    name = view.metadata.get("name", "")
    if len(name) > _MAX_NAME_LENGTH[view.kind]:
        yield Fault(("metadata", "name"), f"longer than {_MAX_NAME_LENGTH[view.kind]} characters")
    elif name and (fault := dns_1035_label(name)) is not None:
        yield fault.at(("metadata", "name"))


@operators("rayjob-cluster", _JOB, reason=_CONTROLLER, remedy="Write `rayClusterSpec`, or `clusterSelector`.")
def rayjob_cluster(view: ObjectView) -> Faults:
    """A job has a cluster of its own, or chooses one that is there."""
    if not view.spec.get("rayClusterSpec") and not view.spec.get("clusterSelector"):
        yield Fault(("spec",) if "spec" in view.body else (), "needs either `rayClusterSpec` or `clusterSelector`")


@operators(
    "rayjob-shutdown",
    _JOB,
    reason=_CONTROLLER,
    remedy="Write `shutdownAfterJobFinishes: true`, or leave the other field out.",
)
def rayjob_shutdown(view: ObjectView) -> Faults:
    """What needs the cluster to be gone afterwards has `shutdownAfterJobFinishes`; `deletionRules` stand without it."""
    spec, route = view.spec, ("spec",)
    stops = spec.get("shutdownAfterJobFinishes", False)
    if spec.get("suspend") and not stops:
        yield Fault((*route, "suspend"), "a job that can be suspended needs `shutdownAfterJobFinishes: true`")
    if spec.get("suspend") and spec.get("clusterSelector"):
        yield Fault((*route, "suspend"), "a cluster that others use is not suspended")
    if spec.get("ttlSecondsAfterFinished", 0) > 0 and not stops:
        yield Fault((*route, "ttlSecondsAfterFinished"), "needs `shutdownAfterJobFinishes: true`")
    if spec.get("ttlSecondsAfterFinished", 0) < 0:
        yield Fault((*route, "ttlSecondsAfterFinished"), f"{spec['ttlSecondsAfterFinished']} is negative")
    if stops and (spec.get("deletionStrategy") or {}).get("deletionRules"):
        yield Fault((*route, "deletionStrategy", "deletionRules"), "excludes `shutdownAfterJobFinishes`")


@operators(
    "rayjob-mode",
    _JOB,
    reason=_CONTROLLER,
    remedy="Use a submission mode that KubeRay has, and leave out what does not go with it.",
)
def rayjob_mode(view: ObjectView) -> Faults:
    """The submission mode is a known one, and goes with retries, selectors and submitters."""
    spec, route = view.spec, ("spec",)
    mode = spec.get("submissionMode") or _MODES[0]
    if mode not in _MODES:
        yield not_one_of(mode, _MODES).at((*route, "submissionMode"))
    if spec.get("backoffLimit", 0) > 0 and (spec.get("clusterSelector") or mode == "InteractiveMode"):
        yield Fault((*route, "backoffLimit"), "goes neither with `clusterSelector` nor with `InteractiveMode`")
    if spec.get("backoffLimit", 0) < 0:
        yield Fault((*route, "backoffLimit"), f"{spec['backoffLimit']} is negative")
    if mode == "SidecarMode":
        for field in ("submitterPodTemplate", "submitterConfig", "clusterSelector"):
            if spec.get(field):
                yield Fault((*route, field), "does not go with `SidecarMode`")


@operators("rayjob-deadlines", _JOB, reason=_CONTROLLER, remedy="Write more than 0 seconds, or leave it out.")
def rayjob_deadlines(view: ObjectView) -> Faults:
    """Deadlines are more than 0 seconds."""
    for field in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        if view.spec.get(field, 1) <= 0:
            yield Fault(("spec", field), f"{view.spec[field]} is not more than 0")


@operators("rayjob-runtime-env", _JOB, reason=_CONTROLLER, remedy="Write a text that holds a YAML mapping.")
def rayjob_runtime_env(view: ObjectView) -> Faults:
    """The runtime environment can be read."""
    text = view.spec.get("runtimeEnvYAML", "")
    if not text:
        return
    try:
        found: Any = yaml.load(text, yaml.CSafeLoader) if len(text) < (1 << 20) else None
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        yield Fault(("spec", "runtimeEnvYAML"), "is no YAML mapping")


@operators(
    "ray-groups", _JOB, _CLUSTER, reason=_CONTROLLER, remedy="Give each group a container and a name of its own."
)
def ray_groups(view: ObjectView) -> Faults:
    """The head and every group have a container; groups have names of their own, and no more at least than at most."""
    for route, cluster in _clusters(view):
        groups = cluster.get("workerGroupSpecs") or []
        for at, (name,) in duplicates(groups, (*route, "workerGroupSpecs"), "groupName"):
            yield Fault((*at, "groupName"), f"two groups are called `{name}`")
        for index, group in enumerate(groups):
            low, high = group.get("minReplicas", 0), group.get("maxReplicas", 2**31 - 1)
            if low > high:
                yield Fault(
                    (*route, "workerGroupSpecs", index, "minReplicas"), f"{low} is more than `maxReplicas`, {high}"
                )
    for route, group in _groups(view):
        if not ((group.get("template") or {}).get("spec") or {}).get("containers"):
            yield Fault((*route, "template"), "has no containers")


@operators(
    "ray-start-params",
    _JOB,
    _CLUSTER,
    reason=_CONTROLLER,
    remedy="Say resources once, and labels in `labels` of the group.",
)
def ray_start_params(view: ObjectView) -> Faults:
    """Start parameters say neither labels nor what `resources` of the group says."""
    for route, group in _groups(view):
        params = group.get("rayStartParams") or {}
        if "labels" in params:
            yield Fault((*route, "rayStartParams", "labels"), "labels stand in `labels` of the group")
        if group.get("resources"):
            for name in {"num-cpus", "num-gpus", "memory", "resources"} & params.keys():
                yield Fault((*route, "rayStartParams", name), "`resources` of the group says it already")


@operators(
    "ray-autoscaler",
    _JOB,
    _CLUSTER,
    reason="The second autoscaler removes pods by itself, and a pod that is restarted comes back.",
    remedy="Leave `restartPolicy` out, or write `Never`.",
)
def ray_autoscaler(view: ObjectView) -> Faults:
    """With the second autoscaler, pods are not restarted."""
    for _, cluster in _clusters(view):
        if (cluster.get("autoscalerOptions") or {}).get("version") != "v2":
            return
        for at, group in _groups(view):
            policy = ((group.get("template") or {}).get("spec") or {}).get("restartPolicy", "Never")
            if policy not in {"", "Never"}:
                yield Fault((*at, "template", "spec", "restartPolicy"), f"`{policy}` is not `Never`")


@operators("ray-token", _JOB, _CLUSTER, reason=_CONTROLLER, remedy="Write `rayVersion: 2.52.0` or later.")
def ray_token(view: ObjectView) -> Faults:
    """Authentication by token has a version of Ray that can do it."""
    for route, cluster in _clusters(view):
        version = re.match(r"(\d+)\.(\d+)", cluster.get("rayVersion", ""))
        known = version is not None and (int(version[1]), int(version[2])) >= _WITH_TOKEN
        if (cluster.get("authOptions") or {}).get("mode") == "token" and not known:
            yield Fault((*route, "rayVersion") if "rayVersion" in cluster else route, "a token needs Ray 2.52 or later")


@operators(
    "kueue-rayjob",
    _JOB,
    reason="Kueue's webhook refuses it.",
    remedy="Write `shutdownAfterJobFinishes: true`, and a `rayClusterSpec` without `clusterSelector`.",
)
def kueue_rayjob(view: ObjectView) -> Faults:
    """A job in a queue shuts its own cluster down, has at most 17 groups, and none called `head`."""
    if "kueue.x-k8s.io/queue-name" not in (view.metadata.get("labels") or {}):
        return
    if not view.spec.get("shutdownAfterJobFinishes"):
        yield Fault(("spec",), "a job in a queue needs `shutdownAfterJobFinishes: true`")
    if view.spec.get("clusterSelector"):
        yield Fault(("spec", "clusterSelector"), "a job in a queue has a cluster of its own")
    for route, cluster in _clusters(view):
        groups = cluster.get("workerGroupSpecs") or []
        if len(groups) > 17:  # noqa: PLR2004 - with the head, 18 sets of pods
            yield Fault((*route, "workerGroupSpecs"), f"{len(groups)} groups are more than 17")
        if cluster.get("enableInTreeAutoscaling"):
            yield Fault((*route, "enableInTreeAutoscaling"), "is only for elastic jobs")
        for index, group in enumerate(groups):
            if group.get("groupName") == "head":
                yield Fault((*route, "workerGroupSpecs", index, "groupName"), "`head` is the name of the head")
