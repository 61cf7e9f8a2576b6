"""The jobs, overlays and rendered files that the next commit will contain: the index of Git."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gen.diagnostics import UsageError
from gen.repository.layout import JOBS, OVERLAYS, RENDERED

if TYPE_CHECKING:
    from collections.abc import Iterator

_TREES: Final = ("--", JOBS, OVERLAYS, RENDERED)
_SUBMODULE: Final = "160000"


@contextmanager
def staged_tree(root: Path) -> Iterator[Path]:
    """A folder with the staged files: the work tree if it has no other ones, otherwise a temporary copy."""
    if not _git(root, "diff", "--name-only", "-z", *_TREES) and not _git(root, "ls-files", "--others", "-z", *_TREES):
        yield root
        return
    prefix = _git(root, "rev-parse", "--show-prefix").decode("utf-8", "surrogateescape").removesuffix("\n")
    with tempfile.TemporaryDirectory(prefix="gen-staged-") as folder:
        top = Path(folder).resolve()
        for name in (JOBS, OVERLAYS):
            (top / prefix / name).mkdir(parents=True)
        _copy(root, top)
        yield top / prefix


def _copy(root: Path, top: Path) -> None:
    """Check out the staged files below `top`, with the line ends that a clone has."""
    entries = [
        entry.split(b"\t", 1) for entry in _git(root, "ls-files", "--stage", "-z", *_TREES).split(b"\0") if entry
    ]
    for about, path in entries:
        if about.decode().startswith(_SUBMODULE):
            raise UsageError(f"{path.decode('utf-8', 'replace')} is a submodule; replace it with its files")
    paths = b"".join(path + b"\0" for _, path in entries)
    _git(root, "checkout-index", "-z", "--stdin", f"--prefix={top}/", given=paths)


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False)  # noqa: S603 - no shell
    except FileNotFoundError:
        raise UsageError("--staged requires `git`, which is not installed") from None
    if done.returncode != 0:
        message = " ".join(done.stderr.decode("utf-8", "replace").split()).removeprefix("fatal: ")
        raise UsageError(f"cannot read the Git index of {root}: {message}")
    return done.stdout
