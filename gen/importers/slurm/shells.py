"""Shells of a script, such as `( … )` and those of steps, in the command of a job, and the shell that it needs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from gen.base import regex
from gen.importers.draft import JobDraft, literal
from gen.importers.slurm.bash_text import expanded_part, without_heredocs
from gen.importers.slurm.expansion import ONE, START, is_known, marked
from gen.importers.slurm.images import named_images
from gen.importers.slurm.lines_of_runs import WIDE, line_of
from gen.importers.slurm.programs import BETWEEN, SUBMITTED, VARIABLE, Entered, Shell, is_below, way
from gen.importers.slurm.rank_shells import SOURCES
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.srun import word_of_folder
from gen.importers.slurm.steps import Run, is_of_pod, parts_of

_OF_WORDS: Final = regex(
    r"\$\{(?:!|#?(?:\w+|[@*])(?:\[|[/^,@]|:(?![-=+?])))|\*\*|\+\+|--\)\)|\$\(\((?:(?!\)\))[^\n])*?(?:\d#|,)"
    r"|[<>]\(|<<<|&>|\|&|;;?&|\$\[|\$'|(?<=[\s=(])\$\"|(?:\$\(|`)\s*<(?!<)|\bRANDOM\b"
    r"|\$\{?(?:BASH_\w+|EUID|EPOCH\w+|FUNCNAME|GROUPS|HOSTTYPE|LINENO|MACHTYPE|OSTYPE|PIPESTATUS|REPLY|SRANDOM)\b"
    r"|\b(?:function|mapfile|readarray|let|pushd|popd|shopt)\s"
)
_OF_TEXT: Final = regex(
    r"\[\[|(?<!\$)\(\(|\{\w+(?:\.\.|,)|\b(?:declare|typeset)\b|\w(?:\[[^]\s]+\])?=\("
    r"|\b(?:source|builtin|pipefail|SECONDS|BASHPID|UID)\b|(?<=\s)\[\^"
    r"|(?<![\w./-])(?:\[|test)\s(?:[^\n\];&|]*?\s==(?=\s)|\s*(?:!\s+)?-[vNaoR]\s)"
    r"|>&(?!\d|-|\$\w+\b(?![./]))(?![ \t]*[\d-])|(?<!\S)\d\d+[<>]|(?<![$\w])\{\w+\}[<>]"
    r"|(?m:^)\s*\w*[.-][\w.-]*\s*\(\)\s*[{(]"
)
_START: Final = r"(?:^|[;&|{`!\n]|(?<!\()\(|\b(?:then|do|else|elif|if|while|until)\s)[ \t]*(?:[A-Za-z_]\w*=\S*[ \t]+)*"
"""Text that can precede a command of the shell."""
_OF_COMMANDS: Final = regex(
    rf"{_START}(?:(?:caller|compgen|coproc|dirs|disown|enable|select|time)(?![\w./=-])|\.[ \t]+[\w.-]+(?![\w./-])"
    r"|[A-Za-z_]\w*(?:\[[^]\s]+\])?\+=|[A-Za-z_]\w*\[[^]\s]+\]=|wait\s+-|type\s+-|(?:local|readonly)\s+-\w|exec\s+-[acl]"
    r"|read(?:\s+-[rp]+)*(?:\s+-\w*[acdegintsuN]|\s*(?=[;<\n)]|$))|export\s+(?:-[fn]|\w+\+=)"
    r"|unset\s+(?:-n|\w+\[)|ulimit\s+(?:-[SH]+\s+)?-\w*[^\WHSacdflmnprstvw]"
    r"|set\s+(?:[-+]\w+\s+)*(?:[-+]\w*[BHPThkt]|[-+]o\s+(?:errtrace|functrace|posix|braceexpand|histexpand))"
    r"|kill\s+(?:-s\s+|-)SIG|trap\s[^\n]*?\s(?:SIG[A-Z]+\d?|ERR|DEBUG|RETURN)\b)"
)
_OF_OUTPUT: Final = regex(
    rf"{_START}(?:printf\s+(?:-v|[^\n;|]*?(?:%[q(]|\\x))|echo\s+(?:-\w*[eE]"
    r"|(?:[^\n;|\"']|\"[^\"\n]*\"|'[^'\n]*')*?(?:\"(?:[^\"\\\n]|\\[\"$`])*|'[^'\\\n]*)\\[\\abcefnrtv0]))"
)
"""Syntax of bash in a construct that stays, and commands and options that `sh` of Debian and Ubuntu lacks."""
_COMMENTS: Final = regex(r"(?m)(?:^|[ \t])#[^\n\"'`]*$")


def needs_bash(text: str, parts: Iterable[str]) -> bool:
    """Whether a construct, or a part of a word, has syntax that sh lacks."""
    for one in (text, *parts):
        read = expanded_part(_COMMENTS.sub("", one))
        if _OF_WORDS.search(read):
            return True
        is_text, read = not one.startswith(("$((", "${")), without_heredocs(read)
        if is_text and (_OF_TEXT.search(read) or _OF_COMMANDS.search(read) or _OF_OUTPUT.search(without_heredocs(one))):
            return True
    return False


def starts_unknown(script: BatchScript, run: Run) -> bool:
    """Whether only a variable of the image names a program, or a word of bash such as `source`."""
    name = ONE.fullmatch("".join(run.words[:1]))
    return name is not None and not {name[1]} & {*script.from_text, *script.kept, *script.exported, *script.constants}


_ENTERS: Final = regex(r"(?m)(?:^|[;&|({])\s*(?:cd|pushd)\s")
"""A text that changes the folder of its shell."""
_EXITS: Final = regex(r"(?:^|[\s;&|{(])exit\b(\s+[1-9])?")
_PIPE: Final = regex(r"(?<!\|)\|(?!\|)")
_DECIDES: Final = regex(r"\|\||&&|\$\?|(?:^|[\s;&|(])(?:if|elif|while|until|!)\s")
_WITH_PIPES: Final = "o pipefail"
"""The end of `set -eo pipefail` and `set -o pipefail`."""


def with_shells(draft: JobDraft, runs: Sequence[Run]) -> list[Run]:
    """The programs in those shells only that the command needs: others end with it, or do not change what follows."""
    made, needed = [*runs], set[Shell]()
    for shell in dict.fromkeys(one for run in runs for one in run.shells):
        at = [number for number, run in enumerate(runs) if shell in run.shells]
        first, last, behind = at[0], at[-1], runs[at[-1] + 1 :]
        end, several = runs[last], len(at) > 1
        ended = [one[1] for run in runs[first : last + 1] for one in _EXITS.finditer(f"{run.text}\n{_end(run, end)}")]
        stops = several and any(runs[number].stops for number in at[:-1]) and not end.stops
        ends_all = end.stops or end.otherwise.startswith("exit")
        ends_itself = behind != [] and (None in ended or (not ends_all and (stops or ended)))
        # a failure in front of `&&` does not end the script, but that of a shell does
        hides = end.joined and end.stops is True and not (end.otherwise or any(one.joined for one in behind[:1]))
        ends_itself = ends_itself or (hides and several and behind != [])
        others = {_key(one) for one in (*runs[:first], *behind)}  # behind `cd` outside
        guarded = any(runs[number].entered.is_guarded and _key(runs[number]) not in others for number in at)
        changes = any(runs[number].text.startswith(SOURCES) or _ENTERS.search(runs[number].text) for number in at)
        ends_itself = (
            ends_itself or (guarded and behind != []) or (shell.joined and several) or (changes and behind != [])
        )
        if in_background := shell.in_background and end.background and several:
            what, why = "the background of all but the last program", "they start one by one"
        else:
            what, why = "the shell around programs that end it", "they end the pod"
        tested = stops and any(one.joined for one in behind[:1]) and not in_background  # where `set -e` does nothing
        if (in_background or ends_itself) and (len(at) <= last - first or tested):
            draft.drop(end.place, what, why, "write them as `( … )` into `command`")
        elif in_background or ends_itself:
            needed.add(shell)
        if hides and all(runs[number].joined for number in at[1:]):
            made[first : last + 1] = [replace(one, stops=end.stops) for one in made[first : last + 1]]
        elif several and (shell in needed or not behind):
            made[last] = replace(made[last], stops=runs[at[-2]].stops)
    return [replace(one, shells=tuple(shell for shell in one.shells if shell in needed)) for one in made]


def _end(run: Run, last: Run) -> str:
    """What ends the shell of a program. The end behind the last one is of the shell around it."""
    return "" if run is last else run.otherwise


def with_stops(script: BatchScript, runs: Sequence[Run]) -> list[Run]:
    """The programs with `set -e` and `set +e` where the script has them, if more than one program follows."""
    of_script = (f"{one.text} {one.output[0]}" for one in runs if one.stops is not None)
    on = f"set -e{_WITH_PIPES}" if script.pipes_fail and any(map(_PIPE.search, of_script)) else "set -e"
    made, now, around = list[Run](), False, list[tuple[Shell, bool]]()
    for at, run in enumerate(runs):
        while around and around[-1][0] not in run.shells:
            _, now = around.pop()
        for depth in range(len(around), len(run.shells) + 1):
            outside, inside = run.shells[:depth], run.shells[depth : depth + 1]
            rest = [one for one in runs[at:] if one.shells[:depth] == outside]
            given = (*(one.stops for one in inside), *(one.stops for one in rest))
            stops = now if "$?" in run.text and not inside else next((one for one in given if one is not None), now)
            if (
                stops is not now
                and sum(not one.joined and one.words[:1] not in (("wait",), ("sleep",)) for one in rest) > 1
            ):
                now = stops
                made.append(Run(words=(), text=on if now else "set +e", place=run.place, shells=outside))
            around += [(one, now) for one in inside]
        behind = runs[at + 1 : at + 2]  # none for the last program, with whose status the pod ends
        idle = run.otherwise == "true" and not now and any(not one.joined for one in behind)
        made.append(replace(run, otherwise="") if idle else run)
    if script.pipes_fail and not made[0].text.endswith(_WITH_PIPES) and _reads_pipes(runs):
        made.insert(0, Run(words=(), text=f"set -{_WITH_PIPES.strip()}", place=runs[0].place))
    return made


def _reads_pipes(runs: Sequence[Run]) -> bool:
    """Whether the status of a pipe of the script decides what follows, or is that of the pod."""
    for at, run in enumerate(runs):
        if run.stops is not None and _PIPE.search(f"{run.text} {run.output[0]}"):
            behind = runs[at + 1 : at + 2]
            decides = run.otherwise or _DECIDES.search(run.text)
            if decides or not behind or any(one.joined or "$?" in one.text for one in behind):
                return True
    return False


def lines_of_shells(runs: Sequence[Run]) -> list[Run]:
    """The programs as lines, with those of a shell in brackets."""
    made: list[Run] = []
    for shells, some in groupby(runs, key=lambda one: one.shells[:1]):
        members = [*some]
        if not shells:
            made += members
            continue
        first, last = members[0], members[-1]
        end = replace(last, otherwise="", shells=last.shells[1:])
        is_behind = shells[0].in_background and last.background
        end = replace(end, background=False) if is_behind else end
        inner = [*(replace(one, shells=one.shells[1:]) for one in members[:-1]), end]
        inner[0] = replace(inner[0], joined=False)
        lines = lines_of_shells(inner)
        texts = [line_of(one) for one in lines]
        whole = Run(text=")", place=last.place, background=is_behind, otherwise=last.otherwise)
        if not re.search(r"[\n#]", "".join(texts)) and len("; ".join(texts)) < WIDE and "(" not in texts:
            text = texts[0]
            for one, line in zip(lines[1:], texts[1:], strict=True):
                text += f"{' &&' if one.joined else '' if text.endswith('&') else ';'} {line}"
            made.append(replace(whole, text=f"({text})", place=first.place, joined=first.joined))
            continue
        made.append(Run(text="(", place=first.place, joined=first.joined))
        for one, line in zip(lines, texts, strict=True):
            is_plain = re.search(r"<<|['\"]", line.replace("\\\n", "")) is None or "\n" not in line.replace("\\\n", "")
            text = line.replace("\n", "\n  ") if is_plain else line
            made.append(Run(text=f"  {text}", place=one.place, joined=one.joined))
        made.append(whole)
    return made


def _key(run: Run) -> tuple[int, str]:
    """The command `cd` in front of a program, also one of the same line."""
    return id(run.entered.place), run.folder


def _of_all(shells: Sequence[tuple[Shell, ...]]) -> tuple[Shell, ...]:
    """The shells around all programs."""
    first, *others = shells
    return tuple(one for at, one in enumerate(first) if all(first[: at + 1] == other[: at + 1] for other in others))


def _is_relative(run: Run) -> bool:
    """Whether `mkdir` makes folders below that of now."""
    return run.words[:1] == ("mkdir",) and any(not one.startswith(("-", "/")) for one in run.words[1:])


def _makes_below(run: Run) -> bool:
    """Whether `mkdir` makes folders below that of now, and fails if another pod has made them."""
    return "-p" not in run.words and _is_relative(run)


def _removes_all(run: Run) -> bool:
    """Whether a program removes all files of its folder."""
    return run.words[:1] == ("rm",) and not {marked("*"), f"./{marked('*')}"}.isdisjoint(run.words)


def _report_unknown(draft: JobDraft, script: BatchScript, run: Run, now: str, *, removes: bool) -> None:
    """Report a folder that no pod has; the job stays in the folder `now`."""
    place, name = run.entered.place or run.place, next(iter(VARIABLE.findall(run.folder)), "")
    what = f"the folder of `{word_of_folder(script, place)}`"
    hint = f"give it with `--define {name}=VALUE`" if name else "write its path into the script"
    if now or removes:
        why = f"the job is in `{now}`" if now else "the job would remove files of its own folder"
        draft.cannot_run(place, f"{what} is known only on the machines, and {why}", hint)
    else:
        hint = "set `workingDir` to the folder in the image or in `code`"
        draft.drop(place, what, "it is known only on the machines", hint)


def in_folders(draft: JobDraft, script: BatchScript, runs: list[Run]) -> list[Run]:
    """The programs in the folders of `cd`: a field for the first one, or commands."""
    if script.origin != START and not named_images(script):  # a container has a folder of its own
        draft.fields.setdefault("workingDir", literal(script.origin))
    started = [one for one in runs if one.words[:1] not in BETWEEN]
    made: list[Run] = []
    before = now = lost = ""
    given = {*script.indexed, *script.from_text, *(one.sets for one in runs)}
    around: list[tuple[Shell, str, str]] = []  # the shells of now, with the folders in front of them
    seen = set[tuple[int, str]]()  # the commands `cd` of now, behind which a folder can be that of before
    start = SUBMITTED[1:] if any(SUBMITTED in part for one in runs for part in (one.text, *parts_of(one))) else ""
    makes = any(not one.folder.startswith("/") and _makes_below(one) for one in runs)
    returns = start or makes or any(not one.folder.startswith("/") for one in started)
    for run in runs:
        folder, place = "" if run.folder == "." else run.folder, run.entered.place or run.place
        while around and around[-1][0] not in run.shells:
            _, before, now = around.pop()
        around += [(one, before, now) for one in run.shells[len(around) :]]
        if (run not in started and not _is_relative(run)) or folder in (now, lost or now):
            made.append(replace(run, joined=run.joined or (run.entered.joins and folder == now)))
            continue
        lost, path = "", way(now, folder)
        if folder.startswith("-") or not is_of_pod(folder, given):
            lost = folder
            _report_unknown(
                draft, script, run, now, removes=any(_removes_all(one) for one in runs if one.folder == folder)
            )
            made.append(run)
            continue
        if (
            folder.startswith("/")
            and is_known(folder)
            and started[:1]
            and not (now or returns)
            and folder == started[0].folder
        ):
            draft.set(literal(folder), "workingDir", place=place)
            around = [(one, before, folder) for one in run.shells]
            made.append(run)
        else:
            target = path or folder
            if path is None and is_below(folder):
                start = start or ("" if before == "" else SUBMITTED[1:])
                target = posixpath.join(marked(f"${start or 'OLDPWD'}"), folder).rstrip("/")
            entered = run.entered if _key(run) not in seen else Entered()
            shells = _of_all([one.shells for one in runs if one is run or (entered.place and _key(one) == _key(run))])
            inside = next((at for at, one in enumerate(shells) if one.joined and entered.joins), len(shells))
            shells = shells[:inside]
            step = Run(words=("cd", target), place=place, shells=shells, otherwise=entered.otherwise)
            made.append(replace(step, joined=run.joined or entered.joined))
            made.append(replace(run, joined=run.joined or entered.joins))
            around[len(shells) :] = [(one, now, folder) for one, _, _ in around[len(shells) :]]
        seen.add(_key(run))
        before, now = now, folder
    return [*([Run(words=(), text=f"{start}=$PWD", place=runs[0].place)] if start else ()), *made]
