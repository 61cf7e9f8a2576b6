"""Ten malicious pull requests, a Git server and the API of the host: nothing of them runs, and no plan is false.

Each one is checked and commented as on GitHub, where the answers of the API come from the repository, and by the job of
GitLab. The code of an attack leaves a mark when anything executes it.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.init.support import (
    GEN,
    PATH,
    Host,
    committed,
    git,
    gitlab_jobs,
    run,
    serving,
    shared_source,
    steps_of,
    wheel_source,
)
from tests.commands.init.test_ci import github_steps, gitlab_job
from tests.support import initialised

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

JOB = "kind: batch\nimage: registry.example.com/a:1\ncommand: x\ngpus: 8\ntimeout: 1h\n"
OVERLAY = "overlays/production/overlay.yaml"
CHANGES_CHECKS = "### No plan: this pull request changes files that can change its checks"


@dataclass(frozen=True)
class Attacker:
    """A clone of the attacker, and the file that a successful attack makes."""

    root: Path
    mark: Path

    def write(self, file: str, text: str) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def job(self, name: str = "mine", text: str = JOB) -> None:
        self.write(f"jobs/team-a/{name}.yaml", text)

    def render(self) -> None:
        run("gen", "render", cwd=self.root)

    @property
    def python(self) -> str:
        return f"open({str(self.mark)!r}, 'w').close()\n"

    @property
    def shell(self) -> str:
        return f"#!/bin/sh\ntouch {self.mark}\nexit 0\n"


def environment(attacker: Attacker) -> None:
    assert run("python3", "-I", "-m", "venv", "--without-pip", ".venv", cwd=attacker.root).returncode == 0
    (packages,) = (attacker.root / ".venv/lib").glob("python3.*/site-packages")
    (packages / "x.pth").write_text(f"import pathlib; pathlib.Path({str(attacker.mark)!r}).touch()\n", "utf-8")
    attacker.write(".venv/bin/gen", attacker.shell)
    (attacker.root / ".venv/bin/gen").chmod(0o755)
    git("add", "--force", ".venv", cwd=attacker.root)


def scripts(attacker: Attacker) -> None:
    for script in ("check.sh", "setup.sh", "hook.sh"):
        attacker.write(f"ci/{script}", attacker.shell)
    attacker.write("ci/github_comment.py", attacker.python)
    attacker.write("ci/gitlab_comment.py", attacker.python)


def requirements(attacker: Attacker) -> None:
    attacker.write("setup.py", attacker.python)
    attacker.write("requirements.txt", ".\n")


def modules(attacker: Attacker) -> None:
    for module in ("venv.py", "pip.py", "sitecustomize.py", "zipfile.py", "gen/__init__.py", "gen/__main__.py"):
        attacker.write(module, attacker.python)


def workflow(attacker: Attacker) -> None:
    attacker.write(".github/workflows/other.yml", "on: pull_request\njobs: {}\n")
    attacker.job("other")


def report(attacker: Attacker) -> None:
    """A forged report, next to a job that is not rendered."""
    attacker.write("gen-report/plan.md", "### 0 runs start\n")
    git("add", "--force", "gen-report", cwd=attacker.root)
    attacker.job()


def attributes(attacker: Attacker) -> None:
    attacker.write(".gitattributes", "* filter=evil diff=evil\n")
    attacker.write(".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = ./x\n')


def grant(attacker: Attacker) -> None:
    path = attacker.root / OVERLAY
    path.write_text(path.read_text("utf-8").replace("team-a: {gpus: 32}", "team-a: {gpus: 999}"), "utf-8")
    attacker.job(text=JOB.replace("gpus: 8", "gpus: 64"))
    attacker.render()


def hidden(attacker: Attacker) -> None:
    """A run with the manifest of another job."""
    attacker.job()
    attacker.render()
    path = attacker.root / "rendered/production/jobs/team-a/mine/job-mine.yaml"
    path.write_text(path.read_text("utf-8").replace("registry.example.com/a:1", "evil.example.com/a:1"), "utf-8")


def quota(attacker: Attacker) -> None:
    for name in ("one", "two", "three", "four", "five"):
        attacker.job(name)
    attacker.render()


ATTACKS: dict[str, tuple[Callable[[Attacker], None], bool, str]] = {
    "environment": (environment, False, CHANGES_CHECKS),
    "scripts": (scripts, False, CHANGES_CHECKS),
    "requirements": (requirements, False, CHANGES_CHECKS),
    "modules": (modules, False, CHANGES_CHECKS),
    "workflow": (workflow, False, CHANGES_CHECKS),
    "report": (report, False, CHANGES_CHECKS),
    "attributes": (attributes, False, CHANGES_CHECKS),
    "grant": (grant, True, "### No errors: 1 run starts (1 pod, 64 GPUs)"),
    "hidden": (hidden, False, "### Refused: `hand-edited`"),
    "quota": (quota, False, "### Refused: `over-quota`"),
}
"""Changes, whether the check may pass, and the first line of the comment."""
_OF_THE_BASE = "### No errors: no run starts or stops, no data is lost"
ON_GITLAB = {
    "environment": "### Refused: `.venv` is committed",
    "scripts": _OF_THE_BASE,
    "requirements": _OF_THE_BASE,
    "modules": _OF_THE_BASE,
    "workflow": "### Refused: `missing`",
    "report": "### Refused: the check failed before it had a plan, see its log",
    "attributes": "### Refused: `control-file`",
}
"""The first line of the comment of GitLab, whose checks come from the target branch: owners approve the rest."""
ON_INSTALLATION = {"environment", "scripts", "requirements", "modules"}
"""Attacks on code that runs before gen does."""
MERGED = ("grant", "hidden", "quota", "workflow", "report", "attributes", "modules", "environment")
"""All but the attacks on the source of checks."""


def shared(folder: Path, root: Path) -> None:
    """Change a repository to one that has the action and the component of this project, in place of its scripts."""
    assert initialised(folder / "action", source=shared_source())[1] == 0
    assert initialised(folder / "component", source=shared_source("gitlab.example.com"))[1] == 0
    for file in (".github/workflows/check.yml", ".github/workflows/comment.yml", ".github/dependabot.yml"):
        (root / file).write_bytes((folder / "action" / file).read_bytes())
    (root / ".gitlab-ci.yml").write_bytes((folder / "component/.gitlab-ci.yml").read_bytes())
    for name in ("action/ci/github_comment.py", "component/ci/gitlab_comment.py"):
        assert not (folder / name).exists()
        (root / name.partition("/")[2]).unlink()


@pytest.fixture(scope="module", params=["scripts", "shared"])
def server(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path_factory.mktemp("attacks")
    assert initialised(folder / "first", source=wheel_source(folder / "index"))[1] == 0
    if request.param == "shared":
        shared(folder, folder / "first")
    overlay = folder / "first" / OVERLAY
    assert "team-a: {gpus: 32}" in overlay.read_text("utf-8")
    committed(folder / "first")
    git("clone", "--quiet", "--bare", folder / "first", "origin.git", cwd=folder)
    return folder / "origin.git"


def _same(answer: Any) -> Any:
    return answer


def answers(host: Host, clone: Path, archive: bytes) -> dict[str, Callable[[], Any]]:
    """The API of GitHub for a pull request, from the commits of a clone that has the merge checked out."""
    base, head, merge = (git("rev-parse", name, cwd=clone) for name in ("HEAD^1", "HEAD^2", "HEAD"))
    api = "/repos/acme/jobs"
    author = {"sha": head, "ref": "change", "repo": {"full_name": "eve/jobs", "owner": {"login": "eve"}}}
    pull = {"state": "open", "number": 7, "head": author, "base": {"ref": "main", "sha": base}}
    changed = git("diff", "--name-only", f"{base}...{head}", cwd=clone).splitlines()
    target = git("ls-remote", "origin", "refs/heads/main", cwd=clone).split()[0]
    trees = {
        one: [
            {"path": path, "sha": sha}
            for _, _, sha, path in (line.split(maxsplit=3) for line in git("ls-tree", one, cwd=clone).splitlines())
        ]
        for one in (base, head)
    }
    found = {
        "actions/runs/5/artifacts": {"artifacts": [{"name": "gen-plan", "id": 3, "size_in_bytes": len(archive)}]},
        "pulls": [pull],
        "pulls/7": pull,
        f"compare/{base}...{head}": {
            "merge_base_commit": {"sha": base},
            "files": [{"filename": name} for name in changed[:300]],
        },
        "git/ref/heads/main": {"object": {"sha": target}},
        f"git/commits/{merge}": {
            "parents": [{"sha": base}, {"sha": head}],
            "tree": {"sha": git("rev-parse", "HEAD^{tree}", cwd=clone)},
        },
        "issues/7/events": [],
        "issues/7/comments": [],
        **{f"git/trees/{one}": {"tree": entries} for one, entries in trees.items()},
    }
    known: dict[str, Callable[[], Any]] = {f"{api}/{path}": partial(_same, answer) for path, answer in found.items()}
    return known | {f"{api}/actions/artifacts/3/zip": lambda: f"{host.url}/storage", "/storage": lambda: archive}


def proposed(server: Path, attack: Callable[[Attacker], None], folder: Path, mark: Path) -> Path:
    """A clone with the attack on a branch, which is checked out."""
    git("clone", "--quiet", f"file://{server}", folder, cwd=server)
    git("checkout", "--quiet", "-b", "change", cwd=folder)
    attack(Attacker(folder, mark))
    mark.unlink(missing_ok=True)
    git("add", "--all", cwd=folder)
    git("commit", "--quiet", "--message", "Change", cwd=folder)
    return folder


def installation_of(attack: str) -> dict[str, str]:
    """Variables of a check: one that no attack on an installation is made on has gen installed."""
    return {} if attack in ON_INSTALLATION else {"GEN": GEN}


def checked(clone: Path, temp: Path, **environment: str) -> int:
    """The steps of check.yml of the merge that GitHub checks out."""
    git("checkout", "--quiet", "--detach", "origin/main", cwd=clone)
    git("merge", "--quiet", "--no-ff", "--no-edit", "change", cwd=clone)
    variables = {"BASE": "HEAD^1", "NUMBER": "7", "GITHUB_STEP_SUMMARY": str(temp / "summary.md"), **environment}
    code = 0
    for step, always in github_steps(clone):
        if not code or always:
            command = ("bash", "-eo", "pipefail", "-c", step)
            code = run(*command, cwd=clone, RUNNER_TEMP=str(temp), **variables).returncode or code
    return code


def comment(server: Path, clone: Path, temp: Path) -> str:
    """The body of the comment of comment.yml, which runs in a clone of the default branch."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name in ("plan.md", "number.txt", "head.txt", "merge.txt", "judged.txt"):
            if (temp / "gen" / name).is_file():
                packed.write(temp / "gen" / name, name)
    default, machine = temp / "default", temp / "machine"
    git("clone", "--quiet", f"file://{server}", default, cwd=server)
    machine.mkdir()
    steps = steps_of(default, "comment")
    (step,) = [one for one in steps if "run" in one]
    checks_out = any(one.get("uses", "").startswith("actions/checkout@") for one in steps)
    host = Host({})
    host.answers = answers(host, clone, buffer.getvalue())
    with serving(host):
        variables = {
            "GITHUB_API_URL": host.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "acme/jobs",
            "GITHUB_TOKEN": "token",
            "RUN_ID": "5",
            "HEAD_SHA": git("rev-parse", "HEAD^2", cwd=clone),
            "HEAD_BRANCH": "change",
            "HEAD_REPOSITORY": "eve/jobs",
            "BASE_BRANCH": "main",
            "CONCLUSION": "success",
            "GITHUB_ACTION_PATH": str(step.get("folder", "")),
        }
        assert step["env"].keys() | {"GITHUB_API_URL", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY"} < variables.keys()
        done = run("bash", "-eo", "pipefail", "-c", step["run"], cwd=default if checks_out else machine, **variables)
        assert done.returncode == 0, done.stderr
    ((_, _, data),) = host.written
    body: str = data["body"]
    return body


def gitlab_comment(server: Path, clone: Path, head: str, folder: Path) -> str:
    """The body of the comment of the job `comment` of GitLab, with the artifacts that the job `gen` left in a clone."""
    git("clone", "--quiet", clone, folder, cwd=clone)
    git("checkout", "--quiet", head, cwd=folder)
    git("remote", "set-url", "origin", f"file://{server}", cwd=folder)
    jobs = gitlab_jobs(folder)
    for path in jobs["gen"]["artifacts"]["paths"]:
        if (clone / path).is_file():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes((clone / path).read_bytes())
    request = "/projects/4/merge_requests/7"
    target = git("ls-remote", "origin", "refs/heads/main", cwd=folder).split()[0]
    found: dict[str, Any] = {
        "/user": {"id": 9},
        request: {"sha": head, "target_branch": "main", "state": "opened"},
        f"{request}/notes": [],
        "/projects/4/pipelines/11/jobs": [{"name": "gen", "web_url": "https://gitlab.com/a/b/-/jobs/6"}],
        "/projects/4/repository/branches/main": {"commit": {"id": target}},
    }
    host = Host({path: partial(_same, answer) for path, answer in found.items()})
    with serving(host):
        variables = {"CI_API_V4_URL": host.url, "CI_PIPELINE_ID": "11", "GEN_COMMENT_TOKEN": "token"}
        done = gitlab_job(folder, "comment", CI_PROJECT_ID="4", **variables)
        assert done.returncode == 0, done.stderr
    ((_, _, data),) = host.written
    body: str = data["body"]
    return body


def visible(body: str) -> list[str]:
    return [line for line in body.splitlines() if line and not line.startswith("<!--")]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_of_a_malicious_pull_request_runs_and_no_plan_is_false(
    server: Path, attack: str, tmp_path: Path
) -> None:
    change, may_pass, line = ATTACKS[attack]
    mark, temp = tmp_path / "attacked", tmp_path / "temp"
    temp.mkdir()
    clone = proposed(server, change, tmp_path / "clone", mark)
    code = checked(clone, temp, **installation_of(attack))
    first, second, *_ = visible(comment(server, clone, temp))
    assert first.startswith(line)
    if may_pass:
        assert second == f"**Also changes:** `{OVERLAY}`"
    git("checkout", "--quiet", "--force", "change", cwd=clone)
    git("clean", "--quiet", "-ffdx", cwd=clone)
    head = git("rev-parse", "HEAD", cwd=clone)
    codes = (code, gitlab_job(clone, "gen", **installation_of(attack)).returncode)
    shown = visible(gitlab_comment(server, clone, head, tmp_path / "comment"))
    assert not mark.exists(), "code of the attacker was executed"
    if not may_pass and line != CHANGES_CHECKS:
        assert 0 not in codes
    assert shown[0].startswith(ON_GITLAB.get(attack, line))
    if codes[1] == 0:  # the checks are those of the target branch, so that a plan is true, and names the other changes
        assert shown[1].startswith("**Also changes:** `")


def test_attacks_that_were_merged_by_mistake_run_nothing_later(server: Path, tmp_path: Path) -> None:
    """One history with all attacks merged, also those that the check refused."""
    folder, mark = tmp_path / "merged", tmp_path / "attacked"
    git("clone", "--quiet", "--bare", server, folder, cwd=tmp_path)
    passed = []
    for attack in MERGED:
        temp = tmp_path / attack
        temp.mkdir()
        clone = proposed(folder, ATTACKS[attack][0], temp / "clone", mark)
        if checked(clone, temp, **installation_of(attack)) == 0:
            passed.append(attack)
        comment(folder, clone, temp)
        assert not mark.exists(), f"code of {attack}, or of one before, was executed"
        git("push", "--quiet", "origin", "change:main", cwd=clone)
    assert passed == ["grant"]
    clone = proposed(folder, lambda attacker: attacker.job("last"), tmp_path / "clone", mark)
    head = git("rev-parse", "HEAD", cwd=clone)
    assert gitlab_job(clone, "gen").returncode != 0
    assert visible(gitlab_comment(folder, clone, head, tmp_path / "comment"))[0].startswith("### Refused: ")
    assert not mark.exists()


@pytest.mark.parametrize("folder", ["gen-report", "Gen-Report"])
def test_no_committed_report_is_shown_if_the_check_cannot_start(server: Path, tmp_path: Path, folder: str) -> None:
    """The job then leaves the name of its commit, and the work tree has the plan of the branch."""

    def forged(attacker: Attacker) -> None:
        attacker.write(f"{folder}/plan.md", "### 0 runs start\n")
        git("add", "--force", folder, cwd=attacker.root)
        attacker.job()

    clone = proposed(server, forged, tmp_path / "clone", tmp_path / "mark")
    head = git("rev-parse", "HEAD", cwd=clone)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text("#!/bin/sh\nexit 1\n", "utf-8")
    (tmp_path / "bin/python3").chmod(0o755)
    assert gitlab_job(clone, "gen", PATH=f"{tmp_path / 'bin'}:{PATH}").returncode != 0
    body = gitlab_comment(server, clone, head, tmp_path / "comment")
    assert visible(body)[0] == "### Refused: the check failed before it had a plan, see its log"
    assert "0 runs start" not in body


def test_a_plan_is_not_shown_after_its_base_moved(server: Path, tmp_path: Path) -> None:
    """The last of the ten: two changes that fit, and the second one was judged before the first was merged."""
    folder = tmp_path / "moved"
    git("clone", "--quiet", "--bare", server, folder, cwd=tmp_path)

    def harmless(attacker: Attacker) -> None:
        attacker.job()
        attacker.render()

    def other(attacker: Attacker) -> None:
        attacker.job("other")
        attacker.render()

    temp = tmp_path / "temp"
    temp.mkdir()
    clone = proposed(folder, harmless, tmp_path / "clone", tmp_path / "mark")
    assert checked(clone, temp, GEN=GEN) == 0
    assert visible(comment(folder, clone, temp))[0].startswith("### No errors: 1 run starts (1 pod, 8 GPUs)")
    first = proposed(folder, other, tmp_path / "first", tmp_path / "mark")
    git("push", "--quiet", "origin", "change:main", cwd=first)
    (temp / "default").rename(temp / "before")
    (temp / "machine").rmdir()
    assert visible(comment(folder, clone, temp))[0].startswith("### No plan: `main` moved from ")
