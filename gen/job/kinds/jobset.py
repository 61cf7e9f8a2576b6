"""JobSet: groups of indexed Jobs that start, fail and restart together. Each role is one of its replicated jobs.

JobSet gives every pod a host name, `<set>-<role>-<job>-<pod>.<set>`, and sets no environment
(`pkg/controllers/jobset_controller.go` of kubernetes-sigs/jobset 0.12).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal

from msgspec.structs import replace
from pydantic import Field

from gen.base import as_list, as_mapping, at, follow, replaced
from gen.job.kinds.base import Problem, dumped, unused_workers
from gen.job.kinds.indexed import IndexedJob, read_rules, with_whole_rules
from gen.job.kinds.rendezvous import TORCHRUN, Rendezvous, field_variable
from gen.job.kinds.role import Role, Target
from gen.job.model import Model, default
from gen.job.names import JobName
from gen.job.plan import Plan
from gen.job.pods import MAX_PODS, MAX_ROLES, RoleFields
from gen.job.scalars import Positive, matching, schema
from gen.kubernetes.facts.base import ANY_ITEM, Pattern, Resource
from gen.kubernetes.facts.builtin import INDEX
from gen.kubernetes.facts.jobset import (
    COUNTS,
    DEFAULT_RESTART,
    FAILURE_REASONS,
    JOB_INDEX,
    JOBSET,
    MAX_RULE_NAME,
    RULE_NAME,
)
from gen.kubernetes.objects import Body, present

WORKER: Final = "worker"


class ReplicatedJob(RoleFields):
    """A replicated job: settings of its pods, which override those of the job, and the number of its Jobs."""

    replicas: Annotated[Positive, Field(le=MAX_PODS)] = 1
    """Number of Jobs. With more than one, `JOB_INDEX` is the index of a pod's Job and `JOB_PODS` the number of pods
    of each Job, and `NODE_RANK` is only set if that is one."""
    parallelism: Annotated[Positive, Field(le=MAX_PODS)] | None = None
    """Number of pods of each Job. [default: `workers` for the role `worker`, 1 for others]"""
    depends_on: dict[JobName, Literal["Ready", "Complete"]] = Field(default_factory=dict)
    """Roles that must be ready or complete before this one starts. They must be listed before it."""


class SuccessPolicy(Model):
    """When the set succeeds."""

    operator: Literal["All", "Any"]
    """Whether all Jobs or one must succeed."""
    target_replicated_jobs: tuple[JobName, ...] = ()
    """Roles that count. [default: all]"""


RuleName = Annotated[
    str,
    matching(
        RULE_NAME,
        MAX_RULE_NAME,
        "a name of letters, digits, `_`, `,` and `:`, starting with a letter",
        "start with a letter, and end with a letter, a digit or `_`",
        form=schema("name", "string", pattern=f"^{RULE_NAME.pattern}$", maxLength=MAX_RULE_NAME),
    ),
]


class SetFailureRule(Model):
    """The effect of a failed Job on the set. The first rule that matches applies."""

    name: RuleName | None = None
    """The name in conditions of the JobSet. [default: `rule` and its number, from 0]"""
    action: Literal["FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts"]
    """Fail the set, or restart it. The last action does not count towards `retries`."""
    on_job_failure_reasons: tuple[Literal[FAILURE_REASONS], ...] = ()  # type: ignore[valid-type] # a constant
    """Reasons that match, such as `PodFailurePolicy`. [default: all]"""
    target_replicated_jobs: tuple[JobName, ...] = ()
    """Roles that match. [default: all]"""


class FailurePolicy(Model):
    """What happens when a Job fails. `retries` is its `maxRestarts`."""

    restart_strategy: Literal["Recreate", "BlockingRecreate"] | None = None
    """`BlockingRecreate` waits until all pods are gone before it starts new ones. [default: Recreate]"""
    rules: tuple[SetFailureRule, ...] = ()
    """Rules for some failures. Without a rule that matches, the set restarts up to `retries` times."""


def _rule(number: int) -> str:
    """The name of a rule for failures."""
    return f"rule{number}"


def _with_restart(spec: Body) -> Body:
    """A Job whose failed containers start again by default, unless the first failure ends it."""
    pod = at(spec, "template", "spec")
    if (
        not isinstance(pod, dict)
        or "restartPolicy" in pod
        or spec.get("backoffLimit") == 0
        or "podFailurePolicy" in spec
    ):
        return spec
    changed: Body = replaced(spec, ("template", "spec"), {"restartPolicy": DEFAULT_RESTART, **pod})
    return changed


class JobSetJob(IndexedJob):
    """JobSet, ready for `torch.distributed`. `workers` is the number of pods of the role `worker`, ranked from 0."""

    facts: ClassVar[Resource] = JOBSET
    copied: ClassVar[Mapping[str, Pattern]] = {
        "successPolicy": ("spec", "successPolicy"),
        "startupPolicy": ("spec", "startupPolicy", "startupPolicyOrder"),
        "failurePolicy.restartStrategy": ("spec", "failurePolicy", "restartStrategy"),
        "failurePolicy.rules": ("spec", "failurePolicy", "rules"),
        "roles.*.dependsOn": ("spec", "replicatedJobs", ANY_ITEM, "dependsOn"),
        "roles.*.replicas": COUNTS[0].route,
        "roles.*.parallelism": COUNTS[1].route,
    }

    kind: Literal["jobset"]
    """Kind of job."""
    roles: dict[JobName, ReplicatedJob] = Field(default_factory=dict, max_length=MAX_ROLES)
    """Replicated jobs by name, in the order of their start. [default: one, named `worker`]"""
    success_policy: SuccessPolicy = SuccessPolicy(operator="All")
    """When the set succeeds."""
    failure_policy: FailurePolicy = default(FailurePolicy)
    """What happens when a Job fails."""
    startup_policy: Literal["AnyOrder", "InOrder"] = "AnyOrder"
    """`InOrder` starts a role when all pods of the one before are ready."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """With the restart policy of the webhook, and the names that gen gives to rules without one."""
        jobs = at(body, "spec", "replicatedJobs")
        for number in range(len(jobs)) if isinstance(jobs, list) else ():
            route = ("spec", "replicatedJobs", number, "template", "spec")
            if isinstance(spec := follow(body, route), dict):
                body = replaced(body, route, with_whole_rules(_with_restart(spec)))
        rules = at(body, "spec", "failurePolicy", "rules")
        if not isinstance(rules, list):
            return body
        named = [{"name": _rule(number), **as_mapping(rule)} for number, rule in enumerate(rules)]
        changed: Body = replaced(body, ("spec", "failurePolicy", "rules"), named)
        return changed

    @classmethod
    def read_counts(cls, spec: Body) -> Mapping[str, object]:
        """The rules that all Jobs have."""
        rules = [read_rules(as_mapping(at(one, "template", "spec"))) for one in as_list(spec.get("replicatedJobs"))]
        return {"podFailurePolicy": rules[0]} if rules and rules[0] and rules == rules[:1] * len(rules) else {}

    @classmethod
    def as_written(cls, field: str, value: object) -> object:
        """Dependencies by role, and rules without names that gen gives to them."""
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            return value
        if field.endswith("dependsOn"):
            return {str(one.get("name")): one.get("status") for one in value}
        return [
            {key: inner for key, inner in one.items() if (key, inner) != ("name", _rule(number))}
            for number, one in enumerate(value)
        ]

    @property
    def jobs(self) -> Mapping[str, ReplicatedJob]:
        """Replicated jobs by name."""
        return self.roles or {WORKER: ReplicatedJob()}

    def pods_per_job(self, name: str) -> int:
        return self.jobs[name].parallelism or (self.workers if name == WORKER else 1)

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        return tuple(self._role(run, name, job) for name, job in self.jobs.items())

    def _role(self, run: str, name: str, job: ReplicatedJob) -> Role:
        pods = self.pods_per_job(name)
        several = job.replicas > 1
        indices = (field_variable("JOB_INDEX", JOB_INDEX), {"name": "JOB_PODS", "value": str(pods)})
        rendezvous = Rendezvous(
            address=f"{run}-{name}-0-0.{run}",
            port=self.master_port,
            pods=job.replicas * pods,
            rank=INDEX if not several else JOB_INDEX if pods == 1 else None,
        )
        if rendezvous.rank is None:
            rendezvous = replace(rendezvous, families=(TORCHRUN,))
        return Role(
            name=name,
            replica_type=name,
            replicas=job.replicas * pods,
            fields=job,
            env=(*rendezvous.processes(), *(indices if several else ())),
            rendezvous=rendezvous,
            ports=self.rendezvous_ports,
            indices=(job.replicas, pods),
        )

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        rules = [{"name": _rule(number), **dumped(rule)} for number, rule in enumerate(self.failure_policy.rules)]
        return present(  # with the defaults of the webhook, which an engine would otherwise show as a difference
            network={"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            startupPolicy=present(startupPolicyOrder=self.startup_policy),
            successPolicy=dumped(self.success_policy),
            failurePolicy=present(
                maxRestarts=plan.retries, restartStrategy=self.failure_policy.restart_strategy, rules=rules
            ),
            replicatedJobs=[self._replicated(pod.role, pods[pod.role.name]) for pod in plan.pods],
        )

    def _replicated(self, role: Role, template: Body) -> Body:
        job, pods = self.jobs[role.name], self.pods_per_job(role.name)
        never = role.restart == "Never"
        spec = present(
            completionMode="Indexed",
            completions=pods,
            parallelism=pods,
            # a pod that is replaced alone does not find its group again; the set restarts as a whole
            backoffLimit=0 if never else None,
            podFailurePolicy=present(rules=self.failure_rules(self.pod_failure_policy or ())),
            template=template,
        )
        return present(
            name=role.name,
            replicas=job.replicas,
            dependsOn=[{"name": name, "status": status} for name, status in job.depends_on.items()],
            template={"spec": spec},
        )

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from super().problems(target)
        for index, rule in enumerate(self.pod_failure_policy or ()):
            if rule.action == "FailIndex":
                message = "`FailIndex` ends one task of an array, and a set has none"
                yield Problem(("podFailurePolicy", index, "action"), message, "use `FailJob`")
        yield from self._unknown_roles()
        yield from self._equal_names()
        yield from self._wrong_order(target)
        if target.together and self.startup_policy == "InOrder":
            message = "the roles of a queue that starts all pods together cannot start in order"
            yield Problem(("startupPolicy",), message, "remove `startupPolicy`, or use another queue")
        yield from unused_workers(self, self.jobs, WORKER, "parallelism")

    def _equal_names(self) -> Iterable[Problem]:
        names = [rule.name or _rule(number) for number, rule in enumerate(self.failure_policy.rules)]
        for number, name in enumerate(names):
            if name in names[:number]:
                route = ("failurePolicy", "rules", number)
                yield Problem(route, f"another rule has the name `{name}`", "give each rule a `name` of its own")

    def _unknown_roles(self) -> Iterable[Problem]:
        holders: list[tuple[tuple[str | int, ...], SuccessPolicy | SetFailureRule]] = [
            (("failurePolicy", "rules", number), rule) for number, rule in enumerate(self.failure_policy.rules)
        ]
        holders.append((("successPolicy",), self.success_policy))
        for above, holder in holders:
            for number, name in enumerate(holder.target_replicated_jobs):
                if name not in self.jobs:
                    route = (*above, "targetReplicatedJobs", number)
                    yield Problem(route, f"the job has no role `{name}`", f"use one of {', '.join(self.jobs)}")

    def _wrong_order(self, target: Target) -> Iterable[Problem]:
        before: list[str] = []
        for name, job in self.roles.items():
            for needed in job.depends_on:
                if needed not in before:
                    hint = "list the roles so that each depends on earlier ones"
                    yield Problem(
                        ("roles", name, "dependsOn", needed), f"`{needed}` is not a role before `{name}`", hint
                    )
            if job.depends_on and target.together:
                message = "the pods of a queue that starts all together cannot wait for another role"
                yield Problem(("roles", name, "dependsOn"), message, "remove `dependsOn`, or use another queue")
            if job.depends_on and self.startup_policy == "InOrder":
                hint = "remove one of the two"
                yield Problem(
                    ("startupPolicy",), "`startupPolicy: InOrder` and `dependsOn` are mutually exclusive", hint
                )
            before.append(name)
