"""Conditions of a batch script, as far as they depend on known values."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from gen.base import regex
from gen.importers.slurm.expansion import ADDRESS, PORT, Expander, is_known, marked, sources

if TYPE_CHECKING:
    from tree_sitter import Node

_NUMBERS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-gt": operator.gt,
    "-le": operator.le,
    "-ge": operator.ge,
}
_OF_ONE: Final = regex(r"-([a-zA-Z])\s+(.+)", re.DOTALL)
_OF_TWO: Final = regex(r"(.+?)\s+(==|=|!=|=~|-eq|-ne|-lt|-gt|-le|-ge|<|>)\s+(.+)", re.DOTALL)
_OF_POD: Final = frozenset({ADDRESS, PORT, marked("$RANK")})


def any_of(known: list[bool | None]) -> bool | None:
    """Whether one of several conditions holds."""
    return True if True in known else None if None in known else False


def all_of(known: list[bool | None]) -> bool | None:
    """Whether all of several conditions hold."""
    return False if False in known else None if None in known else True


class Conditions(Expander):
    """Decides conditions. A subclass has the source of the script."""

    def text(self, node: Node) -> str:
        """The source of a node."""
        raise NotImplementedError

    def holds(self, node: Node) -> bool | None:
        """Whether a condition holds; None if it is not a test, or depends on more than values."""
        known: bool | None = None
        if node.type == "test_command":
            text = self.text(node).strip()
            inner = text[2:-2] if text.startswith(("[[", "((")) else text[1:-1]
            known = self._calculated(inner) if text.startswith("((") else self._test(inner.strip())
        elif node.type == "negated_command" and node.named_children:
            inside = self.holds(node.named_children[0])
            known = None if inside is None else not inside
        elif node.type == "list":
            parts = [self.holds(one) for one in node.named_children]
            known = all_of(parts) if any(one.type == "&&" for one in node.children) else any_of(parts)
        elif node.type == "command":
            known = self._command_holds(self.text(node))
        elif node.type in ("redirected_statement", "compound_statement", "subshell"):
            body = node.child_by_field_name("body") or next(iter(node.named_children), None)
            known = self.holds(body) if body is not None else None
        return known

    def _command_holds(self, text: str) -> bool | None:
        if text in ("true", "false"):
            return text == "true"
        if text.startswith("test "):
            return self._test(text[5:].strip())
        return False if re.match(r"(?:command -v|which|type|hash|grep)\b", text) else None

    def _calculated(self, text: str) -> bool | None:
        known = self.arithmetic(text)
        return known != "0" if re.fullmatch(r"-?\d+", known) else None

    def _test(self, text: str) -> bool | None:
        for signs, together in ((r"\|\||-o", any_of), ("&&|-a", all_of)):
            parts = re.split(rf"\s(?:{signs})\s", text)
            if len(parts) > 1:
                return together([self._test(one.strip()) for one in parts])
        if text.startswith("! "):
            inner = self._test(text[2:].strip())
            return None if inner is None else not inner
        if (one := _OF_ONE.fullmatch(text)) is not None:
            return self._of_one(one[1], one[2])
        if (two := _OF_TWO.fullmatch(text)) is not None:
            return self._of_two(self.condition_value(two[1]), two[2], self.condition_value(two[3]))
        return self.condition_value(text) != "" if text and " " not in text else None

    def _of_one(self, sign: str, text: str) -> bool:
        """`-z`, `-n` and `-v`; others ask for a file, which no pod has."""
        if sign in "zn":
            return (self.condition_value(text) == "") is (sign == "z")
        return sign == "v" and self.lookup(text.strip()) is not None

    @staticmethod
    def _of_two(left: str, sign: str, right: str) -> bool | None:
        if not is_known(left) or not is_known(right):
            return None
        if sign in ("==", "=", "!="):
            return fnmatchcase(left, right) is (sign != "!=")
        number = re.fullmatch(r"-?\d{1,15} -?\d{1,15}", f"{left} {right}")
        return _NUMBERS[sign](int(left), int(right)) if number and sign in _NUMBERS else None

    def condition_value(self, text: str) -> str:
        """A value in a condition, where a variable from outside counts as not set."""
        value = self.value(text.strip())
        for one in sources(value):
            if re.fullmatch(r"\$\w+", one) and marked(one) not in _OF_POD:
                value = value.replace(marked(one), "")
        return value
