"""Three clusters with their own devices, queues, networks and volumes need no patch: `tests/golden/three-clusters`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.history import History
from tests.support import cases, copy_case

if TYPE_CHECKING:
    from pathlib import Path

(CASE,) = [case for case in cases("golden") if case.name == "three-clusters"]


@pytest.fixture
def clusters(tmp_path: Path) -> History:
    """The repository with its base on `main`, on a branch."""
    root = tmp_path / "repository"
    copy_case(CASE, root)
    history = History(root)
    history.git("init", "--quiet", "--initial-branch=main")
    history.commit("base")
    history.git("switch", "--quiet", "--create", "topic")
    return history


def texts(history: History, pattern: str) -> str:
    return "".join(path.read_text("utf-8") for path in sorted((history.root / "rendered").glob(pattern)))


def test_no_overlay_has_a_patch(clusters: History) -> None:
    overlays = [yaml.safe_load(path.read_text("utf-8")) for path in (clusters.root / "overlays").glob("*/overlay.yaml")]
    assert len(overlays) == 4
    assert not any("patches" in overlay for overlay in overlays)


def test_it_is_clean(clusters: History) -> None:
    report, code = clusters.check()
    assert (code, report.findings) == (0, ())
    command = [sys.executable, "-m", "gen", "validate", "rendered"]
    done = subprocess.run(command, cwd=clusters.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert ": 0 errors, 0 warnings" in done.stdout


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (
            "eks/jobs/nlp/pretrain/*",
            ('vpc.amazonaws.com/efa: "32"', "hugepages-2Mi", "p5.48xlarge", "claimName: scratch"),
        ),
        ("eks/jobs/nlp/pretrain/*", ("podset-required-topology: topology.k8s.aws/network-node-layer-1",)),
        ("eks/jobs/vision/tune/*", ('nvidia.com/mig-1g.10gb: "1"',)),
        ("eks/storage/nlp/*", ("driver: efs.csi.aws.com", "driver: fsx.csi.aws.com", "us-east-1a")),
        ("onprem/jobs/nlp/*/*", ('huawei.com/Ascend910: "8"', "schedulerName: volcano", "queue: research")),
        ("onprem/jobs/vision/detect/*", ("network/rail-0@net1", "schedulerName: volcano", "minAvailable: 3")),
        ("onprem/jobs/vision/evaluate/*", ("kueue.x-k8s.io/queue-name: spare",)),
        ("ack/jobs/vision/*/*", ("pod-group.scheduling.sigs.k8s.io/name", 'aliyun.com/gpu: "4"', "aliyun/erdma")),
    ],
)
def test_each_cluster_gets_what_it_needs(clusters: History, pattern: str, expected: tuple[str, ...]) -> None:
    text = texts(clusters, pattern)
    assert [part for part in expected if part not in text] == []


def test_a_job_runs_in_the_clusters_that_it_names(clusters: History) -> None:
    found = {path.parts[-5] for path in (clusters.root / "rendered").glob("*/jobs/nlp/tokenise/job-*")}
    assert found == {"ack", "eks"}


@pytest.mark.parametrize(
    ("job", "quota"),
    [
        ("nlp/pretrain", "72 GPUs of accelerator `h100` in overlay `eks`; its quota is 64"),
        ("nlp/pretrain-npu", "72 GPUs of accelerator `npu` in overlay `onprem`; its quota is 32"),
        ("vision/evaluate", "32 GPUs of accelerator `a100` in overlay `onprem`; its quota is 24"),
    ],
)
def test_quotas_are_of_each_accelerator(clusters: History, job: str, quota: str) -> None:
    path = clusters.root / f"jobs/{job}.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("workers: 4", "workers: 9").replace("gpus: 1", "gpus: 8\nworkers: 2"), "utf-8")
    (message,) = [finding.message for finding in clusters.render()[0].findings]
    assert message.startswith(f"namespace `{job.split('/', maxsplit=1)[0]}` requests {quota}")


def test_the_plan_counts_each_queue(clusters: History) -> None:
    for path in (clusters.root / "jobs/vision/evaluate.yaml", clusters.root / "jobs/vision/detect.yaml"):
        path.write_text(path.read_text("utf-8").replace("python ", "python -u "), "utf-8")
    found = {(row["namespace"], row["queue"]): row for row in clusters.report()["gpus"] if row["overlay"] == "onprem"}
    rows = {key: (row["before"]["gpus"], row["after"]["gpus"]) for key, row in found.items()}
    assert rows == {("nlp", "gang"): (32, 32), ("vision", "gang"): (16, 16), ("vision", "spare"): (1, 1)}
