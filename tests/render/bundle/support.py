"""A repository with jobs, and the bundles of its overlay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from gen.overlay.profiles.engines import ENGINES
from tests.support import OVERLAY as EVERYTHING
from tests.support import Repository

OVERLAY = "".join(line for line in EVERYTHING.splitlines(keepends=True) if not line.startswith("pipelines:"))
COMPARE = "argocd.argoproj.io/compare-options"
ENGINE_FOLDERS = tuple(f"{name}/" for name in ENGINES)
JOB = "kind: {kind}\nimage: a:1\ncommand: x\ndata: {{nas: /data}}\ntensorboard: true\nfiles: {{/etc/a: b}}\n"
URL = "https://git.example.com/ml/training.git"
BOTH = f"gitops:\n  argocd: {{repoURL: {URL}, cluster: prod}}\n  flux: {{repoURL: {URL}}}\n"
NAMED = OVERLAY.replace('  "*":', "  team:")


def bundle(repo: Repository, overlay: str) -> dict[str, dict[str, Any]]:
    """`Kind name` to object, of everything below the folders of engines; `settings <name>` to a patch of settings."""
    repo.overlay(overlay)
    report, code = repo.render()
    assert code == 0, report
    files = {path: yaml.safe_load(text) for path, text in repo.rendered().items() if path.startswith(ENGINE_FOLDERS)}
    return {
        f"settings {Path(path).stem}" if path.endswith(".patch") else f"{body['kind']} {body['metadata']['name']}": body
        for path, body in files.items()
    }


COMPANIONS = ["ConfigMap", "Service", "Deployment"]
"""Kinds that a bundle always permits, or an engine could not prune the last object of one."""


def kinds_of(objects: dict[str, dict[str, Any]]) -> list[str]:
    return [entry["kind"] for entry in objects["AppProject dev-jobs"]["spec"]["namespaceResourceWhitelist"]]


MPI = "operators: {mpi: kubeflow.org/v2beta1}\n"
