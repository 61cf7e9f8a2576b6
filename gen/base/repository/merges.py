"""A change as a whole: the tree that a plan judges, other paths that it touches, and the result of its merge."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gen.base.codes.rendered import NOT_AS_APPROVED
from gen.base.findings import Findings, Location, UsageError
from gen.base.repository.files import printable_path
from gen.base.repository.git import Base, git, run_git
from gen.base.repository.layout import is_free

MAX_DIFFERING: Final = 20
"""Files that `gen check --merged` names."""
_WORDS: Final = {"A": "is not in the approved tree", "D": "is missing; the approved tree has it"}
_EVERYWHERE: Final = ("--", ":/")


def other_changes(base: Base) -> tuple[str, ...]:
    """Paths of the Git repository that differ from a base and are neither jobs nor rendered files, sorted."""
    changed = git(base.root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base.commit, *_EVERYWHERE)
    new = git(base.root, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", *_EVERYWHERE)
    paths = {path for path in (changed + new).decode("utf-8", "surrogateescape").split("\0") if path}
    free = {path for path in paths if path.startswith(base.prefix) and is_free(path.removeprefix(base.prefix))}
    return tuple(sorted(map(printable_path, paths - free)))


def judged_tree(root: Path) -> str:
    """The tree of HEAD, if the work tree has the same files; otherwise empty, because no commit has these files."""
    changed = run_git(root, "diff", "--quiet", "--no-ext-diff", "HEAD", *_EVERYWHERE)
    if changed is None or changed.returncode or git(root, "ls-files", "--others", "--exclude-standard", *_EVERYWHERE):
        return ""
    return git(root, "rev-parse", "--verify", "HEAD^{tree}").decode().strip()


def check_merged(root: Path, tree: str, found: Findings) -> None:
    """Report the files in HEAD that differ from an approved tree. UsageError if Git does not have the tree."""
    approved = run_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{tree}^{{tree}}")
    if approved is None or approved.returncode:
        remedy = "fetch the commit that was checked, such as `git fetch origin refs/pull/NUMBER/merge`"
        raise UsageError(f"unknown tree `{tree}`; {remedy}")
    trees = approved.stdout.decode().strip(), "HEAD"
    listed = git(root, "diff-tree", "-r", "--name-status", "--no-renames", "-z", *trees)
    entries = listed.decode("utf-8", "surrogateescape").split("\0")[:-1]
    hint = "read how the change was merged, and plan the difference with `gen plan --base`"
    differing = list(zip(entries[::2], entries[1::2], strict=True))
    for status, path in differing[:MAX_DIFFERING]:
        message = f"the merged file {_WORDS.get(status, 'differs from the approved one')}"
        found.error(NOT_AS_APPROVED, Location(printable_path(path)), message, hint)
    if len(differing) > MAX_DIFFERING:
        message = f"{len(differing) - MAX_DIFFERING} more files differ from the approved tree"
        found.error(NOT_AS_APPROVED, Location("."), message, f"run `git diff {trees[0]} HEAD`")
