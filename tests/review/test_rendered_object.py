"""Objects of generated files: every reader finds the same content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.base.findings import Findings
from gen.base.yaml.strict import parse, typed
from gen.kubernetes.manifests.read import read_manifests
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
