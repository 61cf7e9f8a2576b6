"""`gen explain --pods`: the pods of a job, without a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.commands.explain import Request, run

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
