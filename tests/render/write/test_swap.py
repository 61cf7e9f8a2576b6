"""Killed at any moment, a run leaves each file old or new, and the next run ends as if nothing had happened."""

from __future__ import annotations

import fcntl
import os
import signal
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from tests import forks
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

JOB = "kind: batch\nimage: registry.example.com/train:{tag}\ncommand: python train.py\ndata: {{nas: /data}}\n"

# dies before the n-th call that changes the disk, as a kill in that moment would
KILLER = """
import os, signal, sys
from pathlib import Path
limit, calls = int(sys.argv[1]), 0
def deadly(function):
    def wrapped(*args, **kwargs):
        global calls
        calls += 1
        if calls > limit:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return wrapped
for name in ("rename", "unlink", "rmdir", "mkdir"):
    setattr(os, name, deadly(getattr(os, name)))
real_open = os.open
def deadly_open(path, flags, *args, **kwargs):
    return (deadly(real_open) if flags & os.O_CREAT else real_open)(path, flags, *args, **kwargs)
os.open = deadly_open
from gen.commands.render import Request, render
from gen.render import run
run.STAGED_JOBS = int(sys.argv[3])
render(Request(root=Path(sys.argv[2]), parallel=1))
os._exit(0)
"""


def jobs(repo: Repository, tags: dict[str, int]) -> None:
    for path in (repo.root / "jobs").rglob("*.yaml"):
        path.unlink()
    for name, tag in tags.items():
        repo.job(JOB.format(tag=tag), name=name)


def killed(repo: Repository, limit: int, staged: int) -> bool:
    arguments = (str(limit), repo.root, str(staged))
    done = forks.ran(*arguments, script=KILLER, cwd=repo.root, env=os.environ)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize("staged", [1, 1000], ids=["while it renders", "after all checks"])
def test_a_killed_run_leaves_whole_files_and_the_next_one_finishes(tmp_path: Path, staged: int) -> None:
    undisturbed = Repository.at(tmp_path / "undisturbed")
    jobs(undisturbed, {"a": 1, "b": 1, "c": 1})
    undisturbed.render()
    old = undisturbed.rendered()
    jobs(undisturbed, {"a": 2, "c": 1, "d": 1})
    undisturbed.render()
    new = undisturbed.rendered()
    limit = 0
    while True:
        repo = Repository.at(tmp_path / f"killed-{limit}")
        jobs(repo, {"a": 1, "b": 1, "c": 1})
        repo.render()
        jobs(repo, {"a": 2, "c": 1, "d": 1})
        died = killed(repo, limit, staged)
        for path, text in repo.rendered().items():
            assert path.startswith(".gen.tmp/") or text in (old.get(path), new.get(path)), path
        repo.render()
        assert repo.rendered() == new
        assert not (repo.root / "rendered/.gen.tmp").exists()
        if not died:
            break
        limit += 1
    assert limit > 10, "the run was killed at each of its steps"


def test_two_runs_do_not_write_at_once(repo: Repository) -> None:
    jobs(repo, {"a": 1})
    (repo.root / "rendered").mkdir()
    descriptor = os.open(repo.root / "rendered", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another `gen render`"):
            repo.render()
    finally:
        os.close(descriptor)
    assert repo.render()[1] == 0


def test_new_folders_are_renamed_with_their_files_before_any_file_is_replaced(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs(repo, {"a": 1})
    assert repo.render()[1] == 0
    jobs(repo, {"a": 2, "b": 1})
    renamed: list[str] = []
    rename = os.rename

    def noted(source: str, target: str) -> None:
        renamed.append(os.path.relpath(target, repo.root / "rendered/dev/jobs/team"))
        rename(source, target)

    monkeypatch.setattr(os, "rename", noted)
    assert repo.render()[1] == 0
    assert renamed == ["b", "a/job-a.yaml", "a/service-a.yaml"]
    assert repo.check()[1] == 0
