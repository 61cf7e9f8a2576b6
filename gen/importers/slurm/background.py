"""Programs in the background: their process ids, which the shell of a pod knows as that of the script does, and `wait`,
`kill` and `sleep` for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import names, regex
from gen.importers.slurm.expansion import Value, marked, sources
from gen.importers.slurm.programs import LEFT_OUT, STATUSES, VARIABLE, Called, Step

if TYPE_CHECKING:
    from tree_sitter import Node

    from gen.importers.slurm.batch_commands import BatchCommands

_LAST: Final = marked("$!")
_FIRST: Final = names("%1 %% %+ %")
_READS: Final = regex(r"\$\?|\bexit\b")


def set_ids(reader: BatchCommands, node: Node) -> None:
    """Set variables of the command to the process ids and statuses that an assignment gives to one of the script, or to
    items.
    """
    target = node.child_by_field_name("name")
    name = reader.text(target).partition("[")[0] if target is not None else ""
    value: Value = reader.variables.get(name, ())
    if name in reader.keyed:
        items = reader.keyed[name]
        reader.keyed[name] = {key: _set_id(reader, node, f"{name}_{key}", one) for key, one in items.items()}
    elif isinstance(value, str):
        reader.variables |= {name: _set_id(reader, node, name, value)} if name in reader.variables else {}
    elif _read_by("".join(value)):  # few have one, and a loop can append thousands of items, one at a time
        made = (_set_id(reader, node, f"{name}_{number}", one) for number, one in enumerate(value))
        reader.variables[name] = tuple(made)


def _read_by(value: str) -> str:
    """The process id or the status that a value reads; empty for others."""
    return next((one for one in (_LAST, *STATUSES) if one in value), "")


def _set_id(reader: BatchCommands, node: Node, name: str, value: str) -> str:
    last = _read_by(value)
    if not last:
        return value
    key, name = name, re.sub(r"\W", "_", name)
    if not name.isidentifier():
        return value
    if value != last or (name != key and name in reader.ids):
        used = reader.ids | {one.sets for one in reader.steps}
        name = next(one for number in count() if (one := f"{name}_{number}") not in used)
    reader.add(Step(text=f"{name}={last[1:-1]}", place=reader.place(node), sets=name))
    reader.steps[-1] = replace(reader.steps[-1], exported={})
    reader.from_text.add(name)
    reader.ids |= {name} if last == _LAST else set()
    return value.replace(last, marked(f"${name}"))


def is_id(reader: BatchCommands, value: str) -> bool:
    """Whether a value is the process id of a program in the background."""
    return value == _LAST or any(value == marked(f"${name}") for name in reader.ids)


def _in_background(reader: BatchCommands) -> list[int]:
    return [number for number, one in enumerate(reader.steps) if one.starts_in_background]


def _of_shell(reader: BatchCommands, words: Sequence[str]) -> bool:
    """Whether the shell of the pod knows the process ids of words that are no options."""
    names = {"!", *reader.ids, *reader.kept, *reader.from_text}
    parts = [sources(one) for one in words if not one.startswith("-")]
    return all(some and {*VARIABLE.findall(" ".join(some))} <= names and "$(" not in some[0] for some in parts)


def _with_ids(reader: BatchCommands, words: Sequence[str]) -> Iterator[str]:
    """The words with the process id of the only program in the background in the place of its number."""
    alone = len(_in_background(reader)) == 1 and reader.steps[_in_background(reader)[0]].background
    return (_LAST if alone and one in _FIRST else one for one in words)


def wait(reader: BatchCommands, called: Called) -> bool:
    """Wait for the programs in the background that the pod has."""
    words = tuple(one for one in _with_ids(reader, called.words) if one != LEFT_OUT)
    behind, waited = _in_background(reader), len(words) - 1
    if not behind or (len(called.words) > 1 and not waited):
        return True
    last = behind[-1]
    if (
        waited
        and len(behind) == 1
        and reader.steps[last].background
        and all(one.sets for one in reader.steps[last + 1 :])
    ):
        reader.steps[last] = replace(reader.steps[last], background=False)
        return True
    if waited and not _of_shell(reader, words[1:]):
        why, hint = "the pod waits for all programs in the background", "write it into `command`"
        if waited < len(behind):
            reader.drop(called, f"`{called.text}`", why, hint)
        words = ("wait",)
    reader.start(words, called)
    return True


def with_plain_waits(steps: Sequence[Step]) -> list[Step]:
    """The steps with `wait` for `wait` with the process ids of all programs in the background, if nothing reads its
    status.
    """
    made = [*steps]
    for at, one in enumerate(steps[:-1]):
        started = [each for each in steps[:at] if each.starts_in_background]
        ids = {word for word in one.words[1:] if word != _LAST or started[-1:] == [steps[at - 1]]}
        reads = one.stops or one.joined or one.otherwise or steps[at + 1].joined or _READS.search(steps[at + 1].text)
        plain = one.words[:1] == ("wait",) and not any(word.startswith("-") for word in ids)
        if plain and not reads and len(ids) == len(started) and all(each.background for each in started):
            made[at] = replace(one, words=("wait",))
    return made


def kill(reader: BatchCommands, called: Called) -> bool:
    """End programs in the background that the pod has."""
    words = tuple(dict.fromkeys(one for one in _with_ids(reader, called.words) if one != LEFT_OUT))
    ended = [one for one in words[1:] if not one.startswith("-")]
    if not _in_background(reader):
        return False
    of_shell = called.program == "pkill" and words[1:] == ("-P", marked("$$"))
    if ended and (of_shell or _of_shell(reader, words[1:])):
        reader.start(words, called)
    elif ended or words == called.words:
        reader.drop(called, f"`{called.text}`", "gen does not know which program it ends", "write it into `command`")
    return True
