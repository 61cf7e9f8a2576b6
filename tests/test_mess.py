"""After any damage to a repository, a run reports it, writes nothing outside, and leaves clean files."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.report.formats import REPORTERS
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /data}\n"
NAMES = (
    *("overlay.yaml", "overlay.yml", "dev", "flux", "jobs", "storage", ".gen.tmp", ".hidden", "team", "demo.yaml"),
    *("x.yaml", "x.YAML", "a.json", "\udcff", "\n", "é.yaml", "-", "x" * 200, "pytorchjob-demo.yaml"),
)


class Mess:
    """Changes a repository at random; links lead into a copy of it outside."""

    def __init__(self, root: Path, outside: Path, seed: int) -> None:
        self.root, self.outside = root, outside
        self.random = random.Random(seed)  # noqa: S311 - the same each time
        self.makers: tuple[Callable[[Path], object], ...] = (
            lambda path: path.write_text(self.random.choice((JOB, OVERLAY, "", "x"))),
            lambda path: path.write_bytes(self.random.randbytes(40)),
            lambda path: shutil.copy(outside / "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml", path),
            lambda path: path.symlink_to(self.random.choice(list(outside.rglob("*")))),
            lambda path: path.symlink_to("/dev/zero"),
            lambda path: path.symlink_to(path),
            os.mkdir,
            os.mkfifo,
        )

    def once(self) -> None:
        path = self.random.choice([path for path in self.root.rglob("*") if not self._linked(path)])
        with suppress(OSError):
            if self.random.random() < 0.3:
                path.rename(path.parent / self.random.choice(NAMES))
                return
            if self.random.random() < 0.5:
                path = (path if path.is_dir() else path.parent) / self.random.choice(NAMES)
            if not self._linked(path):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
                self.random.choice(self.makers)(path)

    def _linked(self, path: Path) -> bool:
        return any(step.is_symlink() for step in (path, *path.parents))


def snapshot(folder: Path) -> list[tuple[Path, bytes]]:
    return sorted((path, path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*"))


SEEDS = [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 60))]


@pytest.mark.parametrize("seed", SEEDS)
def test_any_mess_ends_in_findings_or_a_refusal(repo: Repository, tmp_path: Path, seed: int) -> None:
    for name in ("demo", "two"):
        repo.job(JOB, name=name)
    repo.overlay(OVERLAY, name="prod")
    repo.render(cache=tmp_path / "cache")
    outside = tmp_path / "outside"
    shutil.copytree(repo.root, outside)
    before = snapshot(outside)
    mess = Mess(repo.root, outside, seed)
    for _ in range(mess.random.randint(1, 4)):
        mess.once()
    for jobs in ((), ("team/demo",), ("jobs/team",)):
        for cache in (tmp_path / "cache", None):
            for command in (repo.check, repo.render):
                with suppress(UsageError):
                    report, code = command(*jobs, cache=cache)
                    assert all(reporter(report).encode() for reporter in REPORTERS.values())
                    if command == repo.render and code == 0:
                        assert repo.check(*jobs)[1] == 0
    assert snapshot(outside) == before
