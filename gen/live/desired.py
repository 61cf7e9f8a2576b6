"""Desired runs: the workloads in `rendered/`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import Struct

from gen.base import Findings, regex
from gen.base.engines import ENGINES, STOPPED, JobState, name_in_cluster
from gen.base.repository.files import MAX_RENDERED_BYTES, read_regular, walk
from gen.base.repository.layout import JobFile, source_job, tree_folder
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.state import state_in
from gen.kubernetes.objects import JOB_LABEL, RUN_LABEL, Body
from gen.render.emit import HEADER
from gen.render.rendered_object import RenderedObject, generated_object, parse_object, workload
from gen.render.starters import starter_of_object

_NAME = regex(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")
_LABELS = regex(r"\nmetadata:\n(?:  .*\n)*?  labels:\n((?:    .*\n)*)")
"""The labels of a generated file. Their values need no escapes."""
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
    source: JobFile | None
    """Its job file; None if the file in `rendered/` does not name one."""
    resource: Resource
    state: JobState
    rendered: RenderedObject
    """The object in Git, which is parsed only where its identity is not enough."""

    @property
    def path(self) -> str:
        return self.rendered.path

    @property
    def body(self) -> Body:
        return self.rendered.body

    @property
    def values(self) -> str:
        """The values of a run of a sweep, as JSON."""
        return self.rendered.values

    @property
    def version(self) -> str:
        return _version(self.rendered)


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
        raw = read_regular(f"{root}/{path}", MAX_RENDERED_BYTES)
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
    resource, job = workload(one), _label(one, JOB_LABEL) or one.key.name
    if resource is None or not starter_of_object(resource).runs_in_git or not _is_plain(one, job):
        return None
    return DesiredRun(
        overlay=overlay,
        namespace=one.key.namespace,
        job=job,
        name=name_in_cluster(one.metadata) if one.may_have(STOPPED) else one.key.name,
        run=_label(one, RUN_LABEL),
        source=source,
        resource=resource,
        state=_state(one, resource),
        rendered=one,
    )


def _state(one: RenderedObject, resource: Resource) -> JobState:
    """The state of a run. A text that cannot have another one than `active` is not parsed."""
    may_be_suspended = resource.suspend is not None and one.may_have(f"  {resource.suspend[-1]}: true\n")
    return state_in(resource, one.body) if may_be_suspended or _may_be_record(one) else "active"


def _may_be_record(one: RenderedObject) -> bool:
    if one.parsed is not None:
        return True
    marks = [engine.finished for engine in ENGINES.values() if engine.finished.key in one.text]
    found = ((mark, line) for mark in marks for line in one.text.split(f"{mark.key}: ")[1:])
    return any(mark.matches(line.partition("\n")[0].strip('"')) for mark, line in found)


def _label(one: RenderedObject, key: str) -> str:
    """The value of a label, or an empty string. A text that gen wrote is not parsed for it."""
    if one.parsed is not None:
        return one.label(key)
    labels = _LABELS.search(one.text)
    return labels[1].partition(f"    {key}: ")[2].partition("\n")[0].strip('"') if labels is not None else ""


def _version(one: RenderedObject) -> str:
    if one.parsed is not None:
        return str(one.body.get("apiVersion"))
    return one.text.partition("\napiVersion: ")[2].partition("\n")[0]


def _is_plain(one: RenderedObject, job: str) -> bool:
    """Whether an API server accepts its names. They become a part of paths and selectors of requests, and a file that
    was edited by hand can have any text there.
    """
    names = (one.key.namespace, one.key.name, job)
    return all(_NAME.fullmatch(name) for name in names) and _VERSION.fullmatch(_version(one)) is not None
