"""A CEL evaluator that counts its steps and stops at a limit.

One step is a visited node of the syntax tree, an element that an operator reads, or 256 characters of a text. Entering
the body of a macro counts as 30 steps, because the library copies the activation each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celpy import InterpretedRunner
from celpy.evaluation import Evaluator

if TYPE_CHECKING:
    from celpy.evaluation import Activation, Context
    from lark import Tree

_OPERATORS = ("relation", "addition", "multiplication")
_CALLS = ("exprlist", "member_dot_arg")
_CHARACTERS_PER_STEP = 256
_STEPS_PER_ACTIVATION = 30

MAX_STEPS = 500_000
"""For one rule and one object: a few seconds. An API server has such a limit, too (`PerCallLimit` of
`apiserver/pkg/apis/cel/config.go`)."""


class TooManyStepsError(BaseException):
    """Not an Exception, so that the library cannot catch it."""


class Steps:
    """The steps that are left for one rule and one object."""

    __slots__ = ("_left",)

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self._left = limit

    @property
    def exhausted(self) -> bool:
        return self._left < 0

    def take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise TooManyStepsError

    def read(self, value: Any) -> None:
        """Count what an operator may read of a value: all of it."""
        self.take(1 + _length(value))
        if isinstance(value, dict):
            for key, inner in value.items():
                self.read(key)
                self.read(inner)
        elif isinstance(value, list):
            for inner in value:
                self.read(inner)


def _length(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value) // _CHARACTERS_PER_STEP
    return len(value) if isinstance(value, dict | list) else 0


class _CountingEvaluator(Evaluator):
    def __init__(self, ast: Tree[Any], activation: Activation, steps: Steps) -> None:
        super().__init__(ast, activation)
        self._steps = steps

    def sub_evaluator(self, ast: Tree[Any]) -> Evaluator:
        return _CountingEvaluator(ast, self.activation, self._steps)

    def set_activation(self, values: Context) -> Evaluator:
        self._steps.take(_STEPS_PER_ACTIVATION)
        return super().set_activation(values)

    def visit(self, tree: Tree[Any]) -> Any:
        self._steps.take(1)
        return super().visit(tree)

    def visit_children(self, tree: Tree[Any]) -> list[Any]:
        self._steps.take(len(tree.children))
        values: list[Any] = super().visit_children(tree)
        if tree.data in _OPERATORS:
            if len(values) > 1:
                self._steps.read(values)
        elif tree.data in _CALLS:
            self._steps.take(sum(map(_length, values)))
        return values


class CountingRunner(InterpretedRunner):
    """A compiled rule."""

    def run(self, context: Context, steps: Steps) -> Any:
        """The value of the rule. TooManyStepsError when no steps are left."""
        return _CountingEvaluator(self.ast, self.new_activation(), steps).evaluate(context)
