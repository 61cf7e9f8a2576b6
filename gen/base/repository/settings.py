"""`gen.yaml`: the versions of gen that render a repository, and what `gen init` wrote there.

    requires: ==0.1.0
    init:
      namespace: team-a
      overlay: production
      owner: "@my-org/platform"
      with: [pins]
      files:
        .gitlab-ci.yml: 5d41402abc4b2a76b9719d911017c592aabbccdd

Only one version of gen gives the same bytes, so all commands that read the repository refuse others. The files have
the names of their blobs in Git (SHA-1), by which `gen init --update` finds what it once wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen import __version__
from gen.base.findings import Findings, Route, UsageError

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
            _check(source, (*route, name), False, f"one of {', '.join(f'`{one}`' for one in known)}")
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
