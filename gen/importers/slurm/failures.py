"""Behaviour of a script and its job after a program that fails: both run again in the sandbox, and one program fails.

A program that both start fails, the first time of each task. Then both must start the same programs as each other, and
end with an error if the other one does. There are at most as many runs as the comparison without errors needs.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from gen.base import Diagnostic, regex
from gen.importers import ImportedJob
from gen.importers.sandbox import BATCH, Record, Recording
from gen.importers.slurm.lines import command_at, start_of
from gen.importers.slurm.started import SHOWN, Program, both, first_difference, text_of

Runs = Callable[[list[str], list[str]], tuple[Recording, Recording]]
"""Runs the script and the job with these programs that fail."""
Pair = tuple[Program, Program]

_TEST: Final = regex(
    r"\|\||&&|\$\{?\?|PIPESTATUS|pipefail|(?m:(?:^|[;({|])[ \t]*(?:if|while|until|case|trap|wait|!)\b)"
    r"|\bset[ \t]+-\w*e|\b(?:ba|da)?sh[ \t]+-\w*e|--kill-on-bad-exit"
)
_OF_COMMAND: Final = regex(r"\|\||&&|(?m:^[ \t]*(?:(?:if|elif|while|until)\b|![ \t]))")
"""Tests of the status of a command where it is."""
_OF_NO_STATUS: Final = regex(r"the (?:rank|value|variable|folder|relative folder|installation|output|number|single) ")
_ABOUT_STATUS: Final = regex(
    r"after an error|starts the next one|ends with it|\bstatus\b|`set |`trap |`wait\b|pipefail"
)


class Failure(Struct, frozen=True):
    """What differs after a program of a line fails. `until` is the line of the program that only one of both starts."""

    line: int
    text: str
    until: int


def failures(
    text: str, job: ImportedJob, originals: Sequence[Recording], imported: Sequence[Recording], fail: Runs
) -> Iterator[Failure]:
    """The differences after the programs that fail, one after another."""
    command = job.fields.get("command", "")
    if not all(one.ended for one in (*originals, *imported)):
        return
    if not any(_TEST.search(one) for one in (text, command if isinstance(command, str) else " ".join(command))):
        return
    pairs = _pairs(job, originals, imported)
    groups: dict[tuple[int, str], list[Pair]] = {}
    for pair in pairs:
        record = pair[0].record
        if record.line and record.words[0] != "mpirun":
            groups.setdefault((record.line, record.words[0]), []).append(pair)
    left = sum(one.runs for one in (*originals, *imported))
    for group in sorted(groups.values(), key=lambda one: not _is_tested(text, one[0][0].record.line)):
        left -= 2
        if left < 0:
            return
        of_pods = _everywhere(group, imported[0])
        script, pod = fail([_key(one.record) for one, _ in group], [_key(one) for one in of_pods])
        if script.failed and pod.failed and script.ended and pod.ended:
            tasks = {one.task for one in of_pods}
            compared = [pair for pair in pairs if tasks & {BATCH, pair[1].record.task}]
            is_hidden = not script.tested or _OF_COMMAND.search(command_at(text, group[0][0].record.line)) is None
            found = _difference(group[0][0], compared, (originals[0], script), (imported[0], pod), is_hidden=is_hidden)
            yield from [found] if found is not None else []


def explains_failure(finding: Diagnostic, text: str, failure: Failure) -> bool:
    """Whether a finding is about the status of a program, or about a line between the program and what differs."""
    last = max(failure.until, failure.line + command_at(text, failure.line).count("\n"))
    is_between = start_of(text, failure.line) <= finding.place.line <= last
    if is_between and not _OF_NO_STATUS.match(finding.message):
        return True
    return _ABOUT_STATUS.search(f"{finding.message}; {finding.hint}") is not None


def _is_tested(text: str, line: int) -> bool:
    """Whether the script tests the status of a command, or begins with a test."""
    return _TEST.search("\n".join([command_at(text, line), *text.split("\n")[line : line + 1]])) is not None


def _pairs(job: ImportedJob, originals: Sequence[Recording], imported: Sequence[Recording]) -> list[Pair]:
    """The programs that both start, in the order of the script. The first task has those of the batch part."""
    before, after = both(originals), both(imported)
    pairs = []
    for program in before:
        task = max(program.record.task, 0)
        mine = (one for one in after if max(one.record.task, 0) == task)
        same = next((one for one in mine if first_difference(job, program, one) is None), None)
        if same is not None:
            after.remove(same)
            pairs.append((program, same))
    return pairs


def _everywhere(group: Sequence[Pair], imported: Recording) -> list[Record]:
    """The programs that fail in the pods. One of the batch part fails in each pod that starts it."""
    same = {(other.record.task, other.record.words) for _, other in group}
    words = {other.record.words for one, other in group if one.record.task == BATCH}
    return [one for one in imported.records if (one.task, one.words) in same or one.words in words]


def _key(record: Record) -> str:
    """A program as the recorder compares it."""
    return f"{record.task} {' '.join(record.words)}".replace("\n", " ")


def _difference(
    failed: Program,
    pairs: Sequence[Pair],
    script: tuple[Recording, Recording],
    pod: tuple[Recording, Recording],
    *,
    is_hidden: bool,
) -> Failure | None:
    """The first difference; None if there is none. `is_hidden` is whether no test of the script keeps it from ending
    with an error.
    """
    line, if_failed = failed.record.line, f"if `{text_of(failed)}` fails"
    (lost, more), (lost_in_job, others) = _changes(*script), _changes(*pod)
    mine, theirs = ({id(one) for one in every} for every in (lost, lost_in_job))
    for one, other in pairs:
        of_script, of_job = id(one.record) in mine, id(other.record) in theirs
        if of_script != of_job:
            text = _said("job", "script", one.record) if of_script else _said("script", "job", one.record)
            return Failure(line, f"{if_failed}, {text}", one.record.line)
    more, others = ([one for one in every if one.task in (BATCH, 0)] for every in (more, others))
    for first, second, left, right in (("script", "job", more, others), ("job", "script", others, more)):
        names = Counter(map(_name, left)) - Counter(map(_name, right))
        if names:
            said = _said(first, second, next(one for one in left if _name(one) in names))
            return Failure(line, f"{if_failed}, {said}", line)
    if any(script[0].statuses.values()) or any(pod[0].statuses.values()):
        return None
    ends, pod_ends = any(script[1].statuses.values()), any(pod[1].statuses.values())
    if ends == pod_ends or (pod_ends and is_hidden):
        return None  # a pod ends with the error of its last program, also if `tee` or `echo` behind it hides it
    first, second = ("script", "job") if ends else ("job", "script")
    return Failure(line, f"{if_failed}, the {first} ends with an error, and the {second} does not", line)


def _said(first: str, second: str, record: Record) -> str:
    return f"the {first} starts `{' '.join(record.words)[:SHOWN]}`, and the {second} does not"


def _name(record: Record) -> str:
    return posixpath.basename(record.words[0])


def _changes(before: Recording, after: Recording) -> tuple[list[Record], list[Record]]:
    """The programs that do not start after a failure, and those that only start then. One with other arguments is none
    of both.
    """
    lost, more = _surplus(before, after), list[Record]()
    for one in _surplus(after, before):
        same = next((other for other in reversed(lost) if (other.task, _name(other)) == (one.task, _name(one))), None)
        if same is None:
            more.append(one)
        else:
            lost = [other for other in lost if other is not same]
    return lost, more


def _surplus(recording: Recording, other: Recording) -> list[Record]:
    """The programs that the other recording does not have, or not as often. `mpirun` starts others in each task."""
    left = Counter(map(_key, other.records))
    surplus = []
    for one in (one for one in recording.records if one.words[0] != "mpirun"):
        left[_key(one)] -= 1
        if left[_key(one)] < 0:
            surplus.append(one)
    return surplus
