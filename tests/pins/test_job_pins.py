"""Texts of locks: additions keep comments, and gen reads the pinned values."""

from __future__ import annotations

import random

from gen.base.findings import Findings
from gen.base.repository.layout import JobFile
from gen.pins.job_pins import lock_text
from gen.pins.lock import Lock, read_lock
from tests.support import Repository

JOB = JobFile("team", "demo")
DIGEST, COMMIT = f"sha256:{'a' * 64}", "b" * 40
OLD = (
    f"# mine\nupdates: true\nimages:\n  # why\n  a:1: a:1@{DIGEST}  # end\n  b.example.com:5000/c:x: "
    f"b.example.com:5000/c:x@{DIGEST}\ncode:\n  https://git.example.com/a.git:\n    main: {COMMIT}\n"
)
PARTS = (":", "\n", "  ", "- ", "{", "}", "'", '"', "@", "#", "? ", "|", "\t", "%", "&a ", "*a", "true", "é", "---\n")


def parsed(repo: Repository, text: str) -> Lock | None:
    repo.write(JOB.lock, text)
    return read_lock(repo.root, JOB, Findings())


def test_comments_stay_and_entries_are_sorted() -> None:
    images = {"a:1": DIGEST, "b.example.com:5000/c:x": DIGEST, "a:0": DIGEST}
    text = lock_text("team/demo", images, {("https://git.example.com/a.git", "main"): "c" * 40}, OLD, updates=True)
    added = OLD.replace("  # why\n", f"  # why\n  a:0: a:0@{DIGEST}\n", 1)
    assert sorted(text.splitlines()) == sorted(added.replace(COMMIT, "c" * 40).splitlines())
    assert text.index("a:0:") < text.index("a:1:")


def test_any_valid_lock_can_be_changed(repo: Repository) -> None:
    """Also one that another reader of YAML refuses, such as with a tab in a name."""
    chosen, valid = random.Random(7), 0  # noqa: S311 - not a secret
    for _ in range(500):
        at = chosen.randrange(len(OLD))
        end = at + chosen.choice((0, 0, 1, 8))
        old = OLD[:at] + chosen.choice(PARTS) + OLD[end:]
        lock = parsed(repo, old)
        if lock is None:
            continue
        valid += 1
        images, commits = {**lock.images, "z:9": DIGEST}, {**lock.commits, ("https://x.example.com/y", "on"): COMMIT}
        again = parsed(repo, lock_text(JOB.key, images, commits, old, updates=lock.updates))
        assert again is not None, old
        assert (again.images, again.commits, again.updates) == (images, commits, lock.updates), old
    assert valid > 50
