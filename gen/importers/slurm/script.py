"""The constructs of the batch part of a Slurm script, which happens once, without running anything.

Variables, arrays, conditions and loops over known values are followed. Idioms of head nodes, ports and ids become
the variables of a pod. What cannot be known stays as it is, or has no value.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.base.shell_script import assigned_in, nodes_below, syntax_tree
from gen.importers.shell_script import CLAUSES, invalid_parts
from gen.importers.slurm.bash_text import MAX_LEVELS, unclosed, with_braces
from gen.importers.slurm.batch_commands import FOLLOWED
from gen.importers.slurm.conditions import RESTART_COUNT
from gen.importers.slurm.declarations import assign, declare, unset
from gen.importers.slurm.expansion import marked
from gen.importers.slurm.grammar_text import for_grammar, readable
from gen.importers.slurm.loops import LOOPS, BatchLoops
from gen.importers.slurm.other_cases import name_branch
from gen.importers.slurm.outputs import file_of_tee, output_of_tee, with_output
from gen.importers.slurm.programs import LEFT_OUT, Called, in_shell, written_line
from gen.importers.slurm.site import OF_LOGS, is_silent, why_of_output
from gen.importers.slurm.texts import follow_heredoc
from gen.importers.slurm.tool_checks import lack_of_program
from gen.importers.slurm.traps import (
    check_status,
    decides_by_output,
    end_behind,
    follow_second,
    keeps_check,
    name_last_checks,
)
from gen.importers.slurm.values import OF_FILE
from gen.importers.slurm.words import follow_word, name_folder

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS: Final = frozenset({"variable_assignments", "compound_statement", "program", "do_group", "else_clause"})
_ASSIGNMENTS: Final = frozenset({"declaration_command", "variable_assignment", "variable_assignments"})
_NAMED: Final = regex(r"[A-Za-z_]\w*=")
_MOST_DEPTH: Final = 40
_MOST_STEPS: Final = 200
_MOST_VISITS: Final = 20_000


class BatchScript(BatchLoops):
    """Follows a script. `constants` are the variables of Slurm and those that the user gives."""

    def __init__(self, file: str, constants: Mapping[str, str], *, first_line: int = 1, in_task: bool = False) -> None:
        super().__init__(constants, in_task=in_task)
        self.file, self.first_line = file, first_line
        self._followers: dict[str, Callable[[Node], object]] = {
            "variable_assignment": lambda node: assign(self, node),
            "declaration_command": lambda node: declare(self, node),
            "command": self.follow_command,
            "redirected_statement": self._redirected,
            "pipeline": self._pipeline,
            "list": self._list,
            "if_statement": self._if,
            "for_statement": self.follow_for,
            "while_statement": self.follow_while,
            "c_style_for_statement": self.follow_counting,
            "case_statement": self.follow_case,
            "function_definition": lambda node: self.functions.update(
                dict.fromkeys(map(self.text, node.children_by_field_name("name")[:1]), node)
            ),
            "subshell": self._subshell,
            "unset_command": lambda node: unset(self, node),
        }
        self._visits, self._depth, self._ends = 0, 0, list[int]()

    def follow(self, text: str) -> BatchScript:
        """Follow a text. This object has its steps, files and remaining lines afterwards."""
        self.source = text
        self.bytes = readable(text).encode("utf-8", "replace")
        self._ends = [one.start() for one in re.finditer(b"\n", self.bytes)]
        top = syntax_tree(for_grammar(readable(text)).encode("utf-8", "replace"), MAX_LEVELS)
        faults = (one for one in invalid_parts(top) if one.is_missing or self.text(one).strip("\\ \t\n"))
        if (fault := next(faults, None)) is not None:
            line = unclosed(text)
            self._refuse(self.place(fault) if line is None else Location(self.file, line + self.first_line))
        self.follow_block(top.children)
        if self.unclear is not None:
            what = "only a shell decides this part, and it sets arguments, or leaves a loop or a function"
            self._refuse(self.unclear, what)
        return self

    def _refuse(self, place: Location, what: str = "gen cannot read the syntax of the shell here") -> None:
        self.refuse(place, what, "correct it if `bash -n` refuses it, or write it in a simpler way")

    def text(self, node: Node) -> str:
        return self.bytes[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def place(self, node: Node) -> Location:
        row = bisect_left(self._ends, node.start_byte)  # the tree can have fewer lines
        inside = (place for start, place in reversed(self.evaluated) if start <= node.start_byte)
        return next(inside, Location(self.file, row + self.first_line))

    def follow_block(self, nodes: Iterable[Node]) -> None:
        before = 0
        for node in nodes:
            if len(self.steps) > _MOST_STEPS:
                self.cut = self.cut or self.place(node)
            if self.ended is not None or self.cut is not None or self.leaving[0]:
                return
            if node.start_byte < self.read_until:
                continue
            if node.type == "&":
                self.variables["!"] = marked("$!") if len(self.steps) > before else LEFT_OUT
                self.of_program, self.succeeds = False, True
            if node.type == "&" and len(self.steps) > before:
                self.steps[-1] = replace(self.steps[-1], background=True)
                self.steps[before:] = in_shell(self.steps[before:], self.steps[-1].stops, in_background=True)
            elif node.is_named:
                is_in_background = node.next_sibling is not None and node.next_sibling.type == "&"
                self.assign_for_calls([node] * is_in_background)
                before = len(self.steps)
                self.of_inner = None
                if (text := self.text(node)).startswith("-"):
                    what = f"`{text.split()[0][:60]}` is not a program, and the line before it ends without `\\`"
                    self._refuse(self.place(node), what)
                (partial(self._subshell, whole=True) if is_in_background else self._statement)(node)
                self.follow_status(node, before)

    def _statement(self, node: Node) -> None:
        self._visits += 1
        if self._visits > _MOST_VISITS or self._depth > _MOST_DEPTH:
            self.cut = self.cut or self.place(node)
            return
        self._depth += 1
        self.at = self.place(node)
        try:
            if node.type == "compound_statement" and self.text(node).startswith("(("):
                self.follow_numbers(node)
            elif node.type in _BLOCKS:
                self.follow_block(node.children)
            elif (follow := self._followers.get(node.type)) is not None:
                follow(node)
            elif self.starts_program(node) and not {one.type for one in node.named_children} <= _ASSIGNMENTS:
                self.as_it_is(node)
            elif node.type == "negated_command":
                self.follow_block(node.named_children)
        finally:
            self._depth -= 1
            name_folder(self, node)
            self.name_values(node)
            if self.is_invalid:
                self._refuse(self.place(node))

    def _subshell(self, node: Node, *, whole: bool = False) -> None:
        """A block, or a whole statement in the background, that leaves the variables and the folder as they are."""
        self.assign_for_calls([node] * whole)
        variables, exported, fixed = {**self.variables}, {**self.exported}, {*self.fixed}
        place, outer, self.is_inner = (self.folder, self.entered), (self.has_more, self.is_inner), True
        before, stops = len(self.steps), self.stops
        self.follow_block(() if whole else node.children)
        if whole and (node.type in _ASSIGNMENTS or self.starts_program(node)):
            self._statement(node)
        elif whole:
            self.name_setup(node)
        self.variables, self.exported, self.fixed, (self.folder, self.entered) = variables, exported, fixed, place
        self.ended, self.leaving, (self.has_more, self.is_inner), self.stops = None, ("", 0), outer, stops
        self.steps[before:] = in_shell(self.steps[before:], stops)

    def follow_word(self, called: Called) -> bool:
        return follow_word(self, called)

    def inner(self, line: int) -> BatchScript:
        """A reader of another script, with the environment and the folder of now."""
        inner = type(self)(self.file, self.constants, first_line=line, in_task=self.in_task)
        inner.exported, inner.folder, inner.entered = {**self.exported}, self.folder, replace(self.entered, at=-1)
        inner.indexed, inner.from_text, inner.logs, inner.is_inner = self.indexed, self.from_text, self.logs, True
        inner.share(self)
        inner.keeps_statuses = self.keeps_statuses
        return inner

    def _redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        heredoc = next((one for one in node.children if one.type == "heredoc_redirect"), None)
        if heredoc is not None:
            follow_heredoc(self, node, body, heredoc)
        if heredoc is not None or body is None or self.writes_all(node):
            return
        program = next(iter(self.text(body.child_by_field_name("name") or body).split()), "")
        signs = {one.type for redirect in node.children for one in redirect.children if not one.is_named}
        targets = [*map(self.destinations, node.children)]
        self.behind = [word for words in targets for word in words[1:]]
        files = [one[0] for one in targets if one and not re.match(r"\d*$|/dev/", one[0])]
        kept = "<" in signs or program in OF_LOGS
        if any(map(self.is_unset, files)):
            what = "bash does not run this line, because a variable behind `>` has no value"
            self.refuse(self.place(node), what, "set it before, or remove the redirection")
            return
        if "<" in signs and files and (body.type in _ASSIGNMENTS or _NAMED.match(files[0])):
            what = f"bash reads the file `{self.value(files[0])[:60]}` here, and does not run this line without it"
            self.refuse(self.place(node), what, "quote the `<`, or remove it")
            return
        may_keep = program in OF_LOGS or body.type == "pipeline"
        is_read = may_keep and files != [] and self.is_read(files[-1], node.end_byte)
        if files and (kept or is_read) and program not in FOLLOWED and (is_read or self.starts_program(node)):
            self._keep(node, body, program)
            return
        before, variables, state = len(self.steps), {**self.variables}, self.state()
        self._statement(body)
        if "<" in signs and files and len(self.steps) > before:
            self.steps[-1] = replace(self.steps[-1], input=self.local(self.value(files[0])))
        elif len(self.steps) > before and (output := self.output_file(node))[1]:
            self._write_all(node, output, before, state)
        elif (
            len(self.steps) > before
            and self.steps[-1].words[:1] not in (("mkdir",), ("rm",))
            and any(one and not one[0].isdecimal() for one in targets)
        ):
            hint = "read the logs with `gen logs`, or redirect the output in `command`"
            self.leave(node, "the redirection of the output", "the cluster keeps the logs", hint)
        elif files and is_silent(program):
            now, self.variables = self.variables, variables  # which its words can count
            self._write(node, body)
            self.variables = now

    def _write(self, node: Node, body: Node) -> None:
        """Note the line that `echo` and the like write into a file."""
        words = self.words(with_braces(self.text(body))) if body.type == "command" else []
        if not self.writes_status(node, output := self.output_file(node), words):
            self.note_written(node, output, written_line(words) if words else None)

    def _write_all(self, node: Node, output: tuple[str, str], before: int, state: Mapping[str, Any]) -> None:
        """Add the file of an output to the programs that started behind `before`, or keep the construct."""
        made = with_output(self.steps[before:], output)
        if made is None:
            self.restore(state)
            self.as_it_is(node)
        else:
            self.steps[before:] = made

    def _keep(self, node: Node, body: Node, program: str) -> None:
        """A program as it is, with the file that it makes, or a loop with its input."""
        if body.type in LOOPS:
            self.undecided(body)
            return
        self.as_it_is(node)
        made = self.output_file(node)[1] if program in OF_LOGS else ""
        self.steps[-1] = replace(self.steps[-1], makes="" if made.startswith("/") else made)

    def _pipeline(self, node: Node) -> None:
        first, *others = [one for one in node.named_children if one.type != "comment"]
        programs, before = [next(iter(self.text(one).split()), "") for one in others], len(self.steps)
        if {*programs} <= OF_LOGS or self.text(first).split()[:1] == ["srun"]:
            state = self.state()
            self._subshell(first, whole=True)
            if len(self.steps) > before + 1 and self._needs_all(node):
                self.restore(state)
                self.as_it_is(node)
                return
        elif self.starts_program(node):
            variables = {**self.variables}
            self.forget_assigned(node)
            self.as_it_is(node)
            self.variables = variables  # each part of a pipe has a shell of its own
            return
        if len(self.steps) == before:
            return
        sign, file = output_of_tee([*map(self.text, node.children)])
        if file and self.is_read(file, node.end_byte) and not self.steps[-1].output[1]:
            self.steps[-1] = replace(self.steps[-1], output=(sign, self.local(self.value(file)).removeprefix("./")))
        elif programs[:1] == ["tee"]:
            around, behind = node.parent, node.next_named_sibling
            tested = self.stops or (around is not None and around.type in ("list", "if_statement"))
            tested = tested or (behind is None and around is not None and around.type == "program")  # as the last one
            self.leave(node, *file_of_tee(hides=tested and not self.pipes_fail))
        hint = "add it to `command`, if the run needs it"
        path = "".join(one for part in node.parent.children for one in self.destinations(part)) if node.parent else ""
        for one, to in [pair for pair in zip(others, programs, strict=True) if pair[1] != "tee"][:1]:
            self.leave(one, f"the pipe to `{to}`", *why_of_output(self.source, path, hint))

    def _needs_all(self, node: Node) -> bool:
        """Whether the programs of a pipe, such as those of a loop, make a file with `tee` that a later one reads."""
        file = output_of_tee([*map(self.text, node.children)])[1]
        return file != "" and self.is_read(file, node.end_byte)

    def _list(self, node: Node) -> None:
        if keeps_check(self, node):
            return
        parts = [one for one in node.children if one.is_named]
        sign = next((one.type for one in node.children if one.type in ("&&", "||")), "&&")
        self.note_cases(parts[-1])
        self.assumed, self.decided_by = "", frozenset()
        known = self.holds(parts[0])
        check_status(self, parts[0], node)
        if sign == "||" and known is None and not (self.assumed or self.decided_by) and self.sets_one(parts[0]):
            self._statement(parts[0])
            return
        chooses = sign == "||" and parts[0].type == "list"  # `A && B || C`
        is_other = known is not None and (known is not (sign == "&&") or RESTART_COUNT in self.decided_by)
        if chooses and known is False and is_silent("".join(self.text(parts[-1]).split()[:1])):
            self._statement(parts[0])  # as without `|| true`
        elif (self.assumed and (chooses or known is not None)) or (self.decided_by and (chooses or is_other)):
            branches = () if self.end_in(parts[-1]) and not is_other else parts[1:]
            whole = node.parent is None or node.parent.type != "list"
            name_branch(self, parts[0], branches, alone=known is True and whole and not chooses)
        starts = self.starts_program(parts[-1]) and not (sign == "||" and self.only_ends(parts[0], parts[-1]))
        falls_back = known is None and (sign == "||" or self.may_fail(parts[0])) and starts
        stays = "srun" not in map(self.text, nodes_below(node, "command_name"))
        sets = stays and assigned_in(self.text(parts[-1])) and self.starts_program(parts[0])
        if falls_back and stays and not sets:
            self.as_it_is(node)
        elif known is None and (
            sets
            or self.is_test(parts[0])
            or parts[0].type == "negated_command"
            or self.searches_output(self.text(parts[0]))
            or (stays and decides_by_output(self, parts[0]))
        ):
            self.undecided(node)
        elif known is None:
            self._of_program(parts, sign)
        elif known is (sign == "&&") and len(parts) > 1:
            self._guarded(parts[0], parts[1:2])

    def _of_program(self, parts: Sequence[Node], sign: str) -> None:
        """A program, and what follows if it succeeds or fails."""
        self.assign_for_calls(parts)
        start, entered, state = len(self.steps), self.entered, self.state()
        self._statement(parts[0])
        middle = len(self.steps)
        moves = self.entered is not entered and self.entered.at == middle
        if middle > start and self.steps[-1] in [line for line, _ in self.single_outputs]:
            name = self.steps[-1].sets  # its status decides about others
            self.from_text.add(name)
            self.variables[name] = marked(f"${name}")
        if sign == "&&" and len(parts) > 1:
            follow_second(self, parts, (start, middle), state, moves=moves)
        elif (moves or middle > start) and sign == "||" and (end := self.end_in(parts[-1])):
            if not end_behind(self, " ".join(end[0].split()), moves=moves):
                hint = "write both into `command`, as the script has them"
                self.leave(parts[-1], f"`{end[0]}` behind `||`", "the pod goes on after an error", hint)
        elif middle > start and not self.starts_program(parts[-1]):
            self.steps[-1] = replace(self.steps[-1], otherwise="true")
            self.name_setup(parts[-1])
        elif moves and sign == "||" and self.stops and not self.starts_program(parts[-1]):
            self.entered = replace(self.entered, otherwise="true")
        elif self.starts_program(parts[-1]) and not self.only_ends(parts[0], parts[-1]):
            hint = "write it into `command`, if the run needs it"
            self.leave(parts[-1], "the program behind `||`", "the one before it starts in each pod", hint)
        else:
            self.name_setup(parts[-1])

    def _if(self, node: Node) -> None:
        if keeps_check(self, node):
            return
        if (lack := lack_of_program(self.text(node), self.place(node))) is not None:
            self.left.append(lack)
            return
        self.note_cases(node)
        for clause in (node, *(one for one in node.children if one.type in ("elif_clause", "else_clause"))):
            parts = [one for one in clause.children if one.type not in (*CLAUSES, "comment")]
            start = next((number for number, one in enumerate(parts) if one.type == "then"), 0)
            conditions = [one for one in parts[:start] if one.is_named]
            self.assumed, self.decided_by = "", frozenset()
            known = clause.type == "else_clause" or (self.holds(conditions[0]) if len(conditions) == 1 else None)
            if known is None:
                self.undecided(node)
            elif conditions:
                check_status(self, conditions[0], node)
            decides = self.assumed or (self.decided_by and conditions)
            last = [one for one in parts if one.is_named][-1]
            if decides and known is not None and not (known and self.end_in(last)):
                others = (
                    [one for one in node.children if one.type in CLAUSES] if not self.assumed else node.children[1:]
                )
                own = parts[start + 1 :] if not known or RESTART_COUNT in self.decided_by else []
                alone = known is True and not any(one.type in CLAUSES[:2] for one in node.children)
                name_branch(self, conditions[0], (others if known else []) + own, alone=alone)
            if known is not False:
                single = clause.type == "else_clause" or not any(one.type in CLAUSES[:2] for one in node.children)
                first = node.child_by_field_name("condition")
                self._guarded(first if known and single else None, parts[start + 1 :] if known else ())
                return
            if OF_FILE.search(self.text(conditions[0])):
                self.unseen = self.place(conditions[0]), self.text(conditions[0])

    def _guarded(self, condition: Node | None, nodes: Iterable[Node]) -> None:
        """A block after its condition. One that ends the script because a file is missing is left out."""
        before, variables, decided = len(self.steps), {**self.variables}, (self.assumed, self.decided_by)
        self.follow_block(nodes)
        if decided[0]:  # a check of files, such as `[ ! -d FOLDER ]`
            self.steps[before:] = [one.with_parents() for one in self.steps[before:]]
        if condition is not None and self.ended is not None:
            self.assumed, self.decided_by = decided
            self.end_at(condition, before, variables)


def follow_script(make: Callable[[], BatchScript], body: str) -> BatchScript:
    """Follow a script, and again with the statuses of its programs in the command if more than short checks read them,
    as far as this can be followed.
    """
    first = make().follow(body)
    name_last_checks(first)
    if not first.needs_statuses or first.unreadable is not None:
        return first
    again = make()
    again.keeps_statuses = True
    again.follow(body)
    name_last_checks(again)
    if again.unreadable is None and again.cut is None:
        return again
    first.name_statuses()
    return first
