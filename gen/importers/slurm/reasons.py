"""Options of Slurm without a field, each with the reason and the remedy."""

from __future__ import annotations

from typing import Final

_LOGS: Final = ("the cluster keeps the logs", "read them with `kubectl logs`, or redirect the output in `command`")
_MAIL: Final = ("gen sends no messages", "set up notifications of Argo CD or Flux")
_NODES: Final = ("jobs do not name nodes", "set `placement.nodeSelector` of the job to labels that the overlay grants")
_START: Final = ("jobs start on their own", "keep `state: suspended` until the job may start")
_CPUS: Final = ("Kubernetes has no field for it", "ask the platform owner about CPU and topology policies of the nodes")
_PRIORITY: Final = ("it is not a PriorityClass", "set `priority` to a PriorityClass that the overlay grants")
_CLIENT: Final = ("it concerns the client of Slurm", "remove it")
REASONS: Final[dict[str, tuple[str, str]]] = {
    **dict.fromkeys(("output", "error", "input", "open-mode", "label", "unbuffered"), _LOGS),
    **dict.fromkeys(("mail-type", "mail-user"), _MAIL),
    **dict.fromkeys(("nodelist", "exclude", "nodefile", "constraint", "cluster-constraint", "switches"), _NODES),
    **dict.fromkeys(("dependency", "begin", "hold", "deadline"), _START),
    **dict.fromkeys(
        ("cpu-bind", "mem-bind", "distribution", "extra-node-info", "hint", "core-spec", "threads-per-core"), _CPUS
    ),
    **dict.fromkeys(
        ("sockets-per-node", "cores-per-socket", "gpu-bind", "cpu-freq", "contiguous", "thread-spec"), _CPUS
    ),
    **dict.fromkeys(("ntasks-per-socket", "ntasks-per-core", "ntasks-per-gpu", "gpus-per-socket", "gpu-freq"), _CPUS),
    **dict.fromkeys(
        ("quiet", "verbose", "parsable", "wait", "wrap", "wait-all-nodes", "test-only", "mpi", "kill-on-bad-exit"),
        _CLIENT,
    ),
    "qos": ("a quality of service is not a PriorityClass", "set `priority` to a PriorityClass that the overlay grants"),
    "nice": (
        "a quality of service is not a PriorityClass",
        "set `priority` to a PriorityClass that the overlay grants",
    ),
    "exclusive": ("a pod shares its node", "request all GPUs or the memory of a node"),
    "oversubscribe": ("a pod requests its resources", "remove it"),
    "reservation": ("a cluster has no reservations", "use a queue of the overlay"),
    "licenses": ("a cluster has no licenses", "use a queue of the overlay with a quota for them"),
    "signal": ("a pod gets SIGTERM at its end", "save checkpoints on SIGTERM"),
    "tmp": ("a pod has no scratch disk of its own", "mount a volume of the overlay with `data`"),
    "clusters": ("an overlay is one cluster", "choose the overlay with `clusters` of the job"),
    "export-file": ("gen reads no files that a script names", "write the variables as `env`"),
    "no-kill": ("an operator decides about failed nodes", "use `elastic` of `kind: pytorch`"),
    "comment": ("a job has no description", "write it as a comment into the job file"),
    "wckey": ("a job has no accounting key", "set `labels` of the job"),
    "container-name": ("a pod has one image", "set `image` of the job"),
    "container-writable": ("the file system of a container is writable", "remove it"),
    "container-mount-home": ("a container has no home of the user", "mount a volume of the overlay with `data`"),
}
"""Options that no field has: the reason and the remedy."""
HANDLED: Final = frozenset(
    {"account", "array", "chdir", "container-image", "container-mounts", "container-workdir", "cpus-per-gpu"}
    | {"cpus-per-task", "export", "gpus", "gpus-per-node", "gpus-per-task", "gres", "job-name", "mem", "mem-per-cpu"}
    | {
        "mem-per-gpu",
        "no-requeue",
        "nodes",
        "ntasks",
        "ntasks-per-node",
        "partition",
        "requeue",
        "tasks-per-node",
        "time",
    }
)
"""Options that fields have."""
