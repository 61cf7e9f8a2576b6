"""Results and their texts, arguments and options that commands share, and the clusters that options name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeVar

import typer
from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, UsageError, quoted, regex
from gen.base.repository.job_files import all_jobs, chosen_jobs, overlay_names
from gen.base.repository.layout import checked_root, find_root
from gen.base.repository.settings import check_version

if TYPE_CHECKING:
    from gen.base.repository.layout import JobFile
    from gen.live.clusters import Question
    from gen.live.target import Target
    from gen.report.formats import Documentation, Report

Output_co = TypeVar("Output_co", covariant=True)

CLEAN: Final = 0
VIOLATIONS: Final = 1
"""Exit codes of commands that ran to their end."""


class Result(Struct, Generic[Output_co], frozen=True, kw_only=True):
    """Output of a command, not formatted yet, and the exit code."""

    output: Output_co
    exit_code: int = CLEAN


class Stream(Struct, Generic[Output_co], frozen=True, kw_only=True):
    """Output of a streaming command: each piece is printed at once."""

    pieces: Iterator[Output_co]
    code: Callable[[], int]
    """The exit code, after the last piece."""
    replaces: bool = False
    """Whether a piece replaces the one before it on a terminal."""


DEFAULT_FORMAT: Final = "text"
Formats = Mapping[str, Callable[[Any], str]]


def formatted(output: Any, formats: Formats | None, chosen: str, site: Documentation) -> str:
    """The output of a command as text; `formats` is None for one that is text."""
    if formats is None:
        text: str = output
        return text
    from gen.report.formats import Report

    if isinstance(output, Report):
        output = with_links(output, site, chosen)
    if chosen not in formats:
        from gen.overlay.plugins import REPORTS

        return str(REPORTS[chosen](output))
    return formats[chosen](output)


def with_links(report: Report, site: Documentation, chosen: str) -> Report:
    """The report with the addresses of explanations and, for formats that offer them, the fixes of findings."""
    if not report.findings:
        return report
    from gen.report.formats import WITH_FIXES

    found = replace(report, documentation=site)
    if chosen not in WITH_FIXES or report.root is None:
        return found
    from gen.edit.fixes import fixes_alone

    return replace(found, fixes=fixes_alone(report.root, report.findings))


MOST_LISTED: Final = 100
"""Lines of a message; more are only counted."""


def commit_message(subject: str, lines: Sequence[str]) -> str:
    """Message of a commit that a command proposes for the files that it changed."""
    more = [f"and {len(lines) - MOST_LISTED} more"] if len(lines) > MOST_LISTED else []
    return "\n".join([subject, "", *(f"- {line}" for line in (*lines[:MOST_LISTED], *more)), ""])


def repository(root: Path | None) -> Path:
    """The given repository, or the nearest one above the working directory.

    UsageError if there is none, or if it requires another version of gen.
    """
    folder = find_root(Path.cwd()) if root is None else checked_root(root)
    check_version(folder)
    return folder


def surrounding_repository() -> Path | None:
    """The repository around the working directory. UsageError if it requires another version of gen."""
    try:
        folder = find_root(Path.cwd())
    except UsageError:
        return None
    check_version(folder)
    return folder


_COMPLETED: Final = regex(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def complete_jobs(incomplete: str) -> list[str]:
    """`NAMESPACE/NAME` of each job that begins with a text."""
    with suppress(UsageError):
        return completions(incomplete, (job.key for job in all_jobs(find_root(Path.cwd()), Findings())))
    return []


def complete_overlays(incomplete: str) -> list[str]:
    with suppress(UsageError):
        return completions(incomplete, overlay_names(find_root(Path.cwd()), Findings()))
    return []


def complete_namespaces(incomplete: str) -> list[str]:
    """Those of the jobs, and those that overlays list."""
    with suppress(UsageError):
        from gen.overlay.read import OverlayReader

        root, names = find_root(Path.cwd()), set[str]()
        for overlay in OverlayReader(root, Findings()).read():
            names.update(overlay.fields.namespaces)
        return completions(incomplete, names | {job.namespace for job in all_jobs(root, Findings())})
    return []


def completions(incomplete: str, words: Iterable[str]) -> list[str]:
    """The words that begin with a text, without those that a shell could run."""
    return sorted({word for word in words if word.startswith(incomplete) and _COMPLETED.fullmatch(word)})


Jobs = Annotated[
    tuple[str, ...],
    typer.Argument(
        help="Job files, folders or patterns. [default: all jobs]", metavar="JOB", autocompletion=complete_jobs
    ),
]
Overlays = Annotated[
    tuple[str, ...],
    typer.Option(
        "--overlay", metavar="OVERLAY", help="Only this overlay; may be repeated.", autocompletion=complete_overlays
    ),
]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        is_eager=True,
        metavar="DIR",
        help="Repository. [default: the nearest parent folder with jobs/ and overlays/]",
    ),
]
RequestTimeout = Annotated[
    float,
    typer.Option(
        "--request-timeout", metavar="SECONDS", min=0.1, max=600, help="Time that a server may take for an answer."
    ),
]
DEFAULT_SECONDS = 10.0
Kubernetes = Annotated[
    str | None,
    typer.Option(
        "--kubernetes-version", metavar="VERSION", help="Check against this version instead of the overlays' own."
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base", metavar="REF", help="Git ref to compare with. [default: merge base with the default branch]"
    ),
]
Shards = Annotated[
    Path | None,
    typer.Option("--shards", metavar="DIR", help="Read the results of `gen check --shard` from the files of a folder."),
]
Message = Annotated[
    Path | None, typer.Option("--message", metavar="FILE", help="Write the summary there, for `git commit -F`.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Render every job, even if it did not change.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and write nothing.")]
Parallel = Annotated[
    int, typer.Option("--parallel", "-n", metavar="N", min=0, help="Number of processes; 0 is one per CPU.")
]


class LiveRequest(Struct, frozen=True, kw_only=True):
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


def cluster_questions(request: LiveRequest, patterns: Sequence[str], found: Findings) -> list[Question]:
    """The runs to look up in each cluster. UsageError without the client of Kubernetes."""
    from gen.live.client import require_client

    require_client()
    from gen.live.clusters import questions

    folder = repository(request.root)
    jobs = named_jobs(folder, patterns)  # an unknown name is reported before clusters are
    targets = cluster_targets(request, found, jobs)
    lookups = questions(folder, targets, jobs)
    if patterns and targets and not lookups:
        names = quoted(patterns)
        raise UsageError(f"no run of {names} is rendered in these overlays: run `gen render`, or see `gen list`")
    return lookups


def cluster_targets(request: LiveRequest, found: Findings, jobs: Sequence[JobFile] | None = None) -> list[Target]:
    """All clusters, or those with runs of some jobs. UsageError without the client of Kubernetes."""
    from gen.live.client import require_client

    require_client()
    from gen.live.desired import desired_runs
    from gen.live.target import Access, read_targets
    from gen.overlay import load_extensions

    folder = repository(request.root)
    load_extensions(folder)
    access = Access(contexts=request.context, kubeconfig=request.kubeconfig, seconds=request.request_timeout)
    needed: set[str] = set()
    if jobs is not None and not request.overlay:  # the contexts of other overlays are not needed
        names = overlay_names(folder, Findings())
        needed = {run.overlay for run in desired_runs(folder, names, frozenset(jobs))}
    return read_targets(folder, request.overlay, access, found, needed or None)


def named_jobs(root: Path, patterns: Sequence[str]) -> list[JobFile] | None:
    """The job files that arguments name; None without any. UsageError for a pattern that matches nothing."""
    if not patterns:
        return None
    found = Findings()
    jobs = chosen_jobs(root, patterns, found)
    for finding in found:
        raise UsageError(f"{finding.place}: {finding.message}")
    return jobs
