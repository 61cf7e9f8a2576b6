"""Options, clusters and terminal of the commands that read clusters."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gen.commands.compared import repository
from gen.diagnostics import Findings, UsageError
from gen.report.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gen.cluster.read import Question
    from gen.cluster.target import Target
    from gen.repository.layout import JobFile

Contexts = Annotated[
    tuple[str, ...],
    typer.Option(
        "--context",
        metavar="[OVERLAY=]CONTEXT",
        help="Context of the kubeconfig file; may be repeated. [default: `cluster.context` of the overlay]",
    ),
]
Kubeconfig = Annotated[
    str | None, typer.Option("--kubeconfig", metavar="FILE", help="[default: KUBECONFIG, or ~/.kube/config]")
]
RequestTimeout = Annotated[
    float, typer.Option("--request-timeout", min=0.1, max=600, help="Seconds that a cluster may take for an answer.")
]
DEFAULT_SECONDS = 10.0


def ask(
    root: Path | None,
    jobs: Sequence[str],
    overlays: Sequence[str],
    contexts: Sequence[str],
    kubeconfig: str | None,
    seconds: float,
    found: Findings,
) -> tuple[Path, list[Question]]:
    """The repository, and what to ask each of its clusters. UsageError without the client."""
    folder, targets = reached(root, overlays, contexts, kubeconfig, seconds, found)
    from gen.cluster.read import questions  # noqa: PLC0415 - as above

    asked = questions(folder, targets, chosen_files(folder, jobs))
    if jobs and targets and not asked:
        names = ", ".join(f"`{name}`" for name in jobs)
        raise UsageError(f"no run of {names} is rendered in these overlays: run `gen render`, or see `gen list`")
    return folder, asked


def reached(
    root: Path | None,
    overlays: Sequence[str],
    contexts: Sequence[str],
    kubeconfig: str | None,
    seconds: float,
    found: Findings,
) -> tuple[Path, list[Target]]:
    """The repository and its clusters. UsageError without the client."""
    from gen.cluster.client import require_client  # noqa: PLC0415 - `gen status --help` does not need it

    require_client()
    from gen.cluster.target import Access, read_targets  # noqa: PLC0415 - as above
    from gen.overlay.extensions import load_extensions  # noqa: PLC0415 - as above

    folder = repository(root)
    load_extensions(folder)
    access = Access(contexts=tuple(contexts), kubeconfig=kubeconfig, seconds=seconds)
    return folder, read_targets(folder, overlays, access, found)


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


def terminal() -> Terminal:
    """The terminal of the standard output. `COLUMNS` sets the width anywhere; `NO_COLOR` removes colours."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal or os.environ.get("COLUMNS") else None
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Terminal(width=width, colour=is_terminal and not plain)
