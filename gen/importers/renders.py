"""Renders of an imported job in memory, and the object in them for each original."""

from __future__ import annotations

import json
import re
from pathlib import Path

from msgspec.structs import replace

from gen.base import Diagnostic, Findings, as_mapping, at, follow, with_field, with_texts
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import source_of
from gen.importers import ImportedJob, Original
from gen.importers.cleaning import cleaned
from gen.importers.draft import place_of, text_of
from gen.job.kinds import ALL_KINDS
from gen.job.kinds.base import Job
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Held
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.objects import Body
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.render.pipeline import render_job
from gen.render.results import JobInOverlay


def in_memory(root: Path, job: ImportedJob, overlay: str, text: str, found: Findings) -> JobInOverlay | None:
    """All runs of a job in an overlay with this text; None if it has an error. Findings about the job have the place
    of its origin.
    """
    known: Overlay | None = OverlayReader(root, found).of_text(overlay, text)
    file = JobFile(job.namespace, job.name).file
    written_text = text_of(job, "")
    source = source_of(written_text.encode("utf-8", "surrogateescape"), file, found)
    if known is None or source is None:
        return None
    own = Findings()
    result = render_job(source, job.namespace, known, own)
    for item in own:
        place = place_of(job, written_text, item.place.line) if item.place.file == file else item.place
        found.extend([replace(item, place=place)])
    return None if own.failed() or not result.rendered else result


def run_objects(root: Path, job: ImportedJob, overlay: str, text: str) -> list[Body]:
    """The objects of all runs of a job in an overlay with this text, in the order of the numbers in their names."""
    result = in_memory(root, job, overlay, text, Findings())
    objects = [_object(run.files[0].text or "") for run in result.rendered] if result is not None else []
    return sorted(objects, key=lambda one: [*map(int, re.findall(r"\d+", one["metadata"]["name"]))])


class Renders:
    """Renders the object of an original. The last render is kept: steps of a pipeline have one object."""

    def __init__(self, root: Path, overlay: str) -> None:
        self._root, self._overlay = root, overlay
        self._last: tuple[ImportedJob, str] | None = None
        self._body: Body | None = None
        self._errors: list[Diagnostic] = []

    def of(self, original: Original, job: ImportedJob, text: str, found: Findings) -> Body | None:
        """The object of a job for its original, with the name of that."""
        if self._last is None or self._last[0] is not job or self._last[1] != text:
            own = Findings()
            result = in_memory(self._root, job, self._overlay, text, own)
            self._last, self._errors = (job, text), [item for item in own if item.is_error]
            self._body = _object(result.rendered[0].files[0].text or "") if result is not None else None
        found.extend(self._errors)
        return _run_of(self._body, job, original) if self._body is not None else None


def _run_of(body: Body, job: ImportedJob, original: Original) -> Body:
    facts = resource_of_object(body["apiVersion"], body["kind"])
    if facts is not None and facts.is_workflow:  # of steps, or of the run that it starts
        made = [one for one in follow(body, (*facts.steps, "templates")) if at(one, "resource", "action") == "create"]
        body = json.loads(next(one for one in made if original.step in ("", one["name"]))["resource"]["manifest"])
        facts = resource_of_object(body["apiVersion"], body["kind"])
    if facts is not None and facts.holds is not None:
        body = _held(body, facts.holds) if original.held else with_field(body, facts.holds.route, None)
        facts = resource_of_object(body["apiVersion"], body["kind"])
    model = next((one for one in ALL_KINDS.values() if one.facts is facts and facts.nodes is not None), Job)
    body = model.modern(cleaned(body))  # releases of an operator have their own forms of changes
    name, wanted = body["metadata"]["name"], original.body["metadata"].get("name", job.name)
    run = name.removesuffix(f"-{original.step}")  # of a schedule, a placeholder
    renamed: Body = with_texts(body, lambda text: text.replace(name, wanted).replace(run, wanted))
    return renamed


def _held(body: Body, holds: Held) -> Body:
    """The object that another one makes, with the name and the namespace of that."""
    held = follow(body, holds.route)
    own = {name: body["metadata"][name] for name in ("name", "namespace") if name in body["metadata"]}
    return {**held, "metadata": {**as_mapping(held.get("metadata")), **own}}


def _object(text: str) -> Body:
    """The first object of a text that gen has written."""
    read = read_manifests(text.encode("utf-8", "surrogateescape"), "", Findings())
    assert read is not None
    body: Body = read.documents[0]
    return body
