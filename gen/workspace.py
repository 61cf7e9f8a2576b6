"""A user's repository: where it is, and which job files it has."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from gen.diagnostics import Location, UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gen.diagnostics import Findings

JOBS = "jobs"
OVERLAYS = "overlays"
RENDERED = "rendered"

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_STEM = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,200}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, order=True)
class JobFile:
    """One job file: `jobs/<namespace>/<stem>.yaml`."""

    namespace: str
    stem: str

    @property
    def file(self) -> str:
        return f"{JOBS}/{self.namespace}/{self.stem}.yaml"

    @property
    def key(self) -> str:
        """What the patterns of overlays and of the command line are compared with."""
        return f"{self.namespace}/{self.stem}"


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, with `jobs/` and `overlays/`. UsageError when there is none."""
    for folder in (start, *start.parents):
        if (folder / JOBS).is_dir() and (folder / OVERLAYS).is_dir():
            return folder
    raise UsageError(
        f"neither {start} nor a folder above it has {JOBS}/ and {OVERLAYS}/; name the repository with --root"
    )


def checked_root(root: Path) -> Path:
    """A folder that was named as the repository. UsageError when it is none."""
    for name in (JOBS, OVERLAYS):
        if not (root / name).is_dir():
            raise UsageError(f"{root} has no folder {name}/")
    return root.resolve()


def all_jobs(root: Path, found: Findings) -> list[JobFile]:
    """Every job file, in order; files that look like one but lie or are named wrongly are findings."""
    return sorted(_jobs(root, found))


def chosen_jobs(root: Path, patterns: Sequence[str], found: Findings) -> list[JobFile]:
    """The job files that paths or patterns name. A path is looked up alone, however many others there are."""
    chosen: set[JobFile] = set()
    everything: list[JobFile] | None = None
    for pattern in patterns:
        if (job := _named(root, pattern)) is not None:
            chosen.add(job)
            continue
        everything = all_jobs(root, found) if everything is None else everything
        matching = [job for job in everything if fnmatchcase(job.key, _relative(root, pattern))]
        if not matching:
            near = did_you_mean(pattern, (job.key for job in everything[:2000]), otherwise="there are no jobs")
            raise UsageError(f"no job file fits `{pattern}`: {near}")
        chosen.update(matching)
    return sorted(chosen)


def _named(root: Path, pattern: str) -> JobFile | None:
    for path in (Path(pattern), root / pattern, root / JOBS / f"{pattern}.yaml"):
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow a link out of the repository
        if absolute.suffix == ".yaml" and absolute.is_relative_to(root / JOBS) and os.path.lexists(absolute):
            parts = absolute.relative_to(root / JOBS).parts
            if len(parts) == 2:  # noqa: PLR2004 - namespace and file
                return JobFile(parts[0], absolute.stem)
    return None


def _relative(root: Path, pattern: str) -> str:
    """A pattern over `<namespace>/<stem>`, from one over paths."""
    path = Path(os.path.abspath(pattern))  # noqa: PTH100 - as above
    if path.is_relative_to(root / JOBS) and path != root / JOBS:
        pattern = str(path.relative_to(root / JOBS))
    return pattern.removeprefix(f"{JOBS}/").removesuffix(".yaml")


def _jobs(root: Path, found: Findings) -> Iterator[JobFile]:
    for folder in _entries(root / JOBS):
        place = Location(f"{JOBS}/{folder.name}")
        if folder.is_dir(follow_symlinks=False):
            if not _LABEL.fullmatch(folder.name):
                hint = "name the folder like the namespace: lower-case letters, digits and `-`"
                found.error("invalid-name", place, f"`{folder.name}` is no name of a namespace", hint)
            else:
                yield from _in_namespace(folder.name, _entries(Path(folder.path)), found)
        elif folder.name.endswith((".yaml", ".yml")) or folder.is_symlink():
            found.error(
                "misplaced-file",
                place,
                "a job lies in a folder named like its namespace",
                f"move it to {JOBS}/<namespace>/",
            )


def _in_namespace(namespace: str, entries: Iterable[os.DirEntry[str]], found: Findings) -> Iterator[JobFile]:
    for entry in entries:
        place = Location(f"{JOBS}/{namespace}/{entry.name}")
        if entry.is_dir(follow_symlinks=False):
            found.error(
                "misplaced-file",
                place,
                "there are no folders below a namespace's",
                f"move its files to {JOBS}/{namespace}/",
            )
        elif entry.name.endswith(".yml"):
            found.error(
                "misplaced-file",
                place,
                "a job file ends with `.yaml`",
                f"rename it to {entry.name[:-4]}.yaml",
            )
        elif entry.name.endswith(".yaml"):
            if _STEM.fullmatch(entry.name.removesuffix(".yaml")):
                yield JobFile(namespace, entry.name.removesuffix(".yaml"))
            else:
                found.error(
                    "invalid-name",
                    place,
                    "the file's name has characters that cannot be",
                    "use letters, digits, `-`, `_` and `.`",
                )


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, in order, without hidden files."""
    with os.scandir(folder) as entries:
        return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)
