"""The run that gen renders for a command of Arena equals the one of Arena's chart, but for the reasons in the docs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from gen.diagnostics import Findings
from gen.edit.needs import fragment
from gen.edit.proof import NAME, overlay_text, prove
from gen.importers import IMPORTERS
from gen.importers.base import Given
from tests.importers.arena import test_documents
from tests.importers.support import job_of
from tests.support import PROJECT

REASONS = {
    r"/metadata/(labels|annotations)": "`compat: {arena: true}`",
    r"/backoffLimit": "Without `--retry`, Arena allows no restart",
    r"/(Master|Launcher|Chief)/restartPolicy": "Without `--retry`, Arena allows no restart",
    r"/cleanPodPolicy": "Arena deletes all pods of an MPIJob at its end",
    r"/initContainers": "git-sync 4",
    r"/imagePullPolicy": "Arena pulls images always",
    r"/env(/-)?": "Arena sets the variables `workers` and `gpus`",
    r"/Launcher/template/spec/(volumes|containers/0/volumeMounts)(/-)?": "The launcher of an MPIJob has no `/dev/shm`",
}
"""Values of the charts that gen does not render, and the words of the reason in `docs/import.md`."""
FACTS = yaml.safe_load((Path(__file__).parent / "charts.yaml").read_text("utf-8"))


def lost(command: str, run: str) -> dict[str, Any]:
    """Values of the run of a chart that the job of a command does not give, by their routes."""
    found = Findings()
    given = Given(file="chart.yaml", files=(("chart.yaml", run.encode()),), otherwise="team")
    (chart,) = IMPORTERS["manifests"]().read(given, found)
    job = replace(job_of(command), originals=chart.originals)
    proof = next(prove(PROJECT, job, NAME, overlay_text(fragment([job])), found), None)
    assert not found.failed(), list(found)
    assert proof is not None
    assert proof.remaining == (), "a patch has every other value"
    return {one["path"]: one["value"] for one in proof.patch["patch"]} if proof.patch is not None else {}


def unexplained(routes: dict[str, Any]) -> dict[str, Any]:
    """Values without a reason."""
    return {
        route: value for route, value in routes.items() if not any(re.search(f"{one}(/|$)", route) for one in REASONS)
    }


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["document"].lower())
def test_a_run_equals_that_of_the_chart(fact: dict[str, Any]) -> None:
    routes = lost(getattr(test_documents, fact["document"]), yaml.safe_dump(fact["run"]))
    assert unexplained(routes) == {}
    assert len(routes) > 5


def test_another_value_would_be_found() -> None:
    fact = FACTS[0]
    command = test_documents.PYTORCH.replace("--gpus=1", "--gpus=2").replace("--epochs 10", "--epochs 11")
    routes = unexplained(lost(command, yaml.safe_dump(fact["run"])))
    assert {route.rpartition("/")[2] for route in routes} == {"command", "nvidia.com~1gpu"}


@pytest.mark.parametrize("reason", sorted(set(REASONS.values())))
def test_the_reasons_are_documented(reason: str) -> None:
    assert reason in (PROJECT / "docs/import.md").read_text("utf-8").replace("\n  ", " ")


COMMON: dict[str, Any] = {
    "image": "a/b:1",
    "imagePullPolicy": "Always",
    "workingDir": "/root",
    "shell": "sh",
    "retry": 0,
    "envs": {"gpus": "1", "workers": "2"},
    "nodeSelectors": {},
    "tolerations": [],
    "imagePullSecrets": [],
    "annotations": {},
    "labels": {},
    "devices": {},
    "dataset": {},
    "dataDirs": [],
    "configFiles": {},
    "useHostIPC": False,
    "useHostPID": False,
    "shareMemory": "2Gi",
    "shmSize": "2Gi",
    "useTensorboard": False,
    "workers": 2,
    "gpuCount": 1,
    "cpu": "4",
    "memory": "8Gi",
}
FLAGS = "--name=run --image=a/b:1 --gpus=1 --workers=2 --cpu=4 --memory=8Gi"
VALUES: dict[str, tuple[str, dict[str, Any]]] = {
    "pytorchjob": (
        f"arena submit pytorch {FLAGS} 'python a.py'",
        {"command": "python a.py", "cleanPodPolicy": "Running", "workers": 1},  # besides the master
    ),
    "mpijob": (
        f"arena submit mpi {FLAGS} 'mpirun python a.py'",
        {"command": "mpirun python a.py", "cleanPodPolicy": "All"},
    ),
}
"""Commands, and the values that Arena gives to the charts for them."""


@pytest.mark.slow
@pytest.mark.parametrize("chart", VALUES)
def test_a_run_equals_that_of_helm(chart: str, tmp_path: Path) -> None:
    helm, charts = shutil.which("helm"), os.environ.get("ARENA_CHARTS", "")
    if helm is None or not Path(charts, chart).is_dir():
        pytest.skip("needs helm, and the folder `charts` of kubeflow/arena in ARENA_CHARTS")
    command, values = VALUES[chart]
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({**COMMON, **values}))
    arguments = [helm, "template", "run", str(Path(charts, chart)), "--values", str(file)]
    output = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert unexplained(lost(command, output)) == {}
