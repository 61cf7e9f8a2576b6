"""A plugin is installed as a user installs it, and used by overlays that name it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import forks
from tests.support import PROJECT, Repository

pytestmark = pytest.mark.slow  # pip installs the plugin, and each test starts several programs

PACKAGE = Path(__file__).parent / "acme"
NAMED = 'kubernetes: "1.34"\nplugins: {acme-gen: ">=1,<2"}\nvolumes: {tapes: {size: 1Ti, tape: {library: a}}}\n'
NAMED += "networks: {fast: {mesh: inner}}\naccelerators: {beads: {abacus: {}}}\n"
JOB = "kind: swarm\nimage: swarm:1\ncommand: fly\nworkers: 3\ngpus: 2\ntimeout: 1h\n"
JOB += "data: {tapes: /tapes}\nnetwork: fast\n"


@dataclass(frozen=True)
class Installation:
    """A folder with the installed plugin, and a repository."""

    folder: Path
    repository: Repository

    def process(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """As users start it."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.folder), str(PROJECT)])}
        command = [sys.executable, "-m", "gen", *arguments]
        root = self.repository.root
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)

    def gen(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        script = f"import sys\nsys.path.insert(0, {str(self.folder)!r})\n{forks.MAIN}"
        return forks.ran(*arguments, cwd=self.repository.root, env=os.environ, script=script)

    def findings(self, *arguments: str) -> list[tuple[str, str, str]]:
        """Code, place and hint of each finding of a render."""
        done = self.gen("render", "--output", "json", *arguments)
        assert done.returncode == 1, done.stdout + done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
        return [(one["code"], f"{one['file']}:{one['line']}", one["hint"]) for one in found]

    def one(self, kind: str) -> dict[str, Any]:
        bodies = (yaml.safe_load(text) for text in self.repository.rendered().values())
        (body,) = (body for body in bodies if body["kind"] == kind)
        return dict(body)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin, installed by pip into a folder of its own."""
    source, target = tmp_path_factory.mktemp("source") / "acme", tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE, source)
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, capture_output=True)
    return target


@pytest.fixture
def installed(folder: Path, repo: Repository) -> Installation:
    repo.overlay(NAMED)
    repo.job(JOB)
    return Installation(folder, repo)


def test_its_kind_storage_network_and_accelerator_render(installed: Installation) -> None:
    done = installed.process("render")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    swarm = installed.one("Swarm")
    assert swarm["apiVersion"] == "acme.example.com/v1"
    (bees,) = swarm["spec"]["bees"]
    assert (bees["count"], swarm["spec"]["maxSeconds"]) == (3, 3600)
    assert bees["template"]["metadata"]["annotations"]["acme.example.com/mesh"] == "inner"
    (container,) = bees["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["acme.example.com/abacus"] == "2"
    assert installed.one("PersistentVolume")["spec"]["csi"]["driver"] == "tape.acme.example.com"
    assert installed.process("check").returncode == 0
    assert installed.process("validate", "rendered").returncode == 0


def test_its_queues_and_those_of_gen_take_its_kind(installed: Installation) -> None:
    queues = "queues: {gold: {hive: north}, gangs: {volcano: research}}\nnamespaces: {team: {queues: [gold, gangs]}}\n"
    installed.repository.overlay(NAMED + queues)
    installed.repository.job(JOB + "queue: gold\n")
    assert installed.gen("render").returncode == 0
    (bees,) = installed.one("Swarm")["spec"]["bees"]
    assert bees["template"]["spec"]["schedulerName"] == "hive"
    assert bees["template"]["metadata"]["annotations"]["hive.acme.example.com/size"] == "3"
    installed.repository.job(JOB + "queue: gangs\n")
    assert installed.gen("render").returncode == 0
    assert installed.one("PodGroup")["spec"] == {"minMember": 3, "queue": "research"}
    installed.repository.job(JOB + "podLabels: {hive.acme.example.com/name: south}\n")
    assert [code for code, *_ in installed.findings()] == ["reserved-metadata"]


def test_every_guard_holds_for_its_kind(installed: Installation) -> None:
    rename = "[{op: replace, path: /spec/bees/0/template/spec/containers/0/name, value: x}]"
    installed.repository.overlay(NAMED + f"patches: [{{target: {{kind: Swarm}}, patch: '{rename}'}}]\n")
    assert [code for code, *_ in installed.findings()] == ["patch-breaks"]
    installed.repository.overlay(NAMED)
    installed.repository.job(JOB + "retries: 2\n")
    assert [(code, place) for code, place, _ in installed.findings()] == [("invalid-value", "jobs/team/demo.yaml:9")]


def test_the_plan_counts_its_gpus(installed: Installation) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "overlays"], ["commit", "-q", "-m", "a"]):
        subprocess.run([*git, *command], cwd=installed.repository.root, check=True)
    subprocess.run([*git, "switch", "-q", "-c", "topic"], cwd=installed.repository.root, check=True)
    assert installed.gen("render").returncode == 0
    plan = json.loads(installed.gen("plan", "--output", "json").stdout)
    assert [run["after"]["gpus"] for run in plan["runs"]] == [6], "abaci, by the profile of the plugin"


def test_new_and_the_schemas_know_it(installed: Installation) -> None:
    assert installed.gen("new", "swarm", "second").returncode == 0
    assert '"swarm"' in installed.gen("schema", "job").stdout
    assert '"tape"' in installed.gen("schema", "overlay").stdout


def test_its_output_format_is_a_choice_where_an_overlay_names_it(installed: Installation) -> None:
    installed.repository.job(JOB + "gpu: 1\n")
    done = installed.gen("render", "--output", "codes")
    assert (done.returncode, done.stdout) == (1, "unknown-field\n")
    assert (
        installed.gen("render", "--output=codes", "--root", str(installed.repository.root)).stdout == "unknown-field\n"
    )
    installed.repository.overlay('kubernetes: "1.34"\n')
    done = installed.gen("render", "--output", "codes")
    assert (done.returncode, "codes" in done.stderr) == (2, True)


def test_a_missing_plugin_is_reported_with_the_command_to_install_it(installed: Installation, tmp_path: Path) -> None:
    without = Installation(tmp_path, installed.repository)
    expected = ("missing-plugin", "overlays/dev/overlay.yaml:2", "run `pip install 'acme-gen>=1,<2'`")
    found = without.findings()
    assert expected in found
    assert [code for code, place, _ in found if place.startswith("overlays/")] == ["missing-plugin"]


def test_a_version_outside_of_the_range_is_reported(installed: Installation) -> None:
    installed.repository.overlay(NAMED.replace(">=1,<2", ">=2"))
    expected = ("plugin-version", "overlays/dev/overlay.yaml:2", "run `pip install 'acme-gen>=2'`")
    assert expected in installed.findings()


@pytest.mark.parametrize(
    ("overlay", "place"),
    [
        ('kubernetes: "1.34"\n', "jobs/team/demo.yaml:1"),
        ('kubernetes: "1.34"\nvolumes: {tapes: {size: 1Ti, tape: {library: a}}}\n', "overlays/dev/overlay.yaml:2"),
        ('kubernetes: "1.34"\nnetworks: {fast: {mesh: inner}}\n', "overlays/dev/overlay.yaml:2"),
        ('kubernetes: "1.34"\nqueues: {fast: {hive: north}}\n', "overlays/dev/overlay.yaml:2"),
        ('kubernetes: "1.34"\naccelerators: {fast: {abacus: {}}}\n', "overlays/dev/overlay.yaml:2"),
    ],
)
def test_an_overlay_that_does_not_name_it_cannot_use_it(installed: Installation, overlay: str, place: str) -> None:
    installed.repository.overlay(NAMED, name="another")
    installed.repository.overlay(overlay)
    assert ("plugin-not-named", place, "add `acme-gen` to `plugins`") in [
        (code, at, hint.removesuffix(" of the overlay")) for code, at, hint in installed.findings()
    ]


def test_a_plugin_that_raises_is_reported(folder: Path, repo: Repository, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / "acme_gen/tape.py").write_text("raise RuntimeError('no tape')\n", "utf-8")
    repo.overlay(NAMED)
    repo.job(JOB)
    found = [(code, place) for code, place, _ in Installation(broken, repo).findings()]
    assert ("invalid-plugin", "overlays/dev/overlay.yaml:2") in found


def test_a_kind_without_its_schema_is_reported(folder: Path, repo: Repository, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / "acme_gen/schemas/acme.example.com_v1_swarm.json").unlink()
    repo.overlay(NAMED)
    repo.job(JOB)
    done = Installation(broken, repo).gen("render")
    assert (done.returncode, "has the schema `acme.example.com_v1_swarm.json` [invalid-plugin]" in done.stdout) == (
        1,
        True,
    )


def test_an_exception_at_work_names_the_plugin(folder: Path, repo: Repository, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    path = broken / "acme_gen/mesh.py"
    path.write_text(
        path.read_text("utf-8").replace("return Effect(", "return Effect(resources={'a.b/c': 1}, "), "utf-8"
    )
    repo.overlay(NAMED)
    repo.job(JOB)
    done = Installation(broken, repo).gen("render")
    assert done.returncode == 3
    assert "it is a bug of gen or of a plugin (`acme-gen`)" in done.stdout
    assert "gen failed to plan the job: TypeError in gen.kubernetes.quantity:" in done.stdout


def test_another_version_of_the_plugin_is_not_served_from_the_cache(installed: Installation, tmp_path: Path) -> None:
    assert installed.gen("render").returncode == 0
    changed = tmp_path / "changed"
    shutil.copytree(installed.folder, changed)
    path = changed / "acme_gen/mesh.py"
    path.write_text(path.read_text("utf-8").replace("acme.example.com/mesh", "acme.example.com/net"), "utf-8")
    done = Installation(changed, installed.repository).gen("check")
    assert "1 run kept from an earlier platform" in done.stdout, "another version of a plugin is another platform"
    assert Installation(changed, installed.repository).gen("render", "--restart").returncode == 0
    rendered = (installed.repository.root / "rendered").rglob("*.yaml")
    assert any("acme.example.com/net" in path.read_text("utf-8") for path in rendered)
