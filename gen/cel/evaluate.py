"""Turn a checked syntax tree into a function.

The work is counted in the cost units of API servers (`interpreter/runtimecost.go` of cel-go), and stops at the limit of
one expression, so the verdict is the same on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.cel.access import field_of, maybe_field
from gen.cel.errors import CelError
from gen.cel.frame import LIST_COST, MAP_COST
from gen.cel.functions import COSTS_TEXT, chosen
from gen.cel.loops import Loop
from gen.cel.special import SPECIAL
from gen.cel.tree import Call, Fold, Ident, ListOf, Literal, MapOf, Message, Node, Select, children
from gen.cel.values import Optional, lookup, tag, type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.cel.frame import Frame, Step


def closure(node: Node, qualified: dict[int, Any]) -> Step:
    """The function of a tree. `qualified` has the dotted names that the checker found to be one variable or a type."""
    if id(node) in qualified:
        return (
            _variable(qualified[id(node)]) if isinstance(qualified[id(node)], str) else _constant(qualified[id(node)])
        )
    return _MAKERS[type(node)](node, qualified)


def _constant(value: Any) -> Step:
    return lambda _: value


def _variable(name: str) -> Step:
    def read(frame: Frame) -> Any:
        frame.spend(1)
        try:
            value = frame.values[name]
        except KeyError:
            raise CelError(f"no such attribute(s): {name}") from None
        if callable(value):  # computed when it is first read
            value = frame.values[name] = value()
        if isinstance(value, CelError):
            raise value
        return value

    return read


def _ident(node: Ident, _: dict[int, Any]) -> Step:
    return _variable(node.name.removeprefix("."))


def _select(node: Select, qualified: dict[int, Any]) -> Step:
    operand, field = closure(node.operand, qualified), node.field
    if node.test:

        def has(frame: Frame) -> bool:
            holder = operand(frame)
            if isinstance(holder, Optional):
                return maybe_field(holder, field).present
            return isinstance(holder, dict) and field in holder

        return has

    def select(frame: Frame) -> Any:
        frame.spend(1)
        holder = operand(frame)
        if type(holder) is dict and field in holder:
            value = holder[field]
            return value() if callable(value) else value
        return field_of(holder, field)

    return select


def _call(node: Call, qualified: dict[int, Any]) -> Step:
    if node.function in SPECIAL:
        return SPECIAL[node.function](*(closure(argument, qualified) for argument in node.arguments))
    method = node.target is not None
    parts = [*([node.target] if node.target is not None else []), *node.arguments]
    arguments = [closure(part, qualified) for part in parts]
    return _dispatch(node.function, arguments, method=method)


def _dispatch(name: str, arguments: list[Step], *, method: bool) -> Step:
    def call(frame: Frame) -> Any:
        values = [argument(frame) for argument in arguments]
        overload = chosen(name, tuple(map(tag, values)), method=method)
        if overload is None:
            signs = f"({', '.join(map(type_name, values))})" if name[0].isalpha() else ""
            raise CelError(f"no such overload: {name}{signs}" if signs else "no such overload")
        frame.spend(1 + (overload.work(*values) if overload.work is not None else 0))
        result = overload.run(*values)
        if overload.work_after is not None:
            frame.spend(overload.work_after(result))
        return result

    return call


def _list(node: ListOf, qualified: dict[int, Any]) -> Step:
    items = [closure(item, qualified) for item in node.items]
    optional = node.optional

    def make(frame: Frame) -> list[Any]:
        frame.spend(max(LIST_COST, len(items) * COSTS_TEXT))
        values = [item(frame) for item in items]
        if not optional:
            return values
        kept = ((value, index in optional) for index, value in enumerate(values))
        return [value.value if maybe else value for value, maybe in kept if not maybe or value.present]

    return make


def _map(node: MapOf, qualified: dict[int, Any]) -> Step:
    entries = [(closure(key, qualified), closure(value, qualified), maybe) for key, value, maybe in node.entries]

    def make(frame: Frame) -> dict[Any, Any]:
        frame.spend(max(MAP_COST, len(entries)))
        made: dict[Any, Any] = {}
        for key, value, maybe in entries:
            at, content = key(frame), value(frame)
            if tag(at) not in {"string", "int", "uint", "bool"}:
                raise CelError("unsupported key type")
            if lookup(made, at) is not None:
                raise CelError("Failed with repeated key")
            if not maybe:
                made[at] = content
            elif content.present:
                made[at] = content.value
        return made

    return make


def _message(node: Message, _: dict[int, Any]) -> Step:
    raise CelError(f"unknown type '{node.name}'")


def _fold(node: Fold, qualified: dict[int, Any]) -> Step:
    loop = Loop(node, *(closure(part, qualified) for part in children(node)))

    def fold(frame: Frame) -> Any:
        items = loop.over(frame)
        if not isinstance(items, list | dict):
            raise CelError("no such overload")
        values = frame.values
        start = loop.guarded(loop.start, frame)  # an error counts where the result is read
        outer = {name: values[name] for name in loop.names if name in values}
        values[node.result_name] = start
        try:
            loop.run(items, frame)
            return loop.result(frame)
        finally:
            for name in loop.names:
                values.pop(name, None)
            values.update(outer)

    return fold


_MAKERS: Final[dict[type, Callable[..., Step]]] = {
    Literal: lambda node, _: _constant(node.value),
    Ident: _ident,
    Select: _select,
    Call: _call,
    ListOf: _list,
    MapOf: _map,
    Message: _message,
    Fold: _fold,
}
