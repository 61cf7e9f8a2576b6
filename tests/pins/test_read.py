"""A lock can only fix the content of the images and the code of its job."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from gen.base.findings import Findings
from gen.base.repository.layout import JobFile
from gen.pins.lock import read_lock
from tests.support import OVERLAY

if TYPE_CHECKING:
    from tests.support import Repository

JOB = (
    "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python code/train/train.py\n"
    "code: {git: https://git.example.com/team/train.git, ref: main}\n"
)
DIGEST, COMMIT = "sha256:" + "0123456789abcdef" * 4, "0123456789abcdef0123456789abcdef01234567"
IMAGE, URL = "registry.example.com/train:1", "https://git.example.com/team/train.git"
LOCK = f"images:\n  {IMAGE}: {IMAGE}@{DIGEST}\ncode:\n  {URL}:\n    main: {COMMIT}\n"


class Attack(NamedTuple):
    """A lock of a stranger, the finding, and its line."""

    name: str
    lock: str
    code: str = "invalid-lock"
    line: int = 2
    refused: bool = True
    """Otherwise it has no effect, and is a warning."""


ATTACKS = (
    Attack("another image", f"images:\n  {IMAGE}: registry.example.com/evil:1@{DIGEST}\n"),
    Attack("another registry", f"images:\n  {IMAGE}: evil.example.com/train:1@{DIGEST}\n"),
    Attack("another tag", f"images:\n  {IMAGE}: registry.example.com/train:2@{DIGEST}\n"),
    Attack("a longer name", f"images:\n  {IMAGE}: {IMAGE}.evil.example.com/a@{DIGEST}\n"),
    Attack("an image that the job does not have", f"images:\n  evil:1: evil:1@{DIGEST}\n", "unused-pin", refused=False),
    Attack("no digest", f"images:\n  {IMAGE}: {IMAGE}\n"),
    Attack("a short digest", f"images:\n  {IMAGE}: {IMAGE}@sha256:0123\n"),
    Attack("a digest of another function", f"images:\n  {IMAGE}: {IMAGE}@md5:{'0' * 64}\n"),
    Attack("two digests", f"images:\n  {IMAGE}: {IMAGE}@{DIGEST}@{DIGEST}\n"),
    Attack("a digest and a line", f'images:\n  {IMAGE}: "{IMAGE}@{DIGEST}\\n"\n'),
    Attack("a pinned key", f"images:\n  {IMAGE}@{DIGEST}: {IMAGE}@{DIGEST}@{DIGEST}\n"),
    Attack("a path", f"images:\n  ../../etc/passwd: ../../etc/passwd@{DIGEST}\n"),
    Attack("an expression", f"images:\n  '{{{{ run.id }}}}': '{{{{ run.id }}}}@{DIGEST}'\n"),
    Attack("a list of images", f"images:\n  - {IMAGE}@{DIGEST}\n", line=1),
    Attack("the same image twice", f"images:\n  {IMAGE}: {IMAGE}@{DIGEST}\n  {IMAGE}: a\n", "duplicate-key", 3),
    Attack("a branch for a branch", f"code:\n  {URL}:\n    main: evil\n", line=3),
    Attack("an option", f"code:\n  {URL}:\n    main: --upload-pack=id\n", line=3),
    Attack("a short commit", f"code:\n  {URL}:\n    main: {COMMIT[:12]}\n", line=3),
    Attack("a commit in upper case", f"code:\n  {URL}:\n    main: {COMMIT.upper()}\n", line=3),
    Attack(
        "another repository", f"code:\n  https://evil.example.com/a.git:\n    main: {COMMIT}\n", "unused-pin", 3, False
    ),
    Attack("another ref", f"code:\n  {URL}:\n    evil: {COMMIT}\n", "unused-pin", 3),
    Attack("a commit without a ref", f"code:\n  {URL}: {COMMIT}\n"),
    Attack("a commit of the image", f"images:\n  {IMAGE}: {COMMIT}\n"),
    Attack("a field of the job", "command: id\n", line=1),
    Attack("updates of a kind", "updates: maybe\n", line=1),
    Attack("a list", "- a\n", line=1),
    Attack("an anchor", f"images: &a\n  {IMAGE}: {IMAGE}@{DIGEST}\n", "anchor", 1),
    Attack("two documents", f"{LOCK}---\nimages: {{}}\n", "many-documents", 6),
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_on_a_lock_has_a_finding_and_no_effect(attack: Attack, repo: Repository) -> None:
    repo.job(JOB)
    repo.write("jobs/team/demo.lock", attack.lock)
    report, code = repo.render()
    assert code == (1 if attack.refused else 0)
    findings = [finding for finding in report.findings if finding.place.file == "jobs/team/demo.lock"]
    assert (attack.code, attack.line) in [(finding.code, finding.place.line) for finding in findings]
    assert all(finding.hint for finding in findings)
    rendered = repo.rendered()
    assert not (attack.refused and rendered)
    assert not any(DIGEST in text or COMMIT in text for text in rendered.values())


def test_the_lock_without_an_attack_is_accepted(repo: Repository) -> None:
    repo.job(JOB)
    repo.write("jobs/team/demo.lock", LOCK)
    assert repo.render()[1] == 0
    (run,) = (text for path, text in repo.rendered().items() if "pytorchjob" in path)
    assert f"image: {IMAGE}@{DIGEST}" in run
    assert f'value: "{COMMIT}"' in run


def test_a_change_of_an_image_of_the_platform_needs_no_new_locks(repo: Repository) -> None:
    image = "registry.k8s.io/git-sync/git-sync:v4.7.1"
    repo.overlay(OVERLAY + "pins: required\n")
    repo.job(JOB)
    repo.write("jobs/team/demo.lock", LOCK.replace("images:\n", f"images:\n  {image}: {image}@{DIGEST}\n"))
    assert repo.render()[1] == 0
    other = f"mirror.example.com/tools/sync:5@{DIGEST}"
    repo.overlay(OVERLAY + f"pins: required\ncodeSync: {{gitImage: '{other}'}}\n")
    assert "unused-pin" in repo.codes()
    assert repo.render()[1] == 0
    repo.job(JOB.replace("train:1", "train:2"))
    report, code = repo.render()
    assert code == 1
    assert [one.code for one in report.findings if one.is_error] == ["mutable-ref"]


def test_a_link_is_not_followed(repo: Repository) -> None:
    repo.job(JOB)
    repo.write("elsewhere", LOCK)
    (repo.root / "jobs/team/demo.lock").symlink_to(repo.root / "elsewhere")
    assert repo.codes() == ["not-a-file"]


def test_a_pin_of_another_job_has_no_effect(repo: Repository) -> None:
    """A lock without a job is refused, and the lock of another job pins nothing here."""
    repo.job(JOB)
    repo.job(JOB.replace("train:1", "train:2"), name="other")
    repo.write("jobs/team/other.lock", LOCK.replace("train:1", "train:2"))
    assert repo.render()[1] == 0
    assert [path for path, text in repo.rendered().items() if DIGEST in text] == [
        "dev/jobs/team/other/pytorchjob-other.yaml"
    ]
    repo.write("jobs/team/third.lock", LOCK)
    assert set(repo.codes()) == {"lock-without-job", "mutable-ref"}


def test_a_job_without_a_lock_has_no_pins(repo: Repository) -> None:
    repo.job(JOB)
    lock = read_lock(repo.root, JobFile("team", "demo"), Findings())
    assert lock is not None
    assert (lock.images, lock.commits, lock.updates) == ({}, {}, False)


@pytest.mark.slow
def test_a_lock_with_thousands_of_mistakes_has_few_findings(repo: Repository) -> None:
    """Each looks for its place in the file."""
    repo.job(JOB)
    for lock in (
        "images:\n" + "".join(f"  a:{number}: a:{number}@{DIGEST}\n" for number in range(9000)),
        "images:\n" + "".join(f"  a:{number}: a\n" for number in range(9000)),
        "".join(f"a{number}: b\n" for number in range(9000)),
        f"code:\n  {URL}:\n" + "".join(f"    a{number}: b\n" for number in range(9000)),
        "images:\n" + "".join(f"  a:{number}: a\n" for number in range(20_000)),
    ):
        repo.write("jobs/team/demo.lock", lock)
        assert 1 <= len([code for code in repo.codes() if code != "mutable-ref"]) <= 20
