"""Desired runs: the workloads in `rendered/`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import Struct

from gen.base import Findings, at, regex
from gen.base.engines import is_finished, is_stopped, name_in_cluster
from gen.base.repository.files import read_regular, walk
from gen.base.repository.layout import JobFile, source_job, tree_folder
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import Body
from gen.render.emit import HEADER
from gen.render.rendered_object import RenderedObject, generated_object, parse_object, workload
from gen.render.starters import starter_of_object

_MAX_BYTES = 4 << 20
_NAME = regex(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")
_VERSION = regex(r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?v[a-z0-9]{1,30}")


class DesiredRun(Struct, frozen=True, kw_only=True):
    """A run or a schedule in `rendered/`."""

    overlay: str
    namespace: str
    job: str
    name: str
    """Name of the object."""
    run: str
    """Its hash; empty without one."""
    values: str
    """The values of a run of a sweep, as JSON."""
    path: str
    source: JobFile | None
    """Its job file; None if the file in `rendered/` does not name one."""
    resource: Resource
    body: Body

    @property
    def state(self) -> str:
        metadata = self.body.get("metadata")
        if is_finished(metadata):
            return "stopped" if is_stopped(metadata) else "finished"
        suspend = self.resource.suspend
        return "suspended" if suspend is not None and at(self.body, *suspend) is True else "active"

    @property
    def version(self) -> str:
        return str(self.body.get("apiVersion"))


def desired_runs(root: Path, overlays: Collection[str], jobs: Collection[JobFile] | None) -> list[DesiredRun]:
    """The workloads of some overlays; with `jobs`, only theirs. `gen check` reports files without an object."""
    paths = ((overlay, path) for overlay in overlays for path in _files(root, overlay, jobs))
    return [one for overlay, path in paths if (one := _read(root, overlay, path, jobs))]


def _files(root: Path, overlay: str, jobs: Collection[JobFile] | None) -> Iterator[str]:
    """The files of an overlay, only of the namespaces of jobs."""
    top = tree_folder(overlay, "jobs")
    tops = [top] if jobs is None else [f"{top}/{name}" for name in sorted({job.namespace for job in jobs})]
    for folder, folders, files in (found for one in tops for found in walk(root / one)):
        folders.sort()
        inner = folder.replace(os.sep, "/")[len(os.fspath(root)) + 1 :]
        yield from (f"{inner}/{name}" for name in sorted(files))


def _read(root: Path, overlay: str, path: str, jobs: Collection[JobFile] | None) -> DesiredRun | None:
    try:
        raw = read_regular(f"{root}/{path}", _MAX_BYTES)
    except OSError:
        return None
    header = HEADER.match(raw[:400].decode("utf-8", "replace"))
    source = source_job(header["source"]) if header is not None else None
    if jobs is not None and source not in jobs:
        return None
    one = generated_object(raw, path) or parse_object(raw, path, Findings())
    return desired_run(one, overlay, source) if one is not None else None


def desired_run(one: RenderedObject, overlay: str, source: JobFile | None) -> DesiredRun | None:
    """The run or schedule in a file; None for another object."""
    resource = workload(one)
    if resource is None or not starter_of_object(resource).runs_in_git or not _is_plain(one):
        return None
    return DesiredRun(
        overlay=overlay,
        namespace=one.key.namespace,
        job=one.job,
        name=name_in_cluster(one.metadata),
        run=one.run,
        values=one.values,
        path=one.path,
        source=source,
        resource=resource,
        body=one.body,
    )


def _is_plain(one: RenderedObject) -> bool:
    """Whether an API server accepts its names. They become a part of paths and selectors of requests, and a file that
    was edited by hand can have any text there.
    """
    names = (one.key.namespace, one.key.name, one.job)
    return (
        all(_NAME.fullmatch(name) for name in names) and _VERSION.fullmatch(str(one.body.get("apiVersion"))) is not None
    )
