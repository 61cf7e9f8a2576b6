"""Arrays: the pods of a Job as tasks that do not know each other.

`backoffLimitPerIndex` is stable since Kubernetes 1.33 and on by default since 1.29 (documentation of Kubernetes,
"Backoff limit per index").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gen.kinds.base import Problem
from gen.kubernetes import Body, at, present
from gen.model.base import Model
from gen.model.scalars import Count, Positive

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kinds.indexed import IndexedJob


class TaskArray(Model):
    """How the tasks of an array run."""

    main: ClassVar[str] = "parallel"

    parallel: Positive | None = None
    """Most tasks at the same time. Quotas count these. Defaults to all."""
    max_failed: Count | None = None
    """Failed tasks that the job survives; with more it stops. Defaults to any number: the other tasks go on, and the
    job fails at the end."""


def tasks_at_once(job: IndexedJob, array: TaskArray) -> int:
    return min(array.parallel or job.workers, job.workers)


def task_counts(job: IndexedJob, array: TaskArray, retries: int | None) -> Body:
    """Fields of the Job. A failed task is tried again, and others are not touched."""
    return present(
        completions=job.workers,
        parallelism=tasks_at_once(job, array),
        backoffLimitPerIndex=retries or 0,
        maxFailedIndexes=array.max_failed,
    )


def counts_of_tasks(spec: Body) -> Mapping[str, Any]:
    """The fields that give an indexed Job its `task_counts`; none for pods that share their retries."""
    names = ("completions", "backoffLimitPerIndex", "parallelism", "maxFailedIndexes")
    tasks, retries, parallel, failed = (value if type(value := spec.get(name)) is int else None for name in names)
    never = at(spec, "template", "spec", "restartPolicy") == "Never"
    if spec.get("completionMode") != "Indexed" or tasks is None or retries is None or not never:
        return {}
    fewer = parallel if parallel is not None and 0 < parallel < tasks else None
    limits = present(parallel=fewer, maxFailed=failed)
    return {"workers": tasks, "array": limits or True, "retries": retries or None}


def array_problems(job: IndexedJob, array: TaskArray) -> Iterable[Problem]:
    if job.search is not None:
        message = "a trial of a `search` cannot be an array: Katib reads the metrics of one pod"
        yield Problem(("array",), message, "remove `array` or `search`", key=True)
    if job.restart == "OnFailure":
        message = "`array` requires `restart: Never`, because a restarted container is not a new attempt of its task"
        yield Problem(("restart",), message, "remove `restart`")
    if array.parallel is not None and array.parallel >= job.workers:
        message = f"`parallel` has no effect: the array has {job.workers} tasks"
        yield Problem(("array", "parallel"), message, "remove it, or increase `workers`", no_effect=True)
    if array.max_failed is not None and array.max_failed >= job.workers:
        message = f"`maxFailed` has no effect: the array has {job.workers} tasks"
        yield Problem(("array", "maxFailed"), message, "use a smaller number, or remove it", no_effect=True)
    if "master_port" in job.model_fields_set:
        message = "`masterPort` has no effect: the tasks of an array do not meet"
        yield Problem(("masterPort",), message, "remove `masterPort` or `array`", no_effect=True)
