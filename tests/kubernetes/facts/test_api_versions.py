"""The table of deprecated API versions, compared with the Go types of Kubernetes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gen.kubernetes.facts.api_versions import CHANGES, RELEASED, RETIRED
from gen.kubernetes.schemas.registry import versions

LIFECYCLE = re.compile(r"func \(in \*(\w+)\) APILifecycle(Deprecated|Removed)\(\) .*\{\s*return 1, (\d+)")
SHORT = {"apps", "autoscaling", "batch", "extensions", "policy"}
"""Groups without a domain."""
NEVER_COMMITTED = re.compile(r".*(List|Rollback|Options)|Scale|Eviction|AdmissionReview|APIGroupDiscovery|Lease\w+")
"""Objects that only programs make, and `ControllerRevision`, which a controller makes."""


def folder_of_types() -> Path:
    """The source of `k8s.io/api` for the newest release in the table."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    command = ["go", "mod", "download", "-json", f"k8s.io/api@v0.{max(RELEASED)}.0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no module k8s.io/api: {done.stdout.strip()[-200:]}")
    return Path(json.loads(done.stdout)["Dir"])


def api_version(group: str, version: str) -> str:
    if group in SHORT:
        return f"{group}/{version}"
    name = {"flowcontrol": "flowcontrol.apiserver", "rbac": "rbac.authorization"}.get(group, group)
    return version if group == "core" else f"{name}.k8s.io/{version}"


@pytest.mark.slow
def test_versions_are_those_of_the_go_types() -> None:
    """Each deprecated version of an object that a repository can have is in the table, with its versions."""
    types: dict[tuple[str, str], dict[str, int]] = {}
    for path in folder_of_types().glob("*/*/zz_generated.prerelease-lifecycle.go"):
        version = api_version(path.parts[-3], path.parts[-2])
        for kind, what, minor in LIFECYCLE.findall(path.read_text("utf-8")):
            if not NEVER_COMMITTED.fullmatch(kind) and kind != "ControllerRevision":
                types.setdefault((version, kind), {})[what] = int(minor)
    assert len(types) > 50
    due = {key: (one["Deprecated"], one["Removed"]) for key, one in types.items()}
    due = {key: both for key, both in due.items() if both[0] <= max(RELEASED)}
    table = {key: (one.deprecated, one.removed) for key, one in RETIRED.items()}
    assert {key: (both, table.get(key)) for key, both in due.items() if table.get(key) != both} == {}


def test_the_version_to_use_is_not_retired_earlier() -> None:
    for (version, kind), one in RETIRED.items():
        later = RETIRED.get((one.instead, kind))
        assert later is None or (one.deprecated and later.deprecated > one.deprecated), (version, kind)


def test_no_change_is_older_than_the_oldest_schemas() -> None:
    assert min(one.minor for one in CHANGES) > int(versions()[0].partition(".")[2])
