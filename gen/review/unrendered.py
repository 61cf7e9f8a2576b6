"""Objects in `rendered/` that gen did not render. Their first line proves nothing: anyone can compute a valid header.

A file that is the same at the base was accepted before, if it has a valid header. Every other file must have the text
that a render writes. So a plan needs a render of the jobs that differ from the base alone, as long as no overlay does
and that render finds nothing wrong. `gen check` renders all jobs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from gen.base import Findings, Location, at, counted, quoted
from gen.base.codes.rendered import FOREIGN_FILE, HAND_EDITED, STALE
from gen.base.engines import is_control_file, refuse_control_file
from gen.base.repository.files import printable_path
from gen.base.repository.layout import (
    ENDING,
    LOCK_ENDING,
    RenderedPath,
    jobs_path,
    lock_key,
    source_job,
)
from gen.kubernetes.facts import RUNS
from gen.kubernetes.facts.demand import Demand, any_demand
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.objects import Body, identity_of
from gen.render.committed import as_written
from gen.render.emit import HEADER, has_text_of, untouched
from gen.render.results import File
from gen.render.write.compare import is_kept
from gen.review.gpus_and_costs import UsageKey
from gen.review.rendered_trees import RenderedTrees
from gen.review.sources import job_file

_MAX_NAMES = 3
"""Objects of one file that a message names."""


class UnrenderedObject(Struct, frozen=True, kw_only=True):
    """An object that gen did not render, with the pods and GPUs that it requests if it is active."""

    path: str
    identity: str
    namespace: str
    is_run: bool
    """Whether its kind is a run, which a plan counts among the runs."""
    demand: Demand


class RenderedFiles(Struct, frozen=True, kw_only=True):
    """The result of a render."""

    files: Mapping[str, File]
    """Files by path; those of the cache have no text."""
    keep: Collection[str]
    """Patterns for files that gen does not write."""
    failed: bool
    """Whether the render had errors, so that `files` may be incomplete."""


def differing_jobs(changed: Iterable[str], trees: RenderedTrees) -> frozenset[str] | None:
    """The job files among the inputs that differ from the base, or that files of `rendered/` name which do; also
    removed ones.

    None if an overlay or the version of gen differs, or a file below `jobs/` that is neither a job nor its lock: these
    concern all jobs.
    """
    jobs = {
        source_job(jobs_path(f"{lock_key(path)}{ENDING}") if path.endswith(LOCK_ENDING) else path) for path in changed
    }
    if None in jobs:
        return None
    texts = (*map(as_written, trees.suspects.values()), *(one.text for one in trees.former))
    headers = (HEADER.match(text) for text in texts)
    jobs |= {source_job(header["source"]) for header in headers if header is not None}
    return frozenset(job.file for job in jobs if job is not None)


def is_enough(files: Collection[str], jobs: Collection[str], trees: RenderedTrees) -> bool:
    """Whether the files of a render of some jobs are all that gen can have written for them, and of no other job."""
    written = (path for path, raw in trees.suspects.items() if HEADER.match(as_written(raw)) is not None)
    differing = {*trees.suspects, *(one.path for one in trees.former)}
    known = ((one.path, job_file(one)) for one in (*trees.after, *trees.stopped) if one.path not in differing)
    return all(path in files for path in written) and all(
        (source in jobs) is (path in files) for path, source in known if source
    )


def unrendered_objects(
    suspects: Mapping[str, bytes], expected: RenderedFiles, found: Findings
) -> tuple[UnrenderedObject, ...]:
    """The objects of the files that differ from the result of a render. Each file is an error."""
    return tuple(
        one
        for path, raw in sorted(suspects.items())
        if not _is_rendered(path, text := as_written(raw), expected)
        for one in _objects(path, raw, text, expected, found)
    )


def unrendered_usage(objects: Iterable[UnrenderedObject]) -> Iterator[tuple[UsageKey, Demand]]:
    """The demand of the objects that are not runs, which no other part of a plan counts."""
    for one in objects:
        if not one.is_run:
            yield UsageKey(RenderedPath.parse(one.path).scope, one.namespace, ""), one.demand


def _is_rendered(path: str, text: str, expected: RenderedFiles) -> bool:
    file = expected.files.get(path)
    return file is not None and has_text_of(file, text)


def _objects(path: str, raw: bytes, text: str, expected: RenderedFiles, found: Findings) -> Iterator[UnrenderedObject]:
    if is_control_file(path.rpartition("/")[2]):
        refuse_control_file(printable_path(path), found)
        return
    if is_kept(path, expected.keep):
        return
    objects = [_object(path, body) for body in _bodies(raw, path)]
    here = Location(printable_path(path))
    effect = _effect(objects)
    hint = "run `gen check` to see the errors of jobs and overlays" if expected.failed else "run `gen render`"
    if HEADER.match(text) is None:
        found.error(FOREIGN_FILE, here, f"not generated by gen: {effect}", "move it out of `rendered/`, or delete it")
    elif path not in expected.files:
        message = f"no job and no overlay renders this file: {effect}"
        if RenderedPath.parse(path).is_storage and not expected.failed:
            hint = "run `gen render --prune-storage`"  # a render alone leaves volumes that no job uses
        found.error(FOREIGN_FILE, here, message, f"{hint}, or delete the file")
    else:
        code = STALE if untouched(text) else HAND_EDITED
        found.error(code, here, f"differs from the result of `gen render`: {effect}", hint)
    yield from objects


def _object(path: str, body: Body) -> UnrenderedObject:
    group, kind = str(body.get("apiVersion")).rpartition("/")[0], str(body.get("kind"))
    return UnrenderedObject(
        path=path,
        identity=identity_of(body),
        namespace=str(at(body, "metadata", "namespace") or ""),
        is_run=(group, kind) in RUNS,
        demand=any_demand(body),
    )


def _bodies(raw: bytes, path: str) -> Iterator[Body]:
    """Every object in a file, as engines read it: several documents, and the entries of lists."""
    manifests = read_manifests(raw, path, Findings())
    waiting: list[object] = list(manifests.documents) if manifests is not None else []
    for body in waiting:
        if isinstance(body, dict) and isinstance(items := body.get("items"), list):
            waiting += items
        elif isinstance(body, dict):
            yield body


def _effect(objects: list[UnrenderedObject]) -> str:
    if not objects:
        return "its effect is unknown"
    names = quoted((one.identity for one in objects), _MAX_NAMES)
    pods, gpus = sum(one.demand.pods for one in objects), sum(one.demand.gpus for one in objects)
    return f"{names} with {counted(pods, 'pod')} and {counted(gpus, 'GPU')}"
