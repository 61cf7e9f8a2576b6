"""Files of overlays: chains of `extends`, and the cluster of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.base.findings import Findings
from gen.base.repository.layout import overlay_file
from gen.overlay.files import OverlayFiles

if TYPE_CHECKING:
    from tests.support import Repository

RENDERED = "rendered/dev/jobs/team/demo/service-demo.yaml"


@pytest.fixture
def based(repo: Repository) -> Repository:
    repo.overlay('abstract: true\nkubernetes: "1.31"\n', name="base")
    repo.overlay("extends: base\n")
    (repo.root / "overlays/base/crds").mkdir()
    return repo


def files(repo: Repository) -> OverlayFiles:
    return OverlayFiles(repo.root, Findings())


def test_a_chain_has_the_files_and_definitions_of_what_is_extended(based: Repository) -> None:
    chain = files(based).chain("dev")
    assert chain.complete
    assert [source.file for source in chain.sources] == [overlay_file("dev"), overlay_file("base")]
    assert chain.definitions == (based.root / "overlays/base/crds",)


@pytest.mark.parametrize("base", ["dev", "none", "../dev"])
def test_a_chain_that_ends_nowhere_is_not_complete(repo: Repository, base: str) -> None:
    repo.overlay(f'kubernetes: "1.31"\nextends: {base}\n')
    reader = files(repo)
    chain = reader.chain("dev")
    assert not chain.complete
    assert [source.file for source in chain.sources] == [overlay_file("dev")]
    assert [finding.code for finding in reader.found] == ["extends-itself" if base == "dev" else "unknown-overlay"]


@pytest.mark.parametrize("file", [RENDERED, "overlays/dev/patches/a.yaml"])
def test_the_cluster_of_a_file_has_the_inherited_version(based: Repository, file: str) -> None:
    cluster = files(based).cluster_of(f"{based.root}/{file}")
    assert cluster is not None
    assert (cluster.kubernetes, cluster.definitions) == ("1.31", (based.root / "overlays/base/crds",))


def test_other_files_have_no_cluster(based: Repository) -> None:
    for file in ("jobs/team/demo.yaml", "rendered/flux/dev/alert-dev.yaml", "rendered/none/jobs/team/demo/a.yaml"):
        assert files(based).cluster_of(f"{based.root}/{file}") is None
    assert files(based).cluster_of(f"/elsewhere/{RENDERED}") is None


def test_each_run_reads_the_files_again(based: Repository) -> None:
    file = f"{based.root}/{RENDERED}"
    before = files(based)
    assert before.cluster_of(file) is before.cluster_of(file)
    based.overlay('kubernetes: "1.34"\nextends: base\n')
    after = files(based).cluster_of(file)
    assert after is not None
    assert after.kubernetes == "1.34"
