"""Folders and variables that the programs of a batch script see in their containers, as those of a pod."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.importers import Fields
from gen.importers.draft import JobDraft, label, literal
from gen.importers.slurm.apptainer import OF_RUNSCRIPT
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.expansion import OPEN, RUN, START, marked, shown, source_text, sources
from gen.importers.slurm.images import carry_image, named_images, options_of_steps, rooted
from gen.importers.slurm.options import Option
from gen.importers.slurm.programs import AnyStep, Step
from gen.importers.slurm.site import Site
from gen.importers.slurm.values import BatchValues

_FILE_SYSTEM: Final = regex(r"\.(?:sqsh|squashfs|sqfs|sif|img|ext3)$")
_OTHER_MOUNT: Final = "mount a volume of the overlay with `data`, if the program needs it"
_UNPACKED: Final = "unpack it into a folder of a volume, and mount that with `data`"
_SYSTEM_FOLDERS: Final = names("dev proc sys etc run var tmp usr")
"""Folders at the top of a machine that belong to it."""


def _split(part: str) -> tuple[str, str, str]:
    """The parts of the mount `SOURCE:TARGET:FLAGS`."""
    source, _, rest = part.partition(":")
    target, _, flags = rest.partition(":")
    return source, (target or source).rstrip("/") or "/", flags


def container_words(script: BatchValues) -> set[str]:
    """The images and mounts of a script, and folders of machines that its containers do not have by this name."""
    parts = [part for one in options_of_steps(script.steps, "container-mounts") for part in one.value.split(",")]
    parts += [part for part, _ in script.mounts]
    return named_images(script) | {*parts} | {source for source, target, _ in map(_split, parts) if source != target}


class Lacking(Struct):
    """Needs of a job from the site of its script."""

    values: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    """Images of its programs that are files of the machines."""
    mounts: dict[str, Location] = field(default_factory=dict)
    """Folders of the container that have no volume, and the places of their mounts."""


def _shown_mount(part: str) -> str:
    """A mount as the script has it."""
    return cut(source_text(part.replace(RUN, marked("$SLURM_JOB_ID"))), 80)


def _unknown_folder(part: str, source: str, script: BatchValues, lacking: Lacking) -> tuple[str, str]:
    """Why a mount is not in the job, whose folder gen does not know, and what to do."""
    why = "its folder is known only on the machines"
    if unset := [one[1:].strip("{}") for one in sources(part) if script.is_unset(one)]:
        lacking.values += unset
        lacking.folders += roots_of(source.partition(OPEN)[0])
        return f"the script gets `${unset[0]}` from outside", f"give it with `--define {unset[0]}=VALUE`"
    if re.match(r"\.(?:/|$)", source) and _SUBMITTED.search(script.source):
        lacking.values.append("PWD")
        return why, _OF_SUBMIT
    return "its folder is a placeholder" if re.search("<[^<>]+>", source) else why, _OTHER_MOUNT


_OF_SUBMIT: Final = "give the folder of `sbatch` with `--define PWD=VALUE`, or mount a volume with `data`"
_SUBMITTED: Final = regex(r"\b(?:pwd|PWD|SLURM_SUBMIT_DIR)\b")


def _mount(draft: JobDraft, part: str, place: Location, script: BatchValues, site: Site, lacking: Lacking) -> bool:
    """Set a mount, and note the folder at the top of a machine that becomes a volume. Whether a pod has the mount."""
    source, target, flags = _split(part)
    is_below = source[:1] == "." and script.origin != START  # the folder of `sbatch`, which the user gives
    source = posixpath.normpath(posixpath.join(script.origin, source)) if is_below else source
    known = site.volume_of(source)
    details: Fields = {"path": literal(target)}
    protected = {"readOnly": True} if "ro" in flags.split("+") else {}
    is_whole = source == target and not protected  # its paths are those of the whole volume
    plain = part.replace(RUN, "") if known is not None and (is_whole or RUN not in target) else part
    what, why, hint = f"the mount `{_shown_mount(part)}`", "", _OTHER_MOUNT
    if not source.startswith("/") or not target.startswith("/") or {OPEN, "$"} & {*plain.replace(RUN, "")}:
        why, hint = _unknown_folder(part, source, script, lacking)
    elif OPEN in plain:
        why, hint = "no volume has its folder", "map a folder above it with `paths` of a site file"
        lacking.folders += roots_of(source)
    elif "image-src" in flags or (source != target and _FILE_SYSTEM.search(source)):
        why, hint = "it is a file system in a file, and not a folder", _UNPACKED
    elif known is not None:
        folder, volume = known
        inner = posixpath.relpath(source, folder)
        if is_whole:
            details["path"] = folder
        elif inner != ".":
            details["subPath"] = literal(inner.replace(RUN, "\ue002")).replace("\ue002", "{{ run.id }}")
        _mount_volume(draft, volume, details | protected, place)
    elif source.strip("/").split("/")[0] not in _SYSTEM_FOLDERS and not f"{source}/".startswith("/opt/slurm/"):
        name = draft.volume(f"host-{target}", {"hostPath": {"path": source}})
        draft.set(_short(details | protected), "data", name, place=place)
        draft.grant("allow", "hostPath")
        lacking.folders += roots_of(source)
    else:
        why, hint = "it belongs to the machines", "remove it"
    if why:
        draft.drop(place, what, why, hint)
    return not why


def _short(details: Fields) -> str | Fields:
    return details if len(details) > 1 else str(details["path"])


def _mount_volume(draft: JobDraft, volume: str, details: Fields, place: Location) -> None:
    """Mount a volume of the site, which has a name of its own in the overlay for each mount behind the first."""
    mount, mounts = _short(details), draft.fields.get("data", {})
    for wanted in chain((volume, f"{volume}-{details['path']}"), (f"{volume}-{number}" for number in count(2))):
        name = label(wanted, "data")
        if mounts.get(name, mount) == mount:
            break
    name = draft.volume(name, {"claim": volume})
    if name != label(volume, "data") and name not in mounts:
        what = f"the name `{volume}` for the volume at `{details['path']}`"
        own = name == f"volume-{label(volume, 'data')}"
        why = f"{'gen has one of its own' if own else 'a job mounts a volume once'}, so it is the volume `{name}`"
        draft.drop(place, what, why, f"declare `{name}` in the overlay as `{volume}` is")
    draft.set(mount, "data", name, place=place)


def carry_containers(
    draft: JobDraft, last: Mapping[str, Option], script: BatchValues, image: str, site: Site, lacking: Lacking
) -> list[str]:
    """Set the image and the mounts: those of Slurm, and of containers that the script starts itself. Returns the
    mounts.
    """
    option = last.get("container-image") or last.get("image")
    carry_image(draft, (option.value, option.place) if option is not None else ("", draft.place), script, image, site)
    asked = [
        one
        for one in (last.get("container-mounts"), *options_of_steps(script.steps, "container-mounts"))
        if one is not None
    ]
    parts: dict[str, Location] = {}
    for part, place in (*((part, one.place) for one in asked for part in one.value.split(",")), *script.mounts):
        parts.setdefault(part, place)
    mounted = set[str]()
    for part, place in parts.items():
        target = _split(part)[1].rstrip("/")
        if target in mounted:
            hint = "mount it at another path, or import a script without the other program"
            draft.drop(place, f"the mount `{_shown_mount(part)}`", "the training has another folder there", hint)
            continue
        mounted.add(target)
        if not _mount(draft, part, place, script, site, lacking):
            lacking.mounts.setdefault(target, place)
    return [*parts]


_NEW_FOLDER: Final = regex(r"\bvenv(?:\s+-\S+)*\s+(\S+)|\bmkdir(?:\s+-\S+)*\s+(\S+)")
_TESTED: Final = regex(r"(?<!\S)-d\s+\"?\$\{?(\w+)\}?\"?(?=[\s;\]])")


def report_runscripts(draft: JobDraft, script: BatchValues, steps: Sequence[Step]) -> None:
    """Report a first word behind the image of `singularity run` that the script itself uses as a folder: it is an
    argument of the runscript, and no program.
    """
    starts = {one.place for one in script.left if one.what == OF_RUNSCRIPT[0]}
    texts = (" ".join(one.words) for one in steps)
    folders = {word.rstrip("/") for text in texts for pair in _NEW_FOLDER.findall(text) for word in pair if word}
    tested = (script.variables.get(name) for name in _TESTED.findall(script.source))
    folders |= {one.rstrip("/") for one in tested if isinstance(one, str) and one}
    for one in steps:
        if one.place in starts and one.words and one.words[0].rstrip("/") in folders:
            what = f"`{cut(shown(one.words[0]))}` is a folder, which the runscript of the image gets as an argument"
            draft.cannot_run(one.place, what, "write what the runscript does behind `exec` and the image")
            return


def carry_folder(draft: JobDraft, options: Sequence[Option]) -> None:
    """Set the working directory of the whole script."""
    last = {one.name: one for one in options}
    for name in ("container-workdir", "chdir"):
        option = last.get(name)
        if option is not None and option.value.startswith("/") and "workingDir" not in draft.fields:
            draft.set(literal(option.value), "workingDir", place=option.place)
        elif option is not None and not option.value.startswith("/"):
            draft.drop(option.place, f"`--{name}`", "a working directory is an absolute path", "set `workingDir`")


_OWN: Final = frozenset(
    {"usr", "opt", "bin", "sbin", "lib", "lib64", "etc", "dev", "proc", "sys", "tmp", "var", "run", "root"}
    | {"workspace", "app", "job"}
)
"""Folders at the top of an image."""
PATH: Final = regex(
    r"(?!(?<=<)/[\w-]+>)(?<![\w})]\")(?<![\w.$})~/:>*?\]-])(?<!>')(/[A-Za-z0-9_][\w.-]*)(?:/[\w.@+-]+)*"
)


_IS_FILE: Final = regex(r"\w\.(?=\w*[A-Za-z])[a-z]\w{0,6}$")
_PATTERNS: Final = regex(r"\b(?:sed|g?awk|perl)(?:\s+-\S+)*\s+(?:'[^']*'|\"[^\"]*\")")
"""Programs of `sed` and others, with slashes that do not name folders."""


def roots_of(text: str) -> Iterable[str]:
    """The folders at the top of a machine that a text names, without those of an image."""
    return (match[1] for match in PATH.finditer(text) if match[1][1:] not in _OWN)


def _line_of(draft: JobDraft, source: str, path: str) -> Location:
    """The line of the script with a path, or with the most of its first folders."""
    for part in (path, *map(str, PurePosixPath(path).parents)):
        at = next((at.start() for at in re.finditer(rf"(?m)^(?!\s*#).*?({re.escape(part)})(?![\w.-])", source)), -1)
        if at >= 0 and part != "/":
            return Location(draft.place.file, source.count("\n", 0, at) + 1)
    return draft.place


def _paths(steps: Iterable[Step]) -> Iterator[str]:
    """The paths in the programs."""
    parts = (part for one in steps for part in (one.text, *one.words, *(value for _, value in one.assigned)))
    return (match[0] for part in parts for match in PATH.finditer(_PATTERNS.sub("", source_text(part))))


def _roots_in_image(steps: Sequence[Step], mounts: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The folders that only a container of `srun` has, and whether it makes them: no mount has their paths, and no
    program on a machine.
    """
    inside = [
        one
        for one in steps
        if any([*options_of_steps([one], "container-image"), *options_of_steps([one], "container-name")])
    ]
    others = {_root(path) for path in _paths(one for one in steps if one not in inside)}
    targets = [_split(one)[1] for one in mounts]
    made = {_root(path) for path in _paths(one for one in inside if one.words[:1] == ("mkdir",))}
    for path in _paths(inside):
        has_mount = any(f"{path}/".startswith(f"{one.rstrip('/')}/") for one in targets)
        if _root(path) not in others and not has_mount and (mounts or _root(path) in made):
            yield _root(path), _root(path) in made


def _root(path: str) -> str:
    return f"/{path.split('/')[1]}"


_FETCHES: Final = names("cp curl git gunzip mv rsync tar touch unzip wget")


def _report_filled(draft: JobDraft, steps: Iterable[Step], mounts: Iterable[str], lacking: Container[str]) -> None:
    """Report files that the script brings into a folder which the container has at another path, without a mount."""
    parts = [(rooted(source), target.rstrip("/")) for source, target, _ in map(_split, mounts)]
    known = [one for one in parts if one[1] in lacking and one[0] != "." and one[0] != one[1]]
    for step in (one for one in steps if one.words and not one.by_srun and one.words[0] in _FETCHES):
        paths = [rooted(word) for word in step.words[1:] if not word.startswith("-")]
        around = [one for one in known if any(f"{path}/".startswith(f"{one[0]}/") for path in paths)]
        for source, target in sorted(around, reverse=True)[:1]:  # the innermost
            what, why = f"the file of `{step.words[0]}` in `{target}`", f"the folder `{source}` is another one here"
            hint = f"write `{target}` in place of `{source}` in `command`, where a volume is mounted at it"
            draft.drop(step.place, what, why, hint)


def _no_path(path: str) -> str:
    """The message about a folder, or a file, that no pod has."""
    return f"no pod has the {'file' if _IS_FILE.search(path) else 'folder'} `{cut(path, 80)}`"


def mount_folders(
    draft: JobDraft, source: str, site: Site, lacking: Lacking, steps: Sequence[Step], mounts: Sequence[str]
) -> None:
    """Volumes for the folders of the site, and a report of folders that no pod has, or only the image."""
    _report_filled(draft, steps, mounts, lacking.mounts)
    in_image = dict(_roots_in_image(steps, mounts))
    has_home = any(options_of_steps(steps, "container-mount-home"))
    command = draft.fields.get("command", "")
    texts = [command if isinstance(command, str) else " ".join(command), str(draft.fields.get("workingDir", ""))]
    texts += [str(value) for value in draft.fields.get("env", {}).values() if isinstance(value, str)]
    mounted = [one if isinstance(one, str) else one["path"] for one in draft.fields.get("data", {}).values()]
    files = draft.fields.get("files", {})
    scripts = [_COMMENTS.sub("", text) for path, text in files.items() if _is_script(path, text, texts[0])]
    others = [text for path, text in files.items() if not _is_script(path, text, texts[0])]
    for text in (*texts, *scripts, *others):
        for match in PATH.finditer(_PATTERNS.sub("", text)):
            path = match[0]
            known = site.volume_of(path)
            around, unknown = (
                [one for one in some if f"{path}/".startswith(f"{one.rstrip('/')}/")]
                for some in ((*mounted, *files), lacking.mounts)
            )
            if max(map(len, unknown), default=0) > max(map(len, around), default=0):
                folder = max(unknown, key=len)
                if not re.search(rf"{re.escape(folder)}(?![\w.-])", _MADE.sub("", text)):
                    continue
                mounted.append(folder)
                if _root(path)[1:] not in _SYSTEM_FOLDERS:
                    hint = "mount a volume of the overlay at it with `data`"
                    draft.cannot_run(lacking.mounts[folder], _no_path(folder or path), hint)
            elif not around and _root(path) in in_image and [*roots_of(path)] and not (has_home and known):
                root = _root(path)
                mounted.append(root)
                if not in_image[root]:
                    why = "no mount of the container has it, so the image has to"
                    hint = "check that the image has it, or mount a volume of the overlay with `data`"
                    draft.drop(_line_of(draft, source, path), f"the folder `{root}`", why, hint)
            elif known is not None and not unknown and len(known[0]) > max(map(len, around), default=0):
                folder, volume = known
                _mount_volume(draft, volume, {"path": folder}, _line_of(draft, source, path))
                mounted.append(folder)
            elif not around and text not in others and [*roots_of(path)]:
                lacking.folders.append(_root(path))
                mounted.append(_root(path))
                hint = "map it with `paths` of a site file, or mount a volume of the overlay with `data`"
                draft.cannot_run(_line_of(draft, source, path), _no_path(path), hint)


_COMMENTS: Final = regex(r"(?m)^\s*#.*")


def _is_script(path: str, text: str, command: str) -> bool:
    """Whether a file of the job is one of a shell, with folders that its programs need."""
    starts = re.search(rf"(?:\b(?:ba)?sh|\bsource|(?<!\S)\.)\s+(?:-\w+\s+)*{re.escape(path)}(?!\S)", command)
    return (
        starts is not None or path.endswith(".sh") or re.match(r"#!\S*(?:/env\s+)?(?:ba|da|z|k)?sh\b", text) is not None
    )


_MADE: Final = regex(r"(?m)^mkdir -p .*")
_MAKES: Final = (("mkdir",), ("chmod",))
_MODE: Final = regex(r"[0-7]{3,4}|[ugoa]*[-+=][rwxXst]+(?:,[ugoa]*[-+=][rwxXst]+)*")


def in_container(steps: Iterable[AnyStep], mounts: Sequence[str], copies: Iterable[str]) -> Iterator[AnyStep]:
    """The programs, with folders that the script makes or changes for a container where that has them: without mounts,
    and without folders for `copies` of images, which no pod needs.
    """
    parts = (one.split(":") for one in mounts if ":" in one)
    targets = sorted(((rooted(source), target.rstrip("/")) for source, target, *_ in parts), reverse=True)
    steps = [*steps]
    others = {rooted(word) for step in steps if step.words[:1] not in _MAKES for word in step.words}
    folders = [posixpath.dirname(one) for one in copies]
    for step in steps:
        words = []
        is_new = step.words[:1] == ("mkdir",)
        for word in step.words[1:] if step.words[:1] in _MAKES else ():
            path = word if word.startswith("-") or (not is_new and _MODE.fullmatch(word)) else rooted(word)
            source, target = next((one for one in targets if f"{path}/".startswith(f"{one[0]}/")), ("", ""))
            is_used = any(f"{one}/".startswith(f"{path}/") for one in others)  # by the script itself
            inside = f"{target}{path[len(source) :]}" if source else word
            is_left_out = path == source or any(f"{one}/".startswith(f"{path}/") for one in folders)
            words += [word] if is_used else [] if is_new and is_left_out else [inside]
        if step.words[:1] not in _MAKES or any(not one.startswith("-") for one in words):
            yield replace(step, words=(*step.words[:1], *words)) if words else step
