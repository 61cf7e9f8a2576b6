"""Programs that a script starts, with their folders and variables, and the text of its commands."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Location, regex
from gen.importers.slurm.expansion import CLOSE, MARKED, OPEN, RUN, START, Value, is_known, marked, shown, source_text

_FROM_START: Final = regex(rf"{START}((?:/\.\.(?![^/\s:,;'\"]))*)")
SUBMITTED: Final = "$SUBMIT_DIR"  # the folder at the start of the script, in a command that left it
_NUMBER: Final = regex(rf"{OPEN}(?:\$\(\([^$`]*\)\)|\$JOB_COMPLETION_INDEX|\$RANK|\{{\{{ [\w.]+ \}}\}}){CLOSE}")
"""Part of the name of a folder, and not a folder itself."""
_FOLDER: Final = regex(rf"(?:{OPEN}[^{CLOSE}]*{CLOSE}|[^/{OPEN}])+")


def is_below(folder: str) -> bool:
    """Whether a path begins at the folder of now, as far as it is known."""
    return not folder.startswith("/") and (not folder.startswith(OPEN) or _NUMBER.match(folder) is not None)


def _folders(path: str) -> list[str]:
    """The names of a path, without those that a known number of `..` leaves."""
    made = list[str]()
    for one in _FOLDER.findall(path):
        if one == ".." and made and made[-1] != ".." and is_known(_NUMBER.sub("", made[-1])):
            made.pop()
        elif one != ".":
            made.append(one)
    return made


def joined(folder: str, target: str) -> str:
    """The folder after `cd`, without a need for the folders."""
    if target.startswith(START):
        folder, target = "", target.replace(START, ".", 1)
    if target and is_known(folder) and is_known(target):
        return posixpath.normpath(posixpath.join(folder, target))
    if not target or not is_below(target):
        return target
    return "/" * folder.startswith("/") + "/".join(_folders(f"{folder}/{target}"))


def way(now: str, folder: str) -> str | None:
    """The path from a folder to another one; None if only a shell knows it, such as that back from `..`."""
    before, behind = _folders(now), _folders(folder)
    if not is_below(now) or not is_below(folder):
        return None
    same = next((at for at, pair in enumerate(zip(before, behind, strict=False)) if pair[0] != pair[1]), None)
    same = min(len(before), len(behind)) if same is None else same
    left = before[same:]
    is_unclear = any(one == ".." or not is_known(_NUMBER.sub("", one)) for one in left)
    return None if is_unclear else "/".join([*[".."] * len(left), *behind[same:]]) or "."


def absolute(folder: str) -> str:
    """A folder of `cd`, from that at the start of the script."""
    is_inside = is_known(folder) and not folder.startswith("/")
    return posixpath.join(START, "" if folder == "." else folder).rstrip("/") if is_inside else folder


def relative(text: str, folder: str) -> str:
    """A text with paths from the folder instead of that at the start of the script."""
    if START not in text or not (is_below(folder) or is_known(folder)):
        return text.replace(START, ".")
    inner = regex(rf"{START}/{re.escape(folder)}(?=[/\s:,;'\"]|$)")
    text = inner.sub(".", text) if _folders(folder)[:1] not in ([], [".."]) else text

    def one(match: re.Match[str]) -> str:
        path = way(folder, match[1].lstrip("/"))
        return f"{SUBMITTED}{match[1]}" if path is None else path

    text = MARKED.sub(lambda match: _FROM_START.sub(one, match[0]), text)
    return _FROM_START.sub(lambda match: one(match).replace(SUBMITTED, marked(SUBMITTED)), text)


_BACKGROUND: Final = regex(r"(?<![&><])&(?![&>\d])")
BETWEEN: Final = (("mkdir",), ("wait",), ("sleep",), ("kill",))
"""Starts of commands between the programs of the run."""
SCRIPT: Final = ".slurm_script"
"""The script itself, which no pattern such as `*` matches: Slurm keeps it in another folder."""


STATUS: Final = "status "
STATUSES: Final = (marked("$?"), marked("${PIPESTATUS[0]}"))
"""The status of the program in front, or of the first one of its pipe."""
LEFT_OUT: Final = marked("")
"""The process id of a program in the background that the job does not have."""


class Shell(Struct, frozen=True, eq=False):
    """A shell of the script that runs programs, such as `( … )`: what ends it does not end the script."""

    stops: bool | None = None
    """Whether its error ends the script."""
    in_background: bool = False
    joined: bool = False
    """Whether `&&` in front of it decides about all its programs."""


class Entered(Struct, frozen=True, kw_only=True):
    """How a script came into the folder of a program, with `cd`."""

    place: Location | None = None
    at: int = -1
    """The number of programs before it."""
    joined: bool = False
    """Whether it is behind `PROGRAM &&`."""
    joins: bool = False
    """Whether `&&` and the program are behind it."""
    otherwise: str = ""
    """The command of the script if the folder does not exist: `exit 1`."""

    @property
    def is_guarded(self) -> bool:
        """Whether the script checks that the folder exists."""
        return self.joins or self.otherwise != ""


class Step(Struct, frozen=True, kw_only=True):
    """A program that the script starts."""

    words: tuple[str, ...] = ()
    place: Location
    by_srun: bool = False
    options: tuple[str, ...] = ()
    """Words behind `srun`."""
    assigned: tuple[tuple[str, str], ...] = ()
    """Variables that are set for it alone."""
    background: bool = False
    text: str = ""
    """A construct of the shell that stays as it is, instead of words."""
    input: str = ""
    """The file that it reads."""
    makes: str = ""
    """The file in the working directory that its text writes, which no program may need."""
    writes: str = ""
    """The file to which its text adds lines, and nothing else."""
    output: tuple[str, str] = ("", "")
    """`>` or `>>`, with `&` if it writes its errors, too, and the file."""
    otherwise: str = ""
    """Command of the shell after its failure: `exit 1`; or the status that its own shell has then: `status 3`."""
    sets: str = ""
    """The variable that its text sets, or the function with `()`, which no program may need."""
    joined: bool = False
    """Whether it starts only if the one before it succeeds."""
    exported: Mapping[str, Value] = {}
    """The environment that the script gives it."""
    folder: str = ""
    entered: Entered = Entered()
    stops: bool | None = None  # whether its error ends the script; None if it is not of the script
    in_image: bool = False  # whether a container runs it
    shells: tuple[Shell, ...] = ()  # those around it inside of the script, from outside to inside

    @property
    def starts_in_background(self) -> bool:
        """Whether it starts a program in the background."""
        return self.background or _BACKGROUND.search(self.text) is not None

    def with_variables(self, assigned: Sequence[tuple[str, str]]) -> Self:
        """The program with variables in front of it that it lacks."""
        own = dict(assigned) if self.words[:1] in BETWEEN else dict(self.assigned)
        return replace(self, assigned=(*(one for one in assigned if one[0] not in own), *self.assigned))

    def within(self, folder: str, place: Location) -> Self:
        """The program in a folder that is relative to its own."""
        return replace(self, folder=joined(self.folder, folder), entered=Entered(place=place))

    def with_parents(self) -> Self:
        """The program; `mkdir -p` for `mkdir`, which ends with an error if the folder exists."""
        if self.words[:1] != ("mkdir",) or any(one.startswith("-") for one in self.words[1:]):
            return self
        return replace(self, words=("mkdir", "-p", *self.words[1:]))

    def with_local_variables(self) -> Self:
        """The program with the variables that it gets. A folder in a container is not related to that of the script."""
        inside = way(self.folder, "") is None
        exported = {
            name: marked(f"${name}") if inside and START in value else relative(value, self.folder)
            for name, value in self.exported.items()
            if isinstance(value, str)
        }
        return replace(self, exported={**self.exported, **exported})


AnyStep = TypeVar("AnyStep", bound=Step)


class Called(Struct, frozen=True):
    """A command with its words, and the variables before it."""

    words: tuple[str, ...]
    place: Location
    assigned: tuple[tuple[str, str], ...]

    @property
    def program(self) -> str:
        return self.words[0].rpartition("/")[2]

    @property
    def text(self) -> str:
        return " ".join(map(shown, self.words))


class Opened(Struct, frozen=True, kw_only=True):
    """A container that a command starts."""

    image: str = ""
    """Empty for the image of a module."""
    command: tuple[str, ...]
    mounts: tuple[str, ...] = ()
    folder: str = ""
    """The working directory in the container that an option sets."""
    variables: tuple[tuple[str, str], ...] = ()
    left: tuple[tuple[str, str, str], ...] = ()
    """Options that a job does not have, with the reasons and the remedies."""
    misplaced: str = ""
    """An option behind the image, which Apptainer takes for the program."""

    def dropped(self, place: Location) -> Iterator[DroppedPart]:
        return (DroppedPart(place, *one) for one in self.left)


class DroppedPart(Struct, frozen=True):
    """A part that is not in the job."""

    place: Location
    what: str
    why: str
    hint: str
    of_pods: bool = False
    """Whether a job with one pod has it."""


VARIABLE: Final = regex(r"\$(?:\{[!#]?)?([A-Za-z_]\w*|\d+)\b")


def without_needless_ends(steps: Sequence[Step]) -> list[int]:
    """The numbers of the programs, without `kill` and `wait` for others in the background that are left out."""
    ends = (("kill",), ("wait",))
    return [
        number
        for number, one in enumerate(steps)
        if one.words[:1] not in ends or any(before.starts_in_background for before in steps[:number])
    ]


_READ: Final = regex(r"\$\{?[!#]?(\w+)")
_CALCULATED: Final = regex(r"\(\(([^\n]{0,300})")
_IN_CALCULATION: Final = regex(r"(?<![\w$])[A-Za-z_]\w*")
_IN_OUTPUT: Final = regex(r"\$\(([^)\n]{0,300})")
_CHANGED: Final = regex(r"\$\{(\w+)[^\w}]")
_ITEM: Final = regex(r"\$(?:\{(?:#(?=\w+\[)|(?=\w+(?:\[(?![@*]\])|\})))|(?=[A-Za-z_]))(\w+)")
_OR_ELSE: Final = regex(r"\$\{(\w+):?[-+=?]")


@lru_cache(maxsize=64)
def _reads(text: str) -> Counter[str]:
    """The number of places where a text reads each variable, with or without `$`."""
    counts = Counter(_READ.findall(text))
    for inner in _CALCULATED.findall(text):
        counts.update({*_IN_CALCULATION.findall(inner)})
    return counts


@lru_cache(maxsize=4)
def _inner_reads(text: str) -> frozenset[str]:
    """The variables that a text reads in outputs of commands, or with another value if they have none."""
    return frozenset(_OR_ELSE.findall(text)).union(*map(_READ.findall, _IN_OUTPUT.findall(text)))


@lru_cache(maxsize=4)
def _changed_reads(text: str) -> frozenset[str]:
    """The variables with a value that a text changes where it reads them, such as in `${A##*/}`."""
    return frozenset(_CHANGED.findall(text))


@lru_cache(maxsize=4)
def _item_reads(text: str) -> frozenset[str]:
    """The arrays with a length or single items that a text reads, such as the first one by their name alone."""
    return frozenset(_ITEM.findall(text))


def reads_of(text: str) -> set[str]:
    """The variables that a text reads, with or without `$`."""
    return {*_reads(text)}


def uses_of(name: str, text: str) -> int:
    """The number of places where a text reads a variable, with or without `$`."""
    return _reads(text)[name]


def value_in_command(name: str, value: Value, text: str, *, is_output: bool) -> str | None:
    """The value of a variable for a line of the command, if a text reads it several times or changes what it reads, or
    if it computes with a time or a random number. None if the value can take its place.
    """
    if isinstance(value, tuple):
        return f"({' '.join(map(shown, value))})" if name in _item_reads(text) else None
    is_time = (
        value[1:].startswith(("$(date", "$RANDOM", "$((RANDOM", "$SECONDS"))
        and re.search(rf"\(\([^\n]{{0,300}}\b{name}\b", text) is not None
    )
    is_odd = re.search(r"^\s|\s\s|\s$", value) is not None  # of continued lines, which `A="$A b"` makes longer
    longer = re.finditer(rf'(?<![\w$-]){name}\+?=(?:"[^"]*"|\S*)', text if is_odd else "")
    uses = uses_of(name, text) - sum(uses_of(name, one[0]) for one in longer)
    several = uses > 1 or name in _inner_reads(text) or is_time
    return shown(value) if (several if is_output else name in _changed_reads(text) | _inner_reads(text)) else None


def is_needed(name: str, text: str) -> bool:
    """Whether a text reads a variable, or has the name of a function, which ends with `()`."""
    function = name.removesuffix("()")
    if function == name:
        return uses_of(name, text) > 0
    return re.search(rf"(?<![\w-]){re.escape(function)}(?![\w-])", text) is not None


def _all_words(step: Step) -> Sequence[str]:
    return (*step.words, *step.options)


def _with_functions(text: str, functions: Mapping[str, str]) -> str:
    """A text with the functions that it calls, and those that they call."""
    while called := next((one for one in functions if functions[one] not in text and is_needed(one, text)), None):
        text += f"\n{functions[called]}"
    return text


def needed_steps(steps: Sequence[AnyStep], words_of: Callable[[Any], Sequence[str]] = _all_words) -> list[AnyStep]:
    """The steps without variables and functions that no other one needs. `words_of` returns the words that count."""
    needed, texts = list[AnyStep](), ""
    functions = {one.sets: one.text for one in steps if one.sets.endswith("()")}
    for step in reversed(steps):
        grows = any(step.text[:-1] and one.text.startswith(f"{step.text[:-1]} ") for one in needed[-1:])
        if grows and step.text.startswith(f"{step.sets}=("):
            continue  # an array before its next item
        decides = step.otherwise or any(one.joined for one in needed[-1:])
        if decides or step.sets in ("", "IFS") or is_needed(step.sets, texts):
            needed.append(step)
            words = (*words_of(step), *(value for _, value in step.assigned), step.input, step.folder)
            texts = _with_functions("\n".join([texts, step.text, *map(source_text, words)]), functions)
    return needed[::-1]


def text_of_words(words: Sequence[str]) -> list[str]:
    """A program and its arguments for a shell, in quotes if it would take the program for an assignment."""
    first, *others = map(shown, words)
    if re.match(r"[A-Za-z_]\w*\+?=", first):
        first = f"'{words[0]}'" if is_known(words[0]) else f'"{first}"'
    return [first, *others]


def lacking_steps(steps: Sequence[Step], programs: Sequence[Step], text: str, line: int) -> list[Step]:
    """The steps up to a line that set the variables of a text, as far as the programs lack them."""
    known = {(one.text, one.place) for one in programs}
    functions = {one.sets: one.text for one in steps if one.sets.endswith("()")}
    seen, found, text = set[str](), list[Step](), _with_functions(text, functions)
    for step in reversed([one for one in steps if one.sets and one.place.line <= line]):
        if step.sets not in seen and is_needed(step.sets, text):
            seen.add(step.sets)
            text = _with_functions(f"{text}\n{step.text}", functions)
            found.append(step)
    return [one for one in found[::-1] if (one.text, one.place) not in known]


def log_files(job: str, patterns: Iterable[str]) -> frozenset[str]:
    """The paths of the logs of Slurm, and the names of those that have the id of the job."""
    ids = {"%j": RUN, "%A": RUN, "%J": RUN, "%x": job}
    paths = [regex("%[jAJx]").sub(lambda match: ids[match[0]], one).removeprefix("./") for one in patterns]
    names = [one for one in (path.rpartition("/")[2] for path in paths) if RUN in one and "." in one.replace(RUN, "")]
    return frozenset(one for one in (*paths, *names) if one and "%" not in one and not one.startswith("/dev/"))


_FORM: Final = regex(r"%0?\d{0,3}([sd])")


def formatted(form: str, words: Sequence[str]) -> str | None:
    """The text of `printf`, as far as it is known."""
    left = [*words]

    def one(match: re.Match[str]) -> str:
        word = left.pop(0) if left else ""
        return match[0] % (int(word or 0) if match[1] == "d" else word)

    with suppress(ValueError):  # of `%d` and another text
        text = _FORM.sub(one, form)
        if (
            not left
            and ("%d" not in form or all(map(is_known, words)))
            and not re.search(r"[%\\]", _FORM.sub("", form))
        ):
            return text
    return None


def written_line(words: Sequence[str]) -> str | None:
    """The text that `echo` or `printf` writes; None if it is not known."""
    program, *rest = words or [""]
    text: str | None = None
    if program == "echo" and (not rest or not rest[0].startswith("-")):
        text = " ".join(rest) + "\n"
    elif program == "printf" and rest and rest[0].endswith("\\n"):
        text = formatted(rest[0][:-2], rest[1:])
        text = f"{text}\n" if text is not None else None
    return text if text is not None and is_known(text) else None


def in_shell(steps: Sequence[Step], stops: bool | None, *, in_background: bool = False) -> list[Step]:
    """The programs of a shell of its own: its last one decides its status, of which an error `stops` the script."""
    made = [*steps]
    made[-1:] = [replace(one, stops=stops) for one in made[-1:]]
    if made and made[-1].otherwise.startswith("exit"):
        status = made[-1].otherwise.removeprefix("exit").strip()
        ends = "" if status in ("", "1") else f"{STATUS}{status}" if status.strip("0") else "true"
        made[-1] = replace(made[-1], otherwise=ends)
    if len(made) == 1 and (in_background or not made[0].text) and not made[0].entered.is_guarded:
        return made
    outer = {one.shells[:1] for one in made}
    again = len(outer) == 1 and () not in outer
    shell = Shell(stops, in_background)
    return [replace(one, shells=(shell, *one.shells[again:])) for one in made]


def in_joined_shell(steps: Sequence[AnyStep], stops: bool | None) -> list[AnyStep]:
    """The programs behind `&&`, in a shell if it decides about more than the first one."""
    shell = Shell(stops, joined=True)
    several = not all(one.joined for one in steps[1:])
    return [replace(one, shells=(shell, *one.shells)) if several else one for one in steps]
