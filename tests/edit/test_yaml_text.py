"""YAML that people own: additions change no other line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gen.base.findings import Findings
from gen.base.yaml.source import source_of
from gen.base.yaml.user_text import with_additions, written
from gen.importers.overlay_needs import missing
from tests.cases import for_each


@for_each(
    "text",
    [
        "# first\na: {b: 1}  # flow\nlist: [x]\n# end\n",
        "a:\n  # inside\n  b: 1  # more\n\n# about what follows\n# c: 2\n",
        "list:\n- x\n- y\n",
        "list:\n  - x\n  - y\nquoted: \"1.34\"\nsingle: '1'\n",
        "command: >\n  folded\n  text\nlong: " + "word " * 60 + "end\n",
    ],
)
def test_every_line_stays_but_those_in_flow(text: str) -> None:
    new = with_additions(text, {"a": {"z": "2"}, "list": ["z"], "more": {"deep": {"er": "x"}}})
    flow = [line for line in text.splitlines() if "{" in line or "[x]" in line]
    kept = [line for line in new.splitlines() if line in text.splitlines()]
    assert kept == [line for line in text.splitlines() if line not in flow]
    source = source_of(new.encode(), "", Findings())
    assert source is not None
    assert isinstance(source.data, dict)
    assert source.data["more"] == {"deep": {"er": "x"}}
    assert source.data["list"][-1] == "z"  # type: ignore[index] # a list


def test_an_entry_is_added_before_comments_at_the_end() -> None:
    assert with_additions("a:\n  b: 1\n\n# about what follows\n", {"a": {"c": "2"}}).startswith("a:\n  c: 2\n  b: 1\n")


@given(
    st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"], include_characters="\n"), max_size=60)
)
def test_a_text_is_read_as_it_was_written(text: str) -> None:
    source = source_of(written({"a": text, "b": {"c": [text]}}).encode(), "", Findings())
    assert source is not None
    assert source.data == {"a": text, "b": {"c": [text]}}


@for_each(
    ("overlay", "lacking"),
    [
        ({}, {"volumes": {"a": {"claim": "a"}}, "namespaces": {"t": {"queues": ["q"]}, "*": {}}}),
        ({"volumes": {"a": {"emptyDir": {}}}, "namespaces": {"t": {"queues": ["q"]}}}, {}),
        ({"volumes": {"a": {}}, "namespaces": {"t": {}}}, {"namespaces": {"t": {"queues": ["q"]}}}),
        (
            {"volumes": {"a": {}}, "namespaces": {"*": {"gpus": "4", "queues": ["r"]}}},
            {"namespaces": {"t": {"gpus": "4", "queues": ["r", "q"]}}},
        ),
        ({"volumes": {"a": {}}, "namespaces": {"*": {"queues": ["q"]}}}, {}),
        (
            {"volumes": {"a": {}}, "namespaces": {"t": {"volumes": ["b"], "queues": ["q"]}}},
            {"namespaces": {"t": {"volumes": ["a"]}}},
        ),
    ],
)
def test_an_overlay_gets_what_it_lacks(overlay: dict[str, object], lacking: dict[str, object]) -> None:
    needed = {"volumes": {"a": {"claim": "a"}}, "namespaces": {"t": {"queues": ["q"]}}}
    assert missing(needed, overlay, {"t": {"volumes": ["a"]}, "u": {"volumes": ["other"]}}) == lacking


def test_words_that_readers_take_for_truths_have_quotes() -> None:
    assert written({"env": {"A": "on", "B": "No", "C": "true", "D": "once"}, "args": ["y", "yes"]}) == (
        "env:\n  A: 'on'\n  B: 'No'\n  C: 'true'\n  D: once\nargs:\n  - 'y'\n  - 'yes'\n"
    )


@for_each(
    ("text", "block"),
    [
        ("  a:\n    b\n", "|2\n      a:\n        b\n"),
        ("\n  a\nb", "|2-\n\n      a\n    b\n"),
        ("a\n b\n\n\n", "|+\n    a\n     b\n\n\n"),
        ("a\n...\n", "|\n    a\n    ...\n"),
    ],
)
def test_texts_of_several_lines_are_blocks_with_their_blanks(text: str, block: str) -> None:
    assert written({"files": {"/a": text}}) == f"files:\n  /a: {block}"
    source = source_of(written({"files": {"/a": text}}).encode(), "", Findings())
    assert source is not None
    assert source.data == {"files": {"/a": text}}


def test_numbers_have_no_quotes() -> None:
    numbers = ["0.3", "-12.25", "7", "0.0001", "0.00001", "1.50", "01.5", "1e-3", ".5", "1.", "1_0.5"]
    text = written({"args": numbers})
    data = Findings()
    read = source_of(text.encode(), "jobs/t/a.yaml", data)
    assert read is not None
    assert read.data == {"args": numbers}
    assert [one.removeprefix("  - ") for one in text.splitlines()[1:5]] == ["0.3", "-12.25", "7", "0.0001"]
    assert "'1.50'" in text
