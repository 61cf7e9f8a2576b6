"""Invalid YAML: the mistake and its place."""

from __future__ import annotations

from gen.base.findings import Findings
from gen.base.yaml.strict import parse
from gen.base.yaml.yaml_errors import slip_in
from tests.cases import for_each


def problem(text: str) -> tuple[int, int, str]:
    """Line, column and message of the only finding."""
    found = Findings()
    assert parse(text, "f", found) is None
    (finding,) = found
    assert finding.hint
    return finding.place.line, finding.place.column, finding.message.removeprefix("invalid YAML: ")


@for_each(
    ("text", "line", "column", "message"),
    [
        ("a: 1\nb\uff1a2\nc: 3\n", 2, 2, "`\uff1a` (U+FF1A) is not the colon that YAML expects"),
        ("a\uff1a1\nb: 2\n", 1, 2, "`\uff1a` (U+FF1A) is not the colon that YAML expects"),
        ("a: 1\nb:\u30002\nc: 3\n", 2, 3, "U+3000 is not a space in YAML"),
        ("a:\n\u3000b: 1\n", 2, 1, "U+3000 is not a space in YAML"),
        ("a: 1\u00a0\n", 1, 4, "U+00A0 is not a space in YAML"),
        ("a: 1\nb:2\nc: 3\n", 2, 3, "missing space after `:`"),
        ("a:1\nb: 2\n", 1, 3, "missing space after `:`"),
        ("a: 1\nb=2\nc: 3\n", 2, 2, "expected `:` after the key, got `=`"),
        ("a: 1\nb 2\nc: 3\n", 2, 1, "missing `:` after the key"),
        ("a: 1\n{% if b %}\nc: 3\n", 2, 1, "template statements (`{%`) are not supported"),
        ("a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> main\n", 2, 1, "unresolved merge conflict"),
        ("a: `b`\n", 1, 4, "a value cannot start with a backtick"),
        ("a: @b\n", 1, 4, "a value cannot start with `@`"),
        ("a:\n  *:\n    b: 1\n", 2, 3, "a key that starts with `*` is an alias for YAML"),
        ("a: |\nb c\nd: 1\n", 2, 1, "the text of `a` is not indented"),
        ("a: b # c\n  d\ne: 1\n", 1, 6, "a comment ends the value, but its text continues below"),
        ("a: 1\n  b: 2\n", 2, 3, "unexpected indentation of 2 spaces"),
        ("a:\n   b: 1\n  c: 2\n", 3, 3, "unexpected indentation of 2 spaces"),
        ("a: 'b 'c' d'\n", 1, 8, "text after the closing `'`"),
        ("a: b c: d\n", 1, 7, "`: ` in a value without quotes"),
        ("a: {{ b }}\n", 1, 4, "`{{ … }}` without quotes is a mapping in YAML"),
        ("a:\n  <<: {b: 1}\n", 2, 3, "merge keys (`<<`) are not supported"),
        ("a: \u201cb\u201d\n", 1, 4, "`\u201c` and `\u201d` are not quotes in YAML"),
        ("---\n", 1, 1, "the file is empty"),
    ],
)
def test_a_mistake_is_named_at_its_place(text: str, line: int, column: int, message: str) -> None:
    assert problem(text) == (line, column, message)


@for_each(
    "text",
    [
        "# \u8bad\u7ec3\uff1ab\na: 1\n",  # a comment
        'a: "\u3000b\u3000"\n',
        "a: |\n  \u201cb\u201d\n",
        "a: b\u3000c\n",
        "a: '\u201cb\u201d'\n",
        '"<<": 1\n',
    ],
)
def test_quotes_blocks_and_comments_may_contain_these_characters(text: str) -> None:
    found = Findings()
    assert parse(text, "f", found) is not None
    assert list(found) == []


@for_each("line", ["a: 1", "- a", "a: b=c", "a: http://b", "http://b", "a:", "  - a: b", "", "a/b: 1"])
def test_correct_lines_have_no_slip(line: str) -> None:
    assert slip_in(line) is None


def test_no_value_is_repeated_because_it_may_be_a_secret() -> None:
    found = Findings()
    parse("a: 1\nTOKEN=abcdef0123456789\nb: 2\n", "f", found)
    (finding,) = found
    assert "abcdef" not in finding.message + finding.hint
