"""The policies, bindings, parameters and namespaces of some files, with their compiled expressions.

From `apiserver/pkg/admission/plugin/policy/validating/plugin.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from gen.base import Diagnostic, Findings, Location, Route, as_mapping, at
from gen.base.codes.files import UNREADABLE
from gen.base.repository.files import read_regular
from gen.kubernetes.cel.program import Program, compile_expression
from gen.kubernetes.cel.values import Type
from gen.kubernetes.cel.variables import admission_environment
from gen.kubernetes.facts.api_versions import is_cluster_scoped
from gen.kubernetes.manifests.read import Manifests, objects_in, read_manifests
from gen.kubernetes.objects import BINDING, POLICY, Body, selects
from gen.kubernetes.policies.request import plural

_NAMES: Final = frozenset({"object", "oldObject", "request", "namespaceObject", "authorizer"})


class Validation(Struct, frozen=True, kw_only=True):
    route: Route
    program: Program
    message: str
    message_program: Program | None


class CompiledPolicy(Struct, frozen=True, kw_only=True):
    """The expressions of a policy."""

    conditions: tuple[tuple[Route, Program], ...]
    variables: dict[str, Program]
    validations: tuple[Validation, ...]
    audits: tuple[tuple[Route, Program], ...]
    """Values of annotations of the server's audit log."""


def compiled(spec: Body) -> CompiledPolicy:
    """Compile all expressions of a policy. CompileError for the first that a server would refuse."""
    names = _NAMES | ({"params"} if spec.get("paramKind") else set())
    types: dict[str, Type] = {}
    conditions = tuple(
        (("spec", "matchConditions", index, "expression"), _program(one, "expression", names))
        for index, one in enumerate(spec.get("matchConditions") or ())
    )
    variables: dict[str, Program] = {}
    for one in spec.get("variables") or ():
        program = _program(one, "expression", names, types)
        variables[one["name"]], types[one["name"]] = program, program.type
    validations = tuple(
        Validation(
            route=("spec", "validations", index),
            program=_program(one, "expression", names, types),
            message=str(one.get("message") or ""),
            message_program=_program(one, "messageExpression", names - {"authorizer"}, types)
            if one.get("messageExpression")
            else None,
        )
        for index, one in enumerate(spec.get("validations") or ())
    )
    audits = tuple(
        (("spec", "auditAnnotations", index), _program(one, "valueExpression", names, types))
        for index, one in enumerate(spec.get("auditAnnotations") or ())
    )
    return CompiledPolicy(conditions=conditions, variables=variables, validations=validations, audits=audits)


def _program(holder: Body, field: str, names: frozenset[str], types: dict[str, Type] | None = None) -> Program:
    own = names if types is None else names | {"variables"}
    return compile_expression(str(holder.get(field) or ""), admission_environment(own, types))


_ENDINGS = {".yaml", ".yml", ".json"}
_MAX_BYTES = 4 << 20


class StoredObject(Struct, frozen=True, dict=True):
    """An object of a file."""

    body: Body
    manifests: Manifests
    document: int
    at: Route = ()
    """Its route in the document."""

    def place(self, route: Route, *, key: bool = False) -> Location:
        """The place of the value at a route of the object, or of its key.

        It is kept: one expression of a policy can deny thousands of objects.
        """
        if (route, key) not in self._placed:
            self._placed[route, key] = self.manifests.place(self.document, (*self.at, *route), key=key)
        return self._placed[route, key]

    @cached_property
    def _placed(self) -> dict[tuple[Route, bool], Location]:
        return {}


def read_stored(paths: tuple[tuple[Path, str], ...], found: Findings | None = None) -> tuple[StoredObject, ...]:
    """The objects of files and folders, each with the name that findings show. Unreadable files are findings."""
    findings = found if found is not None else Findings()
    return tuple(
        one for path, shown in paths for file, name in _files(path, shown) for one in _objects(file, name, findings)
    )


def _files(path: Path, shown: str) -> Iterator[tuple[Path, str]]:
    if path.is_file():
        yield path, shown
        return
    for file in sorted(path.rglob("*")):
        if file.suffix in _ENDINGS and not file.is_symlink() and file.is_file():
            yield file, f"{shown}/{file.relative_to(path).as_posix()}"


def _objects(path: Path, shown: str, found: Findings) -> Iterator[StoredObject]:
    try:
        raw = read_regular(path, _MAX_BYTES)
    except OSError as error:
        found.error(UNREADABLE, Location(shown), f"cannot read the file: {error}", "check its permissions and size")
        return
    manifests = read_manifests(raw, shown, found)
    if manifests is not None:
        yield from stored_in(manifests)


def stored_in(manifests: Manifests) -> Iterator[StoredObject]:
    """The objects of a file that was read."""
    for number, document in enumerate(manifests.documents):
        for route, body in objects_in(document):
            if isinstance(body, dict):
                yield StoredObject(body, manifests, number, route)


DAMAGED: Final = (TypeError, AttributeError, KeyError, ValueError, IndexError)
"""Exceptions for policies that do not match their schema, which is reported where they are."""
_GROUP: Final = "admissionregistration.k8s.io/"


Bound = tuple[StoredObject, StoredObject]
"""A policy and a binding of it."""


class PolicySet:
    """Policies with their bindings. The first file that defines an object wins."""

    def __init__(
        self,
        paths: tuple[tuple[Path, str], ...],
        more: tuple[StoredObject, ...] = (),
        accepts: Callable[[Body], bool] = lambda _: True,
    ) -> None:
        """`paths` are folders or files, each with the name that findings show; `more` are objects that were read.

        Policies and bindings that a server does not accept have no effect.
        """
        self._paths, self._more, self._accepts = paths, more, accepts
        self._compiled: dict[str, CompiledPolicy] = {}
        self._params: dict[tuple[str, str], dict[str, dict[str, Body]]] = {}
        self._bound_to: dict[tuple[str | None, str], tuple[Bound, ...]] = {}
        self._found = Findings()

    def __reduce__(self) -> tuple[type[PolicySet], tuple[Any, ...]]:
        """Programs cannot be pickled; another process compiles its own."""
        return PolicySet, (self._paths, self._more)

    @cached_property
    def stored(self) -> tuple[StoredObject, ...]:
        """All objects of the files."""
        return (*self._more, *read_stored(self._paths, self._found))

    @cached_property
    def _by_kind(self) -> dict[tuple[str, str], list[StoredObject]]:
        """By API version and kind, where both are texts."""
        found: dict[tuple[str, str], list[StoredObject]] = {}
        for one in self.stored:
            if isinstance(version := one.body.get("apiVersion"), str) and isinstance(kind := one.body.get("kind"), str):
                found.setdefault((version, kind), []).append(one)
        return found

    @property
    def unreadable(self) -> list[Diagnostic]:
        """Findings about files that cannot be read."""
        _ = self.stored
        return self._found.items

    @cached_property
    def policies(self) -> dict[str, StoredObject]:
        """By name."""
        return self._of_kind(POLICY)

    @cached_property
    def bindings(self) -> dict[str, StoredObject]:
        """By name."""
        return self._of_kind(BINDING)

    @cached_property
    def namespaces(self) -> dict[str, Body]:
        """Namespaces that the files describe, by name."""
        return {name_of(one.body): one.body for one in self._by_kind.get(("v1", "Namespace"), ())}

    @cached_property
    def bound(self) -> tuple[Bound, ...]:
        """Each policy with a binding, in the order of their names."""
        pairs = (
            (policy, binding)
            for _, binding in sorted(self.bindings.items())
            if (policy := self.policies.get(str(_spec(binding.body).get("policyName")))) is not None
        )
        return tuple(sorted(pairs, key=lambda pair: name_of(pair[0].body)))

    def compiled(self, policy: StoredObject) -> CompiledPolicy:
        """The expressions of a policy, compiled once. CompileError if a server refuses one of them."""
        name = name_of(policy.body)
        if name not in self._compiled:
            self._compiled[name] = compiled(_spec(policy.body))
        return self._compiled[name]

    def bound_to(self, group: str | None, resource: str) -> tuple[Bound, ...]:
        """The policies with a binding whose rules may be for a resource; with None, one of any group."""
        key = group, resource
        if key not in self._bound_to:
            self._bound_to[key] = tuple(one for one in self.bound if _may_be_about(one, group, resource))
        return self._bound_to[key]

    def may_be_about(self, kinds: Iterable[str]) -> bool:
        """Whether a policy with a binding may have a rule for one of some kinds, of any API group."""
        return any(self.bound_to(None, plural(kind)) for kind in kinds)

    def params(self, kind: Body) -> dict[str, dict[str, Body]]:
        """The objects of a kind of parameters, by namespace and name; by an empty namespace if they are in none."""
        key = version, name = str(kind.get("apiVersion")), str(kind.get("kind"))
        if key not in self._params:
            found = self._params[key] = {}
            for one in self._by_kind.get(key, ()):
                given = at(one.body, "metadata", "namespace")
                cluster = is_cluster_scoped(version, name) or ("/" in version and not given)
                namespace = "" if cluster else str(given or "default")
                found.setdefault(namespace, {}).setdefault(name_of(one.body), one.body)
        return self._params[key]

    def chosen_params(self, kind: Body, reference: Body, namespace: str) -> list[Body]:
        """The parameters that a binding refers to, for an object in a namespace."""
        places = dict.fromkeys(("", str(reference.get("namespace") or namespace)))
        known = [self.params(kind).get(place, {}) for place in places]
        if reference.get("name"):
            return [one[name] for one in known if (name := str(reference["name"])) in one]
        selector = reference.get("selector")
        labels = ((one, at(one, "metadata", "labels")) for named in known for one in named.values())
        return [one for one, given in labels if selects(selector, given if isinstance(given, dict) else {})]

    def _of_kind(self, kind: str) -> dict[str, StoredObject]:
        found: dict[str, StoredObject] = {}
        for one in self.stored:
            named = one.body.get("kind") == kind and str(one.body.get("apiVersion")).startswith(_GROUP)
            if named and self._accepts(one.body):
                found.setdefault(name_of(one.body), one)
        return found


def is_about(rule: Body, group: str | None, resource: str) -> bool:
    """Whether a rule of constraints names a resource."""
    return (group is None or has_value(rule.get("apiGroups"), group)) and any(
        _is_for(one, resource) for one in rule.get("resources") or ()
    )


def has_value(values: Sequence[str] | None, value: str) -> bool:
    """Whether a list of a rule has a value, or all values."""
    return values is not None and ("*" in values or value in values)


def _is_for(pattern: str, resource: str) -> bool:
    name, _, sub = pattern.partition("/")
    return name in {"*", resource} and sub in {"", "*"}


def _may_be_about(bound: Bound, group: str | None, resource: str) -> bool:
    policy, binding = ((one.body.get("spec") or {}) for one in bound)
    try:
        rules = [
            (one or {}).get("resourceRules") for one in (policy.get("matchConstraints"), binding.get("matchResources"))
        ]
        return all(not one or any(is_about(rule, group, resource) for rule in one) for one in rules)
    except DAMAGED:  # reported by the evaluation
        return True


def param_kinds(stored: Iterable[StoredObject]) -> set[str]:
    """The kinds of the parameters of policies."""
    kinds = (at(one.body, "spec", "paramKind", "kind") for one in stored if one.body.get("kind") == POLICY)
    return {kind for kind in kinds if isinstance(kind, str)}


def name_of(body: Body) -> str:
    """The name of an object."""
    metadata = body.get("metadata")
    return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""


def _spec(body: Body) -> Any:
    return as_mapping(body.get("spec"))
