"""`gen.yaml`: the versions of gen that render a repository, and what `gen init` wrote there.

Only one version of gen gives the same bytes, so all commands that read the repository refuse others. The files have the
names of their blobs in Git (SHA-1), so that `gen init --update` finds the files it wrote, and merges the changes of
this version into it: a three-way merge that keeps the edits of users.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen import __version__
from gen.base.codes.files import MERGE_CONFLICT
from gen.base.findings import Findings, Location, Route, UsageError, quoted
from gen.base.repository.files import MAX_BYTES, read_regular, refuse_links
from gen.base.repository.git import git_prefix, reason, run_git

if TYPE_CHECKING:
    from gen.base.yaml.source import Source


SETTINGS_FILE: Final = "gen.yaml"
_PACKAGE: Final = "gitops-gen"
_REQUIREMENTS: Final = "requirements.txt"
_INIT: Final = ("namespace", "overlay", "owner")


class Settings(Struct, frozen=True, kw_only=True):
    """The file. Values that it does not have are empty."""

    requires: str = ""
    names: Mapping[str, str] = {}
    """`namespace`, `overlay` and `owner` that `gen init` was given."""
    parts: tuple[str, ...] = ()
    """Optional parts, such as `pins`."""
    files: Mapping[str, str] = {}
    """Blobs of the files that `gen init` wrote."""

    def text(self) -> str:
        files = "".join(f"    {path}: {blob}\n" for path, blob in sorted(self.files.items()))
        names = "".join(f'  {name}: "{value}"\n' for name, value in self.names.items())
        return (
            "# Another version of gen can give other bytes, so it refuses to work. `gen init --update` writes this.\n"
            f"requires: {self.requires}\n"
            f"init:\n{names}  with: [{', '.join(self.parts)}]\n  files:\n{files}"
        )


def blob_name(raw: bytes) -> str:
    """The name of a file in Git, with SHA-1."""
    return hashlib.sha1(b"blob %d\0%s" % (len(raw), raw), usedforsecurity=False).hexdigest()


def read_settings(root: Path) -> Settings:
    """The settings of a repository, which are empty without a file. UsageError for a file that cannot be one."""
    if not (root / SETTINGS_FILE).exists():
        return Settings()
    from gen.base.yaml.source import read

    found = Findings()
    source = read(root, SETTINGS_FILE, found)
    for finding in found:
        raise UsageError(f"{finding.place}: {finding.message}; {finding.hint}")
    assert source is not None  # or there is a finding
    data = source.data
    _check(source, (), isinstance(data, dict), "a mapping with `requires` and `init`")
    init = data.get("init", {}) if isinstance(data, dict) else {}
    _check(source, ("init",), isinstance(init, dict), "a mapping, as `gen init` writes it")
    assert isinstance(data, dict)
    assert isinstance(init, dict)
    for mapping, route, known in ((data, (), ("requires", "init")), (init, ("init",), (*_INIT, "with", "files"))):
        for name in mapping.keys() - set(known):
            _check(source, (*route, name), False, f"one of {quoted(known)}")
    requires, parts, files = data.get("requires", ""), init.get("with", []), init.get("files", {})
    _check(source, ("requires",), isinstance(requires, str), "a range of versions, such as `==0.1.0`")
    for name in _INIT:
        _check(source, ("init", name), isinstance(init.get(name, ""), str), "a text")
    are_texts = isinstance(parts, list) and all(isinstance(part, str) for part in parts)
    _check(source, ("init", "with"), are_texts, "a list of texts")
    are_blobs = isinstance(files, dict) and all(isinstance(blob, str) for blob in files.values())
    _check(source, ("init", "files"), are_blobs, "paths with the names of their blobs in Git")
    return Settings(
        requires=str(requires),
        names={name: str(init[name]) for name in _INIT if name in init},
        parts=tuple(str(part) for part in parts) if isinstance(parts, list) else (),
        files={path: str(blob) for path, blob in files.items()} if isinstance(files, dict) else {},
    )


def _check(source: Source, route: Route, valid: bool, expected: str) -> None:
    """UsageError with the place of a field that is not as expected."""
    if not valid:
        name = f"`{route[-1]}` is not valid" if route else "the file is not valid"
        raise UsageError(f"{source.place(route)}: {name}: expected {expected}; `gen init --update` writes the file")


def admits(requires: str, version: str = __version__) -> bool:
    """Whether a version is one of those that a repository requires. UsageError for an invalid range of versions."""
    if requires in ("", f"=={version}"):
        return True
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(requires).contains(version, prereleases=True)
    except InvalidSpecifier:
        raise UsageError(
            f"{SETTINGS_FILE}: `{requires}` is not a range of versions; use a form like `==0.1.0`"
        ) from None


def check_version(root: Path) -> None:
    """UsageError if the repository requires another version of gen."""
    requires = read_settings(root).requires
    if not admits(requires):
        raise UsageError(
            f"this repository requires gen {requires}, and this is {__version__}: run `{_installation(root, requires)}`"
        )


def _installation(root: Path, requires: str) -> str:
    """The command that installs the right version, from the source that CI uses if there is one."""
    try:
        lines = (root / _REQUIREMENTS).read_text("utf-8").splitlines()
    except (OSError, ValueError):
        lines = []
    if any(line.strip().startswith(_PACKAGE) for line in lines):
        return f"pip install --requirement {_REQUIREMENTS}"
    return f"pip install '{_PACKAGE}{requires}'"


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
            if file not in known.files and (known.files or _written(root, file, known) is None):
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
    """A file as gen once wrote it: the recorded text, or the first version in the history. None if it never did."""
    name = known.files.get(file, "")
    recorded = _blob(root, file, name) if name else None
    if recorded is None:
        recorded = _first(root, file)
    return b"" if recorded is None and name else recorded


def _blob(root: Path, file: str, name: str) -> bytes | None:
    """The text of a blob. No commit has it if the user had edited the file before gen wrote it again.

    The commit that recorded the name then has a merge of it. Merging the older text of gen back, which has no edits,
    gives the blob.
    """
    if (raw := _output(root, "cat-file", "blob", name)) is not None:
        return raw
    commits = (_output(root, "log", f"-S{name}", "--format=%H", "--", SETTINGS_FILE) or b"").decode().split()
    if not commits:
        return None
    path, commit = f"{git_prefix(root)}{file}", commits[-1]
    merged, edited = (_output(root, "cat-file", "blob", f"{at}:{path}") for at in (commit, f"{commit}^"))
    settings = _output(root, "cat-file", "blob", f"{commit}^:{git_prefix(root)}{SETTINGS_FILE}") or b""
    older = re.search(rf"(?m)^ +{re.escape(file)}: ([0-9a-f]{{40}})$", settings.decode("utf-8", "replace"))
    base = _blob(root, file, older[1]) if older else _first(root, file)
    if merged is None or edited is None or base is None:
        return None
    raw, _ = _merge(merged, edited, base)
    return raw if blob_name(raw) == name else None


def _first(root: Path, file: str) -> bytes | None:
    """The first version of a file in the history."""
    first = (_output(root, "log", "--diff-filter=A", "--format=%H", "--", file) or b"").decode().split()[-1:]
    return _output(root, "cat-file", "blob", f"{first[0]}:{git_prefix(root)}{file}") if first else None


def _output(root: Path, *arguments: str) -> bytes | None:
    """The output of Git; None if it fails, as in a clone without the history."""
    done = run_git(root, *arguments)
    return done.stdout if done is not None and done.returncode == 0 else None


_MOST_CONFLICTS: Final = 127
"""The exit code of `git merge-file` is the number of conflicts, up to this one."""


def _merged(file: str, own: bytes, base: bytes, new: bytes, found: Findings) -> bytes:
    """The user's file with the changes of gen since `base`. Lines that both changed are marked, and an error."""
    text, conflicts = _merge(own, base, new)
    for number, line in enumerate(text.splitlines(), 1):
        if conflicts and line.startswith(b"<<<<<<< "):
            hint = "edit the file: keep the right lines of both, and remove the marks"
            found.error(MERGE_CONFLICT, Location(file, number), "you and gen changed the same lines", hint)
    return text


def _merge(own: bytes, base: bytes, new: bytes) -> tuple[bytes, int]:
    """A text with the changes from `base` to `new`, and the number of conflicts."""
    labels = (word for label in ("yours", "as gen wrote it", f"gen {__version__}") for word in ("-L", label))
    with tempfile.TemporaryDirectory() as folder:
        for name, raw in (("own", own), ("base", base), ("new", new)):
            Path(folder, name).write_bytes(raw)
        done = run_git(Path(folder), "merge-file", "-p", *labels, "own", "base", "new")
    if done is None or not 0 <= done.returncode <= _MOST_CONFLICTS:
        raise UsageError(f"`git merge-file` failed: {reason(done) if done is not None else 'Git is not installed'}")
    return done.stdout, done.returncode
