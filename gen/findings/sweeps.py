"""Finding codes for sweeps: jobs with several runs."""

from __future__ import annotations

from gen.findings.code import Code

INVALID_SWEEP = Code(
    "invalid-sweep",
    "A sweep has a combination twice, an entry that matches no combination, or runs that do not differ.",
    "Each combination is one run, and its values identify it.",
    "Correct the entry; the finding names the combination.",
)
SWEEP_TOO_LARGE = Code(
    "sweep-too-large",
    "A sweep has more runs than its `max`, or than `sweepRuns` of its namespace.",
    "The lists of a matrix are multiplied, and each combination requests its own GPUs.",
    "Remove values, exclude combinations, or raise the limit.",
)
SHARED_OUTPUT = Code(
    "shared-output",
    "The runs of a sweep or the trials of a search can write to the same directory of a volume, and nothing in the job "
    "contains `{{ run.id }}`.",
    "They run at the same time, so they would overwrite each other's files.",
    "Use `{{ run.id }}` in a path, or mount the volume read-only.",
)
