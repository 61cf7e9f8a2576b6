"""What labels and annotations a job may set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\nworkers: 2\n"


@for_each(
    ("text", "code"),
    [
        ("annotations: {argocd.argoproj.io/sync-options: Prune=false}\n", "reserved-metadata"),
        ("labels: {gen/job: other}\n", "reserved-metadata"),
        ("podLabels: {kueue.x-k8s.io/queue-name: rich}\n", "reserved-metadata"),
        ("podLabels: {replica-type: master}\n", "reserved-metadata"),
        ("podAnnotations: {k8s.aliyun.com/eni: 'true'}\n", "not-granted"),
        ("roles: {worker: {podAnnotations: {k8s.aliyun.com/eni: 'true'}}}\n", "not-granted"),
        ("roles: {worker: {podLabels: {argocd.argoproj.io/instance: x}}}\n", "reserved-metadata"),
        ("annotations: {k8s.v1.cni.cncf.io/networks: fast}\n", "pod-metadata"),
        ("annotations: {example.org/owner: fast}\n", "not-granted"),
        ("podLabels: {service: api}\n", "not-granted"),
        ("roles: {worker: {podLabels: {service: api}}}\n", "not-granted"),
        ("labels: {team: 'a b'}\n", "invalid-label"),
        ("roles: {worker: {podLabels: {team: 'a b'}}}\n", "invalid-label"),
    ],
)
def test_what_steers_others_is_not_a_jobs(repo: Repository, text: str, code: str) -> None:
    repo.job(JOB + text)
    assert repo.codes() == [code]
    assert repo.rendered() == {}


@pytest.mark.parametrize(
    "text",
    [
        "labels: {service: a}\n",
        "podLabels: {team: a}\n",
        "annotations: {example.com/owner: me}\n",
        "roles: {worker: {podAnnotations: {example.com/owner: me}}}\n",
        "labels: {run: '{{ run.hash }}'}\n",
    ],
)
def test_plain_and_granted_keys_are(repo: Repository, text: str) -> None:
    repo.job(JOB + text)
    assert repo.codes() == []


def test_defaults_of_the_owner_need_no_grant_and_grant_nothing(repo: Repository) -> None:
    repo.overlay(
        'kubernetes: "1.34"\ndefaults:\n  podAnnotations: {example.org/a: "1"}\n  annotations: {example.org/b: "2"}\n'
    )
    repo.job(JOB)
    assert repo.codes() == []
    repo.job(JOB + "podAnnotations: {example.org/a: '3'}\nannotations: {example.org/b: '4'}\n")
    assert repo.codes() == ["not-granted", "not-granted"]
