"""File names that configure a GitOps engine, Git or SOPS. gen refuses them in `jobs/` and `rendered/`.

Git hides diffs with `.gitattributes` and fetches with `.gitmodules`; SOPS reads its keys from `.sops.yaml`.
"""

from __future__ import annotations

from fnmatch import translate
from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.files import CONTROL_FILE
from gen.regex import regex
from gen.resources.engines import ENGINES

if TYPE_CHECKING:
    from gen.diagnostics import Findings

_PATTERNS = {".gitattributes", ".gitmodules", ".sops.yaml"}.union(
    *(engine.control_files for engine in ENGINES.values())
)
_CONTROL_FILE = regex("|".join(translate(pattern) for pattern in sorted(_PATTERNS)))
_TOOLS = ", ".join(engine.title for engine in ENGINES.values())


def is_control_file(name: str) -> bool:
    """Whether a file name configures a tool; some file systems ignore case."""
    return _CONTROL_FILE.match(name.lower()) is not None


def refuse_control_file(path: str, found: Findings) -> None:
    hint = "remove it; only job files belong in `jobs/`, and only files of gen in `rendered/`"
    found.error(
        CONTROL_FILE,
        Location(path),
        f"`{path.rpartition('/')[2]}` is not allowed here: it would reconfigure {_TOOLS} or Git",
        hint,
    )
