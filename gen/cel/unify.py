"""Whether a value of one type can be given where another is expected, with the parameters of signatures."""

from __future__ import annotations

from typing import Final

from gen.cel.errors import NotEvaluatedError
from gen.cel.types import DYN, NULL, SIMPLE, Type

_NOT_NULL: Final = frozenset(SIMPLE) - {"dyn", "null", "timestamp", "duration"} | {"list", "map", "type"}
"""Types that never are null."""
_MAX_STEPS: Final = 1_000_000
"""Types that are compared for one expression; mappings of mappings double them each time."""
_SHOWN: Final = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
}


def shown(one: Type) -> str:
    """A type as in messages of an API server."""
    if one.is_parameter:
        return "dyn"
    if one.of:
        return str(Type(one.name, tuple(Type(shown(inner)) for inner in one.of)))
    return _SHOWN.get(one.name, one.name)


class Substitution:
    """The types of the parameters that are known so far."""

    def __init__(self, known: dict[str, Type] | None = None, count: int = 0, steps: list[int] | None = None) -> None:
        self._known = known if known is not None else {}
        self.bound = self._known if known is None else {}
        self.count = count
        self._steps = steps if steps is not None else [_MAX_STEPS]

    def _step(self) -> None:
        self._steps[0] -= 1
        if self._steps[0] < 0:
            raise NotEvaluatedError("the types of the expression are too large")

    def trial(self) -> Substitution:
        """The same types, to try a signature."""
        return Substitution(self._known, self.count, self._steps)

    def accept(self, trial: Substitution) -> None:
        """Keep what a trial found."""
        self._known.update(trial.bound)
        self.count = trial.count

    def fresh(self) -> Type:
        """A parameter that nothing is known of."""
        self.count += 1
        return Type(f"_{self.count}")

    def instance(self, types: tuple[Type, ...]) -> tuple[Type, ...]:
        """Types of a signature, with parameters of their own."""
        names: dict[str, Type] = {}

        def renamed(one: Type) -> Type:
            if one.is_parameter:
                if one.name not in names:
                    names[one.name] = self.fresh()
                return names[one.name]
            return Type(one.name, tuple(map(renamed, one.of))) if one.of else one

        return tuple(map(renamed, types))

    def of(self, one: Type) -> Type:
        """A type without its outermost parameter, as far as it is known."""
        while one.is_parameter:
            found = self.bound.get(one.name) or self._known.get(one.name)
            if found is None:
                break
            one = found
        return one

    def final(self, one: Type) -> Type:
        """A type without parameters; those that nothing is known of are `dyn`."""
        self._step()
        one = self.of(one)
        if one.is_parameter:
            return DYN
        return Type(one.name, tuple(map(self.final, one.of))) if one.of else one

    def general(self, one: Type, other: Type) -> Type:
        """The more general of two types that fit."""
        one, other = self.of(one), self.of(other)
        return other if other.name == "dyn" or one == NULL else one

    def accepts(self, expected: Type, found: Type) -> bool:
        """Whether a value of a type can be given; binds the parameters of both."""
        self._step()
        expected, found = self.of(expected), self.of(found)
        if expected == found:
            return True
        if expected.is_parameter or found.is_parameter:
            return self._bind(expected, found) if expected.is_parameter else self._bind(found, expected)
        if "dyn" in {expected.name, found.name}:
            return True
        if NULL in (expected, found):
            return (found if expected == NULL else expected).name not in _NOT_NULL
        alike = expected.name == found.name
        return alike and (not (expected.of and found.of) or all(map(self.accepts, expected.of, found.of)))

    def _bind(self, parameter: Type, found: Type) -> bool:
        if self._occurs(parameter, found):
            return False
        self.bound[parameter.name] = found
        return True

    def _occurs(self, parameter: Type, one: Type) -> bool:
        self._step()
        one = self.of(one)
        return one == parameter or any(self._occurs(parameter, inner) for inner in one.of)
