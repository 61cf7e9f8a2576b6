"""The pods of an imported job as processes of the sandbox, and the names that differ between two runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gen.base import at, regex
from gen.importers import ImportedJob
from gen.importers.proof import renamed
from gen.importers.sandbox import BATCH, HOME, MOST_TASKS, Learned, Process, Recording, recorded, without_ends
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.pods import CreatedPod, created_pods
from gen.kubernetes.objects import Body

_REFERENCE: Final = regex(r"\$\((\w+)\)")
_INDEX: Final = regex(r"(?<=-)[0-9]{1,5}(?=-|$)")


def environment(pod: CreatedPod, container: Body, port: int, job: ImportedJob) -> dict[str, str]:
    """The variables of a container. `port` is added to those of the operator, which are not the job's own."""
    own = job.fields.get("env", ())
    env = {"HOSTNAME": pod.name, "USER": "root"}
    for one in container.get("env") or ():
        name, value = str(one["name"]), one.get("value")
        if value is None:
            field = str(at(one, "valueFrom", "fieldRef", "fieldPath"))
            known = pod.name if field == "metadata.name" else at(pod.metadata, "annotations", field)
            value = str(known or job.secrets.get(name) or _index(pod.name))
        elif name.endswith("_PORT") and name not in own and str(value).isdecimal():
            value = str(int(value) + port)
        env[name] = expanded(str(value), env)
    return {**env, "JOB_COMPLETION_INDEX": _index(pod.name)}


def expanded(text: str, env: Mapping[str, str]) -> str:
    """A text with the references that Kubernetes replaces."""
    return _REFERENCE.sub(lambda match: env.get(match[1], match[0]), text)


def _index(name: str) -> str:
    """The index of a pod in its name."""
    numbers = _INDEX.findall(name)
    return numbers[-1] if numbers else "0"


class World(Struct, frozen=True, kw_only=True):
    """Names that differ between two runs."""

    number: str
    """Id of the job, and of the random numbers."""
    host: str
    run: str
    """Suffix of the name of the run."""
    port: int
    """Added to the ports of the operator."""


WORLDS: Final = (
    World(number="31313", host="alpha", run="", port=0),
    World(number="24242", host="omega", run="zz", port=1),
)


_OF_TASK: Final = ("RANK", "LOCAL_RANK", "WORLD_SIZE")


def names_of(job: ImportedJob) -> list[str]:
    """Variables of the job with values of the script. Operators for MPI do not set those of its tasks."""
    of_task = _OF_TASK if job.fields.get("kind") == "mpi" else ()
    return [*of_task, *(name for name, value in job.fields.get("env", {}).items() if isinstance(value, str))]


def programs_of(job: ImportedJob) -> set[str]:
    """Words of the command that can be programs, so that most are recorded at once."""
    command = job.fields.get("command", "")
    text = command if isinstance(command, str) else " ".join(map(str, command))
    return {"torchrun", "python", "python3", "accelerate", "deepspeed", *text.split()[:1]}


def _pods(body: Body) -> list[CreatedPod]:
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    return list(created_pods(body, resource)) if resource is not None else []


def recorded_pods(
    job: ImportedJob,
    runs: Sequence[Body],
    index: int,
    world: World,
    scripts: Mapping[str, str],
    learned: Learned,
    fails: Collection[str] = (),
) -> Recording:
    """The programs that the pods of the job start, as the operator makes them."""
    array = "array" in job.fields
    body = renamed(runs[0 if array else index], world.run)
    pods = _pods({**body, "spec": {**body["spec"], "parallelism": index + 1}} if array else body)
    pods = pods[index : index + 1] if array else pods
    launcher = [pod for pod in pods if pod.role == "launcher"]
    processes: list[Process] = []
    for number, pod in enumerate((launcher or pods)[:MOST_TASKS]):
        container = pod.containers[0]
        env = environment(pod, container, world.port, job)
        if launcher:
            env |= ranks_of(job)
        env |= {"GEN_ID": world.number, "GEN_HOST": world.host, "GEN_GPUS": str(job.fields.get("gpus", 1))}
        words = [*(container.get("command") or ()), *(container.get("args") or ())]
        words = [without_ends(expanded(str(one), env), with_errors=bool(fails)) for one in words]
        folder = str(container.get("workingDir") or HOME)
        processes.append(Process(words=tuple(words), env=env, task=BATCH if launcher else number, folder=folder))
    files = {path: str(text) for path, text in job.fields.get("files", {}).items()}
    files |= {"/etc/mpi/hostfile": f"{world.host}0 slots=1\n"}
    return recorded(
        processes,
        files=files,
        scripts=scripts,
        names=names_of(job),
        programs=programs_of(job),
        learned=learned,
        fails=fails,
    )


def ranks_of(job: ImportedJob) -> dict[str, str]:
    """The numbers of processes that `mpirun` starts without options."""
    slots = int(job.fields.get("slotsPerWorker") or job.fields.get("gpus") or 1)
    return {"GEN_SLOTS": str(slots), "GEN_RANKS": str(slots * int(job.fields.get("workers", 1)))}
