"""Pods of rendered objects as the operators make them: names, addresses, fields and variables.

The sources are those of the kinds in `gen/job/kinds/` and of their facts in `gen/kubernetes/facts/`. The pods are not
compared with those of the real operators.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gen.base.routes import at
from tests.launchers.cluster import Pod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gen.kubernetes.objects import Body

NAMESPACE = "team"
DOMAIN = f"{NAMESPACE}.svc.cluster.local"


def expanded(text: str, values: Mapping[str, str]) -> str:
    """A text with the values of the variables in it; unknown ones stay."""
    return re.sub(r"\$\(([\w-]+)\)", lambda match: values.get(match[1], match[0]), text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A pod that an operator makes."""

    name: str
    """Its host name."""
    subdomain: str = ""
    template: Body
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    """Variables that the operator appends to those of the container."""
    files: dict[str, str] = field(default_factory=dict)
    serves: bool = False

    @property
    def container(self) -> Body:
        container: Body = self.template["spec"]["containers"][0]
        return container

    @property
    def names(self) -> tuple[str, ...]:
        """With a subdomain, those of a Service for all pods, and otherwise that of a Service of its own."""
        name = f"{self.name}.{self.subdomain}" if self.subdomain else self.name
        return (f"{name}.{DOMAIN}", f"{name}.{NAMESPACE}.svc", name)

    @property
    def own_names(self) -> tuple[str, ...]:
        return (self.names[0], self.name) if self.subdomain else (self.name,)

    def environment(self) -> dict[str, str]:
        """As the kubelet makes it: entries in their order may refer to those before them."""
        metadata = {"labels": self.labels, "annotations": self.annotations}
        found: dict[str, str] = {}
        for entry in (*self.container.get("env", []), *({"name": n, "value": v} for n, v in self.env.items())):
            path = at(entry, "valueFrom", "fieldRef", "fieldPath")
            if path is not None:
                holder, key = re.fullmatch(r"metadata\.(labels|annotations)\['(.*)'\]", path).groups()  # type: ignore[union-attr]
                found[entry["name"]] = metadata[holder][key]
            else:
                found[entry["name"]] = expanded(entry.get("value", ""), found)
        return found

    def pod(self, number: int, env: Mapping[str, str], folder: str) -> Pod:
        """The pod, with the variables of its image."""
        given = self.environment()
        container = self.container
        words = (*container.get("command", []), *container.get("args", []))
        return Pod(
            name=self.name,
            address=f"10.99.{number // 200}.{number % 200 + 1}",
            names=self.names,
            own_names=self.own_names,
            env={**env, "HOSTNAME": self.name, "KUBERNETES_SERVICE_HOST": "10.96.0.1", **given},
            command=tuple(word.replace("$$", "$") for word in words),
            folder=folder,
            files=self.files,
            serves=self.serves,
        )


def _job(body: Body, name: str, fields: Mapping[str, Mapping[str, str]] | None = None) -> Iterator[Made]:
    template = body["spec"]["template"]
    index = "batch.kubernetes.io/job-completion-index"
    more = fields or {}
    for number in range(body["spec"]["completions"]):
        yield Made(
            name=f"{name}-{number}",
            subdomain=template["spec"].get("subdomain", ""),
            template=template,
            labels={**more.get("labels", {}), index: str(number)},
            annotations={**more.get("annotations", {}), index: str(number)},
            env={"JOB_COMPLETION_INDEX": str(number)},
        )


def job(body: Body) -> Iterator[Made]:
    yield from _job(body, body["metadata"]["name"])


def jobset(body: Body) -> Iterator[Made]:
    name = body["metadata"]["name"]
    for replicated in body["spec"]["replicatedJobs"]:
        for number in range(replicated["replicas"]):
            index = {"jobset.sigs.k8s.io/job-index": str(number)}
            inner = replicated["template"]
            inner = {"spec": {**inner["spec"], "template": _with_subdomain(inner["spec"]["template"], name)}}
            yield from _job(inner, f"{name}-{replicated['name']}-{number}", {"labels": index, "annotations": index})


def _with_subdomain(template: Body, name: str) -> Body:
    return {**template, "spec": {**template["spec"], "subdomain": name}}


def volcano(body: Body) -> Iterator[Made]:
    name, plugins = body["metadata"]["name"], body["spec"]["plugins"]
    tasks = body["spec"]["tasks"]
    total = sum(task["replicas"] for task in tasks)
    rank = 0
    for task in tasks:
        for number in range(task["replicas"]):
            env = {"VC_TASK_INDEX": str(number), "VK_TASK_INDEX": str(number)} if "env" in plugins else {}
            if "pytorch" in plugins:
                env |= {"MASTER_ADDR": f"{name}-master-0.{name}", "MASTER_PORT": "23456"}
                env |= {"WORLD_SIZE": str(total), "RANK": str(rank)}
            index = {"volcano.sh/task-index": str(number)}
            yield Made(
                name=f"{name}-{task['name']}-{number}",
                subdomain=name if "svc" in plugins else "",
                template=task["template"],
                labels=index,
                annotations=index,
                env=env,
            )
            rank += 1


def _replicas(body: Body, field: str) -> Iterator[tuple[int, Made]]:
    """Pods of the training operator by rank, each with a Service of its own."""
    name, rank = body["metadata"]["name"], 0
    roles = body["spec"][field]
    for role in sorted(roles, key=lambda role: role != "Master"):
        for number in range(roles[role]["replicas"]):
            labels = {"training.kubeflow.org/replica-index": str(number)}
            yield (
                rank,
                Made(name=f"{name}-{role.lower()}-{number}", template=roles[role]["template"], labels=labels),
            )
            rank += 1


def pytorch(body: Body) -> Iterator[Made]:
    name, spec = body["metadata"]["name"], body["spec"]
    made = list(_replicas(body, "pytorchReplicaSpecs"))
    processes = spec.get("nprocPerNode", "auto")
    world = len(made) * (int(processes) if processes.isdecimal() else 1)
    for rank, pod in made:
        if (policy := spec.get("elasticPolicy")) is not None:
            env = {
                "PET_RDZV_ENDPOINT": f"{name}-worker-0:23456",
                "PET_RDZV_BACKEND": policy["rdzvBackend"],
                "PET_NPROC_PER_NODE": processes,
                "PET_NNODES": f"{policy['minReplicas']}:{policy['maxReplicas']}",
            }
        else:
            master = {"MASTER_ADDR": f"{name}-master-0", "MASTER_PORT": "23456"}
            env = {
                **master,
                **{f"PET_{key}": value for key, value in master.items()},
                "WORLD_SIZE": str(world),
                "RANK": str(rank),
                "PET_NODE_RANK": str(rank),
                "PET_NPROC_PER_NODE": processes,
                "PET_NNODES": str(len(made)),
            }
        yield _with(pod, {"PYTHONUNBUFFERED": "1", **env})


def _with(pod: Made, env: dict[str, str], **changes: object) -> Made:
    return Made(name=pod.name, template=pod.template, labels=pod.labels, env=env, **changes)  # type: ignore[arg-type]


def jax(body: Body) -> Iterator[Made]:
    made = list(_replicas(body, "jaxReplicaSpecs"))
    address = {"COORDINATOR_ADDRESS": f"{body['metadata']['name']}-worker-0", "COORDINATOR_PORT": "6666"}
    for rank, pod in made:
        env = {"NUM_PROCESSES": str(len(made)), "PROCESS_ID": str(rank)}
        yield _with(pod, {"PYTHONUNBUFFERED": "1", **address, **env})


def train(body: Body) -> Iterator[Made]:
    """A TrainJob with the runtime `torch-distributed` of the Trainer 2.3, without its changes of the pods."""
    name, trainer = body["metadata"]["name"], body["spec"]["trainer"]
    nodes = trainer["numNodes"]
    container = {key: trainer[key] for key in ("command", "args", "env") if key in trainer}
    container["resources"] = trainer.get("resourcesPerNode", {})
    template: Body = {"spec": {"containers": [container], "subdomain": name}}
    gpus = at(trainer, "resourcesPerNode", "limits", "nvidia.com/gpu")
    for pod in _job({"spec": {"completions": nodes, "template": template}}, f"{name}-node-0"):
        env = {
            "PET_NNODES": str(nodes),
            "PET_NPROC_PER_NODE": str(trainer.get("numProcPerNode") or ("auto" if gpus else 1)),
            "PET_NODE_RANK": pod.env["JOB_COMPLETION_INDEX"],
            "PET_MASTER_ADDR": f"{name}-node-0-0.{name}",
            "PET_MASTER_PORT": "29500",
        }
        yield replace(pod, env={**pod.env, **env})


_WAIT = 'for host in $WORKERS; do until (: </dev/tcp/$host/22) 2>/dev/null; do sleep 0.2; done; done; exec "$@"'
"""What `WaitForWorkersReady` does."""


def mpi(body: Body) -> Iterator[Made]:
    """An MPIJob of the MPI operator, for Open MPI."""
    name, spec = body["metadata"]["name"], body["spec"]
    specs, slots = spec["mpiReplicaSpecs"], spec["slotsPerWorker"]
    workers = [f"{name}-worker-{number}" for number in range(specs["Worker"]["replicas"])]
    hosts = [f"{worker}.{name}.{NAMESPACE}.svc" for worker in workers]
    files = _ssh()
    for worker in workers:
        env = {"K_MPI_JOB_ROLE": "worker"}
        template = specs["Worker"]["template"]
        yield Made(name=worker, subdomain=name, template=template, env=env, files=files, serves=True)
    hostfile = "".join(f"{host} slots={slots}\n" for host in hosts)
    template = specs["Launcher"]["template"]
    container = template["spec"]["containers"][0]
    words = [*container.get("command", []), *container.get("args", [])]
    container = {**container, "command": ["bash", "-c", _WAIT, "wait"], "args": words}
    env = {
        "K_MPI_JOB_ROLE": "launcher",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
        "OMPI_MCA_orte_set_default_slots": str(slots),
        "WORKERS": " ".join(hosts),
    }
    template = {**template, "spec": {**template["spec"], "containers": [container]}}
    yield Made(name=f"{name}-launcher", template=template, env=env, files={**files, "etc/mpi/hostfile": hostfile})


@cache
def _ssh() -> dict[str, str]:
    """Keys of the operator, and the configuration of ssh that it asks of images."""
    files = {
        "etc/ssh/ssh_config": "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n",
        "etc/ssh/sshd_config": "PermitRootLogin prohibit-password\nUsePAM yes\nHostKey /root/.ssh/host\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in ("id_rsa", "host"):
            subprocess.run(["ssh-keygen", "-q", "-N", "", "-f", f"{folder}/{name}"], check=True)
        read = {path.name: path.read_text() for path in Path(folder).iterdir()}
    keys = {**read, "authorized_keys": read["id_rsa.pub"]}
    return files | {f"root/.ssh/{name}": text for name, text in keys.items()}


def leaderworkerset(body: Body) -> Iterator[Made]:
    """One group of LeaderWorkerSet 0.7, whose leader has the template of the workers."""
    name, group = body["metadata"]["name"], body["spec"]["leaderWorkerTemplate"]
    for number in range(group["size"]):
        yield Made(
            name=f"{name}-0-{number}" if number else f"{name}-0",
            subdomain=name,
            template=group["workerTemplate"],
            labels={"leaderworkerset.sigs.k8s.io/worker-index": str(number)},
            env={"LWS_LEADER_ADDRESS": f"{name}-0.{name}.{NAMESPACE}", "LWS_GROUP_SIZE": str(group["size"])},
        )


OPERATORS: dict[str, Callable[[Body], Iterator[Made]]] = {
    "Job batch/v1": job,
    "Job batch.volcano.sh/v1alpha1": volcano,
    "JobSet jobset.x-k8s.io/v1alpha2": jobset,
    "PyTorchJob kubeflow.org/v1": pytorch,
    "JAXJob kubeflow.org/v1": jax,
    "MPIJob kubeflow.org/v2beta1": mpi,
    "LeaderWorkerSet leaderworkerset.x-k8s.io/v1": leaderworkerset,
    "TrainJob trainer.kubeflow.org/v1alpha1": train,
}


def pods_of(body: Body) -> list[Made]:
    """The pods of a run."""
    return list(OPERATORS[f"{body['kind']} {body['apiVersion']}"](body))
