"""Secrets in patches of any form and place are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gen.report.findings.text import text
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
HEAD = 'kubernetes: "1.34"\npatches:\n  - target: {kind: PyTorchJob}\n'
VALUE = "hunter2-hunter2"
CONTAINER = {"name": "pytorch", "env": [{"name": "WANDB_TOKEN", "value": VALUE}]}
MERGE = json.dumps({"spec": {"pytorchReplicaSpecs": {"Master": {"template": {"spec": {"containers": [CONTAINER]}}}}}})
OPERATION = json.dumps(
    [
        {
            "op": "add",
            "path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/env",
            "value": CONTAINER["env"],
        }
    ]
)
KEY = json.dumps({"metadata": {"annotations": {"a": "AKIA" + "ABCDEFGHIJKLMNOP"}}})


@for_each(("patch", "what"), [(MERGE, "WANDB_TOKEN"), (OPERATION, "WANDB_TOKEN"), (KEY, "an AWS access key")])
@for_each("form", ["    patch: {}\n", "    patch: |\n      {}\n", "    path: patches/a.yaml\n"])
def test_a_secret_in_a_patch_is_found_once_at_its_place(repo: Repository, form: str, patch: str, what: str) -> None:
    repo.overlay(HEAD + form.replace("{}", patch))
    repo.write("overlays/dev/patches/a.yaml", patch)
    repo.job(JOB)
    (finding,) = repo.render()[0].findings
    assert finding.code == "secret-value"
    assert what in finding.message
    assert finding.place.column > 30
    assert VALUE not in text(repo.render()[0])


def test_a_reference_is_no_secret(repo: Repository) -> None:
    entry = {"name": "WANDB_TOKEN", "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "token"}}}
    repo.overlay(HEAD + "    patch: " + MERGE.replace(json.dumps(CONTAINER["env"]), json.dumps([entry])) + "\n")
    repo.job(JOB)
    assert repo.codes() == []
