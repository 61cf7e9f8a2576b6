"""RayJob of KubeRay: a Ray cluster for one program. Each group of workers is a role, and so is the head.

The operator deletes the cluster when the job ends, and keeps the RayJob, so that no GitOps engine starts it again.
In `HTTPMode` the operator sends the entrypoint to the cluster as it is. In the other modes, the shells of a submitter
and of the head read it one after the other (`ray-operator/controllers/ray/common/job.go` of ray-project/kuberay 1.7,
`ray/dashboard/modules/job/cli.py` of Ray).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import shlex
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from gen.base import as_texts, at, follow, regex, replaced
from gen.job.kinds.base import Job, Problem, unused_workers
from gen.job.kinds.role import Role, Target
from gen.job.model import Model, OrMapping, alias_of
from gen.job.names import JobName
from gen.job.plan import Plan
from gen.job.pods import MAX_PODS, MAX_ROLES, RoleFields
from gen.job.scalars import Count, Duration, Given, Positive, Text, Truth, matching
from gen.job.synonyms import AUTOSCALER, RAY
from gen.kubernetes import quantity
from gen.kubernetes.facts.base import ANY_ITEM, Pattern, Resource
from gen.kubernetes.facts.ray import CLUSTER_TTL, HEAD, RAYJOB
from gen.kubernetes.objects import Body, present

StartParameter = Annotated[
    str,
    matching(regex(r"[a-z][a-z0-9-]{0,62}"), 63, "a parameter of `ray start`", "use a name like `num-cpus`"),
]
RayVersion = Annotated[
    str,
    matching(regex(r"[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]*"), 63, "a version of Ray", "use a form like `2.52.0`"),
]
Replicas = Annotated[Count, Field(le=MAX_PODS)]


class RayRole(RoleFields):
    """Settings of the pods of the head, of a worker group or of the submitter, which override those of the job."""

    replicas: Replicas | None = None
    """Number of replicas of a worker group. [default: `workers` for `worker`, 1 for other groups]"""
    min_replicas: Replicas | None = None
    """Fewest replicas of a worker group with the autoscaler. [default: 0]"""
    max_replicas: Replicas | None = None
    """Most replicas of a worker group with the autoscaler; they count against quotas. [default: `replicas`]"""
    num_of_hosts: Annotated[Positive, Field(le=MAX_PODS)] = 1
    """Number of pods of each replica of a worker group, such as the hosts of a TPU slice."""
    ray_start_params: dict[StartParameter, Text] = Field(default_factory=dict)
    """Parameters of `ray start` in the pods, such as `num-cpus: 0` for a head that runs no tasks."""


class Autoscaler(Model):
    """Settings of Ray's autoscaler."""

    synonyms: ClassVar[Mapping[str, str]] = AUTOSCALER

    idle_timeout_seconds: Count | None = None
    """Seconds after which an idle worker is removed. [default: 60]"""
    upscaling_mode: Literal["Default", "Aggressive", "Conservative"] | None = None
    """How fast it adds workers. [default: Default]"""
    version: Literal["v1", "v2"] | None = None
    """Version of the autoscaler. [default: v2 from Ray 2.47 on]"""


WORKER: Final = "worker"
SUBMITTER: Final = "submitter"
INTERACTIVE: Final = "InteractiveMode"
_CLUSTER: Final = ("spec", "rayClusterSpec")
_SUBMITTER_PODS: Final = "submitterPodTemplate"
_PLAIN = regex(r"[A-Za-z0-9_@%+=:,./ -]+")
"""Text that means the same after any number of shells."""


class RayJob(Job):
    """Ray. `workers` is the number of pods of the group `worker`; the command runs on the head."""

    facts: ClassVar[Resource] = RAYJOB
    arena: ClassVar[str] = "rayjob"
    keeping: ClassVar[str] = "keepCluster"
    synonyms: ClassVar[Mapping[str, str]] = RAY
    copied: ClassVar[Mapping[str, Pattern]] = {
        "command": ("spec", "entrypoint"),
        "submissionMode": ("spec", "submissionMode"),
        "rayVersion": (*_CLUSTER, "rayVersion"),
        "runtimeEnv": ("spec", "runtimeEnvYAML"),
        "entrypointNumCpus": ("spec", "entrypointNumCpus"),
        "entrypointNumGpus": ("spec", "entrypointNumGpus"),
        "keepCluster": CLUSTER_TTL,
        "autoscaler": (*_CLUSTER, "enableInTreeAutoscaling"),
        f"roles.{HEAD}.rayStartParams": (*_CLUSTER, "headGroupSpec", "rayStartParams"),
        "roles.*.rayStartParams": (*_CLUSTER, "workerGroupSpecs", ANY_ITEM, "rayStartParams"),
        "roles.*.numOfHosts": (*_CLUSTER, "workerGroupSpecs", ANY_ITEM, "numOfHosts"),
        "roles.*.minReplicas": (*_CLUSTER, "workerGroupSpecs", ANY_ITEM, "minReplicas"),
        "roles.*.maxReplicas": (*_CLUSTER, "workerGroupSpecs", ANY_ITEM, "maxReplicas"),
        "roles.*.replicas": (*_CLUSTER, "workerGroupSpecs", ANY_ITEM, "replicas"),
    }
    # `ray-operator/controllers/ray/common/pod.go`: appended behind the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"FQ_RAY_IP", "RAY_IP", "RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE", "RAY_CLOUD_INSTANCE_ID"}
        | {"RAY_NODE_TYPE_NAME", "KUBERAY_GEN_RAY_START_CMD"}
    )
    used_ports: ClassVar[Mapping[int, str]] = {6379: "the head", 8265: "the dashboard", 10001: "the client server"}
    # `ray-operator/controllers/ray/utils/constant.go`, and `getServicePorts` of `common/service.go`
    read_ports: ClassVar[Mapping[str, int]] = {
        "gcs-server": 6379,
        "dashboard": 8265,
        "client": 10001,
        "metrics": 8080,
        "serve": 8000,
    }
    offers_ports: ClassVar[bool] = True
    run_by_operator: ClassVar[Mapping[str, str]] = {
        "ray start": "remove it; Ray runs in all pods before the command starts",
        "ray job submit": "write only the program behind `--`; options are fields, such as `runtimeEnv`",
    }
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("outputs", "logs"), "Ray starts the command instead of the pod, so gen cannot wait for its end"
    )
    example: ClassVar[Mapping[str, object]] = {
        "image": "rayproject/ray:2.52.0-gpu",
        "command": "python code/project/train.py",
        "workingDir": "/home/ray",
        "code": {"git": "https://example.com/team/project.git"},
        "workers": 2,
        "gpus": 1,
        "roles": {HEAD: {"cpu": 4, "memory": "16Gi", "rayStartParams": {"num-cpus": "0"}}},
    }

    kind: Literal["ray"]
    """Kind of job."""
    roles: dict[JobName, RayRole] = Field(default_factory=dict, max_length=MAX_ROLES)
    """The head, as `head`, and worker groups by name. `head` does not get the GPUs, CPU and memory of the job.
    [default: a head and the group `worker`] In `K8sJobMode`, `submitter` is the pod that submits the job."""
    submission_mode: Literal["HTTPMode", "K8sJobMode", "SidecarMode", "InteractiveMode"] = "HTTPMode"
    """How the command reaches the cluster: through the operator, a pod of its own, or a container of the head. Only
    `HTTPMode` accepts shell syntax in `command`. In `InteractiveMode` the job has no command: the cluster waits until
    you submit a program with `ray job submit`, and set its id as `spec.jobId` of the RayJob."""
    ray_version: RayVersion | None = None
    """Version of Ray in the image. The autoscaler depends on it."""
    runtime_env: Given | None = None
    """Runtime environment of Ray, as YAML text (`runtimeEnvYAML`)."""
    autoscaler: OrMapping[Truth, Autoscaler] = False
    """Let Ray change the number of workers between `minReplicas` and `maxReplicas`."""
    keep_cluster: Duration | None = None
    """How long the cluster stays after the end of the job, such as `10m`. [default: it is deleted immediately]"""
    entrypoint_num_cpus: Count | None = None
    """CPUs that Ray reserves for the command on the head."""
    entrypoint_num_gpus: Count | None = None
    """GPUs that Ray reserves for the command on the head."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """Without the autoscaler, KubeRay only keeps `replicas` within its bounds. Its default is `K8sJobMode`, which
        only an object with a submitter needs. A submitter with a command of its own may have the only program.
        """
        if _SUBMITTER_PODS in body["spec"]:
            body = {**body, "spec": {"submissionMode": "K8sJobMode", **_submitted(body["spec"]), **body["spec"]}}
        cluster = follow(body, _CLUSTER)
        groups = at(cluster, "workerGroupSpecs")
        if not isinstance(groups, list) or at(cluster, "enableInTreeAutoscaling") is True:
            return body
        fixed: Body = replaced(body, (*_CLUSTER, "workerGroupSpecs"), [_of_fixed_size(one) for one in groups])
        return fixed

    @classmethod
    def read_counts(cls, spec: Body) -> Mapping[str, object]:
        """Settings of the autoscaler, if it is on."""
        cluster = follow({"spec": spec}, _CLUSTER)
        names = [alias_of(Autoscaler, name) for name in Autoscaler.model_fields]
        options = {name: value for name in names if (value := at(cluster, "autoscalerOptions", name)) is not None}
        return {"autoscaler": options} if options and at(cluster, "enableInTreeAutoscaling") is True else {}

    @classmethod
    def as_written(cls, field: str, value: object) -> object:
        return quantity.duration(value) if field == "keepCluster" and isinstance(value, int) else value

    @property
    def kept_time(self) -> int | None:
        return self.keep_cluster or 0

    @property
    def resizing(self) -> str:
        return "autoscaler" if self.autoscaler is not False else ""

    @property
    def groups(self) -> Mapping[str, RayRole]:
        """Worker groups by name."""
        return {name: role for name, role in self.roles.items() if name not in (HEAD, SUBMITTER)} or {WORKER: RayRole()}

    def replicas(self, name: str) -> int:
        group = self.groups[name]
        if group.replicas is not None:
            return group.replicas
        return self.workers // group.num_of_hosts if name == WORKER else 1

    def largest(self, name: str) -> int:
        """Most replicas of a group."""
        most = self.groups[name].max_replicas
        return self.replicas(name) if most is None or self.autoscaler is False else most

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        head = Role(
            name=HEAD,
            replica_type=HEAD,
            holder="headGroupSpec",
            replicas=1,
            fields=self.roles.get(HEAD),
            trains=False,
            runs=False,
        )
        # the resources that the operator would give to a submitter of its own
        submitter = Role(
            name=SUBMITTER,
            replica_type=SUBMITTER,
            holder=_SUBMITTER_PODS,
            replicas=1,
            fields=self.roles.get(SUBMITTER, RoleFields(cpu="1", memory="1Gi")),
            trains=False,
            runs=False,
            needs_data=False,
            grouped=False,  # created when the cluster is ready
            restart="Never",
        )
        submitters = (submitter,) if self.submission_mode == "K8sJobMode" else ()
        return (head, *(self._group_role(name, group) for name, group in self.groups.items()), *submitters)

    def _group_role(self, name: str, group: RayRole) -> Role:
        return Role(
            name=name,
            replica_type=name,
            replicas=self.replicas(name) * group.num_of_hosts,
            hosts=group.num_of_hosts,
            largest=self.largest(name) * group.num_of_hosts if self.autoscaler is not False else None,
            fields=group,
            runs=False,
        )

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        claimed = {pod.role.name: pod.role.gpus for pod in plan.pods if pod.effect.claims}
        options = self.autoscaler
        cluster = present(
            rayVersion=self.ray_version,
            enableInTreeAutoscaling=True if self.autoscaler is not False else None,
            autoscalerOptions=present(**options.model_dump(by_alias=True)) if isinstance(options, Autoscaler) else None,
            headGroupSpec={"rayStartParams": self._start_params(HEAD, claimed), "template": pods[HEAD]},
            workerGroupSpecs=[self._group(name, pods[name], claimed) for name in self.groups],
        )
        return present(
            entrypoint=self.entrypoint or None,
            entrypointNumCpus=self.entrypoint_num_cpus,
            entrypointNumGpus=self.entrypoint_num_gpus,
            runtimeEnvYAML=self.runtime_env,
            submissionMode=self.submission_mode,
            submitterPodTemplate=pods.get(SUBMITTER),
            backoffLimit=plan.retries if self.submission_mode != INTERACTIVE else None,
            activeDeadlineSeconds=plan.timeout,
            # for Kueue and `suspend`, and to free the GPUs; it deletes the cluster, not the job
            shutdownAfterJobFinishes=True,
            ttlSecondsAfterFinished=self.keep_cluster,
            rayClusterSpec=cluster,
        )

    @property
    def entrypoint(self) -> str:
        """The command, for one shell."""
        command = self.command or ""
        return command if isinstance(command, str) else shlex.join((*command, *self.args))

    def _group(self, name: str, template: Body, claimed: Mapping[str, int]) -> Body:
        smallest = self.groups[name].min_replicas or 0
        return {
            "groupName": name,
            "replicas": self.replicas(name),
            "minReplicas": self.replicas(name) if self.autoscaler is False else smallest,
            "maxReplicas": self.largest(name),
            "numOfHosts": self.groups[name].num_of_hosts,
            "rayStartParams": self._start_params(name, claimed),
            "scaleStrategy": {},
            "template": template,
        }

    def _start_params(self, name: str, claimed: Mapping[str, int]) -> Body:
        """KubeRay counts GPUs by extended resources, and cannot count those of claims."""
        role = self.roles.get(name)
        own = dict(role.ray_start_params) if role is not None else {}
        return {"num-gpus": str(claimed[name]), **own} if name in claimed else own

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from self._command_problems()
        yield from self._role_problems()
        yield from self._autoscaler_problems()
        yield from unused_workers(self, self.groups, WORKER, "replicas")

    def _command_problems(self) -> Iterable[Problem]:
        if self.submission_mode == INTERACTIVE:
            given = {"command": self.command, "args": self.args, "retries": self.retries}
            for field in (name for name, value in given.items() if value):
                hint = "remove it, or remove `submissionMode`"
                yield Problem((field,), f"`{field}` has no effect in `{INTERACTIVE}`", hint, no_effect=True)
        elif self.command is None:
            hint = "add `command`, a string for the shell or a list; Ray does not run the command of the image"
            yield Problem((), "`command` is missing", hint)
        elif isinstance(self.command, str) and self.args:
            hint = "move them into `command`, or make `command` a list"
            yield Problem(("args",), "a shell `command` cannot have `args`", hint)
        elif self.submission_mode != "HTTPMode" and not _PLAIN.fullmatch(self.entrypoint):
            message = f"two shells would read this command in `{self.submission_mode}`, with another meaning"
            hint = "use `submissionMode: HTTPMode`, or move the command into a script"
            yield Problem(("command",), message, hint)

    def _role_problems(self) -> Iterable[Problem]:
        for name, role in self.roles.items():
            group = name not in (HEAD, SUBMITTER)
            unused = ["command", "args"]
            unused += [] if group else ["replicas", "min_replicas", "max_replicas", "num_of_hosts"]
            unused += ["ray_start_params"] if name == SUBMITTER else []
            for field in unused:
                if field in role.model_fields_set:
                    alias = alias_of(RayRole, field)
                    reason = "KubeRay sets the command of its pods" if field in ("command", "args") else "it is one pod"
                    yield Problem(("roles", name, alias), f"`{name}` cannot have `{alias}`: {reason}", "remove it")
        if SUBMITTER in self.roles and self.submission_mode != "K8sJobMode":
            hint = "remove it, or set `submissionMode: K8sJobMode`"
            yield Problem(("roles", SUBMITTER), f"`{self.submission_mode}` has no pod that submits the job", hint)
        hosts = self.groups[WORKER].num_of_hosts if WORKER in self.groups else 1
        if hosts > 1 and self.groups[WORKER].replicas is None and self.workers % hosts:
            message = f"{self.workers} workers are not a multiple of {hosts}, the pods of each replica"
            yield Problem(("workers",), message, f"use a multiple of {hosts}, or set `replicas` of the group")

    def _autoscaler_problems(self) -> Iterable[Problem]:
        if self.autoscaler is False:
            for name, group in self.groups.items():
                for field, value in (("minReplicas", group.min_replicas), ("maxReplicas", group.max_replicas)):
                    if value is not None:
                        hint = "set `autoscaler: true`, or remove it"
                        yield Problem(("roles", name, field), f"`{field}` has no effect without `autoscaler`", hint)
            return
        if self.restart not in (None, "Never"):
            yield Problem(
                ("restart",), "the autoscaler replaces pods, and requires `restart: Never`", "remove `restart`"
            )
        for name, group in self.groups.items():
            if not (group.min_replicas or 0) <= self.replicas(name) <= self.largest(name):
                message = f"`{name}` starts with {self.replicas(name)} replicas, outside of its range"
                hint = "choose `replicas` between `minReplicas` and `maxReplicas`"
                yield Problem(("roles", name), message, hint)


def _submitted(spec: Body) -> Body:
    """The program behind `--` of a submitter's own command, without which KubeRay submits `entrypoint`."""
    container = follow(spec, (_SUBMITTER_PODS, "spec", "containers", 0))
    words = [*as_texts(at(container, "command")), *as_texts(at(container, "args"))]
    program = words[words.index("--") + 1 :] if "--" in words else []
    known = spec.get("submissionMode", "K8sJobMode") != "K8sJobMode" or "entrypoint" in spec or not program
    return {} if known else {"entrypoint": shlex.join(program)}


def _of_fixed_size(group: Body) -> Body:
    """A worker group without bounds that allow the number of its replicas."""
    number = at(group, "replicas")
    least, most = at(group, "minReplicas") or 0, at(group, "maxReplicas") or number
    if not all(isinstance(one, int) for one in (number, least, most)) or not least <= number <= most:
        return group
    return {name: value for name, value in group.items() if name not in ("minReplicas", "maxReplicas")}
