"""Conditions of the batch part, and outputs of commands about nodes, GPUs and folders, as far as values decide them."""

from __future__ import annotations

import operator
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from gen.base import Location, names, regex
from gen.base.shell_script import syntax_tree
from gen.importers.shell_script import assigned_in, nodes_below
from gen.importers.slurm.expansion import (
    ADDRESS,
    CLOSE,
    NODES,
    OPEN,
    PORT,
    START,
    Expander,
    absolute,
    is_known,
    joined,
    marked,
    source_text,
    sources,
)
from gen.importers.slurm.site import DroppedPart, is_silent

if TYPE_CHECKING:
    from tree_sitter import Node

STATUS: Final = "the status of a program"
MAX_LEVELS: Final = 200  # of the syntax, such as `a && b && c`; each one takes several calls of Python
_OF_POD: Final = frozenset({ADDRESS, PORT, marked("$RANK")})
_ALWAYS: Final = names("$HOME $HOSTNAME $LOGNAME $PATH $PWD $SHELL $USER")
"""Variables that each machine sets."""
_NUMBERS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    f"-{one.__name__}": one for one in (operator.eq, operator.ne, operator.lt, operator.gt, operator.le, operator.ge)
}
_OF_ONE: Final = regex(r"-([a-zA-Z])\s+(.+)", re.DOTALL)
_OF_TWO: Final = regex(r"(.+?)\s+(==|=|!=|=~|-eq|-ne|-lt|-gt|-le|-ge|<|>)\s+(.+)", re.DOTALL)
_OF_FILES: Final = frozenset({"mkdir", "rm", "rmdir", "touch", "chmod"})
_QUOTED: Final = regex(r"'[^']*'|\"[^\"]*\"|\\.")
_BRACKETS: Final = regex(r"'[^']*'|\"[^\"]*\"|\$\(.*\)|(?<!\S)(\\?\()", re.DOTALL)


def _of_several(known: list[bool | None], *, decides: bool) -> bool | None:
    """Whether one of several conditions holds, or all of them; `decides` is the result of one that decides."""
    return decides if decides in known else None if None in known else not decides


class Conditions(Expander):
    """Decides conditions. A subclass has the source of the script."""

    assumed = ""
    """The last condition about files and tools that counts as if the machines lacked them."""
    _splits = False
    """Whether the condition of now splits its values into words, which `[[` does not."""
    source = ""
    left: list[DroppedPart]
    functions: dict[str, Node]

    def text(self, node: Node) -> str:
        """The source of a node."""
        raise NotImplementedError

    def place(self, node: Node) -> Location:
        raise NotImplementedError

    def holds(self, node: Node) -> bool | None:
        """Whether a condition holds; None if it is not a test, or depends on more than values."""
        known: bool | None = None
        if node.type == "test_command" or self.text(node).startswith("(("):
            text = self.text(node).strip()
            self._splits = not text.startswith("[[")
            inner = text[2:-2] if text.startswith(("[[", "((")) else text[1:-1]
            known = self.calculated(inner) if text.startswith("((") else self._test(inner.strip())
        elif node.type == "negated_command" and node.named_children:
            inside = self.holds(node.named_children[0])
            known = None if inside is None else not inside
        elif node.type == "list":
            known = self._list_holds(node)
        elif node.type == "command":
            known = self._command_holds(self.text(node))
        elif node.type in ("redirected_statement", "compound_statement", "subshell"):
            body = node.child_by_field_name("body") or next(iter(node.named_children), None)
            known = self.holds(body) if body is not None else None
        return known

    def _list_holds(self, node: Node) -> bool | None:
        """A command can change what the conditions behind it depend on, and what the script does later."""
        parts = [(one, self.holds(one)) for one in node.named_children]
        decides = any(one.type == "||" for one in node.children)
        for one, known in parts:
            if known is decides or (known is None and one.type not in ("test_command", "negated_command")):
                return known
        return _of_several([known for _, known in parts], decides=decides)

    def _command_holds(self, text: str) -> bool | None:
        if text in ("true", "false"):
            return text == "true"
        if text.startswith("test "):
            self._splits = True
            return self._test(text[5:].strip())
        if re.match(r"(?:command -v|which|type|hash|grep)\b", text):
            self.assumed = text
            return False
        return None

    def calculated(self, text: str) -> bool | None:
        """Whether an integer expression is not 0."""
        known = self.arithmetic(text)
        return known != "0" if re.fullmatch(r"-?\d+", known) else None

    def _test(self, text: str) -> bool | None:
        if any(one[1] for one in _BRACKETS.finditer(text)):
            return None
        for signs, decides in ((r"\|\||-o", True), ("&&|-a", False)):
            parts = re.split(rf"\s(?:{signs})\s", text)
            if len(parts) > 1:
                return _of_several([self._test(one.strip()) for one in parts], decides=decides)
        if text.startswith("! "):
            inner = self._test(text[2:].strip())
            return None if inner is None else not inner
        if (one := _OF_ONE.fullmatch(text)) is not None:
            return self._of_one(one[1], one[2])
        if (two := _OF_TWO.fullmatch(text)) is not None:
            sizes = {self._size(two[1]), self._size(two[3])} if self._splits else {1}
            pattern = self.pattern(two[3])
            known = None if pattern is None else self._of_two(self.condition_value(two[1]), two[2], pattern)
            return known if sizes == {1} else False  # an error of `[`
        return self.condition_value(text) != "" if text and " " not in text else None

    def _of_one(self, sign: str, text: str) -> bool:
        """`-z`, `-n` and `-v`; others ask for a file, which no pod has."""
        if sign in "zn" and self._splits and self._size(text) != 1:
            return self._size(text) == 0
        if sign in "zn":
            return (self.condition_value(text) == "") is (sign == "z")
        if sign in "de" and self.condition_value(text) == START:
            return True
        if sign != "v":
            self.assumed = f"-{sign} {text}"
        return sign == "v" and self.lookup(text.strip()) is not None

    @staticmethod
    def _of_two(left: str, sign: str, right: str) -> bool | None:
        if not is_known(left) or not is_known(right):
            return None
        if sign in ("==", "=", "!="):
            return fnmatchcase(left, right) is (sign != "!=")
        number = re.fullmatch(r"-?\d{1,15} -?\d{1,15}", f"{left} {right}")
        return _NUMBERS[sign](int(left), int(right)) if number and sign in _NUMBERS else None

    def _size(self, text: str) -> int:
        """The number of words in a condition, where a variable from outside counts as not set."""
        early, asked = {*self.early}, {*self.asked}
        size = len(self.words(text)) if '"' in text or self.condition_value(text) else 0
        self.early, self.asked = early, asked
        return size

    def pattern(self, text: str) -> str | None:
        """A pattern; None if it has quotes around a sign of patterns."""
        return None if re.search(r"[*?\[]", "".join(_QUOTED.findall(text))) else self.condition_value(text)

    def condition_value(self, text: str) -> str:
        """A value in a condition, where a variable from outside counts as not set."""
        before, asked = {*self.early}, {*self.asked}
        value = self.value(text.strip())
        self.early, self.asked = before, asked
        for one in sources(value):
            if re.fullmatch(r"\$\w+", one) and marked(one) not in _OF_POD and one not in _ALWAYS:
                value = value.replace(marked(one), "")
        return value

    def starts_program(self, node: Node) -> bool:
        """Whether a construct starts more than programs that show something."""
        names = [self.text(one) for one in nodes_below(node, "command_name")]
        return any(one in self.functions or not is_silent(one) for one in names)

    def name_branch(self, condition: Node, branches: Iterable[Node]) -> None:
        """Name a decision that the machines may take in another way, if it starts a program or sets a value."""
        texts = [re.sub(r"\$\([^()]*\)", "_", self.text(one)) for one in branches if one.is_named]
        set_there = {name for one in texts for name in assigned_in(one)}
        if any(map(self.is_program, texts)) or any(re.search(rf"\$\{{?{one}\b", self.source) for one in set_there):
            what, why = f"the other case of `{self.text(condition)[:60]}`", "gen does not see files of machines"
            hint = "write what the job does in this case, without the check"
            self.left.append(DroppedPart(self.place(condition), what, why, hint))

    def name_values(self, node: Node) -> None:
        """Name values of a command that a pod has in another way, which those of conditions are not."""
        program = next(iter(self.text(node).split()), "")
        if is_silent(program) or program in ("exit", "return"):
            self.asked.discard(STATUS)
        for what in sorted(self.asked):
            why = "it counts as 0" if what == STATUS else "a pod has its own"
            self.left.append(DroppedPart(self.place(node), what, why, "write what you mean"))
        self.asked.clear()

    def is_program(self, text: str) -> bool:
        """Whether a text starts more than what shows something, or removes files."""
        called = words_of(source_text(text), "command_name")
        return any(not is_silent(one) and one not in (*_OF_FILES, *self.functions) for one in called)


def words_of(text: str, kind: str) -> list[str]:
    """The parts of a script with a type of the grammar."""
    found = nodes_below(syntax_tree(text.encode("utf-8", "replace"), MAX_LEVELS), kind)
    return [(one.text or b"").decode("utf-8", "replace") for one in found]


ASKS: Final = names(
    "awk basename bc cd cksum comm cut date dig dirname echo egrep expr gawk getent grep head host hostname id "
    "ifconfig ip lsof md5sum mktemp netstat nproc nslookup nvidia-smi od printf pwd readlink realpath scontrol sed seq "
    "sha1sum shuf sort srun ss ssh tail tr uniq uuidgen wc which whoami xargs"
)
"""Programs with an output that depends on nodes, ids, random numbers and folders only, or on that of the others."""
FIRST: Final = regex(r"(?:^|[|(`])\s*(?:head\s+-n?\s*1\b|sed\s+(?:-n\s+)?['\"]?1p|awk\s+'NR==1|cut\s+-d\S*\s+-f\s*1\b)")
TO_FILE: Final = regex(r"(?<![2&])>\s*(?![\s&]|/dev/)")
_HOST: Final = regex(r"\bhostname\b|\bgetent\b|\bnslookup\b|\bdig\b|\bhost\s|scontrol\s+getaddrs|\bifconfig\b|\bip\s+a")


def answer_of(command: str, expanded: str, folder: str, gpus: str | None, *, in_task: bool) -> str | None:
    """The output of a command that asks for nodes, GPUs or a folder, as a value of a pod."""
    listed = "scontrol" in command and "hostname" in command
    if listed or ("SLURM_JOB_NODELIST" in expanded and not in_task) or "SLURM_NODELIST" in command:
        return ADDRESS if FIRST.search(command) or "getent" in command else NODES
    if (_HOST.search(command) and (not in_task or ADDRESS in expanded)) or "MASTER_ADDR" in expanded:
        return ADDRESS
    if re.match(r"nvidia-smi\b.*wc\s+-l", command):
        return gpus
    if (base := re.fullmatch(r"basename\s+(\S+)(?:\s+(\S+))?", expanded)) and not {START, OPEN} & {*expanded}:
        return base[1].rstrip("/").rpartition("/")[2].removesuffix(base[2] or "")
    if re.match(r"(?:dirname|readlink|realpath|cd|pwd)\b", command):
        return _folder(expanded, folder)
    return command.split()[1] if re.fullmatch(r"which\s+\S+", command) else None


def _folder(command: str, folder: str) -> str | None:
    """The output of a command that asks for a folder."""
    command = re.sub(r"\s*(?:[12&]?>\s*/dev/null|2>&1)", "", command)
    if re.fullmatch(r"pwd(?:\s+-[LP])?", command):
        return folder
    asked = re.fullmatch(
        r"(cd|dirname|readlink|realpath)(?:\s+-[\w-]*)*\s+(\S+)(?:\s*(?:&&|;)\s*pwd(?: -P)?)?", command
    )
    is_name = asked is not None and asked[1] == "dirname" and "/" in asked[2].rpartition(CLOSE)[2]
    if asked is None or not (is_known(asked[2]) or is_name):
        return None
    if asked[1] == "dirname":
        return f"{START}/.." if asked[2] == START else posixpath.dirname(asked[2]) or "."
    return absolute(joined(folder.removeprefix(START).lstrip("/") if folder.startswith(START) else folder, asked[2]))
