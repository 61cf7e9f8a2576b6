"""`gen site`: static pages of a whole repository, from its files and the history of Git."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from gen.base import Findings, UsageError, counted
from gen.base.repository.files import create_files
from gen.base.repository.git import git_prefix, head_commit
from gen.commands.common import CLEAN, VIOLATIONS, Result, Root, repository
from gen.commands.environment import documentation
from gen.overlay.extensions import load_extensions
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.report.formats import Report
from gen.report.site import Site, site_pages
from gen.review.history import run_history
from gen.review.job_list import Filters, list_jobs
from gen.review.sources import links_to, texts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the pages; new or empty.")]
    web: Annotated[
        str | None,
        typer.Option(
            "--web",
            metavar="URL",
            help="Repository that the pages link to, such as https://github.com/example/jobs. [default: that of CI]",
        ),
    ] = None
    root: Root = None


def run(request: Request) -> Result[Report]:
    """Exit code 1 if a job has an error that hides values; its page says so."""
    root, folder = repository(request.root), request.folder
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UsageError(f"`{folder}` is not an empty folder: remove it, or name another")
    load_extensions(root)
    listing = list_jobs(root, (), (), Filters())
    commit = head_commit(root)
    site = Site(
        listing=listing,
        overlays=tuple(_overlays(root)),
        texts=texts_of(root, {row.file for row in listing.rows}),
        history=run_history(root),
        links=links_to(request.web, commit, git_prefix(root), os.environ),
        commit=commit,
        documentation=documentation(),
    )
    pages = site_pages(site)
    create_files(folder, pages)
    failed = any(finding.is_error for finding in listing.findings)
    summary = f"wrote {counted(len(pages), 'page')} to {folder}"
    return Result(output=Report(listing.findings, (), summary, root=root), exit_code=VIOLATIONS if failed else CLEAN)


def _overlays(root: Path) -> list[Overlay]:
    try:
        return OverlayReader(root, Findings()).read()
    except UsageError:  # there is none yet
        return []
