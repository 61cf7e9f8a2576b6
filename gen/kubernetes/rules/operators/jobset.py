"""JobSet (`jobset.x-k8s.io/v1alpha2`).

From `pkg/webhooks/jobset_webhook.go` of kubernetes-sigs/jobset 0.12.
"""

from __future__ import annotations

from typing import Any

from gen.kubernetes.facts.jobset import FAILURE_REASONS, JOBSET, MAX_RULE_NAME, RULE_NAME
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, operator_rule
from gen.kubernetes.rules.field_checks import FieldChecks, unique
from gen.kubernetes.rules.operators.common import derived_names, items, name_fault
from gen.kubernetes.rules.value_checks import dns_1035_label, domain_path

_SET = str(JOBSET)
_WEBHOOK = "The JobSet webhook rejects the object."
_LABELS = FieldChecks(
    {"spec.network.subdomain": dns_1035_label, "spec.replicatedJobs.*.groupName": dns_1035_label}
    | {"spec.managedBy": domain_path}
)


def _jobs(view: ObjectView) -> list[Body]:
    return items(view, "replicatedJobs")


@operator_rule(
    "jobset-name",
    _SET,
    reason=f"{_WEBHOOK} Jobs are named `<set>-<job>-<index>`, pods `<set>-<job>-<index>-<index>-xxxxx`.",
    remedy="Shorten the name of the set or of the replicated job, and begin it with a letter.",
)
def jobset_name(view: ObjectView) -> Faults:
    """A name that JobSet derives for jobs and pods is not a DNS-1035 label, or longer than 63 characters."""
    yield from name_fault(derived_names(view))


@operator_rule("jobset-labels", _SET, reason=_WEBHOOK, remedy="Use a letter, then lower-case letters, digits and `-`.")
def jobset_labels(view: ObjectView) -> Faults:
    """A group name or subdomain is not a DNS-1035 label, or `managedBy` is not a domain-prefixed path."""
    yield from _LABELS.faults(view.body, ())


@operator_rule(
    "jobset-depends-on", _SET, reason=_WEBHOOK, remedy="Order the jobs so that each depends on earlier ones."
)
def jobset_depends_on(view: ObjectView) -> Faults:
    """A replicated job depends on a job that is not listed before it."""
    names: list[str] = []
    for index, job in enumerate(_jobs(view)):
        for number, needed in enumerate(job.get("dependsOn") or ()):
            if needed.get("name") not in names:
                at = ("spec", "replicatedJobs", index, "dependsOn", number, "name")
                yield Fault(at, f"`{needed.get('name')}` is not a job before this one")
        names.append(job.get("name", ""))


@operator_rule(
    "jobset-startup-policy",
    _SET,
    reason="The definition rejects the object.",
    remedy="Remove `startupPolicy`, or every `dependsOn`.",
)
def jobset_startup_policy(view: ObjectView) -> Faults:
    """The startup policy is `InOrder`, and a replicated job has `dependsOn`."""
    if (view.spec.get("startupPolicy") or {}).get("startupPolicyOrder") == "InOrder":
        for index, job in enumerate(_jobs(view)):
            if "dependsOn" in job:
                yield Fault(("spec", "replicatedJobs", index, "dependsOn"), "mutually exclusive with `InOrder`")


@operator_rule(
    "jobset-duplicate-names",
    _SET,
    reason="The definition rejects the object.",
    remedy="Give each replicated job a unique name, and depend on each job once.",
)
def jobset_duplicate_names(view: ObjectView) -> Faults:
    """Two replicated jobs have the same name, or a job depends on another one twice."""
    at = ("spec", "replicatedJobs")
    yield from unique(_jobs(view), at, "name", "job name", "")
    for index, job in enumerate(_jobs(view)):
        yield from unique(job.get("dependsOn") or [], (*at, index, "dependsOn"), "name", "dependency", "")


@operator_rule("jobset-targets", _SET, reason=_WEBHOOK, remedy="Name a replicated job of this set.")
def jobset_targets(view: ObjectView) -> Faults:
    """A policy names a replicated job that does not exist."""
    names = {job.get("name") for job in _jobs(view)}
    holders: list[tuple[tuple[str | int, ...], Any]] = [
        (("spec", "successPolicy"), view.spec.get("successPolicy") or {})
    ]
    for index, rule in enumerate((view.spec.get("failurePolicy") or {}).get("rules") or ()):
        holders.append((("spec", "failurePolicy", "rules", index), rule))
    for at, holder in holders:
        for index, target in enumerate(holder.get("targetReplicatedJobs") or ()):
            if target not in names:
                yield Fault((*at, "targetReplicatedJobs", index), f"no replicated job is named `{target}`")


@operator_rule(
    "jobset-failure-rules",
    _SET,
    reason=_WEBHOOK,
    remedy="Give each rule a unique name, and reasons for which jobs fail.",
)
def jobset_failure_rules(view: ObjectView) -> Faults:
    """A failure rule has a duplicate or invalid name, or an unknown reason."""
    rules = (view.spec.get("failurePolicy") or {}).get("rules") or []
    at = ("spec", "failurePolicy", "rules")
    named = [rule for rule in rules if rule.get("name")]
    yield from unique(named, at, "name", "rule name", "")
    for index, rule in enumerate(rules):
        name = rule.get("name", "a")
        if len(name) > MAX_RULE_NAME or not RULE_NAME.fullmatch(name):
            yield Fault(
                (*at, index, "name"),
                f"`{name[:40]}` is not a valid rule name; expected a letter, then letters, digits, `_`, `,` and `:`",
            )
        for number, reason in enumerate(rule.get("onJobFailureReasons") or ()):
            if reason not in FAILURE_REASONS:
                yield not_one_of(reason, FAILURE_REASONS).at((*at, index, "onJobFailureReasons", number))


@operator_rule(
    "jobset-coordinator",
    _SET,
    reason=_WEBHOOK,
    remedy="Name a replicated job with `completionMode: Indexed`, and indices below its counts.",
)
def jobset_coordinator(view: ObjectView) -> Faults:
    """The coordinator is not an existing pod of an indexed job with `completions`."""
    coordinator = view.spec.get("coordinator")
    if coordinator is None:
        return
    at = ("spec", "coordinator")
    job = next((job for job in _jobs(view) if job.get("name") == coordinator.get("replicatedJob")), None)
    if job is None:
        yield Fault((*at, "replicatedJob"), f"no replicated job is named `{coordinator.get('replicatedJob')}`")
        return
    spec: Body = (job.get("template") or {}).get("spec") or {}
    completions = spec.get("completions")
    if spec.get("completionMode", "Indexed") != "Indexed" or completions is None:
        yield Fault(
            (*at, "replicatedJob"), "the job of a coordinator requires `completionMode: Indexed` and `completions`"
        )
    elif coordinator.get("podIndex", 0) >= completions:
        yield Fault(
            (*at, "podIndex"), f"{coordinator['podIndex']} is not below {completions}, the number of completions"
        )
    if coordinator.get("jobIndex", 0) >= job.get("replicas", 1):
        yield Fault(
            (*at, "jobIndex"),
            f"{coordinator['jobIndex']} is not below {job.get('replicas', 1)}, the number of replicas",
        )


@operator_rule(
    "jobset-volume-claims", _SET, reason=_WEBHOOK, remedy="Give each claim a unique name, and remove its namespace."
)
def jobset_volume_claims(view: ObjectView) -> Faults:
    """A volume claim of a set has a duplicate name, no name, or a namespace."""
    seen: set[str] = set()
    for index, policy in enumerate(view.spec.get("volumeClaimPolicies") or ()):
        for number, template in enumerate(policy.get("templates") or ()):
            metadata = template.get("metadata") or {}
            at = ("spec", "volumeClaimPolicies", index, "templates", number, "metadata")
            name = metadata.get("name", "")
            if not name or name in seen:
                yield Fault((*at, "name"), f"duplicate claim name `{name}`" if name else "`name` is missing")
            if metadata.get("namespace"):
                yield Fault((*at, "namespace"), "not allowed; claims are in the namespace of their set")
            seen.add(name)
