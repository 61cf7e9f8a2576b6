"""`gen import arena`: submissions in shell scripts and command lines, and the fields of each training type."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Final

from gen.base import Findings, Location, regex, with_texts
from gen.base.codes.imports import INVALID_COMMAND_LINE, NOT_CARRIED
from gen.base.shell_words import Word
from gen.importers import ImportedJob, Importer, ImportInput
from gen.importers.arena.flags import (
    code,
    containers,
    data,
    devices,
    duration,
    hidden_devices,
    metadata,
    network,
    placement,
    queue,
    role_annotations,
    shared_memory,
    ssh,
    tensorboard,
)
from gen.importers.arena.submission import ROOT, Draft, Submission, read_submission
from gen.importers.draft import literal
from gen.importers.shell_script import Command, commands
from gen.job.kinds import ALL_KINDS
from gen.job.launchers.deepspeed import DEFAULT_HOSTS

FINISHED: Final = "remove it; set `state: finished` in the job after its end. gen never deletes runs by time"
OPERATOR: Final = "remove it; the operator chooses it"


def common(draft: Draft) -> None:
    """What all training types share, except resources and nodes."""
    containers(draft)
    code(draft)
    data(draft)
    tensorboard(draft)
    network(draft)
    queue(draft)
    metadata(draft)
    hint = "register the model after the training, such as with the client of MLflow"
    for flag in ("model-name", "model-source"):
        draft.lose(flag, "gen registers no models", hint)


def gpus(draft: Draft) -> None:
    if draft.given.text("gpus") not in ("", "0"):
        draft.carry("gpus", "gpus")
    devices(draft)


def simple(draft: Draft, *, shared: str | None = None) -> None:
    """Types with one set of resources."""
    common(draft)
    draft.carry("image", "image")
    draft.carry("workers", "workers")
    gpus(draft)
    draft.carry("cpu", "cpu")
    draft.carry("memory", "memory")
    if draft.given.text("retry") != "0":
        draft.carry("retry", "retries")
    shared_memory(draft, shared, [draft.given.text("memory")])


_ACCOUNT: Final = "gen-pipeline"
"""ServiceAccount of the workflows that start the runs of a schedule."""


def tensorflow(draft: Draft) -> None:
    given = draft.given
    common(draft)
    roles = [name for name in ("chief", "evaluator") if given.on(name)]
    servers = given.text("ps") not in ("", "0")
    draft.carry("workers", "workers")
    gpus(draft)
    draft.carry("worker-image" if given.last("worker-image") else "image", "image")
    given.every("image")
    for role in roles:
        draft.set({}, "roles", role, place=given.place_of(role))
    memories = _tensorflow_resources(draft, "worker", () if not roles else ("roles", "worker"))
    for role in ("chief", "evaluator"):
        if role in roles:
            memories += _tensorflow_resources(draft, role, ("roles", role))
        else:
            _lose_role(draft, role, f"--{role}")
    if servers:
        draft.carry("ps", "roles", "ps", "replicas")
        image = given.text("ps-image") or given.text("image")
        if image and image != draft.fields.get("image"):
            draft.carry("ps-image" if given.last("ps-image") else "image", "roles", "ps", "image")
        if given.text("ps-gpus") != "0":
            draft.carry("ps-gpus", "roles", "ps", "gpus")
        _tensorflow_resources(draft, "ps", ("roles", "ps"))
    else:
        _lose_role(draft, "ps", "--ps", "ps-image", "ps-gpus")
    _tensorflow_placement(draft, [*roles, *(["ps"] if servers else [])])
    shared_memory(draft, "share-memory", memories)
    if given.text("retry") != "0":
        draft.carry("retry", "retries")
    _tensorflow_policies(draft, chief="chief" in roles)
    _cron(draft)


def _tensorflow_resources(draft: Draft, role: str, route: tuple[str, ...]) -> list[str]:
    """CPU and memory. gen sets a request and an equal limit; without a request, Kubernetes takes the limit for it."""
    for resource in ("cpu", "memory"):
        flag, limit = f"{role}-{resource}", f"{role}-{resource}-limit"
        has_request = draft.given.last(flag) is not None
        draft.carry(flag if has_request else limit, *route, resource)
        if has_request and draft.given.text(limit) != draft.given.text(flag):
            why = f"the limit is the request, `{draft.given.text(flag)}`"
            draft.lose(limit, why, f"raise `{resource}` if needed")
    return [draft.given.text(f"{role}-memory") or draft.given.text(f"{role}-memory-limit")]


def _lose_role(draft: Draft, role: str, switch: str, *more: str) -> None:
    names = ("cpu", "memory", "cpu-limit", "memory-limit")
    for flag in (*(f"{role}-{name}" for name in names), *more):
        draft.lose(flag, f"the job has no role `{role}`", f"add `{switch}`, or remove it")


def _tensorflow_placement(draft: Draft, roles: list[str]) -> None:
    own = {role: f"{role}-selector" for role in ("worker", *roles) if draft.given.last(f"{role}-selector")}
    if len(own) == len(roles) + 1 and draft.given.every("selector"):
        draft.lose("selector", "every role has a selector of its own", "remove it")
        draft.given.values.pop("selector")
    placement(draft, own, every=("worker", *roles))
    for role in ("ps", "chief", "evaluator"):
        if role not in roles:
            draft.lose(f"{role}-selector", f"the job has no role `{role}`", "remove it")


def _tensorflow_policies(draft: Draft, *, chief: bool) -> None:
    given = draft.given
    draft.carry("clean-task-policy", "cleanup")
    duration(draft, "running-timeout", "timeout")
    policy = given.text("success-policy")
    if policy == "AllWorkers" and chief:
        draft.lose("success-policy", "the job ends with its chief", "remove it")
    elif policy != "ChiefWorker":
        draft.carry("success-policy", "successPolicy")
    draft.lose("ttl-after-finished", "the run would start again", FINISHED)
    draft.lose("starting-timeout", "no version of TFJob that gen renders has it", "set `timeout` instead")
    draft.lose("role-sequence", "the operator starts all roles together", "remove it")
    for flag in ("worker-port", "ps-port", "chief-port"):
        draft.lose(flag, "`TF_CONFIG` has the addresses of all pods", OPERATOR)
    hint = "use `placement`; the platform owner can set an affinity with `patches` of the overlay"
    for role in ("worker", "ps"):
        for flag in (f"{role}-affinity-policy", f"{role}-affinity-constraint"):
            draft.lose(flag, "a job has no affinities", hint)


def _cron(draft: Draft) -> None:
    """A schedule. Its runs may overlap by default, for which a job needs a time limit."""
    given = draft.given
    if given.on("suspend"):
        draft.set("suspended", "state", place=given.place_of("suspend"))
    if given.last("schedule") is None:
        for flag in ("concurrency-policy", "history-limit", "deadline"):
            draft.lose(flag, "the command has no schedule", "add `--schedule`")
        return
    _times(draft)
    policy = given.text("concurrency-policy") or "Allow"
    if policy == "Allow" and "timeout" not in draft.fields:
        hint = "set `timeout`, and `concurrency: Allow` of `schedule`"
        draft.drop(given.place, "the policy `Allow`", "runs that overlap need a time limit", hint)
    elif policy != "Forbid":
        draft.set(policy, "schedule", "concurrency", place=given.place)
    given.every("concurrency-policy")
    if given.last("history-limit") is not None:
        for state in ("succeeded", "failed"):
            draft.set(given.text("history-limit"), "schedule", "history", state, place=given.place_of("history-limit"))
        given.every("history-limit")
    draft.lose("deadline", "a schedule has no end", "remove the job at that time")
    draft.need({"argo": {"serviceAccount": _ACCOUNT}}, "pipelines")


def _times(draft: Draft) -> None:
    """The fields of a schedule. Six have seconds as the first one, and `?` is any day."""
    text, place = draft.given.text("schedule"), draft.given.place_of("schedule")
    fields = text.replace("?", "*").split()
    if len(fields) == 6:  # noqa: PLR2004 - with seconds
        draft.drop(place, f"`{fields[0]}`, the seconds of `--schedule`,", "schedules have minutes", "check the time")
        text = " ".join(fields[1:])
    draft.set(literal(text), "schedule", "cron", place=place)


def ray(draft: Draft) -> None:
    given = draft.given
    hint = "choose `network` or `queue` in the job, if it needs one"
    draft.ignore("hostNetwork", "rdma", "gang", why="Arena ignores it for Ray", hint=hint)
    common(draft)
    hint = "use `--worker-replicas` and `--worker-gpu`"
    draft.lose("workers", "Arena ignores it for Ray", hint)
    draft.lose("gpus", "Arena only writes it into an annotation for Ray", hint)
    if given.text("retry") != "0":
        draft.carry("retry", "retries")
    draft.carry("worker-image" if given.last("worker-image") else "image", "image")
    head = given.text("head-image") or given.text("image")
    if head and head != draft.fields.get("image"):
        draft.carry("head-image" if given.last("head-image") else "image", "roles", "head", "image")
    for resource, field in (("cpu", "cpu"), ("memory", "memory"), ("gpu", "gpus")):
        for flag, route in ((f"worker-{resource}", (field,)), (f"head-{resource}", ("roles", "head", field))):
            if given.text(flag) != "0":
                draft.carry(flag, *route)
    devices(draft)
    _ray_workers(draft)
    placement(draft, {})
    draft.carry("ray-version", "rayVersion")
    if given.last("share-memory") is not None:
        memories = [given.text("worker-memory"), given.text("head-memory")]
        shared_memory(draft, "share-memory", memories)
    _ray_life(draft)
    draft.lose("head-service-type", "the overlay decides how services are reached", "use `kubectl port-forward`")
    draft.lose("pre-stop-command", "KubeRay stops Ray", "remove it")


def _ray_life(draft: Draft) -> None:
    duration(draft, "active-deadline-seconds", "timeout")
    if "timeout" not in draft.fields:
        what = "the limit of 120 s, which Arena's chart sets without `--active-deadline-seconds`,"
        draft.drop(draft.given.place, what, "a job ends with its program", "set `timeout`, if it should have a limit")
    duration(draft, "ttl-after-finished", "keepCluster")
    if draft.given.on("suspend") and draft.given.on("queue"):
        draft.lose("suspend", "the queue suspends and resumes the job", "remove it")
    elif draft.given.on("suspend"):
        draft.set("suspended", "state", place=draft.given.place_of("suspend"))
    if draft.given.last("shutdown-after-finished") is not None and not draft.given.on("shutdown-after-finished"):
        why = "gen always deletes the cluster at the end, to free its GPUs"
        draft.lose("shutdown-after-finished", why, "set `keepCluster: 12h` to keep it for some time")


def _ray_workers(draft: Draft) -> None:
    given = draft.given
    hosts = given.text("worker-num-of-hosts")
    if hosts not in ("", "1"):
        draft.carry("worker-num-of-hosts", "roles", "worker", "numOfHosts")
        draft.set("1", "roles", "worker", "replicas")
        draft.carry("worker-replicas", "roles", "worker", "replicas")
    else:
        draft.carry("worker-replicas", "workers")
    scales = given.on("enable-autoscaling") and "queue" not in draft.fields
    if scales:
        draft.set(True, "autoscaler", place=given.place_of("enable-autoscaling"))
        if any(given.last(f"autoscaler-{name}") for name in ("idle-timeout-seconds", "upscaling-mode")):
            draft.set({}, "autoscaler")
            draft.carry("autoscaler-idle-timeout-seconds", "autoscaler", "idleTimeoutSeconds")
            draft.carry("autoscaler-upscaling-mode", "autoscaler", "upscalingMode")
        for flag, field in (("worker-min-replicas", "minReplicas"), ("worker-max-replicas", "maxReplicas")):
            if given.text(flag) != "0":  # the number of replicas
                draft.carry(flag, "roles", "worker", field)
        if given.text("worker-min-replicas") in ("", "0") and given.last("worker-replicas"):
            draft.carry("worker-replicas", "roles", "worker", "minReplicas")
    elif given.on("enable-autoscaling"):
        draft.lose("enable-autoscaling", "a queue admits only clusters of a fixed size", "remove the queue")
    others = ("worker-min-replicas", "worker-max-replicas") if not scales else ()
    idle = ("autoscaler-idle-timeout-seconds", "autoscaler-upscaling-mode") if not scales else ()
    for flag in (*others, *idle):
        draft.lose(flag, "the cluster has a fixed size", "add `--enable-autoscaling`, or remove it")
    for flag in ("cpu", "memory", "image", "image-pull-policy"):
        draft.lose(f"autoscaler-{flag}", "KubeRay chooses the container of the autoscaler", "remove it")


def pytorch(draft: Draft) -> None:
    simple(draft, shared="share-memory")
    placement(draft, {})
    draft.carry("nproc-per-node", "nprocPerNode")
    draft.carry("clean-task-policy", "cleanup")
    duration(draft, "running-timeout", "timeout")
    draft.lose("ttl-after-finished", "the run would start again", FINISHED)


def mpi(draft: Draft) -> None:
    simple(draft)
    ssh(draft)
    placement(draft, {})
    draft.carry("clean-task-policy", "cleanup")
    if draft.given.on("gputopology"):
        if "gpus" in draft.fields and "accelerator" not in draft.fields:
            draft.set("topology", "accelerator", place=draft.given.place_of("gputopology"))
            draft.need({"ackTopology": {}}, "accelerators", "topology")
            if not draft.given.on("hostNetwork"):
                what = "the network of the nodes, which Arena sets with `--gputopology`,"
                hint = "add `--hostNetwork`, if the training needs it"
                draft.drop(draft.given.place_of("gputopology"), what, "the accelerator does not need it", hint)
        else:
            draft.lose("gputopology", "the job has no GPUs", "add `--gpus`, or remove it")
    draft.lose("mounts-on-launcher", "the launcher always has the data of the job", "remove it")


_HOSTS: Final = "/etc/mpi/hostfile"
_OF_OPERATOR: Final = regex(r"/etc/edl/[\w.-]+")


def elastic(draft: Draft) -> None:
    """`etjob` and `deepspeedjob`: the launcher is a pod of its own, with the CPU and memory of the workers."""
    given = draft.given
    given.values.pop("retry", None) if given.text("retry") == "0" else None
    if given.last("job-backoff-limit") is not None:
        draft.ignore("retry", why="Arena ignores it for this type", hint="remove it; `--job-backoff-limit` counts")
    simple(draft)
    draft.carry("job-backoff-limit", "retries")
    draft.carry("job-restart-policy", "restart")
    for flag in ("cpu", "memory"):
        draft.carry(flag, "roles", "launcher", flag)
    placement(draft, {"launcher": "launcher-selector"}, roles=("worker",), every=("launcher", "worker"))
    role_annotations(draft, {"launcher": "launcher-annotation", "worker": "worker-annotation"})
    hint = "use `kind: pytorch` with `elastic`, if the program can train with torchrun"
    for flag in ("max-workers", "min-workers"):
        draft.lose(flag, "an MPIJob has a fixed number of workers", hint)
    for flag in ("spot-instance", "max-wait-time"):
        draft.lose(flag, "only the supervisor of Arena reads it", "set `placement` and `timeout` instead")
    draft.lose("worker-restart-policy", "workers restart in place", "remove it")
    draft.lose("ssh-secret", "the MPI operator makes the keys", "remove it")
    command = draft.fields.get("command", "")
    if command:
        draft.fields["command"] = with_texts(command, lambda text: text.replace(DEFAULT_HOSTS, _HOSTS))
    if (known := _OF_OPERATOR.search(str(command))) is not None:
        message = f"`{known[0]}` is a file of Arena's operator, which the pods of an MPIJob do not have"
        draft.cannot_run(given.place, message, f"use `--hostfile {_HOSTS}`, with a fixed number of processes")
    message = f"a `{given.type.name}` becomes an MPIJob, and its list of hosts is in `{_HOSTS}`"
    hint = "check the options for hosts and for elastic training in `command`"
    draft.found.warning(NOT_CARRIED, given.place, message, hint)


def horovod(draft: Draft) -> None:
    simple(draft)
    placement(draft, {})
    draft.lose("ssh-port", "the MPI operator chooses it", OPERATOR)


_TASK_IMAGES: Final = "ubuntu,nginx,busybox"
"""Arena's defaults; requests and limits of a task are 250m CPU and 128Mi of memory."""


def volcano(draft: Draft) -> None:
    """One role for each image, which may be that of all; all run the same command."""
    given = draft.given
    containers(draft)
    if "command" not in draft.fields:
        draft.set([], "args", place=given.place)  # the images have their own
    draft.fields.pop("workingDir", None)  # Arena sets none here
    metadata(draft)
    images = [image.strip() for image in (given.text("task-images") or _TASK_IMAGES).split(",") if image.strip()]
    place = given.place_of("task-images")
    draft.set(given.text("task-cpu") or "250m", "cpu", place=given.place_of("task-cpu"))
    draft.set(given.text("task-memory") or "128Mi", "memory", place=given.place_of("task-memory"))
    for number, image in enumerate(images):
        role = f"{given.text('task-name') or 'task'}-{number}"
        route = ("roles", role, "image") if len({*images}) > 1 else ("image",)
        draft.set(image, *route, place=place)
        draft.fields.setdefault("roles", {}).setdefault(role, {})
        draft.carry("task-replicas", "roles", role, "replicas")
    draft.set(given.text("min-available") or "1", "minAvailable", place=given.place_of("min-available"))
    draft.fields |= ALL_KINDS["volcano"].without  # as in the object of Arena
    queue_name = given.text("queue")
    if queue_name not in ("", "default"):
        draft.carry("queue", "queue")
        draft.need({"volcano": {"queue": queue_name}}, "queues", queue_name)
        draft.grant("queues", queue_name)
    if given.text("scheduler-name") != "volcano":
        draft.lose("scheduler-name", "Volcano schedules the job", "remove it")
    draft.lose("task-port", "a job declares no ports; its pods reach each other without", "remove it")


CARRY: Final[dict[str, Callable[[Draft], None]]] = {
    "tfjob": tensorflow,
    "cron tfjob": tensorflow,
    "pytorchjob": pytorch,
    "mpijob": mpi,
    "etjob": elastic,
    "deepspeedjob": elastic,
    "horovodjob": horovod,
    "rayjob": ray,
    "volcanojob": volcano,
}
"""Function by job type, which moves the values of a submission into a draft."""


PROGRAM: Final = "arena"
_CLIENT: Final = "it concerns the client of Arena"


class ArenaImporter(Importer):
    """`arena submit` lines."""

    summary: ClassVar[str] = "`arena submit` lines of a script or the command line"

    def read(self, given: ImportInput, found: Findings) -> Sequence[ImportedJob]:
        read = [_command(given)] if given.words else commands(given.text, given.file, PROGRAM, found)
        if not read and not found.failed():
            hint = "name a script with `arena submit` lines, or write `-- arena submit …` at the end"
            found.error(INVALID_COMMAND_LINE, Location(given.file), "no `arena` command found", hint)
        made = (read_submission(one.words, one.place, found) for one in read)
        return [job for one in made if one is not None for job in _imported(one, given, found)]


def _command(given: ImportInput) -> Command:
    """The words of a command line, with their columns in it."""
    words, column = [], 1
    for text in given.words:
        words.append(Word(text, Location(given.file, 1, column)))
        column += len(shlex.quote(text)) + 1
    return Command(tuple(words), Location(given.file))


def _imported(given: Submission, source: ImportInput, found: Findings) -> Iterator[ImportedJob]:
    namespace = source.namespace_of(given.text("namespace"))
    if given.last("name") is None:
        found.error(INVALID_COMMAND_LINE, given.place, "`--name` is missing", "add `--name=NAME`")
        return
    if not namespace:
        hint = "choose the namespace of all jobs with `gen import --namespace`"
        found.error(INVALID_COMMAND_LINE, given.place, "the command names no namespace", hint)
        return
    draft = Draft(given, namespace, found)
    carry = CARRY.get(given.type.name)
    if carry is None:
        _report_spark(given, found)
        return
    carry(draft)
    hidden_devices(draft)
    draft.rename_hosts(draft.name, {})
    for flag in ROOT:
        draft.lose(flag.name, _CLIENT, "remove it") if flag.name != "namespace" else None
    _report_rest(given, found)
    comment = f"Imported from `arena {'' if ' ' in given.type.name else 'submit '}{given.type.name}`."
    comment += " The images run their own programs." if draft.fields.get("args") == [] else ""
    if (job := draft.finished(comment)) is not None:
        yield job


def _report_spark(given: Submission, found: Findings) -> None:
    hint = "keep the SparkApplication as a manifest of its own, and check it with `gen validate`"
    message = f"gen has no kind of job for a `{given.type.name}`"
    found.error(INVALID_COMMAND_LINE, given.place, message, hint)


def _report_rest(given: Submission, found: Findings) -> None:
    """Report what nothing has read, so that no value disappears."""
    for name in given.values.keys() - given.read - {"name", "namespace"}:
        found.warning(NOT_CARRIED, given.place_of(name), f"`--{name}` is not carried: it has no field", "remove it")
