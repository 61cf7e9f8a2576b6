"""`gen list`: the jobs of a repository, from its files alone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

import typer
from msgspec import Struct
from msgspec.structs import replace

from gen.base import UsageError, did_you_mean
from gen.base.engines import STATES
from gen.commands.common import (
    CLEAN,
    VIOLATIONS,
    Jobs,
    Overlays,
    Result,
    Root,
    complete_namespaces,
    completions,
    repository,
)
from gen.commands.environment import terminal
from gen.job.kinds import ALL_KINDS
from gen.overlay import load_extensions
from gen.render.cache import cache_file
from gen.report.formats import LIST_REPORTERS
from gen.report.terminal import View
from gen.review.job_list import Filters, Listing, list_jobs

FORMATS = LIST_REPORTERS


def _states(incomplete: str) -> list[str]:
    return completions(incomplete, STATES)


def _kinds(incomplete: str) -> list[str]:
    return completions(incomplete, ALL_KINDS)


class Request(Struct, frozen=True, kw_only=True):
    jobs: Jobs = ()
    namespace: Annotated[
        tuple[str, ...],
        typer.Option(
            "--namespace",
            metavar="NAMESPACE",
            help="Only this namespace; may be repeated.",
            autocompletion=complete_namespaces,
        ),
    ] = ()
    overlay: Overlays = ()
    kind: Annotated[
        tuple[str, ...],
        typer.Option("--kind", metavar="KIND", help="Only this kind of jobs; may be repeated.", autocompletion=_kinds),
    ] = ()
    state: Annotated[
        tuple[str, ...],
        typer.Option(
            "--state", metavar="STATE", help="Only jobs in this state; may be repeated.", autocompletion=_states
        ),
    ] = ()
    metrics: Annotated[bool, typer.Option("--metrics", help="Show the metrics of the jobs.")] = False
    root: Root = None


def run(request: Request) -> Result[View[Listing]]:
    """Exit code 1 if a listed job has an error."""
    root = repository(request.root)
    load_extensions(root)
    _check("kind", request.kind, ALL_KINDS)
    _check("state", request.state, STATES)
    filters = Filters(namespaces=request.namespace, kinds=request.kind, states=request.state)
    listing = list_jobs(root, request.jobs, request.overlay, filters, cache_file("list", root))
    listing = replace(listing, with_metrics=request.metrics)
    failed = any(finding.is_error for finding in listing.findings)
    return Result(output=View(data=listing, terminal=terminal()), exit_code=VIOLATIONS if failed else CLEAN)


def _check(field: str, given: Collection[str], known: Collection[str]) -> None:
    for value in given:
        if value not in known:
            raise UsageError(f"unknown {field} `{value}`: {did_you_mean(value, known)}")
