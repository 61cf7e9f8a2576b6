"""A repository of jobs with a real registry and a real Git server."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gen.commands import pin
from tests.pins.servers import Registry, git, git_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from gen.report.formats import Report
    from tests.support import Repository


class World:
    """A repository of jobs, a registry and a Git server."""

    def __init__(self, repo: Repository, registry: Registry, git_url: str, work: Path) -> None:
        self.repo, self.registry, self.git_url, self.work = repo, registry, git_url, work
        self.host = registry.host

    @property
    def lock(self) -> str:
        return (self.repo.root / "jobs/team/demo.lock").read_text("utf-8")

    def push(self, content: str) -> str:
        (self.work / "file").write_text(content, "utf-8")
        git("add", "file", folder=self.work)
        git("commit", "--quiet", "-m", content, folder=self.work)
        git("push", "--quiet", "origin", "main", folder=self.work)
        return git("rev-parse", "HEAD", folder=self.work)


@contextmanager
def world_of(repo: Repository, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)  # the authorities of the system take 20 ms
    for name, tag in (("train", "1"), ("git-sync", "4"), ("tensorboard", "2")):
        registry.image(name, tag, str(tmp_path))
    bare = tmp_path / "git/train.git"
    bare.mkdir(parents=True)
    git("init", "--quiet", "--bare", "--initial-branch=main", bare)
    git("clone", "--quiet", bare, tmp_path / "work")
    git("checkout", "--quiet", "-B", "main", folder=tmp_path / "work")
    with git_server(tmp_path / "git") as address:
        one = World(repo, registry, f"{address}/train.git", tmp_path / "work")
        one.push("one")
        repo.overlay(
            'kubernetes: "1.34"\npins: required\nnamespaces: {"*": {}}\nvolumes: {data: {claim: data}}\n'
            f"codeSync: {{gitImage: '{one.host}/git-sync:4'}}\ntensorboard: {{image: '{one.host}/tensorboard:2'}}\n"
        )
        repo.job(
            f"kind: pytorch\nimage: {one.host}/train:1\ncommand: a\ncode: {{git: '{one.git_url}', ref: main}}\n"
            "data: {data: /data}\ntensorboard: {logdir: /data}\n"
        )
        yield one


def pinned(repo: Repository, *jobs: str, **options: Any) -> tuple[Report, int]:
    result = pin.run(pin.Request(root=repo.root, jobs=jobs, request_timeout=5, **options))
    return result.output, result.exit_code
