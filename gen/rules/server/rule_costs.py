"""Estimated costs of the CEL rules in the schema of a definition, and the limits that the schema should have.

From `CELSchemaContext` of `apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.cel.costs.declared import Declared, declared_sizes
from gen.cel.costs.estimate import Estimated, estimated
from gen.cel.costs.sizes import times
from gen.cel.errors import CompileError, NotEvaluatedError
from gen.cel.program import checked_tree
from gen.rules.server.schema_values import EMBEDDED, RULES, rule_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from gen.cel.checker import Checked
    from gen.cel.tree import Node
    from gen.diagnostics import Route
    from gen.kubernetes import Body

_OF_OBJECTS: Final = frozenset({"metadata", "apiVersion", "kind"})
"""Fields that the server may declare itself. The rules below them are not estimated."""
_TYPES: Final = {"rule": "bool", "messageExpression": "string"}
_MAX_LIMITS: Final = 3
_TRIED: Final = 64
"""A limit that people would set."""
_EACH: Final = "[*]"


class Limit(Struct, frozen=True):
    """A field of a schema that limits a value, and is not set."""

    field: str
    names: tuple[str, ...]
    """The path of the value, from the whole object."""

    def __str__(self) -> str:
        path = "".join(name if name == _EACH else f".{name}" for name in self.names).removeprefix(".")
        return f"`{self.field}` of `{path}`"


class _Place(Struct):
    """A schema inside the schema of a version."""

    schema: Body
    route: Route
    names: tuple[str, ...] = ()
    is_root: bool = False
    known: int = 1
    """How often an object can contain the value, as far as it is limited."""
    limits: tuple[Limit, ...] = ()
    """The missing limits of lists and mappings around the value."""

    @property
    def whole(self) -> bool:
        """Whether the value is an object with metadata."""
        return self.is_root or bool(self.schema.get(EMBEDDED))

    def below(self, schema: Body, steps: Route, name: str) -> _Place:
        field, factor = _factor(self.schema)
        limits = (*self.limits, Limit(field, self.names)) if factor is None else self.limits
        known = times(self.known, factor if factor is not None else 1)
        return _Place(schema, (*self.route, *steps), (*self.names, name), known=known, limits=limits)


def _factor(schema: Body) -> tuple[str, int | None]:
    """How many entries a list or a mapping has at most, and the field that limits it (`extractMaxElements`)."""
    if schema.get("type") == "array":
        field = "maxItems"
    elif schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        field = "maxProperties"
    else:
        return "", 1
    limit = schema.get(field)
    return field, max(limit, 0) if isinstance(limit, int) else None


class Work(Struct):
    """The characters of expressions that may be estimated again for hints."""

    left: int = 200_000


_Missing = tuple[tuple[str, ...], Declared]


class RuleCost(Struct):
    """The estimated cost of an expression of a rule, for all values in one object."""

    route: Route
    cost: int
    _place: _Place
    _declared: Declared
    _tree: Node
    _checked: Checked
    _length: int
    _repeats: int = 1
    """How often it is evaluated, if all lists and mappings around have a limit."""
    _limits: tuple[Limit, ...] = ()
    """Those that have none."""

    def limits(self, most: int, work: Work) -> list[Limit]:
        """A few missing limits that lower the cost below a number, those that lower it most first."""
        chosen = list(self._limits)
        limited: list[tuple[Declared, int, str]] = []
        try:
            found = self._estimated()
            while len(chosen) < _MAX_LIMITS and times(found.cost, self._repeats) > most:
                missing = [(route, one) for route, one in found.unlimited.items() if one.missing]
                cost, route, one = self._best(missing, work) or (found.cost, (), self._declared)
                if cost >= found.cost:
                    break
                chosen.append(Limit(one.missing, (*self._place.names, *map(_name, route))))
                limited.append((one, one.most, one.missing))
                one.most, one.missing = min(one.most, _TRIED), ""
                found = self._estimated()
        finally:
            for one, size, field in limited:
                one.most, one.missing = size, field
        return chosen[:_MAX_LIMITS]

    def _best(self, missing: list[_Missing], work: Work) -> tuple[int, tuple[str, ...], Declared] | None:
        """The value to limit so that the cost is lowest, with that cost; the largest value if there are too many."""
        work.left -= len(missing) * self._length
        tried = missing if work.left > 0 else sorted(missing, key=_by_size)[-1:]
        return min(((self._if_limited(one).cost, route, one) for route, one in tried), key=_by_cost, default=None)

    def _estimated(self) -> Estimated:
        return estimated(self._tree, self._checked, self._declared)

    def _if_limited(self, one: Declared) -> Estimated:
        size, one.most = one.most, min(one.most, _TRIED)
        try:
            return self._estimated()
        finally:
            one.most = size


def _by_size(value: _Missing) -> int:
    return value[1].most


def _by_cost(trial: tuple[int, Any, Any]) -> int:
    return trial[0]


def _name(step: str) -> str:
    return _EACH if step.startswith("@") else step


def rule_costs(schema: Body, holders: AbstractSet[int], route: Route, minor: int) -> Iterator[RuleCost]:
    """The costs of all rules and their messages for a minor version of Kubernetes, without invalid expressions.

    `holders` are the identities of the schemas with rules in them.
    """
    places = [_Place(schema, route, is_root=True)]
    for place in places:  # grows
        yield from _of_place(place, minor)
        places += _inside(place, holders)


def _inside(place: _Place, holders: AbstractSet[int]) -> Iterator[_Place]:
    schema = place.schema
    for name, inner in (schema.get("properties") or {}).items():
        if id(inner) in holders and not (place.whole and name in _OF_OBJECTS):
            yield place.below(inner, ("properties", name), name)
    for field in ("items", "additionalProperties"):
        if id(schema.get(field)) in holders:
            yield place.below(schema[field], (field,), _EACH)


def _of_place(place: _Place, minor: int) -> Iterator[RuleCost]:
    rules = place.schema.get(RULES) or ()
    declared = declared_sizes(place.schema, root=place.whole) if rules else None
    if declared is None:
        return
    for index, rule in enumerate(rules):
        yield from _of_rule(rule, place, declared, (*place.route, RULES, index), minor)


def _of_rule(rule: Body, place: _Place, declared: Declared, at: Route, minor: int) -> Iterator[RuleCost]:
    environment = rule_environment(place.schema, rule, minor, is_root=place.is_root)
    for field, expected in _TYPES.items():
        text = rule.get(field) or ""
        try:
            tree, checked = checked_tree(text, environment, escaped_names=True)
            cost = estimated(tree, checked, declared).cost
        except (CompileError, NotEvaluatedError, RecursionError):
            return
        if checked.type.name != expected:
            return
        if field != "rule":  # a message is for one value
            yield RuleCost((*at, field), cost, place, declared, tree, checked, len(text))
            continue
        cost = times(cost, declared.most_in_request if place.limits else place.known)
        repeats = times(place.known, _TRIED ** len(place.limits))
        yield RuleCost((*at, field), cost, place, declared, tree, checked, len(text), repeats, place.limits)
