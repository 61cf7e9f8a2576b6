"""CI of a repository created by `gen init`: run its own steps in a fresh clone, like the hosts do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.commands.init.support import committed, git, index, run
from tests.support import initialised

if TYPE_CHECKING:
    from pathlib import Path

STALE = "kind: batch\nimage: example.com/a:1\ncommand: x\n"


@dataclass(frozen=True)
class Site:
    """A repository at its host, and the index that CI installs from."""

    origin: Path
    index: dict[str, str]

    def clone(self, name: str) -> Path:
        git("clone", "--quiet", self.origin, name, cwd=self.origin.parent)
        return self.origin.parent / name

    def merged(self, clone: Path) -> Path:
        """What a host checks out for a pull request of the clone's work: its merge into the base branch."""
        git("checkout", "--quiet", "-b", "change", cwd=clone)
        git("add", "--all", cwd=clone)
        git("commit", "--quiet", "--message", "Change", cwd=clone)
        git("checkout", "--quiet", "main", cwd=clone)
        git("merge", "--quiet", "--no-ff", "--no-edit", "change", cwd=clone)
        return clone


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("site")
    assert initialised(folder / "origin")[1] == 0
    return Site(committed(folder / "origin"), index(folder / "index"))


def github_steps(root: Path) -> list[str]:
    """The commands of check.yml."""
    workflow = yaml.safe_load((root / ".github/workflows/check.yml").read_text("utf-8"))
    return [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]


def gitlab_steps(root: Path) -> list[str]:
    config = yaml.safe_load((root / ".gitlab-ci.yml").read_text("utf-8"))
    return [*config["default"]["before_script"], *config["gen"]["script"]]


def test_a_fresh_clone_passes_and_a_job_is_two_commands_away(site: Site) -> None:
    clone = site.clone("fresh")
    done = run("bash", "ci/check.sh", cwd=clone, **site.index)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 unchanged" in done.stdout
    gen = clone / ".venv/bin/gen"
    for command in (["new", "pytorch", "second"], ["render"]):
        done = run(gen, *command, cwd=clone)
        assert done.returncode == 0, done.stderr
    merge = site.merged(clone)
    assert git("ls-files", ".venv", cwd=clone) == ""
    base = git("rev-parse", "HEAD^1", cwd=merge)
    script = "\n".join(["set -eo pipefail", *gitlab_steps(merge)])
    done = run("bash", "-c", script, cwd=merge, CI_MERGE_REQUEST_DIFF_BASE_SHA=base, **site.index)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (merge / "gen-report/junit.xml").read_text("utf-8").startswith("<?xml")
    assert "second" in (merge / "gen-report/plan.md").read_text("utf-8")


def test_a_pull_request_cannot_choose_its_checks(site: Site, tmp_path: Path) -> None:
    clone = site.clone("hostile")
    trap = f"open({str(tmp_path / 'trapped')!r}, 'w').close(); raise SystemExit(0)\n"
    for module in ("venv.py", "pip.py", "ensurepip.py", "sitecustomize.py", "gen/__init__.py", "gen/__main__.py"):
        (clone / module).parent.mkdir(exist_ok=True)
        (clone / module).write_text(trap, "utf-8")
    (clone / "requirements.txt").write_text("gitops-gen==99\n", "utf-8")
    (clone / "ci/check.sh").write_text(f"touch {tmp_path}/trapped; exit 0\n", "utf-8")
    (clone / "jobs/team-a/stale.yaml").write_text(STALE, "utf-8")
    (clone / "jobs/team-a/wrong.yaml").write_text(STALE + "wrokers: 2\n", "utf-8")
    merge = site.merged(clone)
    done = github(merge, tmp_path, site)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "::error file=jobs/team-a/wrong.yaml,line=4,col=1,title=unknown-field::" in done.stdout
    assert not (tmp_path / "trapped").exists()


def github(merge: Path, temp: Path, site: Site) -> Any:
    """The steps of check.yml up to the first that fails, each in a shell of its own."""
    base = {"BASE": "HEAD^1", "NUMBER": "7", "GITHUB_STEP_SUMMARY": str(temp / "summary.md")}
    for step in github_steps(merge):
        done = run(
            "bash",
            "-eo",
            "pipefail",
            "-c",
            step,
            cwd=merge,
            RUNNER_TEMP=str(temp),
            GITHUB_ACTIONS="true",
            **base,
            **site.index,
        )
        if done.returncode:
            break
    return done


def workflows(root: Path) -> dict[str, Any]:
    return {path.name: yaml.safe_load(path.read_text("utf-8")) for path in (root / ".github/workflows").iterdir()}


def test_workflows_hold_no_more_than_they_need(site: Site) -> None:
    found = workflows(site.origin)
    assert set(found["check.yml"][True]) == {"pull_request", "push"}  # PyYAML reads `on` as a truth value
    assert found["check.yml"]["jobs"]["check"]["permissions"] == {"contents": "read"}
    assert set(found["comment.yml"][True]) == {"workflow_run"}
    assert found["comment.yml"][True]["workflow_run"]["workflows"] == [found["check.yml"]["name"]]
    for name, workflow in found.items():
        assert workflow["permissions"] == {}, name
        text = (site.origin / ".github/workflows" / name).read_text("utf-8")
        assert "pull_request_target" not in text
        assert "secrets." not in text
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                assert "${{" not in step.get("run", ""), "an expression in a script is how a title becomes a command"
                if "uses" in step:
                    assert len(step["uses"].split("@")[1]) == 40, step["uses"]
                if step.get("uses", "").startswith("actions/checkout"):
                    assert step["with"]["persist-credentials"] is False


def test_gitlab_gives_its_token_to_no_fork(site: Site) -> None:
    config = yaml.safe_load((site.origin / ".gitlab-ci.yml").read_text("utf-8"))
    (rule,) = config["comment"]["rules"]
    assert "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID" in rule["if"]
    assert "GEN_COMMENT_TOKEN" not in str(config["gen"])


def test_actionlint_finds_nothing(site: Site) -> None:
    import shutil  # noqa: PLC0415

    if (tool := shutil.which("actionlint")) is None:
        pytest.skip("actionlint is not installed: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7")
    done = run(tool, cwd=site.origin)
    assert done.returncode == 0, done.stdout
