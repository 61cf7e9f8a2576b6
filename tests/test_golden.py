"""Each folder below `golden/` shows one feature: inputs, and the exact files that come out."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gen.report.findings.text import text
from tests.support import cases, copy_case, tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("case", cases("golden"), ids=lambda case: case.name)
def test_a_case_renders_as_expected(case: Path, tmp_path: Path, update_golden: bool) -> None:
    repo = copy_case(case, tmp_path / "repo")
    report, code = repo.render()
    assert code == 0, text(report)
    assert report.findings == ()
    if update_golden:
        shutil.rmtree(case / "rendered", ignore_errors=True)
        shutil.copytree(repo.root / "rendered", case / "rendered")
    assert tree(repo.root / "rendered") == tree(case / "rendered")
