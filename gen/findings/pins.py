"""Finding codes for pins: digests of images and commits of code."""

from __future__ import annotations

from gen.findings.code import Code

MUTABLE_REF = Code(
    "mutable-ref",
    "A job has an image without a digest, or code of a branch or tag, and no pin for it, in an overlay with `pins`.",
    "Pods of one run that start at different times can get different content, and the run cannot be repeated.",
    "Run `gen pin JOB`, or write the digest or the full commit hash into the job.",
)
INVALID_LOCK = Code(
    "invalid-lock",
    "The lock of a job has a value that is not a pin: another image, a digest or commit of a wrong form, or an unknown "
    "field.",
    "A lock contains the digests and commits of its job. It cannot choose another image.",
    "Run `gen pin JOB`, which writes the lock.",
)
UNUSED_PIN = Code(
    "unused-pin",
    "The lock of a job pins an image, or a ref of a repository, that the job does not have in any overlay.",
    "It has no effect, and a reviewer would trust it.",
    "Run `gen pin JOB`, which removes it.",
)
LOCK_WITHOUT_JOB = Code(
    "lock-without-job",
    "A lock has no job file with its name in the same folder.",
    "It has no effect. A job that gets this name later would have the pins.",
    "Remove the lock, or rename it with its job.",
)
