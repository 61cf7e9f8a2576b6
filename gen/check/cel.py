"""CEL rules of CustomResourceDefinitions.

The work for one rule and one object is limited by its cost and not by time, so that the verdict is the same on every
machine and does not depend on what was evaluated before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.cel.declared import declared_environment
from gen.cel.environment import Environment
from gen.cel.errors import CelError, CompileError, CostError, NotEvaluatedError
from gen.cel.frame import PER_CALL
from gen.cel.program import compile_expression
from gen.cel.types import DYN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.cel.program import Program

_UNTYPED = Environment({"self": DYN})


class Budget:
    """The cost that is left for one rule and one object."""

    __slots__ = ("left",)

    def __init__(self, limit: float = PER_CALL) -> None:
        self.left = limit


class Rules:
    """The rules of one schema, each compiled when it is first used."""

    __slots__ = ("_environment", "_programs")

    def __init__(self, schema: Mapping[str, Any] | None = None, *, root: bool = False) -> None:
        self._environment = declared_environment(schema, "self", root=root) if schema is not None else _UNTYPED
        self._programs: dict[str, Program] = {}

    def holds(self, expression: str, value: Any, budget: Budget) -> bool:
        """Whether a rule holds for a value. An evaluation error counts as false, as on an API server.

        NotEvaluatedError when an API server refuses the rule itself, or when its cost exceeds the budget.
        """
        try:
            found, cost = self._program(expression).evaluate({"self": value}, budget.left)
        except CompileError as error:
            raise NotEvaluatedError(error.message) from error
        except CostError as error:
            budget.left = -1
            raise NotEvaluatedError(str(error)) from error
        except CelError:
            return False
        budget.left -= cost
        return found is True

    def _program(self, expression: str) -> Program:
        if expression not in self._programs:
            self._programs[expression] = compile_expression(expression, self._environment, escaped_names=True)
        return self._programs[expression]
