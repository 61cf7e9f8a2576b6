"""Reads Git: files at a commit, the last commit of each file, and the index.

Only plumbing that reads objects: no filter, hook or attribute of the repository runs, so a pull request cannot
influence how it is read. `check_index` reports entries that the files of the work tree do not show: a submodule that
was not fetched is an empty folder, and gen ignores its own temporary folder. A repository without Git has no such
entries. `staged_tree` is a folder with the files of the index.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from gen.base.codes.files import NOT_A_FILE
from gen.base.codes.rendered import EMPTY_FOLDER, EXECUTABLE_FILE, SUBMODULE, TEMPORARY_FILES
from gen.base.engines import refuse_control_file
from gen.base.findings import Findings, Location, UsageError, near
from gen.base.repository import layout
from gen.base.repository.files import is_special, printable_path

_DEFAULTS = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
"""Refs of the default branch, in order of preference."""
_DEEPEN = (
    "this clone is shallow: set `fetch-depth: 0` for the checkout, or run `git fetch --unshallow`, and fetch the base"
)


REGULAR_FILE = ("100644", "100755")
"""Modes of regular files."""


class Entry(Struct, frozen=True):
    """A file of a commit."""

    mode: str
    digest: str
    """Object name: SHA-1, or SHA-256 in a repository that uses it."""

    @property
    def is_regular(self) -> bool:
        return self.mode in REGULAR_FILE


class Base(Struct, frozen=True):
    """The commit that a plan compares with."""

    root: Path
    prefix: str
    """Path of the repository of jobs within the Git repository; empty, or ending with `/`."""
    ref: str
    """The ref as the user named it."""
    commit: str

    def files(self, folder: str = layout.rendered_path("")) -> dict[str, Entry]:
        """Files in a folder, such as `rendered/`, by their path in the repository of jobs."""
        path = self.prefix + folder
        listed = git(self.root, "ls-tree", "-r", "-z", "--full-tree", self.commit, "--", path)
        return dict(self._entries(listed.decode("utf-8", "surrogateescape")))

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
        return dict(_contents(git(self.root, "cat-file", "--batch", given=given)))


def is_shallow(root: Path) -> bool:
    """Whether the clone has only a part of the history."""
    done = run_git(root, "rev-parse", "--is-shallow-repository")
    return done is not None and done.stdout.strip() == b"true"


class CommittedFiles:
    """Files at the last commit and at the default branch, read by one process, which starts with the first question.

    Without Git there are none.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._started: tuple[int, subprocess.Popen[bytes] | None] | None = None

    def _process(self) -> subprocess.Popen[bytes] | None:
        """A process of its own for each process of a render: a fork cannot share its answers."""
        if self._started is None or self._started[0] != os.getpid():
            process = self._start() if in_git(self._root) else None
            self._started = os.getpid(), process
        return self._started[1]

    def _start(self) -> subprocess.Popen[bytes] | None:
        command = ["git", "--no-optional-locks", "-C", str(self._root), "cat-file", "--batch"]
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        with suppress(OSError):
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null)  # noqa: S603 - no shell
            weakref.finalize(self, _end, process)
            return process
        return None

    @property
    def exists(self) -> bool:
        """Whether there is Git."""
        return self._process() is not None

    def refs_with(self, path: str, content: bytes) -> Iterator[str]:
        """The refs at which a file has this content."""
        return (ref for ref in ("HEAD", *_DEFAULTS) if self._object(f"{ref}:./{path}")[1] == content)

    def folder(self, ref: str, path: str) -> dict[str, bytes]:
        """The regular files directly in a folder, by name."""
        digest, tree = self._object(f"{ref}:./{path}")
        files, size = {}, len(digest) // 2
        while tree:
            about, _, rest = tree.partition(b"\0")
            mode, _, name = about.partition(b" ")
            if mode.decode() in REGULAR_FILE:
                files[name.decode("utf-8", "surrogateescape")] = self._object(rest[:size].hex())[1]
            tree = rest[size:]
        return files

    def _object(self, name: str) -> tuple[str, bytes]:
        """Digest and content of an object; empty if there is none."""
        process = self._process()
        if process is None or process.stdin is None or process.stdout is None or "\n" in name:
            return "", b""
        try:
            process.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
            process.stdin.flush()
        except BrokenPipeError:  # it ended, because the folder is in no Git repository
            return "", b""
        about = process.stdout.readline().split()
        if len(about) != 3 or not about[2].isdigit():  # noqa: PLR2004 - "missing" or "ambiguous"
            return "", b""
        content = process.stdout.read(int(about[2]) + 1)
        return about[0].decode(), content[:-1]


def _end(process: subprocess.Popen[bytes]) -> None:
    """It ends with its input."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    process.wait()


def find_base(root: Path, ref: str | None) -> Base:
    """The merge base with `ref`, or with the default branch. UsageError if Git cannot find it."""
    output = git(root, "rev-parse", "--is-shallow-repository", "--is-inside-work-tree", "--show-prefix").decode()
    shallow, _, prefix = output.split("\n")[:3]
    remedy = _DEEPEN if shallow == "true" else ""
    head, *defaults = _commits(root, "HEAD", *_DEFAULTS)
    if head is None:
        raise UsageError(f"{root} has no commit to compare with: commit first")
    name, commit = _named(root, ref, remedy) if ref is not None else _default(defaults, remedy)
    found = _tried(root, "merge-base", commit, head)
    if found.returncode != 0:
        why = remedy or "use --base with a common ancestor"
        raise UsageError(f"`{name}` and the work tree have no common ancestor; {why}")
    return Base(root, prefix, name, found.stdout.decode().strip())


def head_commit(root: Path) -> str:
    """The commit of the work tree. UsageError without any."""
    return git(root, "rev-parse", "--verify", "HEAD").decode().strip()


def git_prefix(root: Path) -> str:
    """Path of a folder within its Git repository; empty, or ending with `/`."""
    return git(root, "rev-parse", "--show-prefix").decode().removesuffix("\n")


def _named(root: Path, ref: str, remedy: str) -> tuple[str, str]:
    commit, *_ = _commits(root, ref)
    if commit is None:
        guess = near(ref, git(root, "for-each-ref", "--format=%(refname:short)").decode().split())
        parts = [f"did you mean `{guess}`?" if guess else "", remedy]
        hint = "; ".join(part for part in parts if part) or "fetch it, or use --base with another ref"
        raise UsageError(f"unknown Git ref `{ref}`; {hint}")
    return ref, commit


def _default(commits: Sequence[str | None], remedy: str) -> tuple[str, str]:
    for name, commit in zip(_DEFAULTS, commits, strict=True):
        if commit is not None:
            return name, commit
    raise UsageError(f"none of {', '.join(_DEFAULTS)} exists; {remedy or 'set the base with --base REF'}")


def _commits(root: Path, *refs: str) -> list[str | None]:
    """The commit of each ref, from one process."""
    given = "".join(f"{ref}^{{commit}}\n" for ref in refs).encode("utf-8", "surrogateescape")
    lines = git(root, "cat-file", "--batch-check", given=given).decode("utf-8", "surrogateescape").splitlines()
    answers = [line.split(" ") for line in lines]  # `<name> commit <size>`, or `<ref> missing`
    return [words[0] if words[1:2] == ["commit"] else None for words in answers]


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


def git(root: Path, *arguments: str, given: bytes | None = None) -> bytes:
    """The output of a Git command. UsageError if it fails."""
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


_FORMAT = "%x01%H%x00%cI%x00%an%x00%P%x00"


class Change(Struct, frozen=True):
    """A commit."""

    commit: str
    date: str
    """When it was committed, in the form of ISO 8601."""
    author: str


def last_changes(root: Path, folder: str) -> dict[str, Change]:
    """The last commit by file below a folder, relative to `root`; empty without Git.

    In a shallow clone, files that did not change since its oldest commit are absent.
    """
    shallow = is_shallow(root)
    options = ("-z", f"--format={_FORMAT}", "--name-only", "--no-renames", "--relative", "--no-show-signature")
    done = run_git(root, "log", *options, "HEAD", "--", folder)
    if done is None or done.returncode != 0:
        return {}
    changes: dict[str, Change] = {}
    for entry in done.stdout.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        commit, date, author, parents, *files = entry.split("\0")
        if shallow and not parents:  # Git shows every file of the oldest commit of the clone as new
            continue
        change = Change(commit, date, author)
        for file in files:
            if name := file.strip("\n"):
                changes.setdefault(name, change)
    return changes


def changed_files(root: Path, commit: str, *paths: str) -> set[str] | None:
    """Paths of files, or of those in folders, that differ from a commit; None if there is no such commit."""
    differing = _differing(root, commit, paths)
    others = _tried(root, "ls-files", "--others", "-z", "--", *paths)
    if differing is None or others.returncode != 0:
        return None
    return differing.union(others.stdout.decode("utf-8", "surrogateescape").split("\0")) - {""}


def _differing(root: Path, commit: str, paths: Sequence[str]) -> set[str] | None:
    """The same for files in the index. Git compares all: for some, it looks at the index again and again (2.39)."""
    found = _compared(root, "diff-index", commit)  # by size and time
    if found is not None and not any(is_special(root / path) for path in found):
        found = _compared(root, "diff", commit)  # Git waits for ever for the content of a pipe
    if found is None:
        return None
    return {path for path in found if path.startswith(tuple(f"{one}/" for one in paths)) or path in paths}


def _compared(root: Path, command: str, commit: str) -> set[str] | None:
    """Paths that a comparison with a commit names; None if it fails."""
    done = _tried(root, command, "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative", commit, "--")
    return set(done.stdout.decode("utf-8", "surrogateescape").split("\0")) - {""} if done.returncode == 0 else None


_SUBMODULE, _LINK, _EXECUTABLE = "160000", "120000", "100755"
_MODULES = ".gitmodules"
_TREES: Final = ("--", layout.JOBS, layout.OVERLAYS, layout.RENDERED)
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
    found.error(TEMPORARY_FILES, Location(layout.STAGING), message, hint)


def _check(root: Path, mode: str, path: str, found: Findings) -> None:
    here = Location(printable_path(path))
    rendered = layout.below_rendered(path) is not None
    if mode == _SUBMODULE:
        message = "submodules are not allowed here: the content is in another repository, which gen does not check"
        found.error(SUBMODULE, here, message, f"run `git rm --cached {here.file}`, and add the files themselves")
    elif path.rpartition("/")[2].lower() == _MODULES:
        refuse_control_file(here.file, found)
    elif layout.is_staging(path):
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
    pathspecs = (layout.JOBS, layout.OVERLAYS, layout.RENDERED, f":(icase,glob)**/{_MODULES}")
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
    prefix = _index_git(root, "rev-parse", "--show-prefix").decode("utf-8", "surrogateescape").removesuffix("\n")
    if _is_staged(root):
        yield root
        return
    with tempfile.TemporaryDirectory(prefix="gen-staged-") as folder:
        top = Path(folder).resolve()
        for name in (layout.JOBS, layout.OVERLAYS):
            (top / prefix / name).mkdir(parents=True)
        _copy(root, top)
        yield top / prefix


def _is_staged(root: Path) -> bool:
    """Whether the work tree has the files of the index, and no others.

    `git diff` does not look at files that are marked `assume-unchanged` or, in a sparse checkout, `skip-worktree`.
    """
    if _index_git(root, "diff", "--name-only", "-z", *_TREES) or _index_git(
        root, "ls-files", "--others", "-z", *_TREES
    ):
        return False
    entries = _index_git(root, "ls-files", "-v", "-z", *_TREES).split(b"\0")
    return all(entry.startswith(_UNMARKED) for entry in entries if entry)


def _copy(root: Path, top: Path) -> None:
    """Check out the staged files below `top`, with the line ends that a clone has."""
    listed = _index_git(root, "ls-files", "--stage", "-v", "-z", *_TREES).split(b"\0")
    entries = [entry.split(b"\t", 1) for entry in listed if entry]
    for about, path in entries:
        if about[2:].decode().startswith(_SUBMODULE):
            raise UsageError(f"{path.decode('utf-8', 'replace')} is a submodule; replace it with its files")
    paths = b"".join(path + b"\0" for _, path in entries)
    sparse = any(about.upper().startswith(_SKIPPED) for about, _ in entries)
    options = ["--ignore-skip-worktree-bits"] if sparse else []  # which old releases of Git do not have
    _index_git(root, "checkout-index", "-z", "--stdin", f"--prefix={top}/", *options, given=paths)


def _index_git(root: Path, *arguments: str, given: bytes | None = None) -> bytes:
    done = run_git(root, *arguments, given=given)
    if done is None:
        raise UsageError("--staged requires `git`, which is not installed")
    if done.returncode != 0:
        raise UsageError(f"cannot read the Git index of {root}: {reason(done)}")
    return done.stdout
