"""What `gen pin` keeps, adds and removes in locks."""

from __future__ import annotations

import re

from tests.commands.pins import World, pinned


def test_an_edited_image_and_a_removed_one_leave_the_lock(world: World) -> None:
    assert pinned(world.repo)[1] == 0
    before = world.lock.replace("images:", "# a comment\nimages:")
    world.repo.write("jobs/team/demo.lock", f"updates: true\n{before}")
    world.registry.image("train", "2", "a")
    world.repo.job(f"kind: pytorch\nimage: {world.host}/train:2\ncommand: a\n")
    assert world.repo.codes().count("unused-pin") == 0, "one error at a time: the new image has no pin"
    assert pinned(world.repo)[1] == 0
    assert re.findall(r"(?m)^  (\S+):", world.lock) == [f"{world.host}/train:2"]
    assert "updates: true\n" in world.lock
    assert "# a comment\n" in world.lock
    assert world.repo.render()[1] == 0


def test_only_jobs_that_ask_for_updates(world: World) -> None:
    repo = world.repo
    repo.job(f"kind: pytorch\nimage: {world.host}/train:1\ncommand: a\n", name="other")
    assert pinned(repo)[1] == 0
    repo.write("jobs/team/other.lock", "updates: true\n" + (repo.root / "jobs/team/other.lock").read_text("utf-8"))
    world.registry.image("train", "1", "moved")
    before = world.lock
    message = repo.root / "message"
    assert pinned(repo, update=True, asking=True, message=message)[1] == 0
    assert message.read_text("utf-8").startswith("Move pins of team/other\n")
    assert world.lock == before
    assert pinned(repo, update=True, asking=True, message=message)[1] == 0
    assert message.read_text("utf-8") == ""


def test_an_invalid_lock_is_written_again(world: World) -> None:
    world.repo.write("jobs/team/demo.lock", "images: [a]\n")
    report, code = pinned(world.repo, check=True)
    assert (code, [finding.code for finding in report.findings]) == (1, ["invalid-lock"])
    assert pinned(world.repo)[1] == 0
    assert world.repo.render()[1] == 0


def test_a_link_in_the_place_of_a_lock_stays(world: World) -> None:
    elsewhere = world.repo.write("elsewhere", "a")
    (world.repo.root / "jobs/team/demo.lock").symlink_to(elsewhere)
    report, code = pinned(world.repo)
    assert (code, [finding.code for finding in report.findings]) == (1, ["not-a-file"])
    assert elsewhere.read_text("utf-8") == "a"
    assert (world.repo.root / "jobs/team/demo.lock").is_symlink()


def test_a_lock_without_its_last_pin_is_valid(world: World) -> None:
    digest = f"sha256:{'0' * 64}"
    world.repo.overlay('kubernetes: "1.34"\nnamespaces: {"*": {}}\n')
    world.repo.job(f"kind: pytorch\nimage: {world.host}/train@{digest}\ncommand: a\n")
    world.repo.write("jobs/team/demo.lock", f"# mine\nimages:\n  a:1: a:1@{digest}\n")
    assert pinned(world.repo)[1] == 0
    assert world.lock.startswith("# mine\n")
    assert world.repo.codes() == []


def test_a_job_with_an_error_is_reported_and_the_others_are_pinned(world: World) -> None:
    world.repo.job("kind: pytorch\nimage: {}\ncommand: a\n", name="broken")
    report, code = pinned(world.repo)
    assert code == 1
    assert {finding.place.file for finding in report.findings} == {"jobs/team/broken.yaml"}
    assert "train:1" in world.lock
    assert not (world.repo.root / "jobs/team/broken.lock").exists()


def test_a_finished_job_keeps_its_lock(world: World) -> None:
    assert pinned(world.repo)[1] == 0
    before = world.lock
    path = world.repo.root / "jobs/team/demo.yaml"
    path.write_text(path.read_text("utf-8") + "state: finished\n", "utf-8")
    world.registry.image("train", "1", "moved again")
    assert pinned(world.repo, update=True)[1] == 0
    assert world.lock == before
