"""RayJob and RayCluster (`ray.io/v1`).

From `controllers/ray/utils/validation.go` of ray-project/kuberay 1.7: a job that fails there becomes
`ValidationFailed`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from gen.rules.fault import none_of
from gen.rules.field_checks import doubled
from gen.rules.rule import operators
from gen.rules.value_checks import dns_1035_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.field_checks import Faults
    from gen.rules.object_view import View

_JOB, _CLUSTER = "ray.io/RayJob", "ray.io/RayCluster"
_CONTROLLER = "KubeRay marks the job `ValidationFailed`, or the cluster never starts."
_LONGEST = {"RayJob": 47, "RayCluster": 53}
_MODES = ("K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode")
_WITH_TOKEN = (2, 52)


def _clusters(view: View) -> Iterator[tuple[Route, Body]]:
    if view.kind == "RayCluster":
        yield ("spec",), view.spec
    elif view.spec.get("rayClusterSpec"):
        yield ("spec", "rayClusterSpec"), view.spec["rayClusterSpec"]


def _groups(view: View) -> Iterator[tuple[Route, Body]]:
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
def ray_name(view: View) -> Faults:
    """The name is a DNS-1035 label short enough for what is appended to it."""
    name = view.metadata.get("name", "")
    if len(name) > _LONGEST[view.kind]:
        yield ("metadata", "name"), f"longer than {_LONGEST[view.kind]} characters"
    elif name and (fault := dns_1035_label(name)) is not None:
        yield ("metadata", "name"), fault


@operators("rayjob-cluster", _JOB, reason=_CONTROLLER, remedy="Write `rayClusterSpec`, or `clusterSelector`.")
def rayjob_cluster(view: View) -> Faults:
    """A job has a cluster of its own, or chooses one that is there."""
    if not view.spec.get("rayClusterSpec") and not view.spec.get("clusterSelector"):
        yield ("spec",) if "spec" in view.body else (), "needs either `rayClusterSpec` or `clusterSelector`"


@operators(
    "rayjob-shutdown",
    _JOB,
    reason=_CONTROLLER,
    remedy="Write `shutdownAfterJobFinishes: true`, or leave the other field out.",
)
def rayjob_shutdown(view: View) -> Faults:
    """What needs the cluster to be gone afterwards has `shutdownAfterJobFinishes`; `deletionRules` stand without it."""
    spec, route = view.spec, ("spec",)
    stops = spec.get("shutdownAfterJobFinishes", False)
    if spec.get("suspend") and not stops:
        yield (*route, "suspend"), "a job that can be suspended needs `shutdownAfterJobFinishes: true`"
    if spec.get("suspend") and spec.get("clusterSelector"):
        yield (*route, "suspend"), "a cluster that others use is not suspended"
    if spec.get("ttlSecondsAfterFinished", 0) > 0 and not stops:
        yield (*route, "ttlSecondsAfterFinished"), "needs `shutdownAfterJobFinishes: true`"
    if spec.get("ttlSecondsAfterFinished", 0) < 0:
        yield (*route, "ttlSecondsAfterFinished"), f"{spec['ttlSecondsAfterFinished']} is negative"
    if stops and (spec.get("deletionStrategy") or {}).get("deletionRules"):
        yield (*route, "deletionStrategy", "deletionRules"), "excludes `shutdownAfterJobFinishes`"


@operators(
    "rayjob-mode",
    _JOB,
    reason=_CONTROLLER,
    remedy="Use a submission mode that KubeRay has, and leave out what does not go with it.",
)
def rayjob_mode(view: View) -> Faults:
    """The submission mode is a known one, and goes with retries, selectors and submitters."""
    spec, route = view.spec, ("spec",)
    mode = spec.get("submissionMode") or _MODES[0]
    if mode not in _MODES:
        yield (*route, "submissionMode"), none_of(mode, _MODES)
    if spec.get("backoffLimit", 0) > 0 and (spec.get("clusterSelector") or mode == "InteractiveMode"):
        yield (*route, "backoffLimit"), "goes neither with `clusterSelector` nor with `InteractiveMode`"
    if spec.get("backoffLimit", 0) < 0:
        yield (*route, "backoffLimit"), f"{spec['backoffLimit']} is negative"
    if mode == "SidecarMode":
        for field in ("submitterPodTemplate", "submitterConfig", "clusterSelector"):
            if spec.get(field):
                yield (*route, field), "does not go with `SidecarMode`"


@operators("rayjob-deadlines", _JOB, reason=_CONTROLLER, remedy="Write more than 0 seconds, or leave it out.")
def rayjob_deadlines(view: View) -> Faults:
    """Deadlines are more than 0 seconds."""
    for field in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        if view.spec.get(field, 1) <= 0:
            yield ("spec", field), f"{view.spec[field]} is not more than 0"


@operators("rayjob-runtime-env", _JOB, reason=_CONTROLLER, remedy="Write a text that holds a YAML mapping.")
def rayjob_runtime_env(view: View) -> Faults:
    """The runtime environment can be read."""
    text = view.spec.get("runtimeEnvYAML", "")
    if not text:
        return
    try:
        found: Any = yaml.load(text, yaml.CSafeLoader) if len(text) < (1 << 20) else None
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        yield ("spec", "runtimeEnvYAML"), "is no YAML mapping"


@operators(
    "ray-groups", _JOB, _CLUSTER, reason=_CONTROLLER, remedy="Give each group a container and a name of its own."
)
def ray_groups(view: View) -> Faults:
    """The head and every group have a container; groups have names of their own, and no more at least than at most."""
    for route, cluster in _clusters(view):
        groups = cluster.get("workerGroupSpecs") or []
        for at, (name,) in doubled(groups, (*route, "workerGroupSpecs"), "groupName"):
            yield (*at, "groupName"), f"two groups are called `{name}`"
        for index, group in enumerate(groups):
            low, high = group.get("minReplicas", 0), group.get("maxReplicas", 2**31 - 1)
            if low > high:
                yield (*route, "workerGroupSpecs", index, "minReplicas"), f"{low} is more than `maxReplicas`, {high}"
    for route, group in _groups(view):
        if not ((group.get("template") or {}).get("spec") or {}).get("containers"):
            yield (*route, "template"), "has no containers"


@operators(
    "ray-start-params",
    _JOB,
    _CLUSTER,
    reason=_CONTROLLER,
    remedy="Say resources once, and labels in `labels` of the group.",
)
def ray_start_params(view: View) -> Faults:
    """Start parameters say neither labels nor what `resources` of the group says."""
    for route, group in _groups(view):
        params = group.get("rayStartParams") or {}
        if "labels" in params:
            yield (*route, "rayStartParams", "labels"), "labels stand in `labels` of the group"
        if group.get("resources"):
            for name in {"num-cpus", "num-gpus", "memory", "resources"} & params.keys():
                yield (*route, "rayStartParams", name), "`resources` of the group says it already"


@operators(
    "ray-autoscaler",
    _JOB,
    _CLUSTER,
    reason="The second autoscaler removes pods by itself, and a pod that is restarted comes back.",
    remedy="Leave `restartPolicy` out, or write `Never`.",
)
def ray_autoscaler(view: View) -> Faults:
    """With the second autoscaler, pods are not restarted."""
    for _, cluster in _clusters(view):
        if (cluster.get("autoscalerOptions") or {}).get("version") != "v2":
            return
        for at, group in _groups(view):
            policy = ((group.get("template") or {}).get("spec") or {}).get("restartPolicy", "Never")
            if policy not in {"", "Never"}:
                yield (*at, "template", "spec", "restartPolicy"), f"`{policy}` is not `Never`"


@operators("ray-token", _JOB, _CLUSTER, reason=_CONTROLLER, remedy="Write `rayVersion: 2.52.0` or later.")
def ray_token(view: View) -> Faults:
    """Authentication by token has a version of Ray that can do it."""
    for route, cluster in _clusters(view):
        version = re.match(r"(\d+)\.(\d+)", cluster.get("rayVersion", ""))
        known = version is not None and (int(version[1]), int(version[2])) >= _WITH_TOKEN
        if (cluster.get("authOptions") or {}).get("mode") == "token" and not known:
            yield (*route, "rayVersion") if "rayVersion" in cluster else route, "a token needs Ray 2.52 or later"


@operators(
    "kueue-rayjob",
    _JOB,
    reason="Kueue's webhook refuses it.",
    remedy="Write `shutdownAfterJobFinishes: true`, and a `rayClusterSpec` without `clusterSelector`.",
)
def kueue_rayjob(view: View) -> Faults:
    """A job in a queue shuts its own cluster down, has at most 17 groups, and none called `head`."""
    if "kueue.x-k8s.io/queue-name" not in (view.metadata.get("labels") or {}):
        return
    if not view.spec.get("shutdownAfterJobFinishes"):
        yield ("spec",), "a job in a queue needs `shutdownAfterJobFinishes: true`"
    if view.spec.get("clusterSelector"):
        yield ("spec", "clusterSelector"), "a job in a queue has a cluster of its own"
    for route, cluster in _clusters(view):
        groups = cluster.get("workerGroupSpecs") or []
        if len(groups) > 17:  # noqa: PLR2004 - with the head, 18 sets of pods
            yield (*route, "workerGroupSpecs"), f"{len(groups)} groups are more than 17"
        if cluster.get("enableInTreeAutoscaling"):
            yield (*route, "enableInTreeAutoscaling"), "is only for elastic jobs"
        for index, group in enumerate(groups):
            if group.get("groupName") == "head":
                yield (*route, "workerGroupSpecs", index, "groupName"), "`head` is the name of the head"
