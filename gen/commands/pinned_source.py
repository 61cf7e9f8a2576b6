"""The source that CI installs gen from: a commit, or a file with its digest.

A name and a version would install the content that the owner of the name in an index chooses.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final

from gen.diagnostics import UsageError
from gen.regex import regex

DISTRIBUTION: Final = "gitops-gen"
_HOST_AND_PATH: Final = r"(?:git@)?(?!-)[-\w.]*(?::\d+)?/[-\w.~/%+]+"
_GIT: Final = regex(rf"git\+(?:https|ssh|file)://{_HOST_AND_PATH}@(?:[0-9a-f]{{64}}|[0-9a-f]{{40}})", re.ASCII)
_ARCHIVE: Final = regex(rf"(?:https|file)://{_HOST_AND_PATH}#sha256=[0-9a-f]{{64}}", re.ASCII)


def checked_source(source: str) -> str:
    """A source that always installs the same content. UsageError for any other."""
    if not _is_pinned(source):
        raise UsageError(
            "invalid --source: expected `git+https://HOST/PATH@COMMIT` with a full commit, or "
            "`https://HOST/FILE.whl#sha256=DIGEST`, without credentials"
        )
    return _with_host(source)


def installed_source() -> str:
    """The source that the running gen was installed from, or empty if it is unknown or not pinned (PEP 610)."""
    try:
        record = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return ""
    source = _source(json.loads(record)) if record else ""
    return _with_host(source) if _is_pinned(source) else ""


def _source(record: dict[str, dict[str, str]]) -> str:
    url = str(record.get("url", ""))
    if git := record.get("vcs_info"):
        return f"{git.get('vcs')}+{url}@{git.get('commit_id')}"
    digest = record.get("archive_info", {}).get("hash", "")
    return f"{url}#{digest}" if not url.startswith("file:") else ""


def _is_pinned(source: str) -> bool:
    return bool(_GIT.fullmatch(source) or _ARCHIVE.fullmatch(source))


def _with_host(source: str) -> str:
    """Pip reads no requirement with `git+file:` and an empty host."""
    return source.replace("git+file:///", "git+file://localhost/")
