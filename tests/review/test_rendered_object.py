"""Objects of generated files: every reader finds the same content."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import Findings
from gen.base.yaml.strict import parse, typed
from gen.kubernetes.manifests.read import read_manifests
from gen.render import rendered_object
from gen.render.rendered_object import _Written, content, generated_object
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
        assert _Written.read(one.text.partition("\n")[2]) is not None


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


@for_each(
    "text",
    [
        "a: 1\na: 2\n",
        "a: yes\nb: 010\n",
        "a:  1\n",
        "a: 1 # one\n",
        "a: 3.0\n",
        "a: &b c\nd: *b\n",
        "a: {b: c}\n",
        "a:\n    b: 1\n",
        "a:\n  - b\n",
        "a: |+\n  b\n\n",
        "a: |\n  b\nc: d\n",
        "- a\n",
        "a: b\n---\nc: d\n",
        "a: 'b'\n",
        'a: "b\n  c"\n',
        'a: "\\x41"\n',
        "a: b: c\n",
        "a:\n",
        "a",
        "",
        "a: \u00e9\n",
        "".join(f"{'  ' * depth}a:\n" for depth in range(5000)),
    ],
)
def test_content_is_what_a_reader_of_yaml_finds(text: str) -> None:
    """Texts that gen does not write, also those that it would write otherwise, are left to the parser of YAML."""
    expected = typed(parse(text, "", Findings()) or {})
    assert content(text) == (expected if isinstance(expected, dict) else {})
    body = _Written.read(text)
    assert body is None or body == expected
