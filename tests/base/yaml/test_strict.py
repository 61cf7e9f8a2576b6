"""Any bytes give data or findings: never a crash, and never different data."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from gen.base.findings import Findings, Location
from gen.base.yaml.source import source_of
from gen.base.yaml.strict import Plain, StrictPolicy, typed
from tests.cases import for_each


def load(text: str | bytes) -> tuple[Any, list[tuple[str, str]]]:
    found = Findings()
    source = source_of(text if isinstance(text, bytes) else text.encode(), "job.yaml", found)
    return (source.data if source else None), [(str(finding.place), finding.code) for finding in found]


def test_only_text_comes_out_as_it_was_written() -> None:
    data, found = load("a: 1e-3\nb: [on, 010, ~, '1', \"x\\ty\"]\nc: {d: }\ne: |\n  one\n  two\n")
    assert not found
    assert data == {"a": "1e-3", "b": ["on", "010", "~", "1", "x\ty"], "c": {"d": ""}, "e": "one\ntwo\n"}
    kinds = [isinstance(value, Plain) for value in (data["a"], *data["b"], data["c"]["d"], data["e"])]
    assert kinds == [True, True, True, True, False, False, True, False]


@for_each(
    ("text", "place", "code"),
    [
        ("", "1:1", "empty-file"),
        ("# nothing\n", "1:1", "empty-file"),
        ("a: 1\n---\nb: 2\n", "2:1", "many-documents"),
        ("a: 1\nb: 2\na: 3\n", "3:1", "duplicate-key"),
        ("x:\n  a: 1\n  a: 1\n", "3:3", "duplicate-key"),
        ("a: &x 1\n", "1:4", "anchor"),
        ("a: *x\n", "1:4", "anchor"),
        ("a: &x {}\n", "1:4", "anchor"),
        ("a: !!int 1\n", "1:4", "tag"),
        ("a: !secret {}\n", "1:4", "tag"),
        ("{a: 1}: 2\n", "1:1", "invalid-key"),
        ("? [a]\n: 2\n", "1:3", "invalid-key"),
        ("a:\n\tb: 1\n", "2:1", "invalid-yaml"),
        ("a: 'b\n", "1:4", "invalid-yaml"),
        ('a: 1\n\u00e9: "x\nc: 2\nd: 3\n\n', "2:4", "invalid-yaml"),
        ("a: [1\n", "1:4", "invalid-yaml"),
        ("a: {b: 1\n\n\n", "1:4", "invalid-yaml"),
        ("a: [1, 'x\n", "1:8", "invalid-yaml"),
        ("a: [1\nb: 2\n", "2:2", "invalid-yaml"),
        ("a: 1\nb\n", "2:1", "invalid-yaml"),
        ("a: \u202eb\n", "1:4", "control-character"),
        ("a: b\nc: \x07\n", "2:4", "control-character"),
        ('a: "\\0"\n', "1:4", "control-character"),
        ('a: "\\uFDD0"\n', "1:4", "control-character"),
        ("a: \ufdd0\n", "1:4", "control-character"),
    ],
)
def test_what_cannot_be_read_has_a_place(text: str, place: str, code: str) -> None:
    assert load(text)[1] == [(f"job.yaml:{place}", code)]


@for_each("opening", ["[", "{a: ", "- ", "a:\n", "? "])
def test_deep_nesting_is_a_finding_and_no_crash(opening: str) -> None:
    text = "".join(" " * depth + opening for depth in range(300)) if opening.endswith("\n") else opening * 200_000
    ((_, code),) = load(text)[1]
    assert code in ("too-deep", "invalid-yaml", "invalid-key")
    assert StrictPolicy.max_depth < 300


def test_bytes_that_are_not_utf_8_have_a_place() -> None:
    for raw, place in (
        (b"a: b\nc: \xff\n", "2:4"),
        (b"\xff", "1:1"),
        ("a: b\n\u00e9\u4e2d: ".encode() + b"\xff", "2:5"),
        (b"\xef\xbb\xbfa: \xff", "1:4"),
    ):
        assert load(raw)[1] == [(f"job.yaml:{place}", "not-utf-8")]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert load(b"\xef\xbb\xbfa: b\n") == ({"a": "b"}, [])


@given(
    st.binary(max_size=300)
    | st.text(max_size=200).map(str.encode)
    | st.text("-?:[]{},&*!|>'\"%@`#\n\t ab0", max_size=60).map(str.encode)
)
def test_any_bytes_give_data_or_findings(raw: bytes) -> None:
    data, found = load(raw)
    assert data is not None or found


@given(
    st.recursive(
        st.text("ab01:#-' ", max_size=6),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1, max_size=3), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_quoted_data_is_read_as_pyyaml_reads_it(data: Any) -> None:
    text = yaml.dump(data, default_style='"')
    read, found = load(text)
    assert found == [] or data in ({}, [])
    assert read == data or found


def test_a_place_is_that_of_the_value_the_key_or_what_is_nearest() -> None:
    found = Findings()
    source = source_of(b"a:\n  b: [1, {c: d}]\n", "job.yaml", found)
    assert source is not None
    assert source.place(("a", "b", 1, "c")) == Location("job.yaml", 2, 14)
    assert source.place(("a", "b", 1, "c"), key=True) == Location("job.yaml", 2, 11)
    assert source.place(("a", "b", 7, "x")) == Location("job.yaml", 2, 6)
    assert source.place(("z",)) == Location("job.yaml", 1, 1)


@for_each(
    ("text", "value"),
    [
        ("1", 1),
        ("-1", -1),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("true", True),
        ("False", False),
        ("", None),
        ("~", None),
        ("null", None),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("on", "on"),
        ("1_000", "1_000"),
        ("9" * 40, "9" * 40),
        ("1.2.3", "1.2.3"),
        ("2026-01-01", "2026-01-01"),
        ("-", "-"),
    ],
)
def test_patches_are_read_by_the_core_schema(text: str, value: object) -> None:
    assert typed({"k": [Plain(text)]}) == {"k": [value]}
    assert typed(text) == text, "in quotes it is a text"
