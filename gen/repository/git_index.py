"""The Git index: the files that the next commit will contain.

`check_index` reports entries that the files of the work tree do not show: a submodule that was not fetched is an empty
folder, and gen ignores its own temporary folder. A repository without Git has no such entries. `staged_tree` is a
folder with the files of the index.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gen.diagnostics import Location, UsageError
from gen.findings.files import NOT_A_FILE
from gen.findings.rendered import EMPTY_FOLDER, EXECUTABLE_FILE, SUBMODULE, TEMPORARY_FILES
from gen.repository.control_files import refuse_control_file
from gen.repository.git import reason, run_git
from gen.repository.layout import JOBS, OVERLAYS, RENDERED, STAGING, below_rendered, is_staging
from gen.repository.safe_files import printable_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Findings

_SUBMODULE, _LINK, _EXECUTABLE = "160000", "120000", "100755"
_MODULES = ".gitmodules"
_TREES: Final = ("--", JOBS, OVERLAYS, RENDERED)
_UNMARKED, _SKIPPED = b"H ", b"S "
"""Marks in the output of `git ls-files -v`; `assume-unchanged` makes them lower case."""


def check_index(root: Path, found: Findings) -> None:
    """Report submodules, `.gitmodules`, temporary files of gen, and links and executable files in `rendered/`.

    UsageError if Git refuses to read the index, because nothing would be known about a commit.
    """
    if os.path.lexists(root / _MODULES):
        refuse_control_file(_MODULES, found)
    if not in_git(root):
        return
    for mode, path in _entries(root):
        _check(root, mode, path, found)


def executable_bits_count(root: Path) -> bool:
    """Whether the file system stores executable bits; False if Git is configured to ignore them."""
    done = run_git(root, "config", "--type=bool", "core.fileMode") if in_git(root) else None
    return done is None or done.stdout.strip() != b"false"


def report_executable(path: str, found: Findings) -> None:
    hint = "run `gen render` to correct it, and commit the result"
    found.error(EXECUTABLE_FILE, Location(printable_path(path)), "the file is executable", hint)


def report_empty_folder(path: str, found: Findings) -> None:
    hint = "run `gen render` to remove it; if it is a submodule, commit its removal"
    found.error(EMPTY_FOLDER, Location(printable_path(path)), "the folder is empty", hint)


def report_temporary_files(found: Findings) -> None:
    message = "temporary files of an interrupted `gen render`"
    hint = "run `gen render` to remove them; if they are committed, commit the removal"
    found.error(TEMPORARY_FILES, Location(STAGING), message, hint)


def _check(root: Path, mode: str, path: str, found: Findings) -> None:
    here = Location(printable_path(path))
    rendered = below_rendered(path) is not None
    if mode == _SUBMODULE:
        message = "submodules are not allowed here: the content is in another repository, which gen does not check"
        found.error(SUBMODULE, here, message, f"run `git rm --cached {here.file}`, and add the files themselves")
    elif path.rpartition("/")[2].lower() == _MODULES:
        refuse_control_file(here.file, found)
    elif is_staging(path):
        report_temporary_files(found)
    elif rendered and mode == _EXECUTABLE:
        report_executable(path, found)
    elif rendered and mode == _LINK and _is_plain_file(root, path):
        found.error(NOT_A_FILE, here, "a link in the Git index", "run `gen render` and commit the result")


def _is_plain_file(root: Path, path: str) -> bool:
    """False for a link, which `gen check` and `gen plan` find in the work tree, and for a removed file."""
    full = f"{root}/{path}"
    return os.path.isfile(full) and not os.path.islink(full)  # noqa: PTH113, PTH114 - a tenth of the time of a Path


def _entries(root: Path) -> Iterator[tuple[str, str]]:
    """Mode and path of the entries that matter."""
    pathspecs = (JOBS, OVERLAYS, RENDERED, f":(icase,glob)**/{_MODULES}")
    done = run_git(root, "ls-files", "--stage", "-z", "--", *pathspecs)
    if done is None:
        return
    if done.returncode != 0:
        raise UsageError(f"Git cannot read its index in {root}: {reason(done)}")
    for line in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        about, _, path = line.partition("\t")
        if path:
            yield about[:6], path


def in_git(root: Path) -> bool:
    """Whether a folder is in a Git repository."""
    return any(os.path.lexists(folder / ".git") for folder in (root, *root.parents))


@contextmanager
def staged_tree(root: Path) -> Iterator[Path]:
    """A folder with the staged files: the work tree if it has no other ones, otherwise a temporary copy."""
    # first, because Git explains best here why it cannot read a repository
    prefix = _git(root, "rev-parse", "--show-prefix").decode("utf-8", "surrogateescape").removesuffix("\n")
    if _is_staged(root):
        yield root
        return
    with tempfile.TemporaryDirectory(prefix="gen-staged-") as folder:
        top = Path(folder).resolve()
        for name in (JOBS, OVERLAYS):
            (top / prefix / name).mkdir(parents=True)
        _copy(root, top)
        yield top / prefix


def _is_staged(root: Path) -> bool:
    """Whether the work tree has the files of the index, and no others.

    `git diff` does not look at files that are marked `assume-unchanged` or, in a sparse checkout, `skip-worktree`.
    """
    if _git(root, "diff", "--name-only", "-z", *_TREES) or _git(root, "ls-files", "--others", "-z", *_TREES):
        return False
    entries = _git(root, "ls-files", "-v", "-z", *_TREES).split(b"\0")
    return all(entry.startswith(_UNMARKED) for entry in entries if entry)


def _copy(root: Path, top: Path) -> None:
    """Check out the staged files below `top`, with the line ends that a clone has."""
    listed = _git(root, "ls-files", "--stage", "-v", "-z", *_TREES).split(b"\0")
    entries = [entry.split(b"\t", 1) for entry in listed if entry]
    for about, path in entries:
        if about[2:].decode().startswith(_SUBMODULE):
            raise UsageError(f"{path.decode('utf-8', 'replace')} is a submodule; replace it with its files")
    paths = b"".join(path + b"\0" for _, path in entries)
    sparse = any(about.upper().startswith(_SKIPPED) for about, _ in entries)
    options = ["--ignore-skip-worktree-bits"] if sparse else []  # which old releases of Git do not have
    _git(root, "checkout-index", "-z", "--stdin", f"--prefix={top}/", *options, given=paths)


def _git(root: Path, *arguments: str, given: bytes | None = None) -> bytes:
    done = run_git(root, *arguments, given=given)
    if done is None:
        raise UsageError("--staged requires `git`, which is not installed")
    if done.returncode != 0:
        raise UsageError(f"cannot read the Git index of {root}: {reason(done)}")
    return done.stdout
