"""`gen check`: compare `rendered/` with the files that `gen render` would write, and check the Git index."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace
from msgspec.structs import replace as replaced

from gen.base import Findings, Severity, UsageError, regex
from gen.base.codes.files import CONTROL_FILE
from gen.base.codes.overlays import NOTHING_MATCHES
from gen.base.repository.git import (
    changed_files,
    check_index,
    executable_bits_count,
    find_base,
    in_git,
    report_empty_folder,
    report_executable,
    report_temporary_files,
    staged_tree,
)
from gen.base.repository.job_files import all_jobs
from gen.base.repository.layout import JOBS, OVERLAYS, is_job
from gen.commands.common import CLEAN, VIOLATIONS, Base, Result, Shards, repository
from gen.commands.rendering import (
    RenderedRepository,
    RenderRequest,
    refused,
    render_and_compare,
    results_of_shards,
    summary,
)
from gen.render.cache import Cache
from gen.render.write.compare import Comparison
from gen.report.formats import Report

if TYPE_CHECKING:
    from gen.base.repository import git as git_files


class Request(RenderRequest, frozen=True, kw_only=True):
    base: Base = None
    staged: Annotated[
        bool, typer.Option("--staged", help="Check the files that are staged in Git, which the next commit contains.")
    ] = False
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Edit job files and overlays where a finding prints one correction, then check."),
    ] = False
    diff: Annotated[
        bool, typer.Option("--diff", help="Show the lines that differ; with --fix its edits, which change no file.")
    ] = False
    all: Annotated[bool, typer.Option("--all", help="Show the warnings about jobs that did not change, too.")] = False
    merged: Annotated[
        str | None,
        typer.Option("--merged", metavar="TREE", help="List files that differ from the tree that a plan approved."),
    ] = None
    shard: Annotated[
        str | None, typer.Option("--shard", metavar="K/N", help="Check one of N parts of the jobs, such as 3/8.")
    ] = None
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the result of a shard to this `.json` file.")
    ] = None
    shards: Shards = None
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Make warnings about patches and patterns of overlays without a match errors."),
    ] = False


def run(request: Request) -> Result[Report]:
    """Violations when there is an error, or when anything would be written or removed. UsageError without the base."""
    if request.base is not None:
        find_base(repository(request.root), request.base)
    if request.fix:
        return _fix(request)
    if request.shard is not None:
        return _check_shard(request, request.shard)
    if request.save is not None:
        raise UsageError("`--save` is for the result of one part of the jobs: set `--shard K/N`, too")
    return _check_staged(request) if request.staged else check(request, request.cache)


def _check_shard(request: Request, shard: str) -> Result[Report]:
    """Check every Nth job, so that all parts have jobs of each namespace and kind."""
    match = regex(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})").fullmatch(shard)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"invalid --shard `{shard}`; expected one of N parts, such as 3/8")
    if request.jobs or request.overlay or request.fix or request.staged or request.shards is not None:
        raise UsageError("`--shard` chooses jobs, and cannot be combined with other choices of files")
    root = repository(request.root)
    jobs = all_jobs(root, Findings())[int(match[1]) - 1 :: int(match[2])]
    if not jobs:
        return Result(output=Report((), (), f"no job is in part {shard}", done=False))
    known = Cache.for_shard(root, request.save, request.kubernetes) if request.save is not None else None
    chosen = replace(request, jobs=tuple(str(root / job.file) for job in jobs))
    return judge(chosen, render_and_compare(chosen, None, base=request.base, shards=known))


def _fix(request: Request) -> Result[Report]:
    """The edits, and the result of a check after them unless they are only shown."""
    if request.staged:
        raise UsageError("`--fix` looks at the work tree, and cannot be combined with `--staged`")
    from gen.edit.fixes import find_fixes, write_fixes
    from gen.overlay import load_extensions

    root = repository(request.root)
    load_extensions(root)
    fixes = find_fixes(root, request.jobs)
    if request.diff:
        report = Report((), (), fixes.summary(done=False), edits=fixes.edits)
        return Result(output=report, exit_code=VIOLATIONS if fixes.edits else CLEAN)
    write_fixes(root, fixes)
    result = check(request, request.cache)
    text = f"{fixes.summary(done=True)}\n{result.output.summary}"
    return replaced(result, output=replaced(result.output, summary=text, edits=fixes.edits))


def _check_staged(request: Request) -> Result[Report]:
    """Check the index of Git: files that are not added, or that changed since, do not count."""
    root = repository(request.root)
    with staged_tree(root) as staged:
        folder = request.cache if staged == root else None
        return check(replace(request, root=staged), folder, git=root)


def check(request: Request, cache: Path | None = None, *, git: Path | None = None) -> Result[Report]:
    """Check with the cache in a folder, or without one. `git` is the work tree of staged files."""
    shards = results_of_shards(request.root, request.shards, request.kubernetes)
    return judge(request, render_and_compare(request, cache, base=request.base, git=git, shards=shards), git=git)


def judge(request: Request, compared: RenderedRepository, *, git: Path | None = None) -> Result[Report]:
    """Check a render that was compared with `rendered/`."""
    rendering, comparison = compared.rendering, compared.comparison
    committed = git or compared.root
    read_from = compared.root if git is None else None  # the staged files are gone before findings are printed
    check_index(compared.root, rendering.findings)
    if request.merged is not None:
        from gen.review.rendered_trees import check_merged

        check_merged(compared.root, request.merged, rendering.findings)
    if comparison is None:
        return refused(rendering.findings, read_from, in_files=not request.fix)
    if rendering.behind:
        from gen.review.kept_runs import verify_kept_runs

        verify_kept_runs(rendering.behind, compared.root, committed, request.base, rendering.findings)
    if rendering.resumed:
        from gen.review.history import check_resumed

        check_resumed(rendering.resumed, compared.root, committed, rendering.findings)
    steered = any(one.code == CONTROL_FILE.name for one in rendering.findings)  # Git would obey it, or wait for a pipe
    base, changed = (None, None) if steered else _since_base(committed, request.base)
    if base is not None and (overlays := {path for path in changed or () if not is_job(path)}):
        from gen.review.upgrade import check_upgrades

        check_upgrades(committed, base, overlays, rendering.findings)
    _report_repairs(compared.root, comparison, rendering.findings)
    if request.strict:
        _raise_unmatched(rendering.findings)
    text = summary(rendering, comparison, "would write", "would remove")
    if comparison.changes:
        text += "; run `gen render` and " + (
            "`git add jobs overlays rendered`" if request.staged else "commit the result"
        )
    failed = rendering.findings.failed() or bool(comparison.changes)
    report = Report(
        *(tuple(rendering.findings), comparison.changes, text),
        done=False,
        diff=request.diff,
        unchanged=_unchanged(request, changed, rendering.findings),
        root=read_from,
    )
    return Result(output=report, exit_code=VIOLATIONS if failed else CLEAN)


def _unchanged(request: Request, changed: set[str] | None, found: Findings) -> frozenset[str]:
    """Job files with warnings that are those of the default branch at the merge base, unless jobs are chosen."""
    if request.all or request.jobs or changed is None:
        return frozenset()
    return frozenset({one.place.file for one in found if not one.is_error and is_job(one.place.file)} - changed)


def _raise_unmatched(found: Findings) -> None:
    """Turn warnings about parts of overlays that no job uses into errors."""
    found.items[:] = [
        replaced(item, severity=Severity.ERROR) if item.code in NOTHING_MATCHES else item for item in found.items
    ]


def _since_base(root: Path, ref: str | None) -> tuple[git_files.Base | None, set[str] | None]:
    """The base, and the jobs and files of overlays that differ from it.

    Without another branch, those that differ from the last commit; None without Git.
    """
    if not in_git(root):
        return None, None
    base = None
    with suppress(UsageError):  # no commit, no other branch, or no program
        base = find_base(root, ref)
    with suppress(UsageError):
        return base, changed_files(root, base.commit if base is not None else "HEAD", JOBS, OVERLAYS)
    return base, None


def _report_repairs(root: Path, comparison: Comparison, found: Findings) -> None:
    """Report differences that `gen render` corrects, other than the content of files."""
    for folder in comparison.empty:
        report_empty_folder(folder, found)
    if comparison.executable and executable_bits_count(root):
        for path in comparison.executable:
            report_executable(path, found)
    if comparison.staging:
        report_temporary_files(found)
