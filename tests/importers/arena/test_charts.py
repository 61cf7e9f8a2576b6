"""The rendered run of a command of Arena equals the one of Arena's chart, except for the reasons in the docs."""

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

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, overlay_text, prove
from tests.cases import for_each
from tests.importers.arena import test_documents
from tests.importers.support import job_of
from tests.support import PROJECT

REASONS = {
    r"/metadata/(labels|annotations)": "`compat: {arena: true}`",
    r"/backoffLimit": "Without `--retry`, Arena allows no restart",
    r"/(Master|Launcher|Chief)/restartPolicy": "Without `--retry`, Arena allows no restart",
    r"/tfReplicaSpecs/[A-Za-z]+/restartPolicy": "and for the pods of a `tfjob`",
    r"/PS/template/spec/(volumes|containers/0/volumeMounts)(/-)?": "Parameter servers have no `/dev/shm`",
    r"/tasks/[0-9]+/template/spec/containers/0/ports": "Tasks of a `volcanojob` declare no ports",
    r"/headGroupSpec/(rayStartParams|serviceType|template/spec/containers/0/ports)": "KubeRay sets the ports",
    r"/workerGroupSpecs/0/template/spec/restartPolicy": "KubeRay replaces pods of a `rayjob` that fail",
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
    given = ImportInput(file="chart.yaml", files=(("chart.yaml", run.encode()),), otherwise="team")
    (chart,) = IMPORTERS["manifests"]().read(given, found)
    job = job_of(command)
    fields = {name: value for name, value in job.fields.items() if name != "schedule"}
    job = replace(job, fields=fields, originals=chart.originals)
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


@for_each("reason", sorted(set(REASONS.values())))
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
TF = "--name=run --image=a/b:1 --workers=2 --worker-cpu=4 --worker-memory=8Gi"
TF_VALUES: dict[str, Any] = {
    "command": "python a.py",
    "trainingOperatorCRD": True,
    "cleanPodPolicy": "Running",
    "workerImage": "a/b:1",
    "workerCPU": "4",
    "workerMemory": "8Gi",
    "tfNodeSelectors": {role: {} for role in ("Chief", "Worker", "PS", "Evaluator")},
}
RAY_POD = {"cpu": "2", "memory": "4Gi", "gpu": 0}
VALUES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "pytorchjob": (
        "pytorchjob",
        f"arena submit pytorch {FLAGS} 'python a.py'",
        {"command": "python a.py", "cleanPodPolicy": "Running", "workers": 1},  # besides the master
    ),
    "mpijob": (
        "mpijob",
        f"arena submit mpi {FLAGS} 'mpirun python a.py'",
        {"command": "mpirun python a.py", "cleanPodPolicy": "All"},
    ),
    "horovodjob": (
        "mpijob",
        f"arena submit horovod {FLAGS} 'mpirun python a.py'",
        {"command": "mpirun python a.py", "cleanPodPolicy": "All"},
    ),
    "tfjob": ("tfjob", f"arena submit tf {TF} --gpus=1 'python a.py'", TF_VALUES),
    "tfjob of all roles": (
        "tfjob",
        (
            f"arena submit tf {TF} --gpus=1 --chief --chief-cpu=1 --chief-memory=4Gi --evaluator --evaluator-cpu=1"
            " --evaluator-memory=4Gi --ps=2 --ps-cpu=2 --ps-memory=4Gi --ps-image=a/ps:1 'python a.py'"
        ),
        {
            **TF_VALUES,
            "ps": 2,
            "psImage": "a/ps:1",
            "psCPU": "2",
            "psMemory": "4Gi",
            "psGPU": 0,
            "chief": 1,
            "chiefCPU": "1",
            "chiefMemory": "4Gi",
            "evaluator": 1,
            "evaluatorImage": "a/b:1",
            "evaluatorCPU": "1",
            "evaluatorMemory": "4Gi",
        },
    ),
    "cron tfjob": (
        "cron-tfjob",
        f"arena cron tfjob {TF} --schedule='@daily' --gpus=1 'python a.py'",
        {
            "tfjob": {**COMMON, **TF_VALUES},
            "cron": {"schedule": "@daily", "concurrencyPolicy": "Allow", "deadline": "", "historyLimit": 10},
        },
    ),
    "etjob": (
        "etjob",
        f"arena submit etjob {FLAGS} 'mpirun python a.py'",
        {"command": "mpirun python a.py", "launcherSelectors": {}, "workerSelectors": {}, "trainingType": "etjob"},
    ),
    "rayjob": (
        "rayjob",
        (
            "arena submit rayjob --name=run --image=a/b:1 --worker-replicas=2 --worker-cpu=2 --worker-memory=4Gi"
            " --worker-gpu=1 --head-cpu=2 --head-memory=4Gi 'python a.py'"
        ),
        {
            "command": "python a.py",
            "shutdownAfterJobFinishes": True,
            "activeDeadlineSeconds": 0,
            "shareMemory": "",
            "head": {**RAY_POD, "image": "a/b:1"},
            "worker": {**RAY_POD, "gpu": 1, "image": "a/b:1", "replicas": 2, "minReplicas": 0, "maxReplicas": 2},
        },
    ),
    "volcanojob": (
        "volcanojob",
        (
            "arena submit volcanojob --name=run --task-images=a/b:1,a/c:1 --task-replicas=2 --min-available=2"
            " --task-cpu=1 --task-memory=2Gi 'python a.py'"
        ),
        {
            "command": "python a.py",
            "minAvailable": 2,
            "queue": "default",
            "taskImages": ["a/b:1", "a/c:1"],
            "taskReplicas": 2,
            "taskCPU": "1",
            "taskMemory": "2Gi",
            "taskPort": 2222,
            "gpuCount": 0,  # with GPUs, the chart reads `.Values` in a loop and fails
        },
    ),
}
"""Charts, commands, and the values that Arena gives to the charts for them."""


def run_of(output: str) -> str:
    """The run of a chart, in a kind of gen: a TrainingJob has the pods of an MPIJob, and a Cron the object of a run."""
    body = next(one for one in yaml.safe_load_all(output) if one and one["kind"] in RUNS)
    if body["kind"] == "Cron":
        inner = body["spec"]["template"]["workload"]
        policy = {"cleanPodPolicy": inner["spec"].pop("cleanPodPolicy")}  # the form of an older operator
        body = {**inner, "metadata": {"name": "run"}, "spec": {**inner["spec"], "runPolicy": policy}}
    elif body["kind"] == "TrainingJob":
        specs = {role.title(): one for role, one in body["spec"]["etReplicaSpecs"].items()}
        spec = {"slotsPerWorker": 1, "mpiReplicaSpecs": specs}
        body = {**body, "apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "spec": spec}
    elif body["kind"] == "RayJob":
        for group in body["spec"]["rayClusterSpec"]["workerGroupSpecs"]:
            group["groupName"] = "worker"
    return yaml.safe_dump(body)


RUNS = {"Cron", "TrainingJob", "TFJob", "PyTorchJob", "MPIJob", "RayJob", "Job"}


@pytest.mark.slow
@pytest.mark.parametrize("name", VALUES)
def test_a_run_equals_that_of_helm(name: str, tmp_path: Path) -> None:
    chart, command, values = VALUES[name]
    helm, charts = shutil.which("helm"), os.environ.get("ARENA_CHARTS", "")
    if helm is None or not Path(charts, chart).is_dir():
        pytest.skip("needs helm, and the folder `charts` of kubeflow/arena in ARENA_CHARTS")
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({**COMMON, **values}))
    arguments = [helm, "template", "run", str(Path(charts, chart)), "--values", str(file)]
    output = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert unexplained(lost(command, run_of(output))) == {}
