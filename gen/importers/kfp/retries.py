"""Retries of steps, which a job can have as `retries`.

Argo runs the container again in a new pod up to `limit` times, after the first one (`RetryStrategy` in
`pkg/apis/workflow/v1alpha1/workflow_types.go` of argo-workflows), as a Job does up to `backoffLimit`. `retryPolicy` of
the IR becomes such a strategy: `getTaskRetryStrategyFromInput` in `backend/src/v2/compiler/argocompiler/container.go`
of kubeflow/pipelines.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from gen.kubernetes import at
from gen.regex import regex

_NUMBER: Final = regex(r"[0-9]{1,9}")
_POLICIES: Final = ("", "OnFailure", "Always")
"""Policies that retry a failed program. A Job also retries a pod that was lost."""


class Retries(Struct, frozen=True, kw_only=True):
    """The number of repetitions of a step, and fields that a job does not have."""

    limit: int = 0
    lost: tuple[str, ...] = ()
    field: str = ""
    """The field with the limit; empty for none."""


NO_RETRIES: Final = Retries()


def retries_of_template(template: Any) -> Retries:
    """Retries of a template of Argo. Without a limit, they never end."""
    strategy = at(template, "retryStrategy")
    if not strategy and strategy != {}:
        return NO_RETRIES
    limit = _number(at(strategy, "limit"))
    if limit is None or at(strategy, "expression") or at(strategy, "retryPolicy") not in (None, *_POLICIES):
        return Retries(lost=("retryStrategy",))
    lost = tuple(f"retryStrategy.{name}" for name in ("affinity", "backoff") if at(strategy, name))
    return Retries(limit=limit, lost=lost, field="retryStrategy.limit")


def retries_of_task(task: Any) -> Retries:
    """Retries of a task of the IR."""
    policy = at(task, "retryPolicy")
    if not policy:
        return NO_RETRIES
    limit = _number(at(policy, "maxRetryCount") or 0)
    if limit is None:
        return Retries(lost=("retryPolicy",))
    names = ("backoffDuration", "backoffMaxDuration")
    lost = tuple(f"retryPolicy.{name}" for name in names if limit and at(policy, name) not in (None, "", "0s"))
    return Retries(limit=limit, lost=lost, field="retryPolicy.maxRetryCount")


def _number(value: Any) -> int | None:
    return int(str(value)) if not isinstance(value, bool) and _NUMBER.fullmatch(str(value)) else None
