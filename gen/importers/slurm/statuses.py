"""The status of a program as a value that only the pod knows.

It counts as 0 as long as only short checks of the last program read it, which become `||` behind that. If something
else reads one, the command keeps it in a variable, and the constructs and arguments that read it stay with that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.base.shell_script import nodes_below
from gen.importers.slurm.conditions import STATUS
from gen.importers.slurm.expansion import Value, is_known, marked, shown, sources
from gen.importers.slurm.file_outputs import BatchFiles
from gen.importers.slurm.programs import STATUSES, VARIABLE, DroppedPart, Step, uses_of
from gen.importers.slurm.site import SETUP, is_silent

if TYPE_CHECKING:
    from tree_sitter import Node

_OF_LAST: Final = regex(r"\$\?|\$\{PIPESTATUS\[0\]\}")
_LEAVES: Final = names("exit return break continue let")
_SETS_UP: Final = names("eval source . conda module")
_COUNTS: Final = regex(r"\(\([^()\n]*(?:\+\+|--|[^=!<>]=(?!=))")
_SET: Final = regex(r"(\w+)=\"?(?:\$\?|\$\{PIPESTATUS\[0\]\})\"?")


def is_line_of_status(step: Step) -> bool:
    """Whether a line of the command sets a variable to the status of the program in front of it."""
    return step.sets != "" and _SET.fullmatch(step.text) is not None


class BatchStatuses(BatchFiles):
    """Follows the statuses of programs."""

    keeps_statuses = False
    """Whether the command keeps those that it reads."""
    needs_statuses = False
    """Whether something else than a short check reads one."""
    of_program = False
    """Whether the status of now is that of the last step."""
    succeeds = False
    """Whether it is 0, behind `echo`, an assignment or `&`."""
    of_inner: bool | None = None
    """The same behind the last part of the statement of now."""

    def __init__(self, constants: Mapping[str, str], *, in_task: bool) -> None:
        super().__init__(constants, in_task=in_task)
        self.status_reads = list[Location]()  # constructs that read a status which counts as 0
        self.status_arguments = list[Location]()  # programs with one among their arguments
        self.of_shell_statuses = set[str]()  # variables of the command with a status, or with what is computed from one

    def lookup(self, name: str) -> Value | None:
        known = super().lookup(name)
        if name == "?" and self.succeeds:
            self.asked.discard(STATUS)
        if name not in ("?", "PIPESTATUS") or not (self.keeps_statuses and self.of_program):
            return known
        is_part = name != "?" and self.steps and "|" in f"{self.steps[-1].text}{self.steps[-1].output[0]}"
        return (marked("${PIPESTATUS[0]}" if is_part else "$?"),) if name != "?" else marked("$?")

    def take_statuses(self, inner: BatchStatuses) -> None:
        """Note what another part of the script reads."""
        self.needs_statuses = self.needs_statuses or inner.needs_statuses
        self.status_reads += inner.status_reads
        self.status_arguments += inner.status_arguments

    def name_statuses(self) -> None:
        """Name the constructs that read a status which counts as 0, if no other finding does."""
        named = {one.place for one in self.left}
        hint = "write it in a simpler way, or into `command`"
        lost = (one for one in dict.fromkeys(self.status_reads) if one not in named)
        self.left += [DroppedPart(one, STATUS, "it counts as 0", hint) for one in lost]

    def reads_status(self, text: str) -> bool:
        """Whether a part of the script reads the status of a program."""
        known = (name for name in self.statuses | self.of_shell_statuses if name.isidentifier())
        return "$?" in text or any(uses_of(name, text) for name in known)

    def note_status(self, conditions: Iterable[Node], whole: Node) -> None:
        """Note conditions or items about a status that decide about programs, or end the script."""
        read = [one for each in conditions for one in self.conditions_of(each)]
        reads = any(self.reads_status(self.text(one)) and not self.starts_program(one) for one in read)
        if self.steps and reads and self.decides(whole):
            self.needs_statuses = True
            self.status_reads.append(self.place(whole))

    def decides(self, node: Node) -> bool:
        """Whether a construct starts programs, sets variables, or ends a part of the script, other than to set up the
        environment of a node.
        """
        called = {*map(self.text, nodes_below(node, "command_name"))}
        if called & _SETS_UP and SETUP.search(self.text(node)):
            return False
        sets = any(nodes_below(node, "variable_assignment")) or _COUNTS.search(self.text(node)) is not None
        return sets or not _LEAVES.isdisjoint(called) or self.starts_program(node)

    def conditions_of(self, node: Node) -> list[Node]:
        """The conditions between `&&` and `||`."""
        if node.type == "negated_command" or (node.type == "list" and "{" not in self.text(node)[:1]):
            return [leaf for one in node.named_children for leaf in self.conditions_of(one)]
        return [node]

    def is_test(self, node: Node) -> bool:
        """Whether a part of the script only tests values."""
        return all(
            one.type == "test_command" or self.text(one).startswith(("test ", "((")) for one in self.conditions_of(node)
        )

    def note_argument(self, words: list[str]) -> None:
        """Note a status among the arguments of a function of the script, or in the number of `exit`."""
        if STATUS in self.asked and words and (words[0] in self.functions or self._exits_with(words)):
            self.needs_statuses = True
            self.status_reads.append(self.at)
        elif self.keeps_statuses and self._exits_with(words) and not is_known(words[1]):
            self.add(Step(text=f"exit {shown(words[1])}", place=self.at))
            del words[1:]

    def _exits_with(self, words: list[str]) -> bool:
        """Whether `exit` has a number that the script computes."""
        line = self.source.split("\n")[self.at.line - self.first_line :][:1]
        return words[:1] == ["exit"] and words[1:] != [] and re.search(r"exit\s+\"?\$\(\(", "".join(line)) is not None

    def name_values(self, node: Node) -> None:
        left = len(self.left)
        super().name_values(node)
        if any(one.what == STATUS for one in self.left[left:]):
            self.needs_statuses = True
            self.status_arguments += [self.place(node)] if node.type in ("command", "redirected_statement") else []

    def set_status(self, node: Node, before: int) -> None:
        """Note the variables of the command, in lines behind `before` steps, to which an assignment gives the status of
        now, and set one that is computed from it.
        """
        target = node.child_by_field_name("name")
        name = self.text(target).partition("[")[0] if target is not None else ""
        made = [one.sets for one in self.steps[before:] if is_line_of_status(one)]
        if any(re.search(r"\$\?", one) for one in sources(str(self.variables.get(name, "")))):
            made.append(own := next(one for number in count() if (one := f"{name}_{number}") not in self.variables))
            self.add_status(own, node)
            self.variables[name] = str(self.variables[name]).replace("$?", f"${own}")
        self.of_shell_statuses |= {*made}
        if made or (self.succeeds and "$?" in self.text(node)):
            self.asked.discard(STATUS)
            self.statuses.discard(name)
        elif STATUS in self.asked and node.parent is not None and node.parent.type == "declaration_command":
            self.needs_statuses = True
            self.statuses.add(name)
        self.keep_computed(name, node)

    def keep_computed(self, name: str, node: Node) -> None:
        """Set a variable in the command where the script computes it from a status."""
        value = self.variables.get(name)
        if not isinstance(value, str) or is_known(value) or value == marked(f"${name}"):
            return
        if not self.of_shell_statuses.isdisjoint(VARIABLE.findall("".join(sources(value)))):
            self.add(Step(text=f"{name}={shown(value)}", place=self.place(node), sets=name))
            self.of_shell_statuses.add(name)
            self.from_text.add(name)
            self.variables[name] = marked(f"${name}")

    def placed(self, step: Step) -> Step:
        raise NotImplementedError

    def with_statuses(self, words: list[str], node: Node) -> list[str]:
        """The words of a command, with a variable of the command for the status of now."""
        mark = next((one for one in STATUSES if any(one in word for word in words)), None)
        if mark is None or is_silent(words[0]):
            return words
        self.add_status(name := self.free_name, node, mark)
        self.asked.discard(STATUS)
        return [one.replace(mark, marked(f"${name}")) for one in words]

    def add_status(self, name: str, node: Node, mark: str = STATUSES[0]) -> None:
        """A line of the command that sets a variable to the status of now."""
        self.add(Step(text=f"{name}={mark[1:-1]}", place=self.place(node), sets=name))
        self.steps[-1] = replace(self.steps[-1], exported={})
        self.from_text.add(name)
        self.of_shell_statuses.add(name)

    def follow_numbers(self, node: Node) -> None:
        """Follow `((…))`, which the command has if it computes with a status."""
        before = {**self.variables}
        self.calculate(self.text(node)[2:-2])
        for name in [one for one, value in self.variables.items() if before.get(one) != value]:
            self.keep_computed(name, node)

    def follow_status(self, node: Node, before: int) -> None:
        """Note whether the status of now is that of the last step, behind a statement with `before` steps in front."""
        if node.type == "comment" or re.fullmatch(r"return(?:\s+\$\?)?", self.text(node)):
            return
        made, text = len(self.steps) > before, self.text(node)
        at_end = made and self.steps[-1].text != "" and self.steps[-1].place == self.place(node)
        self.of_program = self.of_inner = made and (self.of_inner is not False or at_end)
        is_plain = node.type == "variable_assignment" and not re.search(r"\$\(|`", text)
        self.succeeds = not self.of_program and (is_plain or re.match(r"(?:echo|printf)\s", text) is not None)

    def writes_status(self, node: Node, output: tuple[str, str], words: list[str]) -> bool:
        """Keep `echo $? > FILE` in the command. False for another text, or a file that nothing needs."""
        path = output[1]
        is_needed = path and (self.is_read(path, node.end_byte) or any(path.startswith(one) for one in self.volumes))
        unknown = [*VARIABLE.findall(" ".join(part for one in words for part in sources(one)))]
        if is_needed and STATUS in self.asked and not self.keeps_statuses:
            self.needs_statuses = True
        mark = any(one in word for one in STATUSES for word in words)
        if not is_needed or self.in_task or not (mark or not self.of_shell_statuses.isdisjoint(unknown)):
            return False
        self.as_it_is(node)
        self.asked.discard(STATUS)
        return True

    def behind_lines(self, node: Node, text: str, before: int) -> str:
        """The text of a construct, which reads the status of the program in front of it from a variable if lines with
        its values, behind `before` steps, are between them.
        """
        called = (one for one in nodes_below(node, "command_name") if self.text(one) not in ("test", "echo", "exit"))
        first = next(called, None)
        start = self.bytes[node.start_byte : node.end_byte if first is None else first.start_byte]
        match = _OF_LAST.search(start.decode("utf-8", "replace"))
        if match is None or not (self.keeps_statuses and self.of_program) or len(self.steps) == before:
            return text
        name = self.free_name
        line = self.placed(Step(text=f"{name}={match[0]}", place=self.place(node), sets=name))
        self.steps.insert(before, replace(line, exported={}))
        return text.replace(match[0], f"${name}", 1)

    @property
    def free_name(self) -> str:
        """The name of a variable for the status of now."""
        return "status_before" if re.search(r"\bstatus\b", self.source) else "status"

    def step_of(self, node: Node) -> int | None:
        """The number of the step that a statement has made, if only lines that set variables are behind it."""
        for at in reversed(range(len(self.steps))):
            if self.steps[at].place == self.place(node) and not is_line_of_status(self.steps[at]):
                return at
            if self.steps[at].sets in ("", "IFS"):
                break
        return None
