"""Paths and devices that a command uses, compared with the code, the volumes and the GPUs of its pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from gen.base import Location, regex
from gen.base.codes.commands import CLOSED_FOLDER, DEVICE_MASK, LOST_OUTPUT, MISSING_PATH, UNUSED_CODE
from gen.base.shell_words import Word
from gen.job.commands import deepspeed
from gen.job.commands.base import DEVICES
from gen.kubernetes.check.silence import warn
from gen.render.parts.code import DEFAULT_WORKING_DIR
from gen.render.parts.command.command import Command

_MASK: Final = "CUDA_VISIBLE_DEVICES"


def check_devices(command: Command) -> None:
    """Report numbers of GPUs that the container does not have, and those that hide some."""
    gpus = command.pod.role.gpus
    if not gpus or command.pod.effect.claims:
        return
    named = [*_masks(command), *_devices(command)]
    for name, text, at in named:
        numbers = [number for number in text.split(",") if number != "-1"]
        if not all(number.isdecimal() for number in numbers if number):
            continue
        chosen = {int(number) for number in numbers if number}
        if chosen and max(chosen) >= gpus:
            message = f"`{name}={text}` names more GPUs than the {gpus} of the container"
            hint = f"remove it, or increase `gpus`; the GPUs have the numbers from 0 to {gpus - 1}"
        elif len(named) == 1 and len(chosen) < gpus:
            message = f"`{name}={text}` hides {gpus - len(chosen)} of the {gpus} GPUs"
            hint = "remove it, or reduce `gpus`" if chosen else "remove it, or remove `gpus`"
        else:
            continue
        if isinstance(at, Word):
            command.warning(DEVICE_MASK, at, message, hint)
        else:
            warn(command.context.found, command.context.job.annotations, DEVICE_MASK, at, message, hint)


def _masks(command: Command) -> Iterator[tuple[str, str, Word | Location]]:
    """Values of the variable, with their places in the command or in the file."""
    value = command.env.get(_MASK)
    if value is not None:
        yield _MASK, value, command.context.place("env", _MASK)
    if command.text and _MASK not in command.text:
        return
    for one in command.script.variables:
        if one.name == _MASK and one.value.unknown is None and not one.around:
            yield _MASK, one.value.text, Word(_MASK, one.value.place)


def _devices(command: Command) -> Iterator[tuple[str, str, Word | Location]]:
    """Options of launchers with the numbers of GPUs."""
    for _, launched in command.launched:
        for launch in [one for one in launched if one.options]:
            included = launch.options.get("include") if launch.launcher is deepspeed.LAUNCHER else None
            setting = included or launch.get(DEVICES)
            if setting is not None and setting.value:
                host, colon, numbers = setting.value.rpartition(":")
                if not colon or host == "localhost":
                    name = next(name for name, one in launch.options.items() if one is setting)
                    yield f"--{name}", numbers, setting.word


_DIRECTORIES: Final = regex(
    r"-{0,2}(?:\w+\.)*(?:(?:output|out|save|result|results|log|logging|default_root|model_output)[-_.]?"
    r"(?:dir|path|folder|directory)|(?:checkpoint|checkpoints|ckpt)[-_.]?(?:dir|folder|directory))"
    r"|--?(?:outdir|logdir|savedir|output|out)|hydra\.run\.dir"
)
"""Options with folders for results."""
_CHECKPOINTS: Final = regex(r".*(?:checkpoints?|ckpt)\W?\w*")
"""Folders that a program may also start from."""
_TEMPORARY: Final = ("/tmp", "/dev", "/proc", "/var/tmp")  # noqa: S108 - paths of containers


def check_paths(command: Command) -> None:
    _check_code(command)
    kept: tuple[str, ...] = ()
    for program, launched in command.launched:
        paths = [one for one in _paths(program.words) if _DIRECTORIES.fullmatch(one[0])] if launched else ()
        others = [one for one in paths if not _CHECKPOINTS.fullmatch(one[0])]
        for _, value in others or paths:
            kept = kept or _kept(command)
            if f"{value.text}/".startswith(kept):
                continue
            message = f"`{value.text}` is on no volume, and its files are deleted with the pod"
            copied = "outputs" not in command.context.job.unsupported_fields()
            hint = "write below a volume in `data`" + (", or add the folder to `outputs`" if copied else "")
            command.warning(LOST_OUTPUT, value, message, hint)


def _kept(command: Command) -> tuple[str, ...]:
    """Folders whose files outlive the pod, or are temporary."""
    mounts = (mount.path for mount in command.pod.mounts)
    return tuple([f"{path.rstrip('/')}/" for path in (*mounts, *_TEMPORARY, *command.context.job.outputs)])


def _paths(words: Sequence[Word]) -> Iterator[tuple[str, Word]]:
    """Absolute paths with their options: `--name=value`, `--name value` and `name=value`."""
    for before, word in pairwise(words):
        text = word.text
        if text.startswith("/") and before.text.startswith("-"):
            yield before.text, word
        elif "=/" in text:
            name, _, value = text.partition("=")
            yield name, Word(value, Location("", word.place.line, word.place.column + len(name) + 1))


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
    for image, user, home in _USERS if folder.startswith("/root/") else ():
        if image.fullmatch(pod.image):
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
    if script.text.startswith("/") or "code" in command.text or "code" in script.text:
        return True
    words = (word.text for one in command.script.programs for word in one.words)
    return any("code" in text for text in (*words, *filter(None, command.env.values())))


def _joined(directory: str | None, word: Word | None) -> str | None:
    """An absolute path without `.` and `..`; None if it is unknown."""
    if word is None or word.unknown is not None or not word.text or word.text.startswith(("~", "-")):
        return None
    path = word.text if word.text.startswith("/") else f"{directory}/{word.text}" if directory else ""
    if "/." not in path and "//" not in path:
        return path.rstrip("/") or path or None
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
    if used in (name, ".git", ".worktrees"):
        return False
    if any(_is_below(mount.path, f"{folder}/{used}") for mount in command.pod.mounts):
        return False
    right = f"{name}/{used}" if "." in used else name
    hint = f"write `{word.text.replace(used, right, 1)}`, or set `code.name`"
    message = f"the code is in `{repository}`, and its folder has no `{used}`"
    command.error(MISSING_PATH, word, message, hint)
    return True
