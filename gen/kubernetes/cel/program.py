"""Compile expressions once, and evaluate them.

Constant durations, timestamps and regular expressions that are invalid are refused (`cel/validator.go` of cel-go).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from gen.kubernetes.cel import library
from gen.kubernetes.cel.checker import Checked, check
from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.evaluate import PER_CALL, Frame, Step, closure
from gen.kubernetes.cel.parser import parse
from gen.kubernetes.cel.tree import Call, Literal, Node, Select, children, unescaped
from gen.kubernetes.cel.values import CelError, CompileError, NotEvaluatedError, Type


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
                        raise CompileError(f"invalid {node.function} argument", last.at) from error
        level = [child for node in level for child in children(node)]


class Program:
    """A compiled expression."""

    __slots__ = ("_run", "text", "type")

    def __init__(self, text: str, type_: Type, run: Step) -> None:
        self.text = text
        self.type = type_
        self._run = run

    def evaluate(self, values: dict[str, Any], limit: float = PER_CALL) -> tuple[Any, float]:
        """The value, and what it cost.

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


def checked_tree(text: str, environment: Environment, *, escaped_names: bool = False) -> tuple[Node, Checked]:
    """The tree of an expression with its types. Errors are those of `compile_expression`."""
    _load()
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


@lru_cache(maxsize=1)
def _load() -> None:
    library.load()


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
