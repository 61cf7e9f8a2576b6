"""A job, and an overlay that grants nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support import Repository

HEAD = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ntimeout: 1d\n"
MIXED = "cpu: 1\nmemory: 1Gi\ngpus: 1\nworkers: 2\nroles: {master: {gpus: 0, cpu: 1, memory: 1Gi}}\n"
OVERLAY = 'kubernetes: "1.34"\nnamespaces:\n  team: {}\n'


def granted(repo: Repository, grant: str) -> None:
    repo.overlay(OVERLAY.replace("{}", grant))


def codes(repo: Repository, text: str) -> list[str]:
    repo.job(HEAD + text)
    return repo.codes()
