"""Which folders are overlays, and that nothing that was meant to be one is passed over in silence."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.report.findings.text import text
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
FILE = "overlay.yaml"


@pytest.fixture
def rendered(repo: Repository) -> Repository:
    repo.job(JOB)
    repo.overlay(OVERLAY, name="prod")
    assert repo.render()[1] == 0
    return repo


def replace(path: Path, make: Callable[[Path], object]) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    make(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda prod: (prod / FILE).unlink(), "overlays/prod:1:1: error: the folder has no `overlay.yaml`"),
        (lambda prod: (prod / FILE).rename(prod / "overlay.yml"), "    rename `overlay.yml` to `overlay.yaml`"),
        (lambda prod: (prod / FILE).rename(prod / "OVERLAY.YAML"), "    rename `OVERLAY.YAML` to `overlay.yaml`"),
        (lambda prod: (prod / FILE).rename(prod / "overlays.yaml"), "    rename `overlays.yaml` to `overlay.yaml`"),
        (lambda prod: (prod / FILE).rename(prod / "README.md"), "    add `overlay.yaml`, or remove the folder"),
        (
            lambda prod: replace(prod / FILE, lambda path: path.mkdir()),
            "overlays/prod/overlay.yaml:1:1: error: not a regular file",
        ),
        (
            lambda prod: replace(prod / FILE, lambda path: path.symlink_to("../dev/overlay.yaml")),
            "overlays/prod/overlay.yaml:1:1: error: not a regular file",
        ),
        (
            lambda prod: replace(prod, lambda path: path.symlink_to("dev")),
            "overlays/prod:1:1: error: links are not allowed",
        ),
        (
            lambda prod: replace(prod, lambda path: path.with_suffix(".yml").touch()),
            "    move it to overlays/prod/overlay.yaml",
        ),
        (lambda prod: prod.rename(prod.parent / "Prod"), "error: `Prod` is not a valid overlay name"),
        (lambda prod: prod.rename(prod.parent / "flux"), "error: reserved overlay name `flux`"),
        (lambda prod: prod.rename(prod.parent / "argocd"), "error: reserved overlay name `argocd`"),
        (lambda prod: prod.rename(prod.parent / ("a" * 64)), "is not a valid overlay name"),
    ],
)
def test_what_was_meant_to_be_an_overlay_is_a_finding_and_nothing_is_pruned(
    rendered: Repository, change: Callable[[Path], object], said: str
) -> None:
    before = rendered.rendered()
    change(rendered.root / "overlays/prod")
    for cache in (None, rendered.root / "cache"):
        report, code = rendered.render(cache=cache)
        assert code == 1
        assert said in text(report)
    assert rendered.rendered() == before


def test_hidden_folders_and_other_files_are_ignored(rendered: Repository) -> None:
    for path in (".git/x", ".cache/overlay.yaml", "README.md", ".DS_Store"):
        rendered.write(f"overlays/{path}", "x")
    report, code = rendered.check()
    assert (code, report.findings) == (0, ())


@pytest.mark.parametrize("text", [None, "abstract: true\n"])
def test_without_an_overlay_nothing_is_pruned(repo: Repository, text: str | None) -> None:
    repo.job(JOB)
    repo.render()
    before = repo.rendered()
    shutil.rmtree(repo.root / "overlays/dev")
    if text is not None:
        repo.overlay(text)
    for allow_empty in (False, True):
        with pytest.raises(UsageError, match="no overlay to render"):
            repo.render(allow_empty=allow_empty)
    assert repo.rendered() == before


def test_an_overlay_that_selects_no_job_any_more_prunes_only_on_request(repo: Repository) -> None:
    repo.job(JOB)
    repo.render()
    repo.overlay(OVERLAY + "select: {include: [none/*]}\n")
    with pytest.raises(UsageError, match="no overlay selects a job; refusing to remove all 1 rendered file"):
        repo.render()
    assert len(repo.rendered()) == 1
    assert repo.render(allow_empty=True)[1] == 0
    assert repo.rendered() == {}


def test_a_patch_behind_a_link_is_not_read(repo: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "patch.yaml").write_text("spec: {nprocPerNode: auto}\n")
    (repo.root / "overlays/dev/patches").symlink_to(outside)
    repo.overlay('kubernetes: "1.34"\npatches: [{target: {kind: PyTorchJob}, path: patches/patch.yaml}]\n')
    repo.job(JOB)
    report, code = repo.render()
    assert code == 1
    assert [f.message for f in report.findings] == ["folder `overlays/dev/patches` is a symbolic link"]


@pytest.mark.parametrize("path", ["x" * 5000, "a/" * 60 + "b", "patches", "overlay.yaml/x"])
def test_a_patch_that_can_be_no_file_is_a_finding(repo: Repository, path: str) -> None:
    (repo.root / "overlays/dev/patches").mkdir()
    repo.overlay(f'kubernetes: "1.34"\npatches: [{{target: {{kind: PyTorchJob}}, path: {path}}}]\n')
    repo.job(JOB)
    report, code = repo.render()
    assert code == 1
    assert len(report.findings) == 1
