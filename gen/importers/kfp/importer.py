"""`gen import kfp`: compiled pipelines, of which each step that creates a training job becomes a job."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec.structs import replace

from gen.diagnostics import Findings, Location
from gen.findings.imports import INVALID_MANIFEST, NOT_CARRIED
from gen.importers.arena.importer import ArenaImporter
from gen.importers.base import Given, ImportedJob, Importer
from gen.importers.draft import label
from gen.importers.kfp.launcher import launcher_of
from gen.importers.kfp.steps import Step, steps
from gen.importers.manifests.importer import ManifestsImporter
from gen.load.manifests import read_manifests
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SUBMIT: Final = regex(r"\barena\s+submit\b")
_PARAMETER: Final = regex(
    r"\{\{(?:inputs|workflow|steps|tasks|pod|item)\b[^{}]*\}\}|\{\{\$\.[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\}"
)


class KfpImporter(Importer):
    """Workflows of Argo, and IR of Kubeflow Pipelines."""

    summary: ClassVar[str] = "a compiled pipeline of Kubeflow Pipelines: an Argo Workflow, or the IR of version 2"

    def read(self, given: Given, found: Findings) -> Sequence[ImportedJob]:
        read = read_manifests(given.text.encode("utf-8", "replace"), given.file, found)
        if read is None:
            return ()
        every = [
            (step, read.place(number, step.route)) for number, one in enumerate(read.documents) for step in steps(one)
        ]
        made = [(step, place, _jobs(step, place, given, found)) for step, place in every]
        if not every and not found.failed():
            hint = "compile the pipeline, and name the YAML file"
            found.error(INVALID_MANIFEST, Location(given.file), "no step of a pipeline found", hint)
        jobs = {step.name: [job.name for job in own] for step, _, own in made}
        for step, place, own in made:
            _report(step, place, own, jobs, found)
        if every and not any(own for _, _, own in made) and not found.failed():
            hint = "import other steps by hand; gen runs training jobs, not pipelines of programs"
            found.error(INVALID_MANIFEST, every[0][1], "no step creates a training job", hint)
        return [job for _, _, own in made for job in own]


def _jobs(step: Step, place: Location, given: Given, found: Findings) -> list[ImportedJob]:
    """The jobs that a step creates; their findings are at the step."""
    own = Findings()
    jobs: list[ImportedJob] = []
    for text in _manifests(step):
        files = ((given.file, _without_parameters(text, step, place, own).encode("utf-8", "replace")),)
        jobs += ManifestsImporter().read(replace(given, files=files), own)
    for words in _submissions(step):
        plain = tuple(_without_parameters(word, step, place, own) for word in words)
        jobs += ArenaImporter().read(replace(given, words=plain), own)
    if (launched := launcher_of(step.words)) is not None:
        plain = tuple(_without_parameters(word, step, place, own) for word in launched.words)
        made = ArenaImporter().read(replace(given, words=plain), own)
        jobs += [replace(job, fields={**job.fields, **launched.fields}) for job in made]
        for option in launched.lost:
            message = f"`{option}` of step `{step.name}` is not carried: it concerns the pipeline"
            own.warning(NOT_CARRIED, place, message, "remove it; the job has no files for the pipeline")
    found.extend(replace(item, place=place) for item in own)
    return [_moved(job, place) for job in jobs]


def _moved(job: ImportedJob, place: Location) -> ImportedJob:
    """A job with the place of its step: the text of an object in a pipeline has lines of its own."""
    originals = tuple(replace(one, place=place) for one in job.originals)
    return replace(job, place=place, places=dict.fromkeys(job.places, place), originals=originals)


def _without_parameters(text: str, step: Step, place: Location, found: Findings) -> str:
    """A text with names in place of the parameters of the pipeline, which are known only when it runs."""
    for parameter in dict.fromkeys(_PARAMETER.findall(text)):
        hint = "set the value in the job, or a parameter of it in `params`"
        message = f"`{parameter[:60]}` of step `{step.name}` is not carried: only a run of the pipeline has its value"
        found.warning(NOT_CARRIED, place, message, hint)
    return _PARAMETER.sub(lambda match: label(match[0], "parameter"), text)


def _manifests(step: Step) -> Iterator[str]:
    """Objects that a step creates, or that a launcher has as an argument."""
    if step.manifest:
        yield step.manifest
    for word in step.words:
        if "apiVersion" in word and "kind" in word and word.lstrip().startswith(("{", "apiVersion", "kind", "---")):
            yield word


def _submissions(step: Step) -> Iterator[tuple[str, ...]]:
    """`arena submit` commands of a step, and arguments of the launcher of Arena."""
    for word in step.words:
        if _SUBMIT.search(word):
            yield from _commands(word)
    if step.words[:2] == ("arena", "submit"):
        yield step.words


def _commands(text: str) -> Iterator[tuple[str, ...]]:
    for line in text.replace("\\\n", " ").split("\n"):
        match = _SUBMIT.search(line)
        if match is None:
            continue
        try:
            yield tuple(shlex.split(line[match.start() :]))
        except ValueError:
            yield ("arena", "submit")


def _report(
    step: Step, place: Location, own: Sequence[ImportedJob], jobs: dict[str, list[Any]], found: Findings
) -> None:
    """A step without a job, and the order of the others."""
    if not own:
        hint = "keep the step in the pipeline, or run it as a job of kind `batch`"
        message = f"step `{step.name}` is not carried: it creates no training job"
        found.warning(NOT_CARRIED, place, message, hint)
        return
    before = [name for other in step.after for name in jobs.get(other, [])]
    if before:
        hint = f"keep `state: suspended` in `{own[0].name}` until the other has ended"
        message = (
            f"`{own[0].name}` starts on its own, and in the pipeline after {', '.join(f'`{one}`' for one in before)}"
        )
        found.warning(NOT_CARRIED, place, message, hint)
