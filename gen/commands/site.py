"""`gen site`: static pages of a whole repository, from its files and the history of Git.

A later run into the same folder renders and writes only the pages that show something else. Digests of what an earlier
run wrote are in the user's cache folder, where no branch can forge them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from msgspec import Struct

from gen.base import Findings, UsageError, counted
from gen.base.repository.files import (
    EntryType,
    TreeEntry,
    create_files,
    read_cache_file,
    read_regular,
    refuse_links,
    replace_files,
    save_cache_file,
    tree_entries,
)
from gen.base.repository.git import git_prefix, head_commit
from gen.base.repository.stamps import tools_digest
from gen.commands.common import CLEAN, VIOLATIONS, Result, Root, repository
from gen.commands.environment import documentation
from gen.overlay import load_extensions
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.render.cache import cache_file
from gen.report.formats import Report
from gen.report.site import Page, Site, site_pages
from gen.review.history import run_history
from gen.review.job_list import Filters, list_jobs
from gen.review.sources import links_to, texts_of


class Request(Struct, frozen=True, kw_only=True):
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder for the pages: new, empty, or of an earlier `gen site`.")
    ]
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
    state = _WrittenPages.of(folder)
    present = _present(folder, state.pages)
    load_extensions(root)
    listing = list_jobs(root, (), (), Filters(), cache_file("list", root))
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
    summary = state.update(folder, site_pages(site), present)
    failed = any(finding.is_error for finding in listing.findings)
    return Result(output=Report(listing.findings, (), summary, root=root), exit_code=VIOLATIONS if failed else CLEAN)


class _WrittenPage(Struct, frozen=True):
    shown: str
    """Digest of all that the page shows."""
    content: str
    """Digest of the file."""


class _WrittenPages(Struct, kw_only=True):
    """The pages that gen wrote into a folder."""

    tools: str
    pages: dict[str, _WrittenPage] = {}
    """By path."""

    @classmethod
    def of(cls, folder: Path) -> _WrittenPages:
        """Those of the last run; none if there was no run, or if another version of gen wrote the pages."""
        if (path := cache_file("site", folder)) is not None:
            with suppress(OSError, ValueError, msgspec.MsgspecError):
                return msgspec.json.decode(read_cache_file(path), type=cls)
        return cls(tools="")

    def update(self, folder: Path, pages: Mapping[str, Page], present: Collection[str]) -> str:
        """Write the pages that differ, and remove those of jobs that are gone. The result is the summary of the run."""
        tools = tools_digest()
        texts: dict[str, bytes] = {}
        written: dict[str, _WrittenPage] = {}
        for path, page in pages.items():
            shown = page.digest
            old = self.pages.get(path) if self.tools == tools else None
            if old is None or old.shown != shown or path not in present or _digest(f"{folder}/{path}") != old.content:
                texts[path] = page.content()
                old = _WrittenPage(shown, hashlib.sha256(texts[path]).hexdigest())
            written[path] = old
        gone = sorted(set(present).difference(pages))
        for path in gone:
            refuse_links(folder, path)
            (folder / path).unlink(missing_ok=True)
            with suppress(OSError):  # it has other pages
                (folder / path).parent.rmdir()
        if (state := cache_file("site", folder)) is not None:  # without it, the next run needs an empty folder
            with suppress(OSError):
                save_cache_file(state, [msgspec.json.encode(_WrittenPages(tools=tools, pages=written))])
        replace_files(folder, {path: text for path, text in texts.items() if path in present})
        create_files(folder, {path: text for path, text in texts.items() if path not in present})
        summary = f"wrote {counted(len(texts), 'page')} to {folder}"
        if not present:
            return summary
        return f"{summary}, removed {len(gone)}, {len(pages) - len(texts)} unchanged"


def _present(folder: Path, known: Collection[str]) -> frozenset[str]:
    """The pages of an earlier run in a folder. UsageError if the folder has anything else."""
    top = folder.absolute()
    entries = list(tree_entries(top.parent, top.name)) if top.name else [TreeEntry("", EntryType.OTHER)]
    if [one.type for one in entries if one.path == top.name] == [EntryType.EMPTY_FOLDER]:
        return frozenset()
    pages = {one.path.removeprefix(f"{top.name}/") for one in entries if one.type is EntryType.FILE}
    if len(pages) < len(entries) or not pages.issubset(known):
        raise UsageError(
            f"`{folder}` is not an empty folder, or has other files than its pages: remove it, or name another"
        )
    return frozenset(pages)


_MAX_STATE: Final = 1 << 26


def _digest(path: str) -> str:
    return hashlib.sha256(read_regular(path, _MAX_STATE)).hexdigest()


def _overlays(root: Path) -> list[Overlay]:
    try:
        return OverlayReader(root, Findings()).read()
    except UsageError:  # there is none yet
        return []
