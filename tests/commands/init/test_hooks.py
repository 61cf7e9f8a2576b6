"""Hooks before a commit, with real Git and pre-commit: a commit contains the manifests of its jobs, or it fails."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.commands.init.support import committed, git, run
from tests.support import PROJECT, initialised

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.slow  # processes in repositories that `gen init` creates

JOB = "kind: batch\nimage: registry.example.com/a:1\ncommand: x\ngpus: 1\ntimeout: 1h\n"
GEN = Path(sys.executable).parent / "gen"


ALL_HOOKS = pytest.mark.parametrize("hooked", ["scaffold", "gen-render", "gen-check"], indirect=True)


@pytest.fixture
def hooked(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A repository with one of the hooks: that of `gen init`, or one of `.pre-commit-hooks.yaml`."""
    name = getattr(request, "param", "scaffold")
    if (tool := shutil.which("pre-commit", path=str(GEN.parent))) is None:
        pytest.skip("pre-commit is not installed: pip install 'gitops-gen[dev]'")
    root = tmp_path / "repository"
    assert initialised(root)[1] == 0
    if name != "scaffold":
        hook = next(hook for hook in _published() if hook["id"] == name) | {"language": "system"}
        config = {"repos": [{"repo": "local", "hooks": [hook]}]}
        (root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), "utf-8")
    committed(root)
    assert run(tool, "install", cwd=root).returncode == 0
    return root


def _published() -> list[dict[str, Any]]:
    hooks: list[dict[str, Any]] = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    return hooks


def commit(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    home = str(root.parent / "pre-commit")
    return run("git", "commit", "--message", "Change", *arguments, cwd=root, PRE_COMMIT_HOME=home)


def render(root: Path) -> None:
    done = run(GEN, "render", cwd=root)
    assert done.returncode == 0, done.stderr


@ALL_HOOKS
def test_hooks_fail_when_manifests_were_rendered_but_not_added(hooked: Path) -> None:
    (hooked / "jobs/team-a/second.yaml").write_text(JOB, "utf-8")
    render(hooked)
    git("add", "jobs", cwd=hooked)
    done = commit(hooked)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "missing      rendered/production/jobs/team-a/second/job-second.yaml" in done.stdout + done.stderr
    assert "run `gen render` and `git add jobs overlays rendered`" in done.stdout + done.stderr
    git("add", "rendered", cwd=hooked)
    done = commit(hooked)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hooks_fail_when_a_new_job_was_not_rendered(hooked: Path) -> None:
    (hooked / "jobs/team-a/second.yaml").write_text(JOB, "utf-8")
    git("add", "jobs", cwd=hooked)
    assert commit(hooked).returncode == 1


def test_hooks_fail_when_a_change_of_manifests_was_not_added(hooked: Path) -> None:
    job = hooked / "jobs/team-a/hello.yaml"
    job.write_text(job.read_text("utf-8") + "\nenv: {A: b}\n", "utf-8")
    render(hooked)
    git("add", "jobs", cwd=hooked)
    assert commit(hooked).returncode == 1
    git("add", "rendered", cwd=hooked)
    assert commit(hooked).returncode == 0


def test_hooks_fail_when_only_a_part_of_the_index_is_committed(hooked: Path) -> None:
    (hooked / "jobs/team-a/second.yaml").write_text(JOB, "utf-8")
    render(hooked)
    git("add", "jobs", "rendered", cwd=hooked)
    assert commit(hooked, "jobs").returncode == 1, "Git commits `jobs` through an index of its own"
    assert commit(hooked).returncode == 0


@ALL_HOOKS
def test_hooks_fail_when_a_job_is_deleted_without_its_manifests(hooked: Path) -> None:
    git("rm", "--quiet", "jobs/team-a/hello.yaml", cwd=hooked)
    (hooked / "jobs/team-a").mkdir(parents=True, exist_ok=True)
    (hooked / "jobs/team-a/second.yaml").write_text(JOB, "utf-8")  # an untracked draft
    assert commit(hooked).returncode == 1


def test_hooks_ignore_drafts_that_were_not_added(hooked: Path) -> None:
    (hooked / "jobs/team-a/draft.yaml").write_text(JOB, "utf-8")
    render(hooked)
    (hooked / "notes.txt").write_text("x\n", "utf-8")
    git("add", "notes.txt", cwd=hooked)
    done = commit(hooked)
    assert done.returncode == 0, done.stdout + done.stderr


@ALL_HOOKS
def test_hooks_import_no_gen_of_the_work_tree(hooked: Path) -> None:
    mark = hooked.parent / "imported"
    (hooked / "gen").mkdir()
    for name in ("__init__", "__main__"):
        (hooked / f"gen/{name}.py").write_text(f"open({str(mark)!r}, 'w')\n", "utf-8")
    run(sys.executable, "-m", "gen", cwd=hooked)
    assert mark.exists(), "the attack works where Python imports from the folder"
    mark.unlink()
    git("add", "gen", cwd=hooked)
    done = commit(hooked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not mark.exists()


def test_hooks_ignore_ignore_files(hooked: Path) -> None:
    (hooked / ".git/info/exclude").write_text("second*\n", "utf-8")
    (hooked / "jobs/team-a/second.yaml").write_text(JOB, "utf-8")
    render(hooked)
    git("add", "--force", "jobs/team-a/second.yaml", cwd=hooked)
    assert commit(hooked).returncode == 1


def test_staged_files_of_a_subfolder_are_checked(tmp_path: Path) -> None:
    root = tmp_path / "top/clusters/gpu"
    assert initialised(root)[1] == 0
    committed(tmp_path / "top")
    (root / "jobs/team-a/second.yaml").write_text(JOB, "utf-8")
    render(root)
    assert run(GEN, "check", "--staged", cwd=root).returncode == 0
    git("add", "jobs", cwd=root)
    done = run(GEN, "check", "--staged", cwd=root)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "job-second.yaml" in done.stdout
    git("add", "rendered", cwd=root)
    assert run(GEN, "check", "--staged", cwd=root).returncode == 0


def test_files_that_git_does_not_compare_are_those_of_the_index(tmp_path: Path) -> None:
    root = committed_repository(tmp_path / "new")
    manifest = "rendered/production/jobs/team-a/hello/job-hello.yaml"
    git("update-index", "--assume-unchanged", manifest, cwd=root)
    job = root / "jobs/team-a/hello.yaml"
    job.write_text(job.read_text("utf-8") + "\nenv: {A: b}\n", "utf-8")
    render(root)
    git("add", "--all", cwd=root)
    done = run(GEN, "check", "--staged", cwd=root)
    assert done.returncode == 1, done.stdout
    assert f"stale        {manifest}" in done.stdout
    git("update-index", "--no-assume-unchanged", manifest, cwd=root)
    git("add", "--all", cwd=root)
    assert run(GEN, "check", "--staged", cwd=root).returncode == 0


def test_staged_files_of_a_sparse_checkout_are_checked(tmp_path: Path) -> None:
    root = committed_repository(tmp_path / "new")
    git("sparse-checkout", "set", "--no-cone", "/jobs/", "/overlays/", cwd=root)
    assert not (root / "rendered").exists()
    done = run(GEN, "check", "--staged", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reason_why_git_does_not_read_a_repository_is_named(tmp_path: Path) -> None:
    root = committed_repository(tmp_path / "new")
    done = run(GEN, "check", "--staged", cwd=root, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert done.returncode == 2
    assert "detected dubious ownership" in done.stderr


def test_staged_files_need_a_git_repository(tmp_path: Path) -> None:
    assert initialised(tmp_path / "new")[1] == 0
    done = run(GEN, "check", "--staged", cwd=tmp_path / "new")
    assert done.returncode == 2
    assert "cannot read the Git index of" in done.stderr


def test_a_staged_submodule_is_refused(tmp_path: Path) -> None:
    root = committed_repository(tmp_path / "new")
    commit_id = git("rev-parse", "HEAD", cwd=root)
    link = f"160000,{commit_id},rendered/production/jobs/team-a/sub"
    git("update-index", "--add", "--cacheinfo", link, cwd=root)
    done = run(GEN, "check", "--staged", cwd=root)
    assert done.returncode in (1, 2), done.stdout


def committed_repository(root: Path) -> Path:
    assert initialised(root)[1] == 0
    return committed(root)
