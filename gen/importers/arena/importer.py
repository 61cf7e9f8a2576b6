"""`gen import arena`: submissions in shell scripts and command lines, and the function of each job type."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Final

from gen.base.codes.imports import INVALID_COMMAND_LINE, NOT_CARRIED
from gen.base.findings import Findings, Location
from gen.base.shell_words import Word
from gen.importers.arena.pods import containers
from gen.importers.arena.roles import FINISHED, OPERATOR, duration, ray, simple, tensorflow
from gen.importers.arena.scheduling import metadata, placement, role_annotations
from gen.importers.arena.submission import ROOT, Draft, Submission, read_submission
from gen.importers.base import ImportedJob, Importer, ImportInput
from gen.importers.shell_script import Command, commands


def pytorch(draft: Draft) -> None:
    simple(draft, shared="share-memory")
    placement(draft, {})
    draft.carry("nproc-per-node", "nprocPerNode")
    draft.carry("clean-task-policy", "cleanup")
    duration(draft, "running-timeout", "timeout")
    draft.lose("ttl-after-finished", "the run would start again", FINISHED)


def mpi(draft: Draft) -> None:
    simple(draft)
    placement(draft, {})
    draft.carry("clean-task-policy", "cleanup")
    if draft.given.on("gputopology"):
        if "gpus" in draft.fields and "accelerator" not in draft.fields:
            draft.set("topology", "accelerator", place=draft.given.place_of("gputopology"))
            draft.need({"ackTopology": {}}, "accelerators", "topology")
        else:
            draft.lose("gputopology", "the job has no GPUs", "add `--gpus`, or remove it")
    draft.lose("mounts-on-launcher", "the launcher always has the data of the job", "remove it")


def elastic(draft: Draft) -> None:
    """`etjob` and `deepspeedjob`: the launcher is a pod of its own, with the CPU and memory of the workers."""
    given = draft.given
    given.values.pop("retry", None) if given.text("retry") == "0" else None
    if given.last("job-backoff-limit") is not None:
        draft.lose("retry", "Arena ignores it for this type", "remove it; `--job-backoff-limit` counts")
        given.values.pop("retry", None)
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
    message = f"a `{given.type.name}` becomes an MPIJob, and its list of hosts is in `/etc/mpi/hostfile`"
    hint = "check the options for hosts and for elastic training in `command`"
    draft.found.warning(NOT_CARRIED, given.place, message, hint)


def horovod(draft: Draft) -> None:
    simple(draft)
    placement(draft, {})
    draft.lose("ssh-port", "the MPI operator chooses it", OPERATOR)


_TASK_IMAGES: Final = "ubuntu,nginx,busybox"
"""Arena's defaults; requests and limits of a task are 250m CPU and 128Mi of memory."""


def volcano(draft: Draft) -> None:
    """One role for each image; all run the same command."""
    given = draft.given
    containers(draft)
    draft.fields.pop("workingDir", None)  # Arena sets none here
    metadata(draft)
    images = [image.strip() for image in (given.text("task-images") or _TASK_IMAGES).split(",") if image.strip()]
    place = given.place_of("task-images")
    draft.set(given.text("task-cpu") or "250m", "cpu", place=given.place_of("task-cpu"))
    draft.set(given.text("task-memory") or "128Mi", "memory", place=given.place_of("task-memory"))
    name = given.text("task-name") or "task"
    for number, image in enumerate(images):
        draft.set(image, "roles", f"{name}-{number}", "image", place=place)
        draft.set(given.text("task-replicas") or "1", "roles", f"{name}-{number}", "replicas")
    draft.set(given.text("min-available") or "1", "minAvailable", place=given.place_of("min-available"))
    given.every("task-name")
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
        if not read:
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
    for flag in ROOT:
        draft.lose(flag.name, _CLIENT, "remove it") if flag.name != "namespace" else None
    _report_rest(given, found)
    job = draft.finished(f"Imported from `arena {'' if ' ' in given.type.name else 'submit '}{given.type.name}`.")
    if job is not None:
        yield job


def _report_spark(given: Submission, found: Findings) -> None:
    hint = "keep the SparkApplication as a manifest of its own, and check it with `gen validate`"
    message = f"gen has no kind of job for a `{given.type.name}`"
    found.error(INVALID_COMMAND_LINE, given.place, message, hint)
    _report_rest(given, found)


def _report_rest(given: Submission, found: Findings) -> None:
    """Report what nothing has read, so that no value disappears."""
    for name in given.values.keys() - given.read - {"name", "namespace"}:
        found.warning(NOT_CARRIED, given.place_of(name), f"`--{name}` is not carried: it has no field", "remove it")
