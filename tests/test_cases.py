"""Cases in one test count as tests do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository


def test_all_cases_run_and_each_that_fails_is_named(tmp_path: Path) -> None:
    seen = []

    @for_each("number, folder", [(1, "a"), (2, "b"), (3, "c"), (4, "d")], ids=["one", "two", "three", "four"])
    def check(number: int, folder: str, tmp_path: Path) -> None:
        seen.append((number, tmp_path.name))
        (tmp_path / folder).mkdir()
        if number == 3:
            pytest.fail("an outcome of pytest")
        assert number % 2

    with pytest.raises(BaseExceptionGroup, match="failed: two, three, four") as caught:
        check(tmp_path=tmp_path)
    assert [error.__notes__ for error in caught.value.exceptions] == [["case: two"], ["case: three"], ["case: four"]]
    assert seen == [(1, "0"), (2, "1"), (3, "2"), (4, "3")]


def test_the_cases_after_a_skipped_one_run() -> None:
    @for_each("number", [1, 2])
    def check(number: int) -> None:
        if number == 1:
            pytest.skip("no server")
        pytest.fail("found")

    with pytest.raises(BaseExceptionGroup, match="failed: 2"):
        check()


@for_each("name", ["demo", "demo"])
def test_every_case_has_its_own_repository(name: str, repo: Repository) -> None:
    assert repo.rendered() == {}
    repo.job("kind: pytorch\nimage: a:1\ncommand: a\nworkers: 1\n", name=name)
    assert repo.objects()


def test_no_cases_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        for_each("name", [])
