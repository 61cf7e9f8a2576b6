"""Rules that schemas cannot express, of the API server, of operators and of GitOps engines: the objects that they
check, and the faults that they find.

A rule is a check of one object with a stable name, a description, a reason and a remedy. It sees an `ObjectView`, which
has no null fields, and yields faults. A problem is a fault with its rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import cached_property, partial
from types import ModuleType
from typing import Any, Final

import orjson
from msgspec import Struct

from gen.base import INTERNAL_ERROR, Code, Route, Severity, at, did_you_mean, near, quoted
from gen.base.engines import is_finished
from gen.kubernetes.facts import RESOURCES, resource_of_object
from gen.kubernetes.facts.pods import is_template, matches, templates_by_shape
from gen.kubernetes.objects import MANAGED_BY, OWN, Body


class Fault(Struct, frozen=True):
    """One invalid value of an object."""

    route: Route
    """To the value, or to where a missing value belongs. Relative to the checked value in value checks."""
    message: str
    hint: str = ""
    """The remedy: an imperative in lower case, without a full stop. Empty if the rule's remedy is enough."""

    def at(self, route: Route) -> Fault:
        """The fault of a value that is at `route` of a larger one."""
        return Fault((*route, *self.route), self.message, self.hint)


Faults = Iterator[Fault]
Check = Callable[[Any], Fault | None]
"""Returns the fault of a value, or None."""


def placed(fault: Fault | None, route: Route) -> Iterable[Fault]:
    """The fault of a value that is at `route`, if it has one."""
    return () if fault is None else (fault.at(route),)


def not_one_of(value: object, allowed: Iterable[str]) -> Fault:
    """The fault of a value that is not one of the allowed words, with the nearest word as hint."""
    allowed = tuple(allowed)
    guess = near(str(value), allowed)
    several = len(allowed) > 1
    hint = f"did you mean `{guess}`?" if guess else "use one of these" if several else f"use `{allowed[0]}`"
    expected = f"one of {quoted(allowed)}" if several else f"`{allowed[0]}`"
    return Fault((), f"`{value}` is not allowed; expected {expected}", hint)


def unknown_name(message: str, name: object, known: Iterable[str], otherwise: str) -> Fault:
    """The fault of a reference to a missing name. The hint is the nearest name, all known names, or `otherwise`."""
    return Fault((), message, did_you_mean(str(name), known, otherwise=otherwise))


SILENCE = f"{OWN}ignore-"
"""Prefix of annotations that silence a rule: the rest is the rule's name, the value is the reason."""

RENAMED: Final = {
    "invalid-value": "schema-constraint",
    "missing-field": "absent-field",
    "one-node-claim": "claim-across-nodes",
    "rule-failed": INTERNAL_ERROR,
    "secret-value": "literal-secret",
    "shared-output": "shared-sub-path",
    "suspended-in-queue": "suspend-with-queue",
    "unknown-field": "undefined-field",
    "unknown-kind": "unknown-api",
}
"""Former names of rules, with the present ones. They still silence, and `gen explain` leads from one to the other."""

DAMAGED = (TypeError, AttributeError, KeyError, ValueError, IndexError, ArithmeticError)
"""Exceptions that code raises for objects that do not match their schema."""


class Problem(Struct, frozen=True):
    """A fault with the rule that it breaks."""

    rule: str
    """Its id in `gen explain`."""
    route: Route
    """To the invalid value, or to where a missing value belongs."""
    message: str
    hint: str = ""
    """The remedy, if it is more specific than the rule's."""

    @property
    def is_about_key(self) -> bool:
        """Whether the key at the route is wrong, not its value."""
        return self.rule == "undefined-field"


def silences(annotations: object) -> dict[str, str]:
    """The rules that the annotations of an object silence, by their present names, with the reasons.

    None silences an internal error, or an object could hide from a rule by making it fail.
    """
    if not isinstance(annotations, dict):
        return {}
    given = (
        (key.removeprefix(SILENCE), reason)
        for key, reason in annotations.items()
        if isinstance(key, str) and key.startswith(SILENCE) and isinstance(reason, str) and reason.strip()
    )
    return {RENAMED.get(name, name): reason for name, reason in given if RENAMED.get(name, name) != INTERNAL_ERROR}


Empty = Callable[[Route], Any]

_NULLS = (b":null", b",null", b"[null")
"""A null in JSON. A string can contain one of these, too, but rarely; `null` alone is part of many scripts."""
_CONTAINERS = b'"containers":['
"""In the JSON of every object with a pod template."""
_TEMPLATE = ("template", "Template")
_PARTIAL = frozenset(field for resource in RESOURCES.values() for field in resource.partial_templates)
"""Fields with partial pod templates, or with templates that contain placeholders."""


def dropped(route: Route) -> Any:
    """The replacement for a null at a route: an empty string for entries of lists, None for fields."""
    return "" if isinstance(route[-1], int) else None


class ObjectView(Struct, frozen=True, dict=True, kw_only=True):
    """An object that matches its schema, with values that many rules need."""

    body: Body
    """Without null fields, which the server treats as unset."""
    written: Body
    """As it was rendered or read."""
    minor: int
    """34 for Kubernetes 1.34. Some rules are for some versions only."""
    kind: str
    group: str
    """Empty for the core group."""
    is_custom: bool
    """Whether an operator creates the pods: the API server only checks them then."""
    metadata: Body
    spec: Body
    templates: tuple[tuple[Route, Body], ...]
    """Each pod template with its route."""
    pods: tuple[tuple[Route, Body], ...]
    """The `spec` of every pod template."""
    defined: bool
    """Whether the schema is the one of a CustomResourceDefinition, which already has some of the checks."""
    namespaced: bool
    """False only if the kind is known to be cluster-scoped."""
    json: bytes | None
    """`body` serialized by orjson, if it was needed."""

    @classmethod
    def of(
        cls, body: Body, version: str, *, defined: bool = False, namespaced: bool = True, empty: Empty = dropped
    ) -> ObjectView:
        """`empty` returns the replacement for a null at a route, and None for a null that is dropped."""
        json = _json(body)
        if json is None or (b"null" in json and any(null in json for null in _NULLS)):  # most objects need no copy
            present: Body = _without_nulls(body, (), empty)
            json = None
        else:
            present = body
        minor = int(version.split(".")[1])
        return cls._made(present, body, minor, defined=defined, namespaced=namespaced, json=json)

    @classmethod
    def built(cls, body: Body) -> ObjectView:
        """A view of an object without nulls, for rules that are the same in all versions of Kubernetes."""
        return cls._made(body, body, 0)

    @classmethod
    def _made(
        cls,
        body: Body,
        written: Body,
        minor: int,
        *,
        defined: bool = False,
        namespaced: bool = True,
        json: bytes | None = None,
    ) -> ObjectView:
        group = body["apiVersion"].rpartition("/")[0]
        spec = body.get("spec")
        templates = _all_templates(body, json)
        return cls(
            body=body,
            written=written,
            minor=minor,
            kind=body["kind"],
            group=group,
            is_custom=defined or is_custom(group),
            metadata=body.get("metadata") or {},
            spec=spec if isinstance(spec, dict) else {},
            templates=templates,
            pods=tuple([((*route, "spec"), template["spec"]) for route, template in templates]),
            defined=defined,
            namespaced=namespaced,
            json=json,
        )

    @cached_property
    def finished(self) -> bool:
        """Whether some engine must leave the object alone, as it does with a finished run."""
        return is_finished(self.metadata)

    @cached_property
    def knows_operator(self) -> bool:
        """Whether gen knows what makes pods from the templates. Other operators may complete them first."""
        resource = resource_of_object(self.body["apiVersion"], self.kind) if self.is_custom else None
        return not self.is_custom or (resource is not None and bool(resource.pods))

    @cached_property
    def containers(self) -> tuple[tuple[Route, Body], ...]:
        """Every container and init container."""
        return tuple([found for route, pod in self.pods for found in containers(pod, route)])


def is_custom(group: str) -> bool:
    """Whether kinds of this group are defined by an operator, not by Kubernetes."""
    return "." in group and not (group.endswith(".k8s.io") and ".x-k8s.io" not in f".{group}")


def containers(pod: Body, route: Route) -> Iterator[tuple[Route, Body]]:
    """Every container and init container of a pod's `spec`."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(field) or ()):
            yield (*route, field, index), container


def _all_templates(body: Body, json: bytes | None) -> tuple[tuple[Route, Body], ...]:
    kind = body["kind"]
    if kind == "Pod" and body["apiVersion"] == "v1":
        return (((), body),) if "spec" in body else ()
    if json is not None and _CONTAINERS not in json:  # most objects without templates
        return ()
    resource = resource_of_object(body["apiVersion"], kind)
    if resource is not None and resource.pods:
        found = [one for pods in resource.pods for one in matches(body, pods.template)]
        return tuple([(route, template) for route, template in found if is_template(template)])
    shaped = templates_by_shape(body.get("spec"), ("spec",), _PARTIAL)
    return tuple((route, template) for route, template in shaped if str(route[-1]).endswith(_TEMPLATE))


def _json(body: Body) -> bytes | None:
    try:
        return orjson.dumps(body)
    except TypeError:  # a number or a string that orjson does not support
        return None


def _without_nulls(value: object, route: Route, empty: Empty) -> Any:
    if isinstance(value, dict):
        present = {key: _present(inner, (*route, key), empty) for key, inner in value.items()}
        return {key: inner for key, inner in present.items() if inner is not None}
    if isinstance(value, list):
        return [_present(inner, (*route, index), empty) for index, inner in enumerate(value)]
    return value


def _present(value: object, route: Route, empty: Empty) -> Any:
    return empty(route) if value is None else _without_nulls(value, route, empty)


Find = Callable[[ObjectView], Faults]
"""Yields the faults of an object that matches its schema."""


class RuleSource(StrEnum):
    """Who enforces a rule: refuses the object, or does something else than it specifies."""

    SERVER = "API server"
    OPERATOR = "operator"
    GITOPS = "GitOps engine"
    GEN = "gen"


class Rule(Code, frozen=True):
    """A finding code about objects, with its check. Annotations can silence it."""

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

    def severity_of(self, body: object) -> Severity:
        """The severity for an object. An engine may not manage objects that gen did not generate."""
        if self.source is RuleSource.GITOPS and self.severity is Severity.ERROR and not is_generated(body):
            return Severity.WARNING
        return self.severity

    def is_for(self, group: str, kind: str) -> bool:
        return self.find is not None and (self.kinds is None or (group, kind) in self.kinds)


_REASONS = {RuleSource.SERVER: "The API server rejects the object, or the pods made from its template."}


def rule_of(
    source: RuleSource,
    name: str,
    *kinds: str | AbstractSet[tuple[str, str]],
    remedy: str,
    reason: str = "",
    severity: Severity = Severity.ERROR,
    of_pods: bool = False,
) -> Callable[[Find], Rule]:
    """Make a rule from a function, with its docstring as summary.

    Kinds are `group/Kind`, or one set of groups and kinds, such as `Having` with a condition on their facts. Without
    kinds, the rule is for all. A rule of the API server is a family of checks: each fault has its own hint, and
    `remedy` is for `gen explain`.
    """

    def make(find: Find) -> Rule:
        because = reason or _REASONS[source]
        return Rule(name, find.__doc__ or "", because, remedy, find, source, severity, _pairs(kinds), of_pods)

    return make


server_rule = partial(rule_of, RuleSource.SERVER)
operator_rule = partial(rule_of, RuleSource.OPERATOR)
gitops_rule = partial(rule_of, RuleSource.GITOPS)


def _pairs(kinds: tuple[str | AbstractSet[tuple[str, str]], ...]) -> AbstractSet[tuple[str, str]] | None:
    if len(kinds) == 1 and not isinstance(kinds[0], str):
        return kinds[0]  # not copied: plugins can add kinds later
    named = (str(kind).rpartition("/") for kind in kinds)
    return frozenset((group, name) for group, _, name in named) or None


def is_generated(body: object) -> bool:
    """Whether gen generated the object, by its label. The object may be anything."""
    return bool(at(body, "metadata", "labels", MANAGED_BY) == "gen")


def rules_in(modules: Iterable[ModuleType]) -> dict[str, Rule]:
    """The rules of some files by name, in the order of the files."""
    return {rule.name: rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)}
