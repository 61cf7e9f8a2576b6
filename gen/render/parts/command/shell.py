"""Statements of a command that a shell reads otherwise than meant, and programs that no pod has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gen.base.codes.commands import BASH_SYNTAX, CUT_COMMAND, ENDS_AT_ONCE, IGNORED_FAILURE, NO_HOOK, NOT_IN_A_POD
from gen.base.findings import Location
from gen.base.regex import regex
from gen.base.shell_words import Word
from gen.job.commands import unwrapped
from gen.job.commands.script import Program
from gen.job.commands.slurm import PROGRAMS as SLURM
from gen.job.scalars import shown
from gen.render.parts.command.command import HARMLESS, Command


def check_shell(command: Command) -> None:
    _check_programs(command)
    if not command.text:
        return
    _check_statements(command)
    if command.shell == "sh":
        _check_bash(command)
    if "SLURM_" in command.text:
        _check_slurm(command)


def is_cut(command: Command, program: Program) -> bool:
    """Report a line that continues the one before, which does not go on."""
    word = program.words[0]
    text = word.text
    option = text.startswith("-") and text.strip("-")[:1].isalpha()
    if word.unknown is not None or not (option or _SETTING.match(text) or _SCRIPT.fullmatch(text)):
        return False
    lines = command.text.split("\n")
    before = lines[word.place.line - 2] if word.place.line > 1 else ""
    message = f"{shown(text)} is not a program"
    if not lines[word.place.line - 1][: word.place.column - 1].strip() and before.strip():
        cut = before.rstrip().endswith("\\") or " \\ " in before
        message += (
            ": the `\\` of the line before it is not its last character"
            if cut
            else ", and the line before it ends without `\\`"
        )
        comment = before.lstrip().startswith("#")
        message = f"{shown(text)} is not a program: a comment ends the lines before it" if comment else message
        hint = (
            "move the comment above the command"
            if comment
            else "remove the text behind the `\\`"
            if cut
            else "write `\\` at the end of the line before"
        )
    else:
        hint = f"write `python {text}`" if _SCRIPT.fullmatch(text) else "write the program before it"
    command.error(CUT_COMMAND, word, message, hint)
    return True


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
    defined = "()" in command.text or "function " in command.text or "alias " in command.text
    for program in command.script.programs:
        name = program.name
        second = program.words[1].text if len(program.words) > 1 else ""
        if name in _HOSTS_ONLY and not defined and not _is_tried(program):
            if name in ("docker", "podman", "module") and second not in _SUBCOMMANDS:
                continue
            said = name if name in _INSTEAD else f"{name} {second}".strip()
            hint = _INSTEAD.get(name, f"remove `{name}`; the fields of the job replace it")
            message = f"`{said}` does not work in a pod: {_HOSTS_ONLY[name]}"
            command.warning(NOT_IN_A_POD, program.words[0], message, hint)
        elif name in ("conda", "mamba") and second == "activate" and not _has_hook(command):
            environment = next((word.text for word in program.words[2:3]), "") or "<environment>"
            message = f"`{name} activate` fails, because this shell does not load the hook of conda"
            hint = f"remove it, and write `{name} run -n {environment}` before the program"
            command.warning(NO_HOOK, program.words[0], message, hint)


def _has_hook(command: Command) -> bool:
    return any(hook in command.text for hook in _HOOKS) or not {"l", "i"}.isdisjoint(_flags(command))


_SUBCOMMANDS: Final = frozenset({"run", "exec", "build", "compose", "pull", "load", "purge", "start"})


def _is_tried(program: Program) -> bool:
    """Whether the command goes on without it."""
    return any(one in ("a condition", "a function", "a substitution", "a pipe") for one in program.around)


def _flags(command: Command) -> str:
    """The letters of the options of the shell in a list."""
    written = command.context.of_role(command.pod.role, "command")
    if isinstance(written, str):
        return ""
    return "".join(word.lstrip("-") for word in written[1:-1] if word.startswith("-") and not word.startswith("--"))


_STATEMENTS: Final = frozenset({"command", "redirected_statement", "pipeline"})


def _check_statements(command: Command) -> None:
    """Programs that end at once, and failures that stay hidden."""
    script, programs = command.script, command.script.programs
    last = len(script.statements) - 1
    if script.statements[last].background and not any(one.name == "wait" for one in programs):
        program = [one for one in programs if one.statement == last][-1]
        word = next(iter(unwrapped(program.words)), program.words[0])
        message = f"{shown(word.text)} runs in the background, and the container ends at once"
        command.error(
            ENDS_AT_ONCE, program.words[0], message, "remove the `&` behind it, or add `wait` as the last line"
        )
    if last == 0 or any(one.name == "set" and _sets_errexit(one) for one in programs) or "e" in _flags(command):
        return
    if any(one.name == "trap" for one in programs):
        return
    for number, statement in enumerate(script.statements[:last]):
        own = [one for one in programs if one.statement == number and "a substitution" not in one.around]
        if statement.type not in _STATEMENTS or statement.background or not own:
            continue
        program = own[-1]
        if (
            not program.name
            or program.name in HARMLESS
            or program.name in _HOSTS_ONLY
            or program.name in script.functions
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


def _sets_errexit(program: Program) -> bool:
    words = [word.text for word in program.words[1:]]
    return "errexit" in words or any(
        word.startswith("-") and "e" in word and not word.startswith("--") for word in words
    )


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
_SLURM: Final = regex(r"\$(?:(SLURM_\w+)|\{(SLURM_\w+)\})")


def _check_slurm(command: Command) -> None:
    known = {one.name for one in command.script.assignments} | set(command.env)
    for match in _SLURM.finditer(command.text):
        name = match[1] or match[2]
        in_line = command.text[command.text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if name not in known and not _COMMENT.search(in_line):
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
