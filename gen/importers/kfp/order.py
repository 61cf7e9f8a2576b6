"""Conditions of tasks: which tasks one waits for, how they must have ended, and comparisons of known values.

From `util/resource/` and `workflow/common/ancestry.go` of argo-workflows: a name without a result, and `dependencies`,
mean that the task succeeded or was skipped.
"""

from __future__ import annotations

import ast
import re
from itertools import product
from typing import TYPE_CHECKING, Final

from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gen.importers.kfp.graph import When

_ATOM: Final = regex(r"([A-Za-z0-9_][\w-]*)(?:\.([A-Za-z]+))?")
_SUCCEEDED: Final = frozenset({"", "Succeeded", "Skipped", "Daemoned"})
_FAILED: Final = frozenset({"Failed", "Errored"})
_OTHERWISE: Final = frozenset({"Omitted"})
_MAX_NEEDS: Final = 8
"""All outcomes of as many tasks are tried."""
_STATUS: Final = regex(
    r"""["']?\{\{(?:(?:tasks|steps)\.[\w-]+|workflow)\.status\}\}["']?\s*(==|!=)\s*["']?(\w+)["']?"""
)
_COMPARISON: Final = regex(r"""(["']?)([^"'=!<>&|]*)\1\s*(==|!=|<=|>=|<|>)\s*(["']?)([^"'=!<>&|]*)\4""")
_MAX_TEXT: Final = 2000


def depends_on(text: str) -> tuple[tuple[str, ...], When | None]:
    """The tasks of a condition such as `a.Succeeded && b.Succeeded`, and how they must have ended.

    None for a condition that means something else.
    """
    names = tuple(dict.fromkeys(match[1] for match in _ATOM.finditer(text)))
    if not names or len(names) > _MAX_NEEDS or len(text) > _MAX_TEXT:
        return names, None
    tree = _parsed(text)
    if tree is None:
        return names, None
    atoms = [(match[1], match[2] or "") for match in _ATOM.finditer(text)]
    if any(result not in _SUCCEEDED | _FAILED | _OTHERWISE for _, result in atoms):
        return names, None
    outcomes = list(product((True, False), repeat=len(names)))
    starts = [_starts(tree, atoms, dict(zip(names, outcome, strict=True))) for outcome in outcomes]
    if starts == [all(outcome) for outcome in outcomes]:
        return names, "succeeded"
    if starts == [not all(outcome) for outcome in outcomes]:
        return names, "failed"
    return names, "ended" if all(starts) else None


def _parsed(text: str) -> ast.expr | None:
    """The expression with `a0`, `a1`, … in place of tasks with results. Nothing of it is run."""
    numbers = iter(range(len(text)))
    plain = _ATOM.sub(lambda _: f"a{next(numbers)}", text)
    plain = re.sub(r"!(?!=)", " not ", plain.replace("&&", " and ").replace("||", " or ")).strip()
    try:
        return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _starts(tree: ast.expr, atoms: Sequence[tuple[str, str]], succeeded: Mapping[str, bool]) -> bool | None:
    """Whether the condition holds if these tasks have succeeded, and the others failed."""
    if isinstance(tree, ast.BoolOp):
        parts = [_starts(one, atoms, succeeded) for one in tree.values]
        return all(parts) if isinstance(tree.op, ast.And) else any(parts)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return not _starts(tree.operand, atoms, succeeded)
    if isinstance(tree, ast.Name):
        name, result = atoms[int(tree.id[1:])]
        return result in _SUCCEEDED if succeeded[name] else result in _FAILED
    return None


def status_in(condition: str) -> When | None:
    """How the tasks before must have ended, if the condition only compares their status."""
    match = _STATUS.fullmatch(condition.strip())
    if match is None:
        return None
    equal, succeeded = match[1] == "==", match[2] == "Succeeded"
    if not succeeded and match[2] not in {"Failed", "Error"}:
        return None
    return "succeeded" if equal == succeeded else "failed"


def holds(condition: str) -> bool | None:
    """Whether a comparison of two known values is true; None for every other condition."""
    match = _COMPARISON.fullmatch(condition.strip().removeprefix("(").removesuffix(")").strip())
    if match is None or "{{" in condition:
        return None
    left, operator, right = match[2].strip(), match[3], match[5].strip()
    try:
        one, other = float(left), float(right)
    except ValueError:
        known = {"==": left == right, "!=": left != right}
        return known.get(operator)
    return {
        "==": one == other,
        "!=": one != other,
        "<": one < other,
        ">": one > other,
        "<=": one <= other,
        ">=": one >= other,
    }[operator]
