"""Reading committed runs."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from gen.render.run import render
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    import pytest

SWEEP = "kind: batch\nimage: a:1\ncommand: 'x {{ params.seed }}'\nsweep: {matrix: {seed: [%s]}}\n"


def test_the_runs_of_long_sweeps_read_each_folder_once(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """More runs than one batch: if the two sweeps advanced together, each part would read it again."""
    repo.overlay(OVERLAY)
    for name in ("a", "b"):
        repo.job(SWEEP % ", ".join(map(str, range(40))), name=name)
    report, code = repo.render()
    assert code == 0, report
    repo.overlay(OVERLAY + "defaults: {env: {LEVEL: debug}}\n")
    listed: Counter[str] = Counter()
    real = os.listdir

    def counted(path: str) -> list[str]:
        listed[os.fspath(path).rpartition("/jobs/")[2]] += 1
        return real(path)

    monkeypatch.setattr("gen.render.committed.os.listdir", counted)
    assert len(render(repo.root, (), ()).behind) == 80
    assert {folder: listed[folder] for folder in ("team/a", "team/b")} == {"team/a": 1, "team/b": 1}
