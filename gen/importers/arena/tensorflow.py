"""Flags of `tfjob`: roles with resources, images and selectors of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.importers.arena.common import FINISHED, OPERATOR, common, duration, gpus
from gen.importers.arena.pods import shared_memory
from gen.importers.arena.scheduling import placement

if TYPE_CHECKING:
    from gen.importers.arena.draft import Draft


_ACCOUNT: Final = "gen-pipeline"
"""ServiceAccount of the workflows that start the runs of a schedule."""


def tensorflow(draft: Draft) -> None:
    given = draft.given
    common(draft)
    roles = [name for name in ("chief", "evaluator") if given.on(name)]
    servers = given.text("ps") not in ("", "0")
    draft.carry("workers", "workers")
    gpus(draft)
    draft.carry("worker-image" if given.last("worker-image") else "image", "image")
    given.every("image")
    for role in roles:
        draft.set({}, "roles", role, place=given.place_of(role))
    memories = _tensorflow_resources(draft, "worker", () if not roles else ("roles", "worker"))
    for role in ("chief", "evaluator"):
        if role in roles:
            memories += _tensorflow_resources(draft, role, ("roles", role))
        else:
            _lose_role(draft, role, f"--{role}")
    if servers:
        draft.carry("ps", "roles", "ps", "replicas")
        image = given.text("ps-image") or given.text("image")
        if image and image != draft.fields.get("image"):
            draft.carry("ps-image" if given.last("ps-image") else "image", "roles", "ps", "image")
        if given.text("ps-gpus") != "0":
            draft.carry("ps-gpus", "roles", "ps", "gpus")
        _tensorflow_resources(draft, "ps", ("roles", "ps"))
    else:
        _lose_role(draft, "ps", "--ps", "ps-image", "ps-gpus")
    _tensorflow_placement(draft, [*roles, *(["ps"] if servers else [])])
    shared_memory(draft, "share-memory", memories)
    if given.text("retry") != "0":
        draft.carry("retry", "retries")
    _tensorflow_policies(draft, chief="chief" in roles)
    _cron(draft)


def _tensorflow_resources(draft: Draft, role: str, route: tuple[str, ...]) -> list[str]:
    """CPU and memory. gen sets a request and an equal limit; without a request, Kubernetes takes the limit for it."""
    memories = []
    for resource in ("cpu", "memory"):
        flag, limit = f"{role}-{resource}", f"{role}-{resource}-limit"
        if draft.given.last(flag) is None:
            draft.carry(limit, *route, resource)
        else:
            draft.carry(flag, *route, resource)
            if draft.given.text(limit) != draft.given.text(flag):
                draft.lose(
                    limit, f"the limit is the request, `{draft.given.text(flag)}`", f"raise `{resource}` if needed"
                )
    memories += [draft.given.text(f"{role}-memory") or draft.given.text(f"{role}-memory-limit")]
    return memories


def _lose_role(draft: Draft, role: str, switch: str, *more: str) -> None:
    names = ("cpu", "memory", "cpu-limit", "memory-limit")
    for flag in (*(f"{role}-{name}" for name in names), *more):
        draft.lose(flag, f"the job has no role `{role}`", f"add `{switch}`, or remove it")


def _tensorflow_placement(draft: Draft, roles: list[str]) -> None:
    own = {role: f"{role}-selector" for role in ("worker", *roles) if draft.given.last(f"{role}-selector")}
    if len(own) == len(roles) + 1 and draft.given.every("selector"):
        draft.lose("selector", "every role has a selector of its own", "remove it")
        draft.given.values.pop("selector")
    placement(draft, own, every=("worker", *roles))
    for role in ("ps", "chief", "evaluator"):
        if role not in roles:
            draft.lose(f"{role}-selector", f"the job has no role `{role}`", "remove it")


def _tensorflow_policies(draft: Draft, *, chief: bool) -> None:
    given = draft.given
    draft.carry("clean-task-policy", "cleanup")
    duration(draft, "running-timeout", "timeout")
    policy = given.text("success-policy")
    if policy == "AllWorkers" and chief:
        draft.lose("success-policy", "the job ends with its chief", "remove it")
    elif policy != "ChiefWorker":
        draft.carry("success-policy", "successPolicy")
    draft.lose("ttl-after-finished", "the run would start again", FINISHED)
    draft.lose("starting-timeout", "no version of TFJob that gen renders has it", "set `timeout` instead")
    draft.lose("role-sequence", "the operator starts all roles together", "remove it")
    for flag in ("worker-port", "ps-port", "chief-port"):
        draft.lose(flag, "`TF_CONFIG` has the addresses of all pods", OPERATOR)
    hint = "use `placement`; the platform owner can set an affinity with `patches` of the overlay"
    for role in ("worker", "ps"):
        for flag in (f"{role}-affinity-policy", f"{role}-affinity-constraint"):
            draft.lose(flag, "a job has no affinities", hint)


def _cron(draft: Draft) -> None:
    """A schedule. Its runs may overlap by default, for which a job needs a time limit."""
    given = draft.given
    if given.on("suspend"):
        draft.set("suspended", "state", place=given.place_of("suspend"))
    if given.last("schedule") is None:
        for flag in ("concurrency-policy", "history-limit", "deadline"):
            draft.lose(flag, "the command has no schedule", "add `--schedule`")
        return
    draft.carry("schedule", "schedule", "cron")
    policy = given.text("concurrency-policy") or "Allow"
    if policy == "Allow" and "timeout" not in draft.fields:
        hint = "set `timeout`, and `concurrency: Allow` of `schedule`"
        draft.drop(given.place, "the policy `Allow`", "runs that overlap need a time limit", hint)
    elif policy != "Forbid":
        draft.set(policy, "schedule", "concurrency", place=given.place)
    given.every("concurrency-policy")
    if given.last("history-limit") is not None:
        for state in ("succeeded", "failed"):
            draft.set(given.text("history-limit"), "schedule", "history", state, place=given.place_of("history-limit"))
        given.every("history-limit")
    draft.lose("deadline", "a schedule has no end", "remove the job at that time")
    draft.need({"argo": {"serviceAccount": _ACCOUNT}}, "pipelines")
