"""Words of a batch script with the values of its variables, as far as they are known without running anything.

A value is a text in which `OPEN` and `CLOSE` enclose what only a pod knows, such as `$RANK`, as shell source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gen.base import regex
from gen.importers.slurm import bash_text
from gen.importers.slurm.bash_text import changed_value, closing_quote, expansion_end, integer, is_refused, part_of

OPEN, CLOSE, START = "\ue000", "\ue001", "\ue004"  # `START` is the initial folder of the script
MARKED: Final = regex(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_WILD: Final = regex(rf"{OPEN}[^{CLOSE}]*{CLOSE}|[*?]")
_PATTERN: Final = regex(f"{OPEN}([*?]){CLOSE}")
ONE: Final = regex(rf"{OPEN}\$([A-Za-z_]\w*){CLOSE}")  # a variable of the pod
_INPUT: Final = regex(r"[<>]\(")
_NAMED: Final = regex(r"^\$(\w+)$")
_PART: Final = regex(r":(\d{1,5}|[ ]-\d{1,5})(?::(-?\d{1,5}))?")
_NAME: Final = regex(r"[A-Za-z_]\w*")
_PLAIN: Final = regex(rf"[\w@%+=:,./{{}}\[\]~^{START}-]+")
_SEVERAL: Final = regex(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_ITEM: Final = regex(r"\$\{(\w+)\[[^\]\"]*\]\}")
_SAFE: Final = regex(rf"\"?\$\w+\"?|\$\{{\w+\}}|\{{\{{ [\w.]+ \}}\}}|\"?{_ITEM.pattern}\"?")
"""Values without quotes: ranks, addresses, ports, ids, and items of arrays as the script has them."""
_OUTPUT: Final = regex(r"\"?(?:\$\(|\$\{\w+(?:\[[^]\"@*]*\])?(?::?[-+=?]|[:#%/^,])|[<>]\()")
"""The output of a command, or a variable with another value or a part of its own, in quotes or not."""
_SPECIAL: Final = regex(r'[\\"`$]')
_HOME: Final = regex(r"~(?=/|\s|$)")
CALCULATED: Final = regex(r"^\$\(\((.*)\)\)$")
_NOT_OF_NUMBER: Final = regex(rf"^[^{OPEN}]*[$`\"'\\][^{OPEN}]*$")
"""A known value that bash does not expand again, so that it fails."""
_NAME_OR_MARK: Final = regex(rf"{OPEN}[^{CLOSE}]*{CLOSE}|\$?\b([A-Za-z_]\w*)()")
_MODIFIED: Final = regex(r"\$\{(#[A-Za-z_]\w*(?:\[[@*]\])?|[A-Za-z_]\w*[^\w{}][^{}]*)\}")
_BRACKETS: Final = r"\([^()]{0,999}(?:\([^()]{0,999}(?:\([^()]{0,999}\)[^()]{0,999}){0,9}\)[^()]{0,999}){0,9}\)"
_PROGRAM: Final = regex(rf"{OPEN}[^{CLOSE}]*{CLOSE}|\$(?!\(\(){_BRACKETS}|`[^`]*`")
RUN_ID: Final = "GEN_RUN_ID"  # the id of the run in shell source
MOST: Final = 100_000  # characters of a value; a script can double one on each line
COST_OF_WORD: Final = 20  # characters that take as long as a word: a list of short words is bounded, too

Value = str | tuple[str, ...]


def marked(source: str) -> str:
    """A part that the shell of the pod expands."""
    return f"{OPEN}{source}{CLOSE}"


ADDRESS: Final = marked("$MASTER_ADDR")
PORT: Final = marked("$MASTER_PORT")
RUN: Final = marked("{{ run.id }}")
NODES: Final = marked("$SLURM_JOB_NODELIST")  # the list; only its first one has a meaning in pods


def is_known(value: str) -> bool:
    return OPEN not in value


def source_text(value: str) -> str:
    """A value as shell source, with a variable for the id of the run."""
    return _braced(value.replace(RUN, marked(f"${RUN_ID}")))


def sources(value: str) -> list[str]:
    """The shell source of all parts that only a pod knows."""
    return MARKED.findall(value)


def with_patterns(word: str) -> str:
    """A word without quotes. The shell of the pod expands its `*` and `?`."""
    return _WILD.sub(lambda match: match[0] if match[0].startswith(OPEN) else marked(match[0]), word)


def shown(word: str) -> str:
    """A word as a person writes it for a shell."""
    if len(pieces := _PATTERN.split(word)) > 1:
        return "".join(one if number % 2 else one and shown(one) for number, one in enumerate(pieces))
    plain = MARKED.sub("", word)
    parts = sources(word)
    if not plain and len(parts) == 1 and _OUTPUT.match(parts[0]):
        return parts[0]
    is_plain = not plain or (_PLAIN.fullmatch(plain) and not _SEVERAL.search(plain))
    at_end = len(parts) == 1 and word.endswith(CLOSE)
    is_bare = not plain or at_end or not any(part.startswith('"') for part in parts)
    if is_plain and is_bare and all(_SAFE.fullmatch(part) for part in parts) and word:
        text = _braced(word)
        return text if not text.startswith(("~", "{")) or parts else f"'{text}'"
    if not parts and "'" not in word:
        return f"'{word}'"
    pieces = re.split(f"({OPEN}[^{OPEN}{CLOSE}]*{CLOSE})", word)
    following = (re.match(r"\w", one) is not None for one in (*pieces[1:], ""))
    inner = (
        (_NAMED.sub(r"${\1}", part) if joins else part)
        if (part := one[1:-1].strip('"')) and one.startswith(OPEN)
        else _SPECIAL.sub(r"\\\g<0>", one)
        for one, joins in zip(pieces, following, strict=True)
    )
    return f'"{"".join(inner)}"'


def _braced(word: str) -> str:
    """Parts as they are, with braces where a letter follows."""

    def one(match: re.Match[str]) -> str:
        follows = word[match.end() : match.end() + 1]
        name = match[1].removeprefix("$")
        return (
            f"${{{name}}}"
            if match[1].startswith("$") and _NAME.fullmatch(name) and re.match(r"\w", follows)
            else match[1]
        )

    return MARKED.sub(one, word)


class Expander:
    """Expands words of bash. A subclass knows the variables and the output of commands."""

    budget = 2_000_000  # characters that all expansions together may give
    indexed: dict[str, tuple[str, ...]]
    """Arrays with an item that only a pod knows, for example that of its task."""
    keyed: dict[str, dict[str, str]]  # arrays of `declare -A`
    from_text: set[str]
    before: dict[str, Value]  # variables that the shell of the pod reads next, with their values in the script
    kept: set[str]  # variables with values that only the shell of the pod knows
    early: set[str]
    _decides: bool  # whether it reads a condition
    is_invalid = False
    """Whether it has an expansion that bash refuses, such as `${&A}`."""
    unset_names: set[str]
    """Variables from outside that count as not set in `${NAME:+TEXT}`."""
    asked: set[str]
    """Values of the shell or the machine that it reads, such as `$-`, and that a pod has differently."""

    def lookup(self, name: str) -> Value | None:
        """The value of a variable; None if it is not set."""
        raise NotImplementedError

    def outside(self, name: str) -> str:
        """Replacement of a variable that the script does not set."""
        raise NotImplementedError

    def output(self, command: str) -> str:
        """Replacement of the output of a command."""
        raise NotImplementedError

    def residual(self, text: str, *, is_output: bool = False) -> str:
        """Shell source with the known values of its variables."""
        raise NotImplementedError

    @property
    def separators(self) -> str:
        """The characters between the words of a value."""
        given = self.lookup("IFS")
        return given if isinstance(given, str) and is_known(given) else " \t\n"

    def assign(self, name: str, value: Value) -> None:
        raise NotImplementedError

    def value(self, text: str) -> str:
        """A text as one value, such as that of an assignment."""
        return " ".join(self.words(text, splits=False))

    def words(self, text: str, *, splits: bool = True) -> list[str]:
        """The words that a text expands to."""
        words: list[str] = []
        current: str | None = None
        for piece, ends in self._pieces(text, splits=splits):
            if ends:
                words += [] if current is None else [current]
                current = None
                self.budget -= COST_OF_WORD
            if piece is not None:
                current = (current or "") + piece
                self.budget -= len(piece)
                if len(current) > MOST or self.budget < 0:
                    return [*words, marked("$TOO_LONG")]
        return words if current is None else [*words, current]

    def _pieces(self, text: str, *, splits: bool) -> Iterator[tuple[str | None, bool]]:
        """Pieces of words, and whether a new word begins before each. None ends a word without a piece."""
        at = 0
        while at < len(text):
            char = text[at]
            if text.startswith("\\\n", at):
                at += 2
            elif char == "\\":
                yield text[at + 1 : at + 2], False
                at += 2
            elif char.isspace() and splits:
                yield None, True
                at += 1
            elif char == "'":
                end = text.find("'", at + 1)
                end = len(text) if end < 0 else end
                yield text[at + 1 : end], False
                at = end + 1
            elif char == '"' or text.startswith('$"', at):
                at += char == "$"
                end = closing_quote(text, at)
                inner = text[at + 1 : end]
                if not (bash_text.EVERY.fullmatch(inner) and self.expansion(inner) == ()):
                    yield from self._quoted(inner, splits=splits)
                at = end + 1
            elif (char in "$`" or (splits and _INPUT.match(text, at))) and (end := expansion_end(text, at)) > at + 1:
                quoted = text[at + 1] == "'"
                yield from self._split(self.expansion(text[at:end]), splits=splits and not quoted)
                at = end
            elif _HOME.match(text, at) and (at == 0 or (splits and text[at - 1].isspace())):
                yield from self._split(self.parameter("HOME"), splits=False)
                at += 1
            else:
                yield marked(char) if splits and char in "*?" else char, False
                at += 1

    def _split(self, value: Value, *, splits: bool) -> Iterator[tuple[str | None, bool]]:
        """An expansion without quotes."""
        if isinstance(value, tuple):
            yield from self._listed([with_patterns(word) for one in value for word in split(one, self.separators)])
        elif not splits:
            yield value, False
        else:
            pieces = [with_patterns(one) for one in split(value, self.separators)]
            if value[:1] and value[0] in self.separators:
                yield None, True
            yield from self._listed(pieces)
            if value[:1] and value[-1] in self.separators:
                yield None, True

    @staticmethod
    def _listed(words: list[str]) -> Iterator[tuple[str | None, bool]]:
        for number, word in enumerate(words):
            yield word, number > 0

    def _quoted(self, text: str, *, splits: bool = False) -> Iterator[tuple[str | None, bool]]:
        yield "", False
        at = 0
        while at < len(text):
            char = text[at]
            if char == "\\" and at + 1 < len(text) and text[at + 1] in '\\"`$\n':
                yield ("" if text[at + 1] == "\n" else text[at + 1]), False
                at += 2
            elif char in "$`" and (end := expansion_end(text, at)) > at + 1:
                value = self.expansion(text[at:end])
                if isinstance(value, tuple) and text[at:end].endswith(("[*]}", "$*", "{*}")):
                    yield self.separators[:1].join(value), False
                elif isinstance(value, tuple):
                    yield from self._listed(list(value))
                else:
                    yield self._whole_item(value, splits=splits, alone=end - at == len(text)), False
                at = end
            else:
                yield char, False
                at += 1

    def unquoted(self, text: str) -> str:
        """A text of a here-document, with its values."""
        return "".join(one or "" for one, _ in self._quoted(text))

    def _whole_item(self, value: str, *, splits: bool, alone: bool) -> str:
        """A value in quotes, which an item of an array keeps if it has blanks, and the output of a command in words."""
        item = _ITEM.fullmatch(value[1:-1]) if value.startswith(OPEN) else None
        items = self.indexed.get(item[1], ("*",)) if item is not None else ()
        blank = any(re.search(r"[\s*?]", one) for one in items)
        output = splits and _OUTPUT.match(value[1:]) is not None and len(sources(value)) == 1
        own = ONE.fullmatch(value)
        of_shell = (
            splits and own is not None and own[1] in self.from_text | self.kept | (self.early if alone else set())
        )
        return marked(f'"{value[1:-1]}"') if blank or output or of_shell else value

    def expansion(self, text: str) -> Value:
        """The value of `$NAME`, `${…}`, `$(…)`, `$((…))` or a command in backquotes."""
        if text.startswith("$(("):
            known = self.arithmetic(text[3:-2])
            self.is_invalid |= known.startswith(f"{OPEN}$((") and is_refused(known[4:-3].replace(RUN[1:-1], "1"))
            return known
        if text.startswith(("<(", ">(")):
            return marked(f"{text[:2]}{self.residual(text[2:-1])})")
        if text.startswith("$("):
            return self.output(text[2:-1])
        if text.startswith("`"):
            return self.output(text[1:-1].replace("\\`", "`").replace("\\$", "$"))
        if text.startswith("$'"):
            return bash_text.unescaped(text[2:-1])
        return self.parameter(text[2:-1] if text.startswith("${") else text[1:])

    def parameter(self, text: str) -> Value:
        match = bash_text.PARAMETER.fullmatch(text)
        if match is None:
            self.is_invalid = True
            return marked(f"${{{text}}}")
        name, index, rest = match["name"], match["index"], match["rest"]
        known = self.lookup(name)
        self.asked |= {"the value of `$-`"} if name == "-" else set()
        if known is not None and index not in (None, "@", "*"):
            known = self._item(name, known, index, has_rest=rest != "")
        if (rest or match["length"]) and index is None and isinstance(known, tuple) and name not in "@*":
            known = known[0] if known else None  # `$A` is its first item
        are_nodes = isinstance(known, tuple) and {*known} <= {ADDRESS, NODES}
        countable = known is not None and (are_nodes or all(is_known(one) for one in items_of(known)))
        has_numbers = countable and index in ("@", "*") and name not in self.keyed
        if match["indirect"] and has_numbers and isinstance(known, tuple):
            return tuple(map(str, range(len(known))))
        if match["indirect"]:
            is_name = isinstance(known, str) and is_known(known)
            of_machine = isinstance(known, str) and not is_name and known != marked(f"${name}")
            self.is_invalid = self.is_invalid or of_machine or (known is None and index is None and not rest)
            return self.parameter(known) if isinstance(known, str) and is_name else marked(f"${{{text}}}")
        if match["length"]:
            return str(len(known)) if known is not None and countable else marked(f"${{{text}}}")
        if rest:
            return self._modified(name, known, rest, text)
        return self._plain(name, known, every=index in ("@", "*") or name in "@*")

    def _plain(self, name: str, known: Value | None, *, every: bool) -> Value:
        if known is None:
            return (marked(f"${{{name}[@]}}") if name in self.kept else ()) if every else self.outside(name)
        if every and name in self.keyed:
            self.is_invalid = True  # only bash knows the order of its items
        if every and known == marked(f"${name}"):
            return marked(f"${{{name}[@]}}")
        return known if every or isinstance(known, str) else (known[0] if known else "")

    def _item(self, name: str, known: Value, index: str, *, has_rest: bool) -> str | None:
        if name in self.keyed:
            key = self.value(index)
            if is_known(key):
                return self.keyed[name].get(key, "")
            self.indexed[name] = tuple(f"[{one}]={value}" for one, value in self.keyed[name].items())
            return marked(f"${{{name}[{source_text(key)}]}}")
        number = self.arithmetic(index)
        values = items_of(known)
        if not re.fullmatch(r"-?\d{1,6}", number):
            of_files = all({*sources(one)} <= {"*", "?"} for one in values)
            if any(one.startswith("[") for one in values) or not (of_files or name in self.from_text):
                return None  # with keys, or the output of a command
            self.indexed |= {name: values} if of_files else {}
            source = number[4:-3] if number.startswith(f"{OPEN}$((") else source_text(number)
            return marked(f"${{{name}[{bash_text.without_brackets(source)}]}}")
        is_beyond = not -len(values) <= int(number) < len(values)
        return ("" if all(map(is_known, values)) and not has_rest else None) if is_beyond else values[int(number)]

    def _modified(self, name: str, known: Value | None, rest: str, text: str) -> Value:
        is_set = known is not None and not (rest.startswith(":") and known in ("", ()))
        match rest.lstrip(":")[:1], rest[:1]:
            case "-", _:
                return known if is_set and known is not None else self.value(rest.lstrip(":")[1:])
            case "=", _:
                if not is_set:
                    self.assign(name, known := self.value(rest.lstrip(":")[1:]))
                return known or ""
            case "+", _:
                self.unset_names |= {name} if known is None and self.outside(name) else set()
                return self.value(rest.lstrip(":")[1:]) if is_set else ""
            case "?", _:
                return known if known is not None else self.outside(name)
        part = _PART.fullmatch(rest)
        changed: Value | None = None
        if known is None:
            changed = "" if self.outside(name) == "" else None  # an argument without a value
        elif isinstance(known, str) and is_known(known) and not (START in known and re.match("#(?!#)", rest)):
            changed = part_of(known, int(part[1]), part[2]) if part else None
            changed = changed if part is not None else changed_value(known, rest, self.value)
        elif isinstance(known, tuple) and part is not None and NODES not in known and (name in "@*" or "[" in text):
            first = int(part[1])  # the argument 0 is the script
            changed = part_of(known, first - (name in "@*" and first > 0), part[2])
        elif isinstance(known, tuple) and part is None and all(map(is_known, known)):
            items = [changed_value(one, rest, self.value) for one in known]
            changed = None if None in items else tuple(one or "" for one in items)
        return changed if changed is not None else self._left_to_pod(text, name, known)

    def _left_to_pod(self, text: str, name: str, known: Value | None) -> str:
        """A part of a variable, which in the pod may have another name, such as that of the rank that `mpirun` gives.
        Before, the pod sets a value that its own variable does not have.
        """
        other = ONE.fullmatch(known) if isinstance(known, str) else None
        if isinstance(known, str) and other is None and not is_known(known) and START not in known:
            self.before.setdefault(name, known)
        return marked(f"${{{other[1] + text.removeprefix(name) if other is not None else text}}}")

    def arithmetic(self, text: str) -> str:
        """The value of an integer expression, which can set a variable."""
        if (one := bash_text.ASSIGNS.fullmatch(text.strip())) is not None and not self._decides:
            self.calculate(one[0])
            text = one[1]
        parts = re.split(f"({_PROGRAM.pattern})", re.sub(r'"(\$?\w*)"', r"\1", text))  # sh refuses quotes
        parts[::2] = [bash_text.STEPS.sub(self._counted, one) for one in parts[::2]]
        result = integer(plain := self._operands("".join(parts)))
        return str(result) if result is not None else marked(f"$(({bash_text.without_brackets(plain.strip())}))")

    def _counted(self, match: re.Match[str]) -> str:
        """The value of `NAME++`, which changes for the rest, but not before. A condition can be read several times."""
        name, sign = match[2] or match[3], (match[1] or match[4])[0]
        if self._decides:
            return marked(match[0])
        self.is_invalid |= re.search(rf"(?<![\w+-]){name}(?![\w+-])", match.string[: match.start()]) is not None
        self.assign(name, known := self.lookup(name) or "0")
        self.assign(name, later := self.arithmetic(f"{name} {sign} 1"))
        value = later if match[1] else items_of(known)[0]
        return value if value.isdecimal() or MARKED.fullmatch(value) else f"({value})"

    def calculate(self, text: str) -> None:
        """Follow the assignments of `((…))` and `let`."""
        for part in map(str.strip, text.split(",")):
            if (one := bash_text.set_by(part)) is not None:
                self.assign(one[0], self.arithmetic(one[1]))
            elif bash_text.SETS.search(part):
                self.is_invalid = True

    def _operands(self, text: str) -> str:
        """An integer expression with the values of its variables, as shell source."""
        held: list[str] = []

        def hold(part: str) -> str:
            held.append(part)
            return marked(f"{len(held) - 1}")

        def output(match: re.Match[str]) -> str:
            known = match[0] if match[0].startswith(OPEN) else str(self.expansion(match[0]))
            return MARKED.sub(lambda one: hold(one[1]), known)

        def number(match: re.Match[str]) -> str:
            known = self.lookup(match[1] or match[2])
            known = known if known is not None else self.outside(match[1] or match[2])
            known = "0" if known == "" and match[0].isidentifier() else known
            self.is_invalid = self.is_invalid or (isinstance(known, str) and _NOT_OF_NUMBER.search(known) is not None)
            return str(known) if isinstance(known, str) else "?"

        text = _PROGRAM.sub(output, text)
        text = _MODIFIED.sub(lambda match: known if isinstance(known := self.parameter(match[1]), str) else "?", text)
        plain = re.sub(r"\$(?:\{(\d+|#)\}|(\d|#))", number, text)
        plain = re.sub(r"\$\{(\w+)\}", r"\1", plain).replace("$((", "((")
        plain = _NAME_OR_MARK.sub(lambda match: number(match) if match[1] else match[0], plain)
        parts = (held[int(one)] if one.isdecimal() else one for one in sources(plain))
        return MARKED.sub(lambda _: CALCULATED.sub(r"(\1)", next(parts)), plain)


def items_of(value: Value) -> tuple[str, ...]:
    """The items of an array; a text is its only item."""
    return (value,) if isinstance(value, str) else value


def split(value: str, separators: str) -> list[str]:
    """The words of an expansion without quotes; a part of the pod stays whole."""
    return [str(one) for one in re.findall(rf"(?:{OPEN}[^{CLOSE}]*{CLOSE}|[^{re.escape(separators)}{OPEN}])+", value)]
