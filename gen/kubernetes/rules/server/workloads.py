"""CronJobs, and the workloads of the group `apps`.

From `validateCronJobSpec` of `pkg/apis/batch/validation/validation.go`; schedules as `robfig/cron` parses them.

From the `Validate…Spec` functions and `ValidatePodTemplateSpecForReplicaSet` of
`pkg/apis/apps/validation/validation.go`, and `pkg/apis/apps/v1/defaults.go`.
"""

from __future__ import annotations

from decimal import Decimal

from gen.base import Route, regex
from gen.kubernetes.facts.builtin import CRONJOB
from gen.kubernetes.objects import Body, selects
from gen.kubernetes.rules import Fault, Faults, ObjectView, server_rule
from gen.kubernetes.rules.cron import schedule_fault, time_zone_fault
from gen.kubernetes.rules.field_checks import FieldChecks, selector
from gen.kubernetes.rules.server.pods import restart_policy
from gen.kubernetes.rules.value_checks import LARGEST_ID, at_least, between, dns_label, dns_name, if_set, one_of

_MAX_NAME_LENGTH = CRONJOB.max_name or 0
_CRON = FieldChecks(
    {
        "schedule": schedule_fault,
        "timeZone": time_zone_fault,
        "startingDeadlineSeconds": at_least(0),
        "concurrencyPolicy": if_set(one_of("Allow", "Forbid", "Replace")),
        "successfulJobsHistoryLimit": at_least(0),
        "failedJobsHistoryLimit": at_least(0),
    }
)


@server_rule(
    "cron-jobs",
    "batch/CronJob",
    remedy="Use a schedule of five fields, such as `0 3 * * *`, and a time zone such as `Europe/Berlin`.",
)
def cron_jobs(view: ObjectView) -> Faults:
    """A cron job has an invalid schedule, time zone, policy or limit."""
    yield from _CRON.faults(view.spec, ("spec",))
    if len(view.metadata.get("name", "")) > _MAX_NAME_LENGTH:
        message = f"longer than {_MAX_NAME_LENGTH} characters; the names of its jobs are 11 longer"
        yield Fault(("metadata", "name"), message, f"shorten it by {len(view.metadata['name']) - _MAX_NAME_LENGTH}")
    template = (view.spec.get("jobTemplate") or {}).get("spec") or {}
    for field in ("selector", "manualSelector"):
        if template.get(field, False) is not False:
            at = ("spec", "jobTemplate", "spec", field)
            yield Fault(at, f"`{field}` is set by the API server", f"remove `{field}`")


_PERCENT = regex("[0-9]+%")
_DIGITS = regex("0|[1-9][0-9]*")
_number = between(0, LARGEST_ID)
_DEADLINE_S = 600
_ALL = 100
_NO_END = "remove it, or use a `Job` for pods that end"
NO_CONTAINERS = Fault((), "the template has no containers", "add `spec.containers` with at least one container")


def is_more_than_all(value: object) -> bool:
    """Whether a value is a percentage over 100, with any number of digits."""
    return isinstance(value, str) and _PERCENT.fullmatch(value) is not None and Decimal(value[:-1]) > _ALL


def number_or_percent(value: object) -> Fault | None:
    if not isinstance(value, str):
        return _number(value)
    if _PERCENT.fullmatch(value):
        return None
    hint = f"write `{value}` without quotes" if _DIGITS.fullmatch(value) else "use a number such as `1`"
    return Fault((), f"`{value}` is neither a number nor a percentage", f"{hint}, or a percentage such as `25%`")


_UPDATE = {
    "rollingUpdate.maxSurge": number_or_percent,
    "rollingUpdate.maxUnavailable": number_or_percent,
    "rollingUpdate.partition": at_least(0),
}
_COUNTS = dict.fromkeys(("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"), at_least(0))


def _table(field: str, *types: str) -> FieldChecks:
    strategy = {f"{field}.{name}": check for name, check in _UPDATE.items()}
    return FieldChecks({**_COUNTS, **strategy, f"{field}.type": if_set(one_of(*types))})


_TABLES = {
    "Deployment": _table("strategy", "Recreate", "RollingUpdate"),
    "ReplicaSet": FieldChecks(_COUNTS),
    "ReplicationController": FieldChecks(_COUNTS),
    "DaemonSet": _table("updateStrategy", "RollingUpdate", "OnDelete"),
    "StatefulSet": FieldChecks(
        {
            **_COUNTS,
            **{f"updateStrategy.{name}": check for name, check in _UPDATE.items()},
            "updateStrategy.type": if_set(one_of("RollingUpdate", "OnDelete")),
            "podManagementPolicy": if_set(one_of("OrderedReady", "Parallel")),
            "serviceName": if_set(dns_name),
            "ordinals.start": at_least(0),
            "persistentVolumeClaimRetentionPolicy.whenDeleted": one_of("Retain", "Delete"),
            "persistentVolumeClaimRetentionPolicy.whenScaled": one_of("Retain", "Delete"),
        }
    ),
}


_SET_NAMES = FieldChecks({"metadata.name": if_set(dns_label), "spec.serviceName": if_set(dns_label)})
_LABELS_SINCE = 34
"""Since this version, names of a stateful set and of its service must not contain dots. Pods of such sets could not be
created before either.
"""


@server_rule(
    "workloads",
    "apps/Deployment",
    "apps/ReplicaSet",
    "apps/DaemonSet",
    "apps/StatefulSet",
    "ReplicationController",
    remedy="Repeat the labels of the template in the selector, and set matching counts and policies.",
)
def workloads(view: ObjectView) -> Faults:
    """A deployment, replica set, replication controller, daemon set or stateful set does not select its own pods, has
    pods that are not always restarted, or cannot replace them.
    """
    spec, route = view.spec, ("spec",)
    yield from _TABLES[view.kind].faults(spec, route)
    if view.kind == "Deployment":
        yield from _deadline(spec, route)
    if view.kind == "StatefulSet" and view.minor >= _LABELS_SINCE:
        yield from _SET_NAMES.faults(view.body, ())
    for field in ("strategy", "updateStrategy"):
        yield from _strategy(spec.get(field) or {}, (*route, field), view.kind)
    if not view.templates:
        yield NO_CONTAINERS.at((*route, "template"))
        return
    if view.kind == "ReplicationController":
        yield from _equality(spec, (*route, "selector"))
    else:
        yield from _selection(spec, (*route, "selector"))
    pod, at = spec["template"]["spec"], (*route, "template", "spec")
    if restart_policy(pod) != "Always":
        message = f"`{restart_policy(pod)}` is not allowed for these pods; expected `Always`"
        yield Fault((*at, "restartPolicy"), message, _NO_END)
    if "activeDeadlineSeconds" in pod:
        yield Fault((*at, "activeDeadlineSeconds"), "not allowed for pods that are always restarted", _NO_END)


def _deadline(spec: Body, route: Route) -> Faults:
    deadline, ready = spec.get("progressDeadlineSeconds", _DEADLINE_S), spec.get("minReadySeconds", 0)
    if deadline <= ready:
        field = "progressDeadlineSeconds" if "progressDeadlineSeconds" in spec else "minReadySeconds"
        other = f", or lower `minReadySeconds` below {deadline}" if deadline > 0 else ""
        hint = f"set `progressDeadlineSeconds` to more than {ready}{other}"
        yield Fault((*route, field), "the deadline must be longer than `minReadySeconds`", hint)


def _selection(spec: Body, route: Route) -> Faults:
    found = spec["selector"]
    malformed = list(selector(found, route))
    yield from malformed
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    if not found.get("matchLabels") and not found.get("matchExpressions"):
        example = next((f"`{key}: {value}`" for key, value in labels.items()), "")
        hint = f"of the template, such as {example}" if example else "that the template also has"
        yield Fault(route, "the selector is empty", f"add `matchLabels` with labels {hint}")
    elif not malformed and not selects(found, labels):
        yield not_selected(found, labels).at(route)


def _equality(spec: Body, route: Route) -> Faults:
    """A replication controller selects by labels alone; by default, by those of its template."""
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    chosen = spec.get("selector") or labels
    if not chosen:
        yield Fault(route, "the selector is empty", "add `labels` to the template's `metadata`")
    elif any(labels.get(key) != value for key, value in chosen.items()):
        yield not_selected({"matchLabels": chosen}, labels).at(route)


def not_selected(found: Body, labels: Body) -> Fault:
    """The fault of a selector that does not match the labels of its template."""
    missing = [
        f"`{key}: {value}`" for key, value in (found.get("matchLabels") or {}).items() if labels.get(key) != value
    ]
    if len(missing) == 1:
        hint = f"add {missing[0]} to the template's `metadata.labels`, or correct the selector"
    elif missing:
        hint = "add all `matchLabels` to the template's `metadata.labels`"
    else:
        hint = "make `matchExpressions` and the template's `metadata.labels` match"
    return Fault((), "the selector does not match the labels of the template", hint)


def _strategy(strategy: Body, route: Route, kind: str) -> Faults:
    rolling = strategy.get("rollingUpdate")
    if rolling is None:
        return
    if strategy.get("type", "RollingUpdate") not in {"", "RollingUpdate"} and kind != "DaemonSet":
        hint = "remove `rollingUpdate`, or set `type: RollingUpdate`"
        yield Fault((*route, "rollingUpdate"), f"not allowed for the strategy `{strategy['type']}`", hint)
        return
    if kind == "StatefulSet":
        if _is_zero(rolling.get("maxUnavailable", 1)):
            yield Fault((*route, "rollingUpdate", "maxUnavailable"), "must not be 0", "use 1 or more, or remove it")
    elif kind == "DaemonSet":
        yield from _one_at_least(rolling, route, 1, 0)
        if not any(_is_zero(rolling.get(field, other)) for field, other in (("maxUnavailable", 1), ("maxSurge", 0))):
            hint = "set `maxUnavailable: 0`, or remove `maxSurge`"
            yield Fault((*route, "rollingUpdate"), "`maxSurge` and `maxUnavailable` cannot both be more than 0", hint)
    else:
        yield from _one_at_least(rolling, route, "25%", "25%")
    for field in ("maxUnavailable", "maxSurge") if kind == "DaemonSet" else ("maxUnavailable",):
        if is_more_than_all(rolling.get(field)):
            hint = f"use `{_ALL}%` or less"
            yield Fault((*route, "rollingUpdate", field), f"`{rolling[field]}` is more than {_ALL}%", hint)


def _one_at_least(rolling: Body, route: Route, missing: int | str, surge: int | str) -> Faults:
    if _is_zero(rolling.get("maxUnavailable", missing)) and _is_zero(rolling.get("maxSurge", surge)):
        hint = "raise one of the two above 0"
        yield Fault((*route, "rollingUpdate"), "`maxSurge` and `maxUnavailable` cannot both be 0", hint)


def _is_zero(value: object) -> bool:
    return str(value).rstrip("%").strip("0") == ""
