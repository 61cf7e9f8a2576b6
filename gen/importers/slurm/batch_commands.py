"""Commands of the batch part, and words that change the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.importers.shell_script import assigned_in, in_double_quotes, nodes_below
from gen.importers.slurm.conditions import formatted
from gen.importers.slurm.containers import opened_apptainer
from gen.importers.slurm.expansion import (
    MARKED,
    is_known,
    joined,
    marked,
    relative,
    shown,
    source_text,
    sources,
)
from gen.importers.slurm.site import (
    CONDA,
    OF_NODES,
    OWN_ENVIRONMENT,
    SETS_UP,
    SETUP,
    SILENT,
    SILENT_IN_TASKS,
    Called,
    DroppedPart,
    Step,
    uses_of,
)
from gen.importers.slurm.values import ARGUMENT, BatchValues

if TYPE_CHECKING:
    from tree_sitter import Node

_OF_SHELL: Final = names("trap eval source . : coproc export unset exec declare local alias shift")
_COLOR: Final = regex(r"\\(?:033|e|x1b)\[[\d;]*m|\\n")
_CALLS: Final = regex(r"(?:^|[|;&(`\n])\s*([\w.-]+)")
_SWITCHES: Final = regex(r"(?<!\S)([-+])(?:o +(\w+)|(\w+))")
_ASSIGNS: Final = regex(r"[A-Za-z_]\w*=")


class BatchCommands(BatchValues):
    """Follows commands by their words. A subclass follows the constructs of the shell."""

    def __init__(self, constants: Mapping[str, str], *, in_task: bool) -> None:
        super().__init__(constants, in_task=in_task)
        self.of_outputs: set[str] = set()
        """Functions that the command has for the outputs of commands."""
        self.leaving = ("", 0)
        """`break`, `continue` or `return`, while it leaves blocks, and the number of its loops."""
        self.loops = 0
        """The loops around the command of now."""
        self.unclear: Location | None = None
        """A part that may leave a loop or a function, which only a shell decides."""
        self._pushed: list[str] = []
        """The folders of `pushd`."""
        self._before: str | None = None
        """The folder before that of now."""
        self.cut: Location | None = None
        """The first statement that is not followed, because there are too many."""
        self._words: dict[str, Callable[[Called], bool]] = {
            "srun": self._srun,
            "env": self._env,
            **dict.fromkeys(("nohup", "timeout", "stdbuf", "unbuffer", "nice", "sudo"), self._around),
            **dict.fromkeys(("exec", "command", "builtin", "coproc"), self._in_place),
            **dict.fromkeys(("bash", "sh"), self.follow_text),
            "eval": self._eval,
            "trap": self._trap,
            "wait": self._wait,
            "sleep": self._sleep,
            "kill": self._kill,
            "shift": self._shift,
            "set": self._set,
            "shopt": self._shopt,
            "let": self._let,
            "printf": self._printf,
            **dict.fromkeys(("break", "continue", "return"), self._leave),
            **dict.fromkeys(("cd", "pushd", "popd"), self._cd),
            "exit": self._exit,
            **dict.fromkeys(OF_NODES, self._of_nodes),
            **dict.fromkeys(CONDA, self._conda),
            **dict.fromkeys(("source", "."), self._source),
        }
        """Words that change the shell, or how a command runs. False of one that is a program here."""

    def assign_once(self, node: Node) -> None:
        """Follow an assignment. A program starts once in the pod, too, if the script uses its output several times."""
        name, value = self.assign_node(node) or ("", "")
        if name and uses_of(name, self.source) > 1 and not self.is_inner and any(one in value for one in self.outputs):
            self.add(Step(text=f"{name}={shown(value)}", place=self.place(node), sets=name))
            self.from_text.add(name)
            self.variables[name] = marked(f"${name}")

    def call(self, words: Sequence[str]) -> bool:
        """Follow the body of a function with these arguments. False if there is none of this name."""
        function = self.functions.get(words[0])
        if function is None:
            return False
        body = function.child_by_field_name("body")
        variables, steps, clear = {**self.variables}, len(self.steps), self.unclear is None
        around, self.hidden, self.loops = (self.hidden, self.loops, self.has_more), {}, 0
        self.set_arguments(words[1:])
        own_shell = body is not None and body.type == "subshell"
        self.follow_block(() if body is None else (body,) if own_shell else body.children)
        own = {name: variables.get(name) for name in {**self.variables, **variables} if ARGUMENT.fullmatch(name)}
        own |= self.hidden
        for name, value in own.items():
            self.variables.pop(name, None)
            self.variables |= {name: value} if value is not None else {}
        (self.hidden, self.loops, self.has_more), self.leaving = around, ("", 0)
        if clear and self.unclear is not None and "srun" not in self.text(function):
            del self.steps[steps:]
            self.variables, self.unclear = variables, None
            self.keep_function(words[0])
            return False
        return True

    def as_it_is(self, node: Node) -> None:
        """A construct of the shell as a step, after the functions that it calls."""
        for one in nodes_below(node, "command_name"):
            self.keep_function(self.text(one))
        text = re.sub(r";(?=\n\s*(?:elif|else|fi|done|esac)\b)", "", self.residual(self.text(node)))
        for line in (*self.assignments(text), text):
            self.add(Step(text=line, place=self.place(node)))

    def keep_function(self, name: str) -> None:
        """Write a function into the command, if the script has it."""
        if (called := self.functions.pop(name, None)) is not None:
            local = [*map(str, range(10)), *assigned_in(self.text(called))]
            self.kept |= {*local}
            self.variables |= {name: marked(f"${name}") for name in local}
            self.as_it_is(called)
            self.steps[-1] = replace(self.steps[-1], sets=f"{name}()")

    def output(self, command: str) -> str:
        """Replacement of the output of a command. The pod gets the functions that it calls."""
        variables, functions = {**self.variables}, {**self.functions}
        for name in dict.fromkeys(_CALLS.findall(command.strip())):
            if name in self.functions.keys() - self.of_outputs:
                self.of_outputs.add(name)
                self.keep_function(name)
        self.variables, self.functions = variables, functions  # the shell of the output is one of its own
        return super().output(command)

    def leaves_turn(self, body: Node) -> bool:
        """Follow the body of a loop once. Returns whether it ends the loop."""
        self.loops += 1
        self.follow_block(body.children)
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

    def follow_text(self, called: Called) -> bool:
        """`bash -c TEXT`."""
        found = ((at, one) for at, one in enumerate(called.words[1:], 2) if not re.match(r"-(?![a-zA-Z]*c$)", one))
        at, option = next(found, (0, ""))
        if not option.startswith("-") or called.words[-1].startswith("-"):
            return False
        inner = self.inner(called.place.line)
        text, *behind = called.words[at:]
        of_outer = {one[1:]: marked(one) for one in sources(text)}
        inner.variables = {name: value for name, value in self.variables.items() if name in self.exported}
        inner.variables |= dict(called.assigned)
        inner.exported |= dict.fromkeys(dict(called.assigned), called.place)
        inner.set_arguments(behind[1:])
        inner.variables |= {name: value for name, value in of_outer.items() if name not in self.variables}
        for name in sorted(of_outer.keys() & {*assigned_in(MARKED.sub("", text)), *map(str, range(1, 10))}):
            hint = "quote the text with single quotes, or set it before"
            why = "its outer shell expands it before the inner sets it"
            self._drop(called, f"the empty value of `${name}`", why, hint)
        inner.follow(source_text(in_double_quotes(text, MARKED)))
        self.absorb(inner)
        self.steps += inner.steps
        return True

    def run(self, place: Location, words: list[str], assigned: tuple[tuple[str, str], ...] = ()) -> None:
        """Follow a command by its words."""
        called = Called(tuple(words), place, assigned)
        if self.in_task and not self.bytes and called.program in _OF_SHELL:
            what, why = f"`{called.program}` behind `srun`", "it is not a program, but a word of a shell"
            self._drop(called, what, why, "start it with `srun bash -c`")
        elif self.call(words) or self._words.get(called.program, self._shows)(called):
            pass
        elif (opened := opened_apptainer(words)) is not None:
            self.images += [(opened[0], place)] if opened[0] else []
            self.mounts += [(one, place) for one in opened[2]]
            self.run(place, opened[1], assigned)
        else:
            self._start(called.words, called)

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

    def absorb(self, inner: BatchCommands) -> None:
        """Take over what another part of the script needs and lacks, without its steps."""
        self.left += inner.left
        self.secrets |= inner.secrets
        self.images += inner.images
        self.mounts += inner.mounts
        self.indexed |= inner.indexed
        self.outside_values = {**inner.outside_values, **self.outside_values}
        self.unreadable, self.cut = self.unreadable or inner.unreadable, self.cut or inner.cut
        self.stops = self.stops or inner.stops

    def add(self, step: Step) -> None:
        """Start a program with the variables and the folder of now."""
        exported = {name: self.variables[name] for name in self.exported if name in self.variables}
        words, options = (tuple(map(self.local, one)) for one in (step.words, step.options))
        assigned = tuple((name, self.local(value)) for name, value in step.assigned)
        step = replace(step, words=words, options=options, assigned=assigned, exported=exported)
        step = replace(step, text=self.local(step.text), folder=self.folder, folder_place=self.folder_place)
        self.steps.append(step)
        self.name_program(step)
        parts = " ".join(part for word in (*step.words, *step.options) for part in sources(word))
        for name in self.early:
            read = parts if name in self.variables else f"{parts} {step.text}"
            if self.variables.get(name) != marked(f"${name}") and re.search(rf"\$\{{?{name}\b", read):
                self.outside_values.setdefault(name, step.place)

    def local(self, text: str) -> str:
        return relative(text, self.folder)

    def _start(self, words: tuple[str, ...], called: Called) -> None:
        self.add(Step(words=words, place=called.place, assigned=called.assigned))

    def _srun(self, called: Called) -> bool:
        hint = "start each one with an `srun` of its own"
        if ":" in called.words:
            self.refuse(called.place, "`srun` starts several components behind `:`", hint)
        if "--multi-prog" in called.words:
            self.refuse(called.place, "a file of `srun` names its programs", hint)
        if self.in_task:
            self.refuse(called.place, "`srun` behind `srun` does not work in a pod", "remove one of them")
        else:
            self.add(Step(options=called.words[1:], place=called.place, by_srun=True, assigned=called.assigned))
        return not self.in_task

    def _env(self, called: Called) -> bool:
        """`env A=1 PROGRAM`; without a program, it shows the variables."""
        words = called.words
        at = next((number for number, one in enumerate(words) if number and not _ASSIGNS.match(one)), 0)
        if not at or "srun" in words or words[at].startswith("-"):
            return not at or self._around(called)
        pairs = ((name, value) for name, _, value in (one.partition("=") for one in words[1:at]))
        self.run(called.place, [*words[at:]], (*called.assigned, *pairs))
        return True

    def _around(self, called: Called) -> bool:
        """A program that starts `srun`, whose tasks do without it."""
        words, place = called.words, called.place
        if "srun" not in words[:6] or self.in_task:
            return False
        what, hint = f"`{called.program}` around `srun`", "set `timeout` of the job, or write it into `command`"
        self._drop(called, what, "each pod starts the program itself", hint)
        self.run(place, [*words[words.index("srun") :]], called.assigned)
        return True

    def _set(self, called: Called) -> bool:
        """`set -- ARGUMENTS`, and options of the shell."""
        words = called.words[1:]
        at = words.index("--") + 1 if "--" in words else 0
        if at or (words and not words[0].startswith(("-", "+"))):
            self.set_arguments(words[at:])
            words = words[: at - 1] if at else ()
        for sign, name, letters in _SWITCHES.findall(" ".join(words)):
            self.switch(called.place, sign == "-", {name} if name else {*letters})
        return self._shows(called)

    def _shopt(self, called: Called) -> bool:
        self.switch(called.place, "-s" in called.words, {*called.words})
        return self._shows(called)

    def _let(self, called: Called) -> bool:
        for one in called.words[1:]:
            self.calculate(one)
        return True

    def _printf(self, called: Called) -> bool:
        """`printf -v NAME FORMAT WORD…`."""
        if called.words[1:2] != ("-v",) or len(called.words) < 4:  # noqa: PLR2004 - a format
            return self._shows(called)
        name, form, *words = called.words[2:]
        text = formatted(form, words)
        if text is None:
            self.forget(name)
        else:
            self.variables[name] = text
        return True

    def _shift(self, called: Called) -> bool:
        number = "".join(called.words[1:2]) or "1"
        if not number.isdecimal():
            self._drop(called, f"`{called.text[:60]}`", "gen cannot compute its number", "write the number")
        elif 0 < int(number[:6]) <= len(self.arguments):
            self.set_arguments(self.arguments[int(number) :], has_more=self.has_more)
        return True

    def _leave(self, called: Called) -> bool:
        """`break`, `continue` and `return`, which do nothing outside of loops and functions."""
        number = "".join(called.words[1:2])
        if self.loops or (called.program == "return" and self.hidden is not None):
            self.leaving = called.program, int(number[:3]) if number.isdecimal() else 1
        return True

    @property
    def _in_background(self) -> list[Step]:
        return [one for one in self.steps if one.starts_in_background]

    def _wait(self, called: Called) -> bool:
        behind, waited = self._in_background, len(called.words) - 1
        if waited and len(behind) == 1 and self.steps[-1].background:
            self.steps[-1] = replace(behind[0], background=False)
        elif behind:
            if 0 < waited < len(behind):
                why, hint = "the pod waits for all programs in the background", "write it into `command`"
                self._drop(called, f"`{called.text}`", why, hint)
            self._start(("wait",), called)
        return True

    def _sleep(self, called: Called) -> bool:
        """A pause, which a program in the background may need."""
        if not self._in_background:
            return self._shows(called)
        self._start(called.words, called)
        return True

    def _kill(self, called: Called) -> bool:
        """The end of a program in the background, if there is only one."""
        behind = self._in_background
        if len(behind) == 1 and marked("$!") in called.words:
            self._start(called.words, called)
        elif behind:
            self._drop(called, f"`{called.text}`", "gen does not know which program it ends", "write it into `command`")
        return bool(behind) or self._shows(called)

    def _trap(self, called: Called) -> bool:
        words, hint = called.words, "save checkpoints on SIGTERM"
        if {"EXIT", "0"} & {*words[2:]} and self.is_program(words[1]):
            self.add(Step(words=("trap", words[1], "EXIT"), place=called.place))
        elif words[2:] and words[1] != "-":
            self._drop(called, f"`trap {words[1][:60]}`", "a pod gets SIGTERM at its end", hint)
        return True

    def _eval(self, called: Called) -> bool:
        words = called.words
        if not all(map(is_known, words[1:])):
            text = " ".join(map(shown, words[1:]))
            if SETS_UP.search(text):
                self._drop(called, f"`eval {text[:60]}`", *OWN_ENVIRONMENT)
            else:
                self._start(words, called)
        elif re.search(r"[;&|\n]", text := re.sub(r"'[^']*'|\"[^\"]*\"", "", " ".join(words[1:]).strip())):
            what = f"gen does not follow several commands of `eval`: `{text[:60]}`"
            self.refuse(called.place, what, "write them into the script")
        elif words[1:] and not words[1].startswith("-"):
            self.run(called.place, self.words(" ".join(words[1:])), called.assigned)
        return True

    def _in_place(self, called: Called) -> bool:
        """`exec`, `coproc`, `command` and `builtin`, with a program."""
        if called.words[1:] and not called.words[1].startswith("-"):
            self.run(called.place, [*called.words[1:]], called.assigned)
            background = called.words[0] == "coproc"
            self.steps[-1:] = [replace(one, background=background) for one in self.steps[-1:]]
            self.ended = (called.place, "") if called.words[0] == "exec" else self.ended
        return True

    def _exit(self, called: Called) -> bool:
        self.fails = "".join(called.words[1:2]).lstrip("0")
        if self.fails or not self.in_task:
            self.ended = called.place, self._said if self.fails else ""
        return True

    def _cd(self, called: Called) -> bool:
        now, target = self.folder, "".join(one for one in called.words[1:] if one == "-" or not one.startswith("-"))
        if called.program == "popd" and not self._pushed:
            return True
        folder = joined(now, target or self.value("$HOME"))
        if called.program == "popd":
            folder = self._pushed.pop()
        elif target == "-" and self._before is not None:
            folder = self._before
        elif called.program == "pushd":
            self._pushed.append(now)
        self.folder, self.folder_place, self._before = folder, called.place, now
        return True

    def _of_nodes(self, called: Called) -> bool:
        return self._drop(called, f"`{called.text}`", *OF_NODES[called.program])

    def _conda(self, called: Called) -> bool:
        return called.words[1:2] != ("run",) and self._drop(called, f"`{called.text}`", *OWN_ENVIRONMENT)

    def _source(self, called: Called) -> bool:
        if SETUP.search(called.text):
            return self._conda(called)
        hint, file = "put the file into the image, or write its variables as `env`", shown("".join(called.words[1:2]))
        return self._drop(called, f"the file `{file}`", "gen reads no files that a script names", hint)

    def _drop(self, called: Called, what: str, why: str, hint: str) -> bool:
        self.left.append(DroppedPart(called.place, what, why, hint))
        return True

    def _shows(self, called: Called) -> bool:
        """A program that only shows something."""
        program, text = called.program, called.text
        if program not in SILENT or (self.in_task and program not in SILENT_IN_TASKS):
            return False
        if program in ("echo", "printf"):
            self._said = _COLOR.sub("", source_text(" ".join(called.words[1:])))[:200].strip()
        unset = [one for one in sources(" ".join(called.words)) if one[1:] in self.early]
        if program == ":" and unset:
            why, hint = "the script gets it from outside", "give it with `--define`, if the job needs it"
            self._drop(called, f"the check of `{unset[0]}`", why, hint)
        elif (self.in_task and program not in ("true", ":", "set")) or program in ("nvidia-smi", "ibstat", "nvcc"):
            self._drop(called, f"`{text[:60]}`", "it only shows the state of a node", "remove it")
        return True
