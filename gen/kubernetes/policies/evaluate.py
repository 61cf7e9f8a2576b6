"""The verdicts of policies on one request, and which requests a policy or a binding matches.

From `dispatcher.go`, `validator.go` (with their messages) and `../matching/matching.go` in
`apiserver/pkg/admission/plugin/policy/validating`, and `predicates/` of its webhooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Route
from gen.kubernetes.cel.evaluate import PER_CALL
from gen.kubernetes.cel.values import CelError, CompileError, CostError, NotEvaluatedError, Opaque
from gen.kubernetes.objects import Body, keys_of, selects
from gen.kubernetes.policies.causes import cause
from gen.kubernetes.policies.policy_set import DAMAGED, has_value, is_about
from gen.kubernetes.policies.request import Request, unknown, variables_of

if TYPE_CHECKING:
    from gen.kubernetes.cel.program import Program
    from gen.kubernetes.policies.policy_set import CompiledPolicy, PolicySet, StoredObject, Validation

NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label that every namespace has."""
_OWN_GROUP: Final = "admissionregistration.k8s.io"
_EXEMPT: Final = frozenset(
    f"{kind}{what}" for kind in ("Validating", "Mutating") for what in ("AdmissionPolicy", "AdmissionPolicyBinding")
)


def is_exempt(request: Request) -> bool:
    """Whether no policy applies: they do not apply to policies."""
    return request.group == _OWN_GROUP and request.kind in _EXEMPT


def matches(matched: Body | None, request: Request, namespaces: Mapping[str, Body]) -> bool:
    """Whether constraints match a request. NotEvaluatedError if only a cluster knows."""
    if not matched:
        return True
    object_selector = matched.get("objectSelector")
    if object_selector and not any(selects(object_selector, _labels(body)) for body in _bodies(request)):
        return False
    exact = matched.get("matchPolicy") == "Exact"
    if _any_rule(matched.get("excludeResourceRules") or (), request, exact=exact):
        return False
    rules = matched.get("resourceRules") or ()
    if rules and not _any_rule(rules, request, exact=exact):
        return False
    return _selects_namespace(matched.get("namespaceSelector"), request, namespaces)


def _bodies(request: Request) -> Iterable[Body]:
    return [body for body in (request.written, request.written_old) if body is not None]


def _labels(body: Body) -> Mapping[str, object]:
    return (body.get("metadata") or {}).get("labels") or {}


def _selects_namespace(selector: Body | None, request: Request, namespaces: Mapping[str, Body]) -> bool:
    if not selector:
        return True
    if request.kind == "Namespace" and not request.group:
        return selects(selector, {**_labels(request.written), NAME_LABEL: request.name})
    if not request.namespace:
        return True
    known = namespaces.get(request.namespace)
    if known is None and keys_of(selector) - {NAME_LABEL}:
        raise NotEvaluatedError(f"the labels of namespace `{request.namespace}` are only known in a cluster")
    return selects(selector, {**_labels(known or {}), NAME_LABEL: request.namespace})


def _any_rule(rules: Iterable[Body], request: Request, *, exact: bool) -> bool:
    other_version = False
    for rule in rules:
        if _rule(rule, request):
            if has_value(rule.get("apiVersions"), request.version):
                return True
            other_version = True
    if other_version and not exact:
        what = f"the rule is for another version than `{request.version}`, to which only a server converts objects"
        raise NotEvaluatedError(what)
    return False


def _rule(rule: Body, request: Request) -> bool:
    """Whether a rule is for a request, or one with another version."""
    scope = rule.get("scope") or "*"
    cluster = not request.namespace or request.kind == "Namespace"
    names = rule.get("resourceNames") or ()
    return (
        has_value(rule.get("operations"), request.operation)
        and is_about(rule, request.group, request.resource)
        and (scope == "*" or (scope == "Cluster") is cluster)
        and (not names or request.name in names)
    )


_BUDGET: Final = 10_000_000
"""Cost of all validations of a binding (`RuntimeCELCostBudget` of `apiserver/pkg/apis/cel/config.go`)."""
_DENY: Final = ("Deny",)
_MAX_MESSAGE: Final = 5 * 1024
_OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer of a policy's binding that does not accept a request."""

    policy: StoredObject
    binding: StoredObject
    message: str
    """The message of the policy, or the reason why it is not evaluated."""
    route: Route
    """Route of the part of the policy that decided."""
    actions: tuple[str, ...] = ()
    """`Deny`, `Warn`, `Audit`; none if the policy is not evaluated."""
    cause: Route = ()
    """Route of the part of the object that decided, as far as the expression shows it."""
    error: Exception | None = None
    """The bug that prevented the evaluation."""


def verdicts(policies: PolicySet, request: Request) -> Iterator[Verdict]:
    """The verdicts of all bound policies that do not accept a request. Few match most objects, and only for those the
    request has its defaults.
    """
    if is_exempt(request):
        return
    chosen = [
        one
        for policy, binding in policies.bound_to(request.group, request.resource)
        if (one := _Evaluation(policies, policy, binding, request)).may_match()
    ]
    if chosen:
        _ = request.body, request.old  # a bug here is one of the request, not of a policy
    for evaluation in chosen:
        yield from _contained(evaluation)


def _contained(evaluation: _Evaluation) -> Iterator[Verdict]:
    try:
        yield from evaluation.verdicts()
    except NotEvaluatedError as error:
        yield evaluation.verdict(str(error), evaluation.current, actions=())
    except CompileError as error:
        yield evaluation.verdict(f"invalid expression: {error.message}", ("spec",), actions=())
    except DAMAGED:
        yield evaluation.verdict("a server refuses the policy or the binding", ("spec",), actions=())
    except Exception as error:  # noqa: BLE001 - see `gen.base.findings`
        yield replace(evaluation.verdict("", ("spec",), actions=()), error=error)


class _Evaluation:
    """One binding of one policy, and one request."""

    def __init__(self, policies: PolicySet, policy: StoredObject, binding: StoredObject, request: Request) -> None:
        self._policies, self._policy, self._binding, self._request = policies, policy, binding, request
        self._spec: Body = policy.body.get("spec") or {}
        self._bound: Body = binding.body.get("spec") or {}
        self._is_unknown = False
        """Whether it is unknown whether the binding matches."""
        self.current: Route = ("spec",)

    def may_match(self) -> bool:
        """Whether the binding matches the request, or whether that is unknown."""
        try:
            return self._matches()
        except (NotEvaluatedError, *DAMAGED):  # `verdicts` raises it again
            self._is_unknown = True
            return True

    def _matches(self) -> bool:
        constraints = self._spec.get("matchConstraints"), self._bound.get("matchResources")
        return all(matches(one, self._request, self._policies.namespaces) for one in constraints)

    @property
    def _ignores(self) -> bool:
        return self._spec.get("failurePolicy") == "Ignore"

    def verdict(
        self, message: str, route: Route, *, actions: tuple[str, ...] | None = None, cause: Route = ()
    ) -> Verdict:
        """A verdict with some actions; None for those of the binding."""
        if actions is None:
            actions = tuple(self._bound.get("validationActions") or ())
        return Verdict(
            policy=self._policy, binding=self._binding, message=message, route=route, actions=actions, cause=cause
        )

    def _cause(self, program: Program, compiled: CompiledPolicy, values: dict[str, Any]) -> Route:
        def fails(body: object) -> bool:
            other = {**values, "object": body}
            other["variables"] = _variables(compiled, other)
            try:
                return program.evaluate(other)[0] is not True
            except (CelError, NotEvaluatedError):
                return True

        texts = {name: one.text for name, one in compiled.variables.items()}
        return cause(program.text, texts, self._request.body, fails)

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts for a request that may match."""
        if self._is_unknown:
            self.current = ("spec", "matchConstraints")
            self._matches()
            self.current = ("spec",)
        compiled = self._policies.compiled(self._policy)
        for params in self._params():
            if isinstance(params, str):
                if not self._ignores:
                    message = f"failed to configure binding: {params}"
                    yield self.verdict(message, ("spec", "paramKind"), actions=_DENY)
                continue
            yield from self._validations(compiled, self._values(params))

    def _params(self) -> list[object]:
        """The parameters to evaluate with; the text of an error instead of them if there are none."""
        kind, reference = self._spec.get("paramKind"), self._bound.get("paramRef")
        if not kind or not reference:
            return [None]
        found = self._policies.chosen_params(kind, reference, self._request.namespace)
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            return ["no params found for policy binding with `Deny` parameterNotFoundAction"]
        return [*found]

    def _values(self, params: object) -> dict[str, Any]:
        request = self._request
        return {
            "object": request.body,
            "oldObject": request.old,
            "params": params,
            "request": variables_of(request),
            "namespaceObject": self._namespace(),
            "authorizer": Opaque("kubernetes.authorization.Authorizer", None),
            "authorizer.requestResource": Opaque("kubernetes.authorization.ResourceCheck", None),
        }

    def _namespace(self) -> Any:
        name = self._request.namespace
        if not name or (self._request.kind == "Namespace" and not self._request.group):
            return None
        known = self._policies.namespaces.get(name)
        if known is None:
            why = f"namespace `{name}` is only known in a cluster"
            return {"metadata": unknown(why), "spec": unknown(why), "status": unknown(why)}
        metadata = known.get("metadata") or {}
        labels = {**(metadata.get("labels") or {}), NAME_LABEL: name}
        return {**known, "metadata": {**metadata, "labels": labels}}

    def _validations(self, compiled: CompiledPolicy, values: dict[str, Any]) -> Iterator[Verdict]:
        matched, error = self._conditions(compiled, values)
        if error is not None and not self._ignores:
            yield self.verdict(error, ("spec", "matchConditions"))
        if not matched or error is not None:
            return
        values["variables"] = _variables(compiled, values)
        left: float = _BUDGET
        for validation in compiled.validations:
            self.current, program = validation.route, validation.program
            try:
                found, cost = program.evaluate(values, min(left, PER_CALL))
                text = None if found is True else _message(validation, values)
            except CelError as problem:
                cost = PER_CALL if isinstance(problem, CostError) else 0
                failed = _failed(program, problem) if left > cost else _OUT_OF_BUDGET
                text = None if self._ignores else failed
            left -= cost
            if text is not None:
                where = self._cause(program, compiled, values)
                yield self.verdict(text, validation.route, cause=where)
        if not self._ignores:
            yield from self._audits(compiled, values)

    def _audits(self, compiled: CompiledPolicy, values: dict[str, Any]) -> Iterator[Verdict]:
        """Errors of audit annotations. They deny with any actions of the binding."""
        for route, program in compiled.audits:
            try:
                program.evaluate(values)
            except CelError as problem:
                yield self.verdict(_failed(program, problem), route, actions=_DENY)
            except NotEvaluatedError:  # the value is for the log only
                continue

    def _conditions(self, compiled: CompiledPolicy, values: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether the conditions match, and the errors of those that cannot be evaluated."""
        errors = []
        for route, program in compiled.conditions:
            self.current = route
            try:
                if program.evaluate({**values, "namespaceObject": None})[0] is False:
                    return False, None
            except CelError as problem:
                errors.append(_failed(program, problem))
        if not errors:
            return True, None
        return True, errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"


def _variables(compiled: CompiledPolicy, values: dict[str, Any]) -> dict[str, Any]:
    """The variables of a policy, each evaluated when it is first read."""
    found: dict[str, Any] = {}

    def lazy(name: str, program: Program) -> Any:
        def read() -> Any:
            try:
                value = found[name] = program.evaluate({**values, "variables": found})[0]
            except CostError:
                raise
            except CelError as error:
                raise CelError(f'composited variable "{name}" fails to evaluate: {error}') from None
            return value

        return read

    for name, program in compiled.variables.items():
        found[name] = lazy(name, program)
    return found


def _failed(program: Program, error: CelError) -> str:
    return f"expression '{program.text}' resulted in error: {error}"


def _message(validation: Validation, values: dict[str, Any]) -> str:
    """The message of a failed validation: of its expression if that gives one line of text."""
    text = ""
    if validation.message_program is not None:
        try:
            found = validation.message_program.evaluate(values)[0]
            text = found.strip() if isinstance(found, str) else ""
        except (CelError, NotEvaluatedError):
            text = ""
        if len(text.encode(errors="replace")) > _MAX_MESSAGE or "\n" in text:
            text = ""
    return text or validation.message.strip() or f"failed expression: {validation.program.text.strip()}"
