"""Finding codes for quotas, budgets and prices of namespaces."""

from __future__ import annotations

from gen.base.codes import Code

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
