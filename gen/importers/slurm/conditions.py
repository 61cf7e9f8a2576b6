"""Conditions of the batch part, as far as values decide them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from gen.base import Location, regex
from gen.importers.slurm.expansion import ADDRESS, PORT, Expander, is_known, marked, sources

if TYPE_CHECKING:
    from tree_sitter import Node

_OF_POD: Final = frozenset({ADDRESS, PORT, marked("$RANK")})
_NUMBERS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    f"-{one.__name__}": one for one in (operator.eq, operator.ne, operator.lt, operator.gt, operator.le, operator.ge)
}
_OF_ONE: Final = regex(r"-([a-zA-Z])\s+(.+)", re.DOTALL)
_OF_TWO: Final = regex(r"(.+?)\s+(==|=|!=|=~|-eq|-ne|-lt|-gt|-le|-ge|<|>)\s+(.+)", re.DOTALL)


def _of_several(known: list[bool | None], *, decides: bool) -> bool | None:
    """Whether one of several conditions holds, or all of them; `decides` is the result of one that decides."""
    return decides if decides in known else None if None in known else not decides


class Conditions(Expander):
    """Decides conditions. A subclass has the source of the script."""

    def text(self, node: Node) -> str:
        """The source of a node."""
        raise NotImplementedError

    def place(self, node: Node) -> Location:
        raise NotImplementedError

    def holds(self, node: Node) -> bool | None:
        """Whether a condition holds; None if it is not a test, or depends on more than values."""
        known: bool | None = None
        if node.type == "test_command" or self.text(node).startswith("(("):
            text = self.text(node).strip()
            inner = text[2:-2] if text.startswith(("[[", "((")) else text[1:-1]
            known = self.calculated(inner) if text.startswith("((") else self._test(inner.strip())
        elif node.type == "negated_command" and node.named_children:
            inside = self.holds(node.named_children[0])
            known = None if inside is None else not inside
        elif node.type == "list":
            known = self._list_holds(node)
        elif node.type == "command":
            known = self._command_holds(self.text(node))
        elif node.type in ("redirected_statement", "compound_statement", "subshell"):
            body = node.child_by_field_name("body") or next(iter(node.named_children), None)
            known = self.holds(body) if body is not None else None
        return known

    def _list_holds(self, node: Node) -> bool | None:
        """A command can change what the conditions behind it depend on, and what the script does later."""
        parts = [(one, self.holds(one)) for one in node.named_children]
        decides = any(one.type == "||" for one in node.children)
        for one, known in parts:
            if known is decides or (known is None and one.type not in ("test_command", "negated_command")):
                return known
        return _of_several([known for _, known in parts], decides=decides)

    def _command_holds(self, text: str) -> bool | None:
        if text in ("true", "false"):
            return text == "true"
        if text.startswith("test "):
            return self._test(text[5:].strip())
        return False if re.match(r"(?:command -v|which|type|hash|grep)\b", text) else None

    def calculated(self, text: str) -> bool | None:
        """Whether an integer expression is not 0."""
        known = self.arithmetic(text)
        return known != "0" if re.fullmatch(r"-?\d+", known) else None

    def _test(self, text: str) -> bool | None:
        for signs, decides in ((r"\|\||-o", True), ("&&|-a", False)):
            parts = re.split(rf"\s(?:{signs})\s", text)
            if len(parts) > 1:
                return _of_several([self._test(one.strip()) for one in parts], decides=decides)
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
        before, asked = {*self.early}, {*self.asked}
        value = self.value(text.strip())
        self.early, self.asked = before, asked
        for one in sources(value):
            if re.fullmatch(r"\$\w+", one) and marked(one) not in _OF_POD:
                value = value.replace(marked(one), "")
        return value
