"""Patches and patterns of overlays that match no job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support import Repository


def test_an_inherited_patch_is_not_unmatched_where_its_own_mistake_kept_the_objects_from_rendering(
    repo: Repository,
) -> None:
    """`aaa` has no job that it could match; in `dev`, its typo is the reason that its object is missing."""
    repo.overlay(
        "abstract: true\npatches:\n  - target: {kind: PyTorchJob, name: demo}\n"
        "    patch: {spec: {runPolicy: {backofLimit: 1}}}\n",
        name="base",
    )
    repo.overlay('extends: base\nkubernetes: "1.34"\nselect: {include: ["*/other"]}\n', name="aaa")
    repo.overlay('extends: base\nkubernetes: "1.34"\n')
    repo.job("kind: pytorch\nimage: a/b:1\ncommand: x\n")
    repo.job("kind: pytorch\nimage: a/b:1\ncommand: x\n", name="other")
    assert repo.codes() == ["undefined-field"]


def test_a_job_that_an_inherited_pattern_excludes_names_the_pattern(repo: Repository) -> None:
    repo.overlay("abstract: true\nselect: {exclude: [team/*]}\n", name="base")
    repo.overlay('extends: base\nkubernetes: "1.34"\nselect: {include: [team/demo]}\n')
    repo.job("kind: pytorch\nimage: a/b:1\ncommand: x\n")
    (finding,) = repo.render()[0].findings
    assert finding.code == "not-selected"
    assert finding.hint.startswith("write `select: {exclude: []}` in overlay `dev`")
    ((place, message),) = finding.related
    assert (str(place), message) == (
        "overlays/base/overlay.yaml:2:20",
        "`exclude` has the pattern `team/*`, inherited by overlay `dev`",
    )


@pytest.mark.parametrize("pattern", ["team/demo.yaml", "jobs/team/demo.yaml", "team/dmeo"])
def test_a_pattern_that_matches_nothing_suggests_one_that_does(repo: Repository, pattern: str) -> None:
    repo.overlay(f'kubernetes: "1.34"\nselect: {{include: [{pattern}]}}\n')
    repo.job("kind: pytorch\nimage: a/b:1\ncommand: x\n")
    (finding,) = repo.render()[0].findings
    assert (finding.code, finding.hint) == ("selects-nothing", "did you mean `team/demo`?")


def test_a_pattern_that_excludes_nothing_is_reported(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\nselect: {exclude: [team/dmeo]}\n')
    repo.job("kind: pytorch\nimage: a/b:1\ncommand: x\n")
    (finding,) = repo.render()[0].findings
    assert (finding.code, finding.hint) == ("selects-nothing", "did you mean `team/demo`?")
