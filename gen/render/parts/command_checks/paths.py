"""Paths and devices that a command uses, compared with the code, the volumes and the GPUs of its pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gen.base import Location, names, near, regex
from gen.base.codes.commands import (
    CLOSED_FOLDER,
    DEVICE_MASK,
    LOST_OUTPUT,
    MISSING_PATH,
    NO_GPUS,
    SIMILAR_PATH,
    UNUSED_CODE,
)
from gen.base.shell_words import Word
from gen.job.launchers import deepspeed, program_of, unwrapped
from gen.job.launchers.base import DEVICES, Launch
from gen.job.script import SHELLS, Program
from gen.kubernetes.check.silence import warn
from gen.render.parts.code import CODE, DEFAULT_WORKING_DIR
from gen.render.parts.command_checks.role_command import Command

_MASK: Final = "CUDA_VISIBLE_DEVICES"


def check_devices(command: Command) -> None:
    """Report numbers of GPUs that the container does not have, and those that hide some."""
    gpus = command.pod.role.gpus
    if not any(pod.role.gpus or pod.effect.claims or pod.effect.resources for pod in command.pods):
        _check_no_gpus(command)
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


_CUDA: Final = regex(r"--device[= ]cuda(?::\d+)?|--(?:dist[-_]?)?backend[= ]nccl")
"""Options that only a GPU of NVIDIA or AMD satisfies."""


def _check_no_gpus(command: Command) -> None:
    """Report the first option that needs a GPU. A command that asks whether there is one may have another way."""
    if "cuda" not in command.said and "nccl" not in command.said:
        return
    for _, launched in command.launched:
        words = launched[-1].program if launched else ()
        for word, value in zip(words, [*words[1:], None], strict=False):
            written = word.text if "=" in word.text or value is None else f"{word.text} {value.text}"
            if _CUDA.fullmatch(written):
                message = f"`{written}` needs a GPU, and no pod of the job has one"
                command.warning(NO_GPUS, word, message, "set `gpus`, such as `gpus: 1`, or change the option")
                return


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


_FOLDERS: Final = ("dir", "path", "folder", "directory")
_RESULTS: Final = frozenset(
    {"outdir", "logdir", "savedir", "output", "out", "run.dir"}
    | {
        f"{what}{sep}{folder}"
        for what in ["output", "out", "save", "result", "results", "log", "logging", "default_root", "model_output"]
        for sep in ("_", "")
        for folder in _FOLDERS
    }
)
"""Last words of options with folders for results."""
_CHECKPOINTS: Final = frozenset(
    f"{what}_{folder}" for what in ("checkpoint", "checkpoints", "ckpt") for folder in _FOLDERS if folder != "path"
)
"""Those of folders that a program may also start from."""
_TEMPORARY: Final = ("/tmp", "/dev", "/proc", "/var/tmp")  # noqa: S108 - paths of containers


def check_paths(command: Command) -> None:
    _check_code(command)
    misspelt = _check_names(command)
    for program, launched, directory in _followed(command):
        folders = _folders(program.words) if launched else ()
        for name, value in [one for one in folders if one[0] in _RESULTS] or folders:
            path = value.text if value.text.startswith("/") else _of_folder(command, name, value, directory)
            if not path or path in misspelt or _is_read_only(command, path, value):
                continue
            if _is_kept(command, path) or _is_used(command, program, value):
                continue
            if not value.text.startswith("/") and _READERS.search(
                launched[-1].program[0].text if launched[-1].program else ""
            ):
                continue
            shown = f"`{value.text}`" if path == value.text or directory is None else f"`{value.text}` in `{directory}`"
            message = f"{shown} is not on a volume of the job, so its files are deleted with the pod"
            copied = "outputs" not in command.context.job.unsupported_fields()
            hint = "write below a volume in `data`" + (", or add the folder to `outputs`" if copied else "")
            command.warning(LOST_OUTPUT, value, message, hint)


_PATH: Final = regex(r"(?:[^=/\s]*=)?(?P<path>/[^\s,:;*?$=]+)")
_OF_SYSTEMS: Final = names(
    "app bin boot dev etc home lib media mnt models opt proc root run sbin srv sys tmp user usr var workspace"
)
"""Folders that an image may have, too."""


_MOST_MOUNTS: Final = 50
_MOST_CHARACTERS: Final = 20_000
"""Limits of the mounts and of the words of a command that are compared with each other."""


def _check_names(command: Command) -> set[str]:
    """Warn about paths that probably were meant to be one of the job's, and return them.

    An image can have any path. One that the command uses twice, or may make, was not misspelt.
    """
    known = [mount.path.rstrip("/") for mount in command.pod.mounts][:_MOST_MOUNTS]
    programs = command.script.programs if known else ()
    text = "\n".join(word.text for program in programs for word in program.words)
    misspelt: set[str] = set()
    for program in programs if len(text) <= _MOST_CHARACTERS else ():
        for word in program.words if program.name not in _MOVERS else ():
            match = _PATH.fullmatch(word.text) if word.unknown is None and "/" in word.text else None
            if match is None or any(_is_below(match["path"], one) for one in known):
                continue
            meant = next((one for one in known if _is_slip(match["path"], one)), "")
            typed = "/".join(match["path"].split("/")[: meant.count("/") + 1])
            if meant and text.count(typed) == 1:
                message = f"the job has no file or volume at `{typed}`"
                column = word.place.column + (match.start("path") if command.text else 0)  # lists have numbers of words
                at = Word(typed, Location("", word.place.line, column))
                command.warning(SIMILAR_PATH, at, message, f"did you mean `{meant}`?")
                misspelt.add(match["path"])
    return misspelt


def _is_slip(path: str, known: str) -> bool:
    """Whether one name of the path differs in one letter from that in a known path, which the path may continue."""
    pairs = [(typed, name) for typed, name in zip(path.split("/"), known.split("/"), strict=False) if typed != name]
    if path.count("/") < known.count("/") or len(pairs) != 1 or pairs[0][0] in _OF_SYSTEMS:
        return False
    short, long = sorted(pairs[0], key=len)
    at = next((at for at, (one, other) in enumerate(zip(short, long, strict=False)) if one != other), len(short))
    if len(short) == len(long):  # two letters exchanged
        return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    letters = short[at - 1 : at + 1] + long[at]
    return 0 < at < len(short) and short[at:] == long[at + 1 :] and len(letters) == _LETTERS and letters.isalpha()


_LETTERS: Final = 3
"""The one that is missing, and those around it: names that differ in the last letter, such as plurals, may be meant."""


def _named(option: str) -> str:
    """The last words of an option with a folder, with `_` between them; empty for others."""
    name = option.lstrip("-").replace("-", "_")
    name = name.removeprefix("hydra.") if name.startswith("hydra.") else name.rpartition(".")[2]
    return name if name in _RESULTS or name in _CHECKPOINTS else ""


def _followed(command: Command) -> Iterator[tuple[Program, tuple[Launch, ...], str | None]]:
    """The programs with what they launch and their working directory, as far as it is known."""
    pod = command.pod
    directory = pod.working_dir or (DEFAULT_WORKING_DIR if pod.code is not None else None)
    for program, launched in command.launched:
        if program.name in ("cd", "pushd"):
            directory = _joined(directory, program.words[1] if len(program.words) > 1 else None)
        yield program, launched, directory


def _is_kept(command: Command, path: str) -> bool:
    """Whether files outlive the pod, or are temporary. The volume with the code is the pod's own."""
    mounts = (mount.path for mount in command.pod.mounts if command.pod.code is None or mount.volume != CODE)
    # a volume that the overlay does not have is reported
    data = (one if isinstance(one, str) else one.path for one in command.context.job.data.values())
    return any(_is_below(path, folder) for folder in (*mounts, *data, *_TEMPORARY, *command.context.job.outputs))


def _is_read_only(command: Command, path: str, value: Word) -> bool:
    """Whether the innermost volume of a folder is read-only, which is reported."""
    over = [mount for mount in command.pod.mounts if _is_below(path, mount.path)]
    if not over or not max(over, key=lambda mount: len(mount.path)).read_only:
        return False
    message = f"`{value.text}` is on a read-only volume, so that no file can be written there"
    command.warning(LOST_OUTPUT, value, message, "write below another volume in `data`, or remove `readOnly`")
    return True


def _is_used(command: Command, program: Program, value: Word) -> bool:
    """Whether another program of the command reads or copies a folder."""
    folder = value.text.removeprefix("./").rstrip("/")
    return command.said.count(folder) > sum(word.text.count(folder) for word in program.words)


_READERS: Final = regex(r"(?i)(?:plot|sample|eval|scor|visual|analy|summar|report|test)[^/]*$")
"""Scripts that may read the folder of results."""


def _of_folder(command: Command, name: str, value: Word, directory: str | None) -> str | None:
    """The path of a folder relative to the directory; any path if that is unknown and the pod has no volume."""
    if not name.endswith((*_FOLDERS, "outdir", "logdir", "savedir")) or not _FOLDER.fullmatch(value.text):
        return None
    if directory is None:
        return None if command.pod.mounts or command.context.job.outputs else value.text
    return _joined(directory, value)


_FOLDER: Final = regex(r"(?!(?i:none|null|true|false|auto|disabled?)$)(?:\.{0,2}/)*[A-Za-z_][\w./+@-]*")
"""Relative paths of folders, without protocols and variables."""


def _folders(words: Sequence[Word]) -> list[tuple[str, Word]]:
    """Names and values of options with folders: `--name=value`, `--name value`, and paths as `name=value`."""
    found: list[tuple[str, Word]] = []
    option = ""
    for word in words[1:]:
        text = word.text
        name, sign, value = text.partition("=")
        if sign and (text[0] == "-" or value[:1] == "/") and (known := _named(name)):
            place = Location("", word.place.line, word.place.column + len(name) + 1)
            found.append((known, Word(value, place)))
        elif option and text[:1] != "-" and (known := _named(option)):
            found.append((known, word))
        option = text if text[:1] == "-" and not sign else ""
    return found


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


_USERS: Final = (
    ("ray", regex(r"(?:docker\.io/)?rayproject/ray(?:-ml|-llm)?[:@].*"), "ray", "/home/ray"),
    ("jupyter", regex(r"(?:docker\.io/|quay\.io/)?jupyter/[\w-]+[:@].*"), "jovyan", "/home/jovyan"),
    ("mamba", regex(r"(?:docker\.io/)?mambaorg/micromamba[:@].*"), "mambauser", "/home/mambauser"),
)
"""Parts of the names of public images, the images, the users that they run as, and their folders."""


def _check_code(command: Command) -> None:
    context, pod = command.context, command.pod
    if pod.code is None:
        return
    folder = f"{(pod.working_dir or DEFAULT_WORKING_DIR).rstrip('/')}/code"
    for part, image, user, home in _USERS if folder.startswith("/root/") else ():
        if part in pod.image and image.fullmatch(pod.image):
            message = f"the user `{user}` of this image cannot enter `/root`, where the code is"
            place = context.place("code", key=True)
            hint = f"add `workingDir: {home}`"
            warn(context.found, context.job.annotations, CLOSED_FOLDER, place, message, hint)
    if pod.code.git is not None and all(one.words[0].unknown is None for one in command.script.programs):
        _check_folders(command, f"{folder}/{pod.code.name}")


def _check_folders(command: Command, repository: str) -> None:
    """Follow the working directory through the command, as far as it is known."""
    for program, launched, directory in _followed(command):
        script = _script(program, launched) or _requirements(program, directory)
        if program.name in ("cd", "pushd"):
            target = program.words[1] if len(program.words) > 1 else None
            if target is not None and _leads_aside(command, target, directory, repository):
                return
        elif script is not None:
            _leads_aside(command, script, _joined(directory, script), repository)
            if (
                directory is not None
                and script.text.endswith((".py", ".sh", ".txt"))
                and not _uses_code(command, script)
            ):
                what = f"`{program.name}`" if program.name in _PIP else "the command"
                message = f"{what} does not use the code, which is in `{repository}`"
                path = f"{repository.removeprefix(f'{directory}/')}/{script.text.removeprefix('./')}"
                hint = f"write `{path}`" + (", or remove `code`" if program.name not in _PIP else "")
                command.warning(UNUSED_CODE, script, message, hint)
        elif program.name in _MOVERS:
            return


def _requirements(program: Program, directory: str | None) -> Word | None:
    """The file with the requirements of the code, if `pip` reads it next to the code."""
    words = program.words
    if program.name not in _PIP or directory != DEFAULT_WORKING_DIR:
        return None
    at = next((at for at, word in enumerate(words) if word.text in ("-r", "--requirement")), len(words))
    return words[at + 1] if at + 1 < len(words) else None


def _script(program: Program, launched: Sequence[Launch]) -> Word | None:
    """The file that a program runs: that of its launcher, one of a shell, or the program itself, as `./run.sh`."""
    if launched:
        return launched[-1].program[0] if launched[-1].program and not launched[-1].is_module else None
    words = unwrapped(program.words)
    if words and program_of(words[0]) in SHELLS:
        words = words[1:]
    return words[0] if words and words[0].unknown is None and words[0].text.endswith((".py", ".sh")) else None


_PIP: Final = frozenset({"pip", "pip3"})
_MOVERS: Final = frozenset({"git", "mkdir", "ln", "mv", "cp", "unzip", "tar", "rsync", "source", "."})
"""Programs that may make a folder."""


def _uses_code(command: Command, script: Word) -> bool:
    if script.text.endswith(".txt"):
        return "/" in script.text or script.text in command.context.job.files
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
    right = name if near(used, (name,)) else f"{name}/{used}"
    below = path.removeprefix(f"{folder}/")
    start = word.text.removesuffix(below) if word.text.endswith(below) else f"{folder}/"
    hint = f"write `{start}{right}{below.removeprefix(used)}`, or set `code.name`"
    message = f"the code is in `{repository}`, and its folder has no `{used}`"
    command.error(MISSING_PATH, word, message, hint)
    return True
