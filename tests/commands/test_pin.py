"""`gen pin` with a real registry and a real Git server, and renders without them."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from gen.report.findings.text import text
from tests.adversary.watch import watched
from tests.commands.pins import World, pinned, world_of
from tests.pins import servers
from tests.pins.servers import git, running_registry
from tests.support import Repository, tree

if TYPE_CHECKING:
    from pathlib import Path


def test_a_job_is_pinned_and_renders_without_any_network(world: World) -> None:
    repo, host = world.repo, world.host
    assert repo.render()[1] == 1, "pins are required"
    report, code = pinned(repo)
    assert code == 0, text(report)
    assert report.summary.startswith("Pin images and code of team/demo\n")
    commit = git("rev-parse", "HEAD", folder=world.work)
    assert re.findall(r"(?m)^  (\S+): (\S+)@sha256:[0-9a-f]{64}$", world.lock) == [
        (f"{host}/{name}", f"{host}/{name}") for name in ("git-sync:4", "tensorboard:2", "train:1")
    ]
    assert f"  {world.git_url}:\n    main: {commit}\n" in world.lock
    before = world.lock
    with watched() as heard:
        assert repo.render()[1] == 0
        assert repo.check()[1] == 0
    assert [one for one in heard if one.startswith(("network", "process"))] == []
    assert pinned(repo)[0].summary == "all pins are up to date"
    assert world.lock == before


def test_a_render_is_the_same_with_both_servers_away(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if servers.REGISTRY is None:
        pytest.skip("needs docker-registry, a package of Debian")
    with running_registry(tmp_path / "registry") as registry, world_of(repo, registry, tmp_path, monkeypatch):
        assert pinned(repo)[1] == 0
        assert repo.render()[1] == 0
    before = tree(repo.root / "rendered")
    shutil.rmtree(repo.root / "rendered")
    with watched() as heard:
        assert repo.render()[1] == 0
    assert [one for one in heard if one.startswith(("network", "process"))] == []
    assert tree(repo.root / "rendered") == before
    run = next(text for path, text in before.items() if "pytorchjob" in path)
    assert len(re.findall(r"image: \S+@sha256:[0-9a-f]{64}\"?\n", run)) == 2
    assert pinned(repo, check=True)[1] == 1, "the servers are away"


def test_tags_and_branches_that_move(world: World) -> None:
    repo = world.repo
    assert pinned(repo)[1] == 0
    assert repo.render()[1] == 0
    before = repo.rendered()
    assert pinned(repo, check=True)[1] == 0
    world.registry.image("train", "1", "another")
    old = git("rev-parse", "HEAD", folder=world.work)
    new = world.push("two")
    report, code = pinned(repo, check=True)
    assert code == 1
    assert sorted({finding.code for finding in report.findings}) == ["moved-pin"]
    assert {finding.place.file for finding in report.findings} == {"jobs/team/demo.lock"}
    assert f"moved from `{old}` to `{new}`" in text(report)
    assert pinned(repo)[0].summary == "all pins are up to date", "without --update, pins stay"
    report, code = pinned(repo, update=True)
    assert code == 0
    assert report.summary.startswith("Move pins of team/demo\n")
    assert f" main`: `{old[:12]} → {new[:12]}`" in report.summary
    assert pinned(repo, check=True)[1] == 0
    assert repo.render()[1] == 0
    assert repo.rendered() != before


def test_images_and_commits_that_are_missing(world: World) -> None:
    repo = world.repo
    repo.job(
        f"kind: pytorch\nimage: {world.host}/train:gone\ncommand: a\ncode: {{git: '{world.git_url}', ref: gone}}\n"
    )
    report, code = pinned(repo)
    assert code == 1
    assert [(finding.code, finding.place.line) for finding in report.findings] == [
        ("missing-image", 2),
        ("missing-commit", 4),
    ]
    assert "git-sync:4" in world.lock, "the others are pinned"
    digest = f"sha256:{'0' * 64}"
    repo.write("jobs/team/demo.lock", f"images:\n  {world.host}/git-sync:4: {world.host}/git-sync:4@{digest}\n")
    report, _ = pinned(repo, check=True)
    assert ("missing-image", "jobs/team/demo.lock") in [(one.code, one.place.file) for one in report.findings]


def test_a_digest_and_a_commit_in_the_job_are_checked(world: World) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    world.repo.job(
        f"kind: pytorch\nimage: {world.host}/train@sha256:{'0' * 64}\ncommand: a\n"
        f"code: {{git: '{world.git_url}', ref: '{commit}'}}\n"
    )
    assert pinned(world.repo)[1] == 0
    report, code = pinned(world.repo, check=True)
    assert code == 1
    assert sorted(finding.code for finding in report.findings) == ["missing-commit", "missing-image"]


def test_an_image_for_another_platform(world: World) -> None:
    world.registry.image("arm", "1", "a", "arm64")
    job = f"kind: pytorch\nimage: {world.host}/arm:1\ncommand: a\n"
    world.repo.job(job)
    report, code = pinned(world.repo)
    assert code == 1
    assert [finding.code for finding in report.findings] == ["wrong-platform"]
    assert pinned(world.repo, platform=("linux/arm64",))[1] == 0
    assert [finding.code for finding in pinned(world.repo, check=True)[0].findings] == ["wrong-platform"]


def test_the_nodes_of_a_job_decide_its_platform(world: World) -> None:
    world.registry.image("arm", "1", "a", "arm64")
    world.repo.overlay('kubernetes: "1.34"\nnamespaces: {"*": {nodeLabels: ["*"]}}\n')
    job = f"kind: pytorch\nimage: {world.host}/arm:1\ncommand: a\n"
    world.repo.job(job + "placement: {nodeSelector: {kubernetes.io/arch: arm64}}\n")
    report, code = pinned(world.repo)
    assert code == 0, text(report)


def test_mirrors_must_have_the_same_digest(world: World) -> None:
    repo, host = world.repo, world.host
    overlay = (repo.root / "overlays/dev/overlay.yaml").read_text("utf-8")
    repo.overlay(f"{overlay}images: [{{from: {host}/train, to: {host}/mirror/train}}]\n", name="prod")
    world.registry.image("mirror/train", "1", "another content")
    report, code = pinned(repo)
    assert code == 1
    assert [finding.code for finding in report.findings] == ["mirrors-differ"]
    world.registry.image("mirror/train", "1", "the same")
    world.registry.image("train", "1", "the same")
    assert pinned(repo)[1] == 0
    assert f"{host}/train:1: {host}/train:1@" in world.lock
    assert repo.render()[1] == 0
    assert f"{host}/mirror/train:1@sha256:" in repo.rendered()["prod/jobs/team/demo/pytorchjob-demo.yaml"]


def test_a_long_name_is_pinned(world: World) -> None:
    name = "a" * 150
    world.registry.image(name, "on", "a")
    world.repo.overlay('kubernetes: "1.34"\nnamespaces: {"*": {}}\n')
    world.repo.job(f"kind: pytorch\nimage: {world.host}/{name}:on\ncommand: a\n")
    assert pinned(world.repo)[1] == 0
    assert world.repo.codes() == []
    assert pinned(world.repo)[0].summary == "all pins are up to date"


def test_servers_that_are_away_are_findings(repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    port = servers.free_port()
    repo.overlay(f"kubernetes: '1.34'\nnamespaces: {{'*': {{}}}}\ncodeSync: {{gitImage: '127.0.0.1:{port}/sync:1'}}\n")
    repo.job(
        f"kind: pytorch\nimage: 127.0.0.1:{port}/train:1\ncommand: a\ncode: {{git: 'http://127.0.0.1:{port}/a.git'}}\n"
    )
    report, code = pinned(repo)
    assert code == 1
    assert {finding.code for finding in report.findings} == {"remote-unreachable"}
    assert all(finding.hint for finding in report.findings)
    assert not (repo.root / "jobs/team/demo.lock").exists()
