"""Statements of a command that end at once or never run, and failures that stay hidden."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from gen.base.codes.commands import ENDS_AT_ONCE, IGNORED_FAILURE, UNREACHED
from gen.job.commands import program_of, unwrapped
from gen.job.commands.script import Program, Statement
from gen.job.scalars import shown
from gen.render.parts.command.command import HARMLESS, Command

_ONE: Final = Statement("command")
_STATEMENTS: Final = frozenset({"command", "redirected_statement", "pipeline"})


def check_statements(command: Command, reported: Collection[str]) -> None:
    """Programs that end at once or never start, and failures that stay hidden."""
    script, programs = command.script, command.script.programs
    last = len(script.statements) - 1
    is_one = not last and script.statements[0] == _ONE
    if is_one and not any(name in command.text for name in _DETACH):
        return  # one program, which does not go on in the background
    if _ends_at_once(command) or (last and _has_unreached(command)):
        return
    stops = any(one.name == "set" and _sets_errexit(one) for one in programs) or "e" in command.flags
    pipe = (
        None if "pipefail" in (command.text + command.flags) or "PIPESTATUS" in command.text else _pipe(command, stops)
    )
    if pipe is not None:
        training, hides = pipe
        message = (
            f"the run succeeds even if {shown(training.name)} fails, because the pipe ends with {shown(hides.name)}"
        )
        of_bash = (
            "add `set -o pipefail`" if command.shell == "bash" else "write the command as `[bash, -o, pipefail, -c, …]`"
        )
        hint = f"{of_bash}, or remove the pipe: the output is in the logs of the pod"
        command.warning(IGNORED_FAILURE, training.words[0], message, hint)
        return
    if last == 0 or stops or any(one.name == "trap" for one in programs):
        return
    for number, statement in enumerate(script.statements[:last]):
        own = [one for one in programs if one.statement == number and "a substitution" not in one.around]
        if statement.type not in _STATEMENTS or statement.background or not own:
            continue
        program = own[-1]
        if (
            not program.name
            or program.name in HARMLESS
            or program.name in reported
            or program.name in script.functions
            or (program.name == "exec" and len(program.words) == 1)
            or all(one.around and "a pipe" in one.around for one in own)
        ):
            continue
        later = next((one for one in programs if one.statement > number and one.name not in HARMLESS), None)
        train = any(launched for one, launched in command.launched if one is program)
        if later is None and not train:
            continue
        message = f"the command goes on when {shown(program.name)} fails"
        if train and later is None:
            message = f"the run succeeds even if {shown(program.name)} fails, because the command goes on"
        command.warning(IGNORED_FAILURE, program.words[0], message, "write `set -e` as the first line of the command")
        return


_QUICK: Final = frozenset({"echo", "printf", "disown", "date", "true", ":", "exit", "jobs"})
"""Programs that end at once, and start nothing."""


def _ends_at_once(command: Command) -> bool:
    """Report that only programs in the background are left when the command ends."""
    script, programs = command.script, command.script.programs
    if any(one.name == "wait" for one in programs):
        return False
    for number in range(len(script.statements) - 1, -1, -1):
        own = [one for one in programs if one.statement == number]
        if script.statements[number].background and own:
            words = unwrapped(own[-1].words) or own[-1].words
            message = f"{shown(words[0].text)} runs in the background, and the container ends at once"
            hint = "remove the `&` behind it, or add `wait` as the last line"
            command.error(ENDS_AT_ONCE, own[-1].words[0], message, hint)
            return True
        if not own or any(one.name not in _QUICK for one in own):
            break
    program = programs[-1]
    words = unwrapped(program.words)
    name, options = (program_of(words[0]), {word.text for word in words[1:]}) if words else ("", set())
    detaches = _DETACH.get(name)
    if detaches is None or not detaches(options):
        return False
    message = f"`{name}` goes on in the background, and the container ends at once"
    hint = _DETACHED.get(name, "start the program itself, without a terminal of its own")
    command.error(ENDS_AT_ONCE, words[0], message, hint)
    return True


_DETACH: Final[Mapping[str, Callable[[set[str]], bool]]] = {
    "tmux": lambda options: not {"new", "new-session"}.isdisjoint(options) and "-d" in options,
    "screen": lambda options: not {"-dm", "-dmS", "-d"}.isdisjoint(options),
    "ray": lambda options: "start" in options and "--block" not in options and "--help" not in options,
    "sshd": lambda options: "-D" not in options and "-t" not in options,
    "service": lambda options: "start" in options,
}
"""Programs that return and leave others in the background, by their options."""
_DETACHED: Final = {"ray": "add `--block`", "sshd": "add `-D`"}
_SERVERS: Final[Mapping[str, Callable[[list[str]], bool]]] = {
    "tensorboard": lambda words: (
        "dev" not in words and not any(word.startswith(("--inspect", "--help", "--version")) for word in words)
    ),
    "jupyter": lambda words: (
        words[:1] in (["lab"], ["notebook"], ["server"]) and words[1:2] not in (["list"], ["stop"])
    ),
    **dict.fromkeys(("jupyter-lab", "jupyter-notebook"), lambda _: True),
    "sleep": lambda words: words in (["infinity"], ["inf"]),
    "tail": lambda words: not {"-f", "-F"}.isdisjoint(words) and not any(word.startswith("--pid") for word in words),
    "ray": lambda words: words[:1] == ["start"] and "--block" in words,
}
"""Programs that run until they are stopped, by their arguments."""


def _has_unreached(command: Command) -> bool:
    """Report the first program behind one that does not end, or that ends the shell."""
    script = command.script
    for number, statement in enumerate(script.statements[:-1]):
        own = [one for one in script.programs if one.statement == number]
        if statement.type not in ("command", "redirected_statement") or statement.background or len(own) != 1:
            continue
        program, words = own[0], [word.text for word in own[0].words[1:]]
        runs = _SERVERS.get(program.name)
        ends = program.name == "exit" or (program.name == "exec" and bool(words))
        if not ends and (runs is None or not runs(words)):
            continue
        later = next((one for one in script.programs if one.statement > number and one.name not in HARMLESS), None)
        if later is None:
            return False
        does = "replaces the shell" if program.name == "exec" else "ends the shell" if ends else "does not end"
        message = f"{shown(later.name or later.words[0].raw)} never runs, because `{program.name}` {does}"
        instead = (
            "remove `exec`"
            if program.name == "exec"
            else "move it before it, or remove it"
            if ends
            else "write ` &` behind"
        )
        hint = instead if ends else f"{instead} `{program.name}` and its arguments"
        command.error(UNREACHED, later.words[0], message, hint)
        return True
    return False


def _pipe(command: Command, stops: bool) -> tuple[Program, Program] | None:
    """A launcher in a pipe that hides its failure, and the last program of the pipe."""
    script = command.script
    for number, statement in enumerate(script.statements):
        if statement.type != "pipeline" or (number < len(script.statements) - 1 and not stops) or statement.background:
            continue
        own = [one for one in script.programs if one.statement == number and "a substitution" not in one.around]
        training = [one for one, launched in command.launched if launched and launched[-1].program and one in own[:-1]]
        if training and own[-1].name in _READERS:
            return training[-1], own[-1]
    return None


_READERS: Final = frozenset({"tee", "cat", "ts", "grep", "egrep", "sed", "awk", "head", "tail", "less"})
"""Programs that copy the output of others, and do not fail with them."""


def _sets_errexit(program: Program) -> bool:
    words = [word.text for word in program.words[1:]]
    return "errexit" in words or any(
        word.startswith("-") and "e" in word and not word.startswith("--") for word in words
    )
