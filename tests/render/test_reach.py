"""Places that a job requests, and those that exclude each other."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.support import Repository

NFS = "size: 1Gi, nfs: {server: a.example.com, path: /a}"
OVERLAY = f"""\
kubernetes: "1.34"
operators: {{mpi: kubeflow.org/v2beta1}}
accelerators: {{h100: {{nvidia: {{}}, perNode: 8}}}}
networks: {{host: {{hostNetwork: true}}}}
queues:
  near: {{kueue: {{localQueue: near, topology: {{required: topology.kubernetes.io/zone}}}}}}
  node: {{kueue: {{localQueue: node, topology: {{required: kubernetes.io/hostname}}}}}}
volumes:
  first: {{zone: z1, {NFS}}}
  second: {{zone: z2, {NFS}}}
  disk: {{size: 1Gi, local: {{path: /mnt, node: n1}}}}
  once: {{size: 1Gi, accessModes: [ReadWriteOnce], storageClass: fast}}
namespaces: {{team: {{allow: [local, hostNetwork], queues: [near, node], nodeLabels: ["*"]}}}}
"""
JOB = "image: registry.example.com/train:1\ncommand: train\nmemory: 1Gi\ntimeout: 1d\n"


def found(repo: Repository, job: str, kind: str = "batch", workers: int = 4) -> list[str]:
    repo.overlay(OVERLAY)
    repo.job(f"kind: {kind}\nworkers: {workers}\n{JOB}{job}")
    return repo.codes()


@for_each(
    "job",
    [
        "data: {first: /a, second: /b}\n",
        "data: {first: /a}\ninputs: {/in: {volume: second, path: x}}\n",
        "data: {first: /a}\nplacement: {zone: [z2, z3]}\n",
        "data: {first: /a}\nplacement: {nodeSelector: {topology.kubernetes.io/zone: z2}}\n",
        "data: {first: /a}\nplacement: {spread: zone}\n",
        "placement: {spread: zone}\nqueue: near\n",
        "placement: {spread: node, nodeSelector: {kubernetes.io/hostname: [n1, n2, n3]}}\n",
        "gpus: 4\ndata: {disk: /d}\n",
        "network: host\ndata: {disk: /d}\n",
        "network: host\nqueue: node\n",
        "gpus: 4\nplacement: {nodeSelector: {kubernetes.io/hostname: n1}}\n",
    ],
)
def test_places_that_exclude_each_other(repo: Repository, job: str) -> None:
    assert found(repo, job) == ["no-node"]


@for_each(
    "job",
    [
        "data: {first: /a}\nplacement: {zone: [z1, z2]}\n",
        "data: {first: /a, disk: /d}\n",
        "data: {first: /a}\nplacement: {spread: node}\n",
        "placement: {spread: node}\nqueue: near\n",
        "placement: {spread: node, nodeSelector: {kubernetes.io/hostname: [n1, n2, n3, n4]}}\n",
        "gpus: 2\ndata: {disk: /d}\n",
        "network: host\nqueue: near\n",
        "data: {once: /o}\nplacement: {nodeSelector: {kubernetes.io/hostname: n1}}\n",
    ],
)
def test_places_that_agree(repo: Repository, job: str) -> None:
    assert found(repo, job) == []


def test_a_launcher_needs_no_node_of_its_own(repo: Repository) -> None:
    roles = "roles: {launcher: {cpu: 1, memory: 1Gi}}\n"
    assert found(repo, f"data: {{disk: /d}}\nplacement: {{spread: node}}\n{roles}", "mpi", 1) == ["no-effect"]
    assert found(repo, f"gpus: 8\ndata: {{disk: /d}}\n{roles}", "mpi", 1) == []


@pytest.mark.parametrize(
    ("job", "workers", "code"),
    [("", 1, []), ("", 2, ["one-node-claim"]), ("tensorboard: true\n", 1, ["one-node-claim"])],
)
def test_a_claim_of_one_node(repo: Repository, job: str, workers: int, code: list[str]) -> None:
    assert found(repo, f"data: {{once: /o}}\n{job}", workers=workers) == code
