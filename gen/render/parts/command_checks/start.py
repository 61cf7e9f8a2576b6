"""Programs that cannot start: launchers and interpreters with another script, module or option than they take."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from gen.base import Route, names, only_near, regex
from gen.base.codes.commands import CANNOT_START
from gen.base.shell_words import Word
from gen.job.launchers import BY_PROGRAM, LONG_NAMES, MISTAKEN, unwrapped
from gen.job.launchers.base import PORT, PROCESSES, Launch, Launcher
from gen.job.launchers.python import LAUNCHER as PYTHON
from gen.job.launchers.python import is_python
from gen.job.launchers.ray import LAUNCHER as RAY
from gen.job.scalars import shown
from gen.job.script import SHELLS, Program
from gen.render.parts.command_checks.role_command import HARMLESS, Command

_BUILTINS: Final = frozenset({"cd", "export", "source", "set", "alias", "ulimit", "unset", ".", "pushd"})
_ASSIGNMENT: Final = regex(r"[A-Za-z_]\w*=.*")
_PLAIN_SCRIPT: Final = regex(r"[\w-]+\.py")
_NAMES: Final = frozenset(filter(str.isalpha, LONG_NAMES))
_SIMILAR: Final = names(
    "ipython ipython3 bpython cpython jython pythran mpirun_rsh torchtune deepspeech deepseek accelerator prun"
)
"""Other programs with similar names."""
_HELP: Final = frozenset({"help", "version", "configfile", "check_build", "tune", "am"})
"""Options that replace a program."""
_BACKENDS: Final = ("c10d", "static", "etcd", "etcd-v2")
_MAX_PORT: Final = 65535


def check_start(command: Command) -> None:
    _check_arguments(command)
    for program, launched in command.launched:
        _check_program(command, program)
        if launched and any(word.text == "=" for word in program.words):
            _check_equals(command, program)
        for launch in launched:
            if launch.launcher is not PYTHON:
                _check_options(command, launch)
            if launch.program and launch.program[0].unknown is None:
                _check_script(command, launch, launch.program[0])


def _check_arguments(command: Command) -> None:
    """Entries of a list behind the script of a shell, which are the arguments of the script."""
    if not command.text or not command.entries or _POSITIONAL.search(command.text):
        return
    words = [*command.context.of_role(command.pod.role, "command"), *command.pod.args]
    index = words.index(command.text) + 1
    behind = words[index:]
    if not behind or (len(behind) == 1 and (" " in command.text.strip() or behind[0] in SHELLS)):
        return
    own = command.context.route_of(command.pod.role, "command")
    route: Route = (*own, index) if index < command.entries else (*command.args, index - command.entries)
    message = (
        f"{shown(command.text.strip())} is the whole script of `{command.shell}`, which ignores the entries behind it"
    )
    hint = f"write one entry behind `-c`: `{' '.join([command.text.strip(), *behind])}`"
    command.context.found.error(CANNOT_START, command.context.given.layers.place(route), message, hint)


_POSITIONAL: Final = regex(r"\$(?:[0-9@*#]|\{[0-9@*#])|\bshift\b")


def _check_equals(command: Command, program: Program) -> None:
    """Report the first option with spaces around its `=`."""
    for option, sign, value in zip(program.words, program.words[1:], program.words[2:], strict=False):
        if sign.text == "=" and option.text.startswith("--") and not value.text.startswith("-"):
            message = f"`{option.text}` gets the value `=`, because of the spaces around it"
            command.warning(CANNOT_START, sign, message, f"write `{option.text}={value.text or value.raw}`")
            return


def _check_program(command: Command, program: Program) -> None:
    name = program.name
    words = unwrapped(program.words) if name in SHELLS or name in BY_PROGRAM else program.words
    second = words[1] if len(words) > 1 else None
    launcher = BY_PROGRAM.get(name)
    if not command.text and program is command.script.programs[0]:
        _check_entry(command, program.words[0])
    if name in SHELLS and second is not None and (second.text.endswith(".py") or _is_program(second.text)):
        message = f"`{name}` reads {shown(second.text)} as a script of the shell"
        instead = f"remove `{name}`" if " " not in second.text else "write `-c` before it"
        instead = f"write `python` instead of `{name}`" if second.text.endswith(".py") else instead
        command.error(CANNOT_START, words[0], message, instead)
    elif launcher is not None and launcher.before and second is not None:
        _check_subcommand(command, launcher, second)
    elif name and name not in HARMLESS and name not in BY_PROGRAM and "/" not in program.words[0].text:
        guess = _meant(name) if name not in command.script.functions else ""
        if guess:
            command.warning(CANNOT_START, program.words[0], f"unknown program `{name}`", f"did you mean `{guess}`?")


def _check_entry(command: Command, word: Word) -> None:
    """The first entry of a list."""
    if word.text in _BUILTINS:
        message = f"only a shell has `{word.text}`, and a list is executed without one"
        command.error(CANNOT_START, word, message, "write the command as a text, which a shell reads")
    elif _ASSIGNMENT.fullmatch(word.text):
        message = f"{shown(word.text)} is not a program: a list is executed without a shell"
        command.error(CANNOT_START, word, message, "set the variable in `env`")


def _check_subcommand(command: Command, launcher: Launcher, word: Word) -> None:
    guess = only_near(word.text, launcher.before) if word.text not in launcher.before else ""
    if word.text.endswith(".py"):
        message = f"{shown(word.text)} is not a subcommand of `{launcher.name.split()[0]}`"
        command.error(CANNOT_START, word, message, f"write `{launcher.name} {word.text}`")
    elif guess:
        message = f"`{launcher.name}` is written `{word.text}` here"
        command.warning(CANNOT_START, word, message, f"did you mean `{guess}`?")


def _is_program(text: str) -> bool:
    """Whether a text starts with the name of a launcher or an interpreter."""
    name = text.partition(" ")[0].rpartition("/")[2]
    return name in BY_PROGRAM or is_python(name)


@lru_cache(maxsize=256)
def _meant(name: str) -> str:
    """The launcher with a similar name."""
    return "" if name in _SIMILAR or is_python(name) or "." in name else only_near(name.rstrip("0123456789"), _NAMES)


def _check_options(command: Command, launch: Launch) -> None:
    called, unread = launch.launcher.name, launch.unread
    if unread is not None and unread.unknown is None:
        option, space, value = unread.text.partition(" ")
        if space and not command.text and option.startswith("--"):
            message = f"{shown(unread.text)} is one argument of `{called}`, and not an option with its value"
            command.error(CANNOT_START, unread, message, f"write two entries, `{option}` and `{value.strip()}`")
            return
        written = option.lstrip("-").partition("=")[0]
        known = launch.launcher.values | launch.launcher.flags
        short = not option.startswith("--")
        guess = launch.launcher.name_of(written) if short else only_near(written.replace("-", "_"), known)
        if guess and (not short or guess in known):
            message = f"`{called}` has no option `{option.partition('=')[0]}`"
            command.warning(CANNOT_START, unread, message, f"did you mean `--{guess}`?")
    elif unread is None and not launch.program and launch.options.keys().isdisjoint(_HELP):
        what = "program" if launch.launcher.starts_programs else "script"
        message = f"`{called}` has no {what} to start"
        command.error(CANNOT_START, launch.word, message, f"write the {what} behind the options")
    backend = launch.options.get("rdzv_backend")
    near = only_near(backend.value or "", _BACKENDS) if backend is not None and backend.value not in _BACKENDS else ""
    if backend is not None and near:
        message = f"unknown backend `{backend.value}` of the rendezvous"
        command.warning(CANNOT_START, backend.word, message, f"did you mean `{near}`?")
    processes, port = launch.get(PROCESSES), launch.get(PORT)
    instead = launch.launcher.no_numbers.get(processes.value or "", "") if processes is not None else ""
    if processes is not None and instead:
        message = f"{shown(processes.value)} is not a number of processes"
        command.error(CANNOT_START, processes.word, message, instead)
    if port is not None and port.number is not None and port.number > _MAX_PORT:
        message = f"there is no port {port.number}; the highest is {_MAX_PORT}"
        command.error(CANNOT_START, port.word, message, "write another port, such as `29500`")


def _check_script(command: Command, launch: Launch, script: Word) -> None:
    """The program of a launcher, and the script or module of Python."""
    text, found = script.text, None
    if launch.launcher.starts_programs or "no_python" in launch.options:
        if launch.launcher is not RAY and _PLAIN_SCRIPT.fullmatch(text):
            found = f"{shown(text)} is not a program", f"write `python {text}`"
    elif launch.is_module:
        module = text.removesuffix(".py").strip("./").replace("/", ".")
        if text.endswith(".py") or "/" in text:
            found = f"{shown(text)} is not the name of a module", f"write `{module}`, or remove `-m`"
        elif launch.launcher is PYTHON and text in MISTAKEN:
            found = f"Python cannot run the module `{text}`", f"write `{MISTAKEN[text]}`, or remove `python -m`"
    else:
        found = _no_script(launch, text)
        if found is None and not command.text and ".py " in text:
            message = f"{shown(text)} is the name of one file, because a list is executed without a shell"
            found = message, "write the script and each argument as an entry"
    if found is not None:
        command.error(CANNOT_START, script, *found)


def _no_script(launch: Launch, text: str) -> tuple[str, str] | None:
    """Why a file is not a script of Python, and the remedy."""
    called = launch.launcher.name
    by_python, any_program = launch.launcher is PYTHON, "no_python" in launch.launcher.flags
    if text in SHELLS and not by_python:
        hint = "add `--no_python` before it" if any_program else "name a script of Python"
    elif text in BY_PROGRAM or text in SHELLS or is_python(text):
        hint = f"remove `{called if by_python else text}`"
    elif text.endswith(".sh"):
        hint = f"write `bash` instead of `{called}`" if by_python else "name the script of Python in it"
        return f"{shown(text)} is a script of the shell, and `{called}` starts scripts of Python", hint
    elif text.endswith(".ipynb"):
        return (
            f"{shown(text)} is a notebook, and not a script",
            "convert it to a script with nbconvert, and name that file",
        )
    else:
        return None
    return f"`{called}` starts a script of Python, and {shown(text)} is a program", hint
