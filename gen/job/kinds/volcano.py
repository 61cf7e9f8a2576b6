"""Volcano Job: tasks that start together as a gang. Each role is a task.

Every field that the webhook would set is written, because it could not be changed or left out later
(`pkg/webhooks/admission/jobs/mutate` of volcano-sh/volcano 1.15).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from gen.base import Route, as_list, as_mappings, at, replaced
from gen.job.kinds.base import Job, Problem, dumped, unused_workers
from gen.job.kinds.rendezvous import JAX, LOCAL, PROCESS, TORCH_EXAMPLE, TORCHRUN, Rendezvous
from gen.job.kinds.role import Role, Target
from gen.job.model import Model
from gen.job.names import JobName
from gen.job.plan import Plan
from gen.job.pods import MAX_PODS, MAX_ROLES, RoleFields
from gen.job.scalars import Count, Duration, Positive, Text
from gen.kubernetes.facts.base import ANY_ITEM, Pattern, Resource
from gen.kubernetes.facts.volcano import (
    DEFAULT_QUEUE,
    DEFAULT_RETRIES,
    SCHEDULER,
    TORCH_PORT,
    VOLCANO_JOB,
    plugin_flags,
)
from gen.kubernetes.objects import Body, present
from gen.kubernetes.quantity import duration, seconds

Plugin = Literal["env", "svc", "ssh", "pytorch", "tensorflow", "mpi", "hcclrank"]

WORKER: Final = "worker"
_TASK: Final = "default"
"""Start of the names of tasks without one."""
MASTER: Final = "master"
_SSH_SERVER: Final = "mkdir -p /var/run/sshd && exec /usr/sbin/sshd -D"
_NEEDS: Final[dict[str, tuple[Plugin, ...]]] = {"mpi": ("svc", "ssh"), "pytorch": ("svc",), "tensorflow": ("svc",)}
"""Plugins that the webhook adds for others."""
_SETS: Final = {
    "env": {"VC_TASK_INDEX", "VK_TASK_INDEX"},
    "pytorch": {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"},
    "tensorflow": {"TF_CONFIG"},
    "mpi": {"MPI_HOST"},
}
"""Variables that plugins append behind those of the job (`pkg/controllers/job/plugins`)."""

Event = Literal["*", "PodFailed", "PodEvicted", "PodPending", "PodRunning", "TaskCompleted", "TaskFailed", "Unknown"]
Action = Literal["AbortJob", "RestartJob", "RestartTask", "RestartPod", "TerminateJob", "CompleteJob"]


class LifecyclePolicy(Model):
    """What Volcano does after an event. The first policy that matches applies, those of a role first."""

    event: Event | None = None
    """Event that matches."""
    events: tuple[Event, ...] = ()
    """Events that match."""
    exit_code: Positive | None = None
    """Exit code of a container that matches, instead of an event."""
    action: Action
    """Action, such as `RestartJob`. Restarts count towards `retries`."""
    timeout: Duration | None = None
    """How long to wait before the action."""


class NetworkTopology(Model):
    """How close the pods must be in the network."""

    mode: Literal["hard", "soft"] = "hard"
    """Whether a pod waits until there is room within the tier, or runs elsewhere."""
    highest_tier_allowed: Positive | None = None
    """Highest tier of HyperNodes that the pods may span."""


class VolcanoTask(RoleFields):
    """A task: settings of its pods, which override those of the job, and their number."""

    replicas: Annotated[Positive, Field(le=MAX_PODS)] | None = None
    """Number of pods. [default: for the role `worker`, `workers` without the master of `pytorch`; 1 for others]"""
    min_available: Count | None = None
    """Number of pods that must run together. [default: all]"""
    depends_on: tuple[JobName, ...] = ()
    """Roles that must be ready before this one starts."""
    policies: tuple[LifecyclePolicy, ...] = ()
    """What Volcano does after events of these pods."""


class VolcanoJob(Job):
    """Volcano. `workers` is the number of training pods; with the plugin `pytorch` it includes the master."""

    facts: ClassVar[Resource] = VOLCANO_JOB
    arena: ClassVar[str] = "volcanojob"
    copied: ClassVar[Mapping[str, Pattern]] = {
        "plugins": ("spec", "plugins"),
        "priority": ("spec", "priorityClassName"),
        "minAvailable": ("spec", "minAvailable"),
        "policies": ("spec", "policies"),
        "networkTopology": ("spec", "networkTopology"),
        "roles.*.minAvailable": ("spec", "tasks", ANY_ITEM, "minAvailable"),
        "roles.*.policies": ("spec", "tasks", ANY_ITEM, "policies"),
        "roles.*.dependsOn": ("spec", "tasks", ANY_ITEM, "dependsOn", "name"),
    }
    without: ClassVar[Mapping[str, object]] = {"plugins": {}, "policies": []}
    example: ClassVar[Mapping[str, object]] = TORCH_EXAMPLE

    kind: Literal["volcano"]
    """Kind of job."""
    roles: dict[JobName, VolcanoTask] = Field(default_factory=dict, max_length=MAX_ROLES)
    """Tasks by name. [default: `worker`] With the plugin `pytorch` or `mpi`, there is always a `master`, or the
    role of their argument `--master`."""
    plugins: dict[Plugin, tuple[Text, ...]] = {"env": (), "svc": ()}
    """Plugins with their arguments, such as `pytorch: [--port=23456]`. `svc` and `ssh` are added where others need
    them. With `mpi`, the master runs the command, and the workers run an SSH server."""
    min_available: Positive | None = None
    """Number of pods that must run together. [default: the sum over the roles]"""
    policies: tuple[LifecyclePolicy, ...] | None = None
    """What Volcano does after events. [default: restart the job after a failed or evicted pod if `retries` is set, and
    end it otherwise]"""
    network_topology: NetworkTopology | None = None
    """How close the pods must be in the network."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """With times as gen writes them, claims of all pods as volumes of the templates, and the names that the webhook
        gives tasks (`mutateSpec`).
        """
        spec = dict(body["spec"])
        volumes = as_list(spec.pop("volumes", None))
        claims = [one for one in as_mappings(volumes) if one.keys() == {"mountPath", "volumeClaimName"}]
        others = [one for one in volumes if one not in claims]
        named = (
            {**one, "name": one.get("name") or f"{_TASK}{number}"} if isinstance(one, dict) else one
            for number, one in enumerate(as_list(spec.get("tasks")))
        )
        tasks = [_with_claims(_with_times(one), claims) for one in named]
        return {**body, "spec": {**_with_times(spec), **present(volumes=others or None, tasks=tasks)}}

    @classmethod
    def with_container_names(cls, body: Body) -> Body:
        """With the names of containers as arguments of the plugin `ray`, which starts Ray only in those
        (`pkg/controllers/job/plugins/distributed-framework/ray`).
        """
        spec = body["spec"]
        if not isinstance(at(spec, "plugins", "ray"), list):
            return body
        arguments = [str(one) for one in spec["plugins"]["ray"]]
        flags = plugin_flags(arguments)
        for role in ("head", "worker"):
            tasks = (one for one in as_mappings(spec.get("tasks")) if one.get("name") == flags.get(role, role))
            first = next(iter(as_list(at(next(tasks, None), "template", "spec", "containers"))), None)
            known, name = flags.get(f"{role}Container", role), cls.main_container()
            if at(first, "name") == known != name:
                arguments = [*_without_flag(arguments, f"{role}Container"), f"--{role}Container={name}"]
        return {**body, "spec": {**spec, "plugins": {**spec["plugins"], "ray": arguments}}}

    @classmethod
    def as_written(cls, field: str, value: object) -> object:
        """Policies with times as authors write them."""
        if field.rpartition(".")[2] != "policies" or not isinstance(value, list):
            return value
        return [_timed(one, duration) for one in value]

    @property
    def given_env(self) -> frozenset[str]:
        return self.reserved.union(*(_SETS.get(plugin, ()) for plugin in self.plugins))

    @property
    def master(self) -> str:
        """The task that the plugins `pytorch` and `mpi` take for the master."""
        names = (plugin_flags(self.plugins.get(one, ())).get(MASTER) for one in ("pytorch", "mpi"))
        return next((name for name in names if name in self.roles), MASTER)

    @property
    def tasks(self) -> Mapping[str, VolcanoTask]:
        """Tasks by name."""
        has_master = self.master in self.roles or "mpi" in self.plugins or "pytorch" in self.plugins
        others = [name for name in self.roles if name != self.master] or [WORKER]
        names = [self.master, *others] if has_master else others
        return {name: self.roles.get(name, VolcanoTask()) for name in names}

    def replicas(self, name: str) -> int:
        task = self.tasks[name]
        if task.replicas is not None or name != WORKER:
            return task.replicas or 1
        return self.workers - 1 if "pytorch" in self.plugins and self.master in self.tasks else self.workers

    def min_of(self, name: str) -> int:
        least = self.tasks[name].min_available
        return self.replicas(name) if least is None else least

    def arena_labels(self, role: str) -> Mapping[str, str]:
        """`arena logs` shows the pods of the driver, by default."""
        return {"volcano-role": "driver"} if role == next(iter(self.tasks)) else {}

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        return tuple(self._role(run, name, task) for name, task in self.tasks.items() if self.replicas(name) > 0)

    def _role(self, run: str, name: str, task: VolcanoTask) -> Role:
        mpi = "mpi" in self.plugins
        waits = mpi and name != self.master
        if waits and task.command is None:
            task = task.model_copy(update={"command": _SSH_SERVER})
        return Role(
            name=name,
            replica_type=name,
            replicas=self.replicas(name),
            fields=task,
            trains=not (mpi and name == self.master),
            runs=not waits,
            rendezvous=self._rendezvous(run, name),
        )

    def _rendezvous(self, run: str, name: str) -> Rendezvous | None:
        """Pods of several tasks have no common rank. Those of the plugin `pytorch` have one only in its variables."""
        if "pytorch" in self.plugins and self.tasks.keys() <= {self.master, WORKER}:
            return Rendezvous(
                families=(LOCAL, TORCHRUN),
                pods=sum(map(self.replicas, self.tasks)),
                address=f"{run}-{self.master}-0.{run}",
                port=_port(self.plugins["pytorch"]),
                is_host=name == self.master,
            )
        if len(self.tasks) > 1 or "svc" not in self.plugins or "tensorflow" in self.plugins:
            return None
        return Rendezvous(
            families=(PROCESS, LOCAL, TORCHRUN, JAX),
            pods=self.replicas(name),
            address=f"{run}-{name}-0.{run}",
            rank=self.facts.pod_index[0],
        )

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        retries = plan.retries or (1 if self.policies is None else DEFAULT_RETRIES)
        needed = [plugin for name in self.plugins for plugin in _NEEDS.get(name, ())]
        names: list[Plugin] = list(dict.fromkeys([*self.plugins, *needed]))
        return present(
            schedulerName=SCHEDULER,
            queue=DEFAULT_QUEUE,
            priorityClassName=plan.priority,
            minAvailable=self.min_available or sum(self.min_of(pod.role.name) for pod in plan.pods),
            maxRetry=retries,
            plugins={name: list(self.plugins.get(name, ())) for name in names},
            policies=self._policies(plan.retries),
            networkTopology=self.network_topology and dumped(self.network_topology),
            tasks=[self._task(pod.role, pods[pod.role.name]) for pod in plan.pods],
        )

    def _policies(self, retries: int | None) -> list[Body]:
        if self.policies is not None:
            return [_policy(policy) for policy in self.policies]
        action = "RestartJob" if retries else "TerminateJob"
        return [{"events": ["PodFailed", "PodEvicted"], "action": action}]

    def _task(self, role: Role, template: Body) -> Body:
        task = self.tasks[role.name]
        policies = [_policy(policy) for policy in task.policies]
        if not policies and "mpi" in self.plugins and role.name == self.master:  # the SSH servers never end
            policies = [{"event": "TaskCompleted", "action": "CompleteJob"}]
        return present(
            name=role.name,
            replicas=role.replicas,
            minAvailable=self.min_of(role.name),
            maxRetry=DEFAULT_RETRIES,
            dependsOn=present(name=list(task.depends_on)),
            policies=policies,
            template=template,
        )

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from unused_workers(self, self.tasks, WORKER, "replicas")
        yield from self._numbers()
        yield from self._dependencies()
        yield from self._outputs()
        yield from _policy_problems(self.policies or (), ("policies",))
        for name, task in self.roles.items():
            yield from _policy_problems(task.policies, ("roles", name, "policies"))
        yield from self._variables()

    def _outputs(self) -> Iterable[Problem]:
        if self.outputs and "mpi" in self.plugins:
            message = (
                "`outputs` of MPI processes cannot be copied: they run in workers, which do not know when they end"
            )
            yield Problem(("outputs",), message, "write to a volume in `data`", key=True)

    def _numbers(self) -> Iterable[Problem]:
        for name in self.roles:
            if self.min_of(name) > self.replicas(name):
                message = f"`minAvailable` is more than the {self.replicas(name)} pods of `{name}`"
                yield Problem(("roles", name, "minAvailable"), message, f"use at most {self.replicas(name)}")
        total = sum(map(self.replicas, self.tasks))
        if self.min_available is not None and self.min_available > total:
            message = f"`minAvailable` is more than the {total} pods of the job"
            yield Problem(("minAvailable",), message, f"use at most {total}")

    def _dependencies(self) -> Iterable[Problem]:
        for name, task in self.roles.items():
            for number, needed in enumerate(task.depends_on):
                if needed not in self.tasks:
                    hint = f"use one of {', '.join(self.tasks)}"
                    yield Problem(("roles", name, "dependsOn", number), f"the job has no role `{needed}`", hint)
        try:
            TopologicalSorter({name: task.depends_on for name, task in self.roles.items()}).prepare()
        except CycleError as error:
            yield Problem(("roles",), f"cyclic dependency: {' → '.join(error.args[1])}", "remove one `dependsOn`")

    def _variables(self) -> Iterable[Problem]:
        holders: list[tuple[Route, RoleFields | VolcanoJob]] = [((), self)]
        holders += [(("roles", name), task) for name, task in self.roles.items()]
        for plugin in self.plugins:
            for route, holder in holders:
                for name in sorted(_SETS.get(plugin, set()) & holder.env.keys()):
                    message = f"`{name}` is set by the plugin `{plugin}`"
                    yield Problem((*route, "env", name), message, "remove it, or the plugin")


def _without_flag(arguments: list[str], name: str) -> list[str]:
    """Arguments without one of the flags. Its value is behind `=`, or the next word."""
    flag = tuple(f"{dashes}{name}" for dashes in ("-", "--"))
    gone = {index for index, one in enumerate(arguments) if one.partition("=")[0] in flag}
    gone |= {index + 1 for index in gone if "=" not in arguments[index]}
    return [one for index, one in enumerate(arguments) if index not in gone]


def _port(arguments: Iterable[str]) -> int:
    """The port of the plugin `pytorch` (`pkg/controllers/job/plugins/distributed-framework/pytorch`)."""
    ports = [text.rpartition("=")[2] for text in arguments if text.lstrip("-").startswith("port=")]
    return int(ports[-1]) if ports and ports[-1].isdecimal() else TORCH_PORT


def _timed(policy: object, written: Callable[[int], str]) -> object:
    """A policy of an object with its time in another form."""
    text = at(policy, "timeout")
    if not isinstance(policy, dict) or not isinstance(text, str):
        return policy
    with suppress(ValueError):
        return {**policy, "timeout": written(seconds(text))}
    return policy


def _with_times(holder: Any) -> Any:
    """A job or task with the times of its policies in seconds."""
    policies = at(holder, "policies")
    if not isinstance(policies, list):
        return holder
    return {**holder, "policies": [_timed(one, lambda number: f"{number}s") for one in policies]}


def _with_claims(task: Any, claims: list[Body]) -> Any:
    """A task whose pods have these claims in all containers, as the controller mounts them (`createJobPod`)."""
    pod = at(task, "template", "spec")
    if not isinstance(pod, dict):
        return task
    for number, claim in enumerate(claims):
        name = f"volume-{number}"
        volume = {"name": name, "persistentVolumeClaim": {"claimName": claim["volumeClaimName"]}}
        mount = {"name": name, "mountPath": claim["mountPath"]}
        containers = [
            {**one, "volumeMounts": [*as_list(one.get("volumeMounts")), mount]}
            for one in as_mappings(pod.get("containers"))
        ]
        pod = {**pod, "volumes": [*as_list(pod.get("volumes")), volume], "containers": containers}
    return replaced(task, ("template", "spec"), pod)


def _policy(policy: LifecyclePolicy) -> Body:
    body = dumped(policy)
    return body if policy.timeout is None else {**body, "timeout": f"{policy.timeout}s"}


def _policy_problems(policies: Iterable[LifecyclePolicy], at: Route) -> Iterable[Problem]:
    seen: set[str | int] = set()
    for index, policy in enumerate(policies):
        events: list[str | int] = [*([policy.event] if policy.event else []), *policy.events]
        if bool(events) == (policy.exit_code is not None):
            hint = "set exactly one of `event`, `events` and `exitCode`"
            yield Problem((*at, index), "a policy requires events or an exit code", hint)
        for sign in [*events, *([policy.exit_code] if policy.exit_code is not None else [])]:
            if sign in seen:
                yield Problem((*at, index), f"`{sign}` already has a policy", "remove one of the two")
            seen.add(sign)
    if "*" in seen and len([sign for sign in seen if isinstance(sign, str)]) > 1:
        yield Problem(at, "`*` matches all events, so no other event is allowed", "remove `*` or the other events")
