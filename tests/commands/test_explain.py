"""`gen explain --pods`: the pods of a job, without a cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.commands.explain import Request, run
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository


def test_the_pods_of_a_job(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.job("kind: pytorch\nimage: a:1\ncommand: train\nworkers: 2\ngpus: 8\n")
    monkeypatch.chdir(repo.root)
    text = run(Request(name="team/demo", pods=True)).output
    assert text.startswith("rendered/dev/jobs/team/demo/pytorchjob-demo.yaml\n  demo-")
    assert "-worker-0  nvidia.com/gpu: 8\n    init-pytorch (init): alpine:3.10\n    pytorch: a:1\n" in text
    assert " MASTER_ADDR " in text
    with pytest.raises(UsageError, match="--pods"):
        run(Request(pods=True))


@for_each(
    ("name", "hint"),
    [
        ("overlay.network", "did you mean `overlay.networks`?"),
        ("tf", "did you mean `tensorflow`?"),
        ("demo", "it is a job; `gen explain demo --pods` lists its pods"),
        ("team/demo", "it is a job; `gen explain team/demo --pods` lists its pods"),
        ("workrs", "did you mean `workers`?"),
    ],
)
def test_a_name_that_nothing_has_gets_the_one_that_was_meant(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, name: str, hint: str
) -> None:
    repo.job("kind: batch\nimage: a:1\ncommand: train\n")
    monkeypatch.chdir(repo.root)
    with pytest.raises(UsageError, match=re.escape(hint)):
        run(Request(name=name))


def test_a_field_of_the_kinds_of_its_parent_does_not_repeat_them() -> None:
    text = run(Request(name="roles.worker")).output
    assert "Only for kind batch, jax.\n" in text
    assert "\nimage <image>\n" in text
    assert "image <image> (kind" not in text
