"""`/dev/shm` of pods with GPUs: half of their memory, by default."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Repository

JOB = "kind: pytorch\nimage: a:1\ncommand: train\n"


def shared(repo: Repository, more: str, overlay: str = "") -> Any:
    repo.overlay(f'kubernetes: "1.34"\nvolumes: {{own: {{emptyDir: {{}}}}}}\n{overlay}')
    repo.job(JOB + more)
    pod = repo.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    mounts = {one["mountPath"]: one["name"] for one in pod["containers"][0].get("volumeMounts", ())}
    volumes = {one["name"]: one.get("emptyDir") for one in pod.get("volumes", ())}
    return volumes[mounts["/dev/shm"]] if "/dev/shm" in mounts else None  # noqa: S108 - a mount point


@pytest.mark.parametrize(
    ("memory", "size"), [("256Gi", "128Gi"), ("15Gi", "7680Mi"), ("600M", "286Mi"), ("1025Mi", "512Mi")]
)
def test_half_of_the_memory(repo: Repository, memory: str, size: str) -> None:
    assert shared(repo, f"gpus: 8\nmemory: {memory}\n") == {"medium": "Memory", "sizeLimit": size}


@pytest.mark.parametrize(
    ("more", "overlay", "size"),
    [
        ("gpus: 1\nmemory: 8Gi\nsharedMemory: 1Gi\n", "", "1Gi"),
        ("gpus: 1\nmemory: 8Gi\n", "accelerators: {a: {nvidia: {}, sharedMemory: 2Gi}}\n", "2Gi"),
        ("gpus: 1\nmemory: 8Gi\n", "defaults: {sharedMemory: 3Gi}\n", "3Gi"),
    ],
)
def test_another_size(repo: Repository, more: str, overlay: str, size: str) -> None:
    assert shared(repo, more, overlay)["sizeLimit"] == size


@pytest.mark.parametrize("more", ["memory: 8Gi\n", "gpus: 1\n"])
def test_without_gpus_or_without_memory(repo: Repository, more: str) -> None:
    assert shared(repo, more) is None


def test_a_volume_of_the_job_there(repo: Repository) -> None:
    assert shared(repo, "gpus: 1\nmemory: 8Gi\ndata: {own: /dev/shm}\n") == {}
