"""RayJob and RayCluster (`ray.io/v1`).

From `controllers/ray/utils/validation.go` of ray-project/kuberay 1.7. An invalid job becomes `ValidationFailed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from gen.base import Route, Severity
from gen.kubernetes.facts.ray import HEAD, KUBERAY, RAYCLUSTER, RAYJOB, SUBMISSION_MODES
from gen.kubernetes.objects import QUEUE_LABEL, Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, operator_rule, placed
from gen.kubernetes.rules.field_checks import unique
from gen.kubernetes.rules.operators.common import length_fault, managed_by
from gen.kubernetes.rules.value_checks import dns_1035_label

_JOB, _CLUSTER = str(RAYJOB), str(RAYCLUSTER)
_CONTROLLER = "KubeRay marks the job as `ValidationFailed`, or the cluster never starts."
_WITH_TOKEN = (2, 52)
_MAX_WORKER_GROUPS = 17
"""With the head, a workload has 18 pod sets."""


def _clusters(view: ObjectView) -> Iterator[tuple[Route, Body]]:
    if view.kind == RAYCLUSTER.kind:
        yield ("spec",), view.spec
    elif view.spec.get("rayClusterSpec"):
        yield ("spec", "rayClusterSpec"), view.spec["rayClusterSpec"]


def _groups(view: ObjectView) -> Iterator[tuple[Route, Body]]:
    """The head and every worker group."""
    for route, cluster in _clusters(view):
        if cluster.get("headGroupSpec"):
            yield (*route, "headGroupSpec"), cluster["headGroupSpec"]
        for index, group in enumerate(cluster.get("workerGroupSpecs") or ()):
            yield (*route, "workerGroupSpecs", index), group


@operator_rule(
    "ray-name",
    _JOB,
    _CLUSTER,
    reason="KubeRay appends a suffix to the name, and rejects longer names.",
    remedy="Begin with a letter, and use at most 47 characters for a RayJob, 53 for a RayCluster.",
)
def ray_name(view: ObjectView) -> Faults:
    """The name is not a DNS-1035 label, or too long for the suffix that KubeRay appends."""
    name, long = view.metadata.get("name", ""), list(length_fault(view))
    yield from long or placed(dns_1035_label(name) if name else None, ("metadata", "name"))


@operator_rule("rayjob-cluster", _JOB, reason=_CONTROLLER, remedy="Set `rayClusterSpec` or `clusterSelector`.")
def rayjob_cluster(view: ObjectView) -> Faults:
    """A job neither creates a cluster nor selects one."""
    if not view.spec.get("rayClusterSpec") and not view.spec.get("clusterSelector"):
        yield Fault(("spec",) if "spec" in view.body else (), "`rayClusterSpec` or `clusterSelector` is required")


@operator_rule(
    "rayjob-shutdown",
    _JOB,
    reason=_CONTROLLER,
    remedy="Set `shutdownAfterJobFinishes: true`, or remove the other field.",
)
def rayjob_shutdown(view: ObjectView) -> Faults:
    """A job has `suspend` or a TTL without `shutdownAfterJobFinishes`, `deletionRules` with it, or suspends a selected
    cluster.
    """
    spec, route = view.spec, ("spec",)
    stops = spec.get("shutdownAfterJobFinishes", False)
    if spec.get("suspend") and not stops:
        yield Fault((*route, "suspend"), "`suspend` requires `shutdownAfterJobFinishes: true`")
    if spec.get("suspend") and spec.get("clusterSelector"):
        yield Fault((*route, "suspend"), "a cluster chosen by `clusterSelector` cannot be suspended")
    if spec.get("ttlSecondsAfterFinished", 0) > 0 and not stops:
        yield Fault((*route, "ttlSecondsAfterFinished"), "requires `shutdownAfterJobFinishes: true`")
    if spec.get("ttlSecondsAfterFinished", 0) < 0:
        yield Fault((*route, "ttlSecondsAfterFinished"), f"{spec['ttlSecondsAfterFinished']} is negative")
    if stops and (spec.get("deletionStrategy") or {}).get("deletionRules"):
        yield Fault((*route, "deletionStrategy", "deletionRules"), "mutually exclusive with `shutdownAfterJobFinishes`")


@operator_rule(
    "rayjob-mode",
    _JOB,
    reason=_CONTROLLER,
    remedy="Use a submission mode of KubeRay, and remove fields that it does not support.",
)
def rayjob_mode(view: ObjectView) -> Faults:
    """The submission mode is unknown, or does not support the job's retries, selector or submitter."""
    spec, route = view.spec, ("spec",)
    mode = spec.get("submissionMode") or SUBMISSION_MODES[0]
    if mode not in SUBMISSION_MODES:
        yield not_one_of(mode, SUBMISSION_MODES).at((*route, "submissionMode"))
    if spec.get("backoffLimit", 0) > 0 and (spec.get("clusterSelector") or mode == "InteractiveMode"):
        yield Fault((*route, "backoffLimit"), "not allowed with `clusterSelector` or `InteractiveMode`")
    if spec.get("backoffLimit", 0) < 0:
        yield Fault((*route, "backoffLimit"), f"{spec['backoffLimit']} is negative")
    if mode == "SidecarMode":
        for field in ("submitterPodTemplate", "submitterConfig", "clusterSelector"):
            if spec.get(field):
                yield Fault((*route, field), "not allowed with `SidecarMode`")


ray_managed_by = managed_by(
    "ray-managed-by",
    "KubeRay",
    KUBERAY,
    _JOB,
    _CLUSTER,
    fields=["spec.managedBy", "spec.rayClusterSpec.managedBy"],
    reason="The definition rejects the object.",
)


@operator_rule(
    "rayjob-deletion",
    _JOB,
    reason="The definition rejects the object.",
    remedy="Set both `onSuccess` and `onFailure`, or `deletionRules` with one status in each condition.",
)
def rayjob_deletion(view: ObjectView) -> Faults:
    """A deletion strategy mixes its two forms, lacks a part of one, or has a condition without exactly one status."""
    strategy = view.spec.get("deletionStrategy")
    if strategy is None:
        return
    at = ("spec", "deletionStrategy")
    given = [field for field in ("onSuccess", "onFailure") if field in strategy]
    if "deletionRules" in strategy:
        yield from (Fault((*at, field), "mutually exclusive with `deletionRules`") for field in given)
    elif len(given) < 2:  # noqa: PLR2004 - both of them
        yield Fault(at, "either `onSuccess` and `onFailure` or `deletionRules` is required")
    for index, rule in enumerate(strategy.get("deletionRules") or ()):
        condition = rule.get("condition") or {}
        if ("jobStatus" in condition) == ("jobDeploymentStatus" in condition):
            here = (*at, "deletionRules", index, "condition")
            yield Fault(here, "exactly one of `jobStatus` and `jobDeploymentStatus` is required")


@operator_rule("rayjob-deadlines", _JOB, reason=_CONTROLLER, remedy="Use more than 0 seconds, or remove it.")
def rayjob_deadlines(view: ObjectView) -> Faults:
    """A deadline is not positive."""
    for field in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        if view.spec.get(field, 1) <= 0:
            yield Fault(("spec", field), f"{view.spec[field]} is not positive")


@operator_rule("rayjob-runtime-env", _JOB, reason=_CONTROLLER, remedy="Use a text that contains a YAML mapping.")
def rayjob_runtime_env(view: ObjectView) -> Faults:
    """The runtime environment is not a YAML mapping."""
    text = view.spec.get("runtimeEnvYAML", "")
    if not text:
        return
    try:
        found: Any = yaml.load(text, yaml.CSafeLoader) if len(text) < (1 << 20) else None
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        yield Fault(("spec", "runtimeEnvYAML"), "not a valid YAML mapping")


@operator_rule(
    "ray-groups", _JOB, _CLUSTER, reason=_CONTROLLER, remedy="Give each group a container and a unique name."
)
def ray_groups(view: ObjectView) -> Faults:
    """The head or a group has no containers, or a group has a duplicate name or a minimum above its maximum."""
    for route, cluster in _clusters(view):
        groups = cluster.get("workerGroupSpecs") or []
        yield from unique(groups, (*route, "workerGroupSpecs"), "groupName", "group name", "")
        for index, group in enumerate(groups):
            low, high = group.get("minReplicas", 0), group.get("maxReplicas", 2**31 - 1)
            if low > high:
                here = (*route, "workerGroupSpecs", index, "minReplicas")
                hint = "decrease it, or increase `maxReplicas`"
                yield Fault(here, f"{low} is more than `maxReplicas` ({high})", hint)
    for route, group in _groups(view):
        if not ((group.get("template") or {}).get("spec") or {}).get("containers"):
            yield Fault((*route, "template"), "the template has no containers")


@operator_rule(
    "ray-replicas",
    _JOB,
    _CLUSTER,
    reason="The operator starts as many as `maxReplicas` allows, with and without an autoscaler.",
    remedy="Correct one of the two numbers.",
    severity=Severity.WARNING,
)
def ray_replicas(view: ObjectView) -> Faults:
    """A group has more replicas than its maximum."""
    for route, group in _groups(view):
        wanted, most = group.get("replicas"), group.get("maxReplicas")
        if wanted is not None and most is not None and wanted > most:
            hint = f"write `{most}`, or raise `maxReplicas`"
            yield Fault((*route, "replicas"), f"{wanted} is more than `maxReplicas` ({most})", hint)


@operator_rule(
    "ray-start-params",
    _JOB,
    _CLUSTER,
    reason=_CONTROLLER,
    remedy="Set resources once, and labels in `labels` of the group.",
)
def ray_start_params(view: ObjectView) -> Faults:
    """Start parameters set labels, or repeat the `resources` of the group."""
    for route, group in _groups(view):
        params = group.get("rayStartParams") or {}
        if "labels" in params:
            yield Fault((*route, "rayStartParams", "labels"), "not allowed here; use `labels` of the group")
        if group.get("resources"):
            for name in {"num-cpus", "num-gpus", "memory", "resources"} & params.keys():
                yield Fault((*route, "rayStartParams", name), "already set by `resources` of the group")


@operator_rule(
    "ray-autoscaler",
    _JOB,
    _CLUSTER,
    reason="The second autoscaler removes pods itself, and a restarted pod would come back.",
    remedy="Remove `restartPolicy`, or set it to `Never`.",
)
def ray_autoscaler(view: ObjectView) -> Faults:
    """A group restarts its pods, but the cluster uses the second autoscaler."""
    for _, cluster in _clusters(view):
        if (cluster.get("autoscalerOptions") or {}).get("version") != "v2":
            return
        for at, group in _groups(view):
            policy = ((group.get("template") or {}).get("spec") or {}).get("restartPolicy", "Never")
            if policy not in {"", "Never"}:
                yield Fault((*at, "template", "spec", "restartPolicy"), f"`{policy}` is not allowed; expected `Never`")


@operator_rule("ray-token", _JOB, _CLUSTER, reason=_CONTROLLER, remedy="Set `rayVersion` to 2.52.0 or later.")
def ray_token(view: ObjectView) -> Faults:
    """A cluster uses token authentication with a version of Ray that does not support it."""
    for route, cluster in _clusters(view):
        version = re.match(r"(\d+)\.(\d+)", cluster.get("rayVersion", ""))
        known = version is not None and (int(version[1]), int(version[2])) >= _WITH_TOKEN
        if (cluster.get("authOptions") or {}).get("mode") == "token" and not known:
            yield Fault(
                (*route, "rayVersion") if "rayVersion" in cluster else route,
                "token authentication requires Ray 2.52 or later",
            )


@operator_rule(
    "kueue-rayjob",
    _JOB,
    reason="The Kueue webhook rejects the object.",
    remedy="Set `shutdownAfterJobFinishes: true`, and use `rayClusterSpec` without `clusterSelector`.",
)
def kueue_rayjob(view: ObjectView) -> Faults:
    """A queued job does not shut down its cluster, selects an existing one, has more than 17 groups, an autoscaler, or
    a group named `head`.
    """
    if QUEUE_LABEL not in (view.metadata.get("labels") or {}):
        return
    if not view.spec.get("shutdownAfterJobFinishes"):
        yield Fault(("spec",), "a queued job requires `shutdownAfterJobFinishes: true`")
    if view.spec.get("clusterSelector"):
        yield Fault(("spec", "clusterSelector"), "not allowed for a queued job, which needs a cluster of its own")
    elastic = (view.metadata.get("annotations") or {}).get("kueue.x-k8s.io/elastic-job") == "true"
    for route, cluster in _clusters(view):
        groups = cluster.get("workerGroupSpecs") or []
        if len(groups) > _MAX_WORKER_GROUPS:
            yield Fault((*route, "workerGroupSpecs"), f"{len(groups)} groups; expected at most 17")
        if cluster.get("enableInTreeAutoscaling") and not elastic:
            yield Fault((*route, "enableInTreeAutoscaling"), "only allowed for elastic jobs")
        for index, group in enumerate(groups):
            if group.get("groupName") == HEAD:
                yield Fault((*route, "workerGroupSpecs", index, "groupName"), "`head` is reserved for the head")
