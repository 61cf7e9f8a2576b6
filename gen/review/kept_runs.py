"""Compare runs that are behind the platform with the base, where they were accepted before.

A render keeps such a run as it is in `rendered/`, so the author of a change chooses its content. It is accepted only if
the base has the same run for the same job, except for metadata and suspension, which the render computes. The base was
checked in the same way, down to the commit that rendered the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Location, UsageError, counted
from gen.findings.rendered import KEPT_RUN_DIFFERS, KEPT_RUN_UNVERIFIED
from gen.kubernetes import RUN_LABEL, at
from gen.render.committed.read import CommittedRuns, as_written, body_of
from gen.render.emit import HEADER
from gen.repository.git import find_base
from gen.repository.git_index import in_git
from gen.resources import queue_labels
from gen.resources.content import content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from gen.diagnostics import Findings
    from gen.kubernetes import Body
    from gen.render.results import RenderedJob
    from gen.repository.git import Base

_REGULAR = ("100644", "100755")


def verify_kept_runs(
    jobs: Sequence[RenderedJob], root: Path, repository: Path, ref: str | None, found: Findings
) -> None:
    """Report kept runs that differ from the base, or that cannot be compared; `repository` has the Git commits."""
    place = Location(jobs[0].files[0].path)
    runs = counted(len(jobs), "run")
    if not in_git(repository):
        message = f"{runs} kept from an earlier platform cannot be compared with a base, because there is no Git"
        found.warning(KEPT_RUN_UNVERIFIED, place, message, "check the repository in its Git work tree")
        return
    try:
        base = find_base(repository, ref)
        compare_kept_runs(jobs, root, base, found)
    except UsageError as error:
        message = f"{runs} kept from an earlier platform cannot be compared with a base: {error}"
        hint = "set the base with `--base REF`, or start new runs with `gen render --restart`"
        found.error(KEPT_RUN_UNVERIFIED, place, message, hint)


def compare_kept_runs(jobs: Sequence[RenderedJob], root: Path, base: Base, found: Findings) -> None:
    """Report kept runs in `root` that differ from those at the base."""
    before = _base_files(jobs, base)
    tree = CommittedRuns.of(root)
    for job in jobs:
        texts = {file.path: file.text if file.text is not None else tree.text(file.path) or "" for file in job.files}
        for path, problem in _problems(job, texts, before):
            source = job.files[0].source.file
            message = f"`{job.files[0].identity}` was kept from an earlier platform, but {problem}"
            hint = f"start a new run with `gen render --restart {source}`"
            if path in before:
                hint = f"restore it with `git checkout {base.commit[:10]} -- {path}`, or {hint}"
            found.error(KEPT_RUN_DIFFERS, Location(path), message, hint)


def _base_files(jobs: Sequence[RenderedJob], base: Base) -> dict[str, str]:
    """Texts at the base of the folders of jobs, by path."""
    folders = {_folder(file.path) for job in jobs for file in job.files[:1]}
    files = {path: entry for path, entry in base.files().items() if _folder(path) in folders}
    regular = {path: entry.digest for path, entry in files.items() if entry.mode in _REGULAR}
    blobs = base.blobs(regular.values())
    return {path: as_written(blobs[digest]) for path, digest in regular.items()}


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _problems(job: RenderedJob, after: Mapping[str, str], before: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Paths with what is wrong there."""
    behind = job.behind
    assert behind is not None  # noqa: S101 - called for these only
    for path in behind.kept:
        if path not in before:
            yield path, "the base has no such file"
        elif before[path] != after[path] and not _same_run(before[path], after[path]):
            yield path, "the file differs from the base in more than metadata and suspension"
    folder = _folder(behind.kept[0])
    for path in before.keys() - set(behind.kept):
        text = before[path]
        if _folder(path) != folder or behind.run not in text:  # parsing all runs of a sweep for each would take long
            continue
        if at(body_of(text), "metadata", "labels", RUN_LABEL) == behind.run:
            yield path, "the base has another object of it"


def _same_run(before: str, after: str) -> bool:
    old, new = HEADER.match(before), HEADER.match(after)
    if old is None or new is None or old["record"] != new["record"]:
        return False
    return _kept(body_of(before)) == _kept(body_of(after))


def _kept(body: Body) -> tuple[object, ...]:
    """The content of the run, with the metadata that may not change."""
    names = at(body, "metadata", "name"), at(body, "metadata", "namespace")
    labels = {key: at(body, "metadata", "labels", key) for key in (RUN_LABEL, *queue_labels())}
    return content(body), names, labels
