"""How pipelines wait for the end of an object.

Argo Workflows compares two label selectors with its fields, and a step of Kubeflow Pipelines asks `kubectl`.

From `workflow/executor/resource.go` of argoproj/argo-workflows 3.7 and 4.1: success needs every requirement, a failure
any one, and failures are tested first. Keys are paths of gjson that are valid keys of labels, so a path cannot
search a list. A selector that does not parse is found after the object was created, which then runs without a waiter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Final

from msgspec import Struct

from gen.base import BugError, regex
from gen.kubernetes.facts.base import Conditions, Path, Phase, Phases, Resource

MOST_CONDITIONS: Final = 8
"""Places of a list of conditions that are searched for a failure; operators have at most six types."""
_WORD: Final = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


class Waiting(Struct, frozen=True, kw_only=True):
    """The object to wait for, and the conditions of its end."""

    of: Resource
    """The kind of the object, which has the name of the run."""
    success: str
    failure: str
    state: str
    """The same fields as templates of JSONPath for `kubectl`, each followed by `/`."""
    succeeded: tuple[str, ...]
    """Patterns of a shell for their values after success."""
    failed: tuple[str, ...]


def wait_for(facts: Resource, api_version: str) -> tuple[Waiting, str]:
    """How to wait for an object of a step, and the kind of the object to wait for, as `kubectl` takes it."""
    found = waiting(facts)
    if found is None:
        raise BugError(f"no conditions for {facts.kind}, which the plan refuses")
    version = api_version if found.of is facts else found.of.served[0]
    group, _, version = version.rpartition("/")
    return found, ".".join(part for part in (found.of.kind.lower(), version, group) if part)


def waiting(facts: Resource) -> Waiting | None:
    """None if Argo cannot find the end of objects of this kind."""
    awaited = facts.awaited
    if awaited is not None and awaited.instead is not None:
        return waiting(awaited.instead)
    if awaited is not None and awaited.succeeded:
        return _of_phases(facts, awaited.succeeded, awaited.failed)
    if awaited is not None and awaited.ended and isinstance(facts.status, Conditions):
        return _of_conditions(facts, ".".join(awaited.ended), facts.status)
    if isinstance(facts.status, Phases) and len(facts.status.succeeded) == 1:
        return _of_phases(facts, facts.status.succeeded, facts.status.failed)
    return None


def _of_phases(facts: Resource, succeeded: Iterable[Phase], failed: Iterable[Phase]) -> Waiting | None:
    succeeded, failed = tuple(succeeded), tuple(failed)
    if not all(map(_fits, (*succeeded, *failed))):
        return None
    fields = tuple(dict.fromkeys(phase.field for phase in (*succeeded, *failed)))
    chosen = [[(phase.field, value) for value in phase.values] for phase in succeeded]
    return Waiting(
        of=facts,
        success=",".join(map(_requirement, succeeded)),
        failure=",".join(map(_requirement, failed)),
        state="".join(f"{{.{'.'.join(field)}}}/" for field in fields),
        succeeded=tuple(_pattern(fields, dict(values)) for values in product(*chosen)),
        failed=tuple(_pattern(fields, {one.field: value}) for one in failed for value in one.values),
    )


def _pattern(fields: Iterable[Path], values: Mapping[Path, str]) -> str:
    return "".join(f"{values.get(field, '*')}/" for field in fields)


def _of_conditions(facts: Resource, ended: str, status: Conditions) -> Waiting | None:
    """A failure can be at any place of the list, and is there only if the run failed."""
    places = (f"status.conditions.{index}.type == {status.failed}" for index in range(MOST_CONDITIONS))
    if not (_WORD.fullmatch(ended) and _WORD.fullmatch(status.failed) and _WORD.fullmatch(status.succeeded)):
        return None
    types = (status.succeeded, status.failed)
    return Waiting(
        of=facts,
        success=ended,
        failure=",".join(places),
        state="".join(f'{{.status.conditions[?(@.type=="{one}")].status}}/' for one in types),
        succeeded=("True/*",),
        failed=("*/True/",),
    )


def _requirement(phase: Phase) -> str:
    key, values = ".".join(phase.field), phase.values
    return f"{key} == {values[0]}" if len(values) == 1 else f"{key} in ({','.join(values)})"


def _fits(phase: Phase) -> bool:
    return _WORD.fullmatch(".".join(phase.field)) is not None and all(map(_WORD.fullmatch, phase.values))
