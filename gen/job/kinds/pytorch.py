"""PyTorchJob of the Kubeflow training operator."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal

from msgspec.structs import replace
from pydantic import Field

from gen.base import Route, as_mapping, at, follow, regex, with_texts
from gen.job.kinds.base import Problem
from gen.job.kinds.kubeflow import UNBUFFERED, KubeflowJob
from gen.job.kinds.rendezvous import LOCAL, TORCH_EXAMPLE, Rendezvous
from gen.job.kinds.role import Role, Target
from gen.job.model import Model, default
from gen.job.names import ConfigKey, ObjectName
from gen.job.plan import Plan
from gen.job.pods import MAX_PODS, RoleFields
from gen.job.scalars import Count, Given, Port, Positive, matching, schema
from gen.kubernetes.facts.base import Pattern, Resource
from gen.kubernetes.facts.kubeflow import PYTORCHJOB, TORCH_PORT
from gen.kubernetes.objects import Body, present

ProcessesPerNode = Annotated[
    str,
    matching(
        regex(r"auto|cpu|gpu|[1-9][0-9]{0,3}"),
        4,
        "an integer, `auto`, `cpu` or `gpu`",
        form=schema("integer, auto, cpu or gpu", "string", "integer"),
    ),
]


class Elastic(Model):
    """Elastic training: `torchrun` continues when pods come and go. The job ends when any worker has succeeded."""

    min: Positive
    """Fewest pods that can train."""
    max: Annotated[Positive, Field(le=MAX_PODS)]
    """Most pods. They count against quotas."""
    max_restarts: Count | None = None
    """Number of times that `torchrun` restarts the processes. [default: 0]"""
    backend: Literal["c10d", "etcd", "etcd-v2"] | None = None
    """Rendezvous backend. [default: c10d]"""
    host: ObjectName | None = None
    """Host of the rendezvous, such as that of etcd. [default: the first worker]"""
    port: Port | None = None
    """Port of the rendezvous. [default: 23456]"""
    conf: dict[ConfigKey, Given] = Field(default_factory=dict)
    """Settings of the rendezvous, such as `read_timeout: 60`."""
    cpu_utilization: Annotated[Positive, Field(le=100)] | None = None
    """CPU utilization in percent, which a HorizontalPodAutoscaler keeps by changing the number of workers. Instead of
    `workers`. [default: no autoscaler]"""


# `pkg/controller.v1/pytorch/{envvar,elastic}.go`
_ELASTIC_ENV: Final = frozenset(
    {"PET_NPROC_PER_NODE", "PET_NNODES", "PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND", "PET_MAX_RESTARTS", "PET_RDZV_ID"}
    | {"PET_RDZV_CONF", "PET_STANDALONE"}
)


_ELASTIC: Final = ("spec", "elasticPolicy")


class PyTorchRoles(Model):
    """Values for single roles."""

    master: RoleFields | None = None
    """Pod with rank 0."""
    worker: RoleFields | None = None
    """All other pods."""


class PyTorchJob(KubeflowJob):
    """Distributed PyTorch. `workers` includes the master: 3 means one master and two workers. An `elastic` job has no
    master, and starts with `workers` workers.
    """

    facts: ClassVar[Resource] = PYTORCHJOB
    read_ports: ClassVar[Mapping[str, int]] = dict([TORCH_PORT])
    arena: ClassVar[str] = "pytorchjob"
    copied: ClassVar[Mapping[str, Pattern]] = {
        "nprocPerNode": ("spec", "nprocPerNode"),
        "elastic.min": (*_ELASTIC, "minReplicas"),
        "elastic.max": (*_ELASTIC, "maxReplicas"),
        "elastic.maxRestarts": (*_ELASTIC, "maxRestarts"),
        "elastic.backend": (*_ELASTIC, "rdzvBackend"),
        "elastic.host": (*_ELASTIC, "rdzvHost"),
        "elastic.port": (*_ELASTIC, "rdzvPort"),
        "elastic.conf": (*_ELASTIC, "rdzvConf"),
    }
    called: ClassVar[tuple[str, ...]] = ("torch", "ddp", "pyjob", "torchrun", "deepspeed")
    # training-operator `pkg/controller.v1/pytorch/envvar.go`: appended behind the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}
        | {"PET_NODE_RANK", "PET_NNODES", "PET_NPROC_PER_NODE"}
    )
    fixed_env: ClassVar[Mapping[str, str]] = UNBUFFERED
    example: ClassVar[Mapping[str, object]] = TORCH_EXAMPLE

    kind: Literal["pytorch"]
    """Kind of job."""
    roles: PyTorchRoles = default(PyTorchRoles)
    """Values for single roles, which override those of the job."""
    nproc_per_node: ProcessesPerNode | None = None
    """Number of processes that `torchrun` starts per pod, or `auto`, `cpu` or `gpu`."""
    elastic: Elastic | None = None
    """Let the number of workers change while the job runs. `workers` is the number at the start. [default: `max`]"""

    @classmethod
    def as_written(cls, field: str, value: object) -> object:
        if field == "elastic.conf" and isinstance(value, list) and all(isinstance(one, dict) for one in value):
            return {one.get("key"): one.get("value") for one in value}
        return value

    @classmethod
    def read_counts(cls, spec: Body) -> Mapping[str, object]:
        """The autoscaler of workers whose number nothing else sets."""
        metrics = at(spec, "elasticPolicy", "metrics")
        target = follow(metrics, (0, "resource", "target", "averageUtilization"))
        fixed = at(spec, cls.facts.pods[0].role_map, "Worker", "replicas") is not None
        if type(target) is not int or metrics != _metrics(target) or fixed:
            return {}
        return {"elastic.cpuUtilization": target, "workers": None}

    @classmethod
    def changes(cls, body: Body) -> Iterable[tuple[Route, str, str]]:
        roles = (cls.facts.pods[0].role_map, "Master")
        if at(cls.modern(body), "spec", *roles) is not None and at(super().modern(body), "spec", *roles) is None:
            message = "the first pod of `Worker` becomes the role `master`, with rank 0"
            yield ("spec",), message, "check that the program can run so; another role cannot have the first rank"

    @classmethod
    def modern(cls, body: Body) -> Body:
        """Without a master, the first worker is it, unless the job is elastic: none would know an address otherwise."""
        body = super().modern(body)
        field = cls.facts.pods[0].role_map
        worker, number = at(body, "spec", field, "Worker"), at(body, "spec", field, "Worker", "replicas")
        if set(as_mapping(at(body, "spec", field))) != {"Worker"} or "elasticPolicy" in body["spec"]:
            return body
        others = number - 1 if isinstance(number, int) else 0
        roles = {"Master": {**worker, "replicas": 1}} | (
            {"Worker": {**worker, "replicas": others}} if others > 0 else {}
        )
        pods = re.compile(rf"(?<![\w.-])({re.escape(str(at(body, 'metadata', 'name')))})-worker-(\d+)")
        spec: Body = with_texts({**body["spec"], field: roles}, lambda text: pods.sub(_one_less, text))
        return {**body, "spec": spec}

    @property
    def reserved(self) -> frozenset[str]:
        return self.reserved_env if self.elastic is None else _ELASTIC_ENV

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        if self.elastic is not None:
            return (self._elastic_role(self.elastic),)
        of_all = Rendezvous(families=(LOCAL,), pods=self.workers)
        master = Role(name="master", replica_type="Master", replicas=1, fields=self.roles.master, rendezvous=of_all)
        if self.workers == 1:
            return (master,)
        # the operator rejects a Worker without replicas, so one worker is only a master
        workers = replace(master, name="worker", replica_type="Worker", replicas=self.workers - 1)
        return master, replace(workers, fields=self.roles.worker)

    def _elastic_role(self, elastic: Elastic) -> Role:
        start = self.workers if "workers" in self.model_fields_set else elastic.max
        worker, least = self.roles.worker, min(elastic.min, start)
        return Role(
            name="worker", replica_type="Worker", replicas=start, largest=elastic.max, least=least, fields=worker
        )

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        spec = super().workload(plan, pods)
        if self.elastic is not None and self.elastic.cpu_utilization is not None:
            # Git would revert the number that the autoscaler sets
            del spec[self.facts.pods[0].role_map]["Worker"]["replicas"]
        return spec

    @property
    def processes(self) -> tuple[str, int] | None:
        number = self.nproc_per_node or ""
        return ("nprocPerNode", int(number)) if number.isdecimal() else None

    def own_spec(self, plan: Plan) -> Body:
        policy = _elastic_policy(self.elastic) if self.elastic is not None else None
        return present(elasticPolicy=policy, nprocPerNode=self.nproc_per_node)

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from super().problems(target)
        elastic = self.elastic
        if elastic is None:
            return
        start = self._elastic_role(elastic).replicas
        if elastic.min > elastic.max:
            message = f"`elastic`: `min` is {elastic.min}, which is more than `max`, {elastic.max}"
            yield Problem(("elastic", "min"), message, "decrease `min`, or increase `max`")
        elif not elastic.min <= start <= elastic.max:
            route = ("workers",) if "workers" in self.model_fields_set else ("elastic", "min")
            message = f"the job starts with {start} workers, outside of `elastic`: {elastic.min} to {elastic.max}"
            yield Problem(route, message, "choose `workers` between `elastic.min` and `elastic.max`")
        if self.roles.master is not None:
            yield Problem(
                ("roles", "master"), "an elastic job has no master", "move the values to `worker`, or to the job"
            )
        if elastic.cpu_utilization is not None and "workers" in self.model_fields_set:
            message = "`cpuUtilization` decides the number of workers"
            yield Problem(("workers",), message, "remove `workers`, or `cpuUtilization` of `elastic`")
        if elastic.cpu_utilization is not None and self.queue is not None:
            message = "a queue takes a fixed number of workers, and the autoscaler would change it"
            yield Problem(("elastic", "cpuUtilization"), message, "remove `cpuUtilization` or `queue`")


def _one_less(found: re.Match[str]) -> str:
    """The host name of a worker whose first one is the master."""
    return f"{found[1]}-worker-{int(found[2]) - 1}" if int(found[2]) else f"{found[1]}-master-0"


def _elastic_policy(elastic: Elastic) -> Body:
    return present(
        minReplicas=elastic.min,
        maxReplicas=elastic.max,
        maxRestarts=elastic.max_restarts,
        rdzvBackend=elastic.backend or "c10d",
        rdzvHost=elastic.host,
        rdzvPort=elastic.port,
        rdzvConf=[{"key": key, "value": value} for key, value in elastic.conf.items()],
        metrics=_metrics(elastic.cpu_utilization) if elastic.cpu_utilization is not None else None,
    )


def _metrics(utilization: int) -> list[Body]:
    """The metrics of the autoscaler for a utilization of the CPUs."""
    target = {"type": "Utilization", "averageUtilization": utilization}
    return [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
