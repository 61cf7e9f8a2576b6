"""Conditions under which a step that creates an object ends, if they are not those of the end of the object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gen.base import at, follow, names, regex
from gen.importers import ImportedJob
from gen.importers.kfp.losses import Loss, lost_field
from gen.job.kinds import ALL_KINDS

_MAX_SHOWN: Final = 100
_REQUIREMENT: Final = regex(r"\s*([\w.-]+)\s*(?:(==|=|>|<|!=)\s*([^\s,]+)\s*)?")
_WORDS_OF_END: Final = names("succeeded success complete completed completiontime endtime finished finishedat stopped")
_WORDS_OF_START: Final = names("active ready running starttime created started available initializing")
_NO_NUMBER: Final = 1 << 30


def lost_ends(resource: object, jobs: Iterable[ImportedJob], *, waited: bool) -> Iterator[Loss]:
    """The losses of conditions of an object that a template creates, if they are not those of its end. `waited` is
    whether other steps wait for it. `matchConditions` in `workflow/executor/resource.go` of argo-workflows: it succeeds
    if all requirements hold, or without any as soon as none of failure does.
    """
    success, failure = (str(at(resource, name) or "") for name in ("successCondition", "failureCondition"))
    given = _requirements(success)
    words = set(re.findall(r"\w+", success.lower()))
    for job in jobs if isinstance(at(resource, "manifest"), str) else ():
        body = next((one.body for one in job.originals), {})
        facts = ALL_KINDS[job.fields["kind"]].facts
        total = pods if isinstance(pods := at(body, "spec", "completions"), int) else 1
        early = any(field == "status.succeeded" and _least(sign, value) < total for field, sign, value in given)
        if waited and not success:
            yield Loss(what="the end right after the creation of the object", reason="start", needed=False)
        elif success and (words.isdisjoint(_WORDS_OF_END) or (waited and early)):
            needed = waited and not early and not words.isdisjoint(_WORDS_OF_START)
            yield Loss(what=f"`successCondition: {success[:_MAX_SHOWN]}`", reason="start", needed=needed)
        yield from (lost_field(name) for name in ("flags", "mergeStrategy") if at(resource, name))
        limit = follow(body, facts.retries) if facts.retries is not None else None
        for field, sign, value in _requirements(failure):
            if field == "status.failed" and isinstance(limit, int) and _least(sign, value) <= limit:
                yield Loss(what=f"`failureCondition: {failure[:_MAX_SHOWN]}`", reason="failure", needed=False)


def _requirements(condition: str) -> list[tuple[str, str, str]]:
    """The requirements of a condition, in the form of selectors: fields, signs and values."""
    every = (_REQUIREMENT.fullmatch(one) for one in condition.split(",") if condition)
    return [(one[1], one[2] or "", one[3] or "") for one in every if one is not None]


def _least(sign: str, value: str) -> int:
    """The least number for which a requirement holds."""
    number = int(value) if value.isdecimal() and len(value) < len(str(_NO_NUMBER)) else _NO_NUMBER
    return number + 1 if sign == ">" else number
