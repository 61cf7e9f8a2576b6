"""Files that an older gen wrote, with the changes of this one: a three-way merge that keeps the user's edits."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from gen import __version__
from gen.base.codes.files import MERGE_CONFLICT
from gen.base.findings import Findings, Location, UsageError
from gen.base.repository.files import MAX_BYTES, read_regular, refuse_links
from gen.base.repository.git import git_prefix, reason, run_git
from gen.base.repository.settings import SETTINGS_FILE, Settings, blob_name


class Update(Struct, frozen=True, kw_only=True):
    """What becomes of the files."""

    new: Mapping[str, bytes]
    changed: Mapping[str, bytes]
    gone: tuple[str, ...]
    """Files that gen does not write any more, without edits."""


def update_files(
    root: Path, texts: Mapping[str, bytes], known: Settings, keep: Collection[str], found: Findings
) -> Update:
    """Merge texts into the files of a repository, except those to keep. A file that the user removed stays away."""
    new, changed = dict[str, bytes](), dict[str, bytes]()
    for file, raw in texts.items():
        own = _own(root, file)
        if own is None:
            if _written(root, file, known) is None:
                new[file] = raw
        elif file == SETTINGS_FILE:
            if own != raw:
                changed[file] = raw
        elif own != raw and (text := _merged(file, own, _written(root, file, known) or b"", raw, found)) != own:
            changed[file] = text
    left = (file for file in known.files if file not in texts and file not in keep)
    return Update(new=new, changed=changed, gone=tuple(file for file in left if _is_untouched(root, file, known)))


def _own(root: Path, file: str) -> bytes | None:
    refuse_links(root, file)
    try:
        return read_regular(root / file, MAX_BYTES)
    except FileNotFoundError:
        return None


def _is_untouched(root: Path, file: str, known: Settings) -> bool:
    own = _own(root, file)
    return own is not None and blob_name(own) == known.files[file]


def _written(root: Path, file: str, known: Settings) -> bytes | None:
    """A file as gen once wrote it: the recorded blob, or the first version in the history. None if it never did."""
    name = known.files.get(file, "")
    recorded = _output(root, "cat-file", "blob", name) if name else None
    if recorded is None:
        added = _output(root, "log", "--diff-filter=A", "--format=%H", "--", file) or b""
        first = added.decode().split()[-1:]
        recorded = _output(root, "cat-file", "blob", f"{first[0]}:{git_prefix(root)}{file}") if first else None
    return b"" if recorded is None and name else recorded


def _output(root: Path, *arguments: str) -> bytes | None:
    """The output of Git; None if it fails, as in a clone without the history."""
    done = run_git(root, *arguments)
    return done.stdout if done is not None and done.returncode == 0 else None


_MOST_CONFLICTS: Final = 127
"""The exit code of `git merge-file` is the number of conflicts, up to this one."""


def _merged(file: str, own: bytes, base: bytes, new: bytes, found: Findings) -> bytes:
    """The user's file with the changes of gen since `base`. Lines that both changed are marked, and an error."""
    labels = (word for label in ("yours", "as gen wrote it", f"gen {__version__}") for word in ("-L", label))
    with tempfile.TemporaryDirectory() as folder:
        for name, raw in (("own", own), ("base", base), ("new", new)):
            Path(folder, name).write_bytes(raw)
        done = run_git(Path(folder), "merge-file", "-p", *labels, "own", "base", "new")
    if done is None or not 0 <= done.returncode <= _MOST_CONFLICTS:
        raise UsageError(f"`git merge-file` failed: {reason(done) if done is not None else 'Git is not installed'}")
    for number, line in enumerate(done.stdout.splitlines(), 1):
        if done.returncode and line.startswith(b"<<<<<<< "):
            hint = "edit the file: keep the right lines of both, and remove the marks"
            found.error(MERGE_CONFLICT, Location(file, number), "you and gen changed the same lines", hint)
    return done.stdout
