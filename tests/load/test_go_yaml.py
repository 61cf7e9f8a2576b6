"""Manifests are read as kubectl reads them: forms that YAML readers disagree about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gen.diagnostics import Findings, Severity
from gen.load.manifests import read_manifests
from tests.render.test_emit import go_reader, read_by_go

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["go_reader"]

READ = [
    (r'a: "don\'t"', "don't"),
    (r'a: "\"it\'s\", don\'t"', "\"it's\", don't"),
    (r"a: 'no \/ escape'", r"no \/ escape"),
    ('a: "a\\\\/b"', "a\\/b"),
    ("a: what?", "what?"),
    ("a: ['what?', \"why?\"]", ["what?", "why?"]),
    ("a: !custom 1", "1"),
    ("a: !Ref b", "b"),
    ("a: !custom {b: c}", {"b": "c"}),
    ("a: !custom [b]", ["b"]),
    ("a: !!int '1'", 1),
    ("a: !!str yes", "yes"),
    ("a: {<<: {x: 1}, b: 2}", {"x": 1, "b": 2}),
    ('{"a": "b\\/c"}', "b/c"),
]
REFUSED = [
    "a: [http://h/p?q=1]",
    "a: {b?: c}",
    "a: [x, [y?z]]",
    r'a: "a\/b"',
    "%YAML 1.2\n---\na: b",
    "a: !!int x",
    "a: !!bool x",
    "a: {e: f, <<: {e: 1}}",
    "a: !!python/object:x {}",
]


def read(text: str) -> tuple[Any, list[str], list[str]]:
    found = Findings()
    manifests = read_manifests(f"{text}\n".encode(), "a.yaml", found)
    errors = [one.code for one in found.items if one.severity is Severity.ERROR]
    warnings = [one.code for one in found.items if one.severity is Severity.WARNING]
    return manifests.documents if manifests is not None else None, errors, warnings


@pytest.mark.parametrize(("text", "value"), READ)
def test_a_form_that_kubectl_reads_is_read(text: str, value: Any) -> None:
    documents, errors, _ = read(text)
    assert (documents, errors) == (({"a": value},), [])


@pytest.mark.parametrize("text", REFUSED)
def test_a_form_that_kubectl_does_not_read_is_refused(text: str) -> None:
    assert read(text)[1] != []


@pytest.mark.parametrize("text", ["a: !Ref b", "a: !custom {b: c}"])
def test_a_tag_that_kubectl_ignores_is_a_warning(text: str) -> None:
    assert read(text)[1:] == ([], ["tag"])


def test_a_document_that_kubectl_ignores_is_a_warning() -> None:
    assert read("a: b\n--- {c: d}")[1:] == ([], ["ignored-document"])
    assert read("--- {a: b}\n--- # comment\nc: d\n---\ne: f")[1:] == ([], [])


@pytest.mark.slow
def test_kubectls_reader_agrees(go_reader: Path) -> None:
    texts = [text for text, _ in READ if not text.startswith("{")]
    values = [{"a": value} for text, value in READ if not text.startswith("{")]
    assert json.dumps(read_by_go(go_reader, texts), sort_keys=True) == json.dumps(values, sort_keys=True)
    # kubectl itself cannot decode Python's tags, and its parts begin after `---`
    parts = [text.partition("\n---")[0] for text in REFUSED if "python" not in text]
    assert [set(one) for one in read_by_go(go_reader, parts)] == [{"error"}] * len(parts)
