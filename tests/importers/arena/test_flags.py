"""Every flag of every job type of Arena 0.15.5: carried to a named field, or named in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.importers.arena.flags import CRON, ROOT, TYPES
from tests.importers.support import imported

if TYPE_CHECKING:
    from gen.importers.arena.flags import Flag, JobType
    from gen.importers.base import ImportedJob

COUNTS = {
    "tfjob": (74, 20),
    "pytorchjob": (41, 6),
    "mpijob": (39, 6),
    "etjob": (47, 6),
    "deepspeedjob": (42, 6),
    "horovodjob": (37, 6),
    "rayjob": (61, 6),
    "sparkjob": (13, 0),
    "volcanojob": (12, 8),
    "cron tfjob": (79, 20),
}
"""Flags and former names of flags that `arena submit TYPE --help` lists."""
ALL = (*TYPES, CRON)

SAMPLES = {
    "name": "demo",
    "image": "a/b:1",
    "gpus": "3",
    "device": "amd.com/gpu=2",
    "workers": "5",
    "retry": "4",
    "working-dir": "/w",
    "env": "KEY=value",
    "data": "claim:/data",
    "data-dir": "/host:/here",
    "annotation": "example.com/note=x",
    "label": "team=vision",
    "priority": "high",
    "toleration": "pool=a:NoSchedule,Equal",
    "selector": "disk=ssd",
    "config-file": "a.conf:/etc/a.conf",
    "image-pull-secret": "registry",
    "image-pull-policy": "IfNotPresent",
    "shell": "bash",
    "sync-mode": "git",
    "sync-source": "https://example.com/team/code.git",
    "sync-image": "a/sync:1",
    "tensorboard-image": "a/board:1",
    "logdir": "/volume/logs",
    "worker-image": "a/worker:1",
    "ps-image": "a/ps:1",
    "head-image": "a/head:1",
    "ps": "2",
    "worker-replicas": "4",
    "worker-max-replicas": "9",
    "success-policy": "AllWorkers",
    "clean-task-policy": "None",
    "running-timeout": "2h30m",
    "share-memory": "3Gi",
    "nproc-per-node": "8",
    "job-restart-policy": "OnFailure",
    "active-deadline-seconds": "90m",
    "ray-version": "2.52.0",
    "autoscaler-upscaling-mode": "Aggressive",
    "shutdown-after-finished": "false",
    "task-images": "a/task:1",
    "task-name": "part",
    "task-cpu": "3",
    "task-memory": "3Gi",
    "queue": "research",
    "scheduler-name": "other",
    "schedule": "@hourly",
    "concurrency-policy": "Replace",
}
"""A value of each flag that a default value would not have; others by the end of their names."""
ENDINGS = {"cpu": "3", "cpu-limit": "3", "memory": "4Gi", "memory-limit": "4Gi", "gpu": "2", "gpus": "2"}
ENDINGS |= {"selector": "disk=ssd", "annotation": "example.com/note=x", "timeout": "1h", "after-finished": "1h"}

CARRIED = {
    "image": "image",
    "gpus": "gpus",
    "device": "accelerator",
    "workers": "workers",
    "retry": "retries",
    "working-dir": "workingDir",
    "env": "env.KEY",
    "data": "data.claim",
    "data-dir": "data.host-host",
    "annotation": "podAnnotations.example.com/note",
    "label": "labels.team",
    "rdma": "network",
    "gang": "queue",
    "queue": "queue",
    "priority": "priority",
    "toleration": "placement.tolerations",
    "selector": "placement.nodeSelector",
    "image-pull-secret": "imagePullSecrets",
    "image-pull-policy": "imagePullPolicy",
    "shell": "command",
    "hostNetwork": "network",
    "sync-mode": "code.git",
    "sync-source": "code.git",
    "tensorboard": "tensorboard.logdir",
    "tensorboard-image": "tensorboard.image",
    "logdir": "tensorboard.logdir",
    "worker-image": "image",
    "ps-image": "roles.ps.image",
    "ps": "roles.ps.replicas",
    "ps-gpus": "roles.ps.gpus",
    "worker-cpu": "cpu",
    "worker-memory": "memory",
    "worker-cpu-limit": "cpu",
    "worker-memory-limit": "memory",
    **{f"{role}-{what}{limit}": f"roles.{role}.{what}"
       for role in ("ps", "chief", "evaluator") for what in ("cpu", "memory") for limit in ("", "-limit")},
    **{f"{role}-selector": f"roles.{role}.placement" for role in ("worker", "ps", "chief", "evaluator", "launcher")},
    "success-policy": "successPolicy",
    "clean-task-policy": "cleanup",
    "running-timeout": "timeout",
    "chief": "roles.chief",
    "evaluator": "roles.evaluator",
    "share-memory": "sharedMemory",
    "cpu": "cpu",
    "memory": "memory",
    "nproc-per-node": "nprocPerNode",
    "gputopology": "accelerator",
    "job-restart-policy": "restart",
    "job-backoff-limit": "retries",
    "launcher-annotation": "roles.launcher.podAnnotations",
    "worker-annotation": "roles.worker.podAnnotations",
}  # fmt: skip
"""Field of a job by flag. Flags of a type that are neither here nor below must be in the report."""
OF_TYPE: dict[str, dict[str, str | None]] = {
    "etjob": {"selector": "roles.worker.placement"},
    "deepspeedjob": {"selector": "roles.worker.placement"},
    "rayjob": {
        "gpus": None,
        "workers": None,
        "ttl-after-finished": "keepCluster",
        "active-deadline-seconds": "timeout",
        "suspend": "state",
        "ray-version": "rayVersion",
        "enable-autoscaling": "autoscaler",
        "autoscaler-idle-timeout-seconds": "autoscaler.idleTimeoutSeconds",
        "autoscaler-upscaling-mode": "autoscaler.upscalingMode",
        "head-image": "roles.head.image",
        "head-cpu": "roles.head.cpu",
        "head-memory": "roles.head.memory",
        "head-gpu": "roles.head.gpus",
        "worker-gpu": "gpus",
        "worker-replicas": "workers",
        "worker-min-replicas": "roles.worker.minReplicas",
        "worker-max-replicas": "roles.worker.maxReplicas",
        "worker-num-of-hosts": "roles.worker.numOfHosts",
    },
    "cron tfjob": {
        "schedule": "schedule.cron",
        "concurrency-policy": "schedule.concurrency",
        "history-limit": "schedule.history.failed",
        "suspend": "state",
    },
    "volcanojob": {
        "min-available": "minAvailable",
        "task-name": "roles.part-0",
        "task-images": "roles.task-0.image",
        "task-replicas": "roles.task-0.replicas",
        "task-cpu": "cpu",
        "task-memory": "memory",
    },
}
NEEDED = {
    "sync-mode": "--sync-source=https://example.com/team/code.git",
    "sync-source": "--sync-mode=git",
    "sync-image": "--sync-mode=git --sync-source=https://example.com/team/code.git",
    "tensorboard": "--data=volume:/training_logs",
    "tensorboard-image": "--tensorboard --data=volume:/training_logs",
    "logdir": "--tensorboard --data=volume:/volume",
    "ps-image": "--ps=1",
    "ps-gpus": "--ps=1",
    **{f"ps-{name}": "--ps=1" for name in ("cpu", "memory", "cpu-limit", "memory-limit", "selector")},
    **{
        f"{role}-{name}": f"--{role}"
        for role in ("chief", "evaluator")
        for name in ("cpu", "memory", "cpu-limit", "memory-limit", "selector")
    },
    "gputopology": "--gpus=1",
    **dict.fromkeys(("history-limit", "deadline"), "--schedule=@daily"),
    "concurrency-policy": "--schedule=@daily --running-timeout=1h",
    "min-available": "--task-replicas=9",
    "worker-min-replicas": "--worker-replicas=4 --enable-autoscaling",
    "worker-max-replicas": "--worker-replicas=4 --enable-autoscaling",
    "autoscaler-idle-timeout-seconds": "--worker-replicas=4 --enable-autoscaling",
    "autoscaler-upscaling-mode": "--worker-replicas=4 --enable-autoscaling",
}
"""Other flags without which a flag means nothing."""


def sample(flag: Flag) -> str:
    if flag.takes == "switch":
        return SAMPLES.get(flag.name, "true") if flag.name != "queue" else "true"
    by_end = next((value for end, value in ENDINGS.items() if flag.name.endswith(end)), "2")
    return SAMPLES.get(flag.name, by_end)


def target(kind: JobType, flag: Flag) -> str | None:
    own = OF_TYPE.get(kind.name, {})
    return own[flag.name] if flag.name in own else CARRIED.get(flag.name)


def read(kind: JobType, *words: str) -> tuple[ImportedJob | None, str]:
    """The job, and all that is reported."""
    action = kind.name if " " in kind.name else f"submit {kind.name}"
    base = "" if any(word.startswith("--name=") for word in words) else "--name=demo"
    jobs, found = imported(f"arena {action} {base} {' '.join(words)} 'run it'\n")
    return (jobs[0] if jobs else None), "\n".join(f"{item.severity.value}: {item.message}" for item in found)


def at(fields: dict[str, Any], route: str) -> Any:
    value: Any = fields
    first, _, rest = route.partition(".")
    steps = [
        first,
        *([rest] if first in ("podAnnotations", "env", "labels", "data") else rest.split(".") if rest else []),
    ]
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_the_table_has_all_flags(kind: JobType) -> None:
    assert (len({flag.name for flag in kind.flags}), len(kind.deprecated)) == COUNTS[kind.name]
    assert len(kind.flags) == len({flag.name for flag in kind.flags})
    assert set(kind.deprecated.values()) <= {flag.name for flag in kind.flags}


@pytest.mark.parametrize(
    ("kind", "flag"),
    [(kind, flag) for kind in ALL for flag in (*ROOT, *kind.flags)],
    ids=lambda value: value.name.replace(" ", "-"),
)
def test_a_flag_is_carried_or_reported(kind: JobType, flag: Flag) -> None:
    needed = NEEDED.get(flag.name, "").split()
    without, before = read(kind, *needed)
    job, report = read(kind, *needed, f"--{flag.name}='{sample(flag)}'")
    new = [line for line in report.splitlines() if line not in before.splitlines()]
    assert not [line for line in new if line.startswith("error")]
    if kind.name == "sparkjob":
        assert job is None
        assert flag.name in ("name", "namespace") or any(f"`--{flag.name}`" in line for line in new)
    elif flag.name == "name":
        assert job is not None
        assert job.name == "demo"
    elif flag.name == "namespace":
        assert job is not None
        assert job.namespace == "2"
    elif (route := target(kind, flag)) is not None:
        assert job is not None
        assert without is not None
        assert at(job.fields, route) is not None
        if flag.name not in ("sync-mode", "sync-source"):  # each is an error without the other
            assert at(job.fields, route) != at(without.fields, route)
    else:
        assert job is not None
        assert without is not None
        assert any(f"`--{flag.name}`" in line and line.startswith("warning") for line in new), report
        assert {**job.fields} == {**without.fields}


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [(kind, old, new) for kind in ALL for old, new in kind.deprecated.items()],
    ids=lambda value: getattr(value, "name", value).replace(" ", "-"),
)
def test_a_former_name_is_read_as_the_new_one(kind: JobType, old: str, new: str) -> None:
    flag = next(flag for flag in kind.flags if flag.name == new)
    needed = NEEDED.get(new, "").split()
    both = [read(kind, *needed, f"--{name}='{sample(flag)}'") for name in (old, new)]
    assert both[0][0] is not None
    assert both[1][0] is not None
    assert both[0][0].fields == both[1][0].fields
    assert both[0][1] == both[1][1]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_an_alias_is_the_type(kind: JobType) -> None:
    for alias in kind.aliases:
        jobs, _ = imported(f"arena submit {alias} --name=demo 'run'\n")
        assert [job.fields["kind"] for job in jobs] == ([kind.kind] if kind.kind else [])
