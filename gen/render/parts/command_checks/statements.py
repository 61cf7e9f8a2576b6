"""Statements of a command that end at once or never run, and failures that stay hidden."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from gen.base import regex
from gen.base.codes.commands import ENDS_AT_ONCE, IDLE_GPUS, IGNORED_FAILURE, UNREACHED
from gen.base.shell_script import BACKGROUND
from gen.job.launchers import INNER, program_of, unwrapped
from gen.job.scalars import shown
from gen.job.script import Program, Statement
from gen.render.parts.command_checks.role_command import HARMLESS, Command

_ONE: Final = Statement("command")
_LOOPS: Final = frozenset({"for_statement", "c_style_for_statement"})
_CATCHES: Final = frozenset({"a condition", "a pipe", "the background"})
"""Constructs in a loop that use the exit code of a program."""
_STATEMENTS: Final = frozenset({"command", "redirected_statement", "pipeline"})


def check_statements(command: Command, reported: Collection[str]) -> None:
    """Programs that end at once or never start, and failures that stay hidden."""
    script, programs = command.script, command.script.programs
    last = len(script.statements) - 1
    is_one = not last and script.statements[0] == _ONE
    if is_one and not any(name in command.text for name in _DETACH):
        return  # one program, which does not go on in the background
    if _ends_at_once(command) or (last and (_has_unreached(command) or _keeps_gpus(command))):
        return
    stops = any(one.name == "set" and _sets_errexit(one) for one in programs) or "e" in command.flags
    stops = stops or "errexit" in command.options
    traps = any(one.name == "trap" and not _ON_FAILURE.isdisjoint(word.text for word in one.words) for one in programs)
    if _echoes_failure(command):
        return
    ignored = None if stops or traps else _ignored(command, reported)
    seen = "pipefail" in command.text or "pipefail" in command.options or "PIPESTATUS" in command.text
    pipes = {} if seen else _pipes(command)
    hidden = next((pipe for number, pipe in pipes.items() if number == last or stops), None)
    if hidden is not None:
        training, reader = hidden
        message = (
            f"the run succeeds even if {shown(training.name)} fails, because the pipe ends with {shown(reader.name)}"
        )
        hint = (
            f"{_options(command, stops=ignored is not None, pipes=True)}, or remove the pipe: the output is in the logs"
        )
        command.warning(IGNORED_FAILURE, training.words[0], message, f"{hint} of the pod")
    elif ignored is not None:
        program, alone = ignored
        goes_on = "loop" if "a loop" in program.around else "command"
        message = f"the {goes_on} goes on when {shown(program.name)} fails"
        if alone and goes_on == "command":
            message = f"the run succeeds even if {shown(program.name)} fails, because the command goes on"
        if _ERREXIT_OF_FILE.match(command.text):
            message += ", and options behind `#!` have no effect here"
        command.warning(IGNORED_FAILURE, program.words[0], message, _options(command, stops=True, pipes=bool(pipes)))


def _echoes_failure(command: Command) -> bool:
    """Report a message that hides the failure of a training, such as `torchrun train.py || echo failed`."""
    script, last = command.script, len(command.script.statements) - 1
    message, own = script.programs[-1], script.of_statements.get(last, ())
    if message.name not in ("echo", "printf") or INNER in message.around or script.statements[last].type != "list":
        return False
    lines = command.text.split("\n")[: message.place.line]
    lines[-1] = lines[-1][: message.place.column - 1]
    training = next((one for one, launched in command.launched if launched and one in own), None)
    if training is None or not "\n".join(lines).rstrip().endswith("||"):
        return False
    said = f"the run succeeds even if {shown(training.name)} fails, because `{message.name}` ends the command"
    command.warning(IGNORED_FAILURE, training.words[0], said, f"remove `|| {message.name}` and its text")
    return True


_ON_FAILURE: Final = frozenset({"ERR", "EXIT", "0"})
"""Signals of `trap` that a failure raises."""
_ERREXIT_OF_FILE: Final = regex(r"#!.*\s-\w*e")


def _options(command: Command, *, stops: bool, pipes: bool) -> str:
    """How to set the options of the shell that end it at a failure, also at one in a pipe."""
    if not pipes:
        return "write `set -e` as the first line of the command"
    letters = "-eo" if stops else "-o"
    if command.shell == "bash":
        return f"write `set {letters} pipefail` as the first line of the command"
    return f"write the command as `[bash, {letters}, pipefail, -c, …]`"


def _ignored(command: Command, reported: Collection[str]) -> tuple[Program, bool] | None:
    """A program that may fail without effect, and whether only harmless ones follow. A training comes first."""
    script, first = command.script, None
    launched = {id(one) for one, launches in command.launched if launches and launches[-1].program}
    last = max((one.statement for one in script.programs if one.name not in HARMLESS), default=0)
    for number, statement in enumerate(script.statements):
        own = [one for one in script.of_statements.get(number, ()) if "a substitution" not in one.around]
        trained = [one for one in own if id(one) in launched]
        if trained and statement.type in _LOOPS and not statement.background:
            retries = any(one.name in ("break", "return", "exit") for one in own)
            if not retries and _CATCHES.isdisjoint(trained[-1].around):
                return trained[-1], False
        if statement.type not in _STATEMENTS or statement.background or not own or number == len(script.statements) - 1:
            continue
        program = (trained or own)[-1]
        if (
            not program.name
            or program.name in HARMLESS
            or program.name in reported
            or program.name in script.functions
            or (program.name == "exec" and len(program.words) == 1)
        ):
            continue
        later = last > number
        if trained:
            return program, not later
        in_pipe = all("a pipe" in one.around for one in own)
        first = first or ((program, False) if later and not in_pipe else None)
    return first


_QUICK: Final = frozenset({"echo", "printf", "disown", "date", "true", ":", "exit", "jobs"})
"""Programs that end at once, and start nothing."""


def _ends_at_once(command: Command) -> bool:
    """Report that only programs in the background are left when the command ends."""
    script, programs = command.script, command.script.programs
    if any(one.name == "wait" for one in programs):
        return False
    for number in range(len(script.statements) - 1, -1, -1):
        own = script.of_statements.get(number, ())
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
        own = script.of_statements.get(number, ())
        if statement.type not in ("command", "redirected_statement") or statement.background or len(own) != 1:
            continue
        program, words = own[0], [word.text for word in own[0].words[1:]]
        runs = _SERVERS.get(program.name)
        ends = program.name == "exit" or (program.name == "exec" and bool(words))
        if not ends and (runs is None or not runs(words)):
            continue
        others = [one for one in script.programs if one.statement > number and one.name not in HARMLESS]
        trained = [one for one, launched in command.launched if launched and one in others]
        later = next(iter(trained or others), None)
        if later is None:
            return False
        does, hint = "does not end", f"write ` &` behind `{program.name}` and its arguments"
        if program.name == "exec":
            does, hint = "replaces the shell", "remove `exec`"
        elif ends:
            does, hint = "ends the shell", "move it before it, or remove it"
        message = f"{shown(later.name or later.words[0].raw)} never runs, because `{program.name}` {does}"
        command.error(UNREACHED, later.words[0], message, hint)
        return True
    return False


def _keeps_gpus(command: Command) -> bool:
    """Report a last program behind a training that never ends."""
    program, last = command.script.programs[-1], len(command.script.statements) - 1
    runs = _SERVERS.get(program.name)
    if runs is None or not runs([word.text for word in program.words[1:]]) or not command.pod.role.gpus:
        return False
    before = [
        one
        for one, launched in command.launched
        if launched and launched[-1].program and one.statement < last and BACKGROUND not in one.around
    ]
    if not before or program.statement != last or command.script.statements[before[-1].statement].background:
        return False
    message = f"`{program.name}` keeps the GPUs after {shown(before[-1].name)} has ended, until the run is stopped"
    command.warning(IDLE_GPUS, program.words[0], message, "remove it")
    return True


def _pipes(command: Command) -> dict[int, tuple[Program, Program]]:
    """By statement, a launcher in a pipe that hides its failure, and the last program of the pipe."""
    script, found = command.script, {}
    for number, statement in enumerate(script.statements):
        if statement.type != "pipeline" or statement.background:
            continue
        own = [one for one in script.of_statements.get(number, ()) if "a substitution" not in one.around]
        training = [one for one, launched in command.launched if launched and launched[-1].program and one in own[:-1]]
        if training and own[-1].name in _READERS:
            found[number] = training[-1], own[-1]
    return found


_READERS: Final = frozenset({"tee", "cat", "ts", "grep", "egrep", "sed", "awk", "head", "tail", "less"})
"""Programs that copy the output of others, and do not fail with them."""


def _sets_errexit(program: Program) -> bool:
    words = [word.text for word in program.words[1:]]
    return "errexit" in words or any(
        word.startswith("-") and "e" in word and not word.startswith("--") for word in words
    )
