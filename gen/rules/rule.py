"""What a rule is: a check of one object with a name that stays, and what people are told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gen.diagnostics import Severity
from gen.kubernetes import MANAGED_BY, at
from gen.rules.fault import Faults
from gen.rules.object_view import ObjectView

Find = Callable[[ObjectView], Faults]
"""Yields the route and a sentence for each fault of an object that fits its schema."""


class RuleSource(StrEnum):
    """Who would refuse the object, or not do what it says."""

    SERVER = "API server"
    OPERATOR = "operator"
    GITOPS = "GitOps engine"
    GEN = "gen"


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with its words."""

    name: str
    """Stable, kebab-case: what annotations, reports and `gen explain` call it."""
    says: str
    """What is checked."""
    reason: str
    """Why: what happens otherwise, and where that is known from."""
    remedy: str
    """What to do."""
    find: Find | None = None
    """None for what is found on the way to the rules: schemas, unknown kinds."""
    source: RuleSource = RuleSource.SERVER
    severity: Severity = Severity.ERROR
    kinds: frozenset[tuple[str, str]] | None = None
    """Groups and kinds that it is for; None when it looks itself."""
    of_pods: bool = False
    """Whether it has nothing to say of an object without pod templates."""

    @property
    def hint(self) -> str:
        """The remedy as a report says it below a finding."""
        return (self.remedy[:1].lower() + self.remedy[1:]).rstrip(".")

    def severity_of(self, body: Any) -> Severity:
        """How bad a fault of this object is. Whether an engine has an object that gen did not make, nobody knows."""
        if self.source is RuleSource.GITOPS and self.severity is Severity.ERROR and not is_generated(body):
            return Severity.WARNING
        return self.severity

    def is_for(self, group: str, kind: str) -> bool:
        return self.find is not None and (self.kinds is None or (group, kind) in self.kinds)


def _pairs(kinds: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    return frozenset((group, name) for group, _, name in (kind.rpartition("/") for kind in kinds))


def operators(
    name: str, *kinds: str, reason: str, remedy: str, severity: Severity = Severity.ERROR
) -> Callable[[Find], Rule]:
    """Make a rule of an operator out of a function, whose docstring says what it checks. Kinds are `group/Kind`."""
    pairs = _pairs(kinds)

    def make(find: Find) -> Rule:
        return Rule(name, find.__doc__ or "", reason, remedy, find, RuleSource.OPERATOR, severity, pairs)

    return make


def gitops(
    name: str, *pairs: tuple[str, str], reason: str, remedy: str, severity: Severity = Severity.ERROR
) -> Callable[[Find], Rule]:
    """Make a rule of what GitOps engines do with an object out of a function; of groups and kinds, or of all."""
    kinds = frozenset(pairs) if pairs else None

    def make(find: Find) -> Rule:
        return Rule(name, find.__doc__ or "", reason, remedy, find, RuleSource.GITOPS, severity, kinds)

    return make


def is_generated(body: Any) -> bool:
    """Whether gen made the object, by its label; the object may be anything."""
    return bool(at(body, "metadata", "labels", MANAGED_BY) == "gen")


_BY_SERVER = "The API server refuses the object, or the pod that is made of its template."


def server(
    name: str, *kinds: str, remedy: str, reason: str = _BY_SERVER, of_pods: bool = False
) -> Callable[[Find], Rule]:
    """Make a rule of an API server out of a function, whose docstring says what it checks. Kinds are `group/Kind`.

    Such a rule is a family of checks; each fault says what to do about it, and `remedy` is for `gen explain`.
    """
    pairs = _pairs(kinds) if kinds else None

    def make(find: Find) -> Rule:
        return Rule(name, find.__doc__ or "", reason, remedy, find, kinds=pairs, of_pods=of_pods)

    return make
