"""The findings in an editor are those of `gen check`, over all golden and error cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from gen.base.findings import Diagnostic, UsageError
from gen.editor.checker import Checker
from tests.error_cases import error_cases
from tests.support import Repository, cases, copy_case


def in_editor(root: Path) -> set[Diagnostic] | str:
    """The findings of saved files, or why the repository cannot be checked."""
    checker = Checker(root)
    try:
        found = checker.check_all(lambda: False)
        assert found is not None
        return checker.problem or {item for items in found.values() for item in items}
    finally:
        checker.close()


def by_check(repository: Repository) -> set[Diagnostic] | str:
    try:
        report, _ = repository.check(no_cache=True)
    except UsageError as error:
        return str(error)
    return set(report.findings)


def differences(repository: Repository) -> list[str]:
    """The findings that only one of the two has."""
    editor, check = in_editor(repository.root), by_check(repository)
    if isinstance(editor, str) or isinstance(check, str):
        return [] if editor == check else [f"{editor} != {check}"]
    return [f"{one.place} {one.code} {one.message}" for one in sorted(editor ^ check)]


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("golden"), ids=lambda case: case.name)
def test_a_golden_case(case: Path, tmp_path: Path) -> None:
    assert differences(copy_case(case, tmp_path)) == []


@pytest.mark.slow
def test_error_cases(tmp_path: Path) -> None:
    found = {}
    for number, case in enumerate(error_cases()):
        found[case.name] = differences(case.copy(tmp_path / str(number)))
    assert {name: different for name, different in found.items() if different} == {}
