"""One more engine costs one file and one entry in the registry; every guard and rule then holds for it.

The file and the entry are added to a copy of the program, which then runs as users run it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.engines import ENGINES as FACTS
from gen.overlay.profiles.engines import ENGINES
from tests.support import OVERLAY, PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.history import History

pytestmark = pytest.mark.slow  # each test starts several processes

FILE = '''
"""Harbor: one ConfigMap with the folder to apply."""

from gen.overlay.profiles.engines.base import Engine, Site
from gen.overlay.profiles.engines.base import Change, Outcome, applied, removed
from gen.kubernetes.objects import MANAGED_BY, Body
from gen.job.names import ObjectName
from gen.base.repository.layout import tree_folder
from gen.base.engines import ENGINES


class Harbor(Engine):
    """Harbor applies the rendered files."""

    namespace: ObjectName = ENGINES["harbor"].namespace
    """Namespace of Harbor."""

    def objects(self, site: Site) -> tuple[Body, ...]:
        metadata = {"name": site.overlay, "namespace": self.namespace, "labels": {MANAGED_BY: "gen"}}
        data = {"folder": self.in_git(tree_folder(site.overlay, "jobs"))}
        return ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data},)

    @classmethod
    def replay(cls, change: Change) -> Outcome:
        facts = ENGINES["harbor"]
        if change.after is None:
            return removed(change, *facts.protection)
        return applied(facts, change, forced=facts.force[0].is_on(change.after))


ENGINE = Harbor
'''
ENTRY = """
    "harbor": EngineFacts(
        title="Harbor",
        namespace="harbor-system",
        minutes=4,
        prefixes=("harbor.example.com/",),
        protection=(Mark(key="harbor.example.com/keep", value="always"),),
        finished=Mark(key="harbor.example.com/apply", value="never"),
        force=(Mark(key="harbor.example.com/replace", value="yes"),),
        tracking=frozenset({"harbor.example.com/owner"}),
        control_files=("harbor.conf",),
    ),
"""
GITOPS = "gitops: {harbor: {repoURL: https://git.example.com/ml/training.git}}\n"
JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ntimeout: 1h\ndata: {nas: /data}\n"


@dataclass(frozen=True)
class Program:
    """A copy of gen with the engine, and a repository."""

    folder: Path
    repository: History

    def gen(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-m", "gen", *arguments]
        root = self.repository.root
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)

    def render(self) -> None:
        done = self.gen("render")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout

    def found(self, *command: str) -> list[tuple[str, str]]:
        """Code and message of each finding of a command."""
        done = self.gen(*command, "--output", "json")
        assert done.stderr == ""
        return [(one["code"], one["message"]) for one in json.loads(done.stdout)["findings"]]

    def one(self, kind: str) -> dict[str, Any]:
        bodies = (yaml.safe_load(text) for text in self.repository.rendered().values())
        (body,) = (body for body in bodies if body["kind"] == kind)
        return dict(body)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy of the program."""
    folder = tmp_path_factory.mktemp("program")
    partial = shutil.ignore_patterns("*.pyc.*")  # that another process writes
    shutil.copytree(
        PROJECT / "gen", folder / "gen", ignore=partial
    )  # with compiled modules, as its times stay the same
    (folder / "gen/overlay/profiles/engines/harbor.py").write_text(FILE, "utf-8")
    registry = folder / "gen/base/engines.py"
    start = "ENGINES: Final[dict[str, EngineFacts]] = {"
    before, after = registry.read_text("utf-8").split(start)
    registry.write_text(before + start + ENTRY + after, "utf-8")
    return folder


@pytest.fixture
def program(folder: Path, history: History) -> Program:
    history.overlay(OVERLAY + GITOPS)
    history.job(JOB)
    return Program(folder, history)


def test_it_has_a_field_a_folder_and_protects_storage(program: Program) -> None:
    program.render()
    assert program.one("ConfigMap")["data"] == {"folder": "rendered/dev/jobs"}
    assert "harbor/dev/configmap-dev.yaml" in program.repository.rendered()
    assert program.one("PersistentVolumeClaim")["metadata"]["annotations"]["harbor.example.com/keep"] == "always"
    assert program.gen("check").returncode == 0
    assert program.found("validate", "rendered") == []
    assert '"harbor"' in program.gen("schema", "overlay").stdout
    (file,) = (program.repository.root / "rendered/dev/storage").rglob("persistentvolumeclaim-*.yaml")
    file.write_text(file.read_text("utf-8").replace("harbor.example.com/keep: always", "a: b"), "utf-8")
    ((code, message),) = program.found("validate", "rendered")
    assert code == "unprotected-data"
    assert "`harbor.example.com/keep: always` is missing" in message


def test_no_job_or_patch_controls_it(program: Program) -> None:
    repository = program.repository
    repository.overlay(OVERLAY.replace('"example.com/*"', '"*/*"') + GITOPS)
    repository.job(JOB + "annotations: {harbor.example.com/apply: never}\n")
    assert [code for code, _ in program.found("render")] == ["reserved-metadata"]
    repository.job(JOB)
    repository.write("jobs/team/harbor.conf", "")
    assert program.found("render") == [
        ("control-file", "`harbor.conf` is not allowed here: it would reconfigure Harbor, Argo CD, Flux or Git")
    ]
    (repository.root / "jobs/team/harbor.conf").unlink()
    patch = "patches: [{target: {kind: PersistentVolume}, patch: {metadata: {annotations: {%s: '%s'}}}}]\n"
    repository.overlay(OVERLAY + GITOPS + patch % ("harbor.example.com/keep", "no"))
    assert "patch-breaks" in [code for code, _ in program.found("render")]
    repository.overlay(OVERLAY + GITOPS + patch % ("harbor.example.com/replace", "yes"))
    message = "Harbor would delete and create the object because of `yes`"
    assert [text.rpartition(": ")[2] for code, text in program.found("render") if code == "engine-force"] == [message]
    repository.overlay(OVERLAY + GITOPS + patch % ("harbor.example.com/owner", "a"))
    assert "engine-tracking" in [code for code, _ in program.found("render")]


def test_its_names_are_reserved(program: Program) -> None:
    program.repository.overlay(OVERLAY, name="harbor")
    assert [code for code, _ in program.found("render")] == ["reserved-name"]
    shutil.rmtree(program.repository.root / "overlays/harbor")
    program.repository.job(JOB, namespace="harbor-system")
    assert "unknown-namespace" in [code for code, _ in program.found("render")]


def test_the_plan_knows_its_finished_runs_and_the_protection_of_its_data(program: Program) -> None:
    program.render()
    repository = program.repository
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "base")
    repository.job(JOB + "state: finished\n")
    program.render()
    marks = program.one("PyTorchJob")["metadata"]["annotations"]
    assert marks["harbor.example.com/apply"] == "never"
    assert len(marks) == len(FACTS) + 1, "a record has the marks of the others, too"
    plan = json.loads(program.gen("plan", "--base", "main", "--output", "json").stdout)
    assert [run["action"] for run in plan["runs"]] == ["retired"]
    (file,) = (repository.root / "rendered/dev/storage").rglob("persistentvolumeclaim-*.yaml")
    file.write_text(file.read_text("utf-8").replace("keep: always", "keep: never"), "utf-8")
    unprotected = [message for code, message in program.found("plan", "--base", "main") if code == "data-unprotected"]
    assert len(unprotected) == 1
    assert unprotected[0].endswith("would lose its protection `harbor.example.com/keep: always`")


def test_each_engine_has_a_module_and_a_class() -> None:
    assert list(ENGINES) == list(FACTS)
    assert len(set(ENGINES.values())) == len(FACTS)
