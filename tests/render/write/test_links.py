"""Links, and files and folders in each other's place, are never followed or replaced."""

from __future__ import annotations

import shutil

import pytest

from gen.base.findings import UsageError
from tests.render.write.demo import JOB, RUN
from tests.support import Repository, tree


def test_a_link_in_the_place_of_ours_is_never_followed(rendered: Repository) -> None:
    outside = rendered.root.parent / "outside.yaml"
    outside.write_text((rendered.root / RUN).read_text())
    (rendered.root / RUN).unlink()
    (rendered.root / RUN).symlink_to(outside)
    rendered.job(JOB + "gpus: 1\n")
    assert rendered.render()[1] == 1
    assert "gpu" not in outside.read_text()


def test_a_folder_that_is_a_link_is_refused(repo: Repository) -> None:
    repo.job(JOB)
    outside = repo.root.parent / "outside"
    outside.mkdir()
    (repo.root / "rendered").mkdir()
    (repo.root / "rendered/dev").symlink_to(outside)
    with pytest.raises(UsageError, match="rendered/dev is not a regular folder"):
        repo.render()
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("narrowed", [(), ("team/demo",)])
@pytest.mark.parametrize("folder", ["rendered", "rendered/dev", "rendered/dev/jobs", "rendered/dev/jobs/team/demo"])
def test_nothing_is_compared_or_removed_through_a_linked_folder(
    rendered: Repository, folder: str, narrowed: tuple[str, ...]
) -> None:
    outside = rendered.root.parent / "outside"
    (rendered.root / folder).rename(outside)
    (rendered.root / folder).symlink_to(outside)
    before = tree(outside)
    rendered.job(JOB.replace("kind: pytorch", "kind: batch"))
    for command in (rendered.check, rendered.render):
        with pytest.raises(UsageError, match=f"{folder} is not a regular folder"):
            command(*narrowed)
    assert tree(outside) == before


def test_a_file_in_the_place_of_a_folder_is_reported(rendered: Repository) -> None:
    shutil.rmtree(rendered.root / "rendered/dev/jobs/team")
    rendered.write("rendered/dev/jobs/team", "a: b\n")
    with pytest.raises(UsageError, match="rendered/dev/jobs/team is not a regular folder"):
        rendered.render()


def test_a_folder_in_the_place_of_a_file_is_not_ours(rendered: Repository) -> None:
    (rendered.root / RUN).unlink()
    (rendered.root / RUN).mkdir()
    report, code = rendered.render()
    assert (code, [(f.code, f.place.file) for f in report.findings]) == (1, [("foreign-file", RUN)])
