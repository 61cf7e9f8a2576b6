"""An organisation: the repository of a platform, and those of two teams that `gen init --vendor` made.

The team `vision` extends overlays by Git, and `language` by an artifact of a registry that needs a login.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.commands.init.support import committed, git, run
from tests.commands.init.test_ci import github_steps
from tests.commands.test_vendor_oci import link, push_files
from tests.commands.vendoring import BASE, JOB, Platform, extends, platform_at, vendored
from tests.go_programs import go_program
from tests.pins.servers import Registry
from tests.support import Repository, initialised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from tarfile import TarInfo

pytestmark = pytest.mark.slow

OVERLAY = "overlays/production/overlay.yaml"
LOCK = "overlays/production/vendor.lock"
COPY = "overlays/production/vendor"
EDITED = f"{COPY}/overlays/base/overlay.yaml"
ARTIFACT = "org/platform"
UPDATE = "gen/vendor"
NOTHING_NEW = 3
MIRROR = "images: [{from: registry.example.com/, to: mirror.example.com/}]\n"


@dataclass(frozen=True)
class Team:
    """A clone of a team's repository, whose branch `main` is protected."""

    root: Path

    def night(self) -> subprocess.CompletedProcess[str]:
        """The scheduled job."""
        git("switch", "--quiet", "--force", "main", cwd=self.root)
        return run("bash", "ci/vendor.sh", cwd=self.root)

    def checked(self, branch: str, temp: Path) -> tuple[int, str]:
        """The steps of check.yml for a pull request of a branch: the exit code, and the plan of the comment."""
        git("switch", "--quiet", "--force", "--detach", "main", cwd=self.root)
        git("merge", "--quiet", "--no-ff", "--no-edit", branch, cwd=self.root)
        variables = {"BASE": "HEAD^1", "NUMBER": "7", "RUNNER_TEMP": str(temp)}
        temp.mkdir()
        code = 0
        for step, always in github_steps(self.root):
            if not code or always:
                command = ("bash", "-eo", "pipefail", "-c", step)
                done = run(*command, cwd=self.root, GITHUB_STEP_SUMMARY=str(temp / "summary.md"), **variables)
                code = done.returncode or code
        git("worktree", "remove", "--force", temp / "base", cwd=self.root)
        return code, (temp / "gen/plan.md").read_text("utf-8")

    def proposed(self, change: Callable[[Path], object]) -> str:
        """The branch of a pull request."""
        git("switch", "--quiet", "--force-create", "change", "main", cwd=self.root)
        change(self.root)
        git("add", "--all", cwd=self.root)
        git("commit", "--quiet", "--message", "Change", cwd=self.root)
        return "change"

    def merge(self, branch: str) -> None:
        git("switch", "--quiet", "--force", "main", cwd=self.root)
        git("merge", "--quiet", "--ff-only", branch, cwd=self.root)


@dataclass(frozen=True)
class Organisation:
    platform: Platform
    registry: Registry
    teams: dict[str, Team]

    def release(
        self, tag: str, files: dict[str, str] | None = None, *, odd: tuple[TarInfo, ...] = (), force: bool = False
    ) -> None:
        """Push a version to both. `odd` are members of the artifact only."""
        self.platform.push(tag, files or {}, force=force)
        tracked = git("ls-files", cwd=self.platform.work).splitlines()
        own = (path for path in tracked if not (self.platform.work / path).is_symlink())
        texts = {path: (self.platform.work / path).read_text("utf-8") for path in own}
        push_files(self.registry, tag, texts, *odd, name=ARTIFACT)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """The registry of go-containerregistry with a login, which the configuration of Docker has."""
    login = base64.b64encode(b"robot:secret").decode()
    command = [str(go_program("ociref", tmp_path)), "robot", "secret"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        host = running.stdout.readline().strip()
        (tmp_path / "docker").mkdir()
        (tmp_path / "docker/config.json").write_text(json.dumps({"auths": {host: {"auth": login}}}), "utf-8")
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
        yield Registry(host, f"http://{host}", {"Authorization": f"Basic {login}"})
        running.kill()


@pytest.fixture
def organisation(tmp_path: Path, registry: Registry) -> Iterator[Organisation]:
    with platform_at(tmp_path) as platform:
        one = Organisation(platform, registry, {})
        one.release("v1.0", force=True)
        origins = {
            "vision": extends(platform),
            "language": f"extends: {{oci: '{registry.host}/{ARTIFACT}', ref: v1.0, path: overlays/a100}}\n",
        }
        for name, overlay in origins.items():
            one.teams[name] = team_at(tmp_path / name, name, overlay)
        yield one


def team_at(root: Path, name: str, overlay: str) -> Team:
    """A repository with vendored overlays and a job, whose CI installs gen of this checkout."""
    assert initialised(root, vendor=True, namespace=name)[1] == 0
    repo = Repository(root)
    repo.write(OVERLAY, overlay)
    repo.write(f"jobs/{name}/hello.yaml", JOB)
    report, code = vendored(repo)
    assert code == 0, report
    assert repo.render()[1] == 0
    gen = root.with_name(f"{name}.gen")
    gen.write_text(f'#!/usr/bin/env bash\nexec {sys.executable} -m gen "$@"\n', "utf-8")
    gen.chmod(0o755)
    (root / "ci/setup.sh").write_text(f'mkdir -p "$1/bin" && cp "{gen}" "$1/bin/gen"\n', "utf-8")
    return Team(committed(root))


def edited(root: Path) -> None:
    """A grant for everybody in the copy."""
    text = (root / EDITED).read_text("utf-8")
    (root / EDITED).write_text(text.replace('"*": {}', '"*": {allow: [hostPath]}'), "utf-8")


def linked(root: Path) -> None:
    (root / EDITED).rename(root / "elsewhere.yaml")
    (root / EDITED).symlink_to("../../../../../../elsewhere.yaml")


def of_another_origin(root: Path) -> None:
    text = (root / OVERLAY).read_text("utf-8")
    (root / OVERLAY).write_text(text.replace("v1.1", "v1.0"), "utf-8")


def unlocked(root: Path) -> None:
    (root / LOCK).unlink()


def huge(root: Path) -> None:
    for number in range(2001):
        (root / COPY / f"templates/{number}.yaml").touch()


def forged(root: Path) -> None:
    """An edited copy with a lock that fits it."""
    before = hashlib.sha256((root / EDITED).read_bytes()).hexdigest()
    edited(root)
    after = hashlib.sha256((root / EDITED).read_bytes()).hexdigest()
    text = (root / LOCK).read_text("utf-8")
    assert before in text
    (root / LOCK).write_text(text.replace(before, after), "utf-8")


PULL_REQUESTS = {
    edited: "edited-vendored",
    linked: "edited-vendored",
    huge: "edited-vendored",
    of_another_origin: "other-origin",
    unlocked: "not-vendored",
}


def test_two_teams_share_a_platform(organisation: Organisation, tmp_path: Path) -> None:
    teams = organisation.teams.values()
    for team in teams:
        assert team.night().returncode == NOTHING_NEW

    # a version with another registry: a pull request for each team, which starts no run again
    organisation.release("v1.1", {"overlays/base/overlay.yaml": BASE + MIRROR})
    for number, team in enumerate(teams):
        done = team.night()
        assert done.returncode == 0, done.stdout + done.stderr
        changed = git("diff", "--name-only", "main", UPDATE, cwd=team.root).splitlines()
        assert changed == [OVERLAY, LOCK, EDITED]
        code, plan = team.checked(UPDATE, tmp_path / f"update-{number}")
        assert code == 0, plan
        assert "no run starts or stops" in first_line(plan)
        assert "1 run kept" in plan
        assert "mirror.example.com" in plan, "what a restart would change"
        team.merge(UPDATE)
        assert team.night().returncode == NOTHING_NEW

    # pull requests of people who may not change the platform
    for number, team in enumerate(teams):
        for attack, finding in [*PULL_REQUESTS.items()][number::2]:  # a check reads no origin: each is tried on a team
            code, plan = team.checked(team.proposed(attack), tmp_path / f"{attack.__name__}-{number}")
            assert code == 1, attack
            assert first_line(plan).startswith("### Refused: "), plan
            assert f"`{finding}`" in first_line(plan)
        # a lock can fit; the plan names its files, so that owners look, and the registry or server disagrees
        code, plan = team.checked(team.proposed(forged), tmp_path / f"forged-{number}")
        assert (code, "**Also changes:** " in plan, EDITED in plan) == (0, True, True), plan
        report, code = vendored(Repository(team.root), check=True)
        assert (code, [one.code for one in report.findings]) == (1, ["edited-vendored"])

    # a tag that someone moved, and versions that nobody should copy
    organisation.release("v1.1", {"overlays/a100/overlay.yaml": "extends: base\n"}, force=True)
    refused(teams, "moved-tag", "v1.1")
    (organisation.platform.work / "overlays/base/patches/passwd.yaml").symlink_to("/etc/passwd")
    organisation.release("v1.2", odd=(link("overlays/base/patches/passwd.yaml", "/etc/passwd"),))
    refused(teams, "refused-tree", "is a link")
    (organisation.platform.work / "overlays/base/patches/passwd.yaml").unlink()
    organisation.release("v1.3", {f"overlays/base/{number}.yaml": "a: b\n" for number in range(2001)})
    refused(teams, "refused-tree", "more than 2000 files")


def first_line(plan: str) -> str:
    """The first visible line of a comment."""
    return next(line for line in plan.splitlines() if line and not line.startswith("<!--"))


def refused(teams: Iterable[Team], *texts: str) -> None:
    """The night job is red, and there is no pull request."""
    for team in teams:
        run("git", "branch", "--delete", "--force", UPDATE, cwd=team.root)
        done = team.night()
        assert done.returncode == 1, done.stdout + done.stderr
        for text in texts:
            assert text in done.stdout + done.stderr
        assert git("branch", "--list", UPDATE, cwd=team.root) == ""
