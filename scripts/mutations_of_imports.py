"""Random changes of scripts and objects, such as people make by mistake and by intent."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

_WORD: Final = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|\$\([^()]*\)|\\.|[^\s\\])+""")
_KEYWORD: Final = re.compile(
    r"\s*(?:if|then|else|elif|fi|for|do|done|while|until|case|esac|function|\}|\{|;;|\)|[\w|*.-]+\)|#|$|&&|\|\|)"
)
_ASSIGNMENT: Final = re.compile(r"^(\s*(?:export\s+|local\s+|declare\s+)?)([A-Za-z_]\w*)=(.*)$")
_REFERENCE: Final = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
_STARTS: Final = re.compile(r"\b(?:srun|torchrun|accelerate launch|deepspeed|mpirun|mpiexec|python3?)\b")
_OPENS: Final = re.compile(r"<<-?\s*\\?[\"']?(\w+)")

_TEXTS: Final = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
Lines = list[str]
"""Lines of a script; one that backslashes continue, a text in quotes or a here-document is one line."""


def _joined(text: str) -> Lines:
    """The lines of a script, each as a whole command."""
    lines: Lines = []
    end = ""
    for line in text.split("\n"):
        open_before = bool(lines) and (bool(end) or lines[-1].endswith("\\") or _has_open_quote(lines[-1]))
        if open_before:
            lines[-1] += f"\n{line}"
            if end and line.strip() == end:
                end = ""
        else:
            lines.append(line)
        if not end and not line.lstrip().startswith("#") and (opens := _OPENS.search(line)) and "<<<" not in line:
            end = opens[1]
    return lines


def _has_open_quote(text: str) -> bool:
    bare = re.sub(r"\\.", "", "" if text.lstrip().startswith("#") else text, flags=re.DOTALL)
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", bare).count('"') % 2 == 1


def _commands(lines: Lines) -> list[int]:
    """Numbers of the lines that can stand alone."""
    return [number for number, line in enumerate(lines) if not _KEYWORD.match(line)]


def _any_line(random: Random, lines: Lines) -> int | None:
    found = _commands(lines)
    return random.choice(found) if found else None


def _starting_line(random: Random, lines: Lines) -> int | None:
    """A line that starts a program, if there is one."""
    found = [number for number in _commands(lines) if _STARTS.search(lines[number])]
    return random.choice(found) if found else _any_line(random, lines)


def _assigning_line(random: Random, lines: Lines) -> int | None:
    found = [number for number in _commands(lines) if _ASSIGNMENT.match(lines[number])]
    return random.choice(found) if found else None


def _variables(lines: Lines) -> list[str]:
    return sorted({match[2] for line in lines if (match := _ASSIGNMENT.match(line))}) or ["HOME"]


def _delete_line(random: Random, lines: Lines) -> None:
    if lines:
        del lines[random.randrange(len(lines))]


def _repeat_line(random: Random, lines: Lines) -> None:
    if (at := _any_line(random, lines)) is not None:
        lines.insert(at, lines[at])


def _swap_lines(random: Random, lines: Lines) -> None:
    found = _commands(lines)
    if len(found) > 1:
        at = random.randrange(len(found) - 1)
        one, other = found[at : at + 2]
        lines[one], lines[other] = lines[other], lines[one]


def _move_line(random: Random, lines: Lines) -> None:
    """An assignment behind its use, or any other line to another place."""
    at = _assigning_line(random, lines) if random.random() < 0.7 else _any_line(random, lines)  # noqa: PLR2004
    if at is not None:
        line = lines.pop(at)
        lines.insert(random.randrange(at, min(at + 12, len(lines))) + 1 if at < len(lines) else at, line)


def _comment_out(random: Random, lines: Lines) -> None:
    if (at := _any_line(random, lines)) is not None:
        lines[at] = "\n".join(f"# {one}" for one in lines[at].split("\n"))


def _change_word(random: Random, lines: Lines) -> None:
    at = _any_line(random, lines)
    words = [*_WORD.finditer(lines[at])] if at is not None else []
    if at is None or not words:
        return
    word, other = random.choice(words), random.choice(words)
    new = random.choice(
        (
            "",
            f"{word[0]} {word[0]}",
            other[0],
            f'"{word[0]}"',
            f"'{word[0]}'",
            word[0].strip("\"'"),
            f"{word[0]} {random.choice(_TEXTS['words'])}",
            word[0][: len(word[0]) // 2],
            f"$(echo {word[0]})",
            f"{word[0]}*",
            re.sub(r"[0-9]+", lambda match: str(int(match[0][:9]) + 1), word[0]),
            f"{{{word[0]},{other[0]}}}",
        )
    )
    lines[at] = f"{lines[at][: word.start()]}{new}{lines[at][word.end() :]}"


def _delete_character(random: Random, lines: Lines) -> None:
    """A quote, a bracket, a dollar sign or a backslash."""
    at = _any_line(random, lines)
    found = [match.start() for match in re.finditer(r"[\"'\\${}()=;|&<>\[\]]", lines[at])] if at is not None else []
    if at is not None and found:
        place = random.choice(found)
        lines[at] = lines[at][:place] + lines[at][place + 1 :]


def _rename(random: Random, lines: Lines) -> None:
    """A variable where it is set, used, or both."""
    name = random.choice(_variables(lines))
    where = random.choice(("set", "used", "both", "once"))
    new = random.choice((f"{name}_2", "A", "ARGS", "RANK", "MASTER_ADDR", "_x", name.lower(), "PATH_TO"))
    uses = [number for number, line in enumerate(lines) if re.search(rf"\b{name}\b", line)]
    for number in random.sample(uses, 1) if where == "once" and uses else uses:
        if where in ("set", "both"):
            lines[number] = re.sub(rf"(^|\s){name}(\+?=)", rf"\g<1>{new}\2", lines[number])
        if where != "set":
            lines[number] = re.sub(rf"(\$\{{?[#!]?){name}\b", rf"\g<1>{new}", lines[number])


def _change_reference(random: Random, lines: Lines) -> None:
    """Another expansion of a variable."""
    found = [(number, match) for number in _commands(lines) for match in _REFERENCE.finditer(lines[number])]
    if found:
        number, match = random.choice(found)
        form = random.choice(_TEXTS["expansions"]).replace("NAME", match[1])
        lines[number] = f"{lines[number][: match.start()]}{form}{lines[number][match.end() :]}"


def _change_value(random: Random, lines: Lines) -> None:
    """Another way to set the value of a variable."""
    if (at := _assigning_line(random, lines)) is None or (match := _ASSIGNMENT.match(lines[at])) is None:
        return
    before, name, value = match.groups()
    parts = {"NAME": name, "VALUE": value, "WORD": value.split()[0] if value.split() else "1"}
    form = random.choice(_TEXTS["values"]).replace("BEFORE", before)
    lines[at] = re.sub(r"\b(?:NAME|VALUE|WORD)(?![A-Z])", lambda part: parts[part[0]], form)


def _wrap(random: Random, lines: Lines) -> None:
    """A command in a construct of the shell."""
    if (at := _starting_line(random, lines) if random.random() < 0.7 else _any_line(random, lines)) is None:  # noqa: PLR2004
        return
    last = at
    if random.random() < 0.3 and at + 1 in _commands(lines):  # noqa: PLR2004
        last = at + 1
    inner = "\n".join(lines[at : last + 1])
    name = random.choice(_variables(lines))
    lines[at : last + 1] = [random.choice(_TEXTS["constructs"]).replace("NAME", name).replace("INNER", inner)]


def _change_launcher(random: Random, lines: Lines) -> None:
    """Options of `srun`, or of another program that starts processes."""
    found = [(at, match) for at in _commands(lines) for match in _STARTS.finditer(lines[at])]
    if not found:
        return
    at, match = random.choice(found)
    known = _TEXTS["options"]
    options = known.get(match[0], known["mpirun" if match[0].startswith("mpi") else "python"])
    behind = lines[at][match.end() :]
    if random.random() < 0.3 and (option := re.search(r"\s-{1,2}[\w-]+(?:=\S+|\s+[^\s-]\S*)?", behind)):  # noqa: PLR2004
        behind = behind[: option.start()] + behind[option.end() :]
    elif random.random() < 0.15:  # noqa: PLR2004
        other = random.choice(
            ("srun", "torchrun", "python", "mpirun", "accelerate launch", "deepspeed", "srun torchrun", "")
        )
        lines[at] = lines[at][: match.start()] + other + behind
        return
    else:
        behind = f" {random.choice(options)}{behind}"
    lines[at] = lines[at][: match.end()] + behind


def _change_directive(random: Random, lines: Lines) -> None:
    found = [number for number, line in enumerate(lines) if line.startswith("#SBATCH")]
    if not found:
        return
    at = random.choice(found)
    number = re.search(r"(?<=[=: ])[0-9]+", lines[at])
    if number and random.random() < 0.5:  # noqa: PLR2004
        new = random.choice(("1", "2", "4", "0", "16", "3-4"))
        lines[at] = lines[at][: number.start()] + new + lines[at][number.end() :]
    else:
        lines[at] = random.choice(
            (f"#SBATCH {random.choice(_TEXTS['directives'])}", "", lines[at].replace("#SBATCH", "##SBATCH"))
        )


_OF_SCRIPT: Final[tuple[tuple[Callable[[Random, Lines], None], int], ...]] = (
    (_delete_line, 6),
    (_repeat_line, 4),
    (_swap_lines, 6),
    (_move_line, 8),
    (_comment_out, 4),
    (_change_word, 14),
    (_delete_character, 6),
    (_rename, 6),
    (_change_reference, 10),
    (_change_value, 14),
    (_wrap, 22),
    (_change_launcher, 12),
    (_change_directive, 5),
)
_MOST: Final = 3


def changed_script(random: Random, text: str) -> str:
    """A script with up to three changes."""
    lines = _joined(text)
    for _ in range(random.randint(1, _MOST)):
        (change,) = random.choices([one for one, _ in _OF_SCRIPT], [weight for _, weight in _OF_SCRIPT])
        change(random, lines)
        lines = _joined("\n".join(lines))
    return "\n".join(lines)


_VALUES: Final[tuple[Any, ...]] = (
    *(
        None,
        "",
        0,
        1,
        -1,
        2,
        1.5,
        True,
        [],
        {},
        "a b",
        "$(A)",
        "${A}",
        "{{inputs.parameters.a}}",
        "{{ workflow.name }}",
    ),
    *(
        "x" * 70,
        "1Gi",
        "a/b:1",
        ["sh", "-c", "a $B | c"],
        {"name": "x"},
        [{"name": "x", "value": "y"}],
        "é",
        "a\nb\n",
        "<NAME>",
    ),
)
Place = tuple[Any, Any]
"""A mapping or a list, and a key or an index of it."""


def _places(value: Any) -> Iterator[Place]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def changed_object(random: Random, documents: Sequence[Any]) -> list[Any]:
    """The documents with up to three changes of fields."""
    made = copy.deepcopy([*documents])
    for _ in range(random.randint(1, _MOST)):
        if found := [*_places(made)]:
            _change_field(random, found)
    return made


def _change_field(random: Random, found: Sequence[Place]) -> None:
    holder, key = random.choice(found)
    other, of_other = random.choice(found)
    match random.randrange(9):
        case 0:
            del holder[key]
        case 1:
            holder[key] = copy.deepcopy(random.choice(_VALUES))
        case 2:
            holder[key] = copy.deepcopy(other[of_other])
        case 3 if isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        case 4 if isinstance(holder, dict):
            holder[random.choice((f"{key}X", "name", "value", "args", "env"))] = holder.pop(key)
        case 5 if isinstance(holder[key], str):
            words = holder[key].split(" ")
            words[random.randrange(len(words))] = random.choice(_TEXTS["words"])
            holder[key] = " ".join(words)
        case 6 if isinstance(holder[key], int):
            holder[key] = random.choice((holder[key] + 1, str(holder[key]), holder[key] * 1000, -holder[key]))
        case 7:
            holder[key] = [holder[key]]
        case _:
            holder[key] = str(holder[key])
