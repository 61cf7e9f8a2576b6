"""Rules: a check of one object with a stable name, a description, a reason and a remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.diagnostics import Severity
from gen.kubernetes import MANAGED_BY, at
from gen.rules.fault import Faults
from gen.rules.object_view import ObjectView

if TYPE_CHECKING:
    from types import ModuleType

Find = Callable[[ObjectView], Faults]
"""Yields the faults of an object that matches its schema."""


class RuleSource(StrEnum):
    """Who enforces a rule: refuses the object, or does something else than it specifies."""

    SERVER = "API server"
    OPERATOR = "operator"
    GITOPS = "GitOps engine"
    GEN = "gen"


class Rule(Struct, frozen=True):
    """A check with its documentation."""

    name: str
    """Stable, kebab-case; used in annotations, reports and `gen explain`."""
    summary: str
    """What is wrong, and when the rule fires."""
    reason: str
    """The consequence, with the source of this knowledge."""
    remedy: str
    """What to do."""
    find: Find | None = None
    """None for findings that precede the rules, such as schema errors and unknown kinds."""
    source: RuleSource = RuleSource.SERVER
    severity: Severity = Severity.ERROR
    kinds: AbstractSet[tuple[str, str]] | None = None
    """Groups and kinds that it is for; None for all."""
    of_pods: bool = False
    """Whether it only checks objects with pod templates."""

    @property
    def hint(self) -> str:
        """The remedy in the form of a hint."""
        return (self.remedy[:1].lower() + self.remedy[1:]).rstrip(".")

    def severity_of(self, body: Any) -> Severity:
        """The severity for an object. An engine may not manage objects that gen did not generate."""
        if self.source is RuleSource.GITOPS and self.severity is Severity.ERROR and not is_generated(body):
            return Severity.WARNING
        return self.severity

    def is_for(self, group: str, kind: str) -> bool:
        return self.find is not None and (self.kinds is None or (group, kind) in self.kinds)


def _pairs(kinds: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    return frozenset((group, name) for group, _, name in (kind.rpartition("/") for kind in kinds))


def operators(
    name: str,
    *kinds: str,
    of: AbstractSet[tuple[str, str]] | None = None,
    reason: str,
    remedy: str,
    severity: Severity = Severity.ERROR,
) -> Callable[[Find], Rule]:
    """Make a rule of an operator from a function, with its docstring as summary. Kinds are `group/Kind`.

    `of` is an alternative to kinds: a set of groups and kinds.
    """
    pairs = _pairs(kinds) if of is None else of

    def make(find: Find) -> Rule:
        return Rule(name, find.__doc__ or "", reason, remedy, find, RuleSource.OPERATOR, severity, pairs)

    return make


def gitops(
    name: str,
    *pairs: tuple[str, str],
    of: AbstractSet[tuple[str, str]] | None = None,
    reason: str,
    remedy: str,
    severity: Severity = Severity.ERROR,
) -> Callable[[Find], Rule]:
    """Make a rule about GitOps engines from a function; for some groups and kinds, or for all.

    `of` is an alternative to pairs: a set of groups and kinds.
    """
    kinds = frozenset(pairs) if pairs else of

    def make(find: Find) -> Rule:
        return Rule(name, find.__doc__ or "", reason, remedy, find, RuleSource.GITOPS, severity, kinds)

    return make


def is_generated(body: Any) -> bool:
    """Whether gen generated the object, by its label. The object may be anything."""
    return bool(at(body, "metadata", "labels", MANAGED_BY) == "gen")


_BY_SERVER = "The API server rejects the object, or the pods made from its template."


def server(
    name: str, *kinds: str, remedy: str, reason: str = _BY_SERVER, of_pods: bool = False
) -> Callable[[Find], Rule]:
    """Make a rule of the API server from a function, with its docstring as summary. Kinds are `group/Kind`.

    Such a rule is a family of checks: each fault has its own hint, and `remedy` is for `gen explain`.
    """
    pairs = _pairs(kinds) if kinds else None

    def make(find: Find) -> Rule:
        return Rule(name, find.__doc__ or "", reason, remedy, find, kinds=pairs, of_pods=of_pods)

    return make


def rules_in(modules: Iterable[ModuleType]) -> dict[str, Rule]:
    """The rules of some files by name, in the order of the files."""
    return {rule.name: rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)}
