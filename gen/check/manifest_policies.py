"""Policies for manifests of any origin: those of an option, of an overlay, and those among the manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.check.policies import accepted, check_policy_files, policy_findings, report_references
from gen.diagnostics import Findings
from gen.load.manifests import objects_in
from gen.policies.policy_set import PolicySet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from gen.diagnostics import Diagnostic, Location, Route
    from gen.load.manifests import Manifests
    from gen.schemas.lookup import Kinds

    Paths = tuple[tuple[Path, str], ...]


class ManifestPolicies:
    """The policies for the manifests of one run."""

    def __init__(self, given: Paths, own: PolicySet | None, kinds: Callable[[str], Kinds]) -> None:
        """`given` are files of policies alone; `own` has the policies among the manifests."""
        self._given, self._own, self._kinds = given, own, kinds
        self._sets: dict[Paths, PolicySet] = {}

    def findings_of_sets(self) -> Iterator[Diagnostic]:
        """Findings about the policies themselves."""
        found = Findings()
        for path, _ in self._given[:1]:
            check_policy_files(self._set(self._given), self._kinds(str(path)), found)
        if self._own is not None:
            report_references(self._own, found)
        yield from found

    def findings(self, file: str, manifests: Manifests, cluster: Paths) -> Iterator[Diagnostic]:
        """Findings of all policies about the objects of a file; `cluster` has the folders of its overlay."""
        sets = [
            *([self._own] if self._own is not None else []),
            *(map(self._set, filter(None, (self._given, cluster)))),
        ]
        for number, document in enumerate(manifests.documents):
            for route, body in objects_in(document):
                if _is_readable(body):
                    yield from self._of_object(file, manifests, number, route, body, sets)

    def _of_object(
        self, file: str, manifests: Manifests, number: int, route: Route, body: Any, sets: Iterable[PolicySet]
    ) -> Iterator[Diagnostic]:
        kind = self._kinds(file).get(body["apiVersion"], body["kind"])

        def place(inner: Route) -> Location:
            return manifests.place(number, (*route, *inner))

        for policies in sets:
            yield from policy_findings(policies, body, place, namespaced=kind.namespaced if kind is not None else None)

    def _set(self, paths: Paths) -> PolicySet:
        if paths not in self._sets:
            kinds = self._kinds(str(paths[0][0]))
            self._sets[paths] = PolicySet(paths, accepts=lambda body: accepted(body, kinds))
        return self._sets[paths]


def _is_readable(body: Any) -> bool:
    """Whether an API server reads an object as far as it needs to ask policies. Other checks report the rest."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata") or {}, dict):
        return False
    return all(isinstance(body.get(field), str) for field in ("apiVersion", "kind"))
