"""A plain Kubernetes Job for `torch.distributed`, for clusters without a training operator, and arrays of tasks.

Indexed completions give each pod its rank and a stable host name, and a headless Service gives it an address, as in the
Kubernetes documentation "Job with Pod-to-Pod Communication". The pods of an array are independent tasks.
`backoffLimitPerIndex` is stable since Kubernetes 1.33 and on by default since 1.29 (documentation of Kubernetes,
"Backoff limit per index").
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import re
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, Literal

from gen.base import Route, as_list, as_mapping, at, regex, with_field
from gen.base.placeholders import RUN, TRIAL
from gen.job.kinds.base import Problem
from gen.job.kinds.indexed import FailureRule, IndexedJob, read_rules, with_whole_rules
from gen.job.kinds.rendezvous import Rendezvous, field_variable
from gen.job.kinds.role import Role, Target, counted_failures, counted_restarts
from gen.job.model import Model, OrMapping, default
from gen.job.plan import Plan
from gen.job.pods import RoleFields
from gen.job.scalars import Count, Duration, Positive, Truth
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.builtin import CRONJOB, INDEX, JOB, POD_DEADLINE
from gen.kubernetes.objects import COMPONENT, JOB_LABEL, RUN_LABEL, STEP_LABEL, Body, present


class TaskArray(Model):
    """How the tasks of an array run."""

    main: ClassVar[str] = "parallel"

    parallel: Positive | None = None
    """Most tasks at the same time. Quotas count these. Defaults to all."""
    max_failed: Count | None = None
    """Failed tasks that the job survives; with more it stops. Defaults to any number: the other tasks go on, and the
    job fails at the end."""


def tasks_at_once(job: IndexedJob, array: TaskArray) -> int:
    return min(array.parallel or job.workers, job.workers)


def task_counts(job: IndexedJob, array: TaskArray, retries: int | None) -> Body:
    """Fields of the Job. A failed task is tried again, and others are not touched."""
    return present(
        completions=job.workers,
        parallelism=tasks_at_once(job, array),
        backoffLimitPerIndex=retries or 0,
        maxFailedIndexes=array.max_failed,
    )


def counts_of_tasks(spec: Body) -> Mapping[str, object]:
    """The fields that give an indexed Job its `task_counts`; none for pods that share their retries."""
    names = ("completions", "backoffLimitPerIndex", "parallelism", "maxFailedIndexes")
    tasks, retries, parallel, failed = (value if type(value := spec.get(name)) is int else None for name in names)
    never = at(spec, "template", "spec", "restartPolicy") == "Never"
    if spec.get("completionMode") != "Indexed" or tasks is None or retries is None or not never:
        return {}
    fewer = parallel if parallel is not None and 0 < parallel < tasks else None
    limits = present(parallel=fewer, maxFailed=failed)
    return {"workers": tasks, "array": limits or True, "retries": retries or None}


def array_problems(job: IndexedJob, array: TaskArray) -> Iterable[Problem]:
    if job.restart == "OnFailure":
        message = "`array` requires `restart: Never`, because a restarted container is not a new attempt of its task"
        yield Problem(("restart",), message, "remove `restart`")
    if array.parallel is not None and array.parallel >= job.workers:
        message = f"`parallel` has no effect: the array has {job.workers} tasks"
        yield Problem(("array", "parallel"), message, "remove it, or increase `workers`", no_effect=True)
    if array.max_failed is not None and array.max_failed >= job.workers:
        message = f"`maxFailed` has no effect: the array has {job.workers} tasks"
        yield Problem(("array", "maxFailed"), message, "use a smaller number, or remove it", no_effect=True)
    if "master_port" in job.model_fields_set:
        message = "`masterPort` has no effect: the tasks of an array do not meet"
        yield Problem(("masterPort",), message, "remove `masterPort` or `array`", no_effect=True)


_JOB_NAME: Final = "JOB_NAME"
_UIDS: Final = frozenset({"controller-uid", "batch.kubernetes.io/controller-uid"})
"""Labels of pods that the API server makes, and selects pods by."""


_DRAINED: Final = FailureRule(action="Ignore", condition="DisruptionTarget")
_FAILURES: Final = 6
"""Default of `backoffLimit`."""


def _number(spec: object, name: str) -> int:
    return value if type(value := at(spec, name)) is int else 1


def _as_tasks(spec: Body) -> Body:
    """A Job with more completions than pods at the same time as an array: its pods cannot train together."""
    never = at(spec, "template", "spec", "restartPolicy") == "Never"
    if not never or "backoffLimitPerIndex" in spec or _number(spec, "completions") <= _number(spec, "parallelism"):
        return spec
    failures = spec.get("backoffLimit", _FAILURES)
    limits = {
        "completionMode": "Indexed",
        "backoffLimitPerIndex": failures,
        "parallelism": _number(spec, "parallelism"),
    }
    limits |= {"maxFailedIndexes": 0} if failures == 0 else {}
    return {**{name: value for name, value in spec.items() if name != "backoffLimit"}, **limits}


_SPOT: Final = regex(r".*(?:spot|preemptible).*", re.IGNORECASE)


def _is_taken_back(spec: Body) -> bool:
    """Whether the pods are on nodes that the cloud takes back, and the Job counts each of these as a failure."""
    pod = as_mapping(at(spec, "template", "spec"))
    labels = [str(one) for pair in as_mapping(pod.get("nodeSelector")).items() for one in pair]
    labels += [str(at(one, name)) for one in as_list(pod.get("tolerations")) for name in ("key", "value")]
    return pod.get("restartPolicy") == "OnFailure" and any(map(_SPOT.fullmatch, labels))


class BatchRoles(Model):
    """Values for a single role."""

    worker: RoleFields | None = None
    """Training pods."""


class BatchJob(IndexedJob):
    """`torch.distributed` on a plain Kubernetes Job. `workers` is the number of pods, with ranks from 0."""

    facts: ClassVar[Resource] = JOB
    called: ClassVar[tuple[str, ...]] = ("k8sjob", "indexedjob")

    kind: Literal["batch"]
    """Kind of job."""
    roles: BatchRoles = default(BatchRoles)
    """Values for single roles, which override those of the job."""

    array: OrMapping[Truth, TaskArray] = False
    """Run `workers` independent tasks instead of pods that train together. `JOB_COMPLETION_INDEX` is the index of a
    task and `TASK_COUNT` their number; `retries` counts for each task."""
    attempt_timeout: Duration | None = None
    """Maximum run time of one attempt: a pod that takes longer fails, and counts towards `retries`. `timeout` limits
    all attempts together. Requires `restart: Never`."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """Tasks in place of pods that only share a counter of failures, and no selector that the API server made."""
        spec = body["spec"]
        if set(as_mapping(at(spec, "selector", "matchLabels"))) <= _UIDS and not spec.get("manualSelector"):
            spec = {name: value for name, value in spec.items() if name != "selector"}
        return {**body, "spec": with_whole_rules(_as_tasks(spec))}

    @classmethod
    def changes(cls, body: Body) -> Iterable[tuple[Route, str, str]]:
        spec = body.get("spec")
        if _as_tasks(as_mapping(spec)) != spec and at(spec, "backoffLimit") == 0:
            return
        if _as_tasks(as_mapping(spec)) != spec:
            message = "the number of failures holds for each task of an array, and not for all together"
            yield ("spec", "backoffLimit"), message, "check `retries`, and set `array: {maxFailed: NUMBER}` if needed"
        elif _number(spec, "completions") > _number(spec, "parallelism") and "backoffLimitPerIndex" not in spec:
            message = "the pods of later completions have ranks, too, as if all trained together"
            hint = "set `array` and `restart: Never` in the job if they are independent tasks"
            yield ("spec", "completions"), message, hint

    @classmethod
    def read_counts(cls, spec: Body) -> Mapping[str, object]:
        rules = read_rules(spec)
        known = rules is None or rules == [_DRAINED.model_dump(by_alias=True, exclude_none=True)]
        each = max((_FAILURES - 1) // _number(spec, "parallelism"), 1)
        retries = {"retries": each} if _is_taken_back(spec) and "backoffLimit" not in spec else {}
        return {**retries, **counts_of_tasks(spec), **({} if known else {"podFailurePolicy": rules})}

    @property
    def independent(self) -> bool:
        return self.tasks is not None

    @property
    def tasks(self) -> TaskArray | None:
        """None for pods that train together."""
        if isinstance(self.array, TaskArray):
            return self.array
        return TaskArray() if self.array else None

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        if self.tasks is not None:
            return (
                Role(
                    name="worker",
                    replica_type="Worker",
                    replicas=tasks_at_once(self, self.tasks),
                    least=1,
                    fields=self.roles.worker,
                    env=({"name": "TASK_COUNT", "value": str(self.workers)},),
                    indices=(self.workers,),
                ),
            )
        rendezvous = Rendezvous(address=self._address(run), port=self.master_port, pods=self.workers, rank=INDEX)
        own_name = () if self.schedule is None else (field_variable(_JOB_NAME, CRONJOB.pod_run),)
        return (
            Role(
                name="worker",
                replica_type="Worker",
                replicas=self.workers,
                fields=self.roles.worker,
                env=(*own_name, *rendezvous.processes()),
                rendezvous=rendezvous,
                ports=self.rendezvous_ports,
                subdomain=None if self._is_alone(run) else run,
            ),
        )

    def _is_alone(self, run: str) -> bool:
        """Whether it is one pod of an object that gets its name later, which needs no address: nothing makes a Service
        for a trial, and for a step of a pipeline with a schedule.
        """
        return TRIAL in run and self.workers == 1

    def _address(self, run: str) -> str:
        """Host name of the first pod. Each run of a schedule has a name of its own, which its pods know."""
        if self._is_alone(run):
            return "localhost"
        return f"{run}-0.{run}" if self.schedule is None else f"$({_JOB_NAME})-0.{run}"

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        never = plan.pods[0].role.restart == "Never"
        count = counted_failures if never else counted_restarts
        rules = self.pod_failure_policy
        if rules is None:  # drained nodes do not count
            rules = (_DRAINED,)
        together = {
            "completions": self.workers,
            "parallelism": self.workers,
            "backoffLimit": count(plan.retries or 0, self.workers),
        }
        template = pods["worker"]
        if self.attempt_timeout is not None:
            template = with_field(template, POD_DEADLINE, self.attempt_timeout)
        return present(
            completionMode="Indexed",
            **(task_counts(self, self.tasks, plan.retries) if self.tasks is not None else together),
            activeDeadlineSeconds=plan.timeout,
            podFailurePolicy=present(rules=self.failure_rules(rules) if never else None),
            template=template,
        )

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from super().problems(target)
        if self.tasks is not None:
            yield from array_problems(self, self.tasks)
        yield from self._attempt_problems()
        for index, rule in enumerate(self.pod_failure_policy or ()):
            if rule.action == "FailIndex" and self.tasks is None:
                message = "`FailIndex` ends one task, and only an array has tasks"
                yield Problem(("podFailurePolicy", index, "action"), message, "add `array: true`, or use `FailJob`")

    def _attempt_problems(self) -> Iterable[Problem]:
        if self.attempt_timeout is None:
            return
        if self.restart == "OnFailure":
            message = "`attemptTimeout` requires `restart: Never`, because a restarted container is in the same pod"
            yield Problem(("restart",), message, "remove `restart`")
        if self.timeout is not None and self.attempt_timeout >= self.timeout:
            message = "`attemptTimeout` has no effect: `timeout`, which limits all attempts, is not longer"
            yield Problem(("attemptTimeout",), message, "use a longer `timeout`, or remove it", no_effect=True)

    def companions(self, plan: Plan) -> tuple[Body, ...]:
        if self.tasks is not None or self._is_alone(plan.object_name):
            return ()
        service = {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,  # rank 0 must be found before it is ready
            "selector": _selector(plan),
            "ports": [{"name": "rendezvous", "port": self.master_port, "protocol": "TCP"}],
        }
        return ({"apiVersion": "v1", "kind": "Service", "metadata": {"name": plan.run}, "spec": service},)


def _selector(plan: Plan) -> dict[str, str]:
    """The pods of a run, or of all runs of a schedule: an edit must not take the address from running ones."""
    if plan.starter.repeats:
        return {JOB_LABEL: plan.job, COMPONENT: plan.pods[0].role.name}
    labels = {JOB_LABEL: plan.job, RUN_LABEL: RUN}
    return {**labels, STEP_LABEL: plan.step} if plan.step else labels
