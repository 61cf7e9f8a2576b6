"""Every format of a plan lists the runs that are behind the platform, and changes of a new run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import OVERLAY

if TYPE_CHECKING:
    from tests.history import History

JOB = "kind: batch\nimage: a:1\ncommand: x\ncode: {git: https://git.example.com/a.git, ref: v1}\n"


@pytest.fixture
def behind(history: History) -> History:
    history.git("switch", "--quiet", "main")
    for name in ("one", "two"):
        history.job(JOB, name=name)
    history.commit("jobs")
    history.git("switch", "--quiet", "--force-create", "topic")
    history.overlay(OVERLAY + "codeSync: {gitImage: registry.example.com/git-sync:v5}\n")
    return history


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_plan_for_people_groups_equal_changes(behind: History, form: str) -> None:
    text = behind.report(form)
    start = text.index("uns behind the platform")
    assert "2 runs kept as committed, although the platform changed since" in text[:start]
    lines = [line for line in text[start:].splitlines() if line.strip().startswith(("+ ", "- "))]
    assert len(lines) == 2
    assert "git-sync:v4" in lines[0]
    assert "git-sync:v5" in lines[1]
    for name in ("one", "two"):
        assert f"dev team/{name}-" in text[start:]
        assert f"replaced by {name}-" in text[start:]
    assert "gen render --restart JOB" in text


def test_a_plan_for_programs_has_every_run(behind: History) -> None:
    first, second = behind.report()["behind"]
    assert (first["job"], second["job"]) == ("jobs/team/one.yaml", "jobs/team/two.yaml")
    assert first["name"] != first["replacedBy"]
    assert first["name"].partition("-")[0] == first["replacedBy"].partition("-")[0] == "one"
    (changed,) = first["objects"]
    assert [field["path"] for field in changed["fields"]] == ["spec.template.spec.initContainers[git-sync].image"]


def test_a_plan_of_another_overlay_has_none(behind: History) -> None:
    behind.overlay(OVERLAY, name="other")
    behind.rendering()
    assert behind.plan(overlay=("other",)).behind == ()
    assert len(behind.plan(overlay=("dev",)).behind) == 2


def test_an_object_that_only_one_run_has_is_listed(behind: History) -> None:
    """A new run without the ConfigMap of the kept one."""
    behind.overlay(OVERLAY + "defaults: {files: {/etc/a: b}}\n")
    objects = behind.report()["behind"][0]["objects"]
    assert {one["kind"] for one in objects} == {"Job", "ConfigMap"}
