"""Imported jobs as texts of job files, validated as far as that is possible without an overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.diagnostics import BugError, Findings, Severity
from gen.edit.yaml_text import written
from gen.importers.draft import as_read
from gen.load import source_of
from gen.render.parse.job import parse_job
from gen.repository.layout import JobFile

if TYPE_CHECKING:
    from gen.importers.base import ImportedJob

ORDER: Final = (
    *("kind", "name", "image", "imagePullPolicy", "command", "args", "workingDir", "env"),
    *("workers", "gpus", "accelerator", "cpu", "memory", "sharedMemory", "roles"),
    *("code", "data", "files", "tensorboard", "network", "placement", "queue", "priority"),
)
"""Fields of imported jobs, in the order of the documentation; others follow."""


def text_of(job: ImportedJob, schema: str) -> str:
    """The text of a job file. `schema` is the path of the JSON Schema for editors; it may be empty."""
    names = [*(name for name in ORDER if name in job.fields), *(name for name in job.fields if name not in ORDER)]
    first = f"# yaml-language-server: $schema={schema}\n" if schema else ""
    return f"{first}# {job.comment}\n{written({name: job.fields[name] for name in names})}"


def check_text(job: ImportedJob, text: str, found: Findings) -> None:
    """Report what a job file could not have, at the flag that set it."""
    own = Findings()
    file = JobFile(job.namespace, job.name).file
    source = source_of(text.encode("utf-8", "surrogateescape"), file, own)
    if source is not None:
        parse_job(source, job.namespace, None, own)
    for item in own:
        if item.severity is Severity.ERROR:
            place = job.places.get(field_of(text, item.place.line), job.place)
            found.extend([replace(item, place=place)])
    if source is not None and not own.failed() and source.data != as_read(job.fields):
        raise BugError(f"{file} does not read as it was written")


def field_of(text: str, line: int) -> str:
    """The field of the job in a line."""
    above = reversed(text.split("\n")[:line])
    return next((one.partition(":")[0].strip("'\"") for one in above if one[:1] not in ("", " ", "#", "-")), "")
