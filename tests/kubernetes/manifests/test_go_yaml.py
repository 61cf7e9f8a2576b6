"""Manifests are read as kubectl reads them: forms that YAML readers disagree about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import Findings, Severity
from gen.kubernetes.manifests.read import read_manifests
from tests.cases import for_each
from tests.render.test_emit import go_reader, read_by_go

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["go_reader"]

AFTER_END = ["\nhello", " hello", "\n@ [ }", "\nc: d", "\n# c\n\nc: *d", "\n%YAML 1.1\n", "\n...\nc"]
"""Behind the end of a document, where kubectl reads nothing."""
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
    ("a: !!binary aGVsbG8=", "hello"),
    ("a: !!binary |\n  aGVs\n  bG8=", "hello"),
    ("a: {!!binary aGVsbG8=: b, c: !<tag:yaml.org,2002:binary> ''}", {"hello": "b", "c": ""}),
    ("a: !!set {b, c}", {"b": None, "c": None}),
    ("a: !!set\n  ? b\n  ? c", {"b": None, "c": None}),
    ("a: !!set [b, c]", ["b", "c"]),
    ("a: !!omap [b: c, d: e]", [{"b": "c"}, {"d": "e"}]),
    ("a: !!omap\n- b: c\n- b: d", [{"b": "c"}, {"b": "d"}]),
    ("a: !!omap {b: c}", {"b": "c"}),
    ("a: !!pairs [b: c]", [{"b": "c"}]),
    ("a: !!set b", "b"),
    ("a: !!map 1", "1"),
    ("a: !!str {b: c}", {"b": "c"}),
    ("a: {!!merge <<: {b: c}, d: e}", {"b": "c", "d": "e"}),
    ("a: !!timestamp 2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
    *((f"a: b\n...{text}", "b") for text in AFTER_END),
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
    "a: !!binary a b",
    "a: !!binary aGVsbG8",
    "a: !!timestamp x",
    "a: !!timestamp 2001-02-30",
    "a: {!!null '': b}",
    "a: b\n...\n\x07",
    "a: b\n....",
    "...\na: b",
]


def read(text: str) -> tuple[Any, list[str], list[str]]:
    found = Findings()
    manifests = read_manifests(f"{text}\n".encode(), "a.yaml", found)
    errors = [one.code for one in found.items if one.severity is Severity.ERROR]
    warnings = [one.code for one in found.items if one.severity is Severity.WARNING]
    return manifests.documents if manifests is not None else None, errors, warnings


@for_each(("text", "value"), READ)
def test_a_form_that_kubectl_reads_is_read(text: str, value: Any) -> None:
    documents, errors, _ = read(text)
    assert (documents, errors) == (({"a": value},), [])


@for_each("text", REFUSED)
def test_a_form_that_kubectl_does_not_read_is_refused(text: str) -> None:
    assert read(text)[1] != []


@for_each("text", ["a: !Ref b", "a: !custom {b: c}", "a: !!set {b}", "a: !!omap [b: c]", "a: !!map b"])
def test_a_tag_that_kubectl_ignores_is_a_warning(text: str) -> None:
    assert read(text)[1:] == ([], ["tag"])


@for_each("end", AFTER_END)
def test_text_that_kubectl_ignores_is_a_warning(end: str) -> None:
    assert read(f"a: b\n...{end}")[1:] == ([], ["ignored-document"])
    assert read(f"a: b\n...{end}\n---\nc: d") == (({"a": "b"}, {"c": "d"}), [], ["ignored-document"])


def test_a_document_that_kubectl_does_not_separate_is_a_warning() -> None:
    assert read("a: b\r---\rc: d")[1:] == ([], ["ignored-document"])


def test_the_end_of_a_document_without_text_is_no_finding() -> None:
    text = "# a\n---\na: b\n...\n# c\n---  # d\ne: |\n  ...\n  f\n...\n...\n"
    assert read(text) == (({"a": "b"}, {"e": "...\nf\n"}), [], [])


def test_ignored_text_has_a_place() -> None:
    found = Findings()
    read_manifests(b"a: b\n...\n# c\n\n  d\n---\na: {<<: 1}\n", "a.yaml", found)
    assert [(one.code, one.place.line, one.place.column) for one in found] == [
        ("ignored-document", 5, 3),
        ("invalid-key", 7, 9),
    ]


@for_each("text", ["--- {a: b}", "a: b\n--- {c: d}", "--- &x\na: b", "--- !x\na: b", "a: b\n---x: c"])
def test_kubectl_refuses_text_after_a_separator(text: str) -> None:
    """`YAMLReader` of apimachinery: "invalid Yaml document separator"."""
    assert read(text)[1:] == (["invalid-yaml"], [])


def test_bytes_that_json_cannot_have_are_a_warning() -> None:
    assert read("a: !!binary gICA") == (({"a": "\ufffd" * 3},), [], ["tag"])


@pytest.mark.slow
def test_kubectls_reader_agrees(go_reader: Path) -> None:
    texts = [text for text, _ in READ if not text.startswith("{")]
    values = [{"a": value} for text, value in READ if not text.startswith("{")]
    assert json.dumps(read_by_go(go_reader, texts), sort_keys=True) == json.dumps(values, sort_keys=True)
    # kubectl itself cannot decode Python's tags, and its parts begin after `---`
    parts = [text.partition("\n---")[0] for text in REFUSED if "python" not in text]
    assert [set(one) for one in read_by_go(go_reader, parts)] == [{"error"}] * len(parts)
