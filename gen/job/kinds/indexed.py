"""Common parts of kinds that run indexed Kubernetes Jobs: ranks of the pods, and the failures that count."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from gen.base import as_mapping, as_mappings, at, follow, replaced
from gen.job.kinds.base import Job, Problem
from gen.job.kinds.rendezvous import TORCH_EXAMPLE, TORCH_PORT
from gen.job.kinds.role import Target
from gen.job.model import Model
from gen.job.names import LabelKey
from gen.job.scalars import Port, Positive
from gen.kubernetes.objects import Body, present


class FailureRule(Model):
    """The effect of a failed pod on the job. The first rule that matches applies."""

    action: Literal["FailJob", "FailIndex", "Ignore", "Count"]
    """Fail the job immediately, fail one task of an array, ignore the failure of the pod, or count it towards
    `retries`."""
    exit_codes: Annotated[tuple[Positive, ...], Field(min_length=1, max_length=255)] | None = None
    """Exit codes of the training container that match the rule."""
    condition: LabelKey | None = None
    """Pod condition that matches the rule, such as `DisruptionTarget` for pods on a drained node."""


_RULES: Final = ("podFailurePolicy", "rules")


def with_whole_rules(spec: Body) -> Body:
    """A Job with rules for failures as gen writes them, which mean the same."""
    rules, containers = follow(spec, _RULES), at(spec, "template", "spec", "containers")
    if not isinstance(rules, list) or not isinstance(containers, list) or len(containers) != 1:
        return spec
    changed: Body = replaced(spec, _RULES, [_whole(as_mapping(rule), at(containers[0], "name")) for rule in rules])
    return changed


def _whole(rule: Body, container: object) -> Body:
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if isinstance(codes, dict) and isinstance(codes.get("values"), list):
        codes = {"containerName": container, **codes, "values": sorted(codes["values"], key=_by_number)}
    if isinstance(conditions, list):
        conditions = [{"status": "True", **as_mapping(one)} for one in conditions]
    return {**rule, **present(onExitCodes=codes, onPodConditions=conditions)}


def _by_number(code: object) -> tuple[int, str]:
    """As the API server requires. Other values, which it refuses, come first."""
    return (code if isinstance(code, int) else -1), str(code)


def read_rules(spec: Body) -> list[Body] | None:
    """The rules of a Job as fields; None if a job cannot have one."""
    rules = as_mappings(follow(spec, _RULES))
    made = [_read_rule(rule, at(follow(spec, ("template", "spec", "containers", 0)), "name")) for rule in rules]
    return [one for one in made if one is not None] if made and None not in made else None


def _read_rule(rule: Body, container: object) -> Body | None:
    match {key: value for key, value in rule.items() if key != "action"}:
        case {"onExitCodes": {"containerName": name, "operator": "In", "values": list(values)}} if name == container:
            return {"action": rule.get("action"), "exitCodes": values}
        case {"onPodConditions": [{"type": str(condition), "status": "True"}]}:
            return {"action": rule.get("action"), "condition": condition}
    return None


class IndexedJob(Job):
    """A job that uses the completion indexes of a Kubernetes Job as ranks."""

    # the Job controller adds it to every container of an indexed Job that does not set it
    reserved_env: ClassVar[frozenset[str]] = frozenset({"JOB_COMPLETION_INDEX"})
    example: ClassVar[Mapping[str, object]] = TORCH_EXAMPLE

    master_port: Port = TORCH_PORT
    """Port of the pod with rank 0, as `MASTER_PORT`."""
    pod_failure_policy: Annotated[tuple[FailureRule, ...], Field(max_length=20)] | None = None
    """Failures that count. [default: all; for `batch`, all except pods on drained nodes] Requires `restart: Never`.
    Pods on other nodes that fail because one was drained do count: with several workers, set `retries`."""

    @property
    def rendezvous_ports(self) -> tuple[Body, ...]:
        return ({"name": "rendezvous", "containerPort": self.master_port, "protocol": "TCP"},)

    def failure_rules(self, rules: Iterable[FailureRule]) -> list[Body]:
        """Rules as Kubernetes writes them."""
        return [
            present(
                action=rule.action,
                onExitCodes={
                    "containerName": self.main_container(),
                    "operator": "In",
                    "values": sorted(set(rule.exit_codes)),
                }
                if rule.exit_codes
                else None,
                onPodConditions=[{"type": rule.condition, "status": "True"}] if rule.condition else None,
            )
            for rule in rules
        ]

    def problems(self, target: Target) -> Iterable[Problem]:
        if self.restart == "OnFailure" and self.pod_failure_policy:
            yield Problem(
                ("podFailurePolicy",), "`podFailurePolicy` requires `restart: Never`", "remove one of the two"
            )
        for index, rule in enumerate(self.pod_failure_policy or ()):
            if (rule.exit_codes is None) == (rule.condition is None):
                route = ("podFailurePolicy", index)
                yield Problem(route, "a rule requires either `exitCodes` or `condition`", "set exactly one of the two")
