"""The CI job for `gen plan --live`, which `gen init` adds only if it is asked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from tests.commands.init.support import run, with_stand_in
from tests.support import initialised

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # processes in repositories that `gen init` creates

OWN = ("ci/live.sh", "ci/live.gitlab-ci.yml", ".github/workflows/live.yml")
GEN = """\
#!/usr/bin/env bash
[ "$*" = "plan --live --base main --output markdown" ] || exit 2
echo "plan with $KUBECONFIG"
exit "${CODE:-0}"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "new"
    assert initialised(folder, live=True)[1] == 0
    return with_stand_in(folder, GEN)


def test_it_is_opt_in(tmp_path: Path, root: Path) -> None:
    assert initialised(tmp_path / "plain")[1] == 0
    assert not any((tmp_path / "plain" / path).exists() for path in OWN)
    assert all((root / path).exists() for path in OWN)
    assert yaml.safe_load((root / ".gitlab-ci.yml").read_text("utf-8"))["include"] == [{"local": OWN[1]}]


@pytest.mark.parametrize(("code", "expected"), [("0", 0), ("1", 0), ("2", 1)])
def test_only_a_missing_plan_fails(root: Path, code: str, expected: int) -> None:
    done = run("bash", "ci/live.sh", "main", "plan.md", cwd=root, CODE=code, KUBECONFIG="given")
    assert done.returncode == expected, done.stderr
    assert (root / "plan.md").read_text("utf-8") == "plan with given\n"


def test_credentials_are_those_of_the_base_branch_and_never_for_forks(root: Path) -> None:
    workflow = yaml.safe_load((root / OWN[2]).read_text("utf-8"))
    assert set(workflow[True]) == {"pull_request_target"}, "the workflow is that of the base branch"
    job = workflow["jobs"]["live"]
    assert job["if"] == "github.event.pull_request.head.repo.full_name == github.repository"
    assert (job["permissions"], job["environment"]) == ({"contents": "read"}, "gen-live")
    (checkout,) = [step["with"] for step in job["steps"] if step.get("uses", "").startswith("actions/checkout")]
    assert checkout["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert checkout["persist-credentials"] is False
    secret = [step["name"] for step in job["steps"] if "secrets" in str(step.get("env"))]
    assert secret == ["Ask the clusters"]
    script = next(step["run"] for step in job["steps"] if step.get("name") == "Ask the clusters")
    assert "${{" not in script, "nothing of the pull request becomes a part of the script"
    gitlab = yaml.safe_load((root / OWN[1]).read_text("utf-8"))["live"]
    assert "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID" in gitlab["rules"][0]["if"]
    assert gitlab["environment"]["name"] == "gen-live"
    assert gitlab["script"][0] == "rm -rf gen-live", "a plan that the branch committed is never published"
