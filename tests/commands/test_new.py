"""New job files: where they may be written, and under which names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.commands import new
from gen.commands.new import new_job
from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path


@for_each("kind", list(KINDS))
def test_a_name_is_as_long_as_one_that_renders_and_no_longer(repo: Repository, kind: str) -> None:
    with pytest.raises(UsageError, match=r"is too long: at most") as refused:
        new_job(repo.root, kind, "x" * 60, "1st")
    room = int(str(refused.value).rsplit(" characters", 1)[0].rsplit(" ", 1)[1])
    job = new_job(repo.root, kind, "x" * room, "1st")
    assert set(repo.codes()) <= {"no-deadline", "no-limits", "mutable-ref"}  # fields that an author has to add
    (repo.root / job.file).rename(repo.root / f"jobs/1st/{'x' * (room + 1)}.yaml")
    assert set(repo.codes()) - {"mutable-ref"} == {"name-too-long"}


@pytest.mark.parametrize("link", ["jobs/team", "jobs/team/x.yaml"])
def test_nothing_is_written_through_a_link(repo: Repository, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.root / link).parent.mkdir(exist_ok=True)
    (repo.root / link).symlink_to(outside / "new.yaml" if link.endswith(".yaml") else outside)
    for namespace in ("team", None):
        with pytest.raises(UsageError, match=r"is a symbolic link|already exists|no jobs yet"):
            new_job(repo.root, "pytorch", "x", namespace)
    assert list(outside.iterdir()) == []


def test_a_file_that_appears_meanwhile_is_kept(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def late(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            repo.write("jobs/team/x.yaml", "kept")
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", late)
    with pytest.raises(UsageError, match=r"jobs/team/x.yaml already exists"):
        new_job(repo.root, "pytorch", "x", "team")
    assert (repo.root / "jobs/team/x.yaml").read_text() == "kept"


def test_a_file_in_the_place_of_the_namespace_is_reported(repo: Repository) -> None:
    repo.write("jobs/team", "x")
    with pytest.raises(UsageError, match="jobs/team is not a folder; move it"):
        new_job(repo.root, "pytorch", "x", "team")


def test_a_namespace_that_no_overlay_knows_gets_a_near_one(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\nnamespaces: {vision: {}}\n')
    with pytest.raises(UsageError, match=r"namespace `visoin` has no grants in any overlay: did you mean `vision`\?"):
        new_job(repo.root, "pytorch", "x", "visoin")
    assert not (repo.root / "jobs/visoin").exists()
    assert new_job(repo.root, "pytorch", "x", "vision").file == "jobs/vision/x.yaml"


@pytest.mark.parametrize("text", ["namespaces: [", "abstract: true\n", 'kubernetes: "1.34"\nnamespaces: {"*": {}}\n'])
def test_a_namespace_is_taken_where_it_cannot_be_known(repo: Repository, text: str) -> None:
    repo.overlay(text)
    assert new_job(repo.root, "pytorch", "x", "vision").file == "jobs/vision/x.yaml"


@for_each(
    "steps",
    [
        "",
        "steps: [a]\n",
        "steps: {a: b}\n",
        "steps: {a: {kind: [x]}}\n",
        "steps: {}\n",
        "steps: {a: {kind: pipeline}}\n",
    ],
)
def test_a_template_with_steps_of_any_form_is_copied(repo: Repository, steps: str) -> None:
    """Templates come from repositories of others, and `gen render` reports what is wrong with them."""
    repo.write("templates/flow.yaml", f"kind: pipeline\nimage: registry.example.com/a:1\n{steps}")
    new.run(new.Request(kind="fresh", template="flow", namespace="team", root=repo.root))
    assert repo.render()[1] == 1


@for_each(
    ("kind", "hint"),
    [
        ("sweep", "`sweep` is a field of jobs, not a kind: see `gen explain sweep`"),
        ("tensorboard", "`tensorboard` is a field of jobs, not a kind"),
        ("PyTorchJob", "did you mean `pytorch`?"),
        ("tf", "did you mean `tensorflow`?"),
    ],
)
def test_a_kind_that_is_none_gets_what_was_meant(repo: Repository, kind: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        new_job(repo.root, kind, "x", "team")
    assert hint in str(refused.value)
