"""Statements and variables that a shell reads otherwise than meant, and programs that no pod has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gen.base import Code, Location, regex
from gen.base.codes.commands import (
    BASH_SYNTAX,
    CANNOT_START,
    CUT_COMMAND,
    NEEDS_ANSWER,
    NO_HOOK,
    NO_VARIABLE,
    NOT_IN_A_POD,
)
from gen.base.shell_words import Word
from gen.job.launchers.base import PROGRAMS as SLURM
from gen.job.scalars import shown
from gen.job.script import Program
from gen.render.parts.command_checks.role_command import Command
from gen.render.parts.command_checks.statements import check_statements


def check_shell(command: Command) -> None:
    _check_programs(command)
    if not command.text:
        return
    if not _has_lost_variable(command):
        check_statements(command, _HOSTS_ONLY)
    _check_text(command, _MISREAD)
    if command.shell == "sh":
        _check_bash(command)
    if "SLURM_" in command.text:
        _check_slurm(command)


def check_syntax(command: Command) -> None:
    """Report the syntax errors of a script."""
    text = command.text
    if "<<" in text:
        return
    _check_text(command, _REFUSED)
    if text.strip().count("\n") == 0 and not any(mark in text for mark in ("$(", "`", "#", "\\")):
        for quote, other in (("'", '"'), ('"', "'")):
            if text.count(quote) % 2 == 1 and other not in text:
                if f"{text.strip()} #" in command.context.given.source.text:
                    return  # which is reported as a text that a comment cuts
                place = Location("", 1, text.rindex(quote) + 1)
                message = f"the shell refuses the command: the {quote} is never closed"
                command.error(CUT_COMMAND, Word(quote, place), message, f"add {quote} at the end of the value")


def is_copied(command: Command) -> bool:
    """Report a prompt or a mark of the page that the command is from."""
    return "<<" not in command.text and _check_text(command, _COPIED)


def ends_at_blank(command: Command) -> bool:
    r"""Report a `\` with a blank behind it at the end of a line."""
    if "\\ " not in command.text and "\\\t" not in command.text:
        return False
    last = {one.words[-1].place.line for one in command.script.programs if one.words[-1].unknown is not None}
    last |= {one.words[-1].place.line for one in command.script.programs if one.words[-1].text[-1:].isspace()}
    lines = command.text.split("\n")
    for number in sorted(last):
        match = _BLANK.search(lines[number - 1]) if number <= len(lines) else None
        if match is not None:
            message = "the command ends at this `\\`, which is not the last character of its line"
            word = Word("\\", Location("", number, match.start() + 1))
            command.error(CUT_COMMAND, word, message, "remove the text behind the `\\`")
            return True
    return False


_BLANK: Final = regex(r"(?<!\\)\\[ \t]+(?:#.*)?$")


def _check_text(command: Command, table: tuple[tuple[str, re.Pattern[str], str, str, Code], ...]) -> bool:
    found = False
    for mark, pattern, message, hint, code in table:
        match = pattern.search(command.text) if mark in command.text else None
        if match is None:
            continue
        start = match.start(1)
        before = command.text[command.text.rfind("\n", 0, start) + 1 : start]
        if _COMMENT.search(before) or any(command.text.count(quote, 0, start) % 2 for quote in "'\""):
            continue
        place = Location("", command.text.count("\n", 0, start) + 1, len(before) + 1)
        command.error(code, Word(match[1], place), message.format(match[1]), hint.format(match[1]))
        found = True
    return found


def is_cut(command: Command, program: Program) -> bool:
    """Report a line that continues the one before, which does not go on."""
    word = program.words[0]
    text = word.text
    if not (text.startswith("-") or "=" in text or text.endswith(".py")):
        return False
    if program.assigned:
        return False
    option = text.startswith("-") and text.strip("-")[:1].isalpha()
    if word.unknown is not None or not (option or _SETTING.match(text) or _SCRIPT.fullmatch(text)):
        return False
    lines = command.text.split("\n")
    before = lines[word.place.line - 2] if word.place.line > 1 else ""
    message = f"{shown(text)} is not a program"
    if lines[word.place.line - 1][: word.place.column - 1].strip() or not before.strip():
        hint = f"write `python {text}`" if _SCRIPT.fullmatch(text) else "write the program before it"
    elif before.lstrip().startswith("#"):
        message += ": a comment ends the lines before it"
        hint = "move the comment above the command"
    elif before.rstrip().endswith("\\") or " \\ " in before:
        message += ": the `\\` of the line before it is not its last character"
        hint = "remove the text behind the `\\`"
    else:
        message += ", and the line before it ends without `\\`"
        hint = "write `\\` at the end of the line before"
    command.error(CUT_COMMAND, word, message, hint)
    return True


_COPIED: Final = (
    (
        "$ ",
        regex(r"(?m)^[ \t]*(?:\([\w.-]+\)[ \t]*)?(\$)[ \t]+(?=[a-zA-Z./])"),
        "`{0}` is the prompt of a terminal, and not a program",
        "remove it",
        CANNOT_START,
    ),
    (
        "> ",
        regex(r"(?m)(?<!\\\n)^[ \t]*(>)[ \t]+(?=(?:torchrun|accelerate|deepspeed|mpirun|python3?|pip|cd|export)[ \t])"),
        "`{0}` is the prompt of a terminal, and not a program",
        "remove it",
        CANNOT_START,
    ),
    (
        "!",
        regex(r"(?m)^[ \t]*(!)(?=(?:pip|pip3|python|python3|torchrun|accelerate|git|cd|apt|apt-get|bash|sh)\b)"),
        "only notebooks know `{0}` before a program",
        "remove it",
        CANNOT_START,
    ),
    (
        "```",
        regex(r"(?m)^[ \t]*(```)"),
        "`sh` reads these quotes of Markdown as a command",
        "remove the line",
        CANNOT_START,
    ),
)
"""Marks of pages and terminals in front of commands, as in the tables below."""
_MISREAD: Final = (
    (
        "[",
        regex(r"\b(?:if|elif|while)[ \t]+(?:![ \t]*)?(\[\[?)(?=[$\w\"-])"),
        "the shell reads the word as a program, because `{0}` has no space behind it",
        "write a space behind the bracket, and one before the closing bracket",
        CUT_COMMAND,
    ),
    (
        "pip",
        regex(r"\bpip3?[ \t]+install\b[^\n'\"#;&|]*?[\w\]]([<>])=?(?=[0-9])"),
        "the shell reads `{0}` as a redirection to a file, so that `pip` gets no version",
        "write the requirement in quotes",
        CUT_COMMAND,
    ),
    (
        "://",
        regex(r"(?<!\S)[a-z][a-z0-9+]*://[^\s'\"&]*\?[^\s'\"&]*(&)\w+="),
        "the shell ends the command at the `&` of the URL, and runs it in the background",
        "write the URL in quotes",
        CUT_COMMAND,
    ),
    (
        "export",
        regex(r"(?m)^[ \t]*export[ \t]+([A-Za-z_]\w*)[ \t]+=(?:[ \t]|$)"),
        "`export` fails, because of the spaces around `=`",
        "remove the spaces: `export {0}=…`",
        NO_VARIABLE,
    ),
)
"""Texts that a shell reads otherwise: a part of each, the reported word, the message, the remedy and the code."""
_REFUSED: Final = (
    (
        "\n",
        regex(r"(?m)(?<![\\&|])\n[ \t]*(&&|\|\||\|)(?=\s)"),
        "the shell refuses the command: no line can start with `{0}`",
        "move `{0}` to the end of the line before it, or write `\\` there",
        CUT_COMMAND,
    ),
    (
        " ",
        regex(r"(?m)^[ \t]*(?:if|elif|while)[ \t]+[^\n;#]*[^\n;#&|\s][ \t]+(then|do)\b"),
        "the shell refuses the command: `{0}` is an argument of the condition",
        "write `;` before `{0}`",
        CUT_COMMAND,
    ),
)
"""Texts that no shell reads, in a script that gen cannot read, either."""
_SETTING: Final = regex(r"[A-Za-z_+~][\w.@/+-]*=")
"""Such as those of Hydra."""
_SCRIPT: Final = regex(r"[\w-]+\.py")


_HOSTS_ONLY: Final[Mapping[str, str]] = {
    **dict.fromkeys(SLURM, "no pod reaches the daemons of Slurm"),
    **dict.fromkeys(("docker", "nvidia-docker", "podman"), "no pod has a container runtime"),
    "sudo": "few images have it, and most containers run as root",
    "systemctl": "containers have no services",
    "module": "modules are on the nodes of HPC clusters",
}
_INSTEAD: Final[Mapping[str, str]] = {
    "sudo": "remove `sudo`",
    "srun": "remove `srun`: every pod runs the command",
    "module": "remove it, and use an image with the software",
}
_HOOKS: Final = (
    "conda.sh",
    "shell.bash",
    "shell.posix",
    "bashrc",
    "conda init",
    "activate base",
    "bin/activate",
    "micromamba shell",
)


def _check_programs(command: Command) -> None:
    own = command.context.job.run_by_operator
    if not own and all(program.name not in _CHECKED for program in command.script.programs):
        return
    defined = "()" in command.text or "function " in command.text or "alias " in command.text
    for program in command.script.programs:
        name = program.name
        second = program.words[1].text if len(program.words) > 1 else ""
        start = f"{' '.join(word.text for word in program.words[:3])} "
        if done := next((one for one in own if start.startswith(f"{one} ")), ""):
            message = f"`{done}` has nothing to do here, because the operator runs it"
            command.warning(NOT_IN_A_POD, program.words[0], message, own[done])
        elif name in _HOSTS_ONLY and not defined and not _is_tried(program):
            if name in ("docker", "podman", "module") and second not in _SUBCOMMANDS:
                continue
            said = name if name in _INSTEAD or second.startswith("-") else f"{name} {second}".strip()
            hint = _INSTEAD.get(name, f"remove `{name}`; the fields of the job replace it")
            message = f"`{said}` does not work in a pod: {_HOSTS_ONLY[name]}"
            command.warning(NOT_IN_A_POD, program.words[0], message, hint)
        elif name in ("conda", "mamba") and second == "activate" and not _has_hook(command):
            environment = next((word.text for word in program.words[2:3]), "") or "<environment>"
            message = f"`{name} activate` fails, because this shell does not load the hook of conda"
            hint = f"remove it, and write `{name} run -n {environment}` before the program"
            command.warning(NO_HOOK, program.words[0], message, hint)
        elif name in _CONFIRM:
            _check_answer(command, program)
        elif name in _LOGINS and not _is_tried(program) and "a pipe" not in program.around:
            _check_login(command, program)


_CONFIRM: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("apt-get", "apt"), frozenset({"install", "upgrade", "dist-upgrade", "remove", "purge"})),
    **dict.fromkeys(("conda", "mamba"), frozenset({"install", "create", "update", "remove"})),
    **dict.fromkeys(("pip", "pip3"), frozenset({"uninstall"})),
    **dict.fromkeys(("yum", "dnf"), frozenset({"install", "remove"})),
}
"""Programs that ask before they do something, with their subcommands."""
_LOGINS: Final[Mapping[str, tuple[tuple[str, ...], frozenset[str], str]]] = {
    "accelerate": (("config",), frozenset({"default", "update", "--help", "-h"}), ""),
    "wandb": (("login",), frozenset({"--help", "--anonymously", "--relogin"}), "WANDB_API_KEY"),
    "huggingface-cli": (("login",), frozenset({"--token", "--help"}), "HF_TOKEN"),
    "hf": (("auth", "login"), frozenset({"--token", "--help"}), "HF_TOKEN"),
}
"""Programs that ask for values: their subcommands, options and words that answer, and the variable that they read."""
_CHECKED: Final = frozenset({*_HOSTS_ONLY, *_CONFIRM, *_LOGINS, "conda", "mamba"})
_CONFIRMS: Final = frozenset({"--yes", "--assume-yes", "-qq", "--dry-run", "-s", "--help", "--download-only"})


def _check_answer(command: Command, program: Program) -> None:
    words = [word.text for word in program.words[1:]]
    asks = next((word for word in words if not word.startswith("-")), "")
    if asks not in _CONFIRM[program.name] or "a pipe" in program.around or any(word.unknown for word in program.words):
        return
    short = any(word.startswith("-") and word[1:2] != "-" and "y" in word for word in words)
    if short or not _CONFIRMS.isdisjoint(words) or _ASKS_NOT.search(command.text) or "CONDA_ALWAYS_YES" in command.env:
        return
    message = f"`{program.name} {asks}` asks for confirmation, and a container has no standard input"
    command.warning(NEEDS_ANSWER, program.words[0], message, f"write `{program.name} {asks} -y`")


def _check_login(command: Command, program: Program) -> None:
    words = [word.text for word in program.words[1:]]
    subcommand, answers, variable = _LOGINS[program.name]
    behind = words[len(subcommand) :]
    given = any(word in answers or (variable and not word.startswith("-")) for word in behind)
    if tuple(words[: len(subcommand)]) != subcommand or given or any("=" in word for word in behind):
        return
    if variable and (variable in command.env or variable in command.text or variable.split("_")[0] in command.text):
        return
    called = f"{program.name} {' '.join(subcommand)}"
    hint = f"remove it, and set `env: {{{variable}: {{secret: <name>, key: <key>}}}}`"
    hint = hint if variable else "remove it, and write the options behind `accelerate launch`"
    message = f"`{called}` asks for values, and a container has no standard input"
    command.warning(NEEDS_ANSWER, program.words[0], message, hint)


_ASKS_NOT: Final = regex(r"always_yes|CONDA_ALWAYS_YES|apt\.conf|\byes\b")


def _has_lost_variable(command: Command) -> bool:
    """Report settings of variables that the shell reads otherwise, or that no program gets."""
    for program in command.script.programs:
        first = program.words[0]
        second = program.words[1] if len(program.words) > 1 else None
        name, message, hint = program.name, "", ""
        if second is not None and second.text == "=" and _VARIABLE.fullmatch(first.text):
            message = f"{shown(first.text)} is read as a program, because of the spaces around `=`"
            hint = f"remove the spaces: `{first.text}=…`"
        elif name == "setenv" and second is not None:
            message, hint = "`setenv` is a command of csh", f"write `export {second.text}=…`"
        elif name == "set" and second is not None and _ASSIGNMENT.fullmatch(second.text):
            message = f"`set` sets no variable: {shown(second.text)} becomes the first argument of the shell"
            hint = f"write `export {second.text}`"
        elif program.assigned and _VALUE.fullmatch(first.text):
            given = program.assigned[-1]
            message = f"the value of `{given.name}` ends at the space, and the next word is read as a program"
            hint = f'write the value in quotes: `{given.name}="…"`'
        elif first.unknown is not None and _DOLLAR.fullmatch(first.raw):
            variable = first.raw[1:].partition("=")[0]
            message, hint = f"{shown(first.raw)} is read as a program", f"write `{variable}=…`, without the `$`"
        if message:
            command.error(NO_VARIABLE, first, message, hint)
            return True
    for one in command.script.assignments:
        if (
            _READ.fullmatch(one.name)
            and "a function" not in one.around
            and one.name not in command.env
            and not _exported(command, one.name)
        ):
            message = f"`{one.name}` is not exported, so that no program gets it"
            command.warning(NO_VARIABLE, Word(one.name, one.value.place), message, f"write `export {one.name}=…`")
            return True
    return False


_VARIABLE: Final = regex(r"[A-Za-z_]\w*")
_ASSIGNMENT: Final = regex(r"[A-Za-z_]\w*=.*")
_VALUE: Final = regex(r"-{1,2}[A-Za-z]\S*|[0-9][0-9.e+-]*")
"""Words that are no program: options and numbers."""
_DOLLAR: Final = regex(r"\$[A-Za-z_]\w*=[^=].*")
_READ: Final = regex(
    r"(?:NCCL|WANDB|CUDA|HF_HUB|HF_DATASETS|OMP|OMPI|MKL|GLOO|UCX|TF|XLA|JAX|TOKENIZERS|TRANSFORMERS|HOROVOD|ACCELERATE|FI)_[A-Z0-9_]+"
    r"|TORCH_(?:NCCL_|NN_|ELASTIC_|COMPILE_|LOGS|TRACE|DISTRIBUTED_|CUDA_|SHOW_|CPP_|EXTENSIONS_|USE_|ALLOW_|HOME)[A-Z0-9_]*"
    r"|DS_(?:ACCELERATOR|SKIP_CUDA_CHECK|BUILD_[A-Z0-9_]+)|HF_(?:HOME|TOKEN|ENDPOINT)|PYTHON[A-Z]+|LD_LIBRARY_PATH|LD_PRELOAD"
)
"""Variables that libraries read."""


def _exported(command: Command, name: str) -> bool:
    """Whether a program gets a variable, or the command itself uses it."""
    if command.text.count(name) > 1 or _EXPORTS_ALL.search(command.text):
        return True
    return any(name in line and _EXPORT.search(line) for line in command.text.splitlines())


_EXPORTS_ALL: Final = regex(r"set -\w*a|allexport")
_EXPORT: Final = regex(r"\b(?:export|declare|typeset|readonly)\b")


def _has_hook(command: Command) -> bool:
    return any(hook in command.text for hook in _HOOKS) or not {"l", "i"}.isdisjoint(command.flags)


_SUBCOMMANDS: Final = frozenset({"run", "exec", "build", "compose", "pull", "load", "purge", "start"})


def _is_tried(program: Program) -> bool:
    """Whether the command goes on without it."""
    return any(one in ("a condition", "a function", "a substitution") for one in program.around)


def _check_bash(command: Command) -> None:
    for what, place in command.script.bash:
        hint = "write the command as a list, `[bash, -c, …]`, or use the syntax of POSIX"
        message = f"`{what}` is syntax of bash, and `sh` of Debian and Ubuntu does not know it"
        if what == "&>":
            message = "`sh` of Debian and Ubuntu reads `&>` as `&` and `>`: the program runs in the background"
            hint = "write `> <file> 2>&1`"
        elif what == "source":
            hint = "write `.` instead of `source`"
        command.warning(BASH_SYNTAX, place, message, hint)
        return


_COMMENT: Final = regex(r"(?:^|\s)#")
_SLURM: Final = regex(r"(?<!\\)\$(?:(SLURM_\w+)|\{(SLURM_\w+)\})")
_SLURM_TESTED: Final = regex(r"-[nz]\s+\"?\$\{?(SLURM_\w+)")
_SLURM_ASSIGNED: Final = regex(r"\$\{(SLURM_\w+):?=")
_IS_DEFAULT: Final = regex(r":?[-=]\"?$")


def _check_slurm(command: Command) -> None:
    """Report the first variable of Slurm that the command needs. It goes on without one that it tests, and without
    the value of a default.
    """
    known = {one.name for one in command.script.assignments} | set(command.env)
    known |= {*_SLURM_TESTED.findall(command.text), *_SLURM_ASSIGNED.findall(command.text)}
    for match in _SLURM.finditer(command.text):
        name = match[1] or match[2]
        start = command.text.rfind("\n", 0, match.start()) + 1
        in_line = command.text[start : match.start()]
        tested = _SLURM_TESTED.search(in_line) or ("${" in in_line and _IS_DEFAULT.search(in_line))
        if name not in known and not tested and not _COMMENT.search(in_line):
            line = command.text.count("\n", 0, match.start())
            column = match.start() - command.text.rfind("\n", 0, match.start())
            word = Word(match[0], Location("", line + 1, column))
            instead = _OF_SLURM.get(name, "")
            other = next((one for one in instead.split() if one in command.env), "")
            hint = f"use `${other}`" if other else "use the variables of the kind, or set it in `env`"
            command.warning(NOT_IN_A_POD, word, f"only Slurm sets `{name}`, so it is empty in a pod", hint)
            return


_OF_SLURM: Final[Mapping[str, str]] = {
    "SLURM_PROCID": "RANK PET_NODE_RANK",
    "SLURM_NODEID": "NODE_RANK PET_NODE_RANK RANK",
    "SLURM_NTASKS": "WORLD_SIZE PET_NNODES",
    "SLURM_NNODES": "NNODES PET_NNODES WORLD_SIZE",
    "SLURM_JOB_NUM_NODES": "NNODES PET_NNODES WORLD_SIZE",
    "SLURM_ARRAY_TASK_ID": "JOB_COMPLETION_INDEX",
}
"""Variables of kinds with the same meaning, the best first."""
