"""Answers of programs that a script asks for values, such as those of its nodes, and texts of `echo`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Final

from gen.base import Findings, Location, regex
from gen.base.shell_script import nodes_below, syntax_tree
from gen.importers.slurm.bash_text import MAX_LEVELS, with_braces
from gen.importers.slurm.expansion import (
    ADDRESS,
    NODES,
    PORT,
    RUN,
    RUN_ID,
    START,
    Expander,
    is_known,
    items_of,
    marked,
)
from gen.importers.slurm.options import Option, options_of
from gen.importers.slurm.outputs import ASKS, COUNTS, FIRST, OF_JOB, SEQUENCE, SUM, TO_FILE, answer_of, reads_file
from gen.importers.slurm.programs import absolute, formatted

_ID: Final = regex(r"\$?\{?(?:RANDOM|SLURM_(?:ARRAY_)?JOB_?ID)\b|\bshuf\b|\bdate\b|\buuidgen\b")
_OF_CLOCK: Final = regex(r"start|begin|end|now|time$|seed", re.IGNORECASE)
_ASSIGNMENT: Final = regex(r"\w+=(?:\([^()`]*\)|[^\s`();|&<>]*)")
_ASSIGNS_OUTPUT: Final = regex(r"\w+=\$\([^;|&]*\)")
_JOINS: Final = regex(r"IFS=(['\"]?)(.?)\1\s*(?:;|&&)\s*echo\s+\"\$\{(\w+)\[\*\]\}\"")
"""The items of an array with a sign between them."""
_EVALUATES: Final = regex(r"eval\s+(?:echo\s+([^'\";|&<>()`]+|\"[^\"`]*\")|[\"']echo\s+([^'\";|&<>()`]+)[\"'])")
"""Words that a shell expands twice."""
_OF_SHELL: Final = regex(r"[;|&<>()`\n]")
_IS_PORT: Final = regex(r"(?:^|_)PORT|port$", re.IGNORECASE)
_WRITTEN: Final = regex(
    r"cat\s*<<-?\s*(?P<quote>['\"\\]?)(?P<end>\w+)['\"]?\s*\n(?P<text>.*?)\n?\s*(?P=end)", re.DOTALL
)
"""A text that a variable gets from `$(cat <<END … END)`."""


class Answers(Expander):
    """Knows the outputs of commands, or which variable of a pod has their value. A subclass has the source."""

    file: str
    constants: dict[str, str]
    bytes: bytes
    """The text that is followed."""
    in_task: bool
    _assigned = ""
    """The variable of now."""
    folder: str
    """The working directory, as far as it is known."""
    origin = START
    """The initial one, which a user can give."""
    outputs: dict[str, str]
    """The folders where the script computes outputs that its pods compute."""
    once: set[str]
    """The outputs that its batch part computes, once for all tasks."""

    @property
    def random(self) -> str:
        """A number that differs in each run, as the variable of now needs it."""
        return PORT if _IS_PORT.search(self._assigned) else RUN

    def output(self, command: str) -> str:
        command = re.sub(r"^(?:builtin|command)\s+(?=cd\s)", "", command.strip())
        self.asked |= {"the output of `nproc`"} if re.search(r"\bnproc\b", command) else set()
        if (written := _WRITTEN.fullmatch(command)) is not None:
            return written["text"] if written["quote"] else self.unquoted(written["text"])
        if _ASSIGNMENT.fullmatch(command):
            return ""
        joins = _JOINS.fullmatch(command)
        items = items_of(self.lookup(joins[3]) or "") if joins is not None else ()
        if joins is not None and all(map(is_known, items)):
            return joins[2].join(items)
        called = words_of(command, "command")
        if (text := self._text_of_echo(command, called)) is not None:
            return text
        words = [self.words(one) or [""] for one in called]
        steps = [options_of(one[1:], Location(""), Findings()) for one in words if one[0] == "srun"]
        words += [*(one for _, one in steps), *(one[2:] for one in words if one[0] == "ssh")]
        programs = {one[0].rpartition("/")[2] for one in words if one}
        answer = self._asked_for(command) if programs <= ASKS else None
        if answer is not None and _ASSIGNS_OUTPUT.fullmatch(command):
            return ""
        if answer == ADDRESS and any(self._is_several(one) for one, _ in steps) and not FIRST.search(command):
            answer = NODES
        if answer is None:
            answer = marked(f"$({' ' * command.startswith('(')}{self.residual(command, is_output=True)})")
            self.once |= {answer[1:-1]} if not self.in_task else set()
            if programs - ASKS or reads_file(command):
                before = self.outputs if self.in_task else {}
                self.outputs[answer[1:-1]] = before.get(answer[1:-1], self.folder)
        return answer

    def _text_of_echo(self, command: str, called: Sequence[str]) -> str | None:
        """The text that a command alone prints, also of `eval echo`, which expands it twice; None for others."""
        if (evaluated := _EVALUATES.fullmatch(command)) is not None:
            text = " ".join(self.words(evaluated[1] or evaluated[2]))
            return " ".join(self.words(text)) if is_known(text) and not _OF_SHELL.search(text) else None
        if called[:1] != [command] or not re.match(r"(?:echo|printf)\s+(?!-[neEv]+\s)", command):
            return None
        program, *rest = self.words(with_braces(command))
        return " ".join(rest) if program == "echo" or not rest else formatted(rest[0], rest[1:])

    @property
    def folder_now(self) -> str:
        """The working directory as a value."""
        return absolute(self.folder).replace(START, self.origin)

    def _is_several(self, options: Sequence[Option]) -> bool:
        """Whether `srun` starts several tasks."""
        names_of = {"ntasks": "SLURM_NTASKS", "nodes": "SLURM_NNODES", "ntasks-per-node": "SLURM_NTASKS_PER_NODE"}
        given = {one.name: one.value for one in options}
        tasks, *sizes = (given.get(name, self.constants.get(of_slurm, "1")) for name, of_slurm in names_of.items())
        return tasks != "1" and ("ntasks" in given or sizes != ["1", "1"])

    def _asked_for(self, command: str) -> str | None:
        """The output of a command that asks for nodes, ids and the like, as a value of a pod."""
        gpus = self.constants.get("SLURM_GPUS_ON_NODE")
        nodes, expanded = self.constants.get("SLURM_NNODES", "1"), " ".join(self.words(command)).replace(RUN, RUN_ID)
        known = answer_of(command, expanded, self.folder_now, gpus, self.asked, in_task=self.in_task)
        if (field := OF_JOB.search(command)) is not None:
            known = f"{START}/{posixpath.basename(self.file)}" if field[1] == "Command" else START
        if (numbers := SEQUENCE.fullmatch(expanded)) is not None:
            first, *step, last = ["1", *numbers[2].split()][-max(2, len(numbers[2].split())) :]
            known = with_braces(f"{{{'..'.join((first, last, *step))}}}").replace(" ", numbers[1] or " ")
        if (sums := SUM.fullmatch(expanded)) is not None:
            known = self.arithmetic(sums[1])
        known = nodes if known == NODES and COUNTS.search(command) and "hostname" in command else known
        if re.match(r"basename\s+\"?(?:\$PWD|\$\{PWD\}|`pwd`|\$\(pwd\))\"?$", command):
            self.asked.add("the name of the folder")
            return marked(f"$({command})")
        if TO_FILE.search(command):
            return None
        if known is None and re.fullmatch(r"whoami|id (?:-un|-nu|-u -n|-n -u)", command):
            known = str(self.parameter("USER"))
        if known is not None:
            return known.replace(RUN_ID, RUN)
        calculated = rf"\(\([^\n]*(?<!\w){self._assigned or ' '}(?!\w)".encode()
        is_number = _OF_CLOCK.search(self._assigned) or re.search(calculated, self.bytes)
        if is_number and re.fullmatch(r"date \+%s(?:\.%N)?|shuf [^|]*", command):
            return marked(f"$({command})")
        if _ID.search(command) and not self.in_task and "scontrol" not in command:
            return self.random
        return None


def words_of(text: str, kind: str) -> list[str]:
    """The parts of a script with a type of the grammar."""
    found = nodes_below(syntax_tree(text.encode("utf-8", "replace"), MAX_LEVELS), kind)
    return [(one.text or b"").decode("utf-8", "replace") for one in found]
