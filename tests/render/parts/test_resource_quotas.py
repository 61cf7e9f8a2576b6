"""ResourceQuotas of namespaces: counted resources, and changes by the overlay only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.findings import Findings
from gen.overlay.read import OverlayReader
from gen.render.parts.quota import plan_resource_quotas
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

ACCELERATORS = """\
accelerators:
  h100: {nvidia: NVIDIA-H100-80GB-HBM3}
  l40s: {nvidia: NVIDIA-L40S}
  share: {ackShare: {memory: 8}}
  qgpu: {qgpu: {cores: 30}}
"""
GPU, SHARE, QGPU = "requests.nvidia.com/gpu", "requests.aliyun.com/gpu-mem", "requests.tke.cloud.tencent.com/qgpu-core"
FILE = "dev/storage/team/resourcequota-gen.yaml"
JOB = "kind: batch\nimage: a:1\ncommand: x\ntimeout: 1h\ngpus: 8\n"


def overlay(grant: str, more: str = "") -> str:
    return f'kubernetes: "1.34"\nnamespaces: {{team: {{{grant}, resourceQuota: true}}}}\n{more}'


def hard(repo: Repository, text: str) -> dict[str, str]:
    repo.overlay(text)
    found = Findings()
    (read,) = OverlayReader(repo.root, found).read()
    assert list(found) == []
    (plan,) = plan_resource_quotas(read)
    return dict(plan.hard)


@for_each(
    ("grant", "more", "expected"),
    [
        ("gpus: 16", "", {GPU: "16"}),
        ("pods: 3", "", {"pods": "3"}),
        ("gpus: 0, pods: 3", "", {GPU: "0", "pods": "3"}),
        ("gpus: 4", "gpu: {resource: example.com/npu}\n", {"requests.example.com/npu": "4"}),
        # one device of these accelerators is 8 GiB, or 30 percent
        ("gpus: 4", ACCELERATORS, {GPU: "4", SHARE: "32", QGPU: "120"}),
        ("gpus: 4, accelerators: [h100]", ACCELERATORS, {GPU: "4", SHARE: "0", QGPU: "0"}),
        # two accelerators with one resource
        ("accelerators: {h100: 16, l40s: 4, share: 2}", ACCELERATORS, {GPU: "20", SHARE: "16", QGPU: "0"}),
        ("gpus: 8, accelerators: {h100: 16, l40s: 4, share: 2}", ACCELERATORS, {GPU: "8", SHARE: "16", QGPU: "0"}),
        ("pods: 3, accelerators: [h100]", ACCELERATORS, {SHARE: "0", QGPU: "0", "pods": "3"}),
    ],
)
def test_the_quotas_of_the_overlay_are_its_limits(
    repo: Repository, grant: str, more: str, expected: dict[str, str]
) -> None:
    assert hard(repo, overlay(grant, more)) == expected


def rendered(repo: Repository) -> Any:
    report, code = repo.render()
    assert code == 0, report
    text = repo.rendered().get(FILE)
    return yaml.safe_load(text) if text is not None else None


def test_no_job_changes_it(repo: Repository) -> None:
    """Neither the first job of the namespace, nor its last one, nor the state of one."""
    repo.overlay(overlay("gpus: 16"))
    first = rendered(repo)
    assert first["spec"] == {"hard": {GPU: "16"}}
    for text in (JOB, f"{JOB}state: finished\n"):
        repo.job(text)
        assert rendered(repo) == first
    (repo.root / "jobs/team/demo.yaml").unlink()
    assert rendered(repo) == first


def test_it_is_removed_with_its_word_in_the_overlay(repo: Repository) -> None:
    """It has no data: `--prune-storage` is not needed, and its amounts may change."""
    repo.overlay(overlay("gpus: 16"))
    repo.job(JOB)
    assert rendered(repo)["spec"]["hard"][GPU] == "16"
    repo.overlay(overlay("gpus: 8"))
    assert rendered(repo)["spec"]["hard"][GPU] == "8"
    repo.overlay(overlay("gpus: 8").replace(", resourceQuota: true", ""))
    assert rendered(repo) is None


def test_engines_do_not_remove_it(repo: Repository) -> None:
    repo.overlay(overlay("gpus: 16"))
    annotations = rendered(repo)["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"
    assert annotations["kustomize.toolkit.fluxcd.io/prune"] == "disabled"


@pytest.mark.parametrize("change", ["edited", "removed", "of another namespace"])
def test_check_is_red_for_every_other_one(repo: Repository, change: str) -> None:
    repo.overlay(overlay("gpus: 16"))
    repo.job(JOB)
    text = rendered(repo) and repo.rendered()[FILE]
    if change == "edited":
        repo.write(f"rendered/{FILE}", text.replace('"16"', '"1600"'))
    elif change == "removed":
        (repo.root / "rendered" / FILE).unlink()
    else:
        repo.write(f"rendered/{FILE.replace('team', 'other')}", text.replace("namespace: team", "namespace: other"))
    assert repo.check()[1] == 1
