"""Names, labels and annotations: limits of Kubernetes and of operators, and keys reserved for gen."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from gen.diagnostics import counted, with_article
from gen.findings.files import TOO_LARGE
from gen.findings.grants import NOT_GRANTED
from gen.findings.jobs import INVALID_LABEL, NAME_TOO_LONG, POD_METADATA, RESERVED_METADATA
from gen.kubernetes import HASH_LENGTH, MAX_NAME, with_hash
from gen.model.names import LABEL_KEY, LABEL_VALUE
from gen.model.scalars import shown
from gen.queues import QUEUES
from gen.queues.metadata import is_of_controllers, is_of_pods, is_reserved
from gen.regex import regex
from gen.render.record import KFP, SCHEDULE
from gen.resources.katib import RANDOM_PART
from gen.resources.names import last_suffixes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kinds import Role
    from gen.kinds.plan import PodPlan
    from gen.render.plan.context import Context
    from gen.resources.base import Resource

TENSORBOARD = "-tensorboard"
_DIGITS = {SCHEDULE: "time", KFP: "run"}
MORE_TIME = 2
"""Digits of the time in the name of a workflow, beyond those of a hash (`workflow/cron/operator.go` of Argo)."""
VALUES_DIGITS = 8
"""Digits in the name of a run of a sweep that stand for its values, if the name cannot show all of them."""

KEYS_OF_ARENA = frozenset({"app", "release", "requestGPUsOfJobOwner", "group_name", "mpi_role_type", "volcano-role"})
"""Labels and the annotation that `compat.arena` of an overlay sets."""

_KEY = regex(LABEL_KEY)
_VALUE = regex(LABEL_VALUE)
_MAX_ANNOTATIONS = 256 << 10
_MOST_PODS = 1000
"""Pods of a role that the names of runs of a sweep leave room for."""
_MOST_INDICES = 3


def check_name(context: Context, pods: tuple[PodPlan, ...]) -> None:
    """The name of the job with its longest suffix must be a valid DNS label."""
    if not pods:
        return
    name = context.name
    route = ("name",) if context.job.name else ()
    scheduled = context.job.schedule is not None
    hashed = (context.overlay.fields.runs.naming != "stable" or bool(context.run.step)) and not scheduled
    _check_limit(context, route, hashed=hashed)
    tensorboard = bool(context.job.tensorboard)
    roles = (pod.role for pod in pods)
    # the time of a run has as many digits as a hash (`getJobName` in `pkg/controller/cronjob/utils.go`)
    suffix, room = longest_suffix(context.job.facts, roles, hashed=hashed or scheduled, tensorboard=tensorboard)
    if context.job.search is not None:
        suffix, room = f"-<trial>{suffix}", room + RANDOM_PART
    elif context.run.later or (scheduled and context.object_facts.is_workflow and suffix != TENSORBOARD):
        room += MORE_TIME
    if len(name) + room > MAX_NAME:
        digits = "-<hash>" if hashed else "-<time>" if scheduled else ""
        shown = f"`{digits if suffix != TENSORBOARD else ''}{suffix}`"
        if context.run.step:
            _report_long_step(context, suffix, len(name) + room - MAX_NAME)
            return
        which = f"the name `{name}` of a run" if context.given.values else "the name"
        message = f"{which} has {len(name)} characters and is longer than {MAX_NAME} with the suffix {shown}"
        context.error(NAME_TOO_LONG, route, message, _shorten(context, MAX_NAME - room))


def _report_long_step(context: Context, suffix: str, more: int) -> None:
    name = f"{context.run.pipeline}-<{_DIGITS.get(context.run.later, 'hash')}>-{context.run.step}"
    message = f"the object of the step is named `{name}`, which is too long with the suffix `{suffix}`"
    hint = f"shorten the name of the job or of the step by {counted(more, 'character')}"
    context.error(NAME_TOO_LONG, (), message, hint, key=True)


def _shorten(context: Context, most: int) -> str:
    """The remedy for a name of a run that is longer than `most`; that of a sweep ends with its values."""
    if context.given.values:
        return f"shorten the name of the job to at most {most - VALUES_DIGITS - 1} characters"
    return f"shorten it to at most {most} characters"


def _check_limit(context: Context, route: tuple[str, ...], *, hashed: bool) -> None:
    """Some operators limit the name of the object itself."""
    facts = context.object_facts
    most = longest_name(facts, hashed=hashed)
    if most is not None and context.run.later:
        most -= MORE_TIME
    if most is not None and len(context.name) > most:
        with_suffix = ", with the suffix `-<hash>`" if hashed else ""
        message = f"the name of {with_article(facts.kind)} has at most {facts.max_name} characters{with_suffix}"
        context.error(NAME_TOO_LONG, route, message, _shorten(context, most))


def longest_name(facts: Resource, *, hashed: bool) -> int | None:
    """The longest name of a job whose object has a limit of its own."""
    return None if facts.max_name is None else facts.max_name - (HASH_LENGTH + 1 if hashed else 0)


def longest_suffix(facts: Resource, roles: Iterable[Role], *, hashed: bool, tensorboard: bool) -> tuple[str, int]:
    """The longest suffix of a job's name without the hash, and its length with the hash."""
    room = HASH_LENGTH + 1 if hashed else 0
    derived = (_last_suffixes(facts, role.replica_type, role.indices or (role.most,)) for role in roles)
    suffixes = {suffix: room + len(suffix) for suffix in ("", *chain.from_iterable(derived))}
    if tensorboard:
        suffixes[TENSORBOARD] = len(TENSORBOARD)
    return max(suffixes.items(), key=lambda item: item[1])


@lru_cache(maxsize=1024)
def _last_suffixes(facts: Resource, role: str, counts: tuple[int, ...]) -> tuple[str, ...]:
    """`last_suffixes`, once for all jobs with roles of these sizes."""
    return tuple(last_suffixes(facts, role, *counts))


def longest_run_suffix(facts: Resource, roles: Iterable[str], *, hashed: bool) -> int:
    """The length of the longest suffix that a run of this kind can have, with its hash."""
    names = [*roles, "worker"]
    derived = (last_suffixes(facts, role, *(_MOST_PODS for _ in range(_MOST_INDICES))) for role in names)
    return (HASH_LENGTH + 1 if hashed else 0) + max(map(len, ("", *chain.from_iterable(derived))))


def check_metadata(context: Context) -> None:
    """Labels and annotations of the job's objects."""
    _check_labels(context, ("labels",), context.job.labels)
    _check_annotations(context, ("annotations",), context.job.annotations)


def check_pod_metadata(context: Context, role: Role) -> None:
    """Labels and annotations of a role's pods."""
    _check_labels(context, context.route_of(role, "pod_labels"), context.of_role(role, "pod_labels"))
    _check_annotations(context, context.route_of(role, "pod_annotations"), context.of_role(role, "pod_annotations"))


def _check_labels(context: Context, route: tuple[str, ...], values: Mapping[str, str]) -> None:
    _check_keys(context, route, values)
    for key, value in values.items():
        if not _VALUE.fullmatch(with_hash(value)):
            field = "podAnnotations" if route[-1] == "podLabels" else "annotations"
            hint = f"use at most 63 letters, digits, `-`, `_` and `.`, or move it to `{field}`"
            context.error(INVALID_LABEL, (*route, key), f"{shown(value)} is not a valid label value", hint)


def _check_annotations(context: Context, route: tuple[str, ...], values: Mapping[str, str]) -> None:
    _check_keys(context, route, values)
    if (size := sum(len(key.encode()) + len(value.encode()) for key, value in values.items())) > _MAX_ANNOTATIONS:
        message = f"the {route[-1]} have {size} bytes in total; the maximum is {_MAX_ANNOTATIONS}"
        context.error(TOO_LARGE, route, message, "keep long texts in `files`")


def _check_keys(context: Context, route: tuple[str, ...], values: Mapping[str, str]) -> None:
    """In a job file, keys with a prefix need a grant, because networks and schedulers act on them."""
    for key in values:
        if is_reserved(key):
            hint = "remove it; a field of the job or the overlay controls it"
            context.error(RESERVED_METADATA, (*route, key), f"a job cannot set `{key}`", hint, key=True)
        elif key in KEYS_OF_ARENA and context.overlay.fields.compat.arena and context.job.arena:
            message = f"a job cannot set `{key}` in overlay `{context.overlay.name}`, which sets it for Arena"
            context.error(RESERVED_METADATA, (*route, key), message, "use another key", key=True)
        elif is_of_controllers(key) and context.set_by_job((*route, key)):
            queue = any(model.acts_on(key) for model in QUEUES.values())
            hint = "remove it, and set `queue`" if queue else "use another key"
            hint += "; only `defaults` of the overlay can set this one"
            message = f"a job cannot set `{key}`, because schedulers or controllers act on it"
            context.error(RESERVED_METADATA, (*route, key), message, hint, key=True)
        elif not _KEY.fullmatch(key):
            hint = "use a form like `team` or `example.com/team`"
            context.error(INVALID_LABEL, (*route, key), f"{shown(key)} is not a valid key", hint, key=True)
        elif is_of_pods(key) and route[-1] in ("labels", "annotations"):
            hint = f"move it to `pod{route[-1].capitalize()}`"
            message = f"`{key}` only affects pods, and `{route[-1]}` are not set on them"
            context.error(POD_METADATA, (*route, key), message, hint, key=True)
        elif "/" in key and context.set_by_job((*route, key)) and not _is_granted(context, key):
            namespace, overlay = context.given.namespace, context.overlay.name
            hint = f"add it to `namespaces.{namespace}.metadata` of the overlay, or use a key without a prefix"
            message = f"namespace `{namespace}` may not set `{key}` in overlay `{overlay}`"
            context.error(NOT_GRANTED, (*route, key), message, hint, key=True)


def _is_granted(context: Context, key: str) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in context.grant.metadata)
