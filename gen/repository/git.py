"""Files of `rendered/` at a commit, read by a few Git processes without a checkout.

Only plumbing that reads objects: no filter, hook or attribute of the repository runs, so a pull request cannot
influence how it is read.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.diagnostics import UsageError, near
from gen.repository.layout import jobs_path, overlays_path, rendered_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_DEFAULTS = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
"""Refs of the default branch, in order of preference."""
_DEEPEN = (
    "this clone is shallow: set `fetch-depth: 0` for the checkout, or run `git fetch --unshallow`, and fetch the base"
)


class Entry(Struct, frozen=True):
    """A file of a commit."""

    mode: str
    """`100644` and `100755` are regular files."""
    digest: str
    """Object name: SHA-1, or SHA-256 in a repository that uses it."""


class Base(Struct, frozen=True):
    """The commit that a plan compares with."""

    root: Path
    prefix: str
    """Path of the repository of jobs within the Git repository; empty, or ending with `/`."""
    ref: str
    """The ref as the user named it."""
    commit: str

    def files(self) -> dict[str, Entry]:
        """Files in `rendered/` by their path in the repository of jobs."""
        path = self.prefix + rendered_path("")
        listed = _git(self.root, "ls-tree", "-r", "-z", "--full-tree", self.commit, "--", path)
        return dict(self._entries(listed.decode("utf-8", "surrogateescape")))

    def inputs_differ(self) -> bool:
        """Whether a job or an overlay in the work tree differs from this commit."""
        inputs = ("--", jobs_path(""), overlays_path(""))
        changed = _tried(self.root, "diff", "--quiet", self.commit, *inputs).returncode == 1
        return changed or bool(_git(self.root, "ls-files", "--others", "--exclude-standard", *inputs))

    def _entries(self, listed: str) -> Iterator[tuple[str, Entry]]:
        for line in listed.split("\0"):
            if line:
                about, _, path = line.partition("\t")
                mode, _, digest = about.split(" ")
                yield path.removeprefix(self.prefix), Entry(mode, digest)

    def blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Contents of objects by name, from one process."""
        wanted = sorted(set(digests))
        if not wanted:
            return {}
        given = "".join(f"{digest}\n" for digest in wanted).encode()
        return dict(_contents(_git(self.root, "cat-file", "--batch", given=given)))


def find_base(root: Path, ref: str | None) -> Base:
    """The merge base with `ref`, or with the default branch. UsageError if Git cannot find it."""
    output = _git(root, "rev-parse", "--is-shallow-repository", "--is-inside-work-tree", "--show-prefix").decode()
    shallow, _, prefix = output.split("\n")[:3]
    remedy = _DEEPEN if shallow == "true" else ""
    head = _commit(root, "HEAD")
    if head is None:
        raise UsageError(f"{root} has no commit to compare with: commit first")
    name, commit = _named(root, ref, remedy) if ref is not None else _default(root, remedy)
    found = _tried(root, "merge-base", commit, head)
    if found.returncode != 0:
        why = remedy or "use --base with a common ancestor"
        raise UsageError(f"`{name}` and the work tree have no common ancestor; {why}")
    return Base(root, prefix, name, found.stdout.decode().strip())


def head_commit(root: Path) -> str:
    """The commit of the work tree. UsageError without any."""
    return _git(root, "rev-parse", "--verify", "HEAD").decode().strip()


def git_prefix(root: Path) -> str:
    """Path of a folder within its Git repository; empty, or ending with `/`."""
    return _git(root, "rev-parse", "--show-prefix").decode().removesuffix("\n")


def _named(root: Path, ref: str, remedy: str) -> tuple[str, str]:
    commit = _commit(root, ref)
    if commit is None:
        guess = near(ref, _git(root, "for-each-ref", "--format=%(refname:short)").decode().split())
        parts = [f"did you mean `{guess}`?" if guess else "", remedy]
        hint = "; ".join(part for part in parts if part) or "fetch it, or use --base with another ref"
        raise UsageError(f"unknown Git ref `{ref}`; {hint}")
    return ref, commit


def _default(root: Path, remedy: str) -> tuple[str, str]:
    for name in _DEFAULTS:
        if (commit := _commit(root, name)) is not None:
            return name, commit
    raise UsageError(f"none of {', '.join(_DEFAULTS)} exists; {remedy or 'set the base with --base REF'}")


def _commit(root: Path, ref: str) -> str | None:
    found = _tried(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return found.stdout.decode().strip() if found.returncode == 0 else None


def _contents(out: bytes) -> Iterator[tuple[str, bytes]]:
    """Parse a sequence of `<name> <type> <size>` lines, each followed by the content and a line feed."""
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        digest, *about = out[at:end].decode().split(" ")
        if len(about) != 2:  # noqa: PLR2004 - "missing", in a clone that lacks objects
            raise UsageError(f"Git object {digest} is missing in this clone: run `git fetch --refetch`")
        size = int(about[1])
        yield digest, out[end + 1 : end + 1 + size]
        at = end + size + 2


def _git(root: Path, *arguments: str, given: bytes | None = None) -> bytes:
    done = _tried(root, *arguments, given=given)
    if done.returncode != 0:
        raise UsageError(f"a Git commit is required, but Git failed in {root}: {reason(done)}")
    return done.stdout


def _tried(root: Path, *arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    done = run_git(root, *arguments, given=given)
    if done is None:
        raise UsageError("`git` is required, but not installed")
    return done


def run_git(root: Path, *arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes] | None:
    """The result of a Git command in a folder; None if Git is not installed."""
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        return subprocess.run(command, input=given or b"", capture_output=True, check=False)  # noqa: S603 - no shell
    except FileNotFoundError:
        return None


def reason(failed: subprocess.CompletedProcess[bytes]) -> str:
    """The error of Git, on one line."""
    return " ".join(failed.stderr.decode("utf-8", "replace").split()).removeprefix("fatal: ")
