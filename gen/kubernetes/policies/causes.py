"""The part of an object that an expression is about, for the place of a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gen.base import Route
from gen.kubernetes.cel.parser import parse
from gen.kubernetes.cel.tree import Call, Fold, Ident, Literal, Node, Select, children
from gen.kubernetes.cel.values import CompileError, NotEvaluatedError

_INDEXES = frozenset({"_[_]", "_[?_]", "_?._"})
_CHOICES = frozenset({"_?_:_", "_+_"})
_ANY = -1
"""An item of a list: any that does not have what the expression reads."""


class _Key(str):
    """The key of an item of a mapping over which an expression loops."""

    __slots__ = ()


def cause(text: str, variables: Mapping[str, str], body: object, fails: Callable[[Any], bool]) -> Route:
    """The most exact route of an object that an expression reads.

    `variables` are those of the policy. Of several items in a list, it is the first with which alone the expression
    still `fails`.
    """
    try:
        routes = list(_Reader(variables).routes(parse(text), {}))
    except (CompileError, NotEvaluatedError):
        return ()
    found = [fitted for route in routes for fitted in _fitted(route, body)]
    best = max(map(_exactness, found), default=None)
    alike = [route for route, whole in found if _exactness((route, whole)) == best]
    if len(alike) > 1:
        alike = [route for route in alike[:_MAX_ITEMS] if fails(_alone(body, route))] or alike
    return alike[0] if alike else ()


_MAX_ITEMS = 50


def _alone(value: object, route: Route) -> Any:
    """An object with lists, and mappings in loops, that contain only the items on a route."""
    if not route:
        return value
    step, rest = route[0], route[1:]
    if isinstance(value, list) and isinstance(step, int):
        return [_alone(value[step], rest)]
    if isinstance(value, dict):
        kept = {} if isinstance(step, _Key) else value
        return {**kept, str(step): _alone(value[step], rest)}
    return value


def _exactness(found: tuple[Route, bool]) -> tuple[int, bool]:
    return len(found[0]), not found[1]


def _fitted(route: Route, value: object, done: Route = ()) -> Iterator[tuple[Route, bool]]:
    """The routes in an object: as far as it has them, with whether it has the whole."""
    if not route:
        yield done, True
        return
    step, rest = route[0], route[1:]
    if step == _ANY and isinstance(value, list | dict):
        pairs = ((_Key(key), item) for key, item in value.items()) if isinstance(value, dict) else enumerate(value)
        for key, item in pairs:
            yield from _fitted(rest, item, (*done, key))
        return
    inner = _inner(value, step)
    if inner is _NOTHING:
        yield done, False
    else:
        yield from _fitted(rest, inner, (*done, step))


_NOTHING = object()


def _inner(value: object, step: str | int) -> Any:
    if isinstance(value, dict):
        found = value.get(step, _NOTHING)
        return _NOTHING if callable(found) else found
    return value[step] if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value) else _NOTHING


class _Reader:
    """Finds the fields of `object` that an expression reads."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._texts = variables
        self._left = dict(variables)
        self._known: dict[str, Route | None] = {}
        self._items_known: dict[str, Route | None] = {}

    def routes(self, node: Node, scope: Mapping[str, Route | None]) -> Iterator[Route]:
        """The routes that a tree reads; `scope` has the routes of the variables of loops."""
        own = self._route(node, scope)
        if own is not None:
            if own:
                yield own
            return
        if isinstance(node, Select) and _is_variables(node.operand):
            text = self._left.pop(node.field, None)  # each once
            if text is not None:
                yield from self.routes(parse(text), {})
            return
        if isinstance(node, Fold):
            yield from self.routes(node.over, scope)
            item = self._item(node.over, scope)
            inner = {**scope, node.variable: item, node.result_name: None}
            if node.second:
                inner |= {node.variable: None, node.second: item}
            for part in (node.start, node.condition, node.step, node.result):
                yield from self.routes(part, inner)
            return
        for child in children(node):
            yield from self.routes(child, scope)

    def _route(self, node: Node, scope: Mapping[str, Route | None]) -> Route | None:
        """The route of a value; None if it is not a part of the object."""
        if isinstance(node, Ident):
            return () if node.name == "object" and node.name not in scope else scope.get(node.name)
        if isinstance(node, Select):
            if _is_variables(node.operand) and node.field in self._texts:
                return self._of_variable(node.field)
            return self._step(node.operand, node.field, scope)
        return self._of_call(node, scope) if isinstance(node, Call) else None

    def _item(self, node: Node, scope: Mapping[str, Route | None]) -> Route | None:
        """The route of an item of a list or mapping, also of a list that `map` or `filter` makes."""
        over = self._route(node, scope)
        if over is not None:
            return (*over, _ANY)
        if isinstance(node, Select) and _is_variables(node.operand) and node.field in self._texts:
            name = node.field
            if name not in self._items_known:
                self._items_known[name] = None
                self._items_known[name] = self._item(parse(self._texts[name]), {})
            return self._items_known[name]
        made = _appended(node.step) if isinstance(node, Fold) else None
        if not isinstance(node, Fold) or made is None or node.second:
            return None
        return self._route(made, {**scope, node.variable: self._item(node.over, scope), node.result_name: None})

    def _of_variable(self, name: str) -> Route | None:
        """Each found once, because variables can read each other several times."""
        if name not in self._known:
            self._known[name] = self._route(parse(self._texts[name]), {})
        return self._known[name]

    def _of_call(self, node: Call, scope: Mapping[str, Route | None]) -> Route | None:
        if node.function in _INDEXES:
            holder, key = node.arguments
            if isinstance(key, Literal):
                return self._step(holder, key.value, scope)
            item = scope.get(key.name) if isinstance(key, Ident) else None
            return item if item is not None and item[:-1] == self._route(holder, scope) else None
        if node.function == "orValue" and node.target is not None:
            return self._route(node.target, scope)
        if node.function in _CHOICES:
            routes = (self._route(argument, scope) for argument in node.arguments[-2:])
            return next((route for route in routes if route is not None), None)
        return None

    def _step(self, operand: Node, step: object, scope: Mapping[str, Route | None]) -> Route | None:
        holder = self._route(operand, scope)
        return (*holder, step) if holder is not None and isinstance(step, str | int) else None


def _appended(step: Node) -> Node | None:
    """The item that a step of `map` or `filter` adds to its list."""
    if isinstance(step, Call) and step.function == "_?_:_":
        step = step.arguments[1]
    return step.arguments[-1] if isinstance(step, Call) and step.function == "@append" else None


def _is_variables(node: Node) -> bool:
    return isinstance(node, Ident) and node.name == "variables"
