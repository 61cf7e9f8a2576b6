"""Checking files in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.kubernetes.check import files
from gen.kubernetes.check.files import ManifestChecker, check_batch
from gen.kubernetes.manifests.files import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def test_a_large_file_does_not_wait_in_memory_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcd":
        (tmp_path / name).write_text(CONFIG)
    (tmp_path / "c").write_text(CONFIG + f"data: {{a: {'b' * 200_000}}}\n")
    batches = []

    def noted(examine: Any, read: Any) -> object:
        batches.append(len(read))
        return check_batch(examine, read)

    monkeypatch.setattr(files, "check_batch", noted)
    counts: list[int] = []
    paths = [str(tmp_path / name) for name in "abcd"]
    checked = ManifestChecker(tuple(paths)).check_files(paths, counts.append)
    assert ([one.objects for one in checked], batches, counts) == ([1, 1, 1, 1], [2, 1, 1], [4])


def test_a_file_that_only_names_policies_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are read again for policies and what these refer to."""
    reads: list[str] = []

    def noted(file: str) -> bytes:
        reads.append(file)
        return read_bytes(file)

    monkeypatch.setattr(files, "read_bytes", noted)
    path = tmp_path / "a.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: ValidatingAdmissionPolicy}\n")
    assert files.ManifestChecker((str(path),)).run().findings.items == []
    assert reads == [str(path)]
