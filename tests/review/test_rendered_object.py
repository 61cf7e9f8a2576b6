"""Objects of generated files: every reader finds the same content, and an outline is a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.base.findings import Findings
from gen.kubernetes.manifests.read import read_manifests
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
        assert one.outline["metadata"] == one.body["metadata"]
        assert _is_part(one.outline, one.body)


def _is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and _is_part(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(_is_part, part, whole))
    return bool(part == whole or (part is None and whole))  # a mapping without any field left
