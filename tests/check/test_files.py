"""Checking files in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.check.files import CheckedFile, ManifestChecker
from gen.parallel import finished

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def test_a_large_file_does_not_wait_in_memory_for_others(tmp_path: Path) -> None:
    small, large = tmp_path / "small.yaml", tmp_path / "large.yaml"
    small.write_text(CONFIG)
    large.write_text(CONFIG + f"data: {{a: {'b' * 200_000}}}\n")
    checker = ManifestChecker((str(tmp_path),))
    next(checker.check_file(str(small)))
    with pytest.raises(StopIteration) as end:
        next(checker.check_file(str(large)))
    assert end.value.value == finished(checker.check_file(str(large))) == CheckedFile(1, (), end.value.value.facts)
