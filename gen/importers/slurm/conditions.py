"""Conditions of the batch part, as far as values decide them, and the outputs of its commands."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from gen.base import Location, names, regex
from gen.base.shell_script import nodes_below
from gen.importers.slurm.answers import Answers, words_of
from gen.importers.slurm.bash_text import STEPS, with_own_program
from gen.importers.slurm.expansion import (
    MARKED,
    START,
    Value,
    is_known,
    marked,
    source_text,
    sources,
)
from gen.importers.slurm.programs import DroppedPart
from gen.importers.slurm.site import SUBMITS, is_silent, shows_node

if TYPE_CHECKING:
    from tree_sitter import Node

STATUS: Final = "the status of a program"
RESTARTS: Final = "the number of restarts"
RESTART_COUNT: Final = "SLURM_RESTART_COUNT"
_RESTARTED: Final = regex(rf"{RESTART_COUNT}:?[-+=]")
CONTINUES: Final = "let the program continue from its last checkpoint, if there is one"
OF_NUMBER: Final = regex(r"seed", re.IGNORECASE)
_OF_WALK: Final = (
    *("variables", "exported", "fixed", "hidden", "steps", "left", "files", "written", "folder", "entered"),
    *("folder_before", "pushed", "drawn", "from_text", "single_outputs", "statuses", "status_of", "indexed", "keyed"),
    *("outputs", "once", "never", "untaken", "cut", "unclear", "ended", "functions", "of_outputs", "of_shell"),
    *("of_program", "succeeds", "of_shell_statuses"),
)
"""Attributes of a reader that a part of the script changes."""
_OTHERWISE: Final = regex(r"([A-Za-z_]\w*):?[-+=?]")
"""A variable with another value if it has none, or if it has one."""
_DEFAULT: Final = regex(r"\$\{([A-Za-z_]\w*):?[-=]")
_OF_POD: Final = names("$MASTER_ADDR $MASTER_PORT $RANK")
_ALWAYS: Final = names("$HOME $HOSTNAME $LOGNAME $PATH $PWD $SHELL $USER")
"""Variables that each machine sets."""
_NUMBERS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    f"-{one.__name__}": one for one in (operator.eq, operator.ne, operator.lt, operator.gt, operator.le, operator.ge)
}
_OF_ONE: Final = regex(r"-([a-zA-Z])\s+(.+)", re.DOTALL)
_OF_TWO: Final = regex(r"(.+?)\s+(==|=|!=|=~|-eq|-ne|-lt|-gt|-le|-ge|<|>)\s+(.+)", re.DOTALL)
_MOST_WORDS: Final = 4  # of a condition in `[` that `!` negates
OF_FILES: Final[frozenset[str]] = frozenset({"mkdir", "rm", "rmdir", "touch", "chmod"})
_QUOTED: Final = regex(r"'[^']*'|\"[^\"]*\"|\\.")
_WORD_OF: Final = regex(r"\"?\$\{?([A-Za-z_]\w*)\}?\"?")
_FAILS: Final = regex(r"\breturn\s+[1-9$]|\bfalse\b|\btest\b|\[")
OF_TOOL: Final = regex(r"(?:command -v|which|type|hash|grep)\b")
HERE_STRING: Final = regex(r"[ef]?grep\b.*<<<")
_BRACKETS: Final = regex(r"'[^']*'|\"[^\"]*\"|\$\(.*\)|(?<!\S)(\\?\()", re.DOTALL)


def _of_several(known: list[bool | None], *, decides: bool) -> bool | None:
    """Whether one of several conditions holds, or all of them; `decides` is the result of one that decides."""
    return decides if decides in known else None if None in known else not decides


def _negated(known: bool | None) -> bool | None:
    return None if known is None else not known


class Conditions(Answers):
    """Decides conditions. A subclass has the source of the script."""

    decided_by: frozenset[str] = frozenset()
    """Variables from outside that decide the condition of now, as if they were not set."""
    assumed = ""
    """The last condition about files and tools that counts as if the machines lacked them."""
    _decides = False
    """Whether it expands a condition."""
    source = ""
    left: list[DroppedPart]
    deciding: dict[str, tuple[Location, list[str]]]
    """Variables from outside that decide whether a program starts: the first place, and the values for it."""
    functions: dict[str, Node]
    is_inner: bool
    """Whether a shell of its own runs this part, such as that of a task, and its variables end with it."""
    never: set[str]
    """Variables that are empty, because only a case that is not taken sets them."""
    of_outputs: set[str]
    """Functions that the command has, such as those for the outputs of commands."""
    computed: set[str]
    """Variables that the script reads from files and other programs."""

    def state(self) -> dict[str, Any]:
        """The attributes that a walk through a part of the script changes."""
        return {name: copy(getattr(self, name)) for name in _OF_WALK}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Forget a walk, because the pod gets this part as it is. Other readers share these values."""
        for name, value in state.items():
            now = getattr(self, name)
            if isinstance(now, list):
                now[:] = value
            elif isinstance(now, (dict, set)) and value is not None:
                now.clear()
                now.update(value)
            else:
                setattr(self, name, value)

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
            if text.startswith("(("):
                known = self.calculated(text[2:-2])
            else:
                known = self._test(text[2:-2].strip()) if text.startswith("[[") else self._of_text(text[1:-1])
        elif node.type == "negated_command" and node.named_children:
            known = _negated(self.holds(node.named_children[0]))
        elif node.type == "list":
            known = self._list_holds(node)
        elif node.type == "command":
            text = self.text(node)
            known = None if HERE_STRING.match(text) else self.command_holds(text)
        elif node.type in ("redirected_statement", "compound_statement", "subshell"):
            body = node.child_by_field_name("body") or next(iter(node.named_children), None)
            known = self.holds(body) if body is not None else None
        return known

    def _list_holds(self, node: Node) -> bool | None:
        """A command can change the conditions behind it, and the later part of the script."""
        parts = [(one, self.holds(one)) for one in node.named_children]
        decides = any(one.type == "||" for one in node.children)
        for one, known in parts:
            if known is decides or (known is None and one.type not in ("test_command", "negated_command")):
                return known
        return _of_several([known for _, known in parts], decides=decides)

    def command_holds(self, text: str) -> bool | None:
        """Whether a command that decides succeeds; None if only the shell of the pod knows it."""
        text = str(self.lookup(name[1] or "")) if (name := _WORD_OF.fullmatch(text)) is not None else text
        if text in ("true", "false", ":"):
            return text != "false"
        if text.startswith("test "):
            return self._of_text(text[5:])
        if OF_TOOL.match(text):
            self.assumed = text
            return False
        return None

    def calculated(self, text: str) -> bool | None:
        """Whether an integer expression is not 0."""
        self._decide_by(*_DEFAULT.findall(text))
        known = "" if STEPS.search(text) else self.arithmetic(text)  # gen can read it several times
        return known != "0" if re.fullmatch(r"-?\d+", known) else None

    def _of_text(self, text: str) -> bool | None:
        """Whether the condition in `[` holds, which an error does not."""
        with suppress(ValueError):
            return self._of_words(self.condition_words(text))
        return False

    def _test(self, text: str) -> bool | None:
        """Whether the condition in `[[` holds."""
        if any(one[1] for one in _BRACKETS.finditer(text)):
            return None
        for signs, decides in ((r"\|\|", True), ("&&", False)):
            parts = re.split(rf"\s(?:{signs})\s", text)
            if len(parts) > 1:
                return _of_several([self._test(one.strip()) for one in parts], decides=decides)
        if text.startswith("! "):
            return _negated(self._test(text[2:].strip()))
        if (one := _OF_ONE.fullmatch(text)) is not None:
            return self.of_one(one[1], one[2] if one[1] == "v" else self.condition_value(one[2]))
        if (two := _OF_TWO.fullmatch(text)) is not None:
            pattern = self.pattern(two[3])
            return None if pattern is None else self._of_two(self.condition_value(two[1]), two[2], pattern)
        return self._is_text(self.condition_value(text)) if text and " " not in text else None

    def _of_words(self, words: Sequence[str]) -> bool | None:
        """Whether the condition in `[` holds, by the number of its words. `ValueError` if it has none."""
        known: bool | None = False
        match words:
            case []:
                pass
            case [one]:
                known = self._is_text(one)
            case [left, ("=" | "==" | "!=") as sign, right]:
                known = (left == right) is (sign != "!=") if is_known(left + right) else None
            case [left, sign, right] if sign in {*_NUMBERS, "<", ">"}:
                known = self._of_two(left, sign, right)
                if known is None and sign in _NUMBERS and is_known(left + right):
                    raise ValueError  # of a text, as bash says
            case ["!", *others] if len(words) <= _MOST_WORDS:
                known = _negated(self._of_words(others))
            case [sign, one] if _OF_ONE.fullmatch(f"{sign} _"):
                known = self.of_one(sign[1], one)
            case _:
                known = None if {"(", ")"} & {*words} else self._of_list(words)
        return known

    def _of_list(self, words: Sequence[str]) -> bool | None:
        """Whether one of several conditions behind `-o` holds, or all of those behind `-a`."""
        for sign, decides in (("-o", True), ("-a", False)):
            if sign in words[1:-1]:
                at = words.index(sign, 1)
                parts = [self._of_words(one) for one in (words[:at], words[at + 1 :])]
                return _of_several(parts, decides=decides)
        raise ValueError

    def of_one(self, sign: str, word: str) -> bool | None:
        """`-z`, `-n` and `-v`; others ask for a file, which no pod has."""
        if sign in "zn":
            is_text = self._is_text(word)
            return _negated(is_text) if sign == "z" else is_text
        if sign in "de" and word == START:
            return True
        if sign != "v":
            self.assumed = f"-{sign} {word}"
        self.decided_by |= {word.strip()} & {RESTART_COUNT}
        return sign == "v" and self.lookup(word.strip()) is not None

    def _is_text(self, word: str) -> bool | None:
        """Whether a word has characters; None if only a shell knows it."""
        of_shell = self.kept | self.computed | self.from_text
        parts = [one.strip('"') for one in sources(word)]
        unclear = [one for one in parts if re.match(r"\$(?:\((?!\()|\{)", one) or one[1:] in of_shell]
        return None if unclear and len(unclear) == len(parts) and not MARKED.sub("", word) else word != ""

    @staticmethod
    def _of_two(left: str, sign: str, right: str) -> bool | None:
        if not is_known(left) or not is_known(right):
            return None
        if sign in ("==", "=", "!="):
            return fnmatchcase(left, right) is (sign != "!=")
        number = re.fullmatch(r"-?\d{1,15} -?\d{1,15}", f"{left} {right}")
        return _NUMBERS[sign](int(left), int(right)) if number and sign in _NUMBERS else None

    def pattern(self, text: str) -> str | None:
        """A pattern; None if it has quotes around a sign of patterns."""
        return None if re.search(r"[*?\[]", "".join(_QUOTED.findall(text))) else self.condition_value(text)

    def condition_value(self, text: str) -> str:
        """A value in a condition, where a variable from outside counts as not set."""
        return " ".join(self.condition_words(text.strip(), splits=False))

    def condition_words(self, text: str, *, splits: bool = True) -> list[str]:
        early, asked, unset, self._decides = {*self.early}, {*self.asked}, {*self.unset_names}, True
        words = self.words(text, splits=splits)
        self.early, self.asked, self.unset_names, self._decides = early, asked, unset, False
        return words

    def parameter(self, text: str) -> Value:
        if _RESTARTED.match(text) and self.lookup(RESTART_COUNT) is None:
            self.decided_by |= {RESTART_COUNT} if self._decides else set()
            self.asked |= set() if self._decides else {RESTARTS}
        of_shell, name = self.kept | self.computed | self.from_text, _OTHERWISE.match(text)
        if not self._decides:
            if name is not None and name[1] in of_shell and self.lookup(name[1]) == marked(f"${name[1]}"):
                return marked(f"${{{self.residual(text)}}}")
            return super().parameter(text)
        value = super().parameter(text)
        self._decide_by(*([name[1]] if name is not None else []))
        unset = {f"${name}" for name in self.early - of_shell} - {*_ALWAYS, *_OF_POD}

        def one(known: str) -> str:
            self.decided_by |= {match[1][1:] for match in MARKED.finditer(known) if match[1] in unset}
            return MARKED.sub(lambda match: "" if match[1] in unset else match[0], known)

        return one(value) if isinstance(value, str) else tuple(map(one, value))

    def _decide_by(self, *names: str) -> None:
        """Note variables that have no value, unless Slurm or each machine sets them, or they are empty."""
        given = {one[1:] for one in _ALWAYS | _OF_POD} | self.never
        unset = (one for one in names if one not in given and not one.startswith("SLURM_"))
        self.decided_by |= {one for one in unset if self.lookup(one) is None}

    def starts_program(self, node: Node) -> bool:
        """Whether a construct starts more than programs that show something."""
        names, whole = nodes_below(node, "command_name"), self.text(node)
        called = [(self.text(one), with_own_program(whole, self.text(one.parent or one))) for one in names]
        return any(one in self.functions or not (is_silent(one) or shows_node(text)) for one, text in called)

    def may_fail(self, node: Node) -> bool:
        """Whether a command is a function of the script with a status that later commands need."""
        function = self.functions.get("".join(self.text(node).split()[:1]))
        return function is not None and _FAILS.search(self.text(function)) is not None

    def name_values(self, node: Node) -> None:
        """Name values of a command that a pod has in another way, which those of conditions are not."""
        program = next(iter(self.text(node).split()), "")
        if is_silent(program) or program in ("exit", "return"):
            self.asked.discard(STATUS)
        for what in sorted(self.asked):
            why = "it counts as 0" if what in (STATUS, RESTARTS) else "a pod has its own"
            hint = CONTINUES if what == RESTARTS else "write what you mean"
            self.left.append(DroppedPart(self.place(node), what, why, hint))
        for name in sorted(one for one in self.unset_names if not one.startswith("SLURM_")):
            hint = f"give it with `--define {name}=VALUE`, if it is set"
            self.left.append(DroppedPart(self.place(node), f"`${name}` from outside", "it counts as not set", hint))
        self.asked.clear()
        self.unset_names.clear()

    def is_program(self, text: str, *, or_job: bool = True) -> bool:
        """Whether a text starts more than what shows something, or removes files, or another job."""
        called = words_of(source_text(text), "command_name")
        own = OF_FILES | self.functions.keys() | self.of_outputs
        return any((one == SUBMITS and or_job) or not (is_silent(one) or one in own) for one in called)
