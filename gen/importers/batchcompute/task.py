"""One task of BatchCompute as an indexed Job: its program, its machines, and its data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gen import quantity
from gen.importers.batchcompute.storage import carry_storage
from gen.importers.draft import literal, literals

if TYPE_CHECKING:
    from gen.importers.draft import JobDraft
    from gen.importers.record import Record

_CLUSTER: Final = ("it is a property of the cluster", "ask the platform owner")
_CREDENTIALS: Final = ("credentials do not belong in Git", "create a Secret in the namespace, and revoke the old value")
_LOGS: Final = ("the cluster keeps the logs", "read them with `kubectl logs`, or redirect the output in `command`")
TASK: Final[dict[str, tuple[str, str]]] = {
    "TaskInstanceNum": ("it is not a number of pods", "set `workers`"),
    "Password": _CREDENTIALS,
    "User": _CREDENTIALS,
    "Authentications": _CREDENTIALS,
    "LoginSettings": _CREDENTIALS,
    "Server": ("the image has the registry in its name", "write the registry into `image`"),
    "DockerRunOption": (
        "a job has no options of Docker",
        "set `sharedMemory`, `data` or another field in place of each",
    ),
    "MaxRetryCountOfImage": ("the node pulls the image again by itself", "remove it"),
    "DelayOnRetry": ("the node pulls the image again by itself", "remove it"),
    "PackagePath": ("gen fetches no packages", "put the program into the image, or fetch it with `code: {git: <URL>}`"),
    "OutputMappingConfigs": ("the overlay configures copies", "remove it"),
    "RedirectLocalInfo": _LOGS,
    "MaxConcurrentNum": ("all instances may run at the same time", "remove it"),
    "FailedAction": ("failed pods are kept", "remove it"),
    "RestartComputeNode": ("nodes belong to the cluster", "remove it"),
    "ResourceMaxRetryCount": ("nodes belong to the cluster", "remove it"),
    "ImageId": ("it is an image of a machine, not of a container", "set `image` of the job"),
    "InstanceChargeType": ("it concerns the billing of machines", "set `placement: {spot: true}` for spot nodes"),
    "InstanceMarketOptions": ("it concerns the billing of machines", "set `placement: {spot: true}` for spot nodes"),
    "AgentRunningMode": ("the image decides about the user", "build an image with this user"),
    "EnvType": _CLUSTER,
    "EnvName": ("an environment has no name of its own in a cluster", "remove it"),
    "EnvDescription": ("an environment has no description", "remove it"),
    "DesiredComputeNodeCount": ("the cluster decides about the number of its nodes", "set a quota in the overlay"),
    **dict.fromkeys(
        ("SystemDisk", "DataDisks", "MountDataDisks", "VirtualPrivateCloud", "SecurityGroupIds", "InternetAccessible"),
        _CLUSTER,
    ),
    **dict.fromkeys(("EnhancedService", "Zones", "ActionIfComputeNodeInactive", "Notifications", "Tags"), _CLUSTER),
}
"""Values that no job has: the reason and the remedy."""
_VARIABLES: Final = {
    "BATCH_TASK_INSTANCE_INDEX": "JOB_COMPLETION_INDEX",
    "BATCH_TASK_INSTANCE_NUM": "TASK_COUNT",
}
"""Variables of BatchCompute, and those of an array with the same value."""


def carry_task(draft: JobDraft, task: Record, zone: str, environments: dict[str, Record], image: str) -> None:
    """Set the fields of the job. Values that nothing reads are reported by the caller."""
    _program(draft, task, image)
    instances = task.number("TaskInstanceNum")
    if instances is not None and instances > 1 and "workers" not in draft.fields:
        draft.set(instances, "workers", place=task.place("TaskInstanceNum"))
    _array(draft, task)
    if retries := task.number("MaxRetryCount"):
        draft.set(retries, "retries", place=task.place("MaxRetryCount"))
    if timeout := task.number("Timeout"):
        draft.set(quantity.duration(timeout), "attemptTimeout", place=task.place("Timeout"))
    for entry in task.records("EnvVars"):
        name, value = entry.text("Name"), entry.text("Value")
        if name:
            draft.variable(name, value, entry.place("Value"))
    carry_storage(draft, task)
    if zone:
        draft.set(literal(zone), "placement", "zone", place=task.place())
    _machine(draft, task, environments)


def _array(draft: JobDraft, task: Record) -> None:
    """Instances are independent: they do not meet, and a failed one is tried again alone."""
    workers = int(draft.fields.get("workers", 1))
    if workers == 1:
        return
    parallel = task.number("MaxConcurrentNum")
    limited = parallel is not None and 0 < parallel < workers
    draft.set({"parallel": parallel} if limited else True, "array", place=task.place("TaskInstanceNum"))


def _program(draft: JobDraft, task: Record, image: str) -> None:
    application = task.record("Application")
    commands = [one.text("Command") for one in application.records("Commands")] or application.texts("Commands")
    command = application.text("Command")
    if application.text("DeliveryForm") == "PACKAGE":
        application.take("DeliveryForm")
    if commands:
        cases = "\n".join(f"  {number}) {one} ;;" for number, one in enumerate(commands))
        command = f'case "$JOB_COMPLETION_INDEX" in\n{cases}\nesac\n'
        draft.set(len(commands), "workers", place=application.place("Commands"))
        task.take("TaskInstanceNum")
    used = [name for name in _VARIABLES if re.search(rf"\b{name}\b", command)]
    exports = "".join(f'export {name}="${_VARIABLES[name]}"\n' for name in used)
    if command:
        draft.set(literal(exports + command), "command", place=application.place("Command"))
    docker = application.record("Docker")
    named = docker.text("Image")
    docker.take("MaxRetryCount")
    if named or image:
        draft.set(literal(named or image), "image", place=docker.place("Image"))
    else:
        hint = "add `image` to the job, or import it again with `--image`"
        draft.drop(application.place(), "the program", "the task has no container image", hint)


def _machine(draft: JobDraft, task: Record, environments: dict[str, Record]) -> None:
    """Types of machines, of the task or of the environment that it names."""
    env = task.record("ComputeEnv")
    named = task.text("EnvId")
    if named and named not in environments:
        hint = "import the `CreateComputeEnv` request together with it, or set `placement` and `gpus` of the job"
        draft.drop(task.place("EnvId"), f"environment `{named}`", "the input does not have it", hint)
    elif named:
        env = environments[named].record("ComputeEnv")
    data = env.record("EnvData")
    types = [data.text("InstanceType")] if data.has("InstanceType") else data.texts("InstanceTypes")
    if types:
        draft.set(literals(types[0] if len(types) == 1 else types), "placement", "instanceType", place=data.place())
        hint = "set `gpus`, `cpu` and `memory` of the job; Kubernetes does not take them from the type of the machine"
        draft.drop(data.place(), "the size of the machine", "a type of machine is not a request", hint)
    options = data.record("InstanceTypeOptions")
    if cpu := options.number("CPU"):
        draft.set(cpu, "cpu", place=options.place("CPU"))
    if memory := options.number("Memory"):
        draft.set(f"{memory}Gi", "memory", place=options.place("Memory"))
    if named in environments:
        env.report(draft, TASK)
