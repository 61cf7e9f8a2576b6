"""Devices by claims (DRA): templates of runs, API versions, quotas, and kinds without claims in pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import KINDS
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.demand import claimed_devices, demand
from tests.cases import for_each
from tests.overlay.profiles.accelerators.test_profiles import messages, overlay

if TYPE_CHECKING:
    from tests.support import Repository

DRA: dict[str, Any] = {"h100": {"dra": {"deviceClass": "gpu.nvidia.com"}}}
SIMPLE = "image: a:1\ncommand: python train.py\ngpus: 2\nmemory: 64Gi\n"
WITH_PODS = sorted(name for name, kind in KINDS.items() if not kind.own_fields and kind.facts.nodes is None)


def rendered(
    repo: Repository, job: str, fields: dict[str, Any] = DRA, kubernetes: str = "1.34"
) -> list[dict[str, Any]]:
    text = overlay(fields, queues=["q"]).replace("1.34", kubernetes)
    repo.overlay(f"{text}pipelines: {{argo: {{serviceAccount: gen}}}}\n")
    repo.job(job)
    report, code = repo.render()
    assert code == 0, report.findings
    return [yaml.safe_load(text) for path, text in sorted(repo.rendered().items()) if "/jobs/" in path]


@for_each("kind", WITH_PODS)
def test_every_kind_with_pod_templates_has_claims(repo: Repository, kind: str) -> None:
    bodies = rendered(repo, f"kind: {kind}\n{SIMPLE}")
    (template,) = [body for body in bodies if body["kind"] == "ResourceClaimTemplate"]
    name = f"demo-{template['metadata']['labels']['gen/run']}"
    (run,) = [body for body in bodies if body["metadata"]["name"] == name and body["kind"] != "Service"]
    facts = resource_of_object(run["apiVersion"], run["kind"])
    assert facts is not None
    assert template["metadata"]["name"] == f"{run['metadata']['name']}-h100-2"
    assert template["spec"]["spec"]["devices"]["requests"] == [
        {"name": "devices", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}
    ]
    assert template["metadata"]["name"] in yaml.safe_dump(run)
    counted = demand(run, facts, {})
    assert counted.accelerators == {"h100": counted.gpus}
    assert counted.gpus >= 2


def test_ray_gets_the_number_of_gpus(repo: Repository) -> None:
    run = rendered(repo, f"kind: ray\n{SIMPLE}")[0]
    (group,) = run["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert group["rayStartParams"] == {"num-gpus": "2"}


@pytest.mark.parametrize(("kubernetes", "version"), [("1.34", "v1"), ("1.35", "v1"), ("1.33", "v1beta2")])
def test_the_version_of_kubernetes_decides_the_api_version(repo: Repository, kubernetes: str, version: str) -> None:
    bodies = rendered(repo, f"kind: pytorch\n{SIMPLE}", kubernetes=kubernetes)
    assert {body["apiVersion"] for body in bodies if body["kind"] == "ResourceClaimTemplate"} == {
        f"resource.k8s.io/{version}"
    }


def test_older_versions_have_no_claims(repo: Repository) -> None:
    repo.overlay(overlay(DRA).replace("1.34", "1.32"))
    assert messages(repo, "gpus: 2\n") == [
        "invalid-value: `dra` requires Kubernetes 1.33 or later, and the cluster has 1.32"
    ]


def test_a_kind_without_pod_templates_is_refused(repo: Repository) -> None:
    repo.overlay(overlay(DRA))
    repo.job(f"kind: train\nruntime: torch-distributed\n{SIMPLE}")
    found = [item.message for item in repo.render()[0].findings]
    assert "a TrainJob has no field for claims of devices" in found


def test_selectors_are_checked(repo: Repository) -> None:
    for selector in ("device.driver ==", "", "x" * 11_000, "(" * 500 + "x" + ")" * 500):
        fields = {"h100": {"dra": {"deviceClass": "gpu.nvidia.com", "selectors": [selector]}}}
        repo.overlay(overlay(fields))
        (finding,) = repo.render()[0].findings
        assert "expected a CEL expression" in finding.message
        assert finding.place.file == "overlays/dev/overlay.yaml"


def test_a_resource_quota_counts_the_devices_of_the_class(repo: Repository) -> None:
    repo.overlay(overlay(DRA, accelerators={"h100": 16}, resourceQuota=True))
    repo.job(f"kind: pytorch\n{SIMPLE}")
    report, code = repo.render()
    assert code == 0, report.findings
    quota = repo.one("ResourceQuota")
    assert quota["spec"]["hard"] == {"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "16"}


def test_authors_cannot_change_the_number(repo: Repository) -> None:
    repo.overlay(overlay(DRA, accelerators={"h100": 2}, metadata=["gen/*"]))
    assert any("gen/devices" in message for message in messages(repo, 'gpus: 2\npodLabels: {gen/devices: "0"}\n'))


@for_each(
    "pod",
    [
        {},
        {"metadata": {"labels": {"gen/devices": "8"}}},
        {"metadata": {"labels": {"gen/devices": "-8"}}, "spec": {"resourceClaims": [{}]}},
        {"metadata": {"labels": {"gen/devices": "9" * 99}}, "spec": {"resourceClaims": [{}]}},
        {"metadata": {"labels": {"gen/devices": 8}}, "spec": {"resourceClaims": [{}]}},
        {"metadata": [], "spec": 3},
    ],
)
def test_other_pods_claim_nothing(pod: dict[str, Any]) -> None:
    assert claimed_devices(pod) == 0


def test_steps_trials_and_schedules_have_templates(repo: Repository) -> None:
    steps = f"kind: pipeline\n{SIMPLE}timeout: 1h\nsteps: {{a: {{kind: batch}}, b: {{kind: pytorch, needs: [a]}}}}\n"
    bodies = rendered(repo, steps)
    names = [body["metadata"]["name"] for body in bodies if body["kind"] == "ResourceClaimTemplate"]
    (workflow,) = [body for body in bodies if body["kind"] == "Workflow"]
    text = yaml.safe_dump(workflow, width=1 << 20)
    assert len(names) == 2
    assert all(f'\\"resourceClaimTemplateName\\": \\"{name}\\"' in text or name in text for name in names)

    bodies = rendered(repo, f'kind: batch\n{SIMPLE}timeout: 1h\nschedule: "0 3 * * *"\n')
    (template,) = [body for body in bodies if body["kind"] == "ResourceClaimTemplate"]
    assert template["metadata"]["name"].startswith("demo-")
    assert template["metadata"]["name"] in yaml.safe_dump(bodies)
