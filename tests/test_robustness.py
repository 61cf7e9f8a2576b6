"""`gen validate` ends with findings for any input: no traceback, no crash, no hang.

Hypothesis generates bytes, YAML and objects; `ROBUSTNESS_EXAMPLES` sets the number of each, for a longer run.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gen.kubernetes.check.objects import check
from gen.kubernetes.schemas.lookup import Kinds
from gen.report.formats import REPORTERS
from tests import forks
from tests.kubernetes.rules.support import objects
from tests.support import PROJECT, validated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EXAMPLES = int(os.environ.get("ROBUSTNESS_EXAMPLES", settings().max_examples))
KINDS = Kinds("1.34")
TIMEOUT = 300
"""Seconds after which a process counts as hanging. A slow machine needs far less."""


def judge(body: Any) -> None:
    assert [problem for problem in check(body, KINDS).problems if problem.rule == "internal-error"] == []


def gvk(body: Any) -> tuple[str, str]:
    return body["apiVersion"], body["kind"]


def shown(value: Any) -> str:
    return ascii(value)[:12]


fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["a", "1", "-1", "1Gi", "1e30", "9" * 4400]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=8,
)
documents = st.text(alphabet="-:[]{}&*!|>'\"%@`,?#~ \n\tab01<.y", max_size=80)

ODDITIES: dict[str, bytes | Callable[[], bytes]] = {
    "nothing": b"",
    "NUL": b"apiVersion: v1\0\nkind: Pod\n",
    "UTF-16": "apiVersion: v1\nkind: Pod\n".encode("utf-16"),
    "Latin 1": "apiVersion: v1\nkind: Pod # ü\n".encode("latin-1"),
    "half a character": b"a: \xf0\x9f",
    "deep lists": b"[" * 100_000,
    "deep mappings": b"{a: " * 100_000,
    "deep blocks": b"".join(b" " * depth + b"a:\n" for depth in range(1500)),
    "deep dashes": b"- " * 100_000,
    "deep JSON": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "bomb": b"a: &a [x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (n + 1, n + 1, b", ".join([b"*%c" % n] * 9)) for n in range(97, 117)),
    "alias of itself": b"a: &a [*a]\n",
    "merge of itself": b"a: &a {<<: *a}\n",
    "large": lambda: b"a: " + b"x" * (50 << 20),
    "many values": lambda: b"[" + b"1," * (7 << 20) + b"]",
    "many words of YAML 1.1": lambda: b"a:\n" + b'- "yes"\n' * 60_000,
    "many numbers of YAML 1.1": lambda: b"a:\n" + b"".join(b'- "1_%d"\n' % number for number in range(60_000)),
    "many documents": lambda: b"---\na: 1\n" * 30_000,
    "very many documents": lambda: b"---\n{}\n" * 1_900_000,
    "many deep documents": lambda: (b"---\n" + b"[" * 190 + b"]" * 190 + b"\n") * 30_000,
    "large object": lambda: (
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
        + b"".join(b"  k%d: 1\n" % number for number in range(900_000))
    ),
    "long number": b"a: " + b"9" * 100_000,
    "large exponent": b"a: 1e999999999",
    "long quantity": b"apiVersion: v1\nkind: Pod\nspec: {overhead: {cpu: " + b"1" * 50_000 + b"}}",
    "odd keys": b"{1: 2, true: 3, null: 4, [a]: 5}",
    "long hexadecimal number": b"a: 0x" + b"f" * 290,
    "long binary number": b"a: 0b" + b"1" * 5000,
    "unknown tag": b"a: !!python/object/apply:os.system [ls]",
    "half a surrogate": b'{"apiVersion": "v1", "kind": "\\ud800"}',
    "control characters": b'apiVersion: v1\nkind: "\\e[2J\\u202e"\n',
    "kinds that are no text": b"apiVersion: [v1]\nkind: {}\nmetadata: 1\n",
    "a list of nothing": b"kind: List\napiVersion: v1\nitems: [null, 1, [], {}]\n",
}


def look(path: Path, raw: bytes) -> int:
    path.write_bytes(raw)
    try:
        report, code = validated(str(path))
    except Exception as error:
        if type(error).__name__ == "UsageError":  # there is nothing in it
            return 2
        raise
    for reporter in REPORTERS.values():
        reporter(report)
    return code


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODDITIES.values(), ids=ODDITIES)
def test_an_odd_file_is_a_finding(odd: bytes | Callable[[], bytes], tmp_path: Path) -> None:
    """In a separate process, because a crash of the interpreter would end the tests."""
    path = tmp_path / "odd.yaml"
    path.write_bytes(odd if isinstance(odd, bytes) else odd())
    done = forks.ran("validate", path, cwd=PROJECT, env=os.environ, limit_s=TIMEOUT)
    assert done.returncode in {1, 2}, done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@fuzz
@given(raw=st.binary(max_size=200))
def test_any_bytes_are_read(tmp_path: Path, raw: bytes) -> None:
    look(tmp_path / "a.yaml", raw)


@fuzz
@given(text=documents)
def test_any_punctuation_is_read(tmp_path: Path, text: str) -> None:
    look(tmp_path / "a.yaml", text.encode())


@fuzz
@given(value=values)
def test_any_data_is_read(tmp_path: Path, value: Any) -> None:
    look(tmp_path / "a.yaml", yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass"))
    look(tmp_path / "a.yaml", json.dumps({"apiVersion": "v1", "kind": "Pod", "spec": value}).encode())


@fuzz
@given(data=st.data())
def test_any_value_in_any_place_of_an_object_is_judged(data: st.DataObject) -> None:
    body = json.loads(json.dumps(data.draw(st.sampled_from(objects("kubernetes.yaml")))))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(list(places(body))))
        if key in holder if isinstance(holder, dict) else key < len(holder):
            holder[key] = data.draw(values)
    judge(body)


NUMBERS = (2**31, 2**63, -(2**63), 1e308, 1e-308)
TEXTS = (
    "1e30",
    "-1e30",
    "1e999",
    "1e-999",
    "9" * 5000,
    "9" * 5000 + "%",
    "1:" + "9" * 5000,
    "\u0663",
    "\u00b2",
    "\0",
    "-",
)
KNOWN = [
    *objects("kubernetes.yaml"),
    *(body for body in objects("operators.yaml") if KINDS.get(*gvk(body)) is not None),
]


@pytest.mark.slow  # every place of a job with each value
@pytest.mark.parametrize("value", [None, {}, [], "", 0, True, [None], "missing", *NUMBERS, *TEXTS], ids=shown)
def test_an_odd_value_in_every_place_is_judged(value: Any) -> None:
    for body in KNOWN:
        for number in range(len(places(body))):
            changed = json.loads(json.dumps(body))
            holder, key = places(changed)[number]
            if value == "missing":
                del holder[key]
            else:
                holder[key] = value
            judge(changed)


@pytest.mark.parametrize("kind", ["CronJob", "HorizontalPodAutoscaler"])
def test_an_object_without_a_spec_is_refused(kind: str) -> None:
    (body, *_) = [body for body in objects("kubernetes.yaml") if body["kind"] == kind]
    assert check({**body, "spec": None}, KINDS).problems


def places(value: Any) -> list[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in pairs for place in ((value, key), *places(inner))]


def _defining(schema: Any) -> bytes:
    spec: dict[str, Any] = {"group": "x.io", "names": {"kind": "A"}, "scope": "Namespaced"}
    spec["versions"] = [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}]
    return json.dumps(
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    ).encode()


def _ruled(rule: str) -> bytes:
    return _defining({"type": "object", "x-kubernetes-validations": [{"rule": rule}]})


DEFINITIONS: dict[str, bytes] = {
    "pattern": _defining({"type": "object", "properties": {"spec": {"pattern": "("}}}),
    "type": _defining({"type": "foo"}),
    "enum": _defining({"type": "object", "enum": "a"}),
    "required": _defining({"type": "object", "required": "a"}),
    "rule that is no macro": _ruled("self.all(1, true)"),
    "rule without arguments": _ruled("self.map()"),
    "rule that is none": _ruled("self."),
    "deep": b'{"kind": "CustomResourceDefinition", "spec": {"names": {"kind": "A"}, "x": ' + b'{"not":' * 30_000,
    "bomb": b"kind: CustomResourceDefinition\nnames: {kind: A}\na0: &a0 {a: b}\n"
    + b"".join(b"a%d: &a%d {p: *a%d, q: *a%d, r: *a%d}\n" % (n, n, n - 1, n - 1, n - 1) for n in range(1, 21)),
}


@pytest.mark.slow
@pytest.mark.parametrize("raw", DEFINITIONS.values(), ids=DEFINITIONS)
def test_an_odd_definition_is_reported(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_bytes(raw)
    (tmp_path / "a.yaml").write_text("apiVersion: x.io/v1\nkind: A\nmetadata: {name: a}\n", "utf-8")
    arguments = ("validate", "--schema-location", tmp_path / "crd.yaml", tmp_path / "a.yaml")
    done = forks.ran(*arguments, cwd=PROJECT, env=os.environ, limit_s=TIMEOUT)
    assert done.returncode == 2 or "[cel-not-evaluated]" in done.stdout
    assert "Traceback" not in done.stderr + done.stdout
