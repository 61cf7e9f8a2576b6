"""Traps at the end of a script, and checks of the status of its programs and of their output."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.base.shell_script import assigned_in, nodes_below
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.batch_commands import CALLS, OF_SLURM, BatchCommands
from gen.importers.slurm.conditions import HERE_STRING, OF_FILES
from gen.importers.slurm.expansion import is_known, marked, shown, sources
from gen.importers.slurm.programs import (
    BETWEEN,
    SUBMITTED,
    VARIABLE,
    AnyStep,
    Called,
    Step,
    in_joined_shell,
    uses_of,
    way,
)
from gen.importers.slurm.site import SUBMITS, is_silent

if TYPE_CHECKING:
    from tree_sitter import Node

INNER_SRUN: Final = regex(
    r"(?m)(?:^|[;&|(){!`]|\$\(eval\s+echo|\b(?:then|do|else|time|exec|if|elif|while|until)\b)\s*(?:\w+=\S*\s+)*(?:\w+=[(\"']+)?srun\b"
)
"""`srun` in a construct of the shell, or at the start of a value."""
STARTS_SRUN: Final = regex(
    r"(?:^\s*|\b(xargs|(?:env_)?parallel|sem|timeout|nohup|nice|env|stdbuf|numactl)\b[^|;&\n]{0,999}?[\s\"'/])srun\s+\S"
)
"""`srun` in the text of another program, which starts it."""
_ENDS: Final = "the programs and files of a pod end with it"


_OF_LISTS: Final = names("awk cut grep if local sed then xargs")
_OF_ENROOT: Final = "no pod has containers of `enroot`"
_OF_OTHERS: Final = "each pod would do it, also while others use the files"
_FILES: Final = regex(
    rf"(?:^|[;&|{{\n]|\b(?:then|do|else))\s*((?:{'|'.join(sorted(OF_FILES))})\s(?:\$\{{[^}}]*\}}|[^;&|\n}}])*)"
)


def _changes_volume(reader: BatchCommands, text: str) -> bool:
    """Whether commands change files of a volume of the site."""
    words = (word for one in _FILES.findall(text) for word in reader.condition_value(one).split()[1:])
    paths = [posixpath.normpath(posixpath.join(reader.folder, word)) for word in words]
    return any(f"{path}/".startswith(f"{volume.rstrip('/')}/") for path in paths for volume in reader.volumes)


def _lost_trap(reader: BatchCommands, text: str) -> str:
    """Why a pod does not run the commands of a trap at its end, if it does not."""
    bodies = [reader.text(reader.functions[one]) for one in CALLS.findall(text) if one in reader.functions]
    whole = "\n".join([text, *bodies])
    called = {*CALLS.findall(whole)} - reader.functions.keys() - _OF_LISTS
    if re.search(r"\benroot\s+(?:list|remove|rm)\b", whole) and all(map(is_silent, called)):
        return _OF_ENROOT
    if any(map(INNER_SRUN.search, bodies)):
        return "it starts `srun`, which does not work in a pod"
    if not OF_SLURM.isdisjoint(CALLS.findall(whole)):
        return _ENDS
    if not reader.is_program(whole):
        if not _changes_volume(reader, whole):
            return _ENDS
        if not reader.is_inner and reader.constants.get("SLURM_NNODES", "1") != "1":
            return _OF_OTHERS
    sets = Counter(assigned_in(reader.source))
    later = {one for one in sets if sets[one] > (one in reader.variables)} - {*assigned_in(whole)}
    name = next((one for one in VARIABLE.findall(whole) if one in later), "")
    return f"it reads `${name}`, which the script sets later" if name else ""


def _for_later(reader: BatchCommands, text: str, place: Location) -> str:
    """A text that the shell of the pod runs later, behind the functions and the values that it has now."""
    if not is_known(text):
        return text
    for one in CALLS.findall(text):
        reader.keep_function(one)
    reader.read_by_calls(CALLS.findall(text))
    text = reader.residual(text)
    reader.assign_before(text, place)
    return text


def follow_trap(reader: BatchCommands, called: Called) -> bool:
    """Follow `trap`. A pod runs its commands at the end, as far as it can."""
    words, what = called.words, f"`trap {cut(''.join(called.words[1:2]))}`"
    if not words[2:] or words[1] == "-":
        pass
    elif "ERR" in words[2:] and "EXIT" not in words[2:]:
        _follow_errors(reader, called, what)
    elif not {"EXIT", "0"} & {*words[2:]}:
        reader.drop(called, what, "a pod gets SIGTERM at its end", "save checkpoints on SIGTERM")
    elif why := _lost_trap(reader, words[1]):
        hint = "write it into `command`, if it changes files of a volume"
        hint = "remove the files after the run, or in a program that knows its rank" if why == _OF_OTHERS else hint
        hint = "remove it" if why == _OF_ENROOT else hint
        ends = why in (_ENDS, _OF_OTHERS, _OF_ENROOT)
        reader.drop(called, what, why, hint if ends else "write its commands at the end of `command`")
    else:
        reader.add(Step(words=("trap", _for_later(reader, words[1], called.place), "EXIT"), place=called.place))
    return True


def _follow_errors(reader: BatchCommands, called: Called, what: str) -> None:
    """`trap … ERR`, which bash runs after each program that fails, other than those of functions."""
    text, in_functions = called.words[1], any(map(reader.starts_program, reader.functions.values()))
    if not (re.search(r"\bexit\b", reader.with_ends(text)) or reader.is_program(text)):
        reader.drop(called, what, "it only says that a program has failed", "read the logs with `gen logs`")
    elif reader.is_inner or in_functions:
        why, hint = "after a program that fails, the pod starts the next one", "write `|| exit 1` behind each program"
        reader.drop(called, what, why, hint)
    else:
        line = f"trap {shown(_for_later(reader, text, called.place))} {' '.join(called.words[2:])}"
        reader.add(Step(text=line, place=called.place))


def _in_folder(text: str, folder: str, now: str) -> str:
    """A command behind `cd` to a folder, for a shell in another one that runs it later."""
    if not folder.startswith("/") and not now.startswith("/"):
        path = way(now, folder)
        start = marked("$PWD") if path is not None else marked(SUBMITTED)
        folder = posixpath.join(start, path or folder).removesuffix("/.")
    return f"cd {folder} && {text}"


def with_traps(steps: Sequence[AnyStep], folder: str) -> list[AnyStep]:
    """The programs. A trap runs in the last folder of the script, which the last program of the pod may not have."""
    last = next((one.folder for one in reversed(steps) if one.words[:1] not in BETWEEN), "")
    if last == folder or not is_known(folder):
        return [*steps]
    return [
        replace(one, words=("trap", _in_folder(one.words[1], folder, one.folder), "EXIT"))
        if one.words[:1] == ("trap",)
        else one
        for one in steps
    ]


_STATUS: Final = r"\$\?|\$\{PIPESTATUS\[0\]\}"
_OF_STATUS: Final = regex(rf"([A-Za-z_]\w*)=\"?(?:{_STATUS})\"?")
"""A variable with the status of a program."""
_IF_FAILED: Final = regex(
    rf"if\s+(?:(?:\[{{1,2}}|test)\s+\"?({_STATUS}|\$\{{?\w+\}}?)\"?\s+(?:-ne|!=|-gt)\s+0(?:\s+\]{{1,2}})?"
    r"|\(\(\s*(\$\?|\$?\w+)\s*(?:(?:!=|>)\s*0\s*)?\)\))"
    r"\s*;?\s*then\s+(?:(?:echo|kill)\b[^;&|\n]*(?:&?>&?[\w/]+\s*)?(?:\|\|\s*true\s*)?[;\n]\s*)*"
    r"exit (?:([1-9]\d*)|\"?(\$\{?\w+\}?)\"?)\s*;?\s*fi"
)


_SHORT: Final = regex(
    r"(\[{1,2}\s[^][]*\s\]{1,2}|\(\([^()]*\)\)|test\s[^;&|]*?)\s*(&&|\|\|)\s*(?:\{\s+((?:[^{}]|\$\{\w+\})*?)\s*;?\s*\}|(exit\b[^;&|]*))"
)
_SUCCEEDS: Final = regex(r"\s*(?:\s-eq|==?)\s*0(?=[\s)]|$)")


def _in_full(text: str) -> str:
    """A check such as `[ $? -ne 0 ] && exit 1` or `[ $? -eq 0 ] || exit 1` with `if`."""
    match = _SHORT.fullmatch(text)
    if match is None:
        return text
    condition, fails = (match[1], 1) if match[2] == "&&" else _SUCCEEDS.subn(" != 0", match[1])
    return f"if {condition}; then {match[3] or match[4]}; fi" if fails == 1 else ""


def end_of_check(text: str) -> tuple[str, str]:
    """`exit 1` of `if [ $? -ne 0 ]; then exit 1; fi`, or of a shorter form, which ends the script if the program before
    it fails, and the variable with the status that it reads, if it has one.
    """
    match = _IF_FAILED.fullmatch(_in_full(text))
    if match is None:
        return "", ""
    checked, ends = ((one or "").strip("${}") for one in (match[1] or match[2], match[4]))
    name = checked if checked.isidentifier() else ""
    if ends and ends != name:
        return "", ""
    return f"exit {match[3]}" if match[3] else "exit", name


_BETWEEN_CHECKS: Final = frozenset({"command", "comment", "list", "redirected_statement", "variable_assignment"})


def step_of_check(reader: BatchCommands, node: Node, name: str) -> int | None:
    """The number of the last program, if a check is one of it, with its status in a variable if that has a name."""
    before = reader.before_one(node, "comment")
    text = reader.text(node)
    while name:
        text = "" if before is None else reader.text(before)
        status = _OF_STATUS.fullmatch(text)
        if status is not None and status[1] == name:
            break
        skips = before is not None and before.type in _BETWEEN_CHECKS and not reader.starts_program(before)
        if before is None or not skips or name in assigned_in(text):
            return None
        before = before.prev_named_sibling
    before = reader.before_one(before, "comment") if name and before is not None else before
    at = reader.step_of(before) if before is not None else None
    if at is None or ("PIPESTATUS" in text and "|" in f"{reader.steps[at].text}{reader.steps[at].output[0]}"):
        return None
    return at


_SEARCHES: Final = regex(r"(?:!\s*)?[ef]?grep\s[^;&|<\n]*")
OF_OUTPUT: Final = regex(rf"(?:if\s+)?{_SEARCHES.pattern}")
"""A check of the output of a program."""
_SAYS: Final = names("echo printf cat head tail date true : grep egrep fgrep")
"""Programs that a check may start."""


def keeps_check(reader: BatchCommands, node: Node) -> bool:
    """Keep a check of the status of the last program, or of the output of one, that only ends the script:
    `[ $? -ne 0 ] && exit 1`, `grep A FILE || exit 1`. Otherwise False.
    """
    end, name = end_of_check(reader.with_ends(reader.text(node)))
    if end and (at := step_of_check(reader, node, name)) is not None:
        reader.steps[at] = replace(reader.steps[at], otherwise=end)
        if name:  # it is 0 behind this
            reader.statuses.discard(name)
            reader.variables[name] = "0"
        return True
    condition = node.child_by_field_name("condition") or node.named_children[0]
    text, called = reader.text(condition), {*map(reader.text, nodes_below(node, "command_name"))}
    if "exit" not in called or called - {*_SAYS, "exit"} or not _SEARCHES.fullmatch(text) or reader.is_inner:
        return False
    made = {word for one in reader.steps for word in (*one.words, *one.options, one.output[1], one.makes)}
    searched = [word for word in reader.words(text.lstrip("! ")) if not word.startswith("-")]
    if assigned_in(reader.text(node)) or made.isdisjoint(reader.local(one).removeprefix("./") for one in searched[2:]):
        return False
    reader.as_it_is(node)
    return True


_SEARCH: Final = names("grep egrep fgrep")


def decides_by_output(reader: BatchCommands, condition: Node) -> bool:
    """Whether `… | grep`, `grep <<<` or `test` decides by the output of a program, which only a shell knows."""
    text = reader.text(condition)
    if condition.type == "command":
        return text.startswith("test ") or HERE_STRING.match(text) is not None
    inner = condition.named_children[0] if condition.type == "redirected_statement" else condition
    last = next(iter(reader.text(inner.named_children[-1]).split()), "") if inner.named_children else ""
    if inner.type != "pipeline" or last not in _SEARCH:
        return False
    value = reader.condition_value(reader.text(inner.named_children[0]))
    of_pod = {f"${name}" for name in reader.kept | reader.computed | reader.from_text}
    parts = [one.strip('"') for one in sources(value)]
    return reader.starts_program(inner) or any(reader.is_program(one) or one in of_pod for one in parts)


_LEAVES: Final = regex(r"\b(?:exit|return|break|continue)\b|(?<![\w$])[A-Za-z_]\w*\+?=")


def check_status(reader: BatchCommands, condition: Node, around: Node) -> None:
    """Name a condition about the status of a program, after which the pod goes on, or the other jobs that it starts."""
    check = reader.text(condition)
    if not reader.reads_status(check) or not reader.steps:
        return
    if condition.type != "test_command":
        reader.note_status([condition], around)
        return
    whole = condition.parent.parent if condition.parent and condition.parent.type == "elif_clause" else condition.parent
    submits = whole is not None and SUBMITS in map(reader.text, nodes_below(whole, "command_name"))
    if whole is not None and submits and not reader.starts_program(whole):
        reader.name_setup(whole)
        if not _LEAVES.search(reader.text(whole).replace(check, "")):
            return
    if reader.keeps_statuses and reader.decides(around):
        return  # the command has it
    known = reader.statuses | reader.of_shell_statuses
    name = next((one for one in known if one.isidentifier() and uses_of(one, check)), "")
    of = reader.steps[min(reader.status_of.get(name, len(reader.steps)), len(reader.steps)) - 1]
    if of.stops and not of.otherwise:
        return  # nothing is behind an error
    hint = "write `|| exit 1` behind the program, or the test into `command`"
    reader.leave(condition, f"the meaning of `{cut(check)}`", "the pod goes on after an error", hint)
    ends = whole is not None and _FAILS.search(reader.text(whole)) is not None
    acts = whole is not None and reader.starts_program(whole)
    reader.checks.append((reader.left[-1], len(reader.steps), "" if acts else "exit" if ends else "true"))
    reader.deciding_checks |= {reader.left[-1]} if reader.decides(around) else set()


_FAILS: Final = regex(r"\bexit\s+(?:[1-9]|\"?\$)")


def name_last_checks(reader: BatchCommands) -> None:
    """Name what a check of the last program means at the end of the script, which a pod ends with the same status."""
    for part, number, end in reader.checks:
        if part not in reader.left or number < len(reader.steps):
            reader.needs_statuses |= part in reader.deciding_checks and part in reader.left
            continue
        at = reader.left.index(part)
        if end == "exit" or (end and reader.ends_with_status):
            del reader.left[at]
            continue
        reader.needs_statuses |= part in reader.deciding_checks
        hint = "write `|| true` behind the program, if the run does without it" if end else "write it into `command`"
        why = "the script does not end with the error of the program, and the pod does"
        reader.left[at] = replace(part, why=why, hint=hint)


def join_behind(reader: BatchCommands, start: int, middle: int, *, moves: bool) -> None:
    """Join the first program behind `&&` with the one in front of it, or with `cd` if this `moves` there."""
    if middle < len(reader.steps):
        one = reader.steps[middle]
        entered = replace(one.entered, joins=True) if moves else one.entered
        reader.steps[middle] = replace(one, entered=entered, joined=one.joined or middle > start)
        if moves or middle > start:
            reader.steps[middle:] = in_joined_shell(reader.steps[middle:], reader.stops)
    elif start < middle == reader.entered.at and not moves:
        reader.entered = replace(reader.entered, joined=True)


def follow_second(
    reader: BatchCommands, parts: Sequence[Node], at: tuple[int, int], before: Mapping[str, Any], *, moves: bool
) -> None:
    """Follow what starts only if the program in front of `&&` succeeds. `at` has the numbers of programs before both,
    `before` is the state in front of the first one, to which this goes back if the second one ends the script.
    """
    start, middle = at
    if reader.loops and middle > start and reader.text(parts[1]).startswith("break"):
        why, hint = "it starts the program again after an error", "set `retries` of the job"
        reader.leave(parts[1], "the rest of the loop", why, hint)
    reader.follow_block(parts[1:2])
    if middle > start and reader.ended is not None and "srun" not in reader.with_functions(parts[1]):
        reader.restore(before)
        for one in nodes_below(parts[1], "command_name"):
            reader.keep_function(reader.text(one))
        start = len(reader.steps)
        reader.follow_block(parts[:1])
        middle = len(reader.steps)
        reader.as_it_is(parts[1])
    join_behind(reader, start, middle, moves=moves)


def end_behind(reader: BatchCommands, end: str, *, moves: bool) -> bool:
    """Keep `exit` behind the last program and `||`, or behind `cd`. False if the command of a pod cannot have it."""
    if "exit" not in end or (not moves and "\n" in reader.steps[-1].text):
        return False
    if moves:
        reader.entered = replace(reader.entered, otherwise=end)
    else:
        reader.steps[-1] = replace(reader.steps[-1], otherwise=end)
    return True
