"""`gen list`: the jobs of a repository, from its files alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from gen.commands.compared import repository
from gen.commands.options import Jobs, Overlays, Root
from gen.commands.result import CLEAN, VIOLATIONS, Result
from gen.diagnostics import UsageError, did_you_mean
from gen.inventory.listing import STATES, Filters, Listing
from gen.inventory.read import list_jobs
from gen.kinds import KINDS
from gen.overlay.extensions import load_extensions
from gen.report.formats import LIST_REPORTERS

if TYPE_CHECKING:
    from collections.abc import Collection

FORMATS = LIST_REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen list`."""

    jobs: Jobs = ()
    namespace: Annotated[
        tuple[str, ...], typer.Option("--namespace", help="Only this namespace; may be repeated.")
    ] = ()
    overlay: Overlays = ()
    kind: Annotated[tuple[str, ...], typer.Option("--kind", help="Only this kind of jobs; may be repeated.")] = ()
    state: Annotated[tuple[str, ...], typer.Option("--state", help="Only jobs in this state; may be repeated.")] = ()
    metrics: Annotated[bool, typer.Option("--metrics", help="Show the metrics of the jobs.")] = False
    root: Root = None


def run(request: Request) -> Result[Listing]:
    """Exit code 1 if a listed job has an error."""
    root = repository(request.root)
    load_extensions(root)
    _check("kind", request.kind, KINDS)
    _check("state", request.state, STATES)
    filters = Filters(namespaces=request.namespace, kinds=request.kind, states=request.state)
    listing = list_jobs(root, request.jobs, request.overlay, filters)
    listing = replace(listing, with_metrics=request.metrics)
    failed = any(finding.is_error for finding in listing.findings)
    return Result(output=listing, exit_code=VIOLATIONS if failed else CLEAN)


def _check(field: str, given: Collection[str], known: Collection[str]) -> None:
    for value in given:
        if value not in known:
            raise UsageError(f"unknown {field} `{value}`: {did_you_mean(value, known)}")
