"""Values of the batch part: variables of Slurm, and idioms of head nodes, ports and ids as variables of a pod."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.base import Location, names, regex
from gen.importers.draft import is_secret
from gen.importers.shell_script import word_end
from gen.importers.slurm.expansion import (
    ADDRESS,
    PORT,
    RUN,
    RUN_ID,
    Conditions,
    Value,
    is_known,
    marked,
    shown,
    sources,
)

if TYPE_CHECKING:
    from tree_sitter import Node


HOSTS: Final = marked("$SLURM_JOB_NODELIST")
"""The list of nodes. Only its first one has a meaning in pods."""
_LIST: Final = frozenset({"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
_FIRST: Final = regex(
    r"\b(?:head\s+-n?\s*1|sed\s+(?:-n\s+)?['\"]?1p|awk\s+'NR==1|cut\s+-d\S*\s+-f\s*1\b)|\bhead\s+-1\b"
)
_HOST: Final = regex(r"\bhostname\b|\bgetent\b|\bnslookup\b|\bdig\b|\bhost\s|scontrol\s+getaddrs")
_ID: Final = regex(r"\$?\{?(?:RANDOM|SLURM_(?:ARRAY_)?JOB_?ID)\b|\bshuf\b|\bdate\b|\buuidgen\b|\bmktemp\b")
_OF_CLOCK: Final = regex(r"start|begin|end|now|time$", re.IGNORECASE)
_IS_PORT: Final = regex(r"(?:^|_)PORT|port$", re.IGNORECASE)
_SILENT: Final = names(
    "echo set ulimit sleep hostname printenv which lscpu squeue sinfo pwd wait trap unset shopt free df ls nvcc "
    "date nvidia-smi scontrol printf true : ibstat sacct scancel uname lsb_release ifconfig ip umask return break "
    "continue local type shift popd tput clear alias read getopt getopts false readonly command test du kill enroot "
    "rocm-smi top ps pkill killall topo lspci cat head tail grep sort stat"
)
"""Programs that show, or change the shell of the batch part only."""
_SILENT_IN_TASKS: Final = frozenset({"set", "echo", "hostname", "ulimit", "nvidia-smi", "date", "env", "printenv"})
_CONDA: Final = frozenset({"conda", "mamba", "micromamba", "deactivate", "pyenv"})
_SETUP: Final = regex(r"activate|conda|\.bashrc|\.bash_profile|modules?\.sh|/etc/profile|modules/init|setvars")
_IN_IMAGE: Final = "install it in the image"
_MODULES: Final = frozenset({"module", "ml", "spack"})

_WRITTEN: Final = regex(
    r"cat\s*<<-?\s*(?P<quote>['\"\\]?)(?P<end>\w+)['\"]?\s*\n(?P<text>.*?)\n?\s*(?P=end)", re.DOTALL
)
"""A text that a variable gets from `$(cat <<END … END)`."""
_SPECIAL: Final[Mapping[str, Value]] = {"#": "0", "@": (), "*": (), "?": "0", "-": "", "$": RUN}

_CALCULATED: Final = regex(r"\(\((.*?)\)\)")
_ARRAY: Final = regex(r"\$\{[#!]?(\w+)\[")

_NOT_STARTED: Final = _SILENT | _CONDA | _MODULES | names("[ cd source . exit export")
"""Words of a script that start no program of the run."""


class DroppedPart(Struct, frozen=True):
    """A part that is not in the job."""

    place: Location
    what: str
    why: str
    hint: str


def _joined(folder: str, target: str) -> str:
    """The folder after `cd`, without a need for the folders."""
    known = target and is_known(folder) and is_known(target)
    return posixpath.normpath(posixpath.join(folder, target)) if known else target


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
        self._said = ""
        self.before: dict[str, Value] = {}
        """Variables that a construct of the shell reads."""
        self.stops = False
        """Whether the script ends at the first error."""
        self.kept: set[str] = set()
        """Variables with values that only the shell of the pod knows."""
        self.computed: set[str] = set()
        """Variables that the script reads from files and other programs."""
        self.from_text: set[str] = set()
        self._assigned = ""
        """The variable that is set now."""
        self.bytes = b""
        """The text that is followed."""
        self.read_until = 0
        """The end of a value that the grammar has cut."""

    def lookup(self, name: str) -> Value | None:
        if name in self.variables:
            return self.variables[name]
        if name in _LIST and not self.in_task:
            return HOSTS
        if name in self.constants:
            return self.constants[name]
        if name == RUN_ID:
            return RUN
        if name == "RANDOM":
            return PORT if _IS_PORT.search(self._assigned) else RUN
        return _SPECIAL.get(name)

    def outside(self, name: str) -> str:
        self.computed |= {name} & self.variables.keys()
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
            new = tuple(self.words(re.sub(r"(?m)(^|\s)#[^\n]*", r"\1", text[1:-1])))
            if len(new) == 1 and new[0] == HOSTS:
                new = (ADDRESS, HOSTS)
            elif new[:1] == (HOSTS,):
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

    def output(self, command: str) -> str:
        command = command.strip()
        if (written := _WRITTEN.fullmatch(command)) is not None:
            return written["text"] if written["quote"] else self.value(f'"{written["text"]}"')
        inner = " ".join(self.words(command))
        known = self._output_of_nodes(command, inner)
        if known is None:
            known = self._output_of_folder(command)
        if known is not None:
            return known
        if re.fullmatch(r"echo\s+[^|;&`$<>]*|echo\s+\"?\$\{?\w+\}?\"?", command):
            return " ".join(self.words(command)[1:])
        if command == "date +%s" and _OF_CLOCK.search(self._assigned):
            return marked("$(date +%s)")
        if _ID.search(command) and not self.in_task:
            return PORT if _IS_PORT.search(self._assigned) else RUN
        return marked(f"$({self.residual(command)})")

    def _output_of_nodes(self, command: str, inner: str) -> str | None:
        """The address of the first node, and the number of GPUs of each."""
        listed = "scontrol" in command and "hostname" in command
        if listed or ("SLURM_JOB_NODELIST" in inner and not self.in_task) or "SLURM_NODELIST" in command:
            return ADDRESS if _FIRST.search(command) or "getent" in command else HOSTS
        if (_HOST.search(command) and (not self.in_task or ADDRESS in inner)) or "MASTER_ADDR" in inner:
            return ADDRESS
        gpus = self.constants.get("SLURM_GPUS_ON_NODE")
        return gpus if gpus is not None and re.match(r"nvidia-smi\b.*wc\s+-l", command) else None

    def _output_of_folder(self, command: str) -> str | None:
        if re.match(r"dirname\b.*\b(?:PWD|pwd)\b", command):
            return f"{self.folder or '.'}/.."
        if command in ("pwd", "pwd -P") or re.match(r"(?:dirname|readlink|realpath|cd)\b", command):
            return self.folder or "."
        if re.match(r"whoami|id ", command):
            return self.outside("USER")
        return command.split()[1] if re.fullmatch(r"which\s+\S+", command) else None

    def arithmetic(self, text: str) -> str:
        if re.search(r"\b(?:RANDOM|SLURM_JOB_?ID)\b", text) and not self.in_task:
            return PORT if _IS_PORT.search(self._assigned) else RUN
        return super().arithmetic(text)

    def residual(self, text: str) -> str:
        """Shell source with the known values of its variables."""

        def one(match: re.Match[str]) -> str:
            known = self.lookup(match[1] or match[2])
            if isinstance(known, str) and (is_known(known) and re.fullmatch(r"[\w@%+=:,./ -]*", known)):
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
            if known is not None:
                self.before.setdefault(match[1] or match[2], known)
            return match[0]

        return re.sub(r"\$(?:\{(\w+)\}|(\w+))", one, text)

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

    @staticmethod
    def is_silent(program: str) -> bool:
        """Whether a program only shows something, or sets up what an image has."""
        return program.rpartition("/")[2] in _NOT_STARTED

    def changes_shell(self, place: Location, program: str, words: list[str]) -> bool:
        """Whether a command only changes or shows what belongs to the batch part, or to an image."""
        text = " ".join(map(shown, words))
        if program == "exit":
            if words[1:2] not in ([], ["0"]) or not self.in_task:
                self.ended = place, self._said if words[1:2] not in ([], ["0"]) else ""
        elif program in ("cd", "pushd"):
            self.folder, self.folder_place = _joined(self.folder, words[1] if len(words) > 1 else ""), place
        elif program in _MODULES:
            self.left.append(DroppedPart(place, f"`{text}`", "a container has no modules", _IN_IMAGE))
        elif (program in _CONDA and words[1:2] != ["run"]) or (program in ("source", ".") and _SETUP.search(text)):
            self.left.append(DroppedPart(place, f"`{text}`", "a container has an environment of its own", _IN_IMAGE))
        elif program in ("source", "."):
            hint = "put the file into the image, or write its variables as `env`"
            self.left.append(
                DroppedPart(
                    place, f"the file `{text.partition(' ')[2]}`", "gen reads no files that a script names", hint
                )
            )
        elif program in _SILENT and not (self.in_task and program not in _SILENT_IN_TASKS):
            self.stops = self.stops or (program == "set" and re.match(r"-\w*e", " ".join(words[1:2])) is not None)
            if program == "echo":
                self._said = " ".join(words[1:])[:200]
            if self.in_task or program in ("nvidia-smi", "ibstat", "nvcc"):
                self.left.append(DroppedPart(place, f"`{text[:60]}`", "it only shows the state of a node", "remove it"))
        else:
            return False
        return True
