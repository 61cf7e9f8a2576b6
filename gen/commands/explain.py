"""`gen explain`: describe a finding, a field or a kind of jobs, or list all findings."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gen.commands import words
from gen.commands.documentation import documentation
from gen.commands.result import Result
from gen.commands.schema import SCHEMAS
from gen.commands.terminal import terminal
from gen.diagnostics import UsageError, near
from gen.kinds import KINDS
from gen.overlay.extensions import load_extensions
from gen.report.explain import explain, finding_names, list_findings
from gen.report.fields import (
    DEFAULT_WIDTH,
    Field,
    document_fields,
    explain_document,
    explain_fields,
    explain_kind,
    matching,
)
from gen.repository.root import find_root

if TYPE_CHECKING:
    from gen.report.documentation import Documentation

_JOB: Final = "job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen explain`."""

    name: Annotated[
        str | None,
        typer.Argument(
            help="Code of a finding, a field such as `gpus` or `overlay.volumes.size`, or a kind of jobs. "
            "[default: list all findings]",
            metavar="CODE|FIELD|KIND",
            show_default=False,
            autocompletion=words.findings_and_fields,
        ),
    ] = None


def run(request: Request) -> Result[str]:
    """UsageError for an unknown code, field or kind."""
    if request.name is None:
        return Result(output=list_findings())
    site = documentation()
    width = min(terminal().width or DEFAULT_WIDTH, DEFAULT_WIDTH)
    finding = explain(request.name, site, width) if request.name in finding_names() else ""
    fields = "" if finding and "-" in request.name else _field(request.name, site, width)  # no field has such a name
    kind = "" if "-" in request.name else explain_kind(request.name, _JOB, SCHEMAS[_JOB](), width)
    if not finding and not fields and not kind:
        word = request.name.rsplit(".", 1)[-1]
        guess = near(word, {*KINDS, *(field.path[-1] for field in _fields())}) or near(word, sorted(finding_names()))
        hint = f"did you mean `{guess}`?" if guess else "`gen explain` lists findings, `gen explain job` lists fields"
        raise UsageError(f"unknown finding, field or kind `{request.name}`: {hint}")
    return Result(output="\n".join(text for text in (finding, kind, fields) if text))


def _field(name: str, site: Documentation, width: int) -> str:
    """The explanation of a field; empty if there is none of this name."""
    fields = _fields()
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
