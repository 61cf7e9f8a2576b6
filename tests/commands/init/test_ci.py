"""CI of a repository created by `gen init`: run its own steps in a fresh clone, like the hosts do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.commands.init.support import GEN, committed, git, gitlab_jobs, run, steps_of, wheel_source
from tests.support import initialised

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

STALE = "kind: batch\nimage: example.com/a:1\ncommand: x\n"


@dataclass(frozen=True)
class Site:
    """A repository at its host."""

    origin: Path

    def clone(self, name: str) -> Path:
        git("clone", "--quiet", self.origin, name, cwd=self.origin.parent)
        return self.origin.parent / name


def proposed(clone: Path) -> Path:
    """Commit the work of a clone on a branch, which is checked out, like on GitLab."""
    git("checkout", "--quiet", "-b", "change", cwd=clone)
    git("add", "--all", cwd=clone)
    git("commit", "--quiet", "--message", "Change", cwd=clone)
    return clone


def merged(clone: Path) -> Path:
    """Check out the merge of the branch into the base branch, like GitHub for a pull request."""
    git("checkout", "--quiet", "main", cwd=clone)
    git("merge", "--quiet", "--no-ff", "--no-edit", "change", cwd=clone)
    return clone


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("site")
    assert initialised(folder / "origin", source=wheel_source(folder / "index"))[1] == 0
    return Site(committed(folder / "origin"))


def github_steps(root: Path) -> list[tuple[str, bool]]:
    """The commands of check.yml, and whether each runs after a failure."""
    return [(step["run"], "!cancelled()" in step.get("if", "")) for step in steps_of(root, "check") if "run" in step]


def github(merge: Path, temp: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The steps of check.yml, each in its own shell. Returns the first one that failed, or the last one."""
    base = {"BASE": "HEAD^1", "NUMBER": "7", "GITHUB_STEP_SUMMARY": str(temp / "summary.md"), **environment}
    failed = None
    for step, always in github_steps(merge):
        if failed is None or always:
            command = ("bash", "-eo", "pipefail", "-c", step)
            done = run(*command, cwd=merge, RUNNER_TEMP=str(temp), GITHUB_ACTIONS="true", **base)
            failed = failed or (done if done.returncode else None)
    return failed or done


def gitlab_job(clone: Path, name: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The script of a job for a merge request to `main`."""
    job = gitlab_jobs(clone)[name]
    variables = {
        "CI_COMMIT_SHA": git("rev-parse", "HEAD", cwd=clone),
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git("merge-base", "HEAD", "origin/main", cwd=clone),
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "4",
        "CI_MERGE_REQUEST_PROJECT_ID": "4",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        **environment,
    }
    script = "\n".join(["set -eo pipefail", *job["before_script"], *job["script"]])
    return run("bash", "-c", script, cwd=clone, **variables)


def first_line(plan: Path) -> str:
    """The first visible line of a comment."""
    return next(line for line in plan.read_text("utf-8").splitlines() if line and not line.startswith("<!--"))


@pytest.mark.slow
def test_a_fresh_clone_passes_and_a_job_is_two_commands_away(site: Site) -> None:
    clone = site.clone("fresh")
    done = run("bash", "ci/check.sh", cwd=clone)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 unchanged" in done.stdout
    assert not (clone / ".venv").exists(), "CI installs gen outside of the checkout"
    assert run("bash", "ci/setup.sh", cwd=clone).returncode == 0
    gen = clone / ".venv/bin/gen"
    for command in (["new", "pytorch", "second"], ["render"]):
        done = run(gen, *command, cwd=clone)
        assert done.returncode == 0, done.stderr
    change = proposed(clone)
    assert git("ls-files", ".venv", cwd=clone) == ""
    done = gitlab_job(change, "gen")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (change / "gen-report/junit.xml").read_text("utf-8").startswith("<?xml")
    assert "second" in (change / "gen-report/plan.md").read_text("utf-8")
    assert "second" in (change / "gen-report/plan.html").read_text("utf-8")


@pytest.mark.slow
def test_the_environment_of_ci_has_no_pip_of_its_own(site: Site, tmp_path: Path) -> None:
    """That would take a third of the time of a set-up."""
    clone = site.clone("environments")
    done = run("bash", "ci/setup.sh", str(tmp_path / "environment"), cwd=clone)
    assert done.returncode == 0, done.stdout + done.stderr
    assert run(tmp_path / "environment/bin/gen", "check", cwd=clone).returncode == 0
    assert not list((tmp_path / "environment").glob("lib/*/site-packages/pip"))


@pytest.mark.slow
def test_a_pull_request_cannot_choose_its_checks(site: Site, tmp_path: Path) -> None:
    clone = site.clone("hostile")
    trap = f"open({str(tmp_path / 'trapped')!r}, 'w').close(); raise SystemExit(0)\n"
    for module in ("venv.py", "pip.py", "ensurepip.py", "sitecustomize.py", "gen/__init__.py", "gen/__main__.py"):
        (clone / module).parent.mkdir(exist_ok=True)
        (clone / module).write_text(trap, "utf-8")
    (clone / "requirements.txt").write_text("gitops-gen==99\n", "utf-8")
    for script in ("ci/check.sh", "ci/setup.sh"):
        (clone / script).write_text(f"touch {tmp_path}/trapped; exit 0\n", "utf-8")
    (clone / "jobs/team-a/stale.yaml").write_text(STALE, "utf-8")
    (clone / "jobs/team-a/wrong.yaml").write_text(STALE + "wrokers: 2\n", "utf-8")
    done = gitlab_job(proposed(clone), "gen")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "jobs/team-a/wrong.yaml:4:1: error" in done.stdout
    git("clean", "--quiet", "-fdx", cwd=clone)
    git("checkout", "--quiet", "--detach", "change", cwd=clone)
    done = github(merged(clone), tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "::error file=jobs/team-a/wrong.yaml,line=4,col=1,title=unknown-field::" in done.stdout
    assert not (tmp_path / "trapped").exists()


@pytest.mark.slow
def test_gitlab_takes_its_checks_from_the_head_of_the_target_branch(site: Site, tmp_path: Path) -> None:
    """A merge request that starts at an old commit must not be checked by the checks of that commit."""
    work = site.clone("history")
    check = work / "ci/check.sh"
    strict = check.read_bytes()
    check.write_text("exit 0\n", "utf-8")
    git("commit", "--quiet", "--all", "--message", "Weak", cwd=work)
    weak = git("rev-parse", "HEAD", cwd=work)
    check.write_bytes(strict)
    git("commit", "--quiet", "--all", "--message", "Strict", cwd=work)
    git("clone", "--quiet", work, "change", cwd=tmp_path)
    clone = tmp_path / "change"
    git("checkout", "--quiet", weak, cwd=clone)
    (clone / "jobs/team-a/stale.yaml").write_text(STALE, "utf-8")
    done = gitlab_job(proposed(clone), "gen", GEN=GEN)
    assert done.returncode == 1, done.stdout + done.stderr
    assert first_line(clone / "gen-report/plan.md").startswith("### Refused: `missing`")


@pytest.mark.slow
def test_gitlab_checks_the_result_of_the_merge(site: Site, tmp_path: Path) -> None:
    """A merge request that starts before the quota was reduced must not be checked against the old quota."""
    work = site.clone("quota")
    overlay = work / "overlays/production/overlay.yaml"
    job = "jobs/team-a/large.yaml"
    git("checkout", "--quiet", "-b", "before", cwd=work)
    git("checkout", "--quiet", "main", cwd=work)
    overlay.write_text(overlay.read_text("utf-8").replace("gpus: 32", "gpus: 2"), "utf-8")
    assert run("gen", "render", cwd=work).returncode == 0
    git("commit", "--quiet", "--all", "--message", "Reduce", cwd=work)
    git("clone", "--quiet", work, "change", cwd=tmp_path)
    clone = tmp_path / "change"
    git("checkout", "--quiet", "origin/before", cwd=clone)
    (clone / job).write_text(STALE + "gpus: 8\ntimeout: 1h\n", "utf-8")
    assert run("gen", "render", cwd=clone).returncode == 0
    done = gitlab_job(proposed(clone), "gen", GEN=GEN)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "`over-quota`" in first_line(clone / "gen-report/plan.md")


@pytest.mark.slow
def test_gitlab_fetches_the_target_branch_of_the_parent_project_in_a_fork(site: Site) -> None:
    clone = site.clone("fork")
    git("remote", "set-url", "origin", "/nowhere", cwd=clone)
    change = proposed_job(clone)
    parent = {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "5", "CI_MERGE_REQUEST_PROJECT_URL": f"file://{site.origin}/"}
    done = gitlab_job(change, "gen", GEN=GEN, **parent)
    assert done.returncode == 0, done.stdout + done.stderr


def proposed_job(clone: Path) -> Path:
    for command in (["new", "pytorch", "second"], ["render"]):
        assert run("gen", *command, cwd=clone).returncode == 0
    return proposed(clone)


@pytest.mark.slow
def test_a_committed_report_is_not_the_report(site: Site) -> None:
    """CI must not publish a plan from the merge request, also if its check fails before it writes one."""
    clone = site.clone("forged")
    (clone / "gen-report").mkdir()
    (clone / "gen-report/plan.md").write_text("### 0 runs start\n", "utf-8")
    (clone / "jobs/team-a/stale.yaml").write_text(STALE, "utf-8")
    change = proposed(clone)
    assert gitlab_job(change, "gen", CI_MERGE_REQUEST_TARGET_BRANCH_NAME="absent").returncode != 0
    assert not (change / "gen-report/plan.md").exists()
    git("checkout", "--quiet", "--force", "change", cwd=clone)
    assert gitlab_job(change, "gen", GEN=GEN).returncode == 1
    assert first_line(change / "gen-report/plan.md").startswith("### Refused: `missing`")


@pytest.mark.slow
def test_a_failure_without_findings_is_in_the_first_line(site: Site, tmp_path: Path) -> None:
    clone = site.clone("unusable")
    git("rm", "-r", "--quiet", "overlays", cwd=clone)
    assert github(merged(proposed(clone)), tmp_path, GEN=GEN).returncode == 2
    assert (
        first_line(tmp_path / "gen/plan.md") == "### Refused: `gen plan --check` failed with exit code 2, see the log"
    )


@pytest.mark.slow
def test_ci_fails_until_gen_has_a_pinned_source(tmp_path: Path) -> None:
    """A name and a version in requirements.txt would install the distribution of the owner of the name."""
    root = tmp_path / "new"
    assert initialised(root)[1] == 0
    committed(root)
    done = run("bash", "ci/check.sh", cwd=root)
    assert done.returncode == 1
    assert "requirements.txt has no source of gen" in done.stderr
    assert not (root / ".venv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", [".venv", ".VENV"])
def test_hooks_and_setup_refuse_a_committed_environment_in_any_case(tmp_path: Path, name: str) -> None:
    """File systems of laptops have one folder for both names."""
    root = tmp_path / "new"
    assert initialised(root)[1] == 0
    (root / "requirements.txt").write_text("x\n", "utf-8")
    (root / name).mkdir()
    (root / name / "pyvenv.cfg").touch()
    committed(root)
    git("add", "--force", name, cwd=root)
    for script in ("ci/hook.sh", "ci/setup.sh"):
        done = run("bash", script, cwd=root)
        assert (done.returncode, ".venv is committed" in done.stderr) == (1, True)


@pytest.mark.slow
def test_ci_runs_nothing_from_a_committed_environment(site: Site, tmp_path: Path) -> None:
    """One line in a `.pth` file of an environment runs at each start of its Python."""
    clone = site.clone("environment")
    mark = tmp_path / "attacked"
    assert run("python3", "-I", "-m", "venv", "--without-pip", ".venv", cwd=clone).returncode == 0
    (packages,) = (clone / ".venv/lib").glob("python3.*/site-packages")
    (packages / "x.pth").write_text(f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n", "utf-8")
    run(str(clone / ".venv/bin/python"), "-I", "-c", "pass", cwd=clone)
    assert mark.exists(), "the attack works where the environment is used"
    mark.unlink()
    git("add", "--force", ".venv", cwd=clone)
    git("commit", "--quiet", "--message", "Change", cwd=clone)
    done = run("bash", "ci/check.sh", cwd=clone)
    hook = run("bash", "ci/hook.sh", cwd=clone)
    assert (done.returncode, hook.returncode) == (1, 1)
    assert ".venv is committed" in done.stderr
    assert ".venv is committed" in hook.stderr
    assert not mark.exists()


def workflows(root: Path) -> dict[str, Any]:
    return {path.name: yaml.safe_load(path.read_text("utf-8")) for path in (root / ".github/workflows").iterdir()}


def test_workflows_hold_no_more_than_they_need(site: Site) -> None:
    found = workflows(site.origin)
    assert set(found["check.yml"][True]) == {"merge_group", "pull_request", "push"}  # PyYAML reads `on` as a boolean
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


def test_a_change_of_the_base_branch_is_checked_and_never_skipped(site: Site) -> None:
    """GitHub keeps the result for another base branch, and a skipped job satisfies a required check."""
    check = workflows(site.origin)["check.yml"]
    assert "edited" in check[True]["pull_request"]["types"]
    assert "if" not in check["jobs"]["check"]


def test_gitlab_gives_its_token_to_no_fork(site: Site) -> None:
    config = yaml.safe_load((site.origin / ".gitlab-ci.yml").read_text("utf-8"))
    (rule,) = config["comment"]["rules"]
    assert "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID" in rule["if"]
    assert "GEN_COMMENT_TOKEN" not in str(config["gen"])
