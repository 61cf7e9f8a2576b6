"""Pins that move in a plan: tag, digests, commits, and the page that compares them."""

from __future__ import annotations

import pytest

from tests.history import JOB, History, branch

IMAGE = "registry.example.com/train:1"
URL = "https://github.com/team/train.git"
OLD, NEW = "a" * 64, "b" * 64


def lock(digit: str) -> str:
    return f"images:\n  {IMAGE}: {IMAGE}@sha256:{digit * 64}\ncode:\n  {URL}:\n    main: {digit * 40}\n"


@pytest.fixture
def moved(history: History) -> History:
    """Two jobs and a pipeline with changed pins."""
    code = f"code: {{git: {URL}, ref: main}}\n"
    for name in ("a", "b"):
        history.job(JOB + code, name=name)
    history.job(f"kind: pipeline\nsteps:\n  one: {{kind: batch, image: '{IMAGE}', command: x}}\n", name="steps")
    image_only = lock("a").partition("code:")[0]
    for name in ("a", "b"):
        history.write(f"jobs/team/{name}.lock", lock("a"))
    history.write("jobs/team/steps.lock", image_only)
    branch(history)
    for name in ("a", "b"):
        history.write(f"jobs/team/{name}.lock", lock("b"))
    history.write("jobs/team/steps.lock", image_only.replace("a" * 64, "b" * 64))
    return history


def test_a_moved_pin_is_a_new_run_with_old_and_new(moved: History) -> None:
    report = moved.report()
    assert report["summary"]["runs"]["replaced"] == 3
    page = f"https://github.com/team/train/compare/{'a' * 40}...{'b' * 40}"
    assert report["pins"] == [
        {"name": URL, "before": "a" * 40, "after": "b" * 40, "link": page, "objects": 2},
        {"name": IMAGE, "before": f"sha256:{OLD}", "after": f"sha256:{NEW}", "link": "", "objects": 3},
    ]


@pytest.mark.parametrize(
    ("form", "title"), [("text", "moved pins (2)"), ("markdown", "Moved pins (2)"), ("html", "<h2>Moved pins")]
)
def test_people_see_them(form: str, title: str, moved: History) -> None:
    text = moved.report(form)
    assert title in text
    for part in (IMAGE, f"sha256:{OLD[:12]}", f"sha256:{NEW[:12]}", URL, "compare/"):
        assert part in text


def test_each_container_counts(history: History) -> None:
    def job(digit: str) -> str:
        full = f"{IMAGE}@sha256:"
        return (
            f"kind: pytorch\nimage: {full}{digit * 64}\ncommand: a\nworkers: 2\n"
            f"roles: {{master: {{image: '{full}{'c' * 64}'}}}}\n"
        )

    history.job(job("a"))
    branch(history)
    history.job(job("b"))
    assert [(one["before"], one["after"]) for one in history.report()["pins"]] == [(f"sha256:{OLD}", f"sha256:{NEW}")]


def test_other_changes_move_no_pin(history: History) -> None:
    history.job(JOB)
    history.write("jobs/team/demo.lock", lock("a").partition("code:")[0])
    branch(history)
    history.job(JOB.replace("workers: 3", "workers: 2"))
    assert history.report()["pins"] == []


@pytest.mark.parametrize(
    "odd",
    [
        "[{name: [1], value: x}]",
        "[{name: {a: b}, value: x}, GITSYNC_REPO]",
        "{manifest: '" + "[" * 1000 + "]" * 1000 + "'}",
    ],
)
def test_an_edited_object_of_an_odd_form_does_not_end_the_plan(odd: str, moved: History) -> None:
    file = moved.file("dev/jobs/team/a/pytorchjob-")
    moved.rendering()
    file.write_text(file.read_text().replace("spec:\n", f"spec:\n  odd: {odd}\n", 1))
    assert "hand-edited" in [finding.code for finding in moved.plan().findings]
