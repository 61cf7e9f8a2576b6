"""Apply admission policies to objects, and report verdicts and faults of the policies as findings.

Policies are those of an option, of an overlay, and those among the manifests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gen.base import (
    INTERNAL_ERROR,
    Diagnostic,
    Findings,
    Location,
    Route,
    Severity,
    as_mapping,
    contained,
    did_you_mean,
    dotted,
    internal_error,
    message_text,
)
from gen.base.codes.overlays import (
    INVALID_POLICY,
    MISSING_PARAM,
    POLICY_DENIED,
    POLICY_NOT_EVALUATED,
    POLICY_WARNING,
    UNBOUND_POLICY,
    UNKNOWN_POLICY,
)
from gen.kubernetes.check.objects import check
from gen.kubernetes.manifests.read import Manifests, objects_in
from gen.kubernetes.objects import BINDING, Body, identity_of
from gen.kubernetes.policies.evaluate import Verdict, verdicts
from gen.kubernetes.policies.policy_set import PolicySet, StoredObject, name_of
from gen.kubernetes.policies.request import request_for
from gen.kubernetes.rules import Problem, RuleSource
from gen.kubernetes.rules.catalogue import RULES

if TYPE_CHECKING:
    from gen.kubernetes.schemas.lookup import Kind, Kinds

_HINT_NOT_EVALUATED = "expect the verdict in the cluster, or add the namespace to the files of the policies"


def check_policy_files(policies: PolicySet, kinds: Kinds, found: Findings) -> None:
    """Report objects in files of policies that a server refuses, and references between them that lead nowhere."""
    found.extend(policies.unreadable)
    for stored in policies.stored:
        for problem in _errors(stored.body, kinds):
            where = f"{identity_of(stored.body)}, {dotted(problem.route) or 'the object'}: {problem.message}"
            place = stored.place(problem.route, key=problem.is_about_key)
            found.error(INVALID_POLICY, place, where, problem.hint or RULES[problem.rule].hint)
    report_references(policies, found)


def accepted(body: Body, kinds: Kinds) -> bool:
    """Whether a server accepts a policy or a binding."""
    return all(RULES[problem.rule].source is RuleSource.GITOPS for problem in _errors(body, kinds))


def _errors(body: Body, kinds: Kinds) -> Iterator[Problem]:
    for problem in check(body, kinds, missing=True).problems:
        if RULES[problem.rule].severity_of(body) is Severity.ERROR:
            yield problem


def report_references(policies: PolicySet, found: Findings, severity: Severity = Severity.ERROR) -> None:
    """Report bindings without a policy, with that severity, policies without a binding, and missing parameters."""
    named = {name: str(_spec(binding).get("policyName") or "") for name, binding in policies.bindings.items()}
    bound = set(named.values())
    for name, binding in policies.bindings.items():
        wanted = named[name]
        if wanted and wanted not in policies.policies:
            hint = did_you_mean(wanted, policies.policies, otherwise="add the policy, or correct `policyName`")
            message = f"binding `{name}`: no policy is named `{wanted}`"
            place = binding.place(("spec", "policyName"))
            found.items.append(Diagnostic(place, UNKNOWN_POLICY.name, message_text(message), hint, (), severity))
    for name, policy in policies.policies.items():
        if name not in bound:
            hint = f"add a {BINDING} with `policyName: {name}`"
            found.warning(UNBOUND_POLICY, policy.place(("metadata", "name")), f"policy `{name}` has no binding", hint)
    for policy, binding in policies.bound:
        _report_missing_param(policies, policy, binding, found)


def _report_missing_param(policies: PolicySet, policy: StoredObject, binding: StoredObject, found: Findings) -> None:
    kind, reference = _spec(policy).get("paramKind"), _spec(binding).get("paramRef")
    if not isinstance(kind, dict) or not isinstance(reference, dict):
        return
    known = policies.params(kind)
    spaces = [str(reference["namespace"])] if reference.get("namespace") else sorted(known)
    if any(policies.chosen_params(kind, reference, namespace) for namespace in spaces):
        return
    wanted = f"`{reference['name']}`" if reference.get("name") else "with the labels of `paramRef.selector`"
    message = f"binding `{name_of(binding.body)}`: no {kind.get('kind')} {wanted} in the files of the policies"
    hint = f"add the {kind.get('kind')} {wanted} to the folder of the policies, or correct `paramRef`"
    denies = reference.get("parameterNotFoundAction") == "Deny"
    severity = Severity.ERROR if denies else Severity.WARNING
    place = binding.place(("spec", "paramRef"))
    found.items.append(Diagnostic(place, MISSING_PARAM.name, message_text(message), hint, (), severity))


def policy_findings(
    policies: PolicySet,
    body: Body,
    place: Callable[[Route], Location],
    *,
    old: Body | None = None,
    namespaced: bool | None = None,
) -> Iterator[Diagnostic]:
    """The findings of all policies about an object, each at the `place` of the part that decided."""
    try:
        for verdict in verdicts(policies, request_for(body, old, namespaced=namespaced)):
            yield _finding(verdict, body, place)
    except Exception as error:  # noqa: BLE001 - see `gen.base.findings`
        yield internal_error(error, place(()), f"apply policies to {identity_of(body)}")


def _finding(verdict: Verdict, body: object, place: Callable[[Route], Location]) -> Diagnostic:
    name = name_of(verdict.policy.body)
    if verdict.error is not None:
        return internal_error(verdict.error, place(()), f"apply policy `{name}` to {identity_of(body)}")
    if not verdict.actions:
        message = f"policy `{name}` is not evaluated: {verdict.message}"
        where = verdict.policy.place(verdict.route)
        hint = _HINT_NOT_EVALUATED
        return Diagnostic(where, POLICY_NOT_EVALUATED.name, message_text(message), hint, (), Severity.WARNING)
    denied = "Deny" in verdict.actions
    code, severity = (POLICY_DENIED, Severity.ERROR) if denied else (POLICY_WARNING, Severity.WARNING)
    about = identity_of(body) + (f", {dotted(verdict.cause)}" if verdict.cause else "")
    message = f"{about}: {verdict.message} (policy `{name}`, binding `{name_of(verdict.binding.body)}`)"
    hint = "change it so that the policy accepts the object, or ask the owner of the policy"
    related = ((verdict.policy.place(verdict.route), "the policy"),)
    return Diagnostic(place(verdict.cause), code.name, message_text(message), hint, related, severity)


def _spec(stored: StoredObject) -> Body:
    return as_mapping(stored.body.get("spec"))


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
            report_references(self._own, found, Severity.WARNING)  # the cluster may have the policy
        yield from found

    def may_apply(self, kinds: Iterable[str], cluster: Paths) -> bool:
        """Whether any policy with a binding may be about objects of some kinds, with those of an overlay."""
        return any(one.may_be_about(kinds) for one in self._sets_of(cluster))

    def findings(self, file: str, manifests: Manifests, cluster: Paths) -> Iterator[Diagnostic]:
        """Findings of all policies about the objects of a file; `cluster` has the folders of its overlay."""
        sets = self._sets_of(cluster)
        for number, document in enumerate(manifests.documents):
            for route, body in objects_in(document):
                if _is_readable(body):
                    own = Findings()
                    with contained(own, manifests.place(number, route), "apply policies to the object"):
                        own.extend(self._of_object(file, manifests, number, route, body, sets))
                    yield from own.items

    def _of_object(
        self, file: str, manifests: Manifests, number: int, route: Route, body: Any, sets: Iterable[PolicySet]
    ) -> Iterator[Diagnostic]:
        kind = self._kinds(file).get(body["apiVersion"], body["kind"])

        def place(inner: Route) -> Location:
            return manifests.place(number, (*route, *inner))

        for policies in sets:
            found = policy_findings(policies, body, place, namespaced=kind.namespaced if kind is not None else None)
            # a server refuses an object that breaks its schema before it asks policies
            yield from found if kind is None else _of_valid(found, body, kind)

    def _sets_of(self, cluster: Paths) -> list[PolicySet]:
        own = [self._own] if self._own is not None else []
        return [*own, *map(self._set, filter(None, (self._given, cluster)))]

    def _set(self, paths: Paths) -> PolicySet:
        if paths not in self._sets:
            kinds = self._kinds(str(paths[0][0]))
            self._sets[paths] = PolicySet(paths, accepts=lambda body: accepted(body, kinds))
        return self._sets[paths]


def _of_valid(found: Iterator[Diagnostic], body: Body, kind: Kind) -> Iterator[Diagnostic]:
    """Findings without internal errors if the object breaks its schema."""
    return (one for one in found if one.code != INTERNAL_ERROR or kind.validator.is_valid(body))


def _is_readable(body: object) -> bool:
    """Whether an API server reads an object as far as it needs to ask policies. Other checks report the rest."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata") or {}, dict):
        return False
    return all(isinstance(body.get(field), str) for field in ("apiVersion", "kind"))
