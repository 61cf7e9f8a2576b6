"""Earlier runs of a job in Git's history, from which a run can continue: their names, and where they saved.

Rendering is a function of the files, so a render does not know them. `gen check` and `gen plan` compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from gen.base import Findings, Location, at, did_you_mean
from gen.base.codes.rendered import UNKNOWN_RUN
from gen.base.engines import name_in_cluster
from gen.base.labels import CHECKPOINTS
from gen.base.repository.git import Base, head_commit, in_git, is_shallow
from gen.base.repository.layout import JobFile, RenderedPath, source_job, tree_folder
from gen.base.yaml.source import read
from gen.render.rendered_object import RenderedObject, generated_object, workload
from gen.render.results import RenderedJob
from gen.review.history import changed_files


class EarlierRuns(Struct, frozen=True):
    """The runs that a job had."""

    saved: Mapping[str, str]
    """Where each run saved its checkpoints, as `volume:path`, the latest first; empty without `checkpoints`."""


def run_name(folder: str) -> str:
    """The run with a folder of checkpoints."""
    return folder.rpartition(":")[2].rpartition("/")[2]


def saved_by(one: RenderedObject) -> tuple[str, str]:
    """The run of an object, and where it saves."""
    folder = str(at(one.metadata, "annotations", CHECKPOINTS) or "")
    return run_name(folder) if folder else name_in_cluster(one.metadata), folder


def earlier_runs(root: Path, namespace: str, job: str) -> EarlierRuns:
    """The runs of a job in any overlay, in the commits up to the last one."""
    entries = list(changed_files(root, f":(glob){tree_folder('*', 'jobs', namespace)}/{job}/*"))
    if not entries:
        return EarlierRuns({})
    blobs = Base(root, "", "HEAD", head_commit(root)).blobs(dict.fromkeys(one.digest for one in entries))
    found: dict[str, str] = {}
    for entry in entries:
        one = generated_object(blobs[entry.digest], entry.path)
        if one is not None and workload(one) is not None:
            found.setdefault(*saved_by(one))
    return EarlierRuns(found)


def check_resumed(jobs: Iterable[RenderedJob], root: Path, repository: Path, found: Findings) -> None:
    """Report runs that continue from one that the job never had, or whose folder they do not see.

    `repository` has the Git commits of `root`. Without Git, nothing is known.
    """
    known: dict[tuple[str, str], EarlierRuns] = {}
    reported = set()
    for job in jobs:
        path, source = RenderedPath.parse(job.files[0].path), source_job(job.files[0].source.file)
        if source is None or (source, job.resumes) in reported or not in_git(repository):
            continue
        key = path.namespace, path.job
        if key not in known:
            known[key] = earlier_runs(repository, *key)
        if (problem := _problem(known[key], job.resumes)) is not None:
            reported.add((source, job.resumes))
            place, name = _place(root, source, run_name(job.resumes)), run_name(job.resumes)
            message = f"`{name}` {problem}"
            hint = did_you_mean(name, known[key].saved, otherwise="remove `resume`: the job had no run yet")
            if name in known[key].saved:
                hint = "restore `checkpoints` and `data` as they were, or remove `resume`"
            report = found.warning if is_shallow(repository) else found.error
            report(UNKNOWN_RUN, place, message, hint)


def _problem(known: EarlierRuns, folder: str) -> str | None:
    if folder in known.saved.values():
        return None
    saved = known.saved.get(run_name(folder))
    if saved is None:
        return "was never a run of this job"
    return f"saved its checkpoints in `{saved}`, and this job reads `{folder}`" if saved else "saved no checkpoints"


def _place(root: Path, job: JobFile, name: str) -> Location:
    """The value `resume` of the job, or of an entry of its sweep."""
    source = read(root, job.file, Findings())
    if source is None:
        return Location(job.file)
    entries = at(source.data, "sweep", "overrides")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if at(entry, "resume") == name:
            return source.place(("sweep", "overrides", index, "resume"))
    return source.place(("resume",))
