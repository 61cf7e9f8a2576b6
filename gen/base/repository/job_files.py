"""Finds job files and overlays: all of a repository, or the jobs that the command line names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path

from gen.base.codes.files import INVALID_NAME, MISPLACED_FILE, MISSING_FILE, NOT_A_FILE
from gen.base.codes.overlays import RESERVED_NAME
from gen.base.codes.pins import LOCK_WITHOUT_JOB
from gen.base.engines import ENGINES, is_control_file, refuse_control_file
from gen.base.findings import Findings, Location, UsageError, did_you_mean, near
from gen.base.lazy import regex
from gen.base.repository import layout
from gen.base.repository.files import printable_path, unusable

_STEM = regex(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,200}[A-Za-z0-9])?")


def all_jobs(root: Path, found: Findings) -> list[layout.JobFile]:
    """All job files, sorted. Misplaced and misnamed files are findings."""
    return sorted(job for entry in _entries(root / layout.JOBS) for job in _at(root, entry.name, found))


def has_jobs(root: Path, number: int) -> bool:
    """Whether a repository has about this number of job files, or more; without a look at each."""
    try:
        folders = [folder for folder in (root / layout.JOBS).iterdir() if folder.is_dir()]
        files = chain.from_iterable(map(Path.iterdir, folders))
        return sum(1 for _ in islice(files, number)) == number
    except OSError:  # which the run reports
        return False


def chosen_jobs(root: Path, patterns: Sequence[str], found: Findings) -> list[layout.JobFile]:
    """The job files that match paths, folders, names or patterns.

    A path is looked up without listing other files. A name alone is found in any namespace, from any folder.
    """
    chosen: set[layout.JobFile] = set()
    everything: list[layout.JobFile] | None = None
    for pattern in patterns:
        if (parts := _existing(root, pattern)) is not None:
            before = len(found.items)
            named = _named(root, parts, found)
            if not named and len(found.items) == before:
                raise UsageError(f"no job files in `{pattern}`; they belong in {layout.jobs_path('<namespace>')}/")
            chosen.update(named)
            continue
        everything = all_jobs(root, found) if everything is None else everything
        forms = {
            _relative(root, pattern),
            layout.job_key(pattern),
        }  # from the working folder, and as `<namespace>/<job>`
        matching = [job for job in everything if any(fnmatchcase(job.key, form) for form in forms)]
        matching = matching or _with_stem(everything, pattern)
        if not matching:
            known = everything[:2000]
            names = [job.stem if "/" not in pattern and near(pattern, [job.stem]) else job.key for job in known]
            hint = did_you_mean(pattern, names, otherwise="no jobs exist")
            raise UsageError(f"no job matches `{pattern}`: {hint}")
        chosen.update(matching)
    return sorted(chosen)


def _with_stem(everything: Sequence[layout.JobFile], pattern: str) -> list[layout.JobFile]:
    """The jobs with this name, or that match a pattern. UsageError for a name that two namespaces have."""
    stem = pattern.removesuffix(layout.ENDING)
    found = [job for job in everything if fnmatchcase(job.stem, stem)]
    if len(found) > 1 and all(job.stem == stem for job in found):
        names = " or ".join(f"`{job.key}`" for job in found[:3])
        raise UsageError(f"{len(found)} namespaces have a job `{stem}`: write {names}")
    return found


def _existing(root: Path, pattern: str) -> tuple[str, ...] | None:
    """The parts of an existing path below `jobs/`; None if it does not exist."""
    for path in (
        pattern,
        root / pattern,
        root / layout.jobs_path(pattern),
        root / layout.jobs_path(f"{pattern}{layout.ENDING}"),
    ):
        parts = _below(root, path) if pattern else None
        if parts is not None and os.path.lexists(root / layout.jobs_path(*parts)):
            return parts
    return None


def _named(root: Path, parts: tuple[str, ...], found: Findings) -> list[layout.JobFile]:
    if not parts:
        return all_jobs(root, found)
    if len(parts) > 2:  # noqa: PLR2004 - namespace and file
        _too_deep("/".join(parts[:2]), parts[0], found)
        return []
    return list(_at(root, parts[0], found, *parts[1:]))


def _relative(root: Path, pattern: str) -> str:
    """A pattern for `<namespace>/<stem>`, from a pattern for paths."""
    if parts := _below(root, pattern):
        pattern = "/".join(parts)
    return layout.job_key(pattern)


def _below(root: Path, path: str | Path) -> tuple[str, ...] | None:
    """The parts of a path below `jobs/`, also if symbolic links lead to the root; None for other paths."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow a link out of the repository
    above = [root] if absolute.is_relative_to(root) else reversed((absolute, *absolute.parents))
    for folder in above:
        if folder == root or _same(folder, root):
            parts = absolute.relative_to(folder).parts
            return parts[1:] if not parts or parts[0] == layout.JOBS else None
    return None


def _same(folder: Path, root: Path) -> bool:
    try:
        return folder.samefile(root)
    except (OSError, ValueError):
        return False


def _at(root: Path, folder: str, found: Findings, only: str | None = None) -> Iterator[layout.JobFile]:
    """The jobs of an entry in `jobs/`, which should be the folder of a namespace; or the job in the file `only`."""
    path, place = root / layout.jobs_path(folder), Location(layout.jobs_path(printable_path(folder)))
    if is_control_file(folder):
        refuse_control_file(place.file, found)
    elif path.is_symlink():
        hint = "replace the link with the folder itself"
        found.error(NOT_A_FILE, place, "links are not allowed", hint)
    elif not path.is_dir():
        if folder.lower().endswith(layout.SIMILAR_ENDINGS):
            hint = f"move it to {layout.jobs_path('<namespace>')}/"
            found.error(MISPLACED_FILE, place, "job file outside of a namespace folder", hint)
    elif not layout.LABEL.fullmatch(folder):
        hint = "rename the folder; use lower-case letters, digits and `-`"
        found.error(INVALID_NAME, place, f"`{printable_path(folder)}` is not a valid namespace name", hint)
    elif only is not None:
        yield from _job(folder, only, found, deeper=not (path / only).is_symlink() and (path / only).is_dir())
    else:
        entries = _entries(path)
        _check_locks(folder, [entry.name for entry in entries], found)
        for entry in entries:
            yield from _job(folder, entry.name, found, deeper=entry.is_dir(follow_symlinks=False))


def _job(namespace: str, name: str, found: Findings, *, deeper: bool) -> Iterator[layout.JobFile]:
    place = Location(layout.jobs_path(namespace, printable_path(name)))
    stem, ending = os.path.splitext(name)  # noqa: PTH122 - a tenth of the time of a Path, per file
    if is_control_file(name):
        refuse_control_file(place.file, found)
    elif ending != layout.ENDING and ending.lower() in layout.SIMILAR_ENDINGS:
        hint = f"rename it to {printable_path(stem)}{layout.ENDING}"
        found.error(MISPLACED_FILE, place, f"unsupported file extension; expected `{layout.ENDING}`", hint)
    elif deeper:
        _too_deep(f"{namespace}/{name}", namespace, found)
    elif ending == layout.ENDING and _STEM.fullmatch(stem):
        yield layout.JobFile(namespace, stem)
    elif ending == layout.ENDING:
        hint = "use letters, digits, `-`, `_` and `.`"
        found.error(INVALID_NAME, place, "invalid characters in the file name", hint)


def _check_locks(namespace: str, names: Sequence[str], found: Findings) -> None:
    """Report locks without a job: a job that gets the name later would have their pins."""
    known = frozenset(names)
    for name in names:
        stem = name.removesuffix(layout.LOCK_ENDING)
        if stem != name and f"{stem}{layout.ENDING}" not in known:
            place = Location(layout.jobs_path(namespace, printable_path(name)))
            hint = "remove it, or rename it with its job"
            found.error(LOCK_WITHOUT_JOB, place, "a lock without a job file of the same name", hint)


def _too_deep(path: str, namespace: str, found: Findings) -> None:
    place, hint = (
        Location(layout.jobs_path(printable_path(path))),
        f"move its files to {layout.jobs_path(printable_path(namespace))}/",
    )
    found.error(MISPLACED_FILE, place, "unsupported folder below a namespace folder", hint)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Sorted entries of a folder, without hidden files unless they configure a tool. UsageError if it is unreadable."""
    try:
        with os.scandir(folder) as entries:
            seen = (entry for entry in entries if not entry.name.startswith(".") or is_control_file(entry.name))
            return sorted(seen, key=lambda entry: entry.name)
    except OSError as error:
        raise unusable(folder, error, "check its permissions") from error


def overlay_names(root: Path, found: Findings) -> list[str]:
    """Sorted names of overlays. Misplaced and misnamed ones are findings.

    Else gen would treat their rendered files as left over. Hidden entries and files such as a README are ignored.
    """
    return [
        name for name in _listed(root / layout.OVERLAYS) if not name.startswith(".") and _is_overlay(root, name, found)
    ]


def _is_overlay(root: Path, name: str, found: Findings) -> bool:
    path, place = root / layout.overlays_path(name), Location(layout.overlays_path(printable_path(name)))
    if path.is_symlink():
        found.error(NOT_A_FILE, place, "links are not allowed", "replace the link with the folder itself")
    elif not path.is_dir():
        if name.lower().endswith(layout.SIMILAR_ENDINGS):
            stem = printable_path(name.rsplit(".", 1)[0])
            hint = f"move it to {layout.overlay_file(stem)}"
            found.error(MISPLACED_FILE, place, "overlay file outside of an overlay folder", hint)
    elif name in ENGINES:
        message = f"reserved overlay name `{name}`: {layout.rendered_path(name)}/ contains the files for {name}"
        found.error(RESERVED_NAME, place, message, "rename the folder")
    elif not layout.LABEL.fullmatch(name):
        hint = "rename the folder; use lower-case letters, digits and `-`"
        found.error(INVALID_NAME, place, f"`{printable_path(name)}` is not a valid overlay name", hint)
    elif layout.OVERLAY_FILE not in (inside := _listed(path)):
        meant = near(layout.OVERLAY_FILE, (other for other in inside if other.lower().endswith(layout.SIMILAR_ENDINGS)))
        rename = f"rename `{printable_path(meant)}` to `{layout.OVERLAY_FILE}`"
        hint = rename if meant else f"add `{layout.OVERLAY_FILE}`, or remove the folder"
        found.error(MISSING_FILE, place, f"the folder has no `{layout.OVERLAY_FILE}`", hint)
    else:
        return True
    return False


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names, not paths
    except OSError as error:
        raise unusable(folder, error, "check its permissions") from error
