"""Words that change the shell, or how a command runs: each has a function."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.base.shell_script import assigned_in
from gen.importers.slurm.background import kill, wait
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.batch_commands import OF_SHELL, BatchCommands
from gen.importers.slurm.expansion import MARKED, RUN, marked, shown, source_text, sources
from gen.importers.slurm.images import copied_image, rooted
from gen.importers.slurm.outputs import FOLDER_OF_SCRIPT, SHOWS_FILES, STARTS_SCRIPT
from gen.importers.slurm.programs import Called, Entered, Step, formatted, joined
from gen.importers.slurm.site import (
    ACTIVATE,
    CONDA,
    OF_NO_FILE,
    OF_NODES,
    OF_STATE,
    ONLY_SHOWS,
    SETUP,
    SILENT,
    SILENT_IN_TASKS,
    SUBMITS,
    of_setup,
    shows_node,
)
from gen.importers.slurm.texts import follow_eval, follow_shell, follow_text
from gen.importers.slurm.traps import follow_trap
from gen.importers.slurm.variable_files import lost_variables

if TYPE_CHECKING:
    from tree_sitter import Node

_COLOR: Final = regex(r"\\(?:033|e|x1b)\[[\d;]*m|\\n")
_OF_READING: Final = names("n noexec k keyword t onecmd expand_aliases lastpipe")
_OF_PATTERNS: Final = names("noglob nullglob failglob dotglob extglob globstar nocaseglob")
_ASSIGNS: Final = regex(r"[A-Za-z_]\w*=")


def follow_word(reader: BatchCommands, called: Called) -> bool:
    """Follow a command by its first word. False if it is a program of the run."""
    return _WORDS.get(called.program, _shows)(reader, called)


def _srun(reader: BatchCommands, called: Called) -> bool:
    hint = "start each one with an `srun` of its own"
    if ":" in called.words:
        reader.refuse(called.place, "`srun` starts several components behind `:`", hint)
    if "--multi-prog" in called.words:
        reader.refuse(called.place, "a file of `srun` names its programs", hint)
    first = source_text("".join(called.words[1:2])).strip('"')
    is_output = first.startswith("$(") and not first.startswith("$((")
    if is_output or first.removeprefix("$") in reader.from_text or re.match(r"\$\{\w+[%#/]", first):
        reader.refuse(called.place, f"only a shell knows the options `{cut(first)}` of `srun`", "write their values")
    if reader.in_task:
        reader.refuse(called.place, "`srun` behind `srun` does not work in a pod", "remove one of them")
    else:
        reader.add(Step(options=called.words[1:], place=called.place, by_srun=True, assigned=called.assigned))
    return not reader.in_task


def _env(reader: BatchCommands, called: Called) -> bool:
    """`env A=1 PROGRAM`; without a program, it shows the variables."""
    words = called.words
    at = next((number for number, one in enumerate(words) if number and not _ASSIGNS.match(one)), 0)
    if not at or "srun" in words or words[at].startswith("-"):
        return not at or _around(reader, called)
    if words[at] in OF_SHELL:
        what = f"`{cut(called.text)}`"
        return reader.drop(called, what, f"`{words[at]}` is not a program, but a word of the shell", "remove `env`")
    pairs = ((name, value) for name, _, value in (one.partition("=") for one in words[1:at]))
    reader.run(called.place, [*words[at:]], (*called.assigned, *pairs))
    return True


def _around(reader: BatchCommands, called: Called) -> bool:
    """A program that starts `srun`, whose tasks do without it."""
    words, place = called.words, called.place
    if "srun" not in words[:6] or reader.in_task:
        return False
    what, hint = f"`{called.program}` around `srun`", "set `timeout` of the job, or write it into `command`"
    reader.drop(called, what, "each pod starts the program itself", hint)
    reader.run(place, [*words[words.index("srun") :]], called.assigned)
    return True


def _set(reader: BatchCommands, called: Called) -> bool:
    """`set -- ARGUMENTS`, and options of the shell."""
    words = [*called.words[1:]]
    while words and words[0][:1] in ("-", "+") and len(words[0]) > 1:
        option = words.pop(0)
        if option == "--":
            reader.set_arguments(words)
            return _shows(reader, called)
        names = {words.pop(0)} if "o" in option and words else set[str]()
        _switch(reader, called.place, option.startswith("-"), {*option[1:]} - {"o"} | names)
    if words := words[words[:1] == ["-"] :]:
        reader.set_arguments(words)
    return _shows(reader, called)


def _switch(reader: BatchCommands, place: Location, on: bool, options: set[str]) -> None:
    """Follow options of `set` and `shopt` that change variables, patterns, or how the shell reads what follows."""
    if options & {"a", "allexport"}:
        reader.exports_all = on
    if options & {"e", "errexit"}:
        reader.stops = on
    if "pipefail" in options:
        reader.pipes_fail = on
    if on and (found := sorted(options & _OF_READING)):
        reader.refuse(place, f"gen does not follow the option `{found[0]}` of the shell", "remove it")
    if found := sorted((options | {"noglob"} if "f" in options else options) & _OF_PATTERNS):
        reader.matching = found[-1] if on else ""


def _shopt(reader: BatchCommands, called: Called) -> bool:
    _switch(reader, called.place, "-s" in called.words, {*called.words})
    return _shows(reader, called)


def _let(reader: BatchCommands, called: Called) -> bool:
    for one in called.words[1:]:
        reader.calculate(one)
    return True


def _export(reader: BatchCommands, called: Called) -> bool:
    """`export NAME=VALUE` that other words make, such as those of an array."""
    for name, sign, value in (one.partition("=") for one in called.words[1:] if not one.startswith("-")):
        if sign:
            reader.assign(name, value)
        reader.exported.setdefault(name, called.place)
    return True


def _printf(reader: BatchCommands, called: Called) -> bool:
    """`printf -v NAME FORMAT WORD…`."""
    match called.words:
        case (_, "-v", name, form, *words):
            if (text := formatted(form, words)) is None:
                reader.forget(name)
            else:
                reader.variables[name] = text
            return True
    return _shows(reader, called)


def _shift(reader: BatchCommands, called: Called) -> bool:
    number = "".join(called.words[1:2]) or "1"
    if not number.isdecimal():
        reader.drop(called, f"`{cut(called.text)}`", "gen cannot compute its number", "write the number")
    elif 0 < int(number[:6]) <= len(reader.arguments):
        reader.set_arguments(reader.arguments[int(number) :], has_more=reader.has_more)
    return True


def _leave(reader: BatchCommands, called: Called) -> bool:
    """`break`, `continue` and `return`, which do nothing outside of loops and functions."""
    number = "".join(called.words[1:2])
    if reader.loops or (called.program == "return" and reader.hidden is not None):
        reader.leaving = called.program, int(number[:3]) if number.isdecimal() else 1
    return True


def _sleep(reader: BatchCommands, called: Called) -> bool:
    """A pause, which a program in the background may need."""
    if not any(one.starts_in_background for one in reader.steps):
        return _shows(reader, called)
    reader.start(called.words, called)
    return True


def _kill(reader: BatchCommands, called: Called) -> bool:
    return kill(reader, called) or _shows(reader, called)


def _in_place(reader: BatchCommands, called: Called) -> bool:
    """`exec`, `coproc`, `command` and `builtin`, with a program."""
    if called.words[1:] and not called.words[1].startswith("-"):
        reader.run(called.place, [*called.words[1:]], called.assigned)
        background = called.words[0] == "coproc"
        reader.steps[-1:] = [replace(one, background=background) for one in reader.steps[-1:]]
        reader.ended = (called.place, "") if called.words[0] == "exec" else reader.ended
    return True


def _exit(reader: BatchCommands, called: Called) -> bool:
    reader.fails = "".join(called.words[1:2]).lstrip("0")
    if reader.fails or not reader.in_task:
        reader.ended = called.place, _message(reader, called.place.line) if reader.fails else ""
    return True


_OF_ERROR: Final = regex(r"(?i)error|fail|missing|must|required|not (?:set|found|defined)|unset|usage|invalid|unknown")


def _message(reader: BatchCommands, line: int) -> str:
    """The message with which a script ends: of the lines before its end, the first about an error, or the last."""
    told: list[str] = []
    for at, text in reversed(reader.said):
        if line - at > 1:
            break
        told.insert(0, text)
        line = at
    told = [one for one in told if one] or [text for _, text in reader.said[-1:]]
    return next((one for one in told if _OF_ERROR.search(one)), "".join(told[-1:]))


def _cd(reader: BatchCommands, called: Called) -> bool:
    now, target = reader.folder, "".join(one for one in called.words[1:] if one == "-" or not one.startswith("-"))
    if called.program == "popd" and not reader.pushed:
        return True
    folder = joined(now, target or reader.value("$HOME"))
    if called.program == "popd":
        folder = reader.pushed.pop()
    elif target == "-" and reader.folder_before is not None:
        folder = reader.folder_before
    elif called.program == "pushd":
        reader.pushed.append(now)
    before = reader.entered if reader.entered.at == len(reader.steps) else Entered()
    reader.entered = replace(before, place=called.place, at=len(reader.steps))
    reader.folder, reader.folder_before = folder, now
    return True


def name_folder(reader: BatchCommands, node: Node) -> None:
    """Name the folder of the script, which is that of the job here, if the script reads more than its name."""
    if FOLDER_OF_SCRIPT in reader.asked and re.search(r"\bdirname\b|%/", reader.source):
        why = "it counts as that of the job, and behind `sbatch a/b.sh` they differ"
        hint = "set `workingDir` to it, or write the paths from the folder of the job"
        reader.leave(node, FOLDER_OF_SCRIPT, why, hint)
    reader.asked.discard(FOLDER_OF_SCRIPT)


def _of_nodes(reader: BatchCommands, called: Called) -> bool:
    if (copied := copied_image(called.words)) is not None:
        reader.copies[rooted(reader.local(copied[0]))] = copied[1]
    return reader.drop(called, f"`{called.text}`", *of_setup(called.text))


def _sbatch(reader: BatchCommands, called: Called) -> bool:
    reader.submit(called.place, called.words)
    return True


def _ssh(reader: BatchCommands, called: Called) -> bool:
    """A program on another node, which is left out if it only shows something of it."""
    return shows_node(called.text) and reader.drop(called, f"`{cut(called.text)}`", *ONLY_SHOWS)


def _sbcast(reader: BatchCommands, called: Called) -> bool:
    """A file that Slurm copies to each node, as each pod copies it."""
    match [one for one in called.words[1:] if not one.startswith("-")]:
        case [source, target]:
            start = ("cp", source, target)
            by_srun = Step(options=("--ntasks-per-node=1", *start), place=called.place, by_srun=True)
            reader.add(Step(words=start, place=called.place) if reader.in_task else by_srun)
            image = reader.copies.get(rooted(reader.local(source)))
            reader.copies |= {rooted(reader.local(target)): image} if image is not None else {}
    reader.broadcasts[called.place] = cut(called.text)
    return True


def _conda(reader: BatchCommands, called: Called) -> bool:
    return called.words[1:2] != ("run",) and reader.drop(called, f"`{called.text}`", *of_setup(called.text))


_MAKES_ENVIRONMENT: Final = regex(
    r"(?:^|[\s;/])(?:python[\d.]* (?:-\S+ )*-m (?:venv|virtualenv)|virtualenv|uv venv)(?=\s|$)"
)


def _makes(step: Step, folder: str) -> bool:
    """Whether a program, or one in a construct, makes the virtual environment in a folder."""
    text = step.text or " ".join(step.words)
    behind = (word.rstrip(";") for word in text.split()) if step.text else step.words
    made = {joined(step.folder, word) for word in (*behind, *((".venv",) if text == "uv venv" else ()))}
    return folder in made and _MAKES_ENVIRONMENT.search(text) is not None


def _source_written(reader: BatchCommands, called: Called, file: str) -> bool:
    """Follow the text of a file that the script has written, or let the pod read that which it writes."""
    text = reader.text_of_file(file) if not called.words[2:] else None
    if text is not None:
        follow_text(reader, text, called.place)
        return True
    path = posixpath.normpath(reader.local(file))
    if all(posixpath.normpath(one) != path for one in reader.of_pod):
        return False
    names = assigned_in("\n".join(one.text for one in reader.steps if file.removeprefix("./") in one.text))
    reader.from_text |= {*names}
    reader.variables |= {name: marked(f"${name}") for name in names}
    reader.add(Step(text=f". {shown(file if '/' in file else f'./{file}')}", place=called.place))
    return True


def _source(reader: BatchCommands, called: Called) -> bool:
    file = "".join(called.words[1:2])
    folder = joined(reader.folder, file.removesuffix(ACTIVATE))
    if file.endswith(ACTIVATE) and any(_makes(one, folder) for one in reader.steps):
        reader.add(Step(text=f"source {shown(file)}", place=called.place))
        return True
    if SETUP.search(called.text):
        return _conda(reader, called)
    if _source_written(reader, called, file):
        return True
    if reader.in_image and not called.words[2:]:
        reader.add(Step(text=f"source {shown(file)}", place=called.place))
        return True
    if lost := lost_variables(reader, f"source {shown(file)}", called.place):
        reader.left += lost
        return True
    hint = "put the file into the image, or write its variables as `env`"
    return reader.drop(called, f"the file `{shown(file)}`", OF_NO_FILE, hint)


def _shows(reader: BatchCommands, called: Called) -> bool:
    """A program that only shows something."""
    program, text = called.program, " ".join(shown(MARKED.sub("…", one)) for one in called.words)
    if program not in SILENT or (reader.in_task and program not in SILENT_IN_TASKS):
        return False
    line = reader.source.split("\n")[called.place.line - reader.first_line :][:1]
    if not reader.in_task and SHOWS_FILES.match("".join(line)):
        reader.shown.append((len(reader.steps), reader.placed(Step(words=called.words, place=called.place))))
    if program in ("echo", "printf"):
        said = _COLOR.sub("", source_text(" ".join(called.words[1:]).replace(RUN, "…")))[:200].strip()
        reader.said.append((called.place.line, said.removeprefix("-e ")))
    for part in dict.fromkeys(sources(" ".join(called.words))):
        if (started := STARTS_SCRIPT.match(part.strip('"'))) is not None:
            hint = "write both into `command`, if the run or its log needs them"
            reader.drop(called, f"`{cut(source_text(started[1]))}`", "the script only shows its output", hint)
    parts = (one.strip('"') for one in sources(" ".join(called.words)))
    unset = [one for one in parts if one[1:] in reader.early]
    if program == ":" and unset:
        reader.needed_values.append(unset[0].strip("${}"))
        hint = f"give it with `--define {unset[0].strip('${}')}=VALUE`, if the job needs it"
        reader.drop(called, f"the check of `{unset[0]}`", "the script gets it from outside", hint)
    elif program == "umask" and called.words[1:]:
        hint = "write it into `command`, if others use the files of the job"
        reader.drop(called, f"`{cut(text)}`", "a pod has that of its image", hint)
    elif program == "ulimit" and any(not one.startswith("-") for one in called.words[1:]):
        hint = "write it into `command`, if the limits of its nodes are too low"
        reader.drop(called, f"`{cut(text)}`", "a pod has those of its node", hint)
    elif (reader.in_task and program not in ("true", ":", "set", "echo")) or program in OF_STATE:
        reader.drop(called, f"`{cut(text)}`", *ONLY_SHOWS)
    return True


_WORDS: Final[Mapping[str, Callable[[BatchCommands, Called], bool]]] = {
    "srun": _srun,
    "env": _env,
    **dict.fromkeys(("time", "nohup", "timeout", "stdbuf", "unbuffer", "nice", "sudo"), _around),
    **dict.fromkeys(("exec", "command", "builtin", "coproc"), _in_place),
    **dict.fromkeys(("bash", "sh"), follow_shell),
    "eval": follow_eval,
    "trap": follow_trap,
    "wait": wait,
    "sleep": _sleep,
    **dict.fromkeys(("kill", "pkill", "killall"), _kill),
    "shift": _shift,
    "set": _set,
    "shopt": _shopt,
    "let": _let,
    "export": _export,
    "printf": _printf,
    **dict.fromkeys(("break", "continue", "return"), _leave),
    **dict.fromkeys(("cd", "pushd", "popd"), _cd),
    "exit": _exit,
    **dict.fromkeys(OF_NODES, _of_nodes),
    "sbcast": _sbcast,
    "ssh": _ssh,
    SUBMITS: _sbatch,
    **dict.fromkeys(CONDA, _conda),
    **dict.fromkeys(("source", "."), _source),
}
"""False of one that is a program here."""
