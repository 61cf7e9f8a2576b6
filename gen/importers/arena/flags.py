"""Every flag of `arena submit`, by job type (kubeflow/arena 0.15.5, `pkg/argsbuilder`)."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Takes = Literal["text", "list", "switch"]


class Flag(Struct, frozen=True):
    name: str
    takes: Takes = "text"
    short: str = ""


class JobType(Struct, frozen=True, kw_only=True):
    """A subcommand of `arena submit`."""

    name: str
    aliases: tuple[str, ...]
    kind: str
    """Kind of gen; empty if there is none."""
    flags: tuple[Flag, ...]
    deprecated: dict[str, str]
    """Former names of flags."""


def _flags(text: str = "", lists: str = "", switches: str = "") -> tuple[Flag, ...]:
    return (
        *(Flag(name) for name in text.split()),
        *(Flag(name, "list") for name in lists.split()),
        *(Flag(name, "switch") for name in switches.split()),
    )


ROOT: Final = (
    *_flags("loglevel arena-namespace config", switches="pprof trace helm-binary"),
    Flag("namespace", short="n"),
)
"""Flags of all commands."""

_COMMON: Final = (
    *_flags("name image gpus workers retry working-dir image-pull-policy shell scheduler model-name model-source"),
    *_flags(lists="device data-dir toleration selector config-file image-pull-secret"),
    *_flags(switches="rdma gang queue hostNetwork hostIPC hostPID"),
    Flag("env", "list", "e"),
    Flag("data", "list", "d"),
    Flag("annotation", "list", "a"),
    Flag("label", "list", "l"),
    Flag("priority", short="p"),
    *_flags("sync-mode sync-source sync-image"),
    *_flags("tensorboard-image logdir", switches="tensorboard"),
)
_COMMON_DEPRECATED: Final = {
    "workingDir": "working-dir",
    "dataDir": "data-dir",
    "syncMode": "sync-mode",
    "syncSource": "sync-source",
    "syncImage": "sync-image",
    "tensorboardImage": "tensorboard-image",
}
_TF: Final = (
    *_flags("worker-image ps-image ps worker-port ps-port chief-port"),
    *_flags("worker-cpu worker-memory ps-cpu ps-memory chief-cpu chief-memory evaluator-cpu evaluator-memory"),
    *_flags("worker-cpu-limit worker-memory-limit ps-cpu-limit ps-memory-limit chief-cpu-limit chief-memory-limit"),
    *_flags("evaluator-cpu-limit evaluator-memory-limit ps-gpus worker-affinity-policy ps-affinity-policy"),
    *_flags("worker-affinity-constraint ps-affinity-constraint success-policy clean-task-policy running-timeout"),
    *_flags("starting-timeout ttl-after-finished role-sequence share-memory", switches="chief evaluator"),
    *_flags(lists="worker-selector ps-selector chief-selector evaluator-selector"),
)
_TF_DEPRECATED: Final = {
    "workerImage": "worker-image",
    "psImage": "ps-image",
    "psPort": "ps-port",
    "workerPort": "worker-port",
    "workerCpu": "worker-cpu",
    "workerMemory": "worker-memory",
    "psCpu": "ps-cpu",
    "psMemory": "ps-memory",
    "cleanTaskPolicy": "clean-task-policy",
    "ChiefCpu": "chief-cpu",
    "ChiefMemory": "chief-memory",
    "evaluatorCpu": "evaluator-cpu",
    "evaluatorMemory": "evaluator-memory",
    "chiefPort": "chief-port",
}
_CRON: Final = _flags("schedule concurrency-policy deadline history-limit", switches="suspend")
_PYTORCH: Final = _flags("clean-task-policy cpu memory running-timeout ttl-after-finished share-memory nproc-per-node")
_MPI: Final = _flags("cpu memory clean-task-policy", switches="gputopology mounts-on-launcher")
_DEEPSPEED: Final = _flags(
    "cpu memory job-restart-policy job-backoff-limit ssh-secret",
    lists="launcher-selector launcher-annotation worker-annotation",
)
_ET: Final = (
    *_DEEPSPEED,
    *_flags("max-workers min-workers max-wait-time worker-restart-policy", switches="spot-instance"),
)
_HOROVOD: Final = _flags("ssh-port cpu memory")
_RAY: Final = (
    *_flags("ttl-after-finished active-deadline-seconds share-memory ray-version pre-stop-command"),
    *_flags("autoscaler-cpu autoscaler-memory autoscaler-image autoscaler-image-pull-policy"),
    *_flags("autoscaler-idle-timeout-seconds autoscaler-upscaling-mode"),
    *_flags("head-image head-cpu head-memory head-gpu head-service-type"),
    *_flags("worker-image worker-cpu worker-memory worker-gpu"),
    *_flags("worker-replicas worker-min-replicas worker-max-replicas worker-num-of-hosts"),
    *_flags(switches="shutdown-after-finished suspend enable-autoscaling"),
)
_METADATA: Final = (Flag("annotation", "list", "a"), Flag("label", "list", "l"))
_SPARK: Final = (
    *_flags("name image replicas main-class jar spark-version driver-cpu-request driver-memory-request"),
    *_flags("driver-service-account executor-cpu-request executor-memory-request"),
    *_METADATA,
)
_VOLCANO: Final = (
    *_flags("name min-available queue scheduler-name task-name task-images task-replicas task-cpu task-memory"),
    *_flags("task-port"),
    *_METADATA,
)
_VOLCANO_DEPRECATED: Final = {
    "minAvailable": "min-available",
    "schedulerName": "scheduler-name",
    "taskName": "task-name",
    "taskImages": "task-images",
    "taskReplicas": "task-replicas",
    "taskCPU": "task-cpu",
    "taskMemory": "task-memory",
    "taskPort": "task-port",
}


def _training(name: str, aliases: str, kind: str, own: tuple[Flag, ...], **deprecated: str) -> JobType:
    return JobType(
        name=name,
        aliases=tuple(aliases.split()),
        kind=kind,
        flags=(*_COMMON, *own),
        deprecated={**_COMMON_DEPRECATED, **deprecated},
    )


TYPES: Final = (
    _training("tfjob", "tf", "tensorflow", _TF, **_TF_DEPRECATED),
    _training("pytorchjob", "pytorch", "pytorch", _PYTORCH),
    _training("mpijob", "mpi mj", "mpi", _MPI),
    _training("etjob", "et", "mpi", _ET),
    _training("deepspeedjob", "dp", "mpi", _DEEPSPEED),
    _training("horovodjob", "horovod hj", "mpi", _HOROVOD),
    _training("rayjob", "rj", "ray", _RAY),
    JobType(name="sparkjob", aliases=("spark",), kind="", flags=_SPARK, deprecated={}),
    JobType(name="volcanojob", aliases=("vj",), kind="volcano", flags=_VOLCANO, deprecated=_VOLCANO_DEPRECATED),
)
CRON: Final = _training("cron tfjob", "", "tensorflow", (*_TF, *_CRON), **_TF_DEPRECATED)
"""`arena cron tfjob`."""
BY_NAME: Final = {name: one for one in TYPES for name in (one.name, *one.aliases)}
