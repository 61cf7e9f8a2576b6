"""Options and clusters of the commands that read clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from gen.commands.compared import repository
from gen.commands.options import DEFAULT_SECONDS, Overlays, RequestTimeout, Root
from gen.diagnostics import Findings, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gen.cluster.read import Question
    from gen.cluster.target import Target
    from gen.repository.layout import JobFile


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRequest:
    """Options that all commands have that read clusters."""

    overlay: Overlays = ()
    context: Annotated[
        tuple[str, ...],
        typer.Option(
            "--context",
            metavar="[OVERLAY=]CONTEXT",
            help="Context of the kubeconfig file; may be repeated. [default: `cluster.context` of the overlay]",
        ),
    ] = ()
    kubeconfig: Annotated[
        str | None, typer.Option("--kubeconfig", metavar="FILE", help="[default: KUBECONFIG, or ~/.kube/config]")
    ] = None
    request_timeout: RequestTimeout = DEFAULT_SECONDS
    root: Root = None


def ask(request: LiveRequest, jobs: Sequence[str], found: Findings) -> tuple[Path, list[Question]]:
    """The repository, and what to ask each of its clusters. UsageError without the client."""
    from gen.cluster.client import require_client  # noqa: PLC0415 - `gen status --help` does not need it

    require_client()
    chosen = chosen_files(repository(request.root), jobs)  # a misspelt name is reported before clusters are
    folder, targets = reached(request, found, chosen)
    from gen.cluster.read import questions  # noqa: PLC0415 - as above

    asked = questions(folder, targets, chosen)
    if jobs and targets and not asked:
        names = ", ".join(f"`{name}`" for name in jobs)
        raise UsageError(f"no run of {names} is rendered in these overlays: run `gen render`, or see `gen list`")
    return folder, asked


def reached(request: LiveRequest, found: Findings, jobs: Sequence[JobFile] | None = None) -> tuple[Path, list[Target]]:
    """The repository and its clusters, or those with runs of some jobs. UsageError without the client."""
    from gen.cluster.client import require_client  # noqa: PLC0415 - `gen status --help` does not need it

    require_client()
    from gen.cluster.target import Access, read_targets  # noqa: PLC0415 - as above
    from gen.overlay.extensions import load_extensions  # noqa: PLC0415 - as above

    folder = repository(request.root)
    load_extensions(folder)
    access = Access(contexts=request.context, kubeconfig=request.kubeconfig, seconds=request.request_timeout)
    needed = _overlays_with(folder, jobs) if jobs is not None and not request.overlay else ()
    return folder, read_targets(folder, request.overlay, access, found, needed or None)


def _overlays_with(folder: Path, jobs: Sequence[JobFile]) -> set[str]:
    """The overlays that have runs of some jobs: the contexts of others are not needed."""
    from gen.cluster.wanted import wanted_runs  # noqa: PLC0415 - `gen status --help` does not need it
    from gen.repository.overlay_files import overlay_names  # noqa: PLC0415 - as above

    return {one.overlay for one in wanted_runs(folder, overlay_names(folder, Findings()), frozenset(jobs))}


def chosen_files(root: Path, patterns: Sequence[str]) -> list[JobFile] | None:
    """The job files that arguments name; None without any. UsageError for a pattern that matches nothing."""
    from gen.repository.job_files import chosen_jobs  # noqa: PLC0415 - as above

    if not patterns:
        return None
    found = Findings()
    jobs = chosen_jobs(root, patterns, found)
    for finding in found:
        raise UsageError(f"{finding.place}: {finding.message}")
    return jobs
