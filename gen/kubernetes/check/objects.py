"""Check one object: its API version, its schema, the CEL rules of its definition, and the rules of its kind.

The work for one rule and one object is limited by its cost and not by time, so that the verdict is the same on every
machine and does not depend on earlier evaluations. Annotations of the object can silence problems.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gen.base import INTERNAL_ERROR, Route, did_you_mean, entries, follow, is_passed, near, origin, overlap, quoted
from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.evaluate import PER_CALL
from gen.kubernetes.cel.program import Program, compile_expression
from gen.kubernetes.cel.values import DYN, CelError, CompileError, CostError, NotEvaluatedError
from gen.kubernetes.cel.variables import declared_environment
from gen.kubernetes.check.schema_errors import MAX_PROBLEMS, schema_problems
from gen.kubernetes.check.silence import CheckResult, silenced
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.api_versions import RETIRED
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import DAMAGED, ObjectView, Problem, Rule, dropped, is_custom, is_generated
from gen.kubernetes.rules.catalogue import RULES, rules_for
from gen.kubernetes.rules.field_checks import duplicates
from gen.kubernetes.schemas.structural import ExtraChecks, schema_at, with_defaults

if TYPE_CHECKING:
    from gen.kubernetes.schemas.lookup import Kind, Kinds


def is_removed(api_version: str, name: str, kinds: Kinds) -> bool:
    """Whether Kubernetes or an operator does not serve the kind in this version any more."""
    old = RETIRED.get((api_version, name))
    return old is not None and old.removed is not None and old.removed <= kinds.minor


def retired(api_version: str, name: str, kinds: Kinds, *, known: bool) -> Iterator[Problem]:
    """The problem of a deprecated or removed API version; `known` if there is a schema for it."""
    old = RETIRED.get((api_version, name))
    if old is None:
        return
    minor = kinds.minor
    instead = f"use `{old.instead}`" if "/" in old.instead else old.instead
    if is_removed(api_version, name, kinds) and not known:
        when = f" in Kubernetes 1.{old.removed}" if old.removed else ""
        yield Problem("removed-api", ("apiVersion",), f"{api_version} {name} was removed{when}", instead)
    elif old.deprecated <= minor:
        until = f" and removed in Kubernetes 1.{old.removed}" if old.removed else ""
        yield Problem("deprecated-api", ("apiVersion",), f"{api_version} {name} is deprecated{until}", instead)


def unknown(api_version: str, name: str, kinds: Kinds) -> Problem:
    """The problem of a kind without a schema, with the version or the kind that was probably meant."""
    names = kinds.names()
    versions = sorted({version for version, kind in names if kind == name})
    message = f"no schema found for {api_version} {name}"
    if versions:
        return Problem("unknown-api", ("apiVersion",), message, did_you_mean(api_version, versions))
    if resource_of_object(api_version, name) is not None or _is_served(api_version, name):
        hint = "name the file or folder of its definition with `--schema-location`"
        return Problem("unknown-api", ("kind",), message, f"{hint}, or skip it with `--ignore-missing-schemas`")
    guess = near(name, (kind for version, kind in names if version == api_version))
    return Problem("unknown-api", ("kind",), message, f"did you mean `{guess}`?" if guess else "")


def _is_served(api_version: str, name: str) -> bool:
    """Whether an operator serves or served the kind in this version."""
    return any((api_version, name) in (old, (version.instead, old[1])) for old, version in RETIRED.items())


def check(body: object, kinds: Kinds, *, missing: bool = False) -> CheckResult:
    """The problems of an object, up to a limit. With `missing`, kinds without a schema are skipped."""
    examined = ObjectCheck(body, kinds, missing=missing)
    examined.apply_rules()
    return examined.result()


class ObjectCheck:
    """An object with the problems of its schema and its definition, to which rules are applied then."""

    def __init__(self, body: object, kinds: Kinds, *, missing: bool = False) -> None:
        self.body = body
        self.rules: tuple[Rule, ...] = ()
        self._view: ObjectView | None = None
        self._completed: tuple[Route, ...] = ()
        """Pod templates that an operator may complete before it makes pods from them."""
        self._wrong: list[Route] = []
        """Fields that break the schema."""
        self._seen: set[Route] = set()
        self._problems: list[Problem] = []
        try:
            self._problems += islice(self._before_rules(body, kinds, missing=missing), MAX_PROBLEMS)
        except Exception as error:  # noqa: BLE001 - see `gen.base.findings`
            self._problems.append(failed(error, "check the object"))

    def apply_rules(self, start: int = 0, stop: int | None = None) -> None:
        """Apply some of the rules."""
        view = self._view
        if view is None:
            return
        for rule in self.rules[start:stop]:
            if rule.of_pods and not view.templates:
                continue
            assert rule.find is not None  # chosen by `rules_for`
            try:
                for fault in rule.find(view):
                    if len(self._problems) >= MAX_PROBLEMS:
                        return
                    if fault.route not in self._seen:  # the first rule that finds a fault at a place reports it
                        self._seen.add(fault.route)
                        self._add(Problem(rule.name, fault.route, fault.message, fault.hint))
            except Exception as error:  # noqa: BLE001 - see `gen.base.findings`
                # an object that breaks its schema, or a kind that a user's definition describes differently
                damaged = isinstance(error, DAMAGED) and (self._wrong or view.defined)
                if not damaged:
                    self._problems.append(failed(error, f"apply rule `{rule.name}`"))

    def _add(self, problem: Problem) -> None:
        if not any(overlap(problem.route, at) for at in self._wrong):
            self._problems += self._as_seen([problem])

    def _as_seen(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Problems. Those of templates that an operator may complete are warnings: it adds absent fields."""
        for problem in problems:
            if not any(problem.route[: len(at)] == at for at in self._completed):
                yield problem
            elif follow(self.body, problem.route) is not None:
                message = f"{problem.message} (`{problem.rule}`)"
                yield Problem("pods-may-fail", problem.route, message, problem.hint or RULES[problem.rule].hint)

    def result(self) -> CheckResult:
        return silenced(self._problems, self.body) if self._problems else _CLEAN

    def _before_rules(self, body: object, kinds: Kinds, *, missing: bool) -> Iterator[Problem]:
        if not isinstance(body, dict):
            yield Problem("not-an-object", (), "expected a mapping with `apiVersion` and `kind`")
            return
        wrong = [field for field in ("apiVersion", "kind") if not isinstance(body.get(field), str) or not body[field]]
        if wrong:
            for field in wrong:
                yield Problem(
                    "not-an-object", (field,) if field in body else (), f"`{field}` is missing or not a string"
                )
            return
        api_version, name = body["apiVersion"], body["kind"]
        kind = kinds.get(api_version, name)
        if kind is not None and kind.partial and not is_generated(body):
            kind = None
        yield from retired(api_version, name, kinds, known=kind is not None)
        if kind is None:
            known = api_version in kinds.schemas.api_versions
            if not (missing and not known) and not is_removed(api_version, name, kinds):
                yield unknown(api_version, name, kinds)
            return
        if kind.deprecated is not None and (api_version, name) not in RETIRED:
            yield Problem("deprecated-api", ("apiVersion",), kind.deprecated)
        yield from self._of_known_kind(body, kind, kinds)

    def _of_known_kind(self, body: Body, kind: Kind, kinds: Kinds) -> Iterator[Problem]:
        """Check against the schema of the kind and its definition. Rules see no fields that break the schema."""
        custom = kind.extra_checks is not None or is_custom(body["apiVersion"].rpartition("/")[0])
        namespaced = kind.namespaced is not False

        def empty(route: Route) -> Any:
            if not custom:
                return kinds.schemas.empty(kind.schema, route)
            return None if _can_be_null(kind, route) else dropped(route)

        view = ObjectView.of(
            body, kinds.version, defined=kind.extra_checks is not None, namespaced=namespaced, empty=empty
        )
        if view.json is not None and len(view.json) > _MAX_OBJECT_BYTES:
            yield Problem(
                "object-size", (), f"object is {len(view.json) >> 20} MiB; the API server accepts at most 3 MiB"
            )
            return
        if custom and view.body is not body:
            nulls = (Problem("wrong-type", at, "expected a value, got null") for at in _null_entries(body, kind, ()))
            yield from (problem for problem in nulls if _is_validated(problem, body, kind))
        faults = [problem for problem in _of_schema(view.body, kind, kinds, ()) if _is_validated(problem, body, kind)]
        templates = [route for route, _ in view.templates] if kind.extra_checks is not None and not faults else []
        self._completed = tuple(templates) if not view.knows_operator else ()
        for route in templates:
            faults += _of_template(view.body, route, kind, kinds)
        if view.body is not body:
            yield from _unknown_nulls(body, kind, kinds, [] if self._completed else templates)
        if not faults:
            yield from _of_definition(view.body, body, kind)
        else:
            yield from self._as_seen(faults)
            self._wrong = [fault.route for fault in faults]
            body = _without(view.body, self._wrong)
            view = ObjectView.of(body, kinds.version, defined=view.defined, namespaced=namespaced)
        self._view, self.rules = view, rules_for(view.group, view.kind)


_CLEAN = CheckResult()
_STATUS = ("status",)
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


def _of_schema(body: object, kind: Kind, kinds: Kinds, route: Route) -> Iterator[Problem]:
    if not kind.validator.is_valid(body):
        for problem in schema_problems(kind.validator.errors(body), kind.schema, kinds.schemas):
            yield replace(problem, route=(*route, *problem.route))


def _is_validated(problem: Problem, written: Body, kind: Kind) -> bool:
    """Whether a server sees a problem. It reports unknown fields when it decodes an object, before it drops the status
    (`PrepareForCreate` of `apiextensions-apiserver/pkg/registry/customresource/strategy.go`).
    """
    if problem.rule == "absent-field" and _can_be_null(kind, problem.route):
        *above, last = problem.route
        return last not in (follow(written, tuple(above)) or ())
    if not kind.drops_status or problem.route[:1] != _STATUS or problem.is_about_key:
        return True
    # fields in a value that should be none are unknown, too
    return problem.rule == "wrong-type" and bool(isinstance(value := follow(written, problem.route), dict) and value)


def _of_template(body: Body, route: Route, kind: Kind, kinds: Kinds) -> Iterator[Problem]:
    """Problems of a pod template in an object with a definition, which may know newer fields than this version."""
    for problem in _of_schema(follow(body, route), kinds.pod_template, kinds, route):
        if not (problem.is_about_key and schema_at(kind.source or {}, problem.route) is not None):
            yield problem


def _unknown_nulls(body: Body, kind: Kind, kinds: Kinds, templates: list[Route]) -> Iterator[Problem]:
    """Unknown fields that are null: the API server reports them before it drops null fields."""
    problems = {problem.route: problem for problem in _of_schema(body, kind, kinds, ())}
    for route in templates:
        problems |= {problem.route: problem for problem in _of_template(body, route, kind, kinds)}
    for route, problem in problems.items():
        if problem.is_about_key and follow(body, route) is None:
            yield problem


def _can_be_null(kind: Kind, route: Route) -> bool:
    """Whether the definition of a kind allows null at a route: values without a type can be anything."""
    if kind.source is None:
        return False
    schema = schema_at(kind.source, route) or {}
    return bool(schema.get("nullable")) or not (schema.get("type") or schema.get("x-kubernetes-int-or-string"))


def _null_entries(value: object, kind: Kind, route: Route) -> Iterator[Route]:
    """Null entries of lists: the API server drops null fields of custom resources, but rejects null entries, unless
    their definition allows them.
    """
    for key, inner in entries(value):
        if inner is None and isinstance(value, list) and not _can_be_null(kind, (*route, key)):
            yield (*route, key)
        yield from _null_entries(inner, kind, (*route, key))


def _of_definition(body: Body, written: Body, kind: Kind) -> Iterator[Problem]:
    """Problems of a valid object; `written` has its null fields."""
    if kind.namespaced is False and (body.get("metadata") or {}).get("namespace"):
        yield Problem(
            "wrong-scope", ("metadata", "namespace"), f"`namespace` is set, but {body['kind']} is cluster-scoped"
        )
    if kind.drops_status and "status" in body:
        written = {field: value for field, value in written.items() if field != "status"}
    replicas = follow(body, kind.replicas) if kind.replicas else 0
    if isinstance(replicas, int) and not 0 <= replicas <= _MAX_REPLICAS:
        message = f"{replicas} is not between 0 and {_MAX_REPLICAS}"
        yield Problem("schema-constraint", kind.replicas, message, "use a number of replicas in this range")
    if kind.extra_checks is None or kind.source is None or kind.extra_checks.empty():
        return
    budgets: dict[str, Budget] = {}
    for extra, route, value in kind.extra_checks.visit(_as_evaluated(kind, written)):
        if extra.keys and isinstance(value, list):
            for at, names in duplicates([one for one in value if isinstance(one, dict)], route, *extra.keys):
                keys = quoted(names)
                yield Problem("double-entry", at, f"duplicate entry with key {keys}")
        if extra.rules:
            yield from _of_cel_rules(extra, value, route, budgets)


def _as_evaluated(kind: Kind, body: Body) -> Any:
    """An object with its defaults, and with the types that rules see."""
    from gen.kubernetes.cel.variables import has_typed_values, typed_value

    source = kind.source or {}
    value = with_defaults(source, body)
    return typed_value(source, value) if has_typed_values(source) else value


def _of_cel_rules(extra: ExtraChecks, value: object, route: Route, budgets: dict[str, Budget]) -> Iterator[Problem]:
    from gen.kubernetes.cel.values import NotEvaluatedError

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


def failed(error: Exception, task: str) -> Problem:
    """The problem for an exception, which costs the result of a rule for one object. Raises it if it is not a bug."""
    if is_passed(error):
        raise error
    return Problem(INTERNAL_ERROR, (), f"gen failed to {task}: {origin(error)}")


_UNTYPED = Environment({"self": DYN})


class Budget:
    """The cost that is left for one rule and one object."""

    __slots__ = ("left",)

    def __init__(self, limit: float = PER_CALL) -> None:
        self.left = limit


class Rules:
    """The rules of one schema, each compiled when it is first used."""

    __slots__ = ("_environment", "_programs")

    def __init__(self, schema: Mapping[str, object] | None = None, *, root: bool = False) -> None:
        self._environment = declared_environment(schema, "self", root=root) if schema is not None else _UNTYPED
        self._programs: dict[str, Program] = {}

    def holds(self, expression: str, value: object, budget: Budget) -> bool:
        """Whether a rule holds for a value. An evaluation error counts as false, as on an API server.

        NotEvaluatedError when an API server refuses the rule itself, or when its cost exceeds the budget.
        """
        try:
            found, cost = self._program(expression).evaluate({"self": value}, budget.left)
        except CompileError as error:
            raise NotEvaluatedError(error.message) from error
        except CostError as error:
            budget.left = -1
            raise NotEvaluatedError(str(error)) from error
        except CelError:
            return False
        budget.left -= cost
        return found is True

    def _program(self, expression: str) -> Program:
        if expression not in self._programs:
            self._programs[expression] = compile_expression(expression, self._environment, escaped_names=True)
        return self._programs[expression]
