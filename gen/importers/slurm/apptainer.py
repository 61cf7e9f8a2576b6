"""Programs that Apptainer, Singularity or Shifter starts in a container, as those of a pod."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import names, regex
from gen.importers.slurm.expansion import OPEN, items_of
from gen.importers.slurm.programs import Called, DroppedPart, Opened
from gen.importers.slurm.values import BatchValues

PROGRAMS: Final = frozenset({"apptainer", "singularity"})
OF_MODULES: Final = frozenset({"apptainer_wrapper", "singularity_wrapper"})
"""Programs of CSC that start the image of the loaded module."""
STARTS: Final = PROGRAMS | OF_MODULES | {"shifter"}
SHIFTER_VALUES: Final = names("-V --volume -i --image -m --module -e --env --env-file -w --workdir")
CONTAINER_VALUES: Final = frozenset(
    {"-B", "--bind", "--env", "--pwd", "-H", "--home", "--overlay", "--env-file", "--mount", "-W", "--workdir", "-S"}
    | {"--cwd", "--scratch", "--fusemount", "--network", "--network-args", "--hostname", "--security", "--dns"}
)
"""Options of Apptainer with a value as the next word."""
_MOUNTS: Final = names("-V --volume -B --bind")
_FOLDER: Final = frozenset({"--pwd", "--cwd"})
PREFIX: Final = regex(r"^docker:(?://)?")
"""Shifter does without the slashes."""
_OF_PROGRAM: Final = regex(r"(?:SINGULARITY|APPTAINER)ENV_(?!PREPEND_PATH|APPEND_PATH|PATH|LD_LIBRARY_PATH)(\w+)")
"""Variables of the script that a program has in the container, by a shorter name."""
_OF_MOUNTS: Final = regex(r"(?:SINGULARITY|APPTAINER)_BIND(?:PATH)?")
_SOURCES: Final = ("source", "src")
_TARGETS: Final = ("destination", "target", "dst")
RUNSCRIPT: Final = "/.singularity.d/runscript"
"""The program of an image, which only its own format has."""
_LEFT: Final = {
    "--env-file": ("the job has no file of variables", "write its variables as `env`"),
    "--overlay": ("a pod has the file system of its image", "write its files into the image"),
    "--cleanenv": ("the program has the variables of the job", "remove those that it must not have"),
    "--containall": ("the program has the variables of the job", "remove those that it must not have"),
    "--home": ("a container has no home of the user", "mount a volume of the overlay with `data`"),
}
OF_RUNSCRIPT: Final = (
    "the runscript of the image",
    "the job starts the program itself",
    "check that the program needs nothing of it",
)
_UNKNOWN: Final = ("gen does not know this option", "check whether the job needs it")
_CARRIED: Final = _MOUNTS | _FOLDER | names("--mount --nv --rocm --nvccli --no-home --writable-tmpfs -c --contain")
"""Options with a part in the job, and those about what each pod has: GPUs, and a file system of its own."""
_IN_INSTANCE: Final = "instance://"
_SHORT: Final = {"-e": "--cleanenv", "-C": "--containall", "-H": "--home"}


def opened(words: Sequence[str]) -> Opened | None:
    """The container that a command starts with a program; None for other commands."""
    program = words[0].rpartition("/")[2]
    if program in OF_MODULES and words[1:2] == ["exec"] and words[2:]:
        return Opened(command=(*words[2:],))
    if program == "shifter":
        return _opened(words, 1, SHIFTER_VALUES, is_shifter=True)
    is_start = program in PROGRAMS and words[1:2] in (["exec"], ["run"])
    return _opened(words, 2, CONTAINER_VALUES, is_shifter=False) if is_start else None


def _opened(words: Sequence[str], at: int, with_value: frozenset[str], *, is_shifter: bool) -> Opened | None:
    image, folder, mounts, pairs = "", "", list[str](), list[tuple[str, str]]()
    left = {"run": OF_RUNSCRIPT} if words[1:2] == ["run"] and not is_shifter else {}
    while at < len(words) and words[at].startswith("-"):
        name, equals, value = words[at].partition("=")
        at += 1 if equals or name not in with_value else 2
        value = value or words[min(at, len(words)) - 1]
        image = value if name in ("-i", "--image") and is_shifter else image
        folder = value if name in _FOLDER or (is_shifter and name in ("-w", "--workdir")) else folder
        mounts += value.split(",") if name in _MOUNTS else []
        mounts += _mount(value) if name == "--mount" else []
        long = name if is_shifter else _SHORT.get(name, name)
        if name == "--env" or (is_shifter and name == "-e"):
            parts = (one.partition("=") for one in re.split(r",(?=[A-Za-z_]\w*=)", value))
            pairs += [(one, text) for one, _, text in parts if one.isidentifier()]
        elif long in _LEFT or not (is_shifter or long in _CARRIED):
            left[long] = (f"`{name}` of the container", *_LEFT.get(long, _UNKNOWN))
    inner = [*words[at:]]
    if not is_shifter and inner:
        image = inner.pop(0)
    elif image and OPEN not in image:  # which is one of a registry, with any spelling
        image = f"docker://{PREFIX.sub('', image)}"
    misplaced = inner[0] if inner and inner[0].startswith("-") and words[1:2] == ["exec"] and not is_shifter else ""
    while misplaced and inner and inner[0].startswith("-"):
        del inner[: 2 if inner[0] in with_value else 1]
    if words[1:2] == ["run"] and not is_shifter and (not inner or inner[0].startswith("-")):
        inner, left = [RUNSCRIPT, *inner], {}
    if not inner:
        return None
    return Opened(
        image=image,
        command=(*inner,),
        mounts=(*mounts,),
        folder=folder,
        variables=(*pairs,),
        left=(*left.values(),),
        misplaced=misplaced,
    )


def follow_instance(reader: BatchValues, called: Called) -> bool:
    """`apptainer instance`: programs in an instance are those of a container with its image. False for others."""
    words = called.words
    if called.program.rpartition("/")[2] not in PROGRAMS or words[1:2] != ("instance",):
        return False
    if words[2:3] not in (("start",), ("run",)):  # which stop or show it
        return True
    given = _opened(words, 3, CONTAINER_VALUES, is_shifter=False)
    if given is None:
        return False
    name, *arguments = given.command
    reader.instances[name] = given
    reader.left += given.dropped(called.place)
    is_used = _IN_INSTANCE in reader.source and not arguments
    hint = "check that the program needs nothing of it" if is_used else "write it into `command`"
    what = "the startscript of the image" if words[2] == "start" else "the runscript of the image"
    if is_used:
        reader.left.append(DroppedPart(called.place, what, "the job starts the programs of the instance", hint))
    else:
        reader.refuse(called.place, f"only the image knows the program of {what.removesuffix(' of the image')}", hint)
    return True


def in_instance(reader: BatchValues, container: Opened) -> Opened:
    """A container with the image, the mounts and the variables of the instance that it names."""
    of_instance = reader.instances.get(container.image.removeprefix(_IN_INSTANCE))
    if of_instance is None or not container.image.startswith(_IN_INSTANCE):
        return container
    return replace(
        container,
        image=of_instance.image,
        mounts=(*of_instance.mounts, *container.mounts),
        folder=container.folder or of_instance.folder,
        variables=(*of_instance.variables, *container.variables),
    )


def _mount(value: str) -> list[str]:
    """`type=bind,source=A,destination=B` as `A:B`."""
    given = dict(one.partition("=")[::2] for one in value.split(","))
    ends = [next((given[one] for one in some if one in given), "") for some in (_SOURCES, _TARGETS)]
    return [":".join(ends)] if all(ends) else []


def of_environment(reader: BatchValues, assigned: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[str]]:
    """The variables and the mounts of a container that variables of the script set."""
    exported = {name: "".join(items_of(reader.variables.get(name, ""))[:1]) for name in reader.exported}
    given = {**exported, **dict(assigned)}
    variables = [
        (match[1], value) for name, value in given.items() if (match := _OF_PROGRAM.fullmatch(name)) is not None
    ]
    return variables, [one for name in given if _OF_MOUNTS.fullmatch(name) for one in given[name].split(",") if one]


def of_container(name: str) -> bool:
    """Whether a variable sets one of a program in a container, or its mounts."""
    return _OF_PROGRAM.fullmatch(name) is not None or _OF_MOUNTS.fullmatch(name) is not None
