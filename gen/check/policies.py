"""Check the objects in files of policies, and turn verdicts of policies into findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.check.objects import check
from gen.diagnostics import Diagnostic, Findings, Location, Severity, did_you_mean, message_text
from gen.findings.jobs import UNKNOWN_FIELD
from gen.findings.policies import (
    INVALID_POLICY,
    MISSING_PARAM,
    POLICY_DENIED,
    POLICY_NOT_EVALUATED,
    POLICY_WARNING,
    UNBOUND_POLICY,
    UNKNOWN_POLICY,
)
from gen.kubernetes import identity_of
from gen.policies.evaluate import verdicts
from gen.policies.policy_set import BINDING, name_of
from gen.policies.request import request_for
from gen.rules.catalogue import CATALOGUE
from gen.rules.problem import dotted
from gen.rules.rule import RuleSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.policies.evaluate import Verdict
    from gen.policies.policy_set import PolicySet
    from gen.policies.read import Stored
    from gen.rules.problem import Problem
    from gen.schemas.lookup import Kinds

_HINT_NOT_EVALUATED = "expect the verdict in the cluster, or add the namespace to the files of the policies"


def check_policy_files(policies: PolicySet, kinds: Kinds, found: Findings) -> None:
    """Report objects in files of policies that a server refuses, and references between them that lead nowhere."""
    found.extend(policies.unreadable)
    for stored in policies.stored:
        for problem in _errors(stored.body, kinds):
            where = f"{identity_of(stored.body)}, {dotted(problem.route) or 'the object'}: {problem.message}"
            place = stored.place(problem.route, key=problem.rule == UNKNOWN_FIELD.name)
            found.error(INVALID_POLICY, place, where, problem.hint or CATALOGUE[problem.rule].hint)
    report_references(policies, found)


def accepted(body: Body, kinds: Kinds) -> bool:
    """Whether a server accepts a policy or a binding."""
    return all(CATALOGUE[problem.rule].source is RuleSource.GITOPS for problem in _errors(body, kinds))


def _errors(body: Body, kinds: Kinds) -> Iterator[Problem]:
    for problem in check(body, kinds, missing=True).problems:
        if CATALOGUE[problem.rule].severity_of(body) is Severity.ERROR:
            yield problem


def report_references(policies: PolicySet, found: Findings) -> None:
    """Report bindings without a policy, policies without a binding, and missing parameters."""
    named = {name: str(_spec(binding).get("policyName") or "") for name, binding in policies.bindings.items()}
    bound = set(named.values())
    for name, binding in policies.bindings.items():
        wanted = named[name]
        if wanted and wanted not in policies.policies:
            hint = did_you_mean(wanted, policies.policies, otherwise="add the policy, or correct `policyName`")
            message = f"binding `{name}`: no policy is named `{wanted}`"
            found.error(UNKNOWN_POLICY, binding.place(("spec", "policyName")), message, hint)
    for name, policy in policies.policies.items():
        if name not in bound:
            hint = f"add a {BINDING} with `policyName: {name}`"
            found.warning(UNBOUND_POLICY, policy.place(("metadata", "name")), f"policy `{name}` has no binding", hint)
    for policy, binding in policies.bound:
        _report_missing_param(policies, policy, binding, found)


def _report_missing_param(policies: PolicySet, policy: Stored, binding: Stored, found: Findings) -> None:
    kind, reference = _spec(policy).get("paramKind"), _spec(binding).get("paramRef")
    if not isinstance(kind, dict) or not isinstance(reference, dict):
        return
    known = policies.params(kind)
    spaces = [str(reference["namespace"])] if reference.get("namespace") else sorted({one.namespace for one in known})
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
    for verdict in verdicts(policies, request_for(body, old, namespaced=namespaced)):
        yield _finding(verdict, body, place)


def _finding(verdict: Verdict, body: Any, place: Callable[[Route], Location]) -> Diagnostic:
    name = name_of(verdict.policy.body)
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


def _spec(stored: Stored) -> Body:
    spec = stored.body.get("spec")
    return spec if isinstance(spec, dict) else {}
