"""Paths and devices that a command uses, compared with the code, the volumes and the GPUs of its pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gen.base.codes.commands import CLOSED_FOLDER, DEVICE_MASK, LOST_OUTPUT, MISSING_PATH, UNUSED_CODE
from gen.base.findings import Location
from gen.base.regex import regex
from gen.base.shell_words import Word
from gen.job.commands.script import Program
from gen.kubernetes.check.silence import warn
from gen.render.parts.code import DEFAULT_WORKING_DIR
from gen.render.parts.command.command import HARMLESS, Command

_MASK: Final = "CUDA_VISIBLE_DEVICES"


def check_devices(command: Command) -> None:
    gpus = command.pod.role.gpus
    if not gpus or command.pod.effect.claims or (command.text and _MASK not in command.text):
        return
    own = [one for program in command.script.programs for one in program.assigned]
    masks = [
        one
        for one in (*command.script.assignments, *own)
        if one.name == _MASK and one.value.unknown is None and not one.around
    ]
    for mask in masks:
        numbers = mask.value.text.split(",")
        if not all(number.isdecimal() for number in numbers):
            continue
        if max(map(int, numbers)) >= gpus:
            message = f"`{_MASK}={mask.value.text}` names more GPUs than the {gpus} of the container"
            hint = f"remove it, or increase `gpus`; the GPUs have the numbers from 0 to {gpus - 1}"
            command.warning(DEVICE_MASK, _named(mask.value, _MASK), message, hint)
        elif len(masks) == 1 and len(set(numbers)) < gpus:
            message = f"`{_MASK}={mask.value.text}` hides {gpus - len(set(numbers))} of the {gpus} GPUs"
            command.warning(DEVICE_MASK, _named(mask.value, _MASK), message, "remove it, or reduce `gpus`")


def _named(value: Word, name: str) -> Word:
    return Word(name, value.place)


_DIRECTORIES: Final = regex(
    r"--?(?:output|out|save|checkpoint|checkpoints|ckpt|result|results|log|logging|default_root|model_output)"
    r"[-_.]?(?:dir|path|folder|directory)|--?(?:outdir|logdir|savedir|output|out)|hydra\.run\.dir"
)
_TEMPORARY: Final = ("/tmp", "/dev", "/proc", "/var/tmp")  # noqa: S108 - paths of containers


def check_paths(command: Command) -> None:
    _check_code(command)
    mounts = [mount.path.rstrip("/") for mount in command.pod.mounts]
    kept = [*mounts, *_TEMPORARY, *command.context.job.outputs]
    for program in command.script.programs:
        if program.name in HARMLESS:
            continue
        for option, value in _options(program.words):
            if not _DIRECTORIES.fullmatch(option) or not value.text.startswith("/"):
                continue
            if not any(_is_below(value.text, path) for path in kept) and _is_of_training(command, program):
                message = f"`{value.text}` is on no volume, and its files are deleted with the pod"
                hint = "write below a volume in `data`, or add the folder to `outputs`"
                command.warning(LOST_OUTPUT, value, message, hint)


def _is_of_training(command: Command, program: Program) -> bool:
    return any(launched for one, launched in command.launched if one is program)


def _options(words: Iterable[Word]) -> Iterator[tuple[str, Word]]:
    """Options with their values: `--name=value`, `--name value` and `name=value`."""
    before = ""
    for word in words:
        if word.unknown is not None:
            before = ""
            continue
        name, sign, value = word.text.partition("=")
        if sign and value:
            yield name, Word(value, Location("", word.place.line, word.place.column + len(name) + 1))
            before = ""
        elif before and not word.text.startswith("-"):
            yield before, word
            before = ""
        else:
            before = word.text if word.text.startswith("-") else ""


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


_USERS: Final = (
    (regex(r"(?:docker\.io/)?rayproject/ray(?:-ml|-llm)?[:@].*"), "ray", "/home/ray"),
    (regex(r"(?:docker\.io/|quay\.io/)?jupyter/[\w-]+[:@].*"), "jovyan", "/home/jovyan"),
    (regex(r"(?:docker\.io/)?mambaorg/micromamba[:@].*"), "mambauser", "/home/mambauser"),
)
"""Public images with the user that they run as, and its folder."""


def _check_code(command: Command) -> None:
    context, pod = command.context, command.pod
    if pod.code is None:
        return
    folder = f"{(pod.working_dir or DEFAULT_WORKING_DIR).rstrip('/')}/code"
    for image, user, home in _USERS:
        if folder.startswith("/root/") and image.fullmatch(pod.image):
            message = f"the user `{user}` of this image cannot enter `/root`, where the code is"
            place = context.place("code", key=True)
            hint = f"add `workingDir: {home}`"
            warn(context.found, context.job.annotations, CLOSED_FOLDER, place, message, hint)
    if pod.code.git is not None and all(one.words[0].unknown is None for one in command.script.programs):
        _check_folders(command, f"{folder}/{pod.code.name}")


def _check_folders(command: Command, repository: str) -> None:
    """Follow the working directory through the command, as far as it is known."""
    directory: str | None = command.pod.working_dir or DEFAULT_WORKING_DIR
    for program, launched in command.launched:
        if program.name in ("cd", "pushd"):
            target = program.words[1] if len(program.words) > 1 else None
            directory = _joined(directory, target)
            if target is not None and _leads_aside(command, target, directory, repository):
                return
        elif launched and launched[-1].program and not launched[-1].is_module:
            script = launched[-1].program[0]
            _leads_aside(command, script, _joined(directory, script), repository)
            if directory is not None and script.text.endswith(".py") and not _uses_code(command, script):
                message = f"the command does not use the code, which is in `{repository}`"
                path = f"{repository.removeprefix(f'{directory}/')}/{script.text}"
                command.warning(UNUSED_CODE, script, message, f"write `{path}`, or remove `code`")
        elif program.name in _MOVERS:
            return


_MOVERS: Final = frozenset({"git", "mkdir", "ln", "mv", "cp", "unzip", "tar", "rsync", "source", "."})
"""Programs that may make a folder."""


def _uses_code(command: Command, script: Word) -> bool:
    words = (word.raw or word.text for one in command.script.programs for word in one.words)
    values = (value for value in command.env.values() if value is not None)
    return script.text.startswith("/") or any("code" in text for text in (*words, *values))


def _joined(directory: str | None, word: Word | None) -> str | None:
    """An absolute path without `.` and `..`; None if it is unknown."""
    if word is None or word.unknown is not None or not word.text or word.text.startswith(("~", "-")):
        return None
    path = word.text if word.text.startswith("/") else f"{directory}/{word.text}" if directory else ""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts) if path else None


def _leads_aside(command: Command, word: Word, path: str | None, repository: str) -> bool:
    """Whether a path leads to a folder next to that of the repository, which is reported."""
    folder, _, name = repository.rpartition("/")
    if path is None or not path.startswith(f"{folder}/"):
        return False
    used = path.removeprefix(f"{folder}/").split("/")[0]
    mounted = any(_is_below(mount.path, f"{folder}/{used}") for mount in command.pod.mounts)
    if mounted or used in (name, ".git", ".worktrees"):
        return False
    right = f"{name}/{used}" if "." in used else name
    hint = f"write `{word.text.replace(used, right, 1)}`, or set `code.name`"
    message = f"the code is in `{repository}`, and its folder has no `{used}`"
    command.error(MISSING_PATH, word, message, hint)
    return True
