"""Whatever text goes in comes back from every reader that the field uses."""

from __future__ import annotations

import io
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gen.base.findings import BugError
from gen.base.placeholders import RUN, TRIAL
from gen.render.emit import HEADER, digest_of, header, to_yaml, untouched
from gen.render.seal import fill_hash
from tests.cases import for_each
from tests.go_programs import go_program

if TYPE_CHECKING:
    from pathlib import Path

HAZARDS = re.split(
    " ",
    "1e-3 12e7 08 0o17 y on 1_000 0x1F .5 ~ 2026-01-01 12:30:45 0b1 190:20:30 190:20:30.5 .inf -.INF .NaN nan NO null "
    "Null 1. +1 -1 1e3 1E+3 0777 = << - -- --- ... ? ?x : :x a: a:b # a#b !x &x *x %x @x `x {a} [a] {} [] ' \" \\ |x "
    ">x | > 0 00 -0 0.0 1,000 True FALSE yes Off N Y 0xdeadbeef 1234567e8 12345678 e3 1e 0o8 09 0.1.2 1:2 a,b a;b =x "
    "infinity Inf 4e10 2001-12-14t21:59:43.10-05:00 2026-1-1 ~x /a /a:b a/b://c $(X) ${X} $X {{x}}",
)
ODD = [
    *[
        "",
        " ",
        "  a",
        "a ",
        "a: b",
        "a #b",
        "\n",
        "a\n",
        "a\n\n",
        "\na",
        " a\nb",
        "a\n b",
        "a\n\tb",
        "\ta\nb",
        "a\n \nb",
    ],
    *[
        "a\n\n\nb\n",
        "a\r\nb",
        "a\rb",
        "a\x85b",
        "a\u2028b",
        "a\u2029b",
        "a\n\u2028b",
        "a\u2029\nb",
        "\ufeff",
        "a\ufeffb",
        "é",
        "日本語",
        "🚀",
    ],
    *["\U0010ffff", "a\x7fb", "\x1b[0m", "a\u00a0b", "\u00ad", "x" * 5000, "a\nb" * 200, "# a\nb", "- a\n- b"],
    *["---\na", "a\n---\n", "...\na", "%YAML\na", "a\n#b", "|\na", "'\na'", '"\n', "a:\nb", "key: |\n  x\n"],
    *[
        "\ud7ff",
        "\ue000",
        "\ufffd",
        "\ufffe",
        "\x00",
        "a\n\u202eb",
        "a\n\U00020000",
        "a\x85\nb",
        "a\rb\n",
        "a\n\u200bb\n",
    ],
]

PLACEHOLDERS = "".join(map(chr, range(0xFDD0, 0xFDF0)))
"""Noncharacters, which `gen.base.yaml` refuses in every file."""

texts = st.one_of(
    st.sampled_from(HAZARDS + ODD),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=PLACEHOLDERS), max_size=40),
    st.text(st.sampled_from(" \n\t#:-'\"|>a0é\u2028\u2029\x85\r\ufeff"), max_size=12),
    st.lists(st.sampled_from(HAZARDS), min_size=2, max_size=4).map("\n".join),
)


def document(values: list[str]) -> dict[str, Any]:
    """The texts in every place where a job can put one: labels, annotations, env, args, files."""
    named = {f"k{index}": value for index, value in enumerate(values)}
    env = [{"name": name, "value": value} for name, value in named.items()]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"labels": named, "annotations": named},
        "spec": {"containers": [{"args": list(values), "env": env, "nested": [list(values), [], {}]}]},
        "data": named,
    }


def ruamel(text: str) -> Any:
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    return reader.load(io.StringIO(text))


@pytest.mark.slow  # hundreds of documents in Python readers
@given(st.lists(texts, min_size=1, max_size=12))
def test_pyyaml_and_ruamel_read_back_what_was_written(values: list[str]) -> None:
    body = document(values)
    text = to_yaml(body)
    assert yaml.load(text, yaml.loader.SafeLoader) == body, "in pure Python"
    assert yaml.load(text, yaml.CSafeLoader) == body
    assert ruamel(text) == body


@given(st.dictionaries(texts.filter(lambda text: len(text) < 200), st.integers() | st.booleans(), max_size=5))
def test_keys_are_read_back_too(data: dict[str, Any]) -> None:
    assert yaml.load(to_yaml({"data": data}), yaml.loader.SafeLoader) == {"data": data}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_back_as_numbers(number: float) -> None:
    text = to_yaml({"n": number})
    assert yaml.load(text, yaml.loader.SafeLoader) == {"n": number}
    assert ruamel(text) == {"n": number}


@pytest.fixture(scope="session")
def go_reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The YAML library of kubectl, built from the Go module proxy."""
    return go_program("goyaml", tmp_path_factory.mktemp("go"))


def read_by_go(reader: Path, documents: list[str]) -> list[Any]:
    done = subprocess.run([reader], input=json.dumps(documents).encode(), capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.split(b"\n")[:-1]]


@pytest.mark.slow
def test_kubectls_reader_reads_back_every_known_hazard(go_reader: Path) -> None:
    body = document(HAZARDS + ODD)
    assert read_by_go(go_reader, [to_yaml(body)]) == [body]


@pytest.mark.slow
@given(st.lists(st.lists(texts, min_size=1, max_size=12), min_size=10, max_size=40))
@settings(max_examples=25, deadline=None)
def test_kubectls_reader_reads_back_what_was_written(go_reader: Path, lists: list[list[str]]) -> None:
    bodies = [document(values) for values in lists]
    assert read_by_go(go_reader, [to_yaml(body) for body in bodies]) == bodies


@pytest.mark.slow
def test_hazards_break_pyyamls_own_dumper_for_kubectl(go_reader: Path) -> None:
    """The reason why there is a writer of our own; when this fails, it may go."""
    body = {"data": {f"k{index}": value for index, value in enumerate(HAZARDS)}}
    (read,) = read_by_go(go_reader, [yaml.safe_dump(body)])
    assert [name for name, value in body["data"].items() if read["data"][name] != value]


def test_objects_start_with_what_they_are() -> None:
    body = {"spec": {"b": 1, "a": 2}, "metadata": {"name": "x"}, "kind": "Job", "apiVersion": "batch/v1"}
    assert to_yaml(body) == "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: x\nspec:\n  b: 1\n  a: 2\n"


def test_long_and_multi_line_texts_stay_readable() -> None:
    text = to_yaml({"command": "one\ntwo  \n\n  three\n", "long": "word " * 40 + "end"})
    assert text.startswith("command: |\n  one\n  two  \n\n    three\nlong: word word")
    assert text.count("\n") == 6


@for_each("value", [None, object(), float("nan"), float("inf"), "\ud800", ("a",), {"a": None}])
def test_what_yaml_and_json_do_not_share_is_refused(value: object) -> None:
    with pytest.raises(BugError):
        to_yaml({"value": value})


def test_the_first_line_has_the_source_and_a_digest_of_the_rest() -> None:
    text = header("jobs/team/demo.yaml", digest_of("a: b\n")) + "a: b\n"
    match = HEADER.match(text)
    assert match is not None
    assert match["source"] == "jobs/team/demo.yaml"
    assert untouched(text)
    assert not untouched(text.replace("b\n", "c\n"))
    assert not untouched("a: b\n")
    assert text.count("\n") == 2


PIECES = st.lists(
    st.sampled_from([RUN, TRIAL, "-", "a", "7", " ", ":", "\n", '"', "\\", "é", "/", "run", "#"]), max_size=6
)


@pytest.mark.parametrize("digest", ["0123abcd", "abcd0123", "12345678", "1e234567", "deadbeef"])
@given(pieces=PIECES)
def test_the_hash_of_a_run_is_written_as_if_the_object_had_it(digest: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"a": text, text: "b", "list": [text, {"c": text}, [text]]},
    }
    assert to_yaml(body, digest) == to_yaml(fill_hash(body, digest))
