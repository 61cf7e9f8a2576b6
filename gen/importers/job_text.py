"""Texts of imported jobs, validated as far as possible without an overlay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from gen.base.findings import BugError, Findings, Location
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import source_of
from gen.base.yaml.user_text import written
from gen.importers.base import Fields, ImportedJob
from gen.importers.draft import as_read
from gen.job.kinds.pipeline import PipelineJob
from gen.render.model import parse_job

ORDER: Final = (
    *("kind", "needs", "when", "name", "image", "imagePullPolicy", "command", "args", "workingDir", "env"),
    *("workers", "gpus", "accelerator", "cpu", "memory", "sharedMemory", "roles"),
    *("code", "data", "files", "tensorboard", "network", "placement", "queue", "priority"),
)
"""Fields of imported jobs, in the order of the documentation; others follow."""


def text_of(job: ImportedJob, schema: str) -> str:
    """The text of a job file. `schema` is the path of the JSON Schema for editors; it may be empty."""
    fields = _ordered(job.fields)
    if isinstance(steps := fields.get("steps"), dict):
        fields["steps"] = {name: _ordered(step) for name, step in steps.items()}
    first = f"# yaml-language-server: $schema={schema}\n" if schema else ""
    return f"{first}# {job.comment}\n{written(fields)}"


def _ordered(fields: Fields) -> Fields:
    return {name: fields[name] for name in dict.fromkeys((*ORDER, *fields)) if name in fields}


def check_text(job: ImportedJob, text: str, found: Findings) -> None:
    """Report invalid values, at the flag that set them."""
    own = Findings()
    file = JobFile(job.namespace, job.name).file
    source = source_of(text.encode("utf-8", "surrogateescape"), file, own)
    if source is not None:
        parse_job(source, job.namespace, own)
    for item in own:
        if item.is_error:
            found.extend([replace(item, place=place_of(job, text, item.place.line))])
    for name, step in _steps_of(job):
        place = job.places.get(f"steps.{name}", job.place)
        check_text(replace(job, fields=step, place=place, places={}), text_of(replace(job, fields=step), ""), found)
    if source is not None and not own.failed() and source.data != as_read(job.fields):
        raise BugError(f"{file} does not read as it was written")


def _steps_of(job: ImportedJob) -> Iterator[tuple[str, Fields]]:
    """The steps of a pipeline as jobs of their own, to check their fields."""
    steps = job.fields.get("steps")
    common = {name: value for name, value in job.fields.items() if name not in PipelineJob.own_fields}
    params = job.fields.get("params")
    common |= {"params": params} if params is not None else {}
    for name, fields in steps.items() if isinstance(steps, dict) else ():
        yield name, {**common, **{key: value for key, value in fields.items() if key not in ("needs", "when")}}


def place_of(job: ImportedJob, text: str, line: int) -> Location:
    """The origin of a line of a job file."""
    above = text.split("\n")[:line]
    field = _key_at(above, 0)
    step = f"{field}.{_key_at(above, 2)}"
    return job.places.get(step, job.places.get(field, job.place))


def _key_at(above: list[str], indent: int) -> str:
    """The last key with this indentation."""
    start = re.compile(f" {{{indent}}}[^ #-]")
    return next((one.strip().partition(":")[0].strip("'\"") for one in reversed(above) if start.match(one)), "")
