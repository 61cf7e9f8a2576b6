"""Compile expressions once, and evaluate them: their types are checked as in `checker/checker.go` of cel-go, with its
messages.

Constant durations, timestamps and regular expressions that are invalid are refused (`cel/validator.go` of cel-go).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from gen.kubernetes.cel import library
from gen.kubernetes.cel import tree as syntax
from gen.kubernetes.cel import values as cel
from gen.kubernetes.cel.environment import FUNCTIONS, Environment, first_version, unavailable
from gen.kubernetes.cel.evaluate import PER_CALL, Frame, Step, closure
from gen.kubernetes.cel.parser import parse
from gen.kubernetes.cel.tree import Call, Literal, Node, Select, children, unescaped
from gen.kubernetes.cel.values import CelError, InvalidConstantError, NotEvaluatedError, Type

_WELL_KNOWN: Final = {
    "google.protobuf.Timestamp": cel.SIMPLE["timestamp"],
    "google.protobuf.Duration": cel.SIMPLE["duration"],
    "null_type": cel.NULL,
    "optional_type": cel.Type("optional"),
    "list": cel.Type("list"),
    "map": cel.Type("map"),
    "type": cel.Type("type"),
    **{name: one for name, one in cel.SIMPLE.items() if name not in {"null", "timestamp", "duration"}},
}
"""Types that an expression can name."""
_FIELD_CALLS: Final = frozenset({"_?._"})


class TypeCheck(Struct, frozen=True):
    """The result of a check."""

    type: cel.Type
    qualified: dict[int, Any]
    """Nodes that are a variable with a dotted name, as its name, or the name of a type, as the type."""


def check(tree: syntax.Node, environment: Environment) -> TypeCheck:
    """Check all types of an expression. CompileError for the first that is wrong."""
    checker = _Checker(environment)
    found = checker.visit(tree)
    return TypeCheck(checker.substitution.final(found), checker.qualified)


class _Checker:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._scopes: list[dict[str, cel.Type]] = [dict(environment.variables)]
        self.substitution = cel.Substitution()
        self._mixed = int(environment.mixed)
        self.qualified: dict[int, Any] = {}

    def visit(self, node: syntax.Node) -> cel.Type:
        return _VISITORS[type(node)](self, node)

    def _variable(self, name: str) -> cel.Type | None:
        scopes = self._scopes[:1] if name.startswith(".") else reversed(self._scopes)
        return next((scope[key] for scope in scopes if (key := name.removeprefix(".")) in scope), None)

    def literal(self, node: syntax.Literal) -> cel.Type:
        return cel.SIMPLE[cel.tag(node.value)]

    def ident(self, node: syntax.Ident) -> cel.Type:
        found = self._named(node, node.name)
        if found is None:
            raise cel.UndeclaredError(node.name.removeprefix("."), node.at)
        return found

    def _named(self, node: syntax.Node, name: str) -> cel.Type | None:
        found = self._variable(name)
        if found is not None:
            if "." in name:
                self.qualified[id(node)] = name.removeprefix(".")
            return found
        known = _WELL_KNOWN.get(name.removeprefix(".")) or (cel.Type(name) if name in OPAQUE else None)
        if known is None:
            return None
        self.qualified[id(node)] = cel.Type(name) if name != "null" else known
        return cel.Type("type", (known,))

    def select(self, node: syntax.Select) -> cel.Type:
        name = syntax.dotted_name(node)
        if (name is not None and self._variable(name.partition(".")[0] or name) is None) or name in self._scopes[0]:
            found = self._named(node, name or "")
            if found is not None:
                return found
        field = self._field(self.substitution.of(self.visit(node.operand)), node.field, node)
        return cel.BOOL if node.test else field

    def _field(self, holder: cel.Type, field: str, node: syntax.Node) -> cel.Type:
        if holder.name == "map":
            return holder.of[1]
        if holder.name == "optional":
            return cel.optional_of(self._field(self.substitution.of(holder.of[0]), field, node))
        if holder.name == "dyn" or holder.is_parameter:
            return cel.DYN
        fields = self._environment.messages.get(holder.name)
        if fields is None:
            raise cel.CompileError(f"type '{cel.shown(holder)}' does not support field selection", node.at)
        found = fields.get(field) or (fields.get(syntax.escaped(field)) if field in syntax.RESERVED else None)
        if found is None:
            raise cel.UndefinedFieldError(field, node.at)
        return found

    def call(self, node: syntax.Call) -> cel.Type:
        if node.function in _FIELD_CALLS:
            holder = self.substitution.of(self.visit(node.arguments[0]))
            wanted = node.arguments[1]
            field = self._field(holder, wanted.value if isinstance(wanted, syntax.Literal) else "", node)
            return field if field.name == "optional" and holder.name == "optional" else cel.optional_of(field)
        if node.target is not None and (name := _function_name(node)) in FUNCTIONS and self._is_free(node.target):
            node.function, node.target = name, None
        parts = [*([node.target] if node.target is not None else []), *node.arguments]
        self._mixed += node.function == "format"  # `cel.validator.homogeneous_literals.exempt` of cel-go
        arguments = [self.visit(part) for part in parts]
        self._mixed -= node.function == "format"
        if node.function not in FUNCTIONS:
            raise cel.UndeclaredError(node.function, node.at)
        return self._overload(node, arguments)

    def _is_free(self, target: syntax.Node) -> bool:
        name = syntax.dotted_name(target)
        return name is not None and self._variable(name.partition(".")[0]) is None

    def _overload(self, node: syntax.Call, arguments: list[cel.Type]) -> cel.Type:
        method = node.target is not None
        results: list[cel.Type] = []
        before, first = self.substitution, None
        since = []
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
        if first is None:
            if since:
                raise unavailable(node.function, min(since), node.at)
            types = [cel.shown(before.final(one)) for one in arguments]
            given = f"{types[0]}.({', '.join(types[1:])})" if method else f"({', '.join(types)})"
            message = f"found no matching overload for '{node.function}' applied to '{given}'"
            raise cel.CompileError(message, node.at)
        before.accept(first)
        return results[0] if all(one == results[0] for one in results) else cel.DYN

    def list_literal(self, node: syntax.ListOf) -> cel.Type:
        items = []
        for index, item in enumerate(node.items):
            found = self.visit(item)
            items.append(self._unwrapped(found, item) if index in node.optional else found)
        return cel.list_of(self._joined(items, node.items))

    def map_literal(self, node: syntax.MapOf) -> cel.Type:
        keys = [self.visit(key) for key, _, _ in node.entries]
        values = []
        for _, value, optional in node.entries:
            found = self.visit(value)
            values.append(self._unwrapped(found, value) if optional else found)
        key = self._joined(keys, [key for key, _, _ in node.entries])
        made = cel.map_of(key, self._joined(values, [value for _, value, _ in node.entries]))
        self.substitution.final(made)  # before anything compares it: its size counts against the limit
        return made

    def _unwrapped(self, found: cel.Type, node: syntax.Node) -> cel.Type:
        found = self.substitution.of(found)
        if found.name == "optional":
            return found.of[0]
        if found.name == "dyn":
            return cel.DYN
        raise cel.CompileError(
            f"expected type 'optional_type({cel.shown(found)})' but found '{cel.shown(found)}'", node.at
        )

    def _joined(self, types: list[cel.Type], nodes: list[syntax.Node]) -> cel.Type:
        if not types:
            return self.substitution.fresh()
        joined = types[0]
        for found, node in zip(types[1:], nodes[1:], strict=True):
            if self.substitution.accepts(joined, found):
                joined = self.substitution.general(joined, found)
            elif self._mixed:
                joined = cel.DYN
            else:
                given = f"expected type '{cel.shown(self.substitution.final(joined))}' but found '{cel.shown(found)}'"
                raise cel.CompileError(given, node.at)
        return joined

    def message(self, node: syntax.Message) -> cel.Type:
        raise cel.UndeclaredError(node.name, node.at)

    def fold(self, node: syntax.Fold) -> cel.Type:
        if not self._environment.has(since := first_version(node)):
            raise unavailable(node.macro, since, node.at)
        over = self.substitution.of(self.visit(node.over))
        first, second = self._items(over, node.over)
        start = self.visit(node.start)
        self._scopes.append({node.result_name: start})
        inner = {node.variable: first}
        if node.second:
            keyed = over.name == "map"
            inner = {node.variable: first if keyed else cel.DYN if over.name == "dyn" else cel.INT, node.second: second}
        self._scopes.append(inner)
        self._expect(self.visit(node.condition), cel.BOOL, node.condition)
        self._expect(self.visit(node.step), start, node.step)
        self._scopes.pop()
        result = self.visit(node.result)
        self._scopes.pop()
        return result

    def _items(self, over: cel.Type, node: syntax.Node) -> tuple[cel.Type, cel.Type]:
        """The types of one variable, and of the second of two."""
        if over.name == "list":
            return over.of[0], over.of[0]
        if over.name == "map":
            return over.of[0], over.of[1]
        if over.name == "dyn" or over.is_parameter:
            return cel.DYN, cel.DYN
        message = (
            f"expression of type '{cel.shown(over)}' cannot be range of a comprehension (must be list, map, or dynamic)"
        )
        raise cel.CompileError(message, node.at)

    def _expect(self, found: cel.Type, expected: cel.Type, node: syntax.Node) -> None:
        if not self.substitution.accepts(expected, found):
            final = self.substitution.final
            raise cel.CompileError(
                f"expected type '{cel.shown(final(expected))}' but found '{cel.shown(final(found))}'", node.at
            )


OPAQUE: Final = frozenset(
    {
        *("kubernetes.Quantity", "kubernetes.URL", "kubernetes.Semver", "kubernetes.NamedFormat", "net.IP", "net.CIDR"),
        *("kubernetes.authorization.Authorizer", "kubernetes.authorization.ResourceCheck"),
    }
)
"""Types of the libraries of API servers."""


def _function_name(node: syntax.Call) -> str:
    name = syntax.dotted_name(node.target) if node.target is not None else None
    return f"{name}.{node.function}" if name is not None else ""


_VISITORS: Final[dict[type, Callable[[_Checker, Any], cel.Type]]] = {
    syntax.Literal: _Checker.literal,
    syntax.Ident: _Checker.ident,
    syntax.Select: _Checker.select,
    syntax.Call: _Checker.call,
    syntax.ListOf: _Checker.list_literal,
    syntax.MapOf: _Checker.map_literal,
    syntax.Message: _Checker.message,
    syntax.Fold: _Checker.fold,
}


def check_literals(tree: Node) -> None:
    """CompileError for the first invalid constant."""
    from gen.kubernetes.cel.library.strings import compiled
    from gen.kubernetes.cel.library.times import parse_duration, parse_timestamp

    checks: Final[dict[str, Callable[[str], Any]]] = {
        "duration": parse_duration,
        "timestamp": parse_timestamp,
        "matches": compiled,
    }
    level = [tree]
    while level:
        for node in level:
            if isinstance(node, Call) and node.function in checks and node.arguments:
                last = node.arguments[-1]
                if isinstance(last, Literal) and isinstance(last.value, str):
                    try:
                        checks[node.function](last.value)
                    except CelError as error:
                        raise InvalidConstantError(node.function, last.at) from error
        level = [child for node in level for child in children(node)]


class Program:
    """A compiled expression."""

    __slots__ = ("_run", "text", "type")

    def __init__(self, text: str, type_: Type, run: Step) -> None:
        self.text = text
        self.type = type_
        self._run = run

    def evaluate(self, values: dict[str, Any], limit: float = PER_CALL) -> tuple[Any, float]:
        """The value, and its cost.

        CelError if the evaluation fails, NotEvaluatedError if the result is only known in a cluster.
        """
        frame = Frame(dict(values), limit)
        try:
            value = self._run(frame)
        except CelError as error:
            error.cost = limit - frame.left
            raise
        except (RecursionError, MemoryError):
            raise NotEvaluatedError("the values are nested too deeply") from None
        except (OverflowError, ValueError):  # of Python, for integers of any size in files
            raise NotEvaluatedError("a number has more than 64 bits") from None
        return value, limit - frame.left


def compile_expression(text: str, environment: Environment, *, escaped_names: bool = False) -> Program:
    """Parse and check an expression; with `escaped_names`, its fields are escaped like in rules of definitions.

    CompileError for an expression that an API server refuses, NotEvaluatedError for one that is nested too deeply.
    """
    tree, checked = checked_tree(text, environment, escaped_names=escaped_names)
    try:
        return Program(text, checked.type, closure(tree, checked.qualified))
    except RecursionError:
        raise _too_deep() from None


def checked_tree(text: str, environment: Environment, *, escaped_names: bool = False) -> tuple[Node, TypeCheck]:
    """The tree of an expression with its types. Errors are those of `compile_expression`."""
    library.load()
    try:
        tree = parse(text)
        checked = check(tree, environment)
        check_literals(tree)
    except RecursionError:
        raise _too_deep() from None
    if escaped_names:
        _unescape(tree)
    return tree, checked


def _too_deep() -> NotEvaluatedError:
    return NotEvaluatedError("the expression is nested too deeply")


def _unescape(tree: Node) -> None:
    level = [tree]
    while level:
        for node in level:
            if isinstance(node, Select):
                node.field = unescaped(node.field)
        level = [child for node in level for child in children(node)]


def position(text: str, at: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    before = text[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
