"""Finding codes for commands that read clusters."""

from __future__ import annotations

from gen.base.codes import Code

_BESIDE = "The answers of other clusters, namespaces and kinds are shown, too."

CLUSTER_UNREACHABLE = Code(
    "cluster-unreachable",
    "A cluster does not answer: the connection fails, or its certificate is not valid for it.",
    f"The state of its runs is unknown. {_BESIDE}",
    "Check the network, the VPN, and `server` of the context in the kubeconfig file.",
)
CLUSTER_TIMEOUT = Code(
    "cluster-timeout",
    "A cluster accepts the connection, but does not answer in time.",
    f"The state of its runs is unknown. {_BESIDE}",
    "Run the command again, or raise `--request-timeout`.",
)
CLUSTER_LOGIN = Code(
    "cluster-login",
    "A cluster does not accept the credentials of the context, or there are none.",
    f"The state of its runs is unknown. {_BESIDE}",
    "Log in as for kubectl, and run the command again.",
)
CLUSTER_FORBIDDEN = Code(
    "cluster-forbidden",
    "The user of the context is not permitted to read a resource.",
    f"A part of the state is unknown. {_BESIDE}",
    "Grant the user the permissions in docs/live.md, in the namespaces of the jobs.",
)
CLUSTER_ANSWER = Code(
    "cluster-answer",
    "A cluster answers with an error that is none of the others.",
    f"A part of the state is unknown. {_BESIDE}",
    "Run the command again. If the error stays, look for it in the logs of the API server.",
)
CLUSTER_CONTEXT = Code(
    "cluster-context",
    "The cluster of an overlay is not known: no context is set, or the kubeconfig file does not have it.",
    "gen does not guess a context if the command reads several overlays.",
    "Set `cluster: {context: NAME}` in the overlay, or pass `--context OVERLAY=NAME`.",
)
NOT_SERVED = Code(
    "not-served",
    "A cluster does not serve the API version of a rendered run: the definition of its kind is not installed.",
    "GitOps engines cannot apply the run.",
    "Install the operator of the kind, or set its API version in `operators` of the overlay.",
)
DRIFT = Code(
    "drift",
    "A run in the cluster differs from its file in fields that the file sets.",
    "Somebody edited the object, or a webhook or a controller changed it, and the run does not compute the result "
    "of its file.",
    "Delete the object so that the engine creates it again, or change the job so that it is a new run.",
)
NOT_RETIRED = Code(
    "not-retired",
    "A run has ended, but `gen retire` leaves its job as it is.",
    "`state: finished` holds for all runs of a job, in all overlays.",
    "Wait for the other runs, run `gen render` if `rendered/` is stale, or set the state with `gen set`.",
)
NO_LOGS = Code(
    "no-logs",
    "A container of a job has no log: it has not started, its pod was deleted, or its node does not answer.",
    "Logs are on the nodes, and are deleted with their pods.",
    "Run `gen status JOB` to see why no container has started; keep logs in a volume or a logging system.",
)
NO_TENSORBOARD = Code(
    "no-tensorboard",
    "No pod of the TensorBoard of a job is ready.",
    "TensorBoard runs in a pod of its own, which reads the volume with the logs.",
    "Set `tensorboard: true` in the job, or see why its pod does not start with `kubectl describe`.",
)
