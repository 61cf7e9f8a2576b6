"""Functions that do not evaluate all arguments, or that are called for nearly every object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.cel.access import field_of, maybe_field, shown_key
from gen.cel.errors import CelError, CostError
from gen.cel.frame import LIST_COST, MAP_COST
from gen.cel.functions import COSTS_TEXT, smaller_size
from gen.cel.values import equal, lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.cel.frame import Frame, Step


def _as_bool(value: Any) -> bool:
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


def _indexed(holder: Step, key: Step) -> Step:
    def read(frame: Frame) -> Any:
        frame.spend(1)
        return field_of(holder(frame), key(frame))

    return read


def _optional_field(holder: Step, key: Step) -> Step:
    def read(frame: Frame) -> Any:
        frame.spend(1)
        return maybe_field(holder(frame), key(frame))

    return read


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
    "_[_]": _indexed,
    "_[?_]": _optional_field,
    "_?._": _optional_field,
    "@not_strictly_false": _not_strictly_false,
    "@append": _append,
    "@insert": _insert,
}
