"""Objects of generated files: every reader finds the same content."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import Findings
from gen.kubernetes.manifests.read import read_manifests
from gen.render import rendered_object
from gen.render.rendered_object import generated_object
from tests.cases import for_each
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = sorted((PROJECT / "tests/golden").glob("*/"))


@for_each("case", GOLDEN, ids=[path.name for path in GOLDEN])
def test_all_readers_find_the_same_content(case: Path) -> None:
    files = sorted(case.rglob("rendered/**/*.yaml"))
    objects = [generated_object(path.read_bytes(), path.relative_to(case).as_posix()) for path in files]
    found = [one for one in objects if one is not None]
    assert found
    for one in found:
        manifests = read_manifests(one.text.encode(), one.path, Findings())
        assert manifests is not None
        assert manifests.documents == (one.body,)


def test_objects_that_several_processes_parse_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that fails in another process fails where it is used."""
    paths = [path for case in GOLDEN for path in case.rglob("rendered/**/*.yaml")]
    objects = [generated_object(path.read_bytes(), f"rendered/{path.name}") for path in paths]
    found = [one for one in objects if one is not None] * (1000 // len(objects) + 1)
    twice = [dataclasses.replace(one) for one in found]
    fails = twice[len(twice) // 2]
    real = rendered_object.content

    def parsed(text: str) -> Any:
        assert text is not fails.text
        return real(text)

    with monkeypatch.context() as patch:
        patch.setattr(rendered_object, "content", parsed)
        rendered_object.parse_together(twice, 2)
        with pytest.raises(AssertionError):
            _ = fails.body
    assert ["body" in vars(one) for one in twice] == [one.text is not fails.text for one in found]
    assert [one.body for one in twice] == [one.body for one in found]
