"""The policies, bindings, parameters and namespaces of some files."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.diagnostics import Findings
from gen.kubernetes import at
from gen.policies.compiled import compiled
from gen.policies.read import read_stored
from gen.resources.scope import is_cluster_scoped
from gen.resources.selectors import selects

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.diagnostics import Diagnostic
    from gen.kubernetes import Body
    from gen.policies.compiled import Compiled
    from gen.policies.read import Stored

_GROUP: Final = "admissionregistration.k8s.io/"
POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"


class Param(Struct, frozen=True):
    """An object with parameters."""

    namespace: str
    name: str
    body: Body


class PolicySet:
    """Policies with their bindings. The first file that defines an object wins."""

    def __init__(
        self,
        paths: tuple[tuple[Path, str], ...],
        more: tuple[Stored, ...] = (),
        accepts: Callable[[Body], bool] = lambda _: True,
    ) -> None:
        """`paths` are folders or files, each with the name that findings show; `more` are objects that were read.

        Policies and bindings that a server does not accept have no effect.
        """
        self._paths, self._more, self._accepts = paths, more, accepts
        self._compiled: dict[str, Compiled] = {}
        self._found = Findings()

    def __reduce__(self) -> tuple[type[PolicySet], tuple[Any, ...]]:
        """Programs cannot be pickled; another process compiles its own."""
        return PolicySet, (self._paths, self._more)

    @cached_property
    def stored(self) -> tuple[Stored, ...]:
        """All objects of the files."""
        return (*self._more, *read_stored(self._paths, self._found))

    @property
    def unreadable(self) -> list[Diagnostic]:
        """Findings about files that cannot be read."""
        _ = self.stored
        return self._found.items

    @cached_property
    def policies(self) -> dict[str, Stored]:
        """By name."""
        return self._of_kind(POLICY)

    @cached_property
    def bindings(self) -> dict[str, Stored]:
        """By name."""
        return self._of_kind(BINDING)

    @cached_property
    def namespaces(self) -> dict[str, Body]:
        """Namespaces that the files describe, by name."""
        return {name_of(one.body): one.body for one in self.stored if _is(one.body, "v1", "Namespace")}

    @cached_property
    def bound(self) -> tuple[tuple[Stored, Stored], ...]:
        """Each policy with a binding, in the order of their names."""
        pairs = (
            (policy, binding)
            for _, binding in sorted(self.bindings.items())
            if (policy := self.policies.get(str(_spec(binding.body).get("policyName")))) is not None
        )
        return tuple(sorted(pairs, key=lambda pair: name_of(pair[0].body)))

    def compiled(self, policy: Stored) -> Compiled:
        """The expressions of a policy, compiled once. CompileError if a server refuses one of them."""
        name = name_of(policy.body)
        if name not in self._compiled:
            self._compiled[name] = compiled(_spec(policy.body))
        return self._compiled[name]

    def params(self, kind: Body) -> list[Param]:
        """The objects of a kind of parameters."""
        version, name = kind.get("apiVersion"), kind.get("kind")
        found: dict[tuple[str, str], Param] = {}
        for one in self.stored:
            if _is(one.body, version, name):
                given = at(one.body, "metadata", "namespace")
                cluster = is_cluster_scoped(str(version), str(name)) or ("/" in str(version) and not given)
                namespace = "" if cluster else str(given or "default")
                param = Param(namespace, name_of(one.body), one.body)
                found.setdefault((param.namespace, param.name), param)
        return list(found.values())

    def chosen_params(self, kind: Body, reference: Body, namespace: str) -> list[Param]:
        """The parameters that a binding refers to, for an object in a namespace."""
        place = str(reference.get("namespace") or namespace)
        known = [one for one in self.params(kind) if one.namespace in {"", place}]
        if reference.get("name"):
            return [one for one in known if one.name == reference["name"]]
        labels = ((one, at(one.body, "metadata", "labels")) for one in known)
        selector = reference.get("selector")
        return [one for one, given in labels if selects(selector, given if isinstance(given, dict) else {})]

    def _of_kind(self, kind: str) -> dict[str, Stored]:
        found: dict[str, Stored] = {}
        for one in self.stored:
            named = one.body.get("kind") == kind and str(one.body.get("apiVersion")).startswith(_GROUP)
            if named and self._accepts(one.body):
                found.setdefault(name_of(one.body), one)
        return found


def name_of(body: Body) -> str:
    """The name of an object."""
    metadata = body.get("metadata")
    return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""


def _spec(body: Body) -> Any:
    spec = body.get("spec")
    return spec if isinstance(spec, dict) else {}


def _is(body: Body, version: Any, kind: Any) -> bool:
    return (body.get("kind"), body.get("apiVersion")) == (kind, version)
