"""Job files before their plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.base.findings import Route, near
from gen.base.yaml.source import FoundRoute, Source
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pytest


def test_positions_are_read_only_for_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions cost as much as reading the file."""
    repo = Repository.at(tmp_path)
    repo.overlay(OVERLAY)
    repo.job("kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\ntimeout: 1h\n", name="sound")
    read: list[str] = []
    find = Source.find

    def noted(source: Source, route: Route) -> FoundRoute:
        read.append(source.file)
        return find(source, route)

    monkeypatch.setattr(Source, "find", noted)
    report, code = repo.render()
    assert (code, report.findings) == (0, ())
    assert read == []

    repo.job("kind: batch\nimage: registry.example.com/train:1\ncomand: python train.py\n", name="broken")
    assert repo.render()[1] == 1
    assert "jobs/team/broken.yaml" in read
    assert "jobs/team/sound.yaml" not in read


def test_a_hint_is_looked_up_once_for_all_runs_of_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repository.at(tmp_path)
    repo.job(
        "kind: batch\nimage: a:1\ncommand: x\ntimeout: 1h\nnonsense: 1\nsweep: {matrix: {a: [1, 2, 3, 4, 5, 6]}}\n"
    )
    seen: list[str] = []

    def noted(word: str, known: Iterable[str]) -> str:
        seen.append(word)
        return near(word, known)

    monkeypatch.setattr("gen.job.suggest.near", noted)
    assert "unknown-field" in [one.code for one in repo.render()[0].findings]
    assert 0 < seen.count("nonsense") <= 2  # with its value, and without
