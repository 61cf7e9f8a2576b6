"""Words of a repository that shells complete. Names with other characters than those of jobs are left out."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gen.diagnostics import Findings, UsageError
from gen.regex import regex
from gen.repository.job_files import all_jobs
from gen.repository.overlay_files import overlay_names
from gen.repository.root import find_root

if TYPE_CHECKING:
    from collections.abc import Iterable

_SAFE: Final = regex(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def jobs(incomplete: str) -> list[str]:
    """`NAMESPACE/NAME` of each job that begins with a text."""
    with suppress(UsageError):
        return _beginning(incomplete, (job.key for job in all_jobs(_root(), Findings())))
    return []


def overlays(incomplete: str) -> list[str]:
    with suppress(UsageError):
        return _beginning(incomplete, overlay_names(_root(), Findings()))
    return []


def kinds(incomplete: str) -> list[str]:
    from gen.kinds import KINDS  # noqa: PLC0415 - only for completion

    return _beginning(incomplete, KINDS)


def fields(incomplete: str) -> list[str]:
    """`FIELD=` of jobs, or the values of a field that has few."""
    from gen.commands.schema import job_schema  # noqa: PLC0415 - only for completion
    from gen.report.fields import document_fields  # noqa: PLC0415 - as above

    name, given, _ = incomplete.partition("=")
    found: dict[str, list[str]] = {}
    for field in document_fields("job", job_schema()):
        _, path = field.name.split(".", 1)
        found.setdefault(path, []).extend(map(str, field.schema.get("enum", ())))
    if given:
        return [f"{name}={value}" for value in dict.fromkeys(found.get(name, ()))]
    deeper = name.count(".")
    return [f"{field}=" for field in _beginning(name, (one for one in found if one.count(".") == deeper))]


def findings_and_fields(incomplete: str) -> list[str]:
    """Codes of findings, documents, and fields at their top."""
    from gen.commands.schema import SCHEMAS  # noqa: PLC0415 - only for completion
    from gen.report.explain import finding_names  # noqa: PLC0415 - as above
    from gen.report.fields import document_fields  # noqa: PLC0415 - as above

    document = incomplete.partition(".")[0]
    names = [field.name for field in document_fields(document, SCHEMAS[document]())] if document in SCHEMAS else []
    return _beginning(incomplete, (*SCHEMAS, *finding_names(), *names))


def _root() -> Path:
    return find_root(Path.cwd())


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return sorted({word for word in words if word.startswith(incomplete) and _SAFE.fullmatch(word)})
