"""Malicious branches in a repository created by `gen init`: CI fails, and its comment starts with the reason."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from gen.render.emit import digest_of, header
from tests.adversary import miner
from tests.commands.init.support import GEN, committed, git, run, wheel_source
from tests.commands.init.test_ci import first_line, github_steps, gitlab_job, merged, proposed
from tests.support import initialised

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

JOB = "kind: tensorflow\nimage: registry.example.com/a:1\ncommand: x\ntimeout: 1h\n"
MINER = miner.MINER.replace("namespace: team", "namespace: team-a")
OVERLAY = "overlays/production/overlay.yaml"
RUN = "rendered/production/jobs/team-a/running/tfjob-running.yaml"


def write(root: Path, file: str, text: str) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text, "utf-8")


def render(root: Path) -> int:
    return run("gen", "render", cwd=root).returncode


def foreign_file(root: Path) -> None:
    write(root, "rendered/production/jobs/team-a/zz/deployment-zz.yaml", MINER)


def forged_storage(root: Path) -> None:
    text = MINER.replace("namespace: team-a", "namespace: team-a, annotations: {kind: PersistentVolume}")
    text = header(OVERLAY, digest_of(text)) + text
    write(root, "rendered/production/storage/team-a/persistentvolume-zz.yaml", text)


def submodule(root: Path) -> None:
    commit = git("rev-parse", "HEAD", cwd=root)
    (root / "rendered/production/jobs/team-a/zz").mkdir()  # otherwise `git add` removes the submodule again
    git("update-index", "--add", "--cacheinfo", f"160000,{commit},rendered/production/jobs/team-a/zz", cwd=root)


def submodule_with_settings(root: Path) -> None:
    write(root, ".gitmodules", '[submodule "zz"]\n\tpath = rendered/production/jobs/team-a/zz\n\turl = ./zz\n')
    submodule(root)


def quota_by_finished(root: Path) -> None:
    write(root, "jobs/team-a/running.yaml", JOB + "gpus: 16\nstate: finished\n")
    write(root, "jobs/team-a/more.yaml", JOB + "gpus: 16\n")
    render(root)


def forged_quota(root: Path) -> None:
    """Where the engines apply quotas, with the header of gen."""
    text = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gen, namespace: team-a}\nspec: {hard: {pods: 9k}}\n"
    write(root, "rendered/production/storage/team-a/resourcequota-gen.yaml", header(OVERLAY, digest_of(text)) + text)


def namespace_of_the_cluster(root: Path) -> None:
    write(root, "jobs/kube-system/zz.yaml", JOB)
    render(root)


def endless_replicas(root: Path) -> None:
    write(root, "jobs/team-a/zz.yaml", JOB + "roles: {ps: {replicas: 2000000000}}\n")
    render(root)


def control_plane(root: Path) -> None:
    placement = "{nodeSelector: {node-role.kubernetes.io/control-plane: ''}, tolerations: [{operator: Exists}]}"
    write(root, "jobs/team-a/zz.yaml", JOB + f"placement: {placement}\n")
    render(root)


def over_quota(root: Path) -> None:
    write(root, "jobs/team-a/zz.yaml", JOB + "gpus: 8\n")
    render(root)


def hand_edited(root: Path) -> None:
    file = root / RUN
    file.write_text(file.read_text("utf-8").replace("registry.example.com/a:1", "evil.example.com/a:1"), "utf-8")


def removed_job(root: Path) -> None:
    (root / "jobs/team-a/running.yaml").unlink()


def link(root: Path) -> None:
    (root / RUN).unlink()
    (root / RUN).symlink_to("/etc/passwd")


def no_overlay(root: Path) -> None:
    shutil.rmtree(root / "overlays")


ATTACKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "A1 foreign file": (foreign_file, "foreign-file"),
    "A2 forged unused storage": (forged_storage, "leftover"),
    "A3 submodule": (submodule, "submodule"),
    "A3 submodule with its settings": (submodule_with_settings, "control-file"),
    "A4 quota by finished": (quota_by_finished, "over-quota"),
    "A4 forged quota": (forged_quota, "leftover"),
    "A5 namespace of the cluster": (namespace_of_the_cluster, "unknown-namespace"),
    "A6 replicas": (endless_replicas, "invalid-value"),
    "A7 steering": (control_plane, "not-granted"),
    "over quota": (over_quota, "over-quota"),
    "edited by hand": (hand_edited, "hand-edited"),
    "removed job": (removed_job, "leftover"),
    "link": (link, "foreign-file"),
    "no overlay": (no_overlay, "exit code 2"),
}


pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Machine:
    """A machine of CI with a clone, and a folder that has the base branch."""

    clone: Path
    temp: Path

    def proposed(self, attack: Callable[[Path], None]) -> Path:
        """A branch with the attack on top of the base branch."""
        git("checkout", "--quiet", "--force", "--detach", "origin/main", cwd=self.clone)
        git("clean", "--quiet", "-ffdx", cwd=self.clone)
        for branch in ("main", "change"):
            run("git", "branch", "--force", branch, "origin/main", cwd=self.clone)
        run("git", "branch", "--delete", "--force", "change", cwd=self.clone)
        attack(self.clone)
        return proposed(self.clone)

    def github(self, merge: Path) -> subprocess.CompletedProcess[str]:
        """The steps of check.yml after the first, which the machine has done. Returns the one of the check."""
        environment = {"BASE": "HEAD^1", "NUMBER": "7", "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md")}
        environment["GEN"] = GEN
        _, (check, _), (save, _) = github_steps(merge)
        check_done, save_done = (
            run("bash", "-eo", "pipefail", "-c", step, cwd=merge, RUNNER_TEMP=str(self.temp), **environment)
            for step in (check, save)
        )
        assert save_done.returncode == 0, save_done.stderr
        return check_done


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    folder = tmp_path_factory.mktemp("malicious")
    origin, temp = folder / "origin", folder / "temp"
    assert initialised(origin, source=wheel_source(folder / "index"))[1] == 0
    overlay = (origin / OVERLAY).read_text("utf-8")
    (origin / OVERLAY).write_text(overlay.replace("  team-a: {gpus: 32}", '  "*": {}\n  team-a: {gpus: 18}'), "utf-8")
    write(origin, "jobs/team-a/running.yaml", JOB + "gpus: 16\n")
    assert render(origin) == 0
    committed(origin)
    git("clone", "--quiet", origin, "clone", cwd=folder)
    git("worktree", "add", "--quiet", "--detach", temp / "base", "origin/main", cwd=folder / "clone")
    return Machine(folder / "clone", temp)


@pytest.mark.parametrize("attack", list(ATTACKS))
def test_ci_of_github_refuses(machine: Machine, attack: str) -> None:
    change, code = ATTACKS[attack]
    done = machine.github(merged(machine.proposed(change)))
    assert done.returncode != 0, done.stdout + done.stderr
    line = first_line(machine.temp / "gen/plan.md")
    assert line.startswith("### Refused: "), line
    assert code in line
    assert (machine.temp / "gen/head.txt").read_text("utf-8").strip() == git("rev-parse", "change", cwd=machine.clone)


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack[0] == "A"])
def test_ci_of_gitlab_refuses(machine: Machine, attack: str) -> None:
    change, code = ATTACKS[attack]
    clone = machine.proposed(change)
    done = gitlab_job(clone, "gen", GEN=GEN)
    assert done.returncode != 0, done.stdout + done.stderr
    assert code in first_line(clone / "gen-report/plan.md")


def test_ci_accepts_a_harmless_change(machine: Machine) -> None:
    def harmless(root: Path) -> None:
        write(root, "jobs/team-a/running.yaml", JOB + "gpus: 16\nlabels: {team: a}\n")
        assert render(root) == 0

    done = machine.github(merged(machine.proposed(harmless)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not first_line(machine.temp / "gen/plan.md").startswith("### Refused")
