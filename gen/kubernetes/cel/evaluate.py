"""Turn a checked syntax tree into a function of a frame, which has the variables of an evaluation.

The work is counted in the cost units of API servers (`interpreter/runtimecost.go` of cel-go), and stops at the limit of
one expression, so the verdict is the same on every machine. Fields, entries and items of values are those of
`interpreter/attributes.go` of cel-go, with its messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gen.kubernetes.cel.environment import COSTS_TEXT, chosen, smaller_size
from gen.kubernetes.cel.tree import Call, Fold, Ident, ListOf, Literal, MapOf, Message, Node, Select, children
from gen.kubernetes.cel.values import NONE, CelError, CostError, Optional, equal, lookup, tag, type_name

PER_CALL: Final = 1_000_000
"""Cost of one evaluation (`PerCallLimit` of `apiserver/pkg/apis/cel/config.go`)."""

LIST_COST: Final = 10
MAP_COST: Final = 30

"""Cost of making one (`common/costs.go` of cel-go)."""


class Frame:
    """The variables of an evaluation, and the cost that is left."""

    __slots__ = ("left", "values")

    def __init__(self, values: dict[str, Any], left: float = PER_CALL) -> None:
        self.values = values
        self.left = left

    def spend(self, cost: float) -> None:
        self.left -= cost
        if self.left < 0:
            raise CostError("operation cancelled: actual cost limit exceeded")


Step = Callable[[Frame], Any]
"""A part of an expression as a function."""


def field_of(holder: object, field: object) -> Any:
    """A field, an entry or an item of a value. CelError if there is none."""
    if isinstance(holder, dict):
        if type(field) is str and field in holder:
            value = holder[field]
            return value() if callable(value) else value
        found = lookup(holder, field)
        if found is not None:
            return found.value
        raise CelError(f"no such key: {shown_key(field)}")
    if isinstance(holder, list):
        number = _index(field)
        if 0 <= number < len(holder):
            return holder[number]
        raise CelError(f"index out of bounds: {number}")
    if isinstance(holder, Optional):
        return maybe_field(holder, field)
    raise CelError(f"no such key: {shown_key(field)}" if type(field) is str else "no such overload")


def _index(field: Any) -> int:
    kind = tag(field)
    if kind in {"int", "uint"} or (kind == "double" and field.is_integer()):
        return int(field)
    raise CelError(f"unsupported index type '{type_name(field)}' in list")


def shown_key(key: object) -> str:
    """A key in messages."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def maybe_field(holder: object, field: object) -> Optional:
    """A field of a value, absent if the value is absent or has none."""
    if isinstance(holder, Optional):
        return maybe_field(holder.value, field) if holder.present else NONE
    if isinstance(holder, list) and tag(field) not in {"int", "uint", "double"}:
        _index(field)
    if not isinstance(holder, dict | list):
        raise CelError(f"no such key: {shown_key(field)}")
    try:
        return Optional(field_of(holder, field))
    except CelError:
        return NONE


class Loop:
    """The functions of the parts of a loop."""

    __slots__ = ("absorbs", "condition", "names", "node", "over", "result", "start", "step")

    def __init__(self, node: Fold, over: Step, start: Step, condition: Step, step: Step, result: Step) -> None:
        self.node, self.over, self.start, self.condition, self.step, self.result = (
            *(node, over, start, condition, step, result),
        )
        self.names = [name for name in (node.variable, node.second, node.result_name) if name]
        self.absorbs = isinstance(node.condition, Call)
        """Whether a later item can decide although one is an error."""

    def run(self, items: object, frame: Frame) -> None:
        first, second, name, values = self.node.variable, self.node.second, self.node.result_name, frame.values
        for key, item in _pairs(items, both=bool(second)):
            if not self.condition(frame):
                return
            values[first] = key
            if second:
                values[second] = item
            values[name] = self.guarded(self.step, frame) if self.absorbs else self.step(frame)

    def guarded(self, step: Step, frame: Frame) -> Any:
        """The value of a part, or its error."""
        try:
            return step(frame)
        except CostError:
            raise
        except CelError as error:
            return error


def _pairs(items: Any, *, both: bool) -> Any:
    """Keys and values of a mapping, or indices and items of a list; with one variable, keys or items."""
    if not both:
        return ((item, None) for item in items)
    return items.items() if isinstance(items, dict) else enumerate(items)


def _as_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise CelError("no such overload")


def _decided_by(decisive: bool) -> Callable[[Step, Step], Step]:
    """`||` and `&&`: an error on one side does not matter if the other side decides."""

    def make(left: Step, right: Step) -> Step:
        def logical(frame: Frame) -> bool:
            try:
                if _as_bool(left(frame)) is decisive:
                    return decisive
            except CostError:
                raise
            except CelError as error:
                if _decides(right, frame, decisive=decisive):
                    return decisive
                raise error from None
            return _as_bool(right(frame))

        return logical

    return make


def _decides(side: Step, frame: Frame, *, decisive: bool) -> bool:
    try:
        return side(frame) is decisive
    except CostError:
        raise
    except CelError:
        return False


def _conditional(condition: Step, then: Step, other: Step) -> Step:
    return lambda frame: then(frame) if _as_bool(condition(frame)) else other(frame)


def _not_strictly_false(value: Step) -> Step:
    def check(frame: Frame) -> bool:
        return not _decides(value, frame, decisive=False)

    return check


def _equality(*, same: bool) -> Callable[[Step, Step], Step]:
    def make(left: Step, right: Step) -> Step:
        def compare(frame: Frame) -> bool:
            one, other = left(frame), right(frame)
            frame.spend(1 + smaller_size(one, other) * COSTS_TEXT)
            if type(one) is str and type(other) is str:
                return (one == other) is same
            return equal(one, other) is same

        return compare

    return make


def _field(read: Callable[[Any, Any], Any]) -> Callable[[Step, Step], Step]:
    def make(holder: Step, key: Step) -> Step:
        def step(frame: Frame) -> Any:
            frame.spend(1)
            return read(holder(frame), key(frame))

        return step

    return make


def _append(items: Step, item: Step) -> Step:
    def append(frame: Frame) -> Any:
        frame.spend(LIST_COST + 1)
        values = items(frame)
        values.append(item(frame))
        return values

    return append


def _insert(entries: Step, *parts: Step) -> Step:
    def insert(frame: Frame) -> Any:
        frame.spend(MAP_COST + 1)
        values = entries(frame)
        given = [part(frame) for part in parts]
        if len(given) == 1 and not isinstance(given[0], dict):
            raise CelError("no such overload")
        for key, value in [given] if len(given) > 1 else given[0].items():
            if lookup(values, key) is not None:
                raise CelError(f"insert failed: key {shown_key(key)} already exists")
            values[key] = value
        return values

    return insert


SPECIAL: Final[dict[str, Callable[..., Step]]] = {
    "_||_": _decided_by(decisive=True),
    "_&&_": _decided_by(decisive=False),
    "_?_:_": _conditional,
    "_==_": _equality(same=True),
    "_!=_": _equality(same=False),
    "_[_]": _field(field_of),
    "_[?_]": _field(maybe_field),
    "_?._": _field(maybe_field),
    "@not_strictly_false": _not_strictly_false,
    "@append": _append,
    "@insert": _insert,
}


def closure(node: Node, qualified: dict[int, Any]) -> Step:
    """The function of a tree. `qualified` has the dotted names that the checker found to be one variable or a type."""
    if id(node) in qualified:
        return (
            _variable(qualified[id(node)]) if isinstance(qualified[id(node)], str) else _constant(qualified[id(node)])
        )
    return _MAKERS[type(node)](node, qualified)


def _constant(value: object) -> Step:
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

    def make(frame: Frame) -> list[object]:
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
    Ident: lambda node, _: _variable(node.name.removeprefix(".")),
    Select: _select,
    Call: _call,
    ListOf: _list,
    MapOf: _map,
    Message: _message,
    Fold: _fold,
}
