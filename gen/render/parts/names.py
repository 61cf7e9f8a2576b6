"""Names of runs: the limits of Kubernetes and of operators, and the names of the runs of a sweep.

A run of a sweep is named after its job and the values of its parameters. Its name depends only on its own values, so
other combinations never rename it. A value that a name cannot show, or that another value could be shown as, gets
digits of its hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain

import orjson

from gen.base import counted, regex
from gen.base.codes.jobs import NAME_TOO_LONG
from gen.base.placeholders import HASH_LENGTH
from gen.job.kinds.role import Role
from gen.job.plan import PodPlan, StarterPlan
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.pods import last_suffixes
from gen.kubernetes.objects import MAX_NAME
from gen.render.parts.context import Context

TENSORBOARD = "-tensorboard"
VALUES_DIGITS = 8
"""Digits of the hash of the values in the name of a run of a sweep, if the name cannot show all values."""
_MOST_PODS = 1000
"""Pods of a role that the names of runs of a sweep leave room for."""
_MOST_INDICES = 3
_EXACT = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DECIMAL = regex(r"[0-9]+\.[0-9]+")
_LIKE_A_DECIMAL = regex(r"[0-9]+p[0-9]+")
_OTHER = regex(r"[^a-z0-9]+")
_MOST_OF_A_VALUE = 16
_VALUE_DIGITS = 4
_SHORTEST = 3
"""Characters of the values that are worth showing."""
MORE_TIME = 2
"""Digits of the time in the name of a workflow, beyond those of a hash (`workflow/cron/operator.go` of Argo)."""


def check_name(context: Context, pods: tuple[PodPlan, ...]) -> None:
    """The name of the job with its longest suffix must be a valid DNS label."""
    if not pods:
        return
    name = context.name
    route = ("name",) if context.job.name else ()
    starter = context.starter
    hashed = (context.overlay.fields.runs.naming != "stable" or bool(context.run.step)) and not starter.repeats
    _check_limit(context, route, hashed=hashed)
    tensorboard = bool(context.job.tensorboard)
    roles = (pod.role for pod in pods)
    # the time of a run has as many digits as a hash (`getJobName` in `pkg/controller/cronjob/utils.go`)
    suffix, room = longest_suffix(context.job.facts, roles, hashed=hashed or starter.repeats, tensorboard=tensorboard)
    suffix, room = starter.suffix(suffix, room, aside=suffix == TENSORBOARD)
    if context.run.later is not None:
        room += MORE_TIME
    if len(name) + room > MAX_NAME:
        digits = f"-<{starter.digits}>" if hashed or starter.repeats else ""
        shown = f"`{digits if suffix != TENSORBOARD else ''}{suffix}`"
        if context.run.step:
            _report_long_step(context, suffix, len(name) + room - MAX_NAME)
            return
        which = f"the name `{name}` of a run" if context.given.values else "the name"
        message = f"{which} has {len(name)} characters and is longer than {MAX_NAME} with the suffix {shown}"
        context.error(NAME_TOO_LONG, route, message, _shorten(context, MAX_NAME - room))


def _report_long_step(context: Context, suffix: str, more: int) -> None:
    digits = (context.run.later or context.starter).digits
    name = f"{context.run.pipeline}-<{digits}>-{context.run.step}"
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
    if most is not None and context.run.later is not None:
        most -= MORE_TIME
    if most is not None and len(context.name) > most:
        with_suffix = ", with the suffix `-<hash>`" if hashed else ""
        message = f"the name of {facts.noun} has at most {facts.max_name} characters{with_suffix}"
        context.error(NAME_TOO_LONG, route, message, _shorten(context, most))


def longest_name(facts: Resource, *, hashed: bool) -> int | None:
    """The longest name of a job, if its object has a limit of its own."""
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


def most_characters(
    facts: Resource, roles: Iterable[str], starter: type[StarterPlan] = StarterPlan, *, hashed: bool
) -> int:
    """The longest name of a run of this kind without its hash."""
    stable = starter.repeats or not hashed
    room = MAX_NAME - longest_run_suffix(facts, roles, hashed=hashed or starter.repeats)
    if stable:
        room = min(room, MAX_NAME - len(TENSORBOARD))
    room -= starter.run_digits
    return min(room, longest_name(starter.resource(facts), hashed=not stable) or room)


def run_name(job: str, values: Mapping[str, str], most: int) -> str:
    """The name of a run without its hash, of at most so many characters if the name of the job allows it."""
    keys = {key: _OTHER.sub("-", key.lower()).strip("-") or "x" for key in sorted(values)}
    text = "-".join(f"{shown}-{_slug(values[key], keys.values())}" for key, shown in keys.items())
    if len(job) + 1 + len(text) <= most:
        return f"{job}-{text}"
    room = most - len(job) - VALUES_DIGITS - 2
    start = f"{text[:room].strip('-')}-" if room >= _SHORTEST else ""
    return f"{job}-{start}{_digits(orjson.dumps(dict(sorted(values.items()))), VALUES_DIGITS)}"


def _slug(value: str, keys: Iterable[str]) -> str:
    """The value as a part of a name; `keys` are those of the name."""
    if _DECIMAL.fullmatch(value):
        return value.replace(".", "p")
    clear = _EXACT.fullmatch(value) and not _LIKE_A_DECIMAL.fullmatch(value)
    if clear and len(value) <= MAX_NAME and not any(f"-{key}-" in f"-{value}-" for key in keys):
        return value
    start = _OTHER.sub("-", value.lower()).strip("-")[:_MOST_OF_A_VALUE].strip("-")
    digits = _digits(value.encode(), _VALUE_DIGITS)
    return f"{start}-{digits}" if start else digits


def _digits(content: bytes, count: int) -> str:
    return hashlib.sha256(content).hexdigest()[:count]
