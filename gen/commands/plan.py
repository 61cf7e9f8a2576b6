"""`gen plan`: effects of merging the work tree, from `rendered/` at the base commit and in the work tree.

    find_base → read_trees → unrendered_objects → read_overlays → compare_trees → Review → text, Markdown or JSON

Files that differ from the base are compared with the result of a render. `gen check` compares all files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from gen.commands.compared import repository
from gen.commands.options import Overlays, Root
from gen.commands.result import CLEAN, VIOLATIONS, Result
from gen.diagnostics import Findings, UsageError
from gen.overlay.plugins import load_repository_plugins
from gen.report.formats import PLAN_REPORTERS
from gen.repository.git import find_base
from gen.repository.git_index import check_index
from gen.review.compare import compare_trees, run_scopes
from gen.review.removals import RemovalLimit
from gen.review.rendered_trees import read_trees
from gen.review.review import Review
from gen.review.unrendered import Expected, job_sources, unrendered_objects
from gen.review.usage import read_overlays

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMATS = PLAN_REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen plan`."""

    base: Annotated[
        str | None,
        typer.Option("--base", help="Git ref to compare with. [default: merge base with the default branch]"),
    ] = None
    overlay: Overlays = ()
    root: Root = None
    max_removed: Annotated[
        str | None,
        typer.Option("--max-removed", metavar="N|P%", help="Fail if more than N objects (or P%) would be removed."),
    ] = None
    allow_data_removal: Annotated[
        bool, typer.Option("--allow-data-removal", help="Do not fail if volumes or claims would be removed.")
    ] = False


def run(request: Request) -> Result[Review]:
    """Violations when the change must not be merged. UsageError when there is nothing to compare with."""
    result = review(request)
    return Result(output=result, exit_code=VIOLATIONS if result.refused else CLEAN)


def review(request: Request) -> Review:
    """UsageError if there is no base to compare with. All other errors are findings of the review."""
    limit = RemovalLimit.parse(request.max_removed)
    root = repository(request.root)
    base = find_base(root, request.base)
    load_repository_plugins(root)
    found = Findings()
    trees = read_trees(root, base, found).select(request.overlay)
    check_index(root, found)
    unrendered = unrendered_objects(trees.suspects, _expected(root, trees.suspects), found)
    return compare_trees(
        base,
        trees,
        read_overlays(root, run_scopes(trees), found),
        found,
        inputs_differ=base.inputs_differ,
        allow_data_removal=request.allow_data_removal,
        removal_limit=limit,
        unrendered=unrendered,
    )


def _expected(root: Path, suspects: Mapping[str, bytes]) -> Expected:
    """The result of a render for some files: of their jobs only, if their headers name no other sources."""
    if not suspects:
        return Expected(texts={}, keep=(), failed=False)
    from gen.render.run import render  # noqa: PLC0415 - a plan without changes does not need it

    sources = job_sources(suspects)
    jobs = [source for source in sources or () if (root / source).is_file()]
    try:
        rendering = render(root, (), jobs if sources is not None and jobs else (), os.cpu_count() or 1)
    except UsageError:  # no overlay can be read
        return Expected(texts={}, keep=(), failed=True)
    texts = {path: file.text for path, file in rendering.files.items() if file.text is not None}
    return Expected(texts=texts, keep=rendering.keep, failed=rendering.findings.failed())
