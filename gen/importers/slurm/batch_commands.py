"""Values and commands of the batch part: variables of Slurm, idioms of head nodes, ports and ids as variables of a pod,
and words that change the shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.base.shell_script import syntax_tree
from gen.importers.draft import is_secret
from gen.importers.shell_script import nodes_below, word_end
from gen.importers.slurm.expansion import (
    ADDRESS,
    NODES,
    PORT,
    RUN,
    RUN_ID,
    Conditions,
    Value,
    is_known,
    marked,
    shown,
    source_text,
    sources,
)
from gen.importers.slurm.site import (
    CONDA,
    IN_IMAGE,
    MODULES,
    SETS_UP,
    SETUP,
    SILENT,
    SILENT_IN_TASKS,
    Called,
    DroppedPart,
    Step,
    absolute,
    answer,
    is_silent,
    joined,
    opened_apptainer,
    relative,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_LIST: Final = frozenset({"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
_ID: Final = regex(r"\$?\{?(?:RANDOM|SLURM_(?:ARRAY_)?JOB_?ID)\b|\bshuf\b|\bdate\b|\buuidgen\b|\bmktemp\b")
_OF_CLOCK: Final = regex(r"start|begin|end|now|time$", re.IGNORECASE)
_IS_PORT: Final = regex(r"(?:^|_)PORT|port$", re.IGNORECASE)
_OF_FILES: Final = frozenset({"mkdir", "rm", "rmdir", "touch"})
_OF_SHELL: Final = names("trap eval source . : coproc export unset exec declare local alias shift")
_COLOR: Final = regex(r"\\(?:033|e|x1b)\[[\d;]*m|\\n")
_ASSIGNS: Final = regex(r"[A-Za-z_]\w*=")
_WRITTEN: Final = regex(
    r"cat\s*<<-?\s*(?P<quote>['\"\\]?)(?P<end>\w+)['\"]?\s*\n(?P<text>.*?)\n?\s*(?P=end)", re.DOTALL
)
"""A text that a variable gets from `$(cat <<END … END)`."""
_SPECIAL: Final[Mapping[str, Value]] = {"#": "0", "@": (), "*": (), "?": "0", "-": "", "$": RUN}


class BatchValues(Conditions):
    """Variables and outputs of commands. `constants` are the variables of Slurm and those that the user gives."""

    def __init__(self, constants: Mapping[str, str], *, in_task: bool) -> None:
        self.constants, self.in_task = constants, in_task
        self.variables: dict[str, Value] = {}
        self.indexed: dict[str, tuple[str, ...]] = {}
        self.folder = ""
        """The working directory, as far as it is known."""
        self.folder_place: Location | None = None
        self.exported: dict[str, Location] = {}
        self.left: list[DroppedPart] = []
        self.images: list[tuple[str, Location]] = []
        """Images of the containers that run the programs of the script."""
        self.mounts: list[tuple[str, Location]] = []
        self.secrets: dict[str, tuple[str, Location]] = {}
        """Values of variables that a job reads from a Secret."""
        self.ended: tuple[Location, str] | None = None
        """Places where the script exits with an error, and their messages."""
        self.fails = False
        self._said, self._assigned = "", ""
        self.before: dict[str, Value] = {}
        """Variables that a construct of the shell reads."""
        self.stops = False
        """Whether the script ends at the first error."""
        self.kept: set[str] = set()
        """Variables with values that only the shell of the pod knows."""
        self.computed: set[str] = set()
        """Variables that the script reads from files and other programs."""
        self.early: set[str] = set()
        """Variables that it reads without a value."""
        self.outside_values: dict[str, Location] = {}  # those that a program reads
        self.from_text: set[str] = set()
        self.bytes = b""
        """The text that is followed."""
        self.read_until = 0
        """The end of a value that the grammar has cut."""

    def lookup(self, name: str) -> Value | None:
        if name in self.variables:
            return self.variables[name]
        if name in _LIST and not self.in_task:
            return NODES
        if name == "RANDOM":
            return PORT if _IS_PORT.search(self._assigned) else RUN
        own = {"PWD": absolute(self.folder), RUN_ID: RUN}
        return own.get(name) or self.constants.get(name, _SPECIAL.get(name))

    def outside(self, name: str) -> str:
        (self.computed if name in self.variables else self.early).add(name)
        return marked(f"${name}")

    def assign(self, name: str, value: Value) -> None:
        self.variables[name] = value

    def assign_node(self, node: Node) -> tuple[str, str] | None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return None
        if name.type == "subscript":
            array = name.child_by_field_name("name")
            if array is not None:
                self.variables.pop(self.text(array), None)
            return None
        self._assigned = self.text(name)
        sign = next((one.type for one in node.children if one.type in ("=", "+=")), "=")
        text = self._whole(value) if value is not None else ""
        new: Value
        if text.startswith("(") and text.endswith(")"):
            new = tuple(self.words(re.sub(r"(?m)(^|(?<!\\)\s)#[^\n]*", r"\1", text[1:-1])))
            if len(new) == 1 and new[0] == NODES:
                new = (ADDRESS, NODES)
            elif new[:1] == (NODES,):
                new = (ADDRESS, *new)
        else:
            new = self.value(text)
        if sign == "+=":
            old = self.variables.get(self._assigned, "" if isinstance(new, str) else ())
            if isinstance(old, str) and isinstance(new, str):
                new = (old + new)[:100_000]
            else:
                new = (*((old,) if isinstance(old, str) else old), *((new,) if isinstance(new, str) else new))
        if isinstance(new, str) and is_known(new) and is_secret(self._assigned, new):
            self.secrets[self._assigned] = new, self.place(node)
            new = marked(f"${self._assigned}")
        self.variables[self._assigned] = new
        name_now, self._assigned = self._assigned, ""
        return name_now, new if isinstance(new, str) else " ".join(new)

    def _whole(self, value: Node) -> str:
        """A value up to the end of its word: the grammar ends some values between quotes too early."""
        text = self.text(value)
        behind = self.bytes[value.end_byte : value.end_byte + 1]
        if text.startswith("(") or not behind or behind.isspace() or behind in b";&|()<>":
            return text
        rest = self.bytes[value.start_byte :].decode("utf-8", "replace")
        whole = rest[: word_end(rest, 0)]
        self.read_until = max(self.read_until, value.start_byte + len(whole.encode("utf-8", "replace")))
        return whole

    def declaration(self, node: Node) -> None:
        exports = self.text(node).startswith("export") or " -x" in self.text(node).split("=")[0]
        for child in node.named_children:
            if child.type == "variable_assignment":
                made = self.assign_node(child)
                if made is not None and exports:
                    self.exported.setdefault(made[0], self.place(child))
            elif child.type == "variable_name" and exports:
                self.exported.setdefault(self.text(child), self.place(child))

    def output(self, command: str) -> str:
        command = command.strip()
        if (written := _WRITTEN.fullmatch(command)) is not None:
            return written["text"] if written["quote"] else self.value(f'"{written["text"]}"')
        gpus = self.constants.get("SLURM_GPUS_ON_NODE")
        known = answer(command, " ".join(self.words(command)), absolute(self.folder), gpus, in_task=self.in_task)
        if known is None and re.match(r"whoami|id ", command):
            known = self.outside("USER")
        if known is not None:
            return known
        if re.fullmatch(r"echo\s+[^|;&`$<>]*|echo\s+\"?\$\{?\w+\}?\"?", command):
            return " ".join(self.words(command)[1:])
        calculated = rf"\(\([^\n]*(?<!\w){self._assigned or ' '}(?!\w)".encode()
        if command in ("date +%s", "date +%s.%N") and (
            _OF_CLOCK.search(self._assigned) or re.search(calculated, self.bytes)
        ):
            return marked(f"$({command})")
        if _ID.search(command) and not self.in_task:
            return PORT if _IS_PORT.search(self._assigned) else RUN
        return marked(f"$({self.residual(command)})")

    def arithmetic(self, text: str) -> str:
        if re.search(r"\b(?:RANDOM|SLURM_JOB_?ID)\b", text) and not self.in_task:
            return PORT if _IS_PORT.search(self._assigned) else RUN
        return super().arithmetic(text)

    def residual(self, text: str) -> str:
        """Shell source with the known values of its variables."""

        def one(match: re.Match[str]) -> str:
            known = self.lookup(match[1] or match[2] or match[3])
            if match[3]:
                if known is not None and known != marked(f"${match[3]}"):
                    self.before.setdefault(match[3], known)
                return match[0]
            if isinstance(known, str) and (is_known(known) and re.fullmatch(r"[\w@%+=:,./\ue004 -]*", known)):
                return known
            if (
                isinstance(known, str)
                and len(sources(known)) == 1
                and known == marked(sources(known)[0])
                and "$(" not in known
            ):
                name = sources(known)[0].removeprefix("$")
                joined = name.isidentifier() and re.match(r"\w", text[match.end() :])
                return f"${{{name}}}" if joined else sources(known)[0]
            name = match[1] or match[2]
            if known is not None:
                self.before.setdefault(name, known)
            elif not name.isdecimal():
                self.early.add(name)
            return match[0]

        return re.sub(r"\$(?:\{(\w+)\}|(\w+)|\{[#!]?([A-Za-z_]\w*)(?=[^\w\[]))", one, text)


class BatchCommands(BatchValues):
    """Follows commands by their words. A subclass follows the constructs of the shell."""

    def __init__(self, constants: Mapping[str, str], *, in_task: bool) -> None:
        super().__init__(constants, in_task=in_task)
        self.steps: list[Step] = []
        self.functions: dict[str, Node] = {}
        self.unreadable: tuple[Location, str, str] | None = None  # the first part, the problem and the remedy
        self.cut: Location | None = None
        """The first statement that is not followed, because there are too many."""
        self._words: dict[str, Callable[[Called], bool]] = {
            "srun": self._srun,
            "env": self._env,
            **dict.fromkeys(("nohup", "timeout", "stdbuf", "unbuffer", "nice", "sudo"), self._around),
            **dict.fromkeys(("exec", "command", "coproc"), self._in_place),
            **dict.fromkeys(("bash", "sh"), self.follow_text),
            "eval": self._eval,
            "trap": self._trap,
            "wait": self._wait,
            **dict.fromkeys(("cd", "pushd"), self._cd),
            "exit": self._exit,
            **dict.fromkeys(MODULES, self._module),
            **dict.fromkeys(CONDA, self._conda),
            **dict.fromkeys(("source", "."), self._source),
        }
        """Words that change the shell, or how a command runs. False of one that is a program here."""

    def call(self, words: Sequence[str]) -> bool:
        """Follow a function of the script. False if there is none of this name."""
        raise NotImplementedError

    def follow_text(self, called: Called) -> bool:
        """Follow `bash -c TEXT`. False for another program of bash."""
        raise NotImplementedError

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

    def absorb(self, inner: BatchCommands) -> None:
        """Take over what another part of the script needs and lacks, without its steps."""
        self.left += inner.left
        self.secrets |= inner.secrets
        self.images += inner.images
        self.mounts += inner.mounts
        self.indexed |= inner.indexed
        self.outside_values = {**inner.outside_values, **self.outside_values}
        self.unreadable, self.cut = self.unreadable or inner.unreadable, self.cut or inner.cut

    def add(self, step: Step) -> None:
        """Start a program with the variables and the folder of now."""
        exported = {name: self.variables[name] for name in self.exported if name in self.variables}
        exported = {key: self.local(one) if isinstance(one, str) else one for key, one in exported.items()}
        words, options = (tuple(map(self.local, one)) for one in (step.words, step.options))
        assigned = tuple((name, self.local(value)) for name, value in step.assigned)
        step = replace(step, words=words, options=options, assigned=assigned, text=self.local(step.text))
        step = replace(step, exported=exported, folder=self.folder, folder_place=self.folder_place)
        self.steps.append(step)
        read = " ".join((*step.words, *step.options, step.text))
        for name in self.early - self.variables.keys():
            if re.search(rf"\$\{{?{name}\b", read):
                self.outside_values.setdefault(name, step.place)

    def read_values(self, node: Node, words: list[str], separators: str) -> str:
        """Set the variables of `read`, as far as its input is a text. Returns a line for the pod."""
        names = [one for one in words if re.fullmatch(r"[A-Za-z_]\w*", one)]
        here = next((one for one in node.children if one.type == "herestring_redirect"), None)
        value = self.value(self.text(here)[3:].strip()) if here is not None else ""
        switches = {one for one in words if one.startswith("-")}
        if here is not None and names and switches <= {"-a", "-ra", "-r"} and switches - {"-r"}:
            is_list = NODES in value or ADDRESS in value
            parts = [value] if is_list else value.split(None if separators.isspace() else separators)
            self.variables[names[-1]] = (ADDRESS, *parts) if value == NODES else tuple(parts)
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

    def local(self, text: str) -> str:
        return relative(text, self.folder)

    def _start(self, words: tuple[str, ...], called: Called) -> None:
        self.add(Step(words=words, place=called.place, assigned=called.assigned))

    def _srun(self, called: Called) -> bool:
        if not self.in_task:
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

    def _wait(self, called: Called) -> bool:
        if any(one.background for one in self.steps):
            self._start(("wait",), called)
        return True

    def _trap(self, called: Called) -> bool:
        words, hint = called.words, "save checkpoints on SIGTERM"
        if {"EXIT", "0"} & {*words[2:]} and self.is_program(words[1]):
            self.add(Step(text=f"trap {shown(words[1])} EXIT", place=called.place))
        elif words[2:] and words[1] != "-":
            self._drop(called, f"`trap {words[1][:60]}`", "a pod gets SIGTERM at its end", hint)
        return True

    def _eval(self, called: Called) -> bool:
        words = called.words
        if not all(map(is_known, words[1:])):
            text = " ".join(map(shown, words[1:]))
            if SETS_UP.search(text):
                self._drop(called, f"`eval {text[:60]}`", "a container has an environment of its own", IN_IMAGE)
            else:
                self._start(words, called)
        elif words[1:] and not words[1].startswith("-"):
            self.run(called.place, self.words(" ".join(words[1:])), called.assigned)
        return True

    def _in_place(self, called: Called) -> bool:
        """`exec`, `coproc` and `command`, with a program."""
        if called.words[1:] and not called.words[1].startswith("-"):
            self.run(called.place, [*called.words[1:]], called.assigned)
            background = called.words[0] == "coproc"
            self.steps[-1:] = [replace(one, background=background) for one in self.steps[-1:]]
            self.ended = (called.place, "") if called.words[0] == "exec" else self.ended
        return True

    def _exit(self, called: Called) -> bool:
        self.fails = called.words[1:2] not in ((), ("0",))
        if self.fails or not self.in_task:
            self.ended = called.place, self._said if self.fails else ""
        return True

    def _cd(self, called: Called) -> bool:
        self.folder, self.folder_place = joined(self.folder, "".join(called.words[1:2])), called.place
        return True

    def _module(self, called: Called) -> bool:
        return self._drop(called, f"`{called.text}`", "a container has no modules", IN_IMAGE)

    def _conda(self, called: Called) -> bool:
        why = "a container has an environment of its own"
        return called.words[1:2] != ("run",) and self._drop(called, f"`{called.text}`", why, IN_IMAGE)

    def _source(self, called: Called) -> bool:
        if SETUP.search(called.text):
            return self._conda(called)
        hint, file = "put the file into the image, or write its variables as `env`", shown("".join(called.words[1:2]))
        return self._drop(called, f"the file `{file}`", "gen reads no files that a script names", hint)

    def _drop(self, called: Called, what: str, why: str, hint: str) -> bool:
        self.left.append(DroppedPart(called.place, what, why, hint))
        return True

    def is_program(self, text: str) -> bool:
        """Whether a text starts more than what shows something, or removes files."""
        found = nodes_below(syntax_tree(source_text(text).encode("utf-8", "replace")), "command_name")
        called = [(one.text or b"").decode("utf-8", "replace") for one in found]
        return any(not is_silent(one) and one not in (*_OF_FILES, *self.functions) for one in called)

    def unset(self, variables: Iterable[str]) -> None:
        for name in variables:
            self.variables.pop(name, None)
            self.exported.pop(name, None)

    def _shows(self, called: Called) -> bool:
        """A program that only shows something."""
        program, text = called.program, called.text
        if program not in SILENT or (self.in_task and program not in SILENT_IN_TASKS):
            return False
        self.stops = self.stops or (program == "set" and re.match(r"-\w*e", " ".join(called.words[1:2])) is not None)
        if program in ("echo", "printf"):
            self._said = _COLOR.sub("", source_text(" ".join(called.words[1:])))[:200].strip()
        unset = [one for one in sources(" ".join(called.words)) if one[1:] in self.early]
        if program == ":" and unset:
            why, hint = "the script gets it from outside", "give it with `--define`, if the job needs it"
            self._drop(called, f"the check of `{unset[0]}`", why, hint)
        elif self.in_task or program in ("nvidia-smi", "ibstat", "nvcc"):
            self._drop(called, f"`{text[:60]}`", "it only shows the state of a node", "remove it")
        return True
