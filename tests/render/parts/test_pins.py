"""Pins in rendered runs: changed fields and started runs."""

from __future__ import annotations

import re

import pytest

from gen.base.findings import Severity
from tests.support import OVERLAY, Repository

GIT_SYNC = "registry.k8s.io/git-sync/git-sync:v4.7.1"
URL = "https://git.example.com/team/train.git"
JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
WITH_CODE = JOB.replace("train.py", "code/train/train.py")
CODE = f"code: {{git: {URL}, ref: main}}\n"


def digest(letter: str) -> str:
    return f"sha256:{letter * 64}"


def lock(images: dict[str, str], commit: str = "") -> str:
    lines = [f"  {image}: {image}@{digest(letter)}" for image, letter in images.items()]
    code = ["code:", f"  {URL}:", f"    main: {commit * 40}"] if commit else []
    return "\n".join(["images:" if lines else "images: {}", *lines, *code, ""])


IMAGE = "registry.example.com/train:1"


def runs(repo: Repository) -> list[str]:
    """Names of the runs after a render that must succeed."""
    report, code = repo.render()
    assert code == 0, report
    return sorted(
        re.findall(r"(?m)^  name: (\S+)", text)[0] for path, text in repo.rendered().items() if "pytorchjob" in path
    )


def text_of_run(repo: Repository) -> str:
    (text,) = (text for path, text in repo.rendered().items() if "pytorchjob" in path)
    return text


def test_a_first_pin_keeps_the_run_and_one_that_moves_starts_another(repo: Repository) -> None:
    repo.job(JOB)
    first = runs(repo)
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a"}))
    assert runs(repo) == first
    assert digest("a") not in text_of_run(repo)
    repo.render("team/demo", restart=True)
    pinned = runs(repo)
    assert pinned != first
    assert f"{IMAGE}@{digest('a')}" in text_of_run(repo)
    assert runs(repo) == pinned
    repo.write("jobs/team/demo.lock", lock({IMAGE: "b"}))
    moved = runs(repo)
    assert moved not in (first, pinned)
    assert digest("b") in text_of_run(repo)
    (repo.root / "jobs/team/demo.lock").unlink()
    assert runs(repo) == first, "without the pin it is the run of the tag again"


def test_a_pin_of_a_new_job_is_in_its_first_run(repo: Repository) -> None:
    repo.job(WITH_CODE + CODE)
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a", GIT_SYNC: "b"}, "c"))
    runs(repo)
    text = text_of_run(repo)
    assert f"image: {GIT_SYNC}@{digest('b')}" in text
    assert f'value: "{"c" * 40}"' in text or f"value: {'c' * 40}" in text
    assert "value: main" not in text


def test_a_commit_that_moves_starts_another_run(repo: Repository) -> None:
    repo.job(WITH_CODE + CODE)
    repo.write("jobs/team/demo.lock", lock({}, "c"))
    before = runs(repo)
    repo.write("jobs/team/demo.lock", lock({}, "d"))
    assert runs(repo) != before


def test_a_pin_of_a_container_of_the_platform_keeps_the_run(repo: Repository) -> None:
    repo.job(WITH_CODE + CODE)
    repo.write("jobs/team/demo.lock", lock({GIT_SYNC: "a"}))
    before = runs(repo)
    repo.write("jobs/team/demo.lock", lock({GIT_SYNC: "b"}))
    assert runs(repo) == before
    assert digest("a") in text_of_run(repo)


def test_a_change_of_the_overlay_keeps_runs_with_pins(repo: Repository) -> None:
    repo.job(JOB)
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a"}))
    before = runs(repo)
    repo.overlay(OVERLAY + "images: [{from: registry.example.com/, to: mirror.example.com/}]\n")
    assert runs(repo) == before
    repo.render("team/demo", restart=True)
    assert f"mirror.example.com/train:1@{digest('a')}" in text_of_run(repo)


def test_a_finished_run_is_a_record_for_any_pins(repo: Repository) -> None:
    repo.job(JOB)
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a"}))
    before = runs(repo)
    repo.job(f"{JOB}state: finished\n")
    repo.write("jobs/team/demo.lock", lock({IMAGE: "b"}))
    assert runs(repo) == before
    assert digest("a") in text_of_run(repo)


def test_a_moved_pin_starts_only_the_runs_of_a_sweep_that_have_it(repo: Repository) -> None:
    repo.job(
        "kind: pytorch\nimage: 'registry.example.com/train:{{ params.tag }}'\ncommand: python train.py\n"
        "sweep: {matrix: {tag: [1, 2]}}\n"
    )
    other = "registry.example.com/train:2"
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a", other: "a"}))
    before = runs(repo)
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a", other: "b"}))
    assert len(before) == 2
    assert len(set(before) & set(runs(repo))) == 1


def test_a_moved_pin_of_a_step_starts_the_pipeline_again(repo: Repository) -> None:
    repo.job(f"kind: pipeline\nsteps:\n  train: {{kind: batch, image: '{IMAGE}', command: a}}\n")

    def name() -> str:
        assert repo.render()[1] == 0
        (text,) = (text for path, text in repo.rendered().items() if "workflow" in path)
        return str(re.findall(r"(?m)^  name: (\S+)", text)[0])

    repo.write("jobs/team/demo.lock", lock({IMAGE: "a"}))
    before = name()
    repo.write("jobs/team/demo.lock", lock({IMAGE: "b"}))
    assert name() != before


def test_a_schedule_takes_its_first_pin_in_place(repo: Repository) -> None:
    repo.job(f"kind: batch\nimage: {IMAGE}\ncommand: a\ntimeout: 1h\nschedule: '0 3 * * *'\n")
    assert repo.render()[1] == 0
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a"}))
    assert repo.render()[1] == 0
    (text,) = (text for path, text in repo.rendered().items() if "cronjob" in path)
    assert digest("a") in text


@pytest.mark.parametrize(("demand", "severity"), [("required", Severity.ERROR), ("warn", Severity.WARNING)])
def test_without_a_pin_everything_that_can_change_is_reported(
    demand: str, severity: Severity, repo: Repository
) -> None:
    repo.overlay(f"{OVERLAY}pins: {demand}\n")
    repo.job(f"{WITH_CODE}{CODE}data: {{data: /data}}\ntensorboard: {{logdir: /data}}\n")
    found = [finding for finding in repo.render()[0].findings if finding.code == "mutable-ref"]
    assert [finding.severity for finding in found] == [severity] * 4
    named = " ".join(finding.message for finding in found)
    assert all(name in named for name in (IMAGE, GIT_SYNC, "`main`", "tensorflow/tensorflow:2.20.0"))


@pytest.mark.parametrize("demand", ["required", "warn", "code", "off"])
def test_a_digest_and_a_full_commit_need_no_lock(demand: str, repo: Repository) -> None:
    full = f"@{digest('a')}"
    repo.overlay(f"{OVERLAY}pins: {demand}\ncodeSync: {{gitImage: '{GIT_SYNC}{full}'}}\n")
    repo.job(f"{WITH_CODE.replace('train:1', f'train:1{full}')}code: {{git: {URL}, ref: {'c' * 40}}}\n")
    assert repo.codes() == []


def test_code_that_can_change_is_reported_by_default(repo: Repository) -> None:
    repo.job(WITH_CODE + CODE)
    (finding,) = repo.render()[0].findings
    assert (finding.code, finding.severity) == ("mutable-ref", Severity.WARNING)
    assert "`main`" in finding.message
    repo.write("jobs/team/demo.lock", lock({}, "c"))
    assert repo.codes() == []


@pytest.mark.parametrize("demand", ["required", "warn", "code"])
def test_a_finished_job_needs_no_pins(demand: str, repo: Repository) -> None:
    repo.job(WITH_CODE + CODE)
    repo.render()
    repo.overlay(f"{OVERLAY}pins: {demand}\n")
    repo.job(f"{WITH_CODE}{CODE}state: finished\n")
    assert repo.codes() == []


def test_off_reports_nothing_and_uses_pins(repo: Repository) -> None:
    repo.overlay(f"{OVERLAY}pins: off\n")
    repo.job(WITH_CODE + CODE)
    assert repo.codes() == []
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a"}))
    repo.render("team/demo", restart=True)
    assert digest("a") in text_of_run(repo)


def test_an_image_with_a_name_from_the_run_cannot_be_pinned(repo: Repository) -> None:
    repo.overlay(f"{OVERLAY}pins: required\n")
    repo.job("kind: pytorch\nimage: 'registry.example.com/train:{{ run.hash }}'\ncommand: python train.py\n")
    (finding,) = repo.render()[0].findings
    assert "depends on the run" in finding.message


def test_a_tag_in_a_grant_does_not_grant_digests(repo: Repository) -> None:
    """The digest decides, and the author of a job chooses it."""
    repo.overlay(f'kubernetes: "1.34"\nnamespaces: {{team: {{registries: ["{IMAGE}"]}}}}\n')
    repo.job(JOB)
    assert repo.codes() == []
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a"}))
    (finding,) = repo.render()[0].findings
    assert finding.code == "not-granted"
    assert f"add `{IMAGE}@{digest('a')}`" in finding.hint
    repo.overlay(f'kubernetes: "1.34"\nnamespaces: {{team: {{registries: ["{IMAGE}@{digest("a")}"]}}}}\n')
    assert repo.render("team/demo", restart=True)[1] == 0
    assert repo.codes() == []
    repo.overlay('kubernetes: "1.34"\nnamespaces: {team: {registries: ["registry.example.com/train"]}}\n')
    assert repo.codes() == []


def test_pins_that_only_another_overlay_uses_are_used(repo: Repository) -> None:
    repo.job(JOB.replace("image: registry.example.com/train:1\n", ""))
    repo.overlay(f"{OVERLAY}defaults: {{image: '{IMAGE}'}}\n")
    repo.overlay(f"{OVERLAY}defaults: {{image: 'registry.example.com/train:2'}}\n", name="prod")
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a", "registry.example.com/train:2": "b"}))
    assert repo.codes() == []
    assert repo.render(overlay=("dev",))[1] == 0
    texts = repo.rendered()
    for overlay, letter in (("dev", "a"), ("prod", "b")):
        assert digest(letter) in texts[f"{overlay}/jobs/team/demo/pytorchjob-demo.yaml"]


def test_a_changed_lock_is_not_taken_from_the_cache(repo: Repository) -> None:
    cache = repo.root.parent / "cache"
    repo.job(JOB)
    repo.write("jobs/team/demo.lock", lock({IMAGE: "a"}))
    for letter in "abb":
        repo.write("jobs/team/demo.lock", lock({IMAGE: letter}))
        assert repo.render(cache=cache)[1] == 0
        assert digest(letter) in text_of_run(repo)
    (repo.root / "jobs/team/demo.lock").unlink()
    assert repo.check(cache=cache)[1] == 1
    repo.write("jobs/team/demo.lock", "images: []\n")
    assert repo.render(cache=cache)[1] == 1


@pytest.mark.parametrize(
    "digest", [f"md5:{'0' * 32}", f"sha256:{'A' * 64}", f"sha256:{'0' * 63}", f"sha512:{'0' * 64}"]
)
def test_a_digest_that_no_runtime_checks_is_not_a_pin(digest: str, repo: Repository) -> None:
    repo.overlay(f"{OVERLAY}pins: required\n")
    repo.job(JOB.replace("train:1", f"train:1@{digest}"))
    assert repo.codes() == ["mutable-ref"]
