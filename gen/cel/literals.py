"""Constant arguments that are never valid: durations, timestamps and regular expressions.

From `cel/validator.go` of cel-go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.cel.errors import CelError, CompileError
from gen.cel.tree import Call, Literal, Node, children

if TYPE_CHECKING:
    from collections.abc import Callable


def check_literals(tree: Node) -> None:
    """CompileError for the first invalid constant."""
    from gen.cel.library.regex import compiled  # noqa: PLC0415 - the libraries are loaded with the first expression
    from gen.cel.library.times import parse_duration, parse_timestamp  # noqa: PLC0415 - as above

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
