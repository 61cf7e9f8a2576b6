"""`gen explain`: describe a finding, a field or a kind of jobs, or list all findings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec import Struct

from gen.base import Findings, UsageError, near
from gen.base.repository.job_files import chosen_jobs
from gen.base.repository.layout import find_root
from gen.commands.common import Result, completions, repository
from gen.commands.environment import documentation, terminal
from gen.job.suggest import intended_kind
from gen.job.synonyms import JOB, PLACEMENT, normal
from gen.kubernetes.facts.pods import created_pods
from gen.overlay import load_extensions
from gen.overlay.read import OverlayReader
from gen.render.rendered_object import generated_object, workload
from gen.render.run import render
from gen.report.explain import (
    DEFAULT_WIDTH,
    Field,
    document_fields,
    explain,
    explain_document,
    explain_fields,
    explain_kind,
    explain_pods,
    finding_names,
    list_findings,
    matching,
)
from gen.report.formats import Documentation
from gen.report.schemas import SCHEMAS

_JOB: Final = "job"
Fields = Callable[[], list[Field]]
"""Those of jobs and overlays, which are made when a word needs them."""


def complete_findings_and_fields(incomplete: str) -> list[str]:
    """Codes of findings, documents, and fields at their top."""
    document = incomplete.partition(".")[0]
    names = [field.name for field in document_fields(document, SCHEMAS[document]())] if document in SCHEMAS else []
    of_jobs = [field.path[1] for field in document_fields(_JOB, SCHEMAS[_JOB]())]
    return completions(incomplete, (*SCHEMAS, *finding_names(), *names, *of_jobs))


FORMATS = None
"""The output is text."""


class Request(Struct, frozen=True, kw_only=True):
    name: Annotated[
        str | None,
        typer.Argument(
            help="Code of a finding, a field such as `gpus` or `overlay.volumes.size`, or a kind of jobs. "
            "[default: list all findings]",
            metavar="CODE|FIELD|KIND|JOB",
            autocompletion=complete_findings_and_fields,
        ),
    ] = None
    pods: Annotated[
        bool, typer.Option("--pods", help="Name a job instead, and list the pods that operators create for it.")
    ] = False


def run(request: Request) -> Result[str]:
    """UsageError for an unknown code, field, kind or job."""
    if request.pods:
        return Result(output=_pods(request.name))
    if request.name is None:
        return Result(output=list_findings())
    site = documentation()
    width = min(terminal().width or DEFAULT_WIDTH, DEFAULT_WIDTH)
    known = cache(_fields)  # at most once, and not for a code
    finding = explain(request.name, site, width) if request.name in finding_names() else ""
    # names of fields have no `-`
    fields = "" if finding and "-" in request.name else _field(request.name, known, site, width)
    kind = "" if "-" in request.name else explain_kind(request.name, _JOB, SCHEMAS[_JOB](), width)
    own = kind or (finding and "-" in request.name) or _is_own(request.name, known)
    meant = "" if own else _of_other_tools(request.name, known, site, width)
    if not finding and not fields and not kind and not meant:
        raise UsageError(f"unknown finding, field or kind `{request.name}`: {_hint(request.name, known)}")
    return Result(output="\n".join(text for text in (meant, finding, kind, fields) if text))


def _hint(name: str, fields: Fields) -> str:
    """What was probably meant by a name that nothing has."""
    with suppress(UsageError):
        if chosen_jobs(find_root(Path.cwd()), (name,), Findings()):
            return f"it is a job; `gen explain {name} --pods` lists its pods"
    above, _, word = name.rpartition(".")
    beside = [field.path[-1] for field in fields() if above and ".".join(field.path[:-1]) == above]
    if guess := near(word, beside):
        return f"did you mean `{above}.{guess}`?"
    guess = intended_kind(name) or near(word, {field.path[-1] for field in fields()}) or near(word, finding_names())
    return f"did you mean `{guess}`?" if guess else "`gen explain` lists findings, `gen explain job` lists fields"


def _is_own(name: str, known: Fields) -> bool:
    """Whether it names a document, or a field of jobs."""
    return name.partition(".")[0] in SCHEMAS or any(field.path[0] == _JOB for field in matching(known(), name))


def _of_other_tools(name: str, fields: Fields, site: Documentation, width: int) -> str:
    """The field of gen for a word of Kubernetes, Arena or Slurm; empty for an unknown word."""
    same = {normal(field.path[1]): field.path[1] for field in fields() if field.path[0] == _JOB}
    known = {**same, **PLACEMENT, **JOB}
    word = next((one for one in (name.lstrip("-"), name.rsplit(".", 1)[-1]) if normal(one) in known), "")
    if not word:
        return ""
    meant = known[normal(word)]
    if " " in meant:
        return f"`{name}` is not a field of gen: {meant}\n"
    return f"`{name}` is `{meant}` in a job file:\n\n{_field(meant, fields, site, width)}"


def _pods(job: str | None) -> str:
    """The pods of all runs of a job."""
    if job is None:
        raise UsageError("`--pods` needs a job, such as `gen explain team/demo --pods`")
    root = repository(None)
    found = Findings()
    overlays = {one.name: one for one in OverlayReader(root, found).read()}
    done = render(root, (), (job,))
    if errors := [one for one in done.findings if one.is_error]:
        raise UsageError(f"{errors[0].place}: {errors[0].message}")
    texts = []
    for path, file in sorted(done.files.items()):
        one = generated_object((file.text or "").encode(), path)
        kind = workload(one) if one is not None else None
        if one is not None and kind is not None and one.key.scope in overlays:
            texts.append(explain_pods(path, created_pods(one.body, kind, overlays[one.key.scope].runtimes)))
    return "\n".join(texts)


def _field(name: str, known: Fields, site: Documentation, width: int) -> str:
    """The explanation of a field; empty if there is none of this name."""
    fields = known()
    found = matching(fields, name)
    if name not in SCHEMAS and not found:
        return ""
    text = explain_document(name, fields, width) if name in SCHEMAS else explain_fields(found, fields, width)
    documents = [name] if name in SCHEMAS else list(dict.fromkeys(field.path[0] for field in found))
    urls = [url for url in map(site.document, documents) if url]
    return "\n".join([text, "".join(f"Documentation: {url}\n" for url in urls)] if urls else [text])


def _fields() -> list[Field]:
    """Those of jobs and overlays, with the plugins of the repository that surrounds the working directory."""
    with suppress(UsageError):
        load_extensions(find_root(Path.cwd()))
    return [field for document, schema in SCHEMAS.items() for field in document_fields(document, schema())]
