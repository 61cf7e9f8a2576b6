"""The constructs of the batch part of a Slurm script, which happens once, without running anything.

Variables, arrays, conditions and loops over known values are followed. Idioms of head nodes, ports and ids become
the variables of a pod. What cannot be known stays as it is, or has no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.base.shell_script import syntax_tree
from gen.importers.shell_script import (
    assigned_in,
    in_double_quotes,
    nodes_below,
    readable,
    syntax_errors,
    with_braces,
)
from gen.importers.slurm.batch_commands import BatchCommands, Called, DroppedPart, Step
from gen.importers.slurm.expansion import ADDRESS, HOSTS, MARKED, Value, is_known, marked, shown, source_text

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS: Final = frozenset(
    {"variable_assignments", "compound_statement", "subshell", "program", "do_group", "else_clause"}
)
_READERS: Final = frozenset({"read", "readarray", "mapfile"})
_CALCULATED: Final = regex(r"\(\((.*?)\)\)")
_ARRAY: Final = regex(r"\$\{[#!]?(\w+)\[")
_MOST_TURNS: Final = 64
_MOST_DEPTH: Final = 40
_MOST_LEVELS: Final = 200  # of the syntax, such as `a && b && c`; each one takes several calls of Python
_MOST_STEPS: Final = 200
_MOST_VISITS: Final = 20_000


_OF_LOGS: Final = names("tee grep egrep tail head sed awk tr ts cat sort uniq cut column less rotatelogs multilog")
"""Programs behind a pipe that only change the logs."""


class BatchScript(BatchCommands):
    """Follows a script. `constants` are the variables of Slurm and those that the user gives."""

    def __init__(self, file: str, constants: Mapping[str, str], *, first_line: int = 1, in_task: bool = False) -> None:
        super().__init__(constants, in_task=in_task)
        self.file, self._first_line = file, first_line
        self.files: dict[str, tuple[str, Location]] = {}
        """Texts that the script writes, by path."""
        self._functions: dict[str, Node] = {}
        self._followers: dict[str, Callable[[Node], object]] = {
            "variable_assignment": self.assign_node,
            "declaration_command": self.declaration,
            "command": self._command,
            "redirected_statement": self._redirected,
            "pipeline": self._pipeline,
            "list": self._list,
            "if_statement": self._if,
            "for_statement": self._for,
            "while_statement": self._while,
            "c_style_for_statement": self._while,
            "case_statement": self._case,
            "function_definition": self._define,
        }
        self.unreadable: Location | None = None
        self.source = ""
        """The text that is followed."""
        self._visits, self._depth = 0, 0

    def follow(self, text: str) -> BatchScript:
        """Follow a text. This object has its steps, files and remaining lines afterwards."""
        self.source = text
        self.bytes = readable(text).encode("utf-8", "replace")
        top = syntax_tree(self.bytes, _MOST_LEVELS)
        faults = (
            one for one in syntax_errors(top) if (one.is_missing and one.type != "}") or self.text(one).strip("\\ \t\n")
        )
        self.unreadable = next(map(self.place, faults), None)
        self._block(top.children)
        return self

    def text(self, node: Node) -> str:
        return self.bytes[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def place(self, node: Node) -> Location:
        return Location(self.file, node.start_point[0] + self._first_line)

    def leave(self, node: Node, what: str, why: str, hint: str) -> None:
        self.left.append(DroppedPart(self.place(node), what, why, hint))

    def _block(self, nodes: Iterable[Node]) -> None:
        before = 0
        for node in nodes:
            if self.ended is not None or len(self.steps) > _MOST_STEPS:
                return
            if node.start_byte < self.read_until:
                continue
            if node.type == "&" and len(self.steps) > before:
                self.steps[-1] = replace(self.steps[-1], background=True)
            elif node.is_named:
                before = len(self.steps)
                if self.text(node).startswith("-"):  # the line before it ends without a backslash
                    self.unreadable = self.unreadable or self.place(node)
                self._statement(node)

    def _statement(self, node: Node) -> None:
        self._visits += 1
        if self._visits > _MOST_VISITS or self._depth > _MOST_DEPTH:
            return
        self._depth += 1
        try:
            if node.type in _BLOCKS:
                self._block(node.children)
            elif (follow := self._followers.get(node.type)) is not None:
                follow(node)
            elif self._starts_program(node):
                self._as_it_is(node)
        finally:
            self._depth -= 1

    def _define(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self._functions[self.text(name)] = node

    def _command(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        before = [one for one in node.children if one.type == "variable_assignment"]
        if name is None:
            for one in before:
                self.assign_node(one)
            return
        own: list[tuple[str, str]] = []
        hidden = {}
        for one in before:
            behind = self.bytes[one.end_byte : name.start_byte]
            key = self.text(one).partition("=")[0].removesuffix("+")
            old = self.variables.get(key)
            made = self.assign_node(one)
            if made is None or b"\n" in behind.replace(b"\\\n", b"") or name.start_byte < self.read_until:
                continue  # an assignment of its own, which the grammar joins with the next line or with its last part
            own.append(made)
            hidden[key] = old
        start = max(name.start_byte, self.read_until)
        words = self.words(with_braces(self.bytes[start : node.end_byte].decode("utf-8", "replace")))
        # `time` is a word of bash, which sh lacks
        words = words[1 + (words[1:2] == ["-p"]) :] if words[:1] == ["time"] else words
        for key, value in hidden.items():
            self.variables.pop(key, None)
            if value is not None:
                self.variables[key] = value
        if words and words[0] in _READERS:
            line = self.read_values(node, words[1:], dict(own).get("IFS", " \t\n"))
            self.steps += [Step(text=line, place=self.place(node))] if line else []
        elif any(one.type == "herestring_redirect" for one in node.children) and self._starts_program(
            node.parent or node
        ):
            self._as_it_is(node)
        elif words:
            self.run(self.place(node), words, tuple(own))

    def follow_text(self, called: Called) -> bool:
        """`bash -c TEXT`."""
        words = called.words
        if "-c" not in words[1:3] or words[-1].startswith("-"):
            return False
        inner = type(self)(self.file, self.constants, first_line=called.place.line, in_task=self.in_task)
        inner.variables = {**self.variables}
        inner.nested, inner.indexed, inner.from_text = True, self.indexed, self.from_text
        inner.follow(source_text(in_double_quotes(words[words.index("-c") + 1], MARKED)))
        self.absorb(inner)
        self.steps += inner.steps
        return True

    def absorb(self, inner: BatchScript) -> None:
        """Take over what another part of the script needs and lacks, without its steps."""
        self.left += inner.left
        self.secrets |= inner.secrets
        self.images += inner.images
        self.mounts += inner.mounts
        self.indexed |= inner.indexed
        self.unreadable = self.unreadable or inner.unreadable

    def read_values(self, node: Node, words: list[str], separators: str) -> str:
        """Set the variables of `read`, as far as its input is a text. Returns a line for the pod."""
        names = [one for one in words if re.fullmatch(r"[A-Za-z_]\w*", one)]
        here = next((one for one in node.children if one.type == "herestring_redirect"), None)
        value = self.value(self.text(here)[3:].strip()) if here is not None else ""
        switches = {one for one in words if one.startswith("-")}
        if here is not None and names and switches <= {"-a", "-ra", "-r"} and switches - {"-r"}:
            parts = (
                [value]
                if HOSTS in value or ADDRESS in value
                else value.split(None if separators.isspace() else separators)
            )
            self.variables[names[-1]] = (ADDRESS, *parts) if value == HOSTS else tuple(parts)
        elif here is None or not names or not switches <= {"-r"}:
            self.computed |= {*names}
            self.variables |= {name: marked(f"${name}") for name in names}
        elif is_known(value):
            parts = re.split(f"[{re.escape(separators)}]", value.strip(), maxsplit=len(names) - 1)
            self.variables |= dict(zip(names, [*parts, *[""] * len(names)], strict=False))
        else:
            ifs = "" if separators.isspace() else f"IFS={shown(separators)} "
            text = f"{ifs}read -r {' '.join(names)} <<< {shown(value)}"
            self.from_text |= {*names}
            self.variables |= {name: marked(f"${name}") for name in names}
            return text
        return ""

    def call(self, words: Sequence[str]) -> bool:
        """Follow the body of a function with these arguments."""
        function = self._functions.get(words[0])
        if function is None:
            return False
        own: dict[str, Value] = {str(number): word for number, word in enumerate(words) if number}
        own |= {"@": tuple(words[1:]), "#": str(len(words) - 1)}
        saved = {key: self.variables.get(key) for key in own}
        self.variables |= own
        body = function.child_by_field_name("body")
        self._block(body.children if body is not None else ())
        for key, value in saved.items():
            self.variables.pop(key, None)
            self.variables |= {key: value} if value is not None else {}
        return True

    def _redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        heredoc = next((one for one in node.children if one.type == "heredoc_redirect"), None)
        if heredoc is not None:
            self._heredoc(node, body, heredoc)
            return
        if body is None:
            return
        program = next(iter(self.text(body).split()), "")
        signs = {one.type for redirect in node.children for one in redirect.children if not one.is_named}
        files = [self.text(one) for redirect in node.children for one in redirect.children_by_field_name("destination")]
        files = [one for one in files if one and not one.isdecimal() and not one.startswith("/dev/")]
        kept = "<" in signs or program in _OF_LOGS
        if files and kept and program not in (*_READERS, "srun") and self._starts_program(node):
            self._as_it_is(node)
            return
        before = len(self.steps)
        self._statement(body)
        if len(self.steps) > before and self.steps[-1].words[:1] not in (("mkdir",), ("rm",)):
            hint = "read the logs with `gen logs`, or redirect the output in `command`"
            self.leave(node, "the redirection of the output", "the cluster keeps the logs", hint)
        elif files and self.is_silent(program):
            hint = "write it as a file in `files`, or in `command`"
            self.leave(node, f"the file `{self.value(files[-1])[:60]}`", "gen writes no files of the batch part", hint)

    def _heredoc(self, node: Node, body: Node | None, heredoc: Node) -> None:
        """A file that the script writes with `cat <<END > FILE`."""
        inner = next((one for one in heredoc.children if one.type == "heredoc_body"), None)
        start = next((self.text(one) for one in heredoc.children if one.type == "heredoc_start"), "")
        targets = [one for one in (*node.children, *heredoc.children) if one.type == "file_redirect"]
        destination = next((one.child_by_field_name("destination") for one in targets), None)
        if inner is None:
            return
        text = self.text(inner)
        program = self.text(body).split()[0] if body is not None and self.text(body).strip() else ""
        if not start.startswith(("'", '"', "\\")):
            pieces = list(self._quoted(text))
            text = "".join(one or "" for one, _ in pieces)
        if program in ("cat", "tee") and destination is not None:
            self.files[self.value(self.text(destination))] = (text, self.place(node))
        elif program == "read" and body is not None:
            self.variables[self.text(body).split()[-1]] = text
        elif body is not None and program not in (*_READERS, "srun") and self._starts_program(node):
            quoted = text == self.text(inner)  # or it has no variables
            self.kept |= {*re.findall(r"\$\{?(\w+)", text)} if quoted else set()
            source = self.text(node)
            self.steps.append(Step(text=source if quoted else self.residual(source), place=self.place(node)))

    def _pipeline(self, node: Node) -> None:
        first, *others = [one for one in node.named_children if one.type != "comment"]
        programs = [next(iter(self.text(one).split()), "") for one in others]
        before = len(self.steps)
        if {*programs} <= _OF_LOGS or self.text(first).split()[:1] == ["srun"]:
            self._statement(first)
        elif self._starts_program(node):
            self._as_it_is(node)
            return
        if len(self.steps) == before:
            return
        if programs[:1] == ["tee"]:
            hint = "read the logs with `gen logs`, or redirect the output in `command`"
            self.leave(node, "the file of `tee`", "the cluster keeps the logs", hint)
        elif others:
            hint = "add it to `command`, if the run needs it"
            self.leave(node, f"the pipe to `{programs[0]}`", "the cluster keeps the logs", hint)

    def _list(self, node: Node) -> None:
        parts = [one for one in node.children if one.is_named]
        sign = next((one.type for one in node.children if one.type in ("&&", "||")), "&&")
        known = self.holds(parts[0])
        programs = [*nodes_below(node, "command_name")]
        if (
            sign == "||"
            and self._starts_program(parts[-1])
            and "srun" not in map(self.text, programs)
            and known is None
        ):
            self._as_it_is(node)
        elif known is None:
            self._statement(parts[0])
            if sign == "&&" and len(parts) > 1:
                self._statement(parts[1])
        elif known is (sign == "&&") and len(parts) > 1:
            self._statement(parts[1])

    def _if(self, node: Node) -> None:
        condition = next((one for one in node.children if one.type not in ("if", "comment") and one.is_named), None)
        known = self.holds(condition) if condition is not None else None
        then = [one for one in node.children if one is not condition]
        start = next((number for number, one in enumerate(then) if one.type == "then"), 0)
        body = [one for one in then[start + 1 :] if one.type not in ("elif_clause", "else_clause", "fi")]
        others = [one for one in then if one.type in ("elif_clause", "else_clause")]
        if known is None:
            self._undecided(node)
        elif known:
            self._block(body)
        else:
            self._otherwise(node, others)

    def _otherwise(self, node: Node, clauses: list[Node]) -> None:
        for clause in clauses:
            if clause.type == "else_clause":
                self._block(clause.children)
                return
            parts = clause.children
            start = next((number for number, one in enumerate(parts) if one.type == "then"), 0)
            condition = next((one for one in parts[1:start] if one.is_named), None)
            known = self.holds(condition) if condition is not None else None
            if known is None:
                self._undecided(node)
                return
            if known:
                self._block(parts[start + 1 :])
                return

    def _undecided(self, node: Node) -> None:
        """A construct that only a shell decides: its variables are not known afterwards."""
        text = self.text(node)
        assigned = assigned_in(text)
        starts = self._starts_program(node)
        self.before = {
            name: old
            for name in assigned
            if (old := self.variables.get(name)) is not None
            and old != marked(f"${name}")
            and f"for {name} in" not in text
        }
        for name in assigned:
            self.kept.add(name)
            self.variables[name] = marked(f"${name}")
        if not assigned and not starts:
            return
        kind = node.type.removesuffix("_statement").replace("_", " ")
        hint = "check that each pod may run it, or write the values that it computes"
        self.leave(node, f"the meaning of `{kind}`", "only a shell decides it, in each pod", hint)
        self._as_it_is(node)

    def _starts_program(self, node: Node) -> bool:
        """Whether a construct starts more than programs that show something."""
        names = [self.text(one) for one in nodes_below(node, "command_name")]
        return any(one in self._functions or not self.is_silent(one) for one in names)

    def _as_it_is(self, node: Node) -> None:
        """A construct of the shell as a step, after the functions that it calls."""
        for one in nodes_below(node, "command_name"):
            called = self._functions.pop(self.text(one), None)
            if called is not None:
                local = [*map(str, range(10)), *assigned_in(self.text(called))]
                self.kept |= {*local}
                self.variables |= {name: marked(f"${name}") for name in local}
                self._as_it_is(called)
        text = self.residual(self.text(node))
        self.steps += [Step(text=one, place=self.place(node)) for one in (*self.assignments(text), text)]

    def assignments(self, text: str) -> Iterator[str]:
        """The lines before a construct of the shell that give it its variables, as far as they are known."""
        names = [*_ARRAY.findall(text), *re.findall(r"[A-Za-z_]\w*", " ".join(_CALCULATED.findall(text)))]
        arrays = {
            one: self.variables[one] for one in names if self.variables.get(one, marked(f"${one}")) != marked(f"${one}")
        }
        for name, value in {**self.before, **arrays}.items():
            words = [shown(one) for one in value] if isinstance(value, tuple) else [shown(value)]
            if not any(HOSTS in one or one == ADDRESS for one in ([value] if isinstance(value, str) else value)):
                self.kept.add(name)
                yield f"{name}=({' '.join(words)})" if isinstance(value, tuple) else f"{name}={words[0]}"
        self.before.clear()

    def _for(self, node: Node) -> None:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = [self.text(one) for one in node.children_by_field_name("value")]
        items = self.words(" ".join(values))
        if variable is None or body is None:
            return
        plain = all(is_known(one) and not re.search(r"[{*]", one) for one in items)
        if not plain or len(items) > _MOST_TURNS:
            self._undecided(node)
            return
        for item in items:
            self.variables[self.text(variable)] = item
            self._block(body.children)

    def _while(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        text = self.text(node)
        known = self.holds(condition) if condition is not None and text.startswith("while") else None
        if known is False or "getopt" in text.split("\n", 1)[0] or "$#" in text.split("\n", 1)[0]:
            return
        self._undecided(node)

    def _case(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        word = self.condition_value(self.text(value)) if value is not None else ""
        if not is_known(word):
            self._undecided(node)
            return
        for item in (one for one in node.children if one.type == "case_item"):
            patterns = [self.value(self.text(one)) for one in item.children_by_field_name("value")]
            if any(fnmatchcase(word, one) for one in patterns):
                closing = next(number for number, one in enumerate(item.children) if one.type == ")")
                self._block(item.children[closing + 1 :])
                return
