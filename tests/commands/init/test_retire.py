"""The nightly job for `gen retire`, which `gen init` adds only if it is asked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from tests.commands.init.support import git, run, with_stand_in
from tests.support import initialised

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # processes in repositories that `gen init` creates

OWN = ("ci/retire.sh", "ci/retire.gitlab-ci.yml", ".github/workflows/retire.yml")
GEN = """\
#!/usr/bin/env bash
if [ "$1" = render ]; then echo rendered > rendered/marker; exit 0; fi
[ "$1 $2" = "retire --message" ] || exit 2
if [ -n "${NOTHING:-}" ]; then : > "$3"; exit "${CODE:-0}"; fi
sed -i '$a state: finished' jobs/team-a/hello.yaml
printf 'Retire team-a/hello\\n\\n- team-a/hello: it succeeded\\n' > "$3"
exit "${CODE:-0}"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A new repository with a fake gen that retires the first job."""
    folder = tmp_path / "new"
    assert initialised(folder, retire=True)[1] == 0
    return with_stand_in(folder, GEN)


def test_it_is_opt_in(tmp_path: Path) -> None:
    plain, with_it = tmp_path / "plain", tmp_path / "with"
    source = f"https://pypi.example.com/gitops_gen-1-py3-none-any.whl#sha256={'b' * 64}"
    assert initialised(plain, source=source)[1] == initialised(with_it, source=source, retire=True)[1] == 0
    assert not any((plain / path).exists() for path in OWN)
    assert all((with_it / path).exists() for path in OWN)
    assert "include" not in yaml.safe_load((plain / ".gitlab-ci.yml").read_text("utf-8"))
    assert yaml.safe_load((with_it / ".gitlab-ci.yml").read_text("utf-8"))["include"] == [{"local": OWN[1]}]
    assert "gitops-gen @ https" in (plain / "requirements.txt").read_text("utf-8")
    assert "gitops-gen[live] @ https" in (with_it / "requirements.txt").read_text("utf-8")


@pytest.mark.parametrize("code", ["0", "1"])
def test_one_commit_on_a_branch_of_its_own(root: Path, code: str) -> None:
    """Also if a cluster did not answer: the others did."""
    for _ in range(2):
        done = run("bash", "ci/retire.sh", cwd=root, CODE=code)
        assert done.returncode == 0, done.stderr
        assert git("log", "-1", "--format=%B", "gen/retire", cwd=root).startswith(
            "Retire team-a/hello\n\n- team-a/hello"
        )
        assert git("log", "--format=%s", "main..gen/retire", cwd=root) == "Retire team-a/hello"
        changed = git("diff", "--name-only", "main", "gen/retire", cwd=root).splitlines()
        assert changed == ["jobs/team-a/hello.yaml", "rendered/marker"]
        git("switch", "--quiet", "main", cwd=root)


def test_nothing_to_retire_and_a_bug(root: Path) -> None:
    assert run("bash", "ci/retire.sh", cwd=root, NOTHING="1").returncode == 3
    assert run("bash", "ci/retire.sh", cwd=root, CODE="2").returncode not in {0, 3}
    assert git("branch", "--list", "gen/retire", cwd=root) == ""


def test_credentials_stay_in_their_steps(root: Path) -> None:
    workflow = yaml.safe_load((root / OWN[2]).read_text("utf-8"))
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}, "never for a pull request"
    job = workflow["jobs"]["retire"]
    assert (job["permissions"], job["environment"]) == ({"contents": "read"}, "gen-retire")
    secrets = {
        step["name"]: [name for name in step.get("env", {}) if "secrets" in step["env"][name]]
        for step in job["steps"]
        if "name" in step
    }
    assert secrets == {"Retire": ["GEN_KUBECONFIG"], "Open or update the pull request": ["GH_TOKEN"]}
