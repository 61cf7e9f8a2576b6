"""Earlier runs in Git's history: when each was rendered and removed, and where the runs of a job saved.

A run can continue from an earlier one of its job. Rendering is a function of the files, so a render does not know them.
`gen check` and `gen plan` compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from gen.base import Findings, Location, as_list, at, did_you_mean
from gen.base.codes.rendered import UNKNOWN_RUN
from gen.base.engines import ENGINES, RECORDS, STOPPED, name_in_cluster
from gen.base.repository.git import REGULAR_FILE, Base, head_commit, in_git, is_shallow, run_git
from gen.base.repository.layout import JobFile, RenderedPath, rendered_path, source_job, tree_folder
from gen.base.yaml.source import read
from gen.kubernetes.facts.state import state_in
from gen.kubernetes.objects import CHECKPOINTS
from gen.render.emit import HEADER
from gen.render.rendered_object import RenderedObject, generated_object, workload
from gen.render.results import RenderedJob
from gen.render.starters import starter_of_object

MAX_EVENTS: Final = 5000
"""Changed files that are read, the latest first."""
_FORMAT: Final = "%x01%H%x00%cI%x00%an%x00"
_DELETED: Final = "D"
_MARKS: Final = (STOPPED, *(engine.finished.key for engine in ENGINES.values()))
"""Keys in the metadata of runs that are stopped or finished."""


class RunEvent(Struct, frozen=True, kw_only=True):
    """A commit that adds, stops, finishes or removes a run."""

    overlay: str
    run: str
    """Name of the object."""
    kind: str
    what: str
    """`added`, `stopped`, `finished` or `removed`."""
    commit: str
    date: str
    author: str


class _Entry(Struct, frozen=True):
    commit: str
    date: str
    author: str
    path: str
    digest: str
    deleted: bool


def run_history(root: Path) -> dict[str, tuple[RunEvent, ...]]:
    """Events by job file, the latest first; empty without Git."""
    entries = list(changed_files(root, rendered_path("")))[:MAX_EVENTS]
    if not entries:
        return {}
    blobs = Base(root, "", "HEAD", head_commit(root)).blobs(one.digest for one in entries)
    known: dict[str, list[RunEvent]] = {}
    for entry in entries:
        one = generated_object(blobs[entry.digest], entry.path)
        header = HEADER.match(one.text) if one is not None else None
        kind = workload(one) if one is not None else None
        if one is None or header is None or kind is None or source_job(header["source"]) is None:
            continue
        if not starter_of_object(kind).runs_in_git:
            continue
        marked = any(map(one.may_have, _MARKS))  # all others need not be parsed
        state = state_in(kind, one.body) if marked else "active"
        event = RunEvent(
            overlay=one.key.scope,
            run=name_in_cluster(one.metadata) if marked else one.key.name,
            kind=one.key.kind,
            what="removed" if entry.deleted else state if state in RECORDS else "added",
            commit=entry.commit,
            date=entry.date,
            author=entry.author,
        )
        known.setdefault(header["source"], []).append(event)
    return {file: tuple(events) for file, events in known.items()}


def changed_files(root: Path, paths: str) -> Iterator[_Entry]:
    """Changed files, the latest first, with their content after a commit, or before the one that deletes them."""
    options = ("-z", f"--format={_FORMAT}", "--raw", "--no-abbrev", "--no-renames", "--relative", "--no-show-signature")
    done = run_git(root, "log", *options, "HEAD", "--", paths)
    if done is None or done.returncode != 0:
        return
    for commit in done.stdout.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        name, date, author, *fields = commit.split("\0")
        fields = [field for field in fields if field]
        for about, path in zip(fields[::2], fields[1::2], strict=False):
            words = about.strip("\n").lstrip(":").split(" ")
            if len(words) == 5 and words[1 if words[4] != _DELETED else 0] in REGULAR_FILE:  # noqa: PLR2004
                deleted = words[4] == _DELETED
                yield _Entry(name, date, author, path, words[2] if deleted else words[3], deleted)


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
    for index, entry in enumerate(as_list(at(source.data, "sweep", "overrides"))):
        if at(entry, "resume") == name:
            return source.place(("sweep", "overrides", index, "resume"))
    return source.place(("resume",))
