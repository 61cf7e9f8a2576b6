"""Finding codes for what an overlay grants: namespaces, queues, volumes and GPUs, their quotas, budgets and prices."""

from __future__ import annotations

from gen.base.codes import Code

_GRANTED = "Access to shared resources is decided by the owners of the overlay."
_NOT_IN_CLUSTER = "The job would wait for something that does not exist in the cluster."

UNKNOWN_NAMESPACE = Code(
    "unknown-namespace",
    "The overlay does not grant the namespace that the folder of a job is named after.",
    _GRANTED,
    "Add it to `namespaces` in the overlay, move the file, or exclude it in `select`.",
)
UNKNOWN_VOLUME = Code(
    "unknown-volume",
    "A job uses a volume that the overlay does not define.",
    _NOT_IN_CLUSTER,
    "Correct the name, or add the volume to the overlay.",
)
UNKNOWN_STORE = Code(
    "unknown-store",
    "A job copies from or to an object store that the overlay does not define.",
    "gen would not know its address, bucket and credentials.",
    "Correct the name, or add the object store to the overlay.",
)
UNKNOWN_NETWORK = Code(
    "unknown-network",
    "A job uses a network that the overlay does not define.",
    _NOT_IN_CLUSTER,
    "Correct the name, or add the network to the overlay.",
)
UNKNOWN_ACCELERATOR = Code(
    "unknown-accelerator",
    "A job requests an accelerator that the overlay does not define.",
    _NOT_IN_CLUSTER,
    "Correct the name, or add the accelerator to the overlay.",
)
UNKNOWN_RUNTIME = Code(
    "unknown-runtime",
    "A job uses a runtime of the Kubeflow Trainer that the overlay does not declare.",
    "A runtime decides images, pods and devices of a job, and quotas could not count them.",
    "Correct the name, or add the runtime to `runtimes` in the overlay, or its definition to the folder `runtimes/`.",
)
NO_PIPELINES = Code(
    "no-pipelines",
    "A job is a pipeline, and the overlay has no `pipelines` for it.",
    "A pipeline needs Argo Workflows or Kubeflow Pipelines in the cluster, and an account that may create objects.",
    "Add `pipelines` to the overlay, or exclude the job in `select`.",
)
UNSUPPORTED_QUEUE = Code(
    "unsupported-queue",
    "The scheduler of a queue cannot take a kind of job.",
    "It would ignore the run, which would start at once, or never start it.",
    "Use a queue of another scheduler, or remove `queue`.",
)
UNKNOWN_QUEUE = Code(
    "unknown-queue", "A job uses a queue that its namespace is not granted.", _GRANTED, "Correct the name."
)
UNKNOWN_PRIORITY = Code(
    "unknown-priority", "A job uses a priority that its namespace is not granted.", _GRANTED, "Correct the name."
)
UNKNOWN_SERVICE_ACCOUNT = Code(
    "unknown-service-account",
    "A job uses a service account that its namespace is not granted.",
    _GRANTED,
    "Correct the name.",
)
NOT_GRANTED = Code(
    "not-granted",
    "A job uses volumes, object stores or their Secrets, networks, accelerators, runtimes, image registries, metadata, "
    "node labels, taints or host access that its namespace is not granted.",
    _GRANTED,
    "Use only granted resources, or ask the owners of the overlay to extend `namespaces`.",
)

OVER_QUOTA = Code(
    "over-quota",
    "The active jobs of a namespace request more GPUs or pods than its quota.",
    "Some jobs would wait for the others.",
    "End runs with `gen stop JOB`, or suspend them with `gen suspend JOB`, or raise the quota in the overlay.",
)
OVER_BUDGET = Code(
    "over-budget",
    "The active jobs of a namespace can cost more in a month than its budget.",
    "The budget is decided by the owners of the overlay. Costs are upper bounds: a run without a time limit counts for "
    "the whole month. A change that does not raise the costs is a warning only.",
    "Lower `timeout`, `gpus` or `workers`, stop or suspend some jobs, or raise `budget` in the overlay.",
)
UNKNOWN_COST = Code(
    "unknown-cost",
    "The active jobs of a namespace with a budget use devices without a price.",
    "The budget does not count them.",
    "Declare the devices under `accelerators` with their `price`.",
)

OF_OVERLAY = (
    *(UNKNOWN_VOLUME, UNKNOWN_NETWORK, UNKNOWN_QUEUE, UNKNOWN_PRIORITY, UNKNOWN_SERVICE_ACCOUNT),
    *(UNKNOWN_NAMESPACE, UNKNOWN_RUNTIME, NOT_GRANTED),
)
"""Codes about names that a job uses and one overlay lacks, independently of its other fields."""
