"""Check one object against its schema, its definition and the rules."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gen.check.api_versions import is_removed, retired, unknown
from gen.check.schema_errors import MAX_PROBLEMS, schema_problems
from gen.check.silence import Checked, silenced
from gen.kubernetes import overlap
from gen.parallel import finished
from gen.resources.pods import follow
from gen.resources.retired import RETIRED
from gen.rules.catalogue import rules_for
from gen.rules.field_checks import duplicates
from gen.rules.object_view import ObjectView, dropped, is_custom
from gen.rules.problem import DAMAGED, Problem
from gen.rules.rule import is_generated
from gen.schemas.structural import with_defaults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.check.cel import Budget, Rules
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.parallel import Steps
    from gen.rules.rule import Rule
    from gen.schemas.lookup import Kind, Kinds
    from gen.schemas.structural import ExtraChecks


def check(body: Any, kinds: Kinds, *, missing: bool = False) -> Checked:
    """The problems of an object, up to a limit. With `missing`, kinds without a schema are skipped."""
    return finished(check_in_steps(body, kinds, missing=missing))


def check_in_steps(body: Any, kinds: Kinds, *, missing: bool = False) -> Steps[Checked]:
    """`check`, in a step for every few rules."""
    problems: list[Problem] = []
    for problem in _problems(body, kinds, missing=missing):
        if problem is _PAUSE:
            yield
        elif len(problems) < MAX_PROBLEMS:
            problems.append(problem)
        else:
            break
    return silenced(problems, body) if problems else _CLEAN


_CLEAN = Checked()
_PAUSE = None
"""Stands between two steps, in place of a problem."""
_RULES_PER_STEP = 4


def _problems(body: Any, kinds: Kinds, *, missing: bool) -> Iterator[Problem | None]:
    if not isinstance(body, dict):
        yield Problem("not-an-object", (), "expected a mapping with `apiVersion` and `kind`")
        return
    wrong = [field for field in ("apiVersion", "kind") if not isinstance(body.get(field), str) or not body[field]]
    if wrong:
        for field in wrong:
            yield Problem("not-an-object", (field,) if field in body else (), f"`{field}` is missing or not a string")
        return
    api_version, name = body["apiVersion"], body["kind"]
    kind = kinds.get(api_version, name)
    if kind is not None and kind.partial and not is_generated(body):
        kind = None
    yield from retired(api_version, name, kinds, known=kind is not None)
    if kind is None:
        known = any(version == api_version for version, _ in kinds.schemas.kinds())
        if not (missing and not known) and not is_removed(api_version, name, kinds):
            yield unknown(api_version, name, kinds)
        return
    if kind.deprecated is not None and (api_version, name) not in RETIRED:
        yield Problem("deprecated-api", ("apiVersion",), kind.deprecated)
    yield from _problems_of_known_kind(body, kind, kinds)


def _problems_of_known_kind(body: Body, kind: Kind, kinds: Kinds) -> Iterator[Problem | None]:
    """Check against the schema of the kind, its definition and the rules. Fields that break the schema are left out for
    the rules.
    """
    custom = is_custom(body["apiVersion"].rpartition("/")[0])

    namespaced = kind.namespaced is not False

    def empty(route: Route) -> Any:
        return kinds.schemas.empty(kind.schema, route) if not custom else dropped(route)

    view = ObjectView.of(body, kinds.version, defined=kind.extra_checks is not None, namespaced=namespaced, empty=empty)
    if view.json is not None and len(view.json) > _MAX_OBJECT_BYTES:
        yield Problem("object-size", (), f"object is {len(view.json) >> 20} MiB; the API server accepts at most 3 MiB")
        return
    if custom and view.body is not body:
        yield from (Problem("wrong-type", at, "expected a value, got null") for at in _null_entries(body, ()))
    faults = list(_of_schema(view.body, kind, kinds, ()))
    templates = view.templates if kind.extra_checks is not None and not faults else ()
    for route, template in templates:
        faults += _of_schema(template, kinds.pod_template, kinds, route)
    if view.body is not body:
        yield from _unknown_nulls(body, kind, kinds, [route for route, _ in templates])
    if not faults:
        yield from _of_definition(view.body, kind)
        yield from _of_rules(view, sound=True)
        return
    yield from faults
    wrong = [fault.route for fault in faults]
    view = ObjectView.of(_without(view.body, wrong), kinds.version, defined=view.defined, namespaced=namespaced)
    for one in _of_rules(view, sound=False):
        if one is _PAUSE or not any(overlap(one.route, at) for at in wrong):
            yield one


_MAX_OBJECT_BYTES = 3 << 20
"""Bytes of a request (`MaxRequestBodyBytes` of `apiserver/pkg/server/config.go`); the limit of etcd is lower."""


_MAX_REPLICAS = 2**31 - 1
"""Of resources with a `scale` subresource (`apiextensions-apiserver/pkg/registry/customresource/validator.go`)."""


def _without(body: Body, routes: list[Route]) -> Body:
    """A copy without invalid fields. Entries of lists stay, so that the others keep their routes."""
    copied = copy.deepcopy(body)
    for route in routes:
        if route in {(), ("apiVersion",), ("kind",)}:
            continue
        *steps, last = route
        holder: Any = copied
        for step in steps:
            inside = step in holder if isinstance(holder, dict) else isinstance(step, int) and step < len(holder)
            holder = holder[step] if inside and isinstance(holder[step], dict | list) else {}
        if isinstance(holder, dict):
            holder.pop(last, None)
    return copied


def _of_schema(body: Any, kind: Kind, kinds: Kinds, route: Route) -> Iterator[Problem]:
    if not kind.validator.is_valid(body):
        for problem in schema_problems(kind.validator.iter_errors(body), kind.schema, kinds.schemas):
            yield replace(problem, route=(*route, *problem.route))


def _unknown_nulls(body: Body, kind: Kind, kinds: Kinds, templates: list[Route]) -> Iterator[Problem]:
    """Unknown fields that are null: the API server reports them before it drops null fields."""
    problems = {problem.route: problem for problem in _of_schema(body, kind, kinds, ())}
    for route in templates:
        problems |= {
            problem.route: problem for problem in _of_schema(follow(body, route), kinds.pod_template, kinds, route)
        }
    for route, problem in problems.items():
        if problem.rule == "unknown-field" and follow(body, route) is None:
            yield problem


def _null_entries(value: Any, route: Route) -> Iterator[Route]:
    """Null entries of lists: the API server drops null fields of custom resources, but rejects null entries."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if inner is None and isinstance(value, list):
            yield (*route, key)
        yield from _null_entries(inner, (*route, key))


def _of_definition(body: Body, kind: Kind) -> Iterator[Problem]:
    if kind.namespaced is False and (body.get("metadata") or {}).get("namespace"):
        yield Problem(
            "wrong-scope", ("metadata", "namespace"), f"`namespace` is set, but {body['kind']} is cluster-scoped"
        )
    replicas = follow(body, kind.replicas) if kind.replicas else 0
    if isinstance(replicas, int) and not 0 <= replicas <= _MAX_REPLICAS:
        message = f"{replicas} is not between 0 and {_MAX_REPLICAS}"
        yield Problem("invalid-value", kind.replicas, message, "use a number of replicas in this range")
    if kind.extra_checks is None or kind.source is None or kind.extra_checks.empty():
        return
    budgets: dict[str, Budget] = {}
    for extra, route, value in kind.extra_checks.visit(_as_evaluated(kind, body)):
        if extra.keys and isinstance(value, list):
            for at, names in duplicates([one for one in value if isinstance(one, dict)], route, *extra.keys):
                keys = ", ".join(f"`{name}`" for name in names)
                yield Problem("double-entry", at, f"duplicate entry with key {keys}")
        if extra.rules:
            yield from _of_cel_rules(extra, value, route, budgets)


def _as_evaluated(kind: Kind, body: Body) -> Any:
    """An object with its defaults, and with the types that rules see."""
    from gen.cel.declared import has_typed_values, typed_value  # noqa: PLC0415 - most kinds have no CEL rules

    source = kind.source or {}
    value = with_defaults(source, body)
    return typed_value(source, value) if has_typed_values(source) else value


def _of_cel_rules(extra: ExtraChecks, value: Any, route: Route, budgets: dict[str, Budget]) -> Iterator[Problem]:
    from gen.cel.errors import NotEvaluatedError  # noqa: PLC0415 - slow, and most kinds have no CEL rules
    from gen.check.cel import Budget, Rules  # noqa: PLC0415 - as above

    if extra.compiled is None:
        extra.compiled = Rules(extra.schema, root=not route)
    rules: Rules = extra.compiled
    for expression, message in extra.rules:
        left = budgets.setdefault(expression, Budget())
        if left.left < 0:  # reported where the budget ran out
            continue
        shown = " ".join(expression.split())
        try:
            if not rules.holds(expression, value, left):
                yield Problem("cel", route, message, f"change the object so that this holds: `{shown}`")
        except NotEvaluatedError:
            yield Problem("cel-not-evaluated", route, f"gen cannot evaluate this rule: `{shown[:200]}`")


def _of_rules(view: ObjectView, *, sound: bool) -> Iterator[Problem | None]:
    seen = set()
    has_pods = bool(view.templates)
    for number, rule in enumerate(rules_for(view.group, view.kind)):
        if number % _RULES_PER_STEP == 0:
            yield _PAUSE
        if rule.of_pods and not has_pods:
            continue
        assert rule.find is not None  # noqa: S101 - chosen by `rules_for`
        try:
            for fault in rule.find(view):
                if fault.route not in seen:  # the first rule that finds a fault at a place reports it
                    seen.add(fault.route)
                    yield Problem(rule.name, fault.route, fault.message, fault.hint)
        except DAMAGED as error:
            # an object that breaks its schema, or a kind that a user's definition describes differently
            if sound and not view.defined:
                yield _failed(rule, error)


def _failed(rule: Rule, error: Exception) -> Problem:
    """A bug in a rule only costs the result of this rule for this object."""
    what = f"{type(error).__name__}: {error}"[:100]
    return Problem("rule-failed", (), f"rule `{rule.name}` failed to check this object ({what})")
