"""The nightly job for `gen pin`, and the configuration of Renovate, which `gen init` adds only if it is asked to."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import yaml

from gen.pins.job_pins import lock_text
from tests.commands.init.support import git, run, with_stand_in
from tests.support import initialised

if TYPE_CHECKING:
    from pathlib import Path

OWN = ("ci/pins.sh", "ci/pins.gitlab-ci.yml", ".github/workflows/pins.yml")
GEN = """\
#!/usr/bin/env bash
if [ "$1" = render ]; then echo rendered > rendered/marker; exit 0; fi
[ "$1 $2 $3 $4" = "pin --update --asking --message" ] || exit 2
if [ -n "${NOTHING:-}" ]; then : > "$5"; exit "${CODE:-0}"; fi
echo 'updates: true' > jobs/team-a/hello.lock
printf 'Move pins of team-a/hello\\n\\n- team-a/hello: a:1: b → c\\n' > "$5"
exit "${CODE:-0}"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A new repository with a fake gen that moves a pin."""
    folder = tmp_path / "new"
    assert initialised(folder, pins=True)[1] == 0
    return with_stand_in(folder, GEN)


@pytest.mark.slow
def test_it_is_opt_in(tmp_path: Path) -> None:
    plain, with_it = tmp_path / "plain", tmp_path / "with"
    source = f"https://pypi.example.com/gitops_gen-1-py3-none-any.whl#sha256={'b' * 64}"
    assert initialised(plain, source=source)[1] == initialised(with_it, source=source, pins=True, retire=True)[1] == 0
    assert not any((plain / path).exists() for path in (*OWN, "renovate.json"))
    assert all((with_it / path).exists() for path in OWN)
    included = yaml.safe_load((with_it / ".gitlab-ci.yml").read_text("utf-8"))["include"]
    assert included == [{"local": "ci/retire.gitlab-ci.yml"}, {"local": OWN[1]}]
    assert "gitops-gen[live] @ https" in (with_it / "requirements.txt").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("code", ["0", "1"])
def test_one_commit_on_a_branch_of_its_own(root: Path, code: str) -> None:
    """Also if a server did not answer: the others did."""
    for _ in range(2):
        done = run("bash", "ci/pins.sh", cwd=root, CODE=code)
        assert done.returncode == 0, done.stderr
        assert git("log", "--format=%s", "main..gen/pins", cwd=root) == "Move pins of team-a/hello"
        changed = git("diff", "--name-only", "main", "gen/pins", cwd=root).splitlines()
        assert changed == ["jobs/team-a/hello.lock", "rendered/marker"]
        git("switch", "--quiet", "main", cwd=root)


@pytest.mark.slow
def test_nothing_to_move_and_a_bug(root: Path) -> None:
    assert run("bash", "ci/pins.sh", cwd=root, NOTHING="1").returncode == 3
    assert run("bash", "ci/pins.sh", cwd=root, CODE="2").returncode not in {0, 3}
    assert git("branch", "--list", "gen/pins", cwd=root) == ""


@pytest.mark.slow
def test_credentials_stay_in_their_steps(root: Path) -> None:
    workflow = yaml.safe_load((root / OWN[2]).read_text("utf-8"))
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}, "never for a pull request"
    job = workflow["jobs"]["pins"]
    assert (job["permissions"], job["environment"]) == ({"contents": "read"}, "gen-pins")
    secrets = {
        step["name"]: [name for name in step.get("env", {}) if "secrets" in step["env"][name]]
        for step in job["steps"]
        if "name" in step
    }
    assert secrets == {
        "Move pins": ["GEN_DOCKER_CONFIG", "GEN_GIT_CREDENTIALS"],
        "Open or update the pull request": ["GH_TOKEN"],
    }


@pytest.mark.slow
def test_renovate_finds_each_pin_of_a_lock(tmp_path: Path) -> None:
    """With its own groups, which Python writes as `(?P<name>…)`."""
    assert initialised(tmp_path / "new", renovate=True)[1] == 0
    settings = json.loads((tmp_path / "new/renovate.json").read_text("utf-8"))
    digest, commit = f"sha256:{'a' * 64}", "b" * 40
    names = {"registry.example.com:5000/team/train:1.5", "pytorch/pytorch:2.8.0-cuda12", "python:3.13"}
    url = "https://git.example.com/team/train.git"
    text = lock_text("team/a", dict.fromkeys(names, digest), {(url, "main"): commit}, "", updates=True)
    found = []
    for manager in settings["customManagers"]:
        (file,) = manager["managerFilePatterns"]
        assert re.fullmatch(file.strip("/"), "jobs/team/a.lock")
        (pattern,) = manager["matchStrings"]
        found.append([match.groupdict() for match in re.finditer(pattern.replace("(?<", "(?P<"), text)])
    images, code = found
    assert {f"{one['depName']}:{one['currentValue']}" for one in images} == names
    assert {one["currentDigest"] for one in images} == {digest}
    assert code == [{"packageName": url, "currentValue": "main", "currentDigest": commit}]
