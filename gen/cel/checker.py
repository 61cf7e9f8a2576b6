"""The type of an expression. From `checker/checker.go` of cel-go, with its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.cel.environment import Environment, first_version, unavailable
from gen.cel.errors import CompileError
from gen.cel.escaping import RESERVED, escaped
from gen.cel.functions import FUNCTIONS
from gen.cel.tree import Call, Fold, Ident, ListOf, Literal, MapOf, Message, Node, Select, dotted_name
from gen.cel.types import BOOL, DYN, INT, NULL, SIMPLE, Type, list_of, map_of, optional_of
from gen.cel.unify import Substitution, shown
from gen.cel.values import tag

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.cel.functions import Overload

_WELL_KNOWN: Final = {
    "google.protobuf.Timestamp": SIMPLE["timestamp"],
    "google.protobuf.Duration": SIMPLE["duration"],
    "null_type": NULL,
    "optional_type": Type("optional"),
    "list": Type("list"),
    "map": Type("map"),
    "type": Type("type"),
    **{name: one for name, one in SIMPLE.items() if name not in {"null", "timestamp", "duration"}},
}
"""Types that an expression can name."""
_FIELD_CALLS: Final = frozenset({"_?._"})


class Checked(Struct, frozen=True):
    """The result of a check."""

    type: Type
    qualified: dict[int, Any]
    """Nodes that are a variable with a dotted name, as its name, or the name of a type, as the type."""
    types: dict[int, Type]
    """The type of each node."""
    overloads: dict[int, tuple[Overload, ...]]
    """The signatures that fit each call: several if the type of an argument is only known in the evaluation."""


def check(tree: Node, environment: Environment) -> Checked:
    """Check all types of an expression. CompileError for the first that is wrong."""
    checker = _Checker(environment)
    found = checker.visit(tree)
    final = checker.substitution.final
    types = {key: final(one) for key, one in checker.types.items()}
    return Checked(final(found), checker.qualified, types, checker.overloads)


class _Checker:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._scopes: list[dict[str, Type]] = [dict(environment.variables)]
        self.substitution = Substitution()
        self._mixed = int(environment.mixed)
        self.qualified: dict[int, Any] = {}
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, tuple[Overload, ...]] = {}

    def visit(self, node: Node) -> Type:
        found = self.types[id(node)] = _VISITORS[type(node)](self, node)
        return found

    def _variable(self, name: str) -> Type | None:
        scopes = self._scopes[:1] if name.startswith(".") else reversed(self._scopes)
        return next((scope[key] for scope in scopes if (key := name.removeprefix(".")) in scope), None)

    def literal(self, node: Literal) -> Type:
        return SIMPLE[tag(node.value)]

    def ident(self, node: Ident) -> Type:
        found = self._named(node, node.name)
        if found is None:
            raise CompileError(f"undeclared reference to '{node.name.removeprefix('.')}' (in container '')", node.at)
        return found

    def _named(self, node: Node, name: str) -> Type | None:
        found = self._variable(name)
        if found is not None:
            if "." in name:
                self.qualified[id(node)] = name.removeprefix(".")
            return found
        known = _WELL_KNOWN.get(name.removeprefix(".")) or self._opaque(name)
        if known is None:
            return None
        self.qualified[id(node)] = Type(name) if name != "null" else known
        return Type("type", (known,))

    def _opaque(self, name: str) -> Type | None:
        return Type(name) if name in OPAQUE else None

    def select(self, node: Select) -> Type:
        name = dotted_name(node)
        if (name is not None and self._variable(name.partition(".")[0] or name) is None) or name in self._scopes[0]:
            found = self._named(node, name or "")
            if found is not None:
                return found
        field = self._field(self.substitution.of(self.visit(node.operand)), node.field, node)
        return BOOL if node.test else field

    def _field(self, holder: Type, field: str, node: Node) -> Type:
        if holder.name == "map":
            return holder.of[1]
        if holder.name == "optional":
            return optional_of(self._field(self.substitution.of(holder.of[0]), field, node))
        if holder.name == "dyn" or holder.is_parameter:
            return DYN
        fields = self._environment.messages.get(holder.name)
        if fields is None:
            raise CompileError(f"type '{shown(holder)}' does not support field selection", node.at)
        found = fields.get(field) or (fields.get(escaped(field)) if field in RESERVED else None)
        if found is None:
            raise CompileError(f"undefined field '{field}'", node.at)
        return found

    def call(self, node: Call) -> Type:
        if node.function in _FIELD_CALLS:
            holder = self.substitution.of(self.visit(node.arguments[0]))
            wanted = node.arguments[1]
            field = self._field(holder, wanted.value if isinstance(wanted, Literal) else "", node)
            return field if field.name == "optional" and holder.name == "optional" else optional_of(field)
        if node.target is not None and (name := _function_name(node)) in FUNCTIONS and self._is_free(node.target):
            node.function, node.target = name, None
        parts = [*([node.target] if node.target is not None else []), *node.arguments]
        self._mixed += node.function == "format"  # `cel.validator.homogeneous_literals.exempt` of cel-go
        arguments = [self.visit(part) for part in parts]
        self._mixed -= node.function == "format"
        if node.function not in FUNCTIONS:
            raise CompileError(f"undeclared reference to '{node.function}' (in container '')", node.at)
        return self._overload(node, arguments)

    def _is_free(self, target: Node) -> bool:
        name = dotted_name(target)
        return name is not None and self._variable(name.partition(".")[0]) is None

    def _overload(self, node: Call, arguments: list[Type]) -> Type:
        method = node.target is not None
        results: list[Type] = []
        before, first = self.substitution, None
        since, fitting = [], []
        for overload in FUNCTIONS[node.function]:
            if overload.method != method or len(overload.parameters) != len(arguments):
                continue
            fresh = before.trial()
            *parameters, result = fresh.instance((*overload.parameters, overload.result))
            if not all(fresh.accepts(one, given) for one, given in zip(parameters, arguments, strict=True)):
                continue
            if not self._environment.has(overload.since):
                since.append(overload.since)
                continue
            first = first or fresh
            results.append(first.of(result))
            fitting.append(overload)
        if first is None:
            if since:
                raise unavailable(node.function, min(since), node.at)
            types = [shown(before.final(one)) for one in arguments]
            given = f"{types[0]}.({', '.join(types[1:])})" if method else f"({', '.join(types)})"
            message = f"found no matching overload for '{node.function}' applied to '{given}'"
            raise CompileError(message, node.at)
        before.accept(first)
        self.overloads[id(node)] = tuple(fitting)
        return results[0] if all(one == results[0] for one in results) else DYN

    def list_literal(self, node: ListOf) -> Type:
        items = []
        for index, item in enumerate(node.items):
            found = self.visit(item)
            items.append(self._unwrapped(found, item) if index in node.optional else found)
        return list_of(self._joined(items, node.items))

    def map_literal(self, node: MapOf) -> Type:
        keys = [self.visit(key) for key, _, _ in node.entries]
        values = []
        for _, value, optional in node.entries:
            found = self.visit(value)
            values.append(self._unwrapped(found, value) if optional else found)
        key = self._joined(keys, [key for key, _, _ in node.entries])
        made = map_of(key, self._joined(values, [value for _, value, _ in node.entries]))
        self.substitution.final(made)  # before anything compares it: its size counts against the limit
        return made

    def _unwrapped(self, found: Type, node: Node) -> Type:
        found = self.substitution.of(found)
        if found.name == "optional":
            return found.of[0]
        if found.name == "dyn":
            return DYN
        raise CompileError(f"expected type 'optional_type({shown(found)})' but found '{shown(found)}'", node.at)

    def _joined(self, types: list[Type], nodes: list[Node]) -> Type:
        if not types:
            return self.substitution.fresh()
        joined = types[0]
        for found, node in zip(types[1:], nodes[1:], strict=True):
            if self.substitution.accepts(joined, found):
                joined = self.substitution.general(joined, found)
            elif self._mixed:
                joined = DYN
            else:
                given = f"expected type '{shown(self.substitution.final(joined))}' but found '{shown(found)}'"
                raise CompileError(given, node.at)
        return joined

    def message(self, node: Message) -> Type:
        raise CompileError(f"undeclared reference to '{node.name}' (in container '')", node.at)

    def fold(self, node: Fold) -> Type:
        if not self._environment.has(since := first_version(node)):
            raise unavailable(node.macro, since, node.at)
        over = self.substitution.of(self.visit(node.over))
        first, second = self._items(over, node.over)
        start = self.visit(node.start)
        self._scopes.append({node.result_name: start})
        inner = {node.variable: first}
        if node.second:
            keyed = over.name == "map"
            inner = {node.variable: first if keyed else DYN if over.name == "dyn" else INT, node.second: second}
        self._scopes.append(inner)
        self._expect(self.visit(node.condition), BOOL, node.condition)
        self._expect(self.visit(node.step), start, node.step)
        self._scopes.pop()
        result = self.visit(node.result)
        self._scopes.pop()
        return result

    def _items(self, over: Type, node: Node) -> tuple[Type, Type]:
        """The types of one variable, and of the second of two."""
        if over.name == "list":
            return over.of[0], over.of[0]
        if over.name == "map":
            return over.of[0], over.of[1]
        if over.name == "dyn" or over.is_parameter:
            return DYN, DYN
        message = (
            f"expression of type '{shown(over)}' cannot be range of a comprehension (must be list, map, or dynamic)"
        )
        raise CompileError(message, node.at)

    def _expect(self, found: Type, expected: Type, node: Node) -> None:
        if not self.substitution.accepts(expected, found):
            final = self.substitution.final
            raise CompileError(f"expected type '{shown(final(expected))}' but found '{shown(final(found))}'", node.at)


OPAQUE: Final = frozenset(
    {
        *("kubernetes.Quantity", "kubernetes.URL", "kubernetes.Semver", "kubernetes.NamedFormat", "net.IP", "net.CIDR"),
        *("kubernetes.authorization.Authorizer", "kubernetes.authorization.ResourceCheck"),
    }
)
"""Types of the libraries of API servers."""


def _function_name(node: Call) -> str:
    name = dotted_name(node.target) if node.target is not None else None
    return f"{name}.{node.function}" if name is not None else ""


_VISITORS: Final[dict[type, Callable[[_Checker, Any], Type]]] = {
    Literal: _Checker.literal,
    Ident: _Checker.ident,
    Select: _Checker.select,
    Call: _Checker.call,
    ListOf: _Checker.list_literal,
    MapOf: _Checker.map_literal,
    Message: _Checker.message,
    Fold: _Checker.fold,
}
