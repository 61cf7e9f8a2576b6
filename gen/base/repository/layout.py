"""Paths below `jobs/`, `overlays/` and `rendered/`, built and parsed. No other module writes them or takes them apart.

    jobs/<namespace>/<job>.yaml
    jobs/<namespace>/<job>.lock                                      pins of its images and code
    overlays/<overlay>/overlay.yaml                                  with patches/, crds/, policies/ and runtimes/
    overlays/<overlay>/vendor/<path>/overlay.yaml                    an overlay of another repository, and its templates
    overlays/<overlay>/vendor.lock                                   where it is from, and digests of its files
    rendered/<overlay>/jobs/<namespace>/<job>/<kind>-<name>.yaml     objects of runs
    rendered/<overlay>/storage/<namespace>/<kind>-<name>.yaml        volumes and claims
    rendered/<engine>/<overlay>/<kind>-<name>.yaml                   objects for a GitOps engine
    rendered/<engine>/<overlay>/settings/<name>.patch                additions to its settings

All are relative to the repository, with `/`.

Finding the repository: the nearest folder with `jobs/` and `overlays/`, or the one that the user names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from gen.base.engines import ENGINES
from gen.base.findings import UsageError
from gen.base.lazy import regex

JOBS: Final = "jobs"
OVERLAYS: Final = "overlays"
RENDERED: Final = "rendered"

OVERLAY_FILE: Final = "overlay.yaml"
DEFINITIONS: Final = "crds"
"""Folder of an overlay with the CustomResourceDefinitions of its cluster."""
POLICIES: Final = "policies"
"""Folder of an overlay with the admission policies of its cluster, and their parameters."""
RUNTIMES: Final = "runtimes"
"""Folder of an overlay with the TrainingRuntimes and ClusterTrainingRuntimes of its cluster."""
VENDOR: Final = "vendor"
"""Folder of an overlay with files of another repository."""
TEMPLATES: Final = "templates"
"""Folder of a repository with job files to start from."""
ENDING: Final = ".yaml"
"""Of job files and of rendered files."""
LOCK_ENDING: Final = ".lock"
"""Lock of a job, next to its file: it has the same owner and moves with the job. No GitOps engine reads it."""
SIMILAR_ENDINGS: Final = (".yaml", ".yml", ".json")
"""Endings, in any case, of files that were probably meant to be a job or an overlay."""
INERT_ENDINGS: Final = (".md", ".txt")
"""Endings of files that GitOps engines ignore.

Argo CD reads `.yaml`, `.yml`, `.json` and `.jsonnet` (`reposerver/repository/repository.go`), Flux `.yaml` and `.yml`
(`fluxcd/pkg/kustomize`, `kustomize_generator.go`).
"""
PATCH_ENDING: Final = ".patch"
"""Of merge patches for `kubectl patch`, which no engine and no `kubectl apply` reads."""
_SETTINGS = "settings"
STAGING: Final = f"{RENDERED}/.gen.tmp"
"""Folder for new files until they replace the old ones. Only a killed run leaves it behind."""

Tree = Literal["jobs", "storage", "bundle"]
"""Runs of jobs, their data, or the objects that make a GitOps engine apply the other two."""

LABEL = regex(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
"""A DNS label: names of namespaces and of overlays."""

_JOB_FILE = regex(rf"{JOBS}/(?P<namespace>{LABEL.pattern})/(?P<stem>[A-Za-z0-9][-A-Za-z0-9_.]*){re.escape(ENDING)}")
_OVERLAY_FOLDER = regex(rf"(?:.*/)?{RENDERED}/[^/]+/(?=(?:jobs|storage)/)")


FREE: Final = rf"{JOBS}/[^/]+/.+|{RENDERED}/.+"
"""Paths that need no approval of the platform's owners: those of teams, and those that gen renders and checks."""
_FREE = regex(FREE)


def is_free(path: str) -> bool:
    """Whether a change of a path is one of jobs or of rendered files, which gen checks as data."""
    return _FREE.fullmatch(path) is not None


class JobFile(Struct, frozen=True, order=True):
    """One job file: `jobs/<namespace>/<stem>.yaml`."""

    namespace: str
    stem: str

    @property
    def file(self) -> str:
        return f"{JOBS}/{self.namespace}/{self.stem}{ENDING}"

    @property
    def lock(self) -> str:
        """The file with its pins, which need not exist."""
        return f"{JOBS}/{self.namespace}/{self.stem}{LOCK_ENDING}"

    @property
    def key(self) -> str:
        """`<namespace>/<stem>`, which patterns of overlays and of the command line match."""
        return f"{self.namespace}/{self.stem}"


def job_key(path: str) -> str:
    """`<namespace>/<stem>` from the path of a job file, or a pattern from a pattern."""
    return path.removeprefix(f"{JOBS}/").removesuffix(ENDING)


def lock_key(path: str) -> str:
    """`<namespace>/<stem>` from the path of a lock."""
    return path.removeprefix(f"{JOBS}/").removesuffix(LOCK_ENDING)


def source_job(path: str) -> JobFile | None:
    """The job file at a path; None for any other path."""
    match = _JOB_FILE.fullmatch(path)
    return JobFile(match["namespace"], match["stem"]) if match is not None else None


def jobs_path(*parts: str) -> str:
    """A path in `jobs/`."""
    return "/".join((JOBS, *parts))


def overlays_path(*parts: str) -> str:
    """A path in `overlays/`."""
    return "/".join((OVERLAYS, *parts))


def overlay_file(overlay: str) -> str:
    return f"{OVERLAYS}/{overlay}/{OVERLAY_FILE}"


def vendor_lock(overlay: str) -> str:
    """The lock of the files that an overlay has from another repository."""
    return f"{OVERLAYS}/{overlay}/{VENDOR}{LOCK_ENDING}"


def is_input(path: str) -> bool:
    """Whether a path is in `jobs/` or `overlays/`."""
    return path.startswith((f"{JOBS}/", f"{OVERLAYS}/"))


def is_job(path: str) -> bool:
    """Whether a path is in `jobs/`."""
    return path.startswith(f"{JOBS}/")


def is_fixable(path: str) -> bool:
    """Whether `gen check --fix` edits a file: a job or an overlay, not a patch or a policy."""
    return is_job(path) or path.endswith(f"/{OVERLAY_FILE}")


def below_rendered(path: str) -> str | None:
    """A path relative to `rendered/`; None if it is not below."""
    top, _, below = path.partition("/")
    return below if top == RENDERED and below else None


def from_rendered(path: str) -> str:
    """The part of a path that begins with `rendered/`."""
    return path[path.find(f"{RENDERED}/") :]


def is_staging(path: str) -> bool:
    """Whether a path is the folder of temporary files, or in it."""
    return path == STAGING or path.startswith(f"{STAGING}/")


def overlay_of(path: str) -> str | None:
    """The overlay with the folder in `overlays/` or `rendered/` that contains a path; None for engines."""
    top, _, rest = path.partition("/")
    overlay, _, below = rest.partition("/")
    return overlay if top in {OVERLAYS, RENDERED} and below and overlay not in ENGINES else None


def overlay_folder(path: str) -> str | None:
    """The prefix of a path up to `rendered/<overlay>/`, if `jobs/` or `storage/` follows."""
    match = _OVERLAY_FOLDER.match(path)
    return match[0] if match is not None else None


class RenderedPath(Struct, frozen=True, kw_only=True):
    """A path in `rendered/`. Parts that it does not have are empty."""

    engine: str = ""
    overlay: str = ""
    tree: str = ""
    namespace: str = ""
    job: str = ""
    file: str = ""
    """File name; for a file in a deeper folder than gen writes, with that folder."""

    def __str__(self) -> str:
        parts = (RENDERED, self.engine, self.overlay, self.tree, self.namespace, self.job, self.file)
        return "/".join(part for part in parts if part)

    @classmethod
    def parse(cls, path: str) -> RenderedPath:
        """The parts of a file's path. ValueError when it is not in `rendered/`."""
        top, _, below = path.partition("/")
        *folders, file = below.split("/")
        if top != RENDERED:
            raise ValueError(f"{path} is not in {RENDERED}/")
        engine = folders.pop(0) if folders and folders[0] in ENGINES else ""
        depth = 1 if engine else 4
        names = [*folders[:depth], "", "", "", ""]
        rest = "/".join((*folders[depth:], file))
        return cls(engine=engine, overlay=names[0], tree=names[1], namespace=names[2], job=names[3], file=rest)

    @property
    def scope(self) -> str:
        """`<overlay>`, or `<engine>/<overlay>` for objects that configure a GitOps engine."""
        return "/".join(part for part in (self.engine, self.overlay) if part)

    @property
    def is_storage(self) -> bool:
        return self.tree == "storage"


def engine_of(scope: str) -> str:
    """The engine of a `RenderedPath.scope`; empty for an overlay's own objects."""
    first = scope.partition("/")[0]
    return first if first in ENGINES else ""


def scope_overlay(scope: str) -> str:
    """The overlay of a `RenderedPath.scope`."""
    return scope.rpartition("/")[2]


def rendered_path(*parts: str) -> str:
    """A path in `rendered/`."""
    return "/".join((RENDERED, *parts))


def tree_folder(overlay: str, tree: Tree, namespace: str = "") -> str:
    """The folder of all jobs or all storage of an overlay, or of one namespace in it."""
    return str(RenderedPath(overlay=overlay, tree=tree, namespace=namespace))


def rendered_folder(overlay: str, tree: Tree, folder: str) -> str:
    """The folder of an object; `folder` is `<namespace>/<job>`, `<namespace>` of storage, or the engine of a bundle."""
    return f"{RENDERED}/{folder}/{overlay}" if tree == "bundle" else f"{RENDERED}/{overlay}/{tree}/{folder}"


def object_file(kind: str, name: str) -> str:
    """File name of a rendered object."""
    return f"{kind.lower()}-{name}{ENDING}"


def settings_file(engine: str, overlay: str, name: str) -> str:
    """Path of a merge patch. Nothing that reads manifests reads a file with this ending."""
    return rendered_path(engine, overlay, _SETTINGS, f"{name}{PATCH_ENDING}")


def settings_name(path: str) -> str:
    """Name of the ConfigMap that a merge patch is for; empty for any other path."""
    parts = RenderedPath.parse(path)
    folder, _, file = parts.file.rpartition("/")
    return (
        file.removesuffix(PATCH_ENDING) if parts.engine and folder == _SETTINGS and file.endswith(PATCH_ENDING) else ""
    )


def object_name(kind: str, file: str) -> str:
    """The name in an object's file name; empty if gen writes no such file name for the kind."""
    start = f"{kind.lower()}-"
    return file.removeprefix(start).removesuffix(ENDING) if file.startswith(start) and file.endswith(ENDING) else ""


def object_files(kinds: Iterable[str]) -> str:
    """A glob pattern for the file names of objects of some kinds."""
    return object_file("{" + ",".join(sorted({kind.lower() for kind in kinds})) + "}", "*")


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, with `jobs/` and `overlays/`. UsageError if there is none."""
    for folder in (start, *start.parents):
        if not _missing(folder):
            return checked_root(folder)
    hint = "name the repository with --root, or create one with `gen init DIR`"
    raise UsageError(f"no {JOBS}/ and {OVERLAYS}/ in {start} or any parent folder; {hint}")


def checked_root(root: Path) -> Path:
    """The resolved path of a folder that the user names as the repository. UsageError if it is not one."""
    if not os.path.isdir(root):  # noqa: PTH112 - never raises
        raise UsageError(f"{root} is not a folder; name the repository with --root")
    if missing := _missing(root):
        raise UsageError(f"{root} has no folder {missing}/")
    for name in (JOBS, OVERLAYS):
        if (root / name).is_symlink():
            raise UsageError(f"{root / name} is a symbolic link; replace it with the folder itself")
    root = root.resolve()
    if (bare := _bare_repository(root)) is not None:
        what = "is a bare Git repository, and its configuration can run commands"
        raise UsageError(f"{bare} {what}; remove its file `HEAD`")
    return root


def _bare_repository(root: Path) -> Path | None:
    """A folder that Git takes for a repository without `.git`: a commit of another repository can contain its files."""
    for folder in (root, *root.parents):
        if os.path.lexists(folder / ".git"):
            return None
        names = [name for name in ("HEAD", "objects", "refs", "commondir") if os.path.lexists(folder / name)]
        if names[:1] == ["HEAD"] and (names[1:3] == ["objects", "refs"] or names[-1] == "commondir"):
            return folder
    return None


def _missing(root: Path) -> str:
    return next((name for name in (JOBS, OVERLAYS) if not os.path.isdir(root / name)), "")  # noqa: PTH112 - never raises
