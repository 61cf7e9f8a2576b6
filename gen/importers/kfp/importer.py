"""`gen import kfp`: compiled pipelines. Each step that runs a program or creates a run becomes a step of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gen.diagnostics import Location
from gen.findings.imports import INVALID_MANIFEST, NOT_CARRIED
from gen.importers.base import Given, ImportedJob, Importer
from gen.importers.kfp.argo import pipeline_of_argo
from gen.importers.kfp.assembly import Made, assembled
from gen.importers.kfp.calls import Reader
from gen.importers.kfp.ir import pipeline_of_ir
from gen.importers.kfp.parts import parts_of
from gen.load.manifests import read_manifests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.diagnostics import Findings
    from gen.importers.kfp.graph import Pipeline
    from gen.load.manifests import Manifests


class KfpImporter(Importer):
    """Workflows of Argo, and IR of Kubeflow Pipelines."""

    summary: ClassVar[str] = "a compiled pipeline of Kubeflow Pipelines: an Argo Workflow, or the IR of version 2"

    def read(self, given: Given, found: Findings) -> Sequence[ImportedJob]:
        read = read_manifests(given.text.encode("utf-8", "replace"), given.file, found)
        if read is None:
            return ()
        jobs: list[ImportedJob] = []
        places: list[Location] = []
        for number, document in enumerate(read.documents):
            pipeline = _pipeline(document)
            if pipeline is not None:
                jobs += _imported(pipeline, number, read, given, places, found)
            elif isinstance(document, dict) and "platforms" in document:
                place = read.place(number, ("platforms",))
                message = "`platforms` is not carried: it configures the pods of Kubeflow Pipelines"
                found.warning(NOT_CARRIED, place, message, "add volumes, secrets and node labels to the steps")
        if not places and not found.failed():
            hint = "compile the pipeline, and name the YAML file"
            found.error(INVALID_MANIFEST, Location(given.file), "no step of a pipeline found", hint)
        elif not jobs and not found.failed():
            hint = "import its programs by hand; a step becomes a job if it has an image and a command"
            found.error(INVALID_MANIFEST, places[0], "no step can run without the pipeline", hint)
        return jobs


def _pipeline(document: Any) -> Pipeline | None:
    if not isinstance(document, dict):
        return None
    return pipeline_of_ir(document) or pipeline_of_argo(document)


def _imported(
    pipeline: Pipeline, number: int, read: Manifests, given: Given, places: list[Location], found: Findings
) -> list[ImportedJob]:
    reader = Reader(pipeline)
    every = []
    for call in reader.read():
        place = read.place(number, call.route)
        places.append(place)
        parts = parts_of(call, given, place, pipeline.parameters, found)
        every.append(Made(call=call, place=place, parts=parts))
        _report(every[-1], found)
    for name in pipeline.lost:
        message = f"`{name}` of the pipeline is not carried: a job has no such field"
        found.warning(NOT_CARRIED, read.place(number, (*pipeline.route, name)), message, "check whether it is needed")
    for what, route in reader.lost:
        hint = "add the step by hand if it is needed"
        found.warning(NOT_CARRIED, read.place(number, route), f"{what} is not carried", hint)
    return assembled(pipeline, every, read.place(number, pipeline.route), found)


def _report(made: Made, found: Findings) -> None:
    """A step without a job, and values that its job does not have."""
    call = made.call
    if not made.parts:
        hint = "keep the step in the pipeline, or write it as a step of kind `batch`"
        message = f"step `{call.task}` is not carried: it needs the launcher of the pipeline, or runs no program"
        found.warning(NOT_CARRIED, made.place, message, hint)
        return
    for what in dict.fromkeys(call.lost):
        hint = "check whether the step needs it"
        if what.startswith("the "):
            hint = "the step runs without it: remove the step, or test it in its command"
        elif "put" in what or "artifacts" in what:
            hint = "let steps pass files on in a folder `{{ run.id }}` of a volume"
        found.warning(NOT_CARRIED, made.place, f"{what} of step `{call.task}` is not carried", hint)
