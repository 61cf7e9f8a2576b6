"""`backoffLimit` of each way in which a controller counts failures. `retries` of a job are restarts of all of its pods.

When one pod fails, the others usually fail with it, each of which is counted.
"""

from __future__ import annotations


def counted_failures(retries: int, pods: int) -> int:
    """For failed pods: a Job fails above the limit (`exceedsBackoffLimit` in `job_controller.go`)."""
    return retries * pods


def counted_restarts(retries: int | None, pods: int) -> int | None:
    """For restarts of containers in place: a job fails when it reaches the limit, and for 0 at the first restart.

    From `pastBackoffLimitOnFailure` in `job_controller.go` of Kubernetes 1.34, and `PastBackoffLimit` in
    `pkg/core/job.go` of the training operator 1.9. Both include init containers.
    """
    return retries * pods + 1 if retries else retries
