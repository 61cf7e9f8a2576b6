"""A job with a search, and parts of its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

GRANT = "search: {maxTrials: 30, parallelTrials: 9}"
OVERLAY = """\
kubernetes: "1.34"
runtimes: {{torch-distributed: {{}}, deepspeed-distributed: {{}}}}
namespaces: {{team: {{{grant}, queues: [research]}}}}
volumes: {{nas: {{claim: nas}}}}
katib: {{trialResources: [MPIJob.v2beta1.kubeflow.org, JobSet.v1alpha2.jobset.x-k8s.io]}}
{more}"""
JOB = """\
kind: {kind}
image: registry.example.com/train:1
command: python train.py --lr {{{{ params.lr }}}}
metrics: [loss]
search: {{minimize: loss, params: {{lr: {space}}}, maxTrials: 4}}
{more}"""


def overlay(repo: Repository, more: str = "", grant: str = GRANT) -> None:
    repo.overlay(OVERLAY.format(more=more, grant=grant))


def job(repo: Repository, more: str = "", kind: str = "pytorch", space: str = "[0.1, 0.2]") -> None:
    repo.job(JOB.format(kind=kind, more=more, space=space))


def experiment(repo: Repository) -> dict[str, Any]:
    body: dict[str, Any] = repo.one("Experiment")
    return body


def trial(repo: Repository) -> dict[str, Any]:
    body: dict[str, Any] = experiment(repo)["spec"]["trialTemplate"]["trialSpec"]
    return body


def containers(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield from value.get("containers", []) if isinstance(value.get("containers"), list) else []
        for inner in value.values():
            yield from containers(inner)
    for inner in value if isinstance(value, list) else ():
        yield from containers(inner)
