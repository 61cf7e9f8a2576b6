"""The estimated cost of an expression. From `checker/cost.go` of cel-go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.cel.costs.builtin import BUILTIN
from gen.cel.costs.calls import CALLS
from gen.cel.costs.known import Entries, Known
from gen.cel.costs.paths import Path, below
from gen.cel.costs.sizes import NOTHING, ONE, UNKNOWN, Size, plus, times
from gen.cel.costs.values import Estimate, Given, Value
from gen.cel.frame import LIST_COST, MAP_COST
from gen.cel.tree import Call, Fold, Ident, ListOf, Literal, MapOf, Message, Node, Select
from gen.cel.types import SIMPLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.cel.checker import Checked
    from gen.cel.costs.declared import Declared

_MESSAGE_COST: Final = 40
_NO_FIELDS: Final = frozenset(SIMPLE) | {"list", "optional", "type", "net.IP", "net.CIDR"}
"""Types that are neither a mapping nor a message."""


class Estimated(Struct):
    """The cost of an expression, and the values without a limit that it reads."""

    cost: int
    unlimited: dict[tuple[str, ...], Declared]


def estimated(tree: Node, checked: Checked, declared: Declared) -> Estimated:
    """The highest cost of an expression over values of declared sizes."""
    estimator = _Estimator(checked, declared)
    return Estimated(estimator.cost(tree), estimator.unlimited)


class _Estimator(Known):
    def cost(self, node: Node) -> int:
        if id(node) in self.checked.qualified and not isinstance(node, Call):
            self.paths[id(node)] = Path.of(str(self.checked.qualified[id(node)]))
            return 1
        return _COSTS[type(node)](self, node)

    def ident(self, node: Ident) -> int:
        name = node.name.removeprefix(".")
        variable = self.variable(name)
        self.paths[id(node)] = variable.path if variable is not None else Path.of(name)
        return 1

    def select(self, node: Select) -> int:
        cost = self.cost(node.operand)
        if node.test:
            return cost
        self.paths[id(node)] = below(self.path(node.operand), node.field)
        return plus(cost, 0 if self.type_of(node.operand).name in _NO_FIELDS else 1)

    def list_literal(self, node: ListOf) -> int:
        cost, values = LIST_COST, None
        for item in node.items:
            cost = plus(cost, self.cost(item))
            values = self.joined(values, item)
        self.entries[id(node)] = Entries("list", ONE, values or NOTHING)
        return cost

    def map_literal(self, node: MapOf) -> int:
        cost, keys, values = MAP_COST, None, None
        for key, value, _ in node.entries:
            cost = plus(cost, self.cost(key), self.cost(value))
            keys, values = self.joined(keys, key), self.joined(values, value)
        self.entries[id(node)] = Entries("map", keys or NOTHING, values or NOTHING)
        return cost

    def message(self, node: Message) -> int:
        return plus(_MESSAGE_COST, *(self.cost(value) for _, value, _ in node.fields))

    def call(self, node: Call) -> int:
        if node.function == "dyn":
            cost = plus(1, self.cost(node.arguments[0]))
            self.copy(node, node.arguments[0])
            return cost
        if node.function == "@append":
            return self._append(node)
        costs, arguments = [], []
        for argument in node.arguments:
            costs.append(self.cost(argument))
            arguments.append(self.value(argument))
        if node.function in _BRANCHES:
            return _BRANCHES[node.function](self, node, costs)
        target = None
        if node.target is not None:
            costs.append(self.cost(node.target))
            target = self.value(node.target)
        return plus(self._function(node, target, arguments), *costs)

    def _function(self, node: Call, target: Value | None, arguments: list[Value]) -> int:
        """The cost of the most expensive signature that fits. The size is for the results of all."""
        cost, size = 0, None
        for overload in self.checked.overloads.get(id(node), (None,)):
            given = Given(node.function, overload, target, arguments, self.declared_size)
            found = self._estimate(given)
            cost = max(cost, found.cost)
            if found.size is not None:
                size = found.size if size is None else size.joined(found.size)
            if node.function == "_[_]":
                size = self._index(node, given, size)
            size = size if size is not None else self.size(node)
        if node.function == "_+_":
            self.join_entries(node, *map(self.entries_of, node.arguments))
        if size is not None:
            self.sizes[id(node)] = size
        return cost

    def _estimate(self, given: Given) -> Estimate:
        for known in (CALLS, BUILTIN):
            if given.name in known and (found := known[given.name](given)) is not None:
                return found
        return Estimate(1)

    def _index(self, node: Call, given: Given, size: Size | None) -> Size | None:
        holder = given.overload.parameters[0].name if given.overload is not None else ""
        if holder not in {"list", "map"}:
            return size
        operand = node.arguments[0]
        self.paths[id(node)] = below(self.path(operand), "@items" if holder == "list" else "@values")
        entries = self.entries_of(operand)
        return entries.values if entries is not None else None

    def _append(self, node: Call) -> int:
        """In an API server, `map` and `filter` add a list of one item to their result."""
        result, item = node.arguments
        before = self.cost(result)
        size = self.size(result) or UNKNOWN
        cost = plus(before, LIST_COST, self.cost(item), 1)
        self.join_entries(node, self.entries_of(result), Entries("list", ONE, self.size(item) or UNKNOWN))
        self.sizes[id(node)] = size.plus(ONE)
        return cost

    def logical(self, _: Call, costs: list[int]) -> int:
        return plus(*costs)

    def conditional(self, node: Call, costs: list[int]) -> int:
        _, then, other = node.arguments
        size = (self.size(then) or UNKNOWN).joined(self.size(other) or UNKNOWN)
        self.join_entries(node, self.entries_of(then), self.entries_of(other))
        self.sizes[id(node)] = size
        return plus(costs[0], max(costs[1:]))

    def fold(self, node: Fold) -> int:
        if isinstance(node.over, ListOf) and not node.over.items and _is_false(node.condition):
            return self._bound(node)
        cost = plus(self.cost(node.over), self.cost(node.start))
        self.push(node.result_name, self.local(node.start))
        self.push(node.variable, self.key(node) if node.second else self.item(node))
        if node.second:
            self.push(node.second, self.entry(node))
        each = plus(self.cost(node.condition), self.cost(node.step))
        for name in (node.variable, node.second):
            if name:
                self.pop(name)
        cost = plus(cost, self.cost(node.result))
        self.pop(node.result_name)
        count = self.size(node.over) or UNKNOWN
        if isinstance(node.start, Literal):
            self.sizes[id(node)] = ONE
        elif isinstance(node.start, ListOf | MapOf):
            self.sizes[id(node)] = count
            if (entries := self.entries_of(node.step)) is not None:
                self.entries[id(node)] = entries
        return plus(cost, times(count.most, each))

    def _bound(self, node: Fold) -> int:
        """A value with a name."""
        cost = plus(self.cost(node.over), self.cost(node.start))
        self.push(node.result_name, self.local(node.start))
        cost = plus(cost, self.cost(node.result))
        self.pop(node.result_name)
        self.copy(node, node.result)
        return cost


def _is_false(node: Node) -> bool:
    return isinstance(node, Literal) and node.value is False


_BRANCHES: Final[dict[str, Callable[[_Estimator, Call, list[int]], int]]] = {
    "_&&_": _Estimator.logical,
    "_||_": _Estimator.logical,
    "_?_:_": _Estimator.conditional,
}
_COSTS: Final[dict[type, Callable[[_Estimator, Any], int]]] = {
    Literal: lambda _, __: 0,
    Ident: _Estimator.ident,
    Select: _Estimator.select,
    Call: _Estimator.call,
    ListOf: _Estimator.list_literal,
    MapOf: _Estimator.map_literal,
    Message: _Estimator.message,
    Fold: _Estimator.fold,
}
