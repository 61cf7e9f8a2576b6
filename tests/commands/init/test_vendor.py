"""CI of a team's repository that extends a platform: the nightly job, and checks of attacks, with the real gen."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.commands.init.support import committed, git, run
from tests.commands.vendoring import BASE, JOB, Platform, extends, platform_at, vendored
from tests.support import Repository, initialised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OWN = ("ci/vendor.sh", "ci/vendor.gitlab-ci.yml", ".github/workflows/vendor.yml")
OVERLAY = "overlays/production/overlay.yaml"
COPY = "overlays/production/vendor/overlays/base/overlay.yaml"
pytestmark = pytest.mark.slow


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    with platform_at(tmp_path) as one:
        yield one


@pytest.fixture
def root(tmp_path: Path, platform: Platform) -> Path:
    """A repository of `gen init --vendor`, on the branch `main`, with gen of this checkout."""
    folder = tmp_path / "team"
    assert initialised(folder, vendor=True)[1] == 0
    repo = Repository(folder)
    repo.write(OVERLAY, extends(platform))
    repo.write("jobs/team-a/hello.yaml", JOB)
    assert vendored(repo)[1] == 0
    assert repo.render()[1] == 0
    gen = f'#!/usr/bin/env bash\nexec {sys.executable} -m gen "$@"\n'
    stand_in = tmp_path / "gen"
    stand_in.write_text(gen, "utf-8")
    stand_in.chmod(0o755)
    (folder / "ci/setup.sh").write_text(f'mkdir -p "$1/bin" && cp "{stand_in}" "$1/bin/gen"\n', "utf-8")
    return committed(folder)


def test_it_is_opt_in(tmp_path: Path, root: Path) -> None:
    plain = tmp_path / "plain"
    assert initialised(plain)[1] == 0
    assert not any((plain / path).exists() for path in OWN)
    assert all((root / path).exists() for path in OWN)
    assert yaml.safe_load((root / ".gitlab-ci.yml").read_text("utf-8"))["include"] == [{"local": OWN[1]}]
    workflow = yaml.safe_load((root / OWN[2]).read_text("utf-8"))
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}, "never for a pull request"


def test_each_night_one_pull_request_with_the_newest_version(root: Path, platform: Platform) -> None:
    assert run("bash", "ci/vendor.sh", cwd=root).returncode == 3
    platform.push(
        "v1.1", {"overlays/base/overlay.yaml": BASE + "images: [{from: registry.example.com/, to: mirror.io/}]\n"}
    )
    done = run("bash", "ci/vendor.sh", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert git("log", "--format=%s", "main..gen/vendor", cwd=root) == "Vendor platform"
    changed = git("diff", "--name-only", "main", "gen/vendor", cwd=root).splitlines()
    assert changed == [OVERLAY, "overlays/production/vendor.lock", COPY], "no run starts again"
    done = run("bash", "ci/check.sh", "main", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    plan = run(sys.executable, "-m", "gen", "plan", "--base", "main", cwd=root)
    assert plan.returncode == 0
    assert "Runs  none starts or stops (1 kept)\n" in plan.stdout
    assert "1 run kept as committed, although the platform changed since\n" in plan.stdout
    assert "\n      + spec.pytorchReplicaSpecs" in plan.stdout, "what a restart would change"


def test_a_moved_tag_is_red_at_night(root: Path, platform: Platform) -> None:
    platform.push("v1.0", {"overlays/base/overlay.yaml": BASE + "labels: {a: b}\n"}, force=True)
    done = run("bash", "ci/vendor.sh", cwd=root)
    assert done.returncode == 1
    assert "moved-tag" in done.stdout + done.stderr
    assert git("branch", "--list", "gen/vendor", cwd=root) == ""


def test_checks_of_attacks_are_red(root: Path) -> None:
    copy, overlay = (root / COPY).read_text("utf-8"), (root / OVERLAY).read_text("utf-8")
    attacks: dict[str, Callable[[], object]] = {
        "edited-vendored": lambda: (root / COPY).write_text(copy.replace('"*": {}', '"*": {allow: [raw]}'), "utf-8"),
        "other-origin": lambda: (root / OVERLAY).write_text(overlay.replace("ref: v1.0", "ref: v2.0"), "utf-8"),
        "not-vendored": (root / "overlays/production/vendor.lock").unlink,
    }
    for code, attack in attacks.items():
        git("checkout", "--quiet", "-B", "change", "main", cwd=root)
        attack()
        git("commit", "--quiet", "--all", "--message", "Attack", cwd=root)
        done = run("bash", "ci/check.sh", "main", cwd=root)
        assert done.returncode == 1, code
        assert code in done.stdout + done.stderr


def test_copies_belong_to_the_owners(root: Path) -> None:
    """The last matching line of CODEOWNERS decides; lines without an owner only match jobs and their files."""
    lines = (root / "CODEOWNERS").read_text("utf-8").splitlines()
    free = [line for line in lines if line and not line.startswith("#") and "@" not in line]
    assert free == ["/jobs/", "/rendered/*/jobs/"]
