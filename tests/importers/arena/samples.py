"""A value of each flag of Arena, and the field that it becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.importers.arena.submission import Flag, JobType

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
        "hostNetwork": None,
        "rdma": None,
        "gang": None,
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
        "task-images": "image",
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
