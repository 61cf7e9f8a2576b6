"""`gen render` and `gen check` on the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from gen.cli.options import Format, Jobs, Kubernetes, NoCache, Output, Overlays, Parallel, Root, finish


def render(
    jobs: Jobs = None,
    overlay: Overlays = None,
    root: Root = None,
    output: Format = Output.TEXT,
    parallel: Parallel = 0,
    kubernetes: Kubernetes = None,
    no_cache: NoCache = False,
    prune_storage: Annotated[
        bool, typer.Option("--prune-storage", help="Remove storage files that no job uses.")
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Remove everything when there are no jobs.")
    ] = False,
) -> None:
    """Write the manifests of all jobs to rendered/."""
    from gen.commands.render import Request, render
    from gen.render.cache import cache_folder

    cache = None if no_cache else cache_folder()
    names = tuple(jobs or ()), tuple(overlay or ())
    finish(*render(Request(root, *names, parallel, kubernetes, cache, prune_storage, allow_empty)), output)


def check(
    jobs: Jobs = None,
    overlay: Overlays = None,
    root: Root = None,
    output: Format = Output.TEXT,
    parallel: Parallel = 0,
    kubernetes: Kubernetes = None,
    no_cache: NoCache = False,
) -> None:
    """Compare rendered/ with jobs and overlays, without writing."""
    from gen.commands.render import Request, check
    from gen.render.cache import cache_folder

    cache = None if no_cache else cache_folder()
    names = tuple(jobs or ()), tuple(overlay or ())
    finish(*check(Request(root, *names, parallel, kubernetes, cache)), output)
