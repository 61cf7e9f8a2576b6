"""Loops and cases of the batch part of a Slurm script: turns over known values are followed, others stay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import names, regex
from gen.base.shell_script import nodes_below
from gen.importers.slurm.background import is_id
from gen.importers.slurm.bash_text import kind_of, with_braces
from gen.importers.slurm.batch_commands import BatchCommands
from gen.importers.slurm.expansion import ADDRESS, NODES, is_known
from gen.importers.slurm.other_cases import note_decision
from gen.importers.slurm.programs import uses_of

if TYPE_CHECKING:
    from tree_sitter import Node

_CHANGE_SHELL: Final = names("exit cd pushd popd set shift trap")
_WRITES: Final = regex(r"(?<![\d&])>+\s*(?!/dev/|&)")
_SHIFTS: Final = regex(r"\bshift\b|\bset\s+--")
_LEAVES: Final = regex(r"(?:^|[\s;&|{(])(break|continue|return)(?=[\s;&|})]|$)")
LOOPS: Final = frozenset({"for_statement", "while_statement", "c_style_for_statement"})
_READS_STATUS: Final = regex(r"\|\||&&|\$\?|\b(?:if|while|until|case)\b")
_MOST_TURNS: Final = 64
_MOST_COPIES: Final = 8  # of programs in a loop that the shell of a pod can run


class BatchLoops(BatchCommands):
    """Follows the constructs of a script that repeat or choose commands."""

    def undecided(self, node: Node) -> None:
        """A construct that only a shell decides: its variables are not known afterwards."""
        if self.checks_job(node):
            return
        text, starts = self.text(node), self.starts_program(node)
        assigned = self.forget_assigned(node)
        leaves = {*_LEAVES.findall(text)} - ({"break", "continue"} if node.type in LOOPS or not self.loops else set())
        if leaves - ({"return"} if self.hidden is None else set()) or (self.arguments and _SHIFTS.search(text)):
            self.unclear = self.unclear or self.place(node)
        waits = self.waits(node, calls=True)
        read = [f"`${name}`" for name in dict.fromkeys(assigned) if uses_of(name, self.source) > uses_of(name, text)]
        changes = "export" in text or _CHANGE_SHELL & {*map(self.text, nodes_below(node, "command_name"))}
        sets = assigned and (self.exported.keys() & {*assigned} or _WRITES.search(text))
        if not (waits or starts or changes or read or sets):
            self.name_setup(node)
            if node.type == "while_statement" and self.sleeps(node):
                hint = "write it into `command`, if the run waits for another job"
                self.leave(node, f"the wait of `{text.split()[0]}`", "no program in the background ends it", hint)
            return
        kind = "until" if text.startswith("until") else kind_of(node.type)
        kind = node.children[1].type if node.type == "list" else kind
        hint = "check that each pod may run it, or write the values that it computes"
        what = f"the single run of `{kind}`" + (f", which sets {', '.join(read)}," if read else "")
        if (read or not waits) and not self.in_task:
            self.leave(node, what, "each pod runs it", hint, of_pods=True)
        self.as_it_is(node.parent if node.parent is not None and self.has_input(node.parent) else node)

    def follow_for(self, node: Node) -> None:
        """Follow each turn of a loop over known values."""
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = [self.text(one) for one in node.children_by_field_name("value")]
        every = not any(one.type == "in" for one in node.children)
        items = [*self.arguments] if every else self.words(with_braces(" ".join(values)))
        if variable is None or body is None:
            return
        if self.text(node).startswith("select"):
            self.leave(node, "the loop of `select`", "a pod has no terminal", "write the choice into the script")
            return
        items = [*self.nodes] if items == [NODES] else items
        self.note_status(node.children_by_field_name("value"), node)
        if items and all(is_id(self, one) for one in items):
            self._wait(node, body, items)
            return
        plain = all(one in (ADDRESS, NODES) or (is_known(one) and not re.search(r"[{*]", one)) for one in items)
        if not plain or len(items) > _MOST_TURNS or self.waits(node):
            self.undecided(node)
            return
        before, clear, state = len(self.steps), self.unclear is None, self.state()
        for item in items:
            if self.keeps(node, self.text(variable)):
                return
            self.variables[self.text(variable)] = item
            if self.leaves_turn(body):
                break
        made = [one for one in self.steps[before:] if one not in [line for line, _ in self.single_outputs]]
        copies = self.cut or len(made) > _MOST_COPIES or (clear and self.unclear)
        is_one = {self.constants.get(one, "1") for one in ("SLURM_NNODES", "SLURM_NTASKS")} == {"1"}  # task of `srun`
        if copies and ((is_one and not self.cut) or "srun" not in self.with_functions(body)):
            self.restore({**state, "cut": None})
            self.undecided(node)

    def _wait(self, node: Node, body: Node, items: list[str]) -> None:
        """Wait for programs in the background; the loop stays if their status decides about something."""
        text, started = self.text(body), sum(one.starts_in_background for one in self.steps)
        if _READS_STATUS.search(text) and self.decides(body):
            self.undecided(node)
            return
        self.run(self.place(node), ["wait", *items])
        if "||" in text and len(items) == started and self.steps[-1].words[:1] == ("wait",):
            self.steps[-1] = replace(self.steps[-1], words=("wait",))  # its status is 0

    def follow_while(self, node: Node) -> None:
        """Follow the turns of a loop whose condition is known in each."""
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        text = self.text(node)
        decides = condition is not None and text.startswith(("while", "until")) and not self.sleeps(node)
        known = self.holds(condition) if condition is not None and decides else None
        known = known if known is None or text.startswith("while") else not known
        if known and self.needs_turns(node) and condition is not None and body is not None:
            until = text.startswith("until")
            self.follow_turns(
                condition, lambda: None if (now := self.holds(condition)) is None else now is not until, body
            )
        elif re.match(r".*getopt", text) and self.arguments:
            hint = "write the values that it sets into the script"
            self.leave(node, f"the loop `{text.splitlines()[0][:60]}`", "gen does not follow `getopt`", hint)
        elif known is not False and (self.arguments or not re.match(r".*(?:getopt|\$#)", text)):
            self.undecided(node)
        self.note_status([] if condition is None else [condition], node)

    def follow_counting(self, node: Node) -> None:
        """`for ((i = 0; i < 2; i++))`."""
        body = node.child_by_field_name("body")
        head = re.match(r"for\s*\(\(([^;]*);([^;]*);(.*?)\)\)\s*(?:;|\n|do\b|\{)", self.text(node))
        starts = body is not None and self.starts_program(body)
        if head is None or body is None or (starts and not self.needs_turns(body)):
            self.undecided(node)
            return
        if not self.count_turns(node, head.groups(), body, most=0 if starts else _MOST_TURNS):
            self.undecided(node)

    def follow_case(self, node: Node) -> None:
        """Follow the branch of a known value."""
        self.decided_by = frozenset()
        self.note_status(node.children_by_field_name("value")[:1], node)
        branch = self.branch_of_case(node)
        if not branch and self.decided_by and self.starts_program(node):
            items = (one for item in node.named_children for one in item.children_by_field_name("value"))
            note_decision(self, self.place(node), map(self.text, items))
        if branch is None:
            self.undecided(node)
        else:
            self.follow_block(branch)
