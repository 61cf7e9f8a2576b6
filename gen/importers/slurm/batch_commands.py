"""Commands of the batch part, and words that change the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Findings, Location, names, regex
from gen.base.shell_script import assigned_in, nodes_below
from gen.importers.shell_script import READERS
from gen.importers.slurm.apptainer import RUNSCRIPT, follow_instance, in_instance, of_container, of_environment, opened
from gen.importers.slurm.bash_text import PARAMETER, with_braces, with_own_program, without_brackets
from gen.importers.slurm.expansion import CALCULATED, RUN_ID, is_known, marked, source_text, sources
from gen.importers.slurm.inputs import here_string, read_values
from gen.importers.slurm.lines import without_indentation
from gen.importers.slurm.options import OF_SBATCH, local_words, options_of
from gen.importers.slurm.outputs import LOOKS_UP, is_of_program, with_variables
from gen.importers.slurm.programs import SCRIPT, SUBMITTED, VARIABLE, Called, DroppedPart, Opened, Step
from gen.importers.slurm.site import (
    CONDA,
    OF_NODES,
    OF_STATE,
    ONLY_SHOWS,
    SUBMITS,
    WITHOUT_SRUN,
    file_of_slurm,
    of_setup,
    other_job,
    shows_node,
)
from gen.importers.slurm.statuses import BatchStatuses
from gen.job.launchers import BY_PROGRAM, base

if TYPE_CHECKING:
    from tree_sitter import Node

    from gen.importers.slurm.expansion import Value

FOLLOWED: Final = frozenset({*READERS, "srun"})
OF_SHELL: Final = names("trap eval source . : coproc export unset exec declare local alias shift")
_STATUS: Final = regex(r"^exit\s+\"?\$\{?([A-Za-z_]\w*)\}?\"?\s*$")
_BEFORE_COMMAND: Final = names("&& || | ; !")
_QUOTED_START: Final = regex(r"(?<=[\s>])\"([\w./-]+)\"(?=[\w./-])")
"""The start of a word in quotes that it does not need, such as that of a known variable."""
_COPY: Final = names("cp mv ln cat tail gzip rsync scp install head")
_OF_IMAGE: Final = names("LD_LIBRARY_PATH PATH PYTHONPATH")  # which an image may set
_OTHERWISE: Final = regex(r":?[-+]")
_SEED: Final = regex(r"(seed[ =]\"?)\$(?:RANDOM\b|\{RANDOM\})", re.IGNORECASE)
_ENDLESS: Final = regex(r"(?:while\s+(?:true|:|\[\s+1\s+\])|until\s+false)\s*[;\n]")
_LEFT: Final = regex(r"(?:^|[\s;&|{])(?:break|exit|return)(?=[\s;&|}]|$)")
OF_SLURM: Final = base.PROGRAMS - {"srun"}
_OF_JOB: Final = base.PROGRAMS | BY_PROGRAM.keys()
_OF_PROCESSES: Final = regex(
    r"\s*(?:kill|pkill|pgrep|ps|pstree|renice|taskset|prlimit|ionice|chrt|strace|gdb|lsof|py-spy)\s"
)
_PID: Final = regex(r"\$\(\([^()]*\)\)|(pid[= ][\"']?)?(?<!\\)\$\$(?![(\w])")
"""`$$` behind an option for the number of a process."""
CALLS: Final = regex(r"(?:^|[|;&(`\n])\s*([\w.-]+)")


def _of_processes(text: str) -> tuple[str, bool]:
    """A command, and whether it needs the number of the shell in `$$`, which is an id for names and paths otherwise."""
    if _OF_PROCESSES.match(text):
        return text, "$$" in text
    if not any(one[1] for one in _PID.finditer(text)):
        return text, False
    return _PID.sub(lambda one: one[0] if one[1] or one[0][:2] == "$(" else f"${{{RUN_ID}}}", text), True


class BatchCommands(BatchStatuses):
    """Follows commands by their words. A subclass follows the constructs of the shell."""

    def __init__(self, constants: Mapping[str, str], *, in_task: bool) -> None:
        super().__init__(constants, in_task=in_task)
        self.behind = list[str]()  # words behind the redirection of the command of now
        self.drawn: dict[str, str] = {}  # exported random numbers, which the pod draws once
        self.ids = set[str]()  # variables of the command with the process id of a program in the background
        self.pushed: list[str] = []  # folders of `pushd`
        self.folder_before: str | None = None
        self._submitting: list[list[str]] = []  # words of `sbatch` in the values of the statement of now
        self.single_outputs: list[tuple[Step, Value]] = []  # lines with an output that only one part reads
        self.submitted = dict[str, Location]()
        self.job_ids = set[str]()  # variables with the answer of `sbatch`
        self.looked_up = set[str]()  # programs whose paths it asks for with `which`
        self.checks: list[tuple[DroppedPart, int, str]] = []
        """Checks of a status, with the number of programs before each, and `exit` or `true` of one that starts none."""
        self.deciding_checks = set[DroppedPart]()  # those that decide about other commands
        self.ends_with_status = False  # whether `exit` has that of a program
        self.needed_values = list[str]()  # names without which it ends
        self.log_folders: set[str] = set()
        self.log_links: set[str] = set()  # links that a job does without, because they are those of logs
        self.shown: list[tuple[int, Step]] = []  # lines that only show files, behind a number of programs
        self.broadcasts: dict[Location, str] = {}  # commands of `sbcast`
        self.evaluated: list[tuple[int, Location]] = []  # first bytes and places of texts of `eval`
        self.logs: frozenset[str] = frozenset()  # paths and names of the logs of Slurm
        self.cut: Location | None = None  # the first statement that is not followed, because there are too many

    def follow_command(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        before = [one for one in node.children if one.type == "variable_assignment"]
        if name is None:
            self.follow_block(before)
            return
        own = self.set_for(before, name)
        start = max(name.start_byte, self.read_until)
        here = here_string(node) if self.text(name) in READERS else None
        ends = (node.end_byte,) if here is None else (here.start_byte, here.end_byte, node.end_byte)
        parts = (self.bytes[first:end] for first, end in zip((start, *ends[1:2]), ends[::2], strict=True))
        text = _SEED.sub(r"\1$((RANDOM))", b" ".join(parts).decode("utf-8", "replace"))
        text, is_pid = _of_processes(text)
        self.variables = {**self.variables, **({"$": marked("$$")} if is_pid else {})}
        words, self.behind = [*self.words(with_braces(text)), *self.words(with_braces(" ".join(self.behind)))], []
        self.variables = {name: value for name, value in self.variables.items() if name != "$" or not is_pid}
        self.variables |= self.counted
        words = words[1 + (words[1:2] == ["-p"]) :] if words[:1] == ["time"] else words  # which sh lacks
        self.note_argument(words)
        if words and words[0] in READERS:
            line = read_values(self, node, words, dict(own).get("IFS", " \t\n"))
            if line:
                names = [one for one in words[1:] if one.isidentifier()]
                self.add(Step(text=line, place=self.place(node), sets=names[0] if len(names) == 1 else ""))
        elif words and words[0] == "exit" and (status := _STATUS.search(self.text(node))) is not None:
            self._exit_with(node, status[1])
            self.run(self.place(node), ["exit"])
        elif self.has_input(node) and self.starts_program(node.parent or node):
            self.as_it_is(node)
        elif words:
            self.run(self.place(node), self.with_statuses(words, node), tuple(own))

    def _exit_with(self, node: Node, name: str) -> None:
        """End the pod with the status that a variable has, if it is not that of the last program."""
        after = self.status_of.get(name, 0) if name in self.statuses | self.of_shell_statuses else 0
        self.ends_with_status = self.ends_with_status or name in self.statuses
        between, place = after > 0 and any(not one.sets for one in self.steps[after:]), self.place(node)
        of_last = name in self.of_shell_statuses and self.status_of.get(name, 0) > 0
        if not between and (name not in self.kept | self.from_text or of_last):
            return
        if between and not of_last:
            is_piped = "|" in self.steps[after - 1].text and f"{name}=${{PIPESTATUS" in self.source.replace('"', "")
            made = "${PIPESTATUS[0]}" if is_piped else "$?"
            self.steps.insert(after, Step(text=f"{name}={made}", place=place, sets=name))
        self.add(Step(text=f"exit ${name}", place=place))

    def name_setup(self, node: Node) -> None:
        """Name the commands in a construct that set up or show a node, or start another job."""
        for one in (one for one in (node, *nodes_below(node, "command")) if one.type == "command"):
            text = " ".join(with_own_program(self.text(node), self.text(one)).split())
            program = text.partition(" ")[0]
            if program in OF_NODES.keys() | CONDA:
                self.leave(one, f"`{text[:60]}`", *of_setup(text))
            elif program in OF_STATE or shows_node(text):
                self.leave(one, f"`{text[:60]}`", *ONLY_SHOWS)
            elif program == SUBMITS:
                self.submit(self.place(one), self.words(text))

    def submit(self, place: Location, words: Sequence[str]) -> None:
        """Name another job that the script starts."""
        options, rest = options_of([*words[1:]], place, Findings(), OF_SBATCH)
        script = source_text(self.local("".join(rest[:1]))).strip('"')
        script = SCRIPT if script.rpartition("/")[2] == self.file.rpartition("/")[2] else script
        if script and SCRIPT not in script:
            self.submitted.setdefault(script, place)
        self.left.append(other_job(script, place, delayed=any(one.name == "begin" for one in options)))

    def command_holds(self, text: str) -> bool | None:
        """Whether a command that decides succeeds, as the start of another job does."""
        if text.startswith(f"{SUBMITS} "):
            self._submitting.append(self.words(text))
            return True
        return None if self.searches_output(text) else super().command_holds(text)

    def of_one(self, sign: str, word: str) -> bool | None:
        """Whether a condition about one word holds. Only the pod has the files of its programs."""
        if sign not in "znv" and is_of_program(self.steps, self.local(word), self.variables):
            return None
        return super().of_one(sign, word)

    def checks_job(self, node: Node) -> bool:
        """Whether a construct only checks the answer of `sbatch`, which is named where the script has it."""
        text = self.text(node)
        reads = not self.job_ids.isdisjoint(VARIABLE.findall(text))
        return reads and not (assigned_in(text) or self.starts_program(node))

    def name_values(self, node: Node) -> None:
        super().name_values(node)
        for words in self._submitting:
            self.submit(self.place(node), words)
        self._submitting.clear()

    def sleeps(self, node: Node) -> bool:
        """Whether a loop waits for something, and ends when it has it."""
        text, called = self.text(node), {*map(self.text, nodes_below(node, "command_name"))}
        ends = not _ENDLESS.match(text) if text.startswith(("while", "until")) else False
        return "sleep" in called and (ends or _LEFT.search(text) is not None) and not called & _OF_JOB

    def waits(self, node: Node, *, calls: bool = False) -> bool:
        """Whether a loop waits for a program in the background, such as a server, or also `calls` the word `wait`."""
        waits = self.sleeps(node) or (calls and "wait" in map(self.text, nodes_below(node, "command_name")))
        return waits and any(one.starts_in_background for one in self.steps)

    def as_it_is(self, node: Node) -> None:
        """A construct of the shell as a step, after the functions that it calls."""
        before = len(self.steps)
        called = [*map(self.text, nodes_below(node, "command_name"))]
        for one in called:
            self.keep_function(one)
        called = [] if node.type == "function_definition" else called
        self.read_by_calls(called)
        self.forget_set(called)
        text = without_indentation(self.text(node), node)
        text = self.residual(_SEED.sub(r"\1$((RANDOM))", text)).replace("$((RANDOM))", "$RANDOM")
        text = text if re.search(r"'|<<|\\\"", text) else _QUOTED_START.sub(r"\1", text)
        text = re.sub(r"(?<!;);(?=\n\s*(?:elif|else|fi|done|esac)\b)", "", text)
        self.assign_before(text, self.place(node))
        text = self.behind_lines(node, text, before)
        self.add(Step(text=text, place=self.place(node)))

    def parameter(self, text: str) -> Value:
        """The value of `${…}`. Only the pod knows a path of its image, and an item of an array that a line of it sets.
        The id of another job is a number in a condition.
        """
        item = PARAMETER.fullmatch(text)
        name, index = (item["name"], item["index"]) if item is not None and not item["indirect"] else ("", None)
        if name in self.job_ids:
            self.job_ids |= {self._assigned} - {""}
            if self._decides:
                return "1"
        adds = item is not None and name in _OF_IMAGE and _OTHERWISE.match(item["rest"]) and not self._decides
        if item is not None and adds and self.lookup(name) is None:
            return marked(f"${name}" if item["rest"].strip(":") == "-" else f"${{{self.residual(text)}}}")
        if item is None or index in (None, "@", "*") or not self.is_of_shell(name):
            return super().parameter(text)
        if name in self.keyed:
            key = source_text(self.value(index))
        else:
            key = without_brackets(CALCULATED.sub(r"\1", source_text(self.arithmetic(index))))
            if key == "0" and not (item["length"] or item["rest"]):
                return marked(f"${name}")  # `$A` is its first item
        return marked(f"${{{item['length'] or ''}{name}[{key}]{self.residual(item['rest'])}}}")

    def is_of_shell(self, name: str) -> bool:
        """Whether a line of the pod sets a variable, which the text of an inner shell can have."""
        known = self.lookup(name)
        is_open = known == marked(f"${name}") or (known is None and self.is_inner)
        return is_open and name in self.kept | self.from_text

    def output(self, command: str) -> str:
        """Replacement of the output of a command. The pod gets the functions that it calls."""
        variables, functions = {**self.variables}, {**self.functions}
        for name in (called := [*dict.fromkeys(CALLS.findall(command.strip()))]):
            if name in self.functions.keys() - self.of_outputs:
                self.of_outputs.add(name)
                self.keep_function(name)
        self.variables, self.functions = {**variables}, functions
        answer, words = super().output(command), self._of_variable(self.words(command))
        self.looked_up |= {answer} if LOOKS_UP.fullmatch(" ".join(words)) else set()
        self.assign_before(answer, self.at, [*VARIABLE.findall(answer), *self.read_by_calls(called)])
        starts = [at for at, one in enumerate(words) if one == SUBMITS and (not at or words[at - 1] in _BEFORE_COMMAND)]
        self._submitting += [words[at:] for at in starts]
        self.job_ids |= {self._assigned} - {""} if starts else set()
        lines = {name for name in self.from_text if self.variables.get(name) == marked(f"${name}")}
        self.variables = variables | {name: marked(f"${name}") for name in lines}  # its shell is one of its own
        return answer

    def _of_variable(self, words: list[str]) -> list[str]:
        """A command, with the words of `sbatch` in the place of a variable that the pod has for them."""
        name = (sources("".join(words[:1])) or [""])[0].strip('"')
        made = next((one.text for one in reversed(self.steps) if one.sets and f"${one.sets}" == name), "")
        text = made.partition("=")[2].strip("\"'()")
        return [*self.words(text), *words[1:]] if text.startswith(f"{SUBMITS} ") else words

    def branch_of_case(self, node: Node) -> list[Node] | None:
        """The commands of `case` for its value; None if only a shell knows the value, or goes on behind them."""
        value = node.child_by_field_name("value")
        word = self.condition_value(self.text(value)) if value is not None else ""
        items = [one for one in node.children if one.type == "case_item"]
        patterns = [[self.pattern(self.text(one)) for one in item.children_by_field_name("value")] for item in items]
        goes_on = any(one.type in (";&", ";;&") for item in items for one in item.children)
        if not is_known(word) or goes_on or any(None in one for one in patterns):
            return None
        for item, known in zip(items, patterns, strict=True):
            if any(fnmatchcase(word, one or "") for one in known):
                closing = next(number for number, one in enumerate(item.children) if one.type == ")")
                return item.children[closing + 1 :]
        return []

    def leaves_turn(self, body: Node) -> bool:
        """Follow the body of a loop once. Returns whether it ends the loop."""
        self.loops += 1
        self.turns.append(self.text(body.parent or body))
        self.follow_block(body.children)
        self.turns.pop()
        self.loops -= 1
        word, number = self.leaving
        if word != "return":
            self.leaving = (word, number - 1) if number > 1 else ("", 0)
        return word in ("return", "break") or number > 1

    def follow_block(self, nodes: Iterable[Node]) -> None:
        raise NotImplementedError

    def inner(self, line: int) -> BatchCommands:
        """A reader of another script, with the environment and the folder of now."""
        raise NotImplementedError

    def follow(self, text: str) -> object:
        raise NotImplementedError

    def follow_word(self, called: Called) -> bool:
        """Follow a word that changes the shell, or how a command runs. False for a program."""
        raise NotImplementedError

    def run(self, place: Location, words: list[str], assigned: tuple[tuple[str, str], ...] = ()) -> None:
        """Follow a command by its words."""
        called = Called(tuple(words := self._of_variable(words)), place, assigned)
        if self.in_task and not self.bytes and called.program in OF_SHELL:
            what, why = f"`{called.program}` behind `srun`", "it is not a program, but a word of a shell"
            self.drop(called, what, why, "start it with `srun bash -c`")
        elif self.call(words, assigned) or self.follow_word(called) or follow_instance(self, called):
            pass
        elif (container := opened(words)) is not None:
            self._open(container, place, assigned)
        elif called.program in _COPY and (lost := file_of_slurm(words, self.logs)):
            what = "the file of the script" if SCRIPT in lost else "the log of Slurm"
            self.log_links |= {*words[2:]} if called.program == "ln" else set()
            hint = "leave it out: the job file is in Git, and `gen logs` shows the logs"
            self.drop(called, f"`{called.text[:60]}`", f"no pod has {what}", hint)
        else:
            if "srun" in words and not self.in_task:
                self.refuse(place, f"`{called.program[:40]}` starts `srun`, which does not work in a pod", WITHOUT_SRUN)
            self.start(called.words, called)

    def _open(self, container: Opened, place: Location, assigned: tuple[tuple[str, str], ...]) -> None:
        """Follow the program of a container."""
        container, (variables, mounts) = in_instance(self, container), of_environment(self, assigned)
        self.images += [(container.image, place)] if container.image else []
        self.mounts += [(one, place) for one in (*container.mounts, *mounts)]
        self.left += container.dropped(place)
        if container.command[0] == RUNSCRIPT:
            hint = "write it behind `exec` and the image"
            self.refuse(place, "only the image knows the program of its runscript", hint)
        if container.misplaced:
            what = f"the container takes `{container.misplaced[:40]}` behind the image for its program"
            self.refuse(place, what, "write the options of the container before the image")
        first, outer, self.in_image = len(self.steps), self.in_image, True
        own = [one for one in assigned if not of_container(one[0])]
        self.run(place, [*container.command], (*own, *variables, *container.variables))
        self.in_image = outer
        if container.folder:
            self.steps[first:] = [one.within(container.folder, place) for one in self.steps[first:]]

    def follow_turns(
        self, node: Node, holds: Callable[[], bool | None], body: Node, after: Callable[[], object] = lambda: None
    ) -> None:
        """Follow a loop that takes the arguments one by one, or counts, as long as its condition holds."""
        while known := holds():
            before = {**self.variables}
            if self.leaves_turn(body) or self.ended is not None or self.cut is not None:
                return
            after()
            if before == self.variables:
                self.cut = self.place(node)
                return
        if known is None:
            self.unclear = self.unclear or self.place(node)

    def count_turns(self, node: Node, parts: Sequence[str], body: Node, most: int) -> bool:
        """Follow a loop that counts. False without a change if it has more turns than `most`, other than 0, or a shell
        decides it.
        """
        state, clear, left = self.state(), self.unclear is None, iter(range(most))

        def holds() -> bool | None:
            return None if most and next(left, None) is None else self.calculated(parts[1])

        self.calculate(parts[0])
        self.follow_turns(node, holds, body, lambda: self.calculate(parts[2]))
        if is_lost := most > 0 and clear and (self.unclear or self.cut) is not None:
            self.restore({**state, "cut": None})
        return not is_lost

    def absorb(self, inner: BatchCommands) -> None:
        """Take over what another part of the script needs and lacks, without its steps."""
        self.left += inner.left
        self.take_statuses(inner)
        self.secrets |= inner.secrets
        self.images += inner.images
        self.copies |= inner.copies
        self.written |= inner.written
        self.submitted = {**inner.submitted, **self.submitted}
        self.needed_values += inner.needed_values
        self.broadcasts |= inner.broadcasts
        self.mounts += inner.mounts
        self.indexed |= inner.indexed
        self.outside_values = {**inner.outside_values, **self.outside_values}
        self.looked_up |= inner.looked_up
        self.unreadable, self.cut = self.unreadable or inner.unreadable, self.cut or inner.cut
        self.pipes_fail = self.pipes_fail or inner.pipes_fail

    def placed(self, step: Step) -> Step:
        """A program with the variables and the folder of now."""
        exported = {name: self.variables[name] for name in self.exported if name in self.variables}
        words, options = tuple(map(self.local, step.words)), local_words(step.options, self.folder)
        assigned = tuple((name, self.local(value)) for name, value in step.assigned)
        step = replace(step, words=words, options=options, assigned=assigned, exported=exported, stops=self.stops)
        step = replace(step, in_image=self.in_image)
        text = self.local(step.text).replace(marked(SUBMITTED), SUBMITTED)
        return replace(step, text=text, folder=self.folder, entered=self.entered)

    def add(self, step: Step) -> None:
        """Start a program."""
        parts = " ".join(part for word in (*step.words, *step.options) for part in sources(word))
        self.assign_before("", step.place, [*VARIABLE.findall(parts), *self.read_by_calls(step.words[:1])])
        known = [one for one in self.single_outputs if self.variables.get(one[0].sets) == one[1]]
        step, computed = with_variables(self.placed(step), self.steps, known, self.outputs.keys(), stops=self.stops)
        self.from_text |= computed
        self.variables |= {name: marked(f"${name}") for name in computed}
        self.steps.append(step)
        self.forget_set(step.words[:1])
        self.name_program(step)
        for name in self.early:
            read = parts if name in self.variables else f"{parts} {step.text}"
            if self.variables.get(name) != marked(f"${name}") and re.search(rf"\$\{{?{name}\b", read):
                self.outside_values.setdefault(name, step.place)

    def start(self, words: tuple[str, ...], called: Called) -> None:
        self.add(Step(words=words, place=called.place, assigned=called.assigned))

    def forget_assigned(self, node: Node) -> list[str]:
        """Leave the variables that a construct sets to the shell of the pod; returns their names."""
        assigned = assigned_in(text := self.text(node))
        known = {
            name: self.variables.get(name, marked(f"${name}")) for name in assigned if f"for {name} in" not in text
        }
        self.before = {name: old for name, old in known.items() if old != marked(f"${name}")}
        for name in assigned:
            self.kept.add(name)
            if not self.keeps(node, name):
                self.variables[name] = marked(f"${name}")
        return assigned

    def drop(self, called: Called, what: str, why: str, hint: str) -> bool:
        self.left.append(DroppedPart(called.place, what, why, hint))
        return True
