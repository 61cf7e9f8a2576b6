"""The short way of reading manifests says what the long way says, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.error import YAMLError

from gen.diagnostics import Findings
from gen.load.compiled import read_compiled
from gen.load.events import Refused, read_events
from gen.load.manifest_policy import ManifestPolicy
from tests.support import HERE, PROJECT

pytest.importorskip("ryaml")

WORDS = (
    *("yes", "No", "on", "OFF", "y", "N", "true", "False", "TRUE", "null", "Null", "~", "", "=", "<<", "!!str 1"),
    *("010", "0o17", "0x1F", "0b11", "1_000", "-0", "+1", ".5", "1.", "1e3", "1.e3", "-1.5E-3", "1e400", "0", "00"),
    *("0.0", "-0.0", "1__0", "0x_1", "+0x1", "-0x1", ".inf", "-.INF", ".nan", "12:30", "2001-01-01", "é", "\u2028"),
    *("18446744073709551615", "18446744073709551616", "-9223372036854775808", "a\tb", "-", "---", "...", "[", "]"),
    *("&a b", "*a", "|", ">-", "|2", "- a", "? a", "a: b", "'a", '"\\x41"', "# a", "a #b", "%a", "@a", "`a"),
    *(
        "{a: b, c: }",
        "[a, b]",
        "{a}",
        "[a: b]",
        "[ ! b ]",
        "!a b",
        "! 5",
        "[!!int '1']",
        '"\\u0021"',
        '"[ !a"',
        "!<a!b> c",
    ),
)
tokens = st.one_of(st.sampled_from(WORDS), st.text(alphabet="abyn01.-+_:e~ #'\"", max_size=6))
lines = st.builds(
    lambda indent, key, sep, value: f"{' ' * indent}{key}{sep}{value}",
    st.sampled_from((0, 0, 0, 2, 4)),
    st.one_of(st.sampled_from(("a", "b", "- a", "-", "  - ")), tokens),
    st.sampled_from((": ", ":", ":  ", "")),
    tokens,
)
texts = st.lists(lines, max_size=5).map("\n".join)


def slowly(text: str) -> object:
    """None when there is anything to say of it."""
    found = Findings()
    try:
        stream = read_events(CParser(text), ManifestPolicy("a", found))
        documents = [document for _, document in stream if document is not None]
    except (Refused, YAMLError):
        return None
    return documents[0] if len(documents) == 1 and not found.items else None


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(text=texts)
@example("a: 1\na: 2")
@example("1: a\ntrue: b")
@example("a: &a b\nc: *a")
@example("a:\r  !foo 5\n")
@example("\x85 !a\n\n# x")
@example("a: |\n  [ ! -r b ]\nc: [!!str 1]")
@example('a: "[ \\x21"\nb: [!!str 1]')
@example("a: '! !'\n# !\nb: ! 5")
def test_both_ways_say_the_same(text: str) -> None:
    said = read_compiled(text)
    if said is not None:
        expected = slowly(text)
        assert (said, repr(said)) == (expected, repr(expected))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("shape", ["a: {}", "a:\n- {}", "a: [{}]", "{}: a", "a: {{b: {}}}", "a: b\nc: {}\nd: e"])
def test_both_ways_say_the_same_of_a_word(shape: str, word: str) -> None:
    text = shape.format(word)
    said = read_compiled(text)
    if said is not None:
        expected = slowly(text)
        assert (said, repr(said)) == (expected, repr(expected))


def test_a_script_with_a_test_is_read_the_short_way() -> None:
    assert read_compiled("a: |\n  [ ! -r b ] || c\n") == {"a": "[ ! -r b ] || c\n"}
    assert read_compiled("a: |\n  [ ! -r b ]\nc: ! 5\n") is None


def test_what_gen_renders_is_read_the_short_way() -> None:
    folders = (PROJECT / "rendered", *sorted((HERE / "golden").glob("*/rendered")))
    texts = [path.read_text("utf-8") for folder in folders for path in sorted(folder.rglob("*.yaml"))]
    read = [read_compiled(text) for text in texts]
    assert [one for one in read if one is not None] == [slowly(t) for t, one in zip(texts, read, strict=True) if one]
    assert sum(one is not None for one in read) > 0.8 * len(texts)
