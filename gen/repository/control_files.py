"""File names that configure Argo CD, Flux, Git or SOPS. gen refuses them in `jobs/` and `rendered/`.

Argo CD selects its tool by `kustomization.yaml` and `Chart.yaml` and reads overrides from `.argocd-source*.yaml`
(argo-cd docs/user-guide/tool_detection.md, parameters.md); Flux skips the files in `.sourceignore`; Git hides
diffs with `.gitattributes` and fetches with `.gitmodules`; SOPS reads its keys from `.sops.yaml`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.files import CONTROL_FILE

if TYPE_CHECKING:
    from gen.diagnostics import Findings

_NAMES = frozenset(
    {"kustomization", "kustomization.yaml", "kustomization.yml", "chart.yaml", "chart.lock", "values.yaml"}
    | {".sourceignore", ".gitattributes", ".gitmodules", ".sops.yaml", ".argocd-allow-concurrency"}
)
_STARTS = (".argocd-source",)
_ENDS = (".jsonnet", ".libsonnet")


def is_control_file(name: str) -> bool:
    """Whether a file name configures a tool; some file systems ignore case."""
    name = name.lower()
    return name in _NAMES or name.startswith(_STARTS) or name.endswith(_ENDS)


def refuse_control_file(path: str, found: Findings) -> None:
    hint = "remove it; only job files belong in `jobs/`, and only files of gen in `rendered/`"
    found.error(
        CONTROL_FILE,
        Location(path),
        f"`{path.rpartition('/')[2]}` is not allowed here: it would reconfigure Argo CD, Flux or Git",
        hint,
    )
