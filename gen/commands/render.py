"""`gen render`: write missing and changed files below `rendered/`, and remove stale ones.

`gen render --watch` renders again after each change of jobs and overlays, in the same process. It does not watch
`rendered/`, so that no render starts another one. watchfiles reports changes in groups: an editor that writes a new
file and renames it over the old one, or Git that changes a hundred files, is one change.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec.structs import replace

from gen.base import Diagnostic, UsageError, counted
from gen.base.repository.layout import JOBS, OVERLAYS
from gen.base.repository.stamps import tools_digest
from gen.commands.common import CLEAN, Result, Stream, repository
from gen.commands.rendering import RenderRequest, processes, refused, render_and_compare, summary
from gen.render.write import Staging, apply
from gen.report.formats import Report


class Request(RenderRequest, frozen=True, kw_only=True):
    restart: Annotated[
        bool, typer.Option("--restart", help="Render runs of unchanged jobs again, too, with today's overlay and gen.")
    ] = False
    prune_storage: Annotated[bool, typer.Option("--prune-storage", help="Remove storage files that no job uses.")] = (
        False
    )
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Remove all rendered files if no jobs are left.")
    ] = False
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Go on, and render again after each change of jobs and overlays.")
    ] = False


def run(request: Request) -> Result[Report] | Stream[Report]:
    """Nothing is written when there is an error."""
    return _watched(request) if request.watch else render(request, request.cache)


def _watched(request: Request) -> Stream[Report]:
    """UsageError for options that must not act again and again, such as on files that are missing for a moment."""
    once = {
        "--restart": request.restart,
        "--prune-storage": request.prune_storage,
        "--allow-empty": request.allow_empty,
    }
    for option in (name for name, given in once.items() if given):
        raise UsageError(f"`{option}` cannot be combined with `--watch`; run `gen render {option}` once")

    return watch(repository(request.root), lambda: render(request, request.cache).output)


def render(request: Request, cache: Path | None = None) -> Result[Report]:
    """Render with the cache in a folder, or without one."""
    with Staging() as staging:
        return _render(request, cache, staging)


def _render(request: Request, cache: Path | None, staging: Staging) -> Result[Report]:
    prune, restart = request.prune_storage, request.restart
    compared = render_and_compare(request, cache, prune_storage=prune, restart=restart, staging=staging)
    rendering, comparison = compared.rendering, compared.comparison
    if comparison is None or rendering.findings.failed():
        return refused(rendering.findings, compared.root)
    removed = sum(change.removes for change in comparison.changes)
    if rendering.whole and not rendering.files and removed and not request.allow_empty:
        why = "no overlay selects a job" if rendering.jobs else "no jobs found"
        files = counted(removed, "rendered file")
        raise UsageError(f"{why}; refusing to remove all {files} (use --allow-empty to proceed)")
    stamps = compared.cache.stamps if compared.cache is not None else None
    apply(compared.root, rendering, comparison, staging, stamps, processes(request.parallel))
    if compared.cache is not None:
        compared.cache.remember(rendering)
    text = summary(rendering, comparison, "wrote", "removed")
    return Result(output=Report(tuple(rendering.findings), comparison.changes, text, root=compared.root))


_QUIET_MS: Final = 30
"""Milliseconds without another change that end a group."""
_LONGEST_MS: Final = 500
"""Milliseconds of a group that does not end."""
_POLL_MS: Final = 100
"""Milliseconds after which the watched folders themselves are looked at: Git can replace them."""
_LOCK_SECONDS: Final = 10
"""Time that Git may take to change files. An older lock is one of a killed process."""


def changed_inputs(root: Path) -> Iterator[frozenset[str]]:
    """Paths of changed files, relative to the repository. The first group is empty, and everything after it is seen.

    Goes on until KeyboardInterrupt. While Git changes files, or one of the folders is missing, it waits.
    """
    from watchfiles import watch

    while True:
        folders = _folders(root)
        if None in folders:
            time.sleep(_POLL_MS / 1000)
            continue
        groups = watch(
            root / JOBS,
            root / OVERLAYS,
            watch_filter=None,
            debounce=_LONGEST_MS,
            step=_QUIET_MS,
            rust_timeout=_POLL_MS,
            yield_on_timeout=True,
        )
        next(groups)  # only now it watches
        yield frozenset()
        for group in groups:
            if _folders(root) != folders:
                break
            if group:
                _wait_for_git(root)
                yield frozenset(_relative(root, path) for _, path in group)


def _folders(root: Path) -> list[tuple[int, int] | None]:
    return [_identity(root / name) for name in (JOBS, OVERLAYS)]


def _identity(folder: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = folder.stat()
        return status.st_dev, status.st_ino
    return None


def _relative(root: Path, path: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def _wait_for_git(root: Path) -> None:
    """Wait while Git changes the work tree, so that a render does not write between."""
    lock = _index_lock(root)
    until = time.monotonic() + _LOCK_SECONDS
    while lock is not None and lock.exists() and time.monotonic() < until:
        time.sleep(_POLL_MS / 1000)


def _index_lock(root: Path) -> Path | None:
    """The file that exists while Git changes the index and the work tree; None without Git."""
    for folder in (root, *root.parents):
        git = folder / ".git"
        if git.is_dir():
            return git / "index.lock"
        with suppress(OSError, ValueError):  # a work tree or a submodule
            return folder / git.read_text("utf-8").partition("gitdir:")[2].strip() / "index.lock"
    return None


WAITING = "waiting for changes of jobs/ and overlays/; Ctrl-C ends it"


def watch(root: Path, render: Callable[[], Report]) -> Stream[Report]:
    """A report after each render, which replaces the one before it on a terminal."""
    return Stream(pieces=_reports(root, render), code=lambda: CLEAN, replaces=True)


def _reports(root: Path, render: Callable[[], Report]) -> Iterator[Report]:
    tools = tools_digest()
    for changed in changed_inputs(root):
        if tools_digest() != tools:  # the cache would keep results of the old version as those of the new one
            raise UsageError("gen or one of its packages was installed again; start `gen render --watch` again")
        yield _report(root, render, changed)
        gc.collect()  # the program disables automatic collection


def _report(root: Path, render: Callable[[], Report], changed: Collection[str]) -> Report:
    """The result of a render, with all errors, and with warnings about the files that changed."""
    try:
        report = render()
    except UsageError as error:  # such as an overlay that does not exist now
        return Report((), (), f"{error}\n{WAITING}", root=root)
    shown = tuple(finding for finding in report.findings if _matters(finding, changed))
    others = len(report.findings) - len(shown)
    hidden = [f"{counted(others, 'warning')} about other files; `gen check` shows them"] if others else []
    return replace(report, findings=shown, summary="\n".join([report.summary, *hidden, WAITING]))


def _matters(finding: Diagnostic, changed: Collection[str]) -> bool:
    files = [place.file for place in (finding.place, *(place for place, _ in finding.related))]
    return finding.is_error or any(file == path or file.startswith(f"{path}/") for file in files for path in changed)
