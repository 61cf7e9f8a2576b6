"""Objects of generated files: the compiled reader and the event reader read the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.diagnostics import Findings
from gen.load.strict import parse
from gen.load.yaml12 import typed
from gen.review.rendered_object import RenderedObject, generated_object
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = sorted((PROJECT / "tests/golden").glob("*/"))


@pytest.mark.parametrize("case", GOLDEN, ids=[path.name for path in GOLDEN])
def test_both_readers_find_the_same_content(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = sorted(case.rglob("rendered/**/*.yaml"))
    objects = [generated_object(path.read_bytes(), path.relative_to(case).as_posix()) for path in files]
    found = [one for one in objects if one is not None]
    assert found
    compiled = [(one.outline, one.body) for one in found]
    assert [typed(parse(one.text, one.path, Findings()) or {}) for one in found] == [body for _, body in compiled]
    monkeypatch.setattr("gen.review.rendered_object.read_compiled", lambda _: None)
    again = [RenderedObject(one.key, one.path, one.text) for one in found]
    assert [(one.outline, one.body) for one in again] == compiled
