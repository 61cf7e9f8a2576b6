"""Functions of a script: followed, or kept with the values that they read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.base.shell_script import assigned_in, nodes_below
from gen.importers.slurm.expansion import ONE, marked, shown, source_text, sources
from gen.importers.slurm.programs import VARIABLE, Step, is_needed, reads_of
from gen.importers.slurm.site import OF_KIND
from gen.importers.slurm.values import ARGUMENT, BatchValues

if TYPE_CHECKING:
    from tree_sitter import Node

    from gen.importers.slurm.expansion import Value

_OTHERWISE: Final = regex(r"([A-Za-z_]\w*|[1-9]\d*):?-")
"""A variable with a default value."""
_LOCAL: Final = regex(r"(?:local|declare|typeset)\s+(?!(?:-\w+\s+)*-\w*g)")
_NAMES: Final = ("variable_assignment", "variable_name")
_ARGUMENTS: Final = frozenset({*map(str, range(10)), "@", "*", "#"})
_SHIFTS: Final = regex(r"\bshift\b")
_EXIT: Final = regex(r"exit(?:\s+(\d+|\"?\$\{?\w+(?::-\w+)?\}?\"?))?")
_SAYS: Final = names("echo printf exit cat date tput")
_MAKES: Final = regex(r"\$\(|`|>(?!\s*(?:&|/dev/))")
_AT_END: Final = regex(r"\b(?:(?:exit|return)(?:\s+(?:\d+|\$\?))?|break|continue)(?=\s*(?:;\s*\}?\s*)?$)")
_RETURNS: Final = regex(r"\b(?:return|exec|trap)\b")
_WORDS: Final = r"(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^;&|\n}\"'])*"
_STARTS: Final = r"(^|[;&|{\n]|\bthen\b|\belse\b)([ \t]*)"


class KeptFunction(Struct, frozen=True):
    """A function in the command, which only the shell of the pod runs."""

    text: str
    reads: frozenset[str]
    """Variables whose values a later line can change."""
    sets: frozenset[str]
    end: str = ""
    """`exit 1` if it ends the script in each case."""
    only_says: bool = False
    """Whether it does nothing else than this and to say why."""


class BatchFunctions(BatchValues):
    """Follows functions, or leaves them to the shell of the pod. A subclass follows commands."""

    first_line = 1  # of the file, where the text begins

    def __init__(self, constants: Mapping[str, str], *, in_task: bool) -> None:
        super().__init__(constants, in_task=in_task)
        self.at = Location("")  # of the statement of now
        self.of_outputs: set[str] = set()
        self.deciding: dict[str, tuple[Location, list[str]]] = {}
        self.of_shell: dict[str, KeptFunction] = {}  # functions in the command
        self.turns: list[str] = []  # loops around the statement of now
        self.leaving = ("", 0)  # `break`, `continue` or `return`, while it leaves blocks, and the number of its loops
        self.loops = 0  # around the command of now
        self.unclear: Location | None = None  # a part that may leave a loop or a function, as only a shell decides

    def parameter(self, text: str) -> Value:
        """The value of `${…}`. A default value in a condition decides as a missing one."""
        name = _OTHERWISE.match(text) if self._decides else None
        if name is not None and self.lookup(name[1]) is None and not name[1].startswith("SLURM_"):
            self.decided_by |= {name[1]} if name[1] not in OF_KIND and self.has_more | name[1].isidentifier() else set()
        return super().parameter(text)

    def _is_changed_later(self, name: str) -> bool:
        """Whether a variable can get another value than that of now: behind this line, in a loop around it, or in a
        function.
        """
        behind = "\n".join(self.source.split("\n")[self.at.line - self.first_line :])
        others = (*map(self.text, self.functions.values()), *(one.text for one in self.of_shell.values()))
        counts = rf"\b{name}\s*(?:\+\+|--|[-+*/%]=)|(?:\+\+|--){name}\b"
        changes = rf"{counts}|\$\{{{name}:?=|\b(?:unset|getopts|printf -v)\b.*\b{name}\b"
        texts = (one for one in (behind, *self.turns, *others) if name in one)
        return any(name in assigned_in(one) or re.search(changes, one) for one in texts)

    def keep_function(self, name: str) -> None:
        """Write a function into the command, if the script has it. Variables that can change stay variables in it."""
        if (called := self.functions.pop(name, None)) is None:
            return
        text, kept = self.text(called), self.of_shell.get(name)
        if kept is not None and kept.text == text:
            return
        self.of_outputs.add(name)
        declared = [one for one in nodes_below(called, "declaration_command") if _LOCAL.match(self.text(one))]
        names = (one for node in declared for one in node.named_children if one.type in _NAMES)
        local = {self.text(one.child_by_field_name("name") or one) for one in names}
        sets = {*assigned_in(text)} - local
        reads = {one for one in reads_of(text) - local - _ARGUMENTS if one in sets or self._is_changed_later(one)}
        own = {*_ARGUMENTS, *local, *sets, *reads}
        known = {one: self.variables[one] for one in own if one in self.variables}
        self.kept |= own
        self.variables |= {**{one: marked(f"${one}") for one in own}, "@": ()}
        self.of_shell[name] = KeptFunction(text, frozenset(reads), frozenset(sets))
        self.as_it_is(called)
        self.steps[-1] = replace(self.steps[-1], sets=f"{name}()")
        self.variables = {**{one: value for one, value in self.variables.items() if one not in own}, **known}
        inner = [one for one in map(self.text, nodes_below(called, "command_name")) if one in self.of_shell]
        reads |= {one for other in inner for one in self.of_shell[other].reads - local}
        sets |= {one for other in inner for one in self.of_shell[other].sets - local}
        self.of_shell[name] = KeptFunction(text, frozenset(reads), frozenset(sets), *self._end_of(called))

    def _end_of(self, function: Node, around: frozenset[str] = frozenset()) -> tuple[str, bool]:
        """The command with which a function ends the script in each case, and whether it only says something before."""
        body, text = function.child_by_field_name("body"), self.text(function)
        last = [one for one in body.named_children if one.type != "comment"][-1:] if body is not None else []
        if body is None or not last or last[0].type != "command" or _RETURNS.search(text):
            return "", False
        if (end := _EXIT.fullmatch(self.text(last[0]))) is None:
            return self._end_by(self.text(last[0]).split()[0], {*around, text})
        known, called = (end[1] or "").isdecimal(), {*map(self.text, nodes_below(body, "command_name"))}
        only_says = known and called <= _SAYS and body.type == "compound_statement" and not _MAKES.search(text)
        return f"exit {end[1]}" if known else "exit", only_says

    def _end_by(self, name: str, around: Collection[str] = ()) -> tuple[str, bool]:
        """The same for a call of a function by others."""
        function, kept = self.functions.get(name), self.of_shell.get(name)
        if function is not None and self.text(function) not in around:
            return self._end_of(function, frozenset(around))
        return ("", False) if kept is None else (kept.end, kept.only_says)

    def with_ends(self, text: str) -> str:
        """A text with `exit 1` in the place of functions of the script that only say something and do this."""
        for name in (*self.functions, *self.of_shell):
            end, only_says = self._end_by(name) if name in text else ("", False)
            if only_says:
                text = re.sub(rf"{_STARTS}{re.escape(name)}(?![\w=.-]){_WORDS}", rf"\1\2{end}", text)
        return text

    def end_in(self, node: Node) -> re.Match[str] | None:
        """The last command of a part, if it ends the script, or leaves a function or a loop."""
        return _AT_END.search(self.with_ends(self.text(node)))

    def only_ends(self, first: Node, other: Node) -> bool:
        """Whether a command behind `||` calls a function that ends the script, and only says something before, or is
        behind the setup of a node.
        """
        end, only_says = self._end_by(self.text(other).split()[0]) if other.type == "command" else ("", False)
        text = self.text(first)
        is_setup = not (text.startswith(("cd ", "pushd ")) or self.starts_program(first))
        return end != "" and (is_setup or (only_says and "\n" not in text.replace("\\\n", "")))

    def _leave_by(self, words: Sequence[str]) -> bool:
        """Note that a function of the command ends the script here. False for another one."""
        end = self._end_by(words[0])[0]
        self.fails = end.removeprefix("exit").strip().lstrip("0") if end != "exit" else "1"
        said = " ".join(map(source_text, words[1:]))
        if end and (self.fails or not self.in_task):
            self.ended = self.at, said if self.fails else ""
        return end != ""

    def call(self, words: Sequence[str], assigned: tuple[tuple[str, str], ...]) -> bool:
        """Follow the body of a function with these arguments. False if there is none of this name, or only a shell can
        give its programs the variables in front of it.
        """
        function = self.functions.get(words[0])
        if function is None:
            return words[0] in self.of_shell and self._leave_by(words)
        body, before = function.child_by_field_name("body"), len(self.steps)
        variables, clear, state = {**self.variables}, self.unclear is None, self.state()
        self.variables |= dict(assigned)
        around, self.hidden, self.loops = (self.hidden, self.loops, self.has_more), {}, 0
        self.set_arguments(words[1:])
        own_shell = body is not None and body.type == "subshell"
        self.follow_block(() if body is None else (body,) if own_shell else body.children)
        names = (*self.variables, *variables, *dict(assigned))
        own = {one: variables.get(one) for one in names if ARGUMENT.fullmatch(one) or one in dict(assigned)}
        for name, value in {**own, **self.hidden}.items():
            self.variables.pop(name, None)
            self.variables |= {name: value} if value is not None else {}
        (self.hidden, self.loops, self.has_more), self.leaving = around, ("", 0)
        is_lost = (clear and self.unclear is not None) or (assigned and any(one.text for one in self.steps[before:]))
        self.steps[before:] = [one.with_variables(assigned) for one in self.steps[before:]]
        if is_lost and "srun" not in self.text(function):
            self.restore(state)
            self.keep_function(words[0])
            return False
        return True

    def read_by_calls(self, names: Iterable[str]) -> list[str]:
        """The variables of functions in the command that a part of the script calls, which need their values of now."""
        reads = sorted({one for name in names if name in self.of_shell for one in self.of_shell[name].reads})
        set_before = {one.sets for one in self.steps}
        for name in reads:
            value = self.variables.get(name, "" if name in set_before else marked(f"${name}"))
            if name not in self.variables and name not in set_before:
                self.early.add(name)
            elif value != marked(f"${name}"):
                self.before[name] = value
        return reads

    def set_by(self, step: Step) -> set[str]:
        """The variables that a step of the command sets, itself or in a function that it calls."""
        called = [one for one in self.of_shell if one == "".join(step.words[:1]) or is_needed(f"{one}()", step.text)]
        sets = {one for name in called for one in self.of_shell[name].sets}
        return {step.sets, *assigned_in(step.text), *sets}

    def forget_set(self, names: Iterable[str]) -> None:
        """Note that only a shell knows the variables that functions in the command set."""
        sets = {one for name in names if name in self.of_shell for one in self.of_shell[name].sets}
        self.kept |= sets
        self.variables |= {one: marked(f"${one}") for one in sets}

    def assign_before(self, text: str, place: Location, names: Collection[str] | None = None) -> None:
        """Add lines with the values of the variables that a text for the shell of the pod reads."""
        for line in self.assignments(text, names):
            of_arguments, steps = line.startswith("set -- "), self.steps[::-1]
            name = "" if of_arguments else re.sub("^(?:export|declare -A) ", "", line).partition("=")[0]
            sets = [one for one in steps if (one.text[:7] == "set -- " if of_arguments else name in self.set_by(one))]
            of_shell = next((one for one in sets if not one.shells), None)
            if not sets or any(one is None or one.text != line for one in (sets[0], of_shell)):
                self.add(Step(text=line, place=place, sets=name if name and line.startswith(f"{name}=") else ""))
                self._read_line(name, line)

    def _read_line(self, name: str, line: str) -> None:
        """Let later commands read a variable with a value of others in the command from the line that sets it."""
        value = self.variables.get(name)
        is_whole = isinstance(value, str) and line == f"{name}={shown(value)}" and ONE.fullmatch(value) is None
        if is_whole and not self.from_text.isdisjoint(VARIABLE.findall("".join(sources(str(value))))):
            self.from_text.add(name)
            self.variables[name] = marked(f"${name}")

    def assign_for_calls(self, nodes: Iterable[Node]) -> None:
        """Add lines with the values that the functions in the command read, in front of what calls them."""
        called = (self.text(one) for node in nodes for one in nodes_below(node, "command_name"))
        self.assign_before("", self.at, self.read_by_calls(called))

    def with_functions(self, node: Node) -> str:
        """A part of the script, with the functions that it calls."""
        parts, left = [self.text(node)], {**self.functions}
        called = [*map(self.text, nodes_below(node, "command_name"))]
        for one in (function for name in called if (function := left.pop(name, None)) is not None):
            parts.append(self.text(one))
            called += map(self.text, nodes_below(one, "command_name"))
        return "\n".join(parts)

    def needs_turns(self, node: Node) -> bool:
        """Whether a loop has commands that the shell of a pod cannot run."""
        return "srun" in self.with_functions(node) or _SHIFTS.search(self.text(node)) is not None

    def as_it_is(self, node: Node) -> None:
        """A construct of the shell as a step, after the functions that it calls."""
        raise NotImplementedError

    def follow_block(self, nodes: Iterable[Node]) -> None:
        raise NotImplementedError

    def add(self, step: Step) -> None:
        """Start a program."""
        raise NotImplementedError
