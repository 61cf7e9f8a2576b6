"""Values of the batch part: variables of Slurm, and the output of commands. Idioms of head nodes, ports and ids become
variables of a pod.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Final

from gen.base import Location, names, regex
from gen.base.shell_script import assigned_in
from gen.importers.draft import is_secret
from gen.importers.slurm.bash_text import before_programs, cut, raw_parts, with_braces, with_home, word_end
from gen.importers.slurm.conditions import OF_FILES, OF_NUMBER, OF_TOOL, STATUS, Conditions
from gen.importers.slurm.expansion import (
    ADDRESS,
    CLOSE,
    MARKED,
    NODES,
    ONE,
    OPEN,
    PORT,
    RUN,
    RUN_ID,
    START,
    Value,
    is_known,
    items_of,
    marked,
    shown,
    source_text,
    sources,
)
from gen.importers.slurm.other_cases import name_branch
from gen.importers.slurm.outputs import counts_with
from gen.importers.slurm.programs import BETWEEN, SCRIPT, DroppedPart, Entered, Opened, Step, relative

if TYPE_CHECKING:
    from tree_sitter import Node

_LIST: Final = frozenset({"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
_SPECIAL: Final[Mapping[str, Value]] = {"?": "0", "PIPESTATUS": ("0",), "-": "hB", "$": RUN}
_OF_STATUS: Final = regex(r"(?<!\\)\$(?:\?|\{PIPESTATUS\[0\])")
_EXPORTED: Final = names("HOME LD_LIBRARY_PATH PATH TMPDIR")
"""Variables that each process has from the start, and which a script exports by setting them."""
_OF_SCRIPT: Final[Mapping[str, Value]] = {"0": f"{START}/{SCRIPT}", "BASH_SOURCE": (f"{START}/{SCRIPT}",)}
_CALCULATED: Final = regex(r"\(\((.*?)\)\)")
_OF_OUTPUT: Final = regex(r"\$\(\([^()$\"'`]*\)\)")
_NAME: Final = regex(r"(?<![\w${])[A-Za-z_]\w*")
_RANDOM: Final = regex(r"\$?\{?\bRANDOM\b\}?")
_PLAIN: Final = regex(r"[\w@%+=:,./\ue004 -]*")
_USE: Final = regex(
    r"\$(?:\{(\w+)\}|(\w+)|\{[#!]?([A-Za-z_]\w*)(?=[^\w\[])((?::?-(?:[^{}]|\$\{\w+\})*|[^{}$`'\"\\=?]*)\})?)"
)
"""A variable, or the start of one with another value or a part of its own, and its rest."""
_ESCAPE: Final = regex(r"(?<!\\)(?:\\\\)*\\\Z")
_ARRAY: Final = regex(r"\$\{[#!]?(\w+)\[")
_MAX_ITEMS: Final = 1000  # of an array that grows by one each time
ARGUMENT: Final = regex(r"[1-9]\d*|[@*#]")
_ARGUMENTS: Final = regex(r"\$\{?[@*#](?![A-Za-z_])|\$\{[1-9]\d*[^}\w]|\bfor\s+\w+\s*[;\n]\s*do\b")
"""All arguments in a construct of the shell."""
_INPUT: Final = regex(r"here(?:string|doc)_redirect|file_redirect \d*<")
OF_FILE: Final = regex(r"(?<!\S)-[defhrswxLS]\s")
_FROM_FILE: Final = regex(rf"{OPEN}\"?\$\((?:cat\s+|<\s*)\"?(?:~|\$\{{?HOME|/)[^()|;&]*\)\"?{CLOSE}")
_NO_NAME: Final = regex(r"[\"'|&;<>,]|^[^/]* [^/]*$")
_NO_PROGRAM: Final = regex(rf"{OPEN}(?:\$MASTER_|\{{\{{|[*?!]|\$[(!])[^{CLOSE}]*{CLOSE}")


class BatchValues(Conditions):
    """Variables and outputs of commands. `constants` are the variables of Slurm and those that the user gives."""

    exports_all = False  # whether each assignment exports its variable
    matching = ""
    """The option that changes what patterns match."""
    submitted: dict[str, Location]
    """Scripts of other jobs that it starts, and where."""
    untaken: set[str]
    """Other variables that only some cases set."""
    pipes_fail = False  # whether `pipefail` is set
    stops = False  # whether an error ends the script
    volumes: Collection[str] = ()  # folders of the site that a pod can mount
    unseen: tuple[Location, str] | None = None
    """The last check of a file that the machines may have."""

    def __init__(self, constants: Mapping[str, str], *, in_task: bool) -> None:
        self.constants = {name: value for name, value in constants.items() if not ARGUMENT.fullmatch(name)}
        self.in_task = self.is_inner = in_task
        self.in_image = False  # whether a container runs this part
        self.instances: dict[str, Opened] = {}  # containers that it starts and enters later
        self.variables: dict[str, Value] = {}
        self.indexed: dict[str, tuple[str, ...]] = {}
        self.keyed: dict[str, dict[str, str]] = {}
        self.asked, self.unset_names = set[str](), set[str]()
        self.statuses = {"?", "PIPESTATUS"}  # names of variables with the status of a program, which counts as 0
        self.status_of: dict[str, int] = {}  # the number of programs before a variable gets a status
        self.folder = ""
        self.entered = Entered()
        self.exported: dict[str, Location] = {}
        self.left: list[DroppedPart] = []
        self.steps: list[Step] = []
        self.images: list[tuple[str, Location]] = []  # of the containers that run the programs
        self.copies: dict[str, str] = {}  # of images, by file; empty for one without a known name
        self.mounts: list[tuple[str, Location]] = []
        self.container_words: set[str] = set()
        """Words of the script about its containers, which no program reads."""
        self.written: dict[str, tuple[str | None, Location]] = {}
        """Lines that the script writes with `echo` and the like, by path. None for lines with unknown values."""
        self.secrets: dict[str, tuple[str, Location]] = {}  # values of variables that a job reads from a Secret
        self.ended: tuple[Location, str] | None = None
        """Places where the script exits with an error, and their messages."""
        self.fails = ""  # the status with which it ends, without zeros at its start
        self.said: list[tuple[int, str]] = []  # its messages of now, with their lines
        self.before: dict[str, Value] = {}
        self.kept: set[str] = set()
        self.computed: set[str] = set()
        self.outputs, self.once = {}, set()
        self.read_from: dict[str, str] = {}  # names of values from outside that `read` splits, by its variables
        self.early: set[str] = set()  # variables that it reads without a value
        self.outside_values: dict[str, Location] = {}  # those that a program reads
        self.from_text, self.never, self.untaken = set[str](), set[str](), set[str]()
        self.bytes = b""
        self.read_until = 0
        """The end of a value that the grammar has cut."""
        self.functions: dict[str, Node] = {}
        self.fixed: set[str] = set()  # readonly variables
        self.hidden: dict[str, Value | None] | None = None
        """Outer values of the local variables in a function; None outside of functions."""
        self.unreadable: tuple[Location, str, str] | None = None  # the first part, the problem and the remedy
        self.has_more = True
        """Whether there can be unknown arguments behind the known ones."""
        last = next(number for number in count(1) if str(number) not in constants)
        self.are_given = last > 1  # arguments, which it may take one by one
        self.set_arguments([constants[str(number)] for number in range(1, last)], has_more=True)
        self.variables |= {name: value for name, value in constants.items() if ARGUMENT.fullmatch(name)}

    @property
    def arguments(self) -> tuple[str, ...]:
        known = self.lookup("@")
        return known if isinstance(known, tuple) else ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The items of a list of all nodes. Only the first one has a name in pods."""
        number = self.constants.get("SLURM_NNODES", "1")
        return (ADDRESS, *[NODES] * (int(number[:4]) - 1 if number.isdecimal() else 1))

    def set_arguments(self, words: Sequence[str], *, has_more: bool = False) -> None:
        """Set `$1` and those behind it."""
        self.has_more = has_more
        self.variables = {name: value for name, value in self.variables.items() if not ARGUMENT.fullmatch(name)}
        self.variables |= {str(number): word for number, word in enumerate(words, 1)}
        self.variables |= {"@": tuple(words), "*": tuple(words), "#": str(len(words))}

    def lookup(self, name: str) -> Value | None:
        if name in self.statuses:
            self.asked.add(STATUS)
        if name in self.variables:
            return self.variables[name]
        if name in _LIST and not self.in_task:
            return NODES
        if name == "RANDOM":
            counts = self.random != PORT and counts_with(self._assigned, self.source)
            return self.arithmetic(name) if counts or OF_NUMBER.search(self._assigned) else self.random
        own = {"PWD": self.folder_now, RUN_ID: RUN, **({} if self.in_task else _OF_SCRIPT)}
        return own.get(name) or self.constants.get(name, _SPECIAL.get(name))

    def outside(self, name: str) -> str:
        if name in self.never or (ARGUMENT.fullmatch(name) and not self.has_more):
            return ""
        (self.computed if name in self.variables else self.early).add(name)
        return marked(f"${name}")

    def share(self, outer: BatchValues) -> None:
        """Know what another part of the script knows about variables."""
        self.early, self.kept, self.never, self.untaken = {*outer.early}, {*outer.kept}, outer.never, outer.untaken
        self.outputs, self.matching, self.once, self.origin = outer.outputs, outer.matching, outer.once, outer.origin
        self.in_image, self.instances, self.volumes = outer.in_image, outer.instances, outer.volumes

    def note_cases(self, node: Node) -> None:
        """Note the variables that only some cases set. Those of options, or before a program, are empty in others."""
        text = self.text(node)
        for name in {one for one in assigned_in(text) if not one.startswith("SLURM_")}:
            is_empty = re.search(rf"(?<![\w$]){name}\+?=\(?[\"']?\s*(?:\$\{{?{name}\}}?\s*)?-", text) is not None
            (self.never if is_empty or name in before_programs(self.source) else self.untaken).add(name)

    def is_unset(self, word: str) -> bool:
        """Whether a word is a variable from outside, without quotes."""
        name = word.strip("${}")
        return word in (f"${name}", f"${{{name}}}") and self.value(word) == marked(f"${name}") and name in self.early

    def assign(self, name: str, value: Value) -> None:
        self.variables[name] = value

    def _note_status(self, text: str) -> None:
        """Remember whether the variable of now has the status of a program."""
        is_status = {self._assigned} if _OF_STATUS.search(text) else set[str]()
        self.statuses = (self.statuses - {self._assigned}) | is_status
        self.asked -= {STATUS} if is_status else set()
        if is_status:
            self.status_of[self._assigned] = len(self.steps)

    def leave(self, node: Node, what: str, why: str, hint: str, *, of_pods: bool = False) -> None:
        self.left.append(DroppedPart(self.place(node), what, why, hint, of_pods))

    def has_input(self, node: Node) -> bool:
        return any(_INPUT.match(f"{one.type} {self.text(one)}") for one in node.children)

    def sets_one(self, node: Node) -> bool:
        """Whether `A && B=1` in front of `||` sets its variable, because its condition holds."""
        parts = node.named_children if node.type == "list" and any(one.type == "&&" for one in node.children) else []
        ends = [one.type == "variable_assignment" and "$(" not in self.text(one) for one in parts]
        return ends == [False, True] and self.holds(parts[0]) is True

    def before_one(self, node: Node, *types: str) -> Node | None:
        """The statement before one, without comments, or without commands that only show something, too."""
        before = node.prev_named_sibling
        while before is not None and before.type in types and not self.starts_program(before):
            before = before.prev_named_sibling
        return before

    def end_at(self, condition: Node, first: int, variables: Mapping[str, Value]) -> None:
        """The end of the script behind a condition and the programs from the first one. A check of files does not end
        it, if it fails or starts nothing; otherwise the commands behind it are the other case.
        """
        programs = [one for one in self.steps[first:] if not {*one.words[:1]} & OF_FILES]
        if (OF_FILE.search(self.text(condition)) or OF_TOOL.match(self.assumed)) and (self.fails or not programs):
            self._leave_check(condition, first)
            self.never -= {*assigned_in(self.text(condition.parent or condition))}
            self.ended, self.variables = None, {**variables}
        elif not self.fails and (self.assumed or self.decided_by):
            around = condition.parent.parent if condition.parent is not None else None
            others = around.named_children if around is not None else []
            name_branch(self, condition, [one for one in others if one.start_byte > condition.start_byte])

    def _leave_check(self, condition: Node, first: int) -> None:
        """Leave out a check of files, and its programs behind the first ones."""
        hint = "check that the image or a volume of the job has it"
        self.leave(condition, f"the check `{cut(self.text(condition))}`", "gen does not see files of machines", hint)
        for one in self.steps[first:]:
            text = one.text or " ".join(map(shown, one.words or ("srun", *one.options)))
            self.left.append(DroppedPart(one.place, f"`{text[:60]}`", "it belongs to a check of files", hint))
        del self.steps[first:]

    def local(self, text: str) -> str:
        return relative(text, self.folder)

    def assign_node(self, node: Node) -> tuple[str, str] | None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or self.keeps(node, self.text(name)):
            return None
        if name.type == "subscript":
            self._set_item(self.text(name), self.text(value) if value is not None else "")
            return None
        self._assigned = self.text(name)
        sign = next((one.type for one in node.children if one.type in ("=", "+=")), "=")
        text = self._whole(value) if value is not None else ""
        new: Value
        if text.startswith("(") and text.endswith(")"):
            new = tuple(self.words(with_braces(re.sub(r"(?m)(^|(?<!\\)\s)#[^\n]*", r"\1", text[1:-1]))))
            if len(new) == 1 and new[0] == NODES:
                new = self.nodes
            elif new[:1] == (NODES,):
                new = (ADDRESS, *new)
        else:
            new = self.value(text)
        self._note_status(text)
        items = items_of(self.variables.get(self._assigned, "" if isinstance(new, str) else ()))
        if sign == "+=" and isinstance(new, str):
            new = f"{''.join(items[:1])}{new}"[:100_000]
        elif sign == "+=":
            new = (*items, *new)
        plain = _FROM_FILE.sub("of-a-file", new) if isinstance(new, str) else OPEN
        if isinstance(new, str) and is_known(plain) and is_secret(self._assigned, plain):
            self.secrets[self._assigned] = new, self.place(node)
            new = marked(f"${self._assigned}")
        self.variables[self._assigned] = (new, *items[1:]) if isinstance(new, str) and items[1:] else new  # the first
        if self.exports_all or self._assigned.startswith("SLURM_") or self._assigned in _EXPORTED:
            self.exported.setdefault(self._assigned, self.place(node))
        name_now, self._assigned = self._assigned, ""
        return name_now, new if isinstance(new, str) else " ".join(new)

    def _set_item(self, item: str, text: str) -> None:
        """`NAME[INDEX]=VALUE`. Only a shell knows an array with other indices than those of its items."""
        name, _, index = item[:-1].partition("[")
        if name in self.keyed:
            self.keyed[name] |= {self.value(index): self.value(text)}
            return
        items, number = items_of(self.variables.get(name, ())), self.arithmetic(index)
        if number.isdecimal() and int(number) <= len(items) < _MAX_ITEMS and not text.startswith("("):
            self.variables[name] = (*items[: int(number)], self.value(text), *items[int(number) + 1 :])
        else:
            self.forget(name)

    def forget(self, *names: str) -> None:
        """Note that only a shell knows variables."""
        self.computed |= {*names}
        self.variables |= {name: marked(f"${name}") for name in names}

    def set_for(self, assignments: Iterable[Node], name: Node) -> list[tuple[str, str]]:
        """The variables that are set for a command alone. Its words have those of the script, before `counted` ones."""
        own: list[tuple[str, str]] = []
        before = {**self.variables}
        for one in assignments:
            behind = self.bytes[one.end_byte : name.start_byte].replace(b"\\\n", b"")
            made = self.assign_node(one)
            if made is not None and (b"\n" in behind or name.start_byte < self.read_until):
                before[made[0]] = self.variables[made[0]]  # the grammar joins it with the next line or its last part
            elif made is not None:
                own.append(made)
        names, now, self.variables = dict(own).keys(), self.variables, before
        self.counted = {name: one for name, one in now.items() if name not in names and before.get(name) != one}
        return own

    def _whole(self, value: Node) -> str:
        """A value up to the end of its word: the grammar ends some values between quotes too early."""
        text = self.text(value)
        behind = self.bytes[value.end_byte : value.end_byte + 1]
        if not behind or behind.isspace() or behind in b";&|()<>":
            return text
        self.is_invalid = self.is_invalid or text.startswith("(")  # bash takes it for a text
        rest = self.bytes[value.start_byte :].decode("utf-8", "replace")
        whole = rest[: word_end(rest, 0)]
        self.read_until = max(self.read_until, value.start_byte + len(whole.encode("utf-8", "replace")))
        return whole

    def keeps(self, node: Node, name: str, *, declared: bool = False) -> bool:
        """Whether a variable is readonly. An assignment ends the command of bash; a declaration only fails."""
        if name not in self.fixed:
            return False
        hint = "remove this line, or the `readonly` of the variable"
        if declared and not self.stops:
            why = "the variable is readonly, and bash keeps its first value"
            self.left.append(DroppedPart(self.place(node), f"the change of `{name}`", why, hint))
        else:
            self.refuse(self.place(node), f"bash ends this command, because it changes the readonly `{name}`", hint)
        return True

    def refuse(self, place: Location, what: str, hint: str) -> None:
        """Note the first part that is not followed as bash does it."""
        self.unreadable = self.unreadable or (place, what, hint)

    def lists_nodes(self, name: str) -> bool:
        """Whether a variable has the names of all nodes."""
        values = items_of(self.variables.get(name, ""))
        return name.endswith("_NODELIST") or any(NODES in one or ADDRESS in one for one in values)

    def only_prepares(self, step: Step) -> bool:
        """Whether a step of a script starts no program of a job: one of a script that submits others may compute."""
        only_submits = self.submitted and step.text and not self.is_program(step.text, or_job=False)
        removes = self.unseen is not None and step.words[:1] == ("rm",)  # before the program that gen does not see
        return bool(only_submits) or removes or step.words[:1] in (*BETWEEN, ("chmod",), ("touch",))

    def name_program(self, step: Step) -> None:
        """Name a program that no machine has, and values that the pod computes in another folder."""
        inner = sources(name := "".join(step.words[:1]))
        hint = "write the program as it is, or remove it"
        if step.words and (not name or _NO_NAME.search(MARKED.sub("x", name))):
            self.refuse(step.place, f"bash finds no program with the name `{source_text(name)[:60]}`", hint)
        elif inner and re.fullmatch(r"[\w=]*", "".join(_NO_PROGRAM.split(name))) and not self.outputs.keys() & {*inner}:
            self.refuse(step.place, f"`{source_text(name)[:60]}` is not a program", hint)
        if self.matching and any({*"*?"} & {*sources(word)} for word in step.words):
            what, why = f"the meaning of patterns with `{self.matching}`", "a pod does not have it"
            self.left.append(DroppedPart(step.place, what, why, "write the files, or set it in `command`"))
        for part in dict.fromkeys(part.strip('"') for word in step.words for part in sources(word)):
            if self.outputs.get(part, step.folder) != step.folder:
                hint = "compute it behind `cd`, or with the path of its file"
                what, why = f"the folder of `{part[:60]}`", "the script computes it in another one than the pod"
                self.left.append(DroppedPart(step.place, what, why, hint))

    def arithmetic(self, text: str) -> str:
        if self.random == PORT and re.search(r"\b(?:RANDOM|SLURM_JOB_?ID)\b", text) and not self.in_task:
            return PORT
        known = super().arithmetic(_RANDOM.sub(marked("RANDOM"), text))
        known = marked("$RANDOM") if known == marked("$((RANDOM))") else known
        self.once |= {known[1:-1]} if "RANDOM" in known and not self.in_task else set()
        return known

    def residual(self, text: str, *, is_output: bool = False) -> str:
        """Shell source with the known values of its variables. In quotes, only those of Slurm have one."""
        text = with_home(text, "$HOME") if self.lookup("HOME") is not None else text
        quoted = raw_parts(text)

        def one(match: re.Match[str]) -> str:
            name, rest = match[1] or match[2] or match[3], match[4] or ""
            escaped = _ESCAPE.search(text, 0, match.start()) is not None
            if not name.startswith("SLURM_") and (escaped or any(match.start() in part for part in quoted)):
                return match[0]
            sets = re.search(rf"(?:^|[\s;(){{}}&|`']){name}\+?=\S*?[\s;)}}&|`]", text[: match.start()]) is not None
            known = marked(f"${name}") if sets else self.lookup(name)
            value: Value = known if isinstance(known, str) and (is_known(known) if rest else not match[3]) else ()
            value = self.parameter(match[0][2:-1]) if rest and value != () else value
            if isinstance(value, str) and _PLAIN.fullmatch(value.replace(RUN, "") if is_output else value):
                return OPEN * escaped + value.replace(RUN, RUN[1:-1])
            start, rest = match[0].removesuffix(rest), rest and self.residual(rest, is_output=is_output)
            if match[3] and isinstance(known, str) and (other := ONE.fullmatch(known)) is not None:
                return start.replace(name, other[1]) + rest
            parts = sources(value) if isinstance(value, str) and "$(" not in value.replace("$((", "") else []
            if len(parts) == 1 and known == marked(parts[0]) and not parts[0].startswith('"'):
                name = parts[0].removeprefix("$")
                joined = name.isidentifier() and re.match(r"\w", text[match.end() :])
                return f"${{{name}}}" if joined else OPEN * (escaped and parts[0][:1] != "$") + parts[0]
            if known is not None:
                self.before.setdefault(name, known)
            elif not (match[3] or name.isdecimal() or name in self.never or escaped):
                self.early.add(name)
            return start + rest

        made = _USE.sub(one, text).replace(f"\\{OPEN}", "")
        made = _CALCULATED.sub(lambda match: _NAME.sub(self._operand, match[0]), made)
        return _OF_OUTPUT.sub(lambda match: self._number(match[0]), made) if is_output and not quoted else made

    def _number(self, text: str) -> str:
        """An integer expression, or its value if all of its variables are known."""
        known = {*map(self.lookup, _NAME.findall(text))}
        return value if is_known("".join(map(str, known))) and is_known(value := self.arithmetic(text[3:-2])) else text

    def _operand(self, match: re.Match[str]) -> str:
        """A variable of Slurm in an integer expression, as the pod has it."""
        known = self.lookup(match[0]) if match[0].startswith("SLURM_") else None
        parts = sources(known) if isinstance(known, str) else []
        if isinstance(known, str) and is_known(known):
            return known
        return _CALCULATED.sub(r"(\1)", parts[0].removeprefix("$")) if len(parts) == 1 else match[0]

    def assignments(self, text: str, names: Collection[str] | None = None) -> Iterator[str]:
        """The lines before a construct of the shell that give it its variables, as far as they are known; with `names`,
        only these.
        """
        read = [*_ARRAY.findall(text), *re.findall(r"[A-Za-z_]\w*", " ".join(_CALCULATED.findall(text)))]
        arrays = {
            one: self.variables[one] for one in read if self.variables.get(one, marked(f"${one}")) != marked(f"${one}")
        }
        given = {*self.before} if names is None else self.before.keys() & {*names}
        named = {**{name: self.before.pop(name) for name in [*self.before] if name in given}, **arrays}
        others = {name: value for name, value in named.items() if not ARGUMENT.fullmatch(name)}
        if len(others) < len(named) or (self.arguments and _ARGUMENTS.search(text)):
            self.kept |= {*named.keys() - others.keys()}
            yield " ".join(("set", "--", *map(shown, self.arguments)))
        for name, value in others.items():
            words = [shown(one) for one in value] if isinstance(value, tuple) else [shown(value)]
            if name in self.keyed:
                pairs = (f"[{shown(key)}]={shown(item)}" for key, item in self.keyed[name].items())
                self.kept.add(name)
                yield f"declare -A {name}=({' '.join(pairs)})"
            elif not any(NODES in one for one in ([value] if isinstance(value, str) else value)):
                self.kept.add(name)
                export = "export " if name in self.exported else ""
                yield f"{name}=({' '.join(words)})" if isinstance(value, tuple) else f"{export}{name}={words[0]}"
