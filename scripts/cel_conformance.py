"""Measure how much of the CEL specification's test data the expressions of gen pass.

python -m scripts.cel_conformance CEL_SPEC, a checkout of https://github.com/google/cel-spec
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.evaluate import closure
from gen.kubernetes.cel.parser import parse
from gen.kubernetes.cel.program import Program, compile_expression
from gen.kubernetes.cel.values import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    CelError,
    CompileError,
    Duration,
    NotEvaluatedError,
    Timestamp,
    Type,
    UInt,
    equal,
    list_of,
    map_of,
    tag,
    type_name,
)
from scripts.textproto import read_textproto

if TYPE_CHECKING:
    from collections.abc import Callable

_TESTS = "tests/simple/testdata"
_PRIMITIVE = {"BOOL": BOOL, "INT64": INT, "UINT64": UINT, "DOUBLE": DOUBLE, "STRING": STRING, "BYTES": BYTES}
_KNOWN = {"TIMESTAMP": TIMESTAMP, "DURATION": DURATION, "ANY": DYN}
ABSENT = {"block_ext", "encoders_ext", "math_ext"}
"""Extensions that API servers do not have (`baseOpts` of `apiserver/pkg/cel/environment/base.go`)."""
MESSAGES = ("cel.expr.conformance", "TestAllTypes", "google.protobuf", "GlobalEnum")
"""What only expressions over protocol buffers contain. No object of Kubernetes is one."""


class UnsupportedError(Exception):
    """A value that gen has no form of."""


def value_of(message: dict[str, list[Any]]) -> Any:
    """A value of CEL."""
    name: str
    content: Any
    name, content = next(((key, found[0]) for key, found in message.items()), ("null_value", "NULL_VALUE"))
    simple: dict[str, Callable[[], Any]] = {
        "null_value": lambda: None,
        "bool_value": lambda: content == "true",
        "int64_value": lambda: int(content),
        "uint64_value": lambda: UInt(content),
        "double_value": lambda: _double(content),
        "string_value": lambda: str(content, "utf-8"),
        "bytes_value": lambda: content,
        "type_value": lambda: Type(str(content, "utf-8")),
        "list_value": lambda: [value_of(one) for one in content.get("values", ())],
        "map_value": lambda: {value_of(one["key"][0]): value_of(one["value"][0]) for one in content.get("entries", ())},
        "object_value": lambda: _object(content),
    }
    if name not in simple:
        raise UnsupportedError(name)
    return simple[name]()


def _double(text: str) -> float:
    return {"inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}.get(text) or float(text)


def _object(content: dict[str, list[Any]]) -> Any:
    ((name, (fields, *_)),) = content.items()
    kind = name.strip("[]").rpartition(".")[2]
    if kind in {"Timestamp", "Duration"}:
        nanos = int(fields.get("seconds", ["0"])[0]) * 10**9 + int(fields.get("nanos", ["0"])[0])
        return Timestamp(nanos) if kind == "Timestamp" else Duration(nanos)
    raise UnsupportedError(name)


def type_of(message: dict[str, list[Any]]) -> Type:
    """A declared type."""
    ((name, (content, *_)),) = message.items()
    if name == "primitive":
        return _PRIMITIVE[content]
    if name == "well_known":
        return _KNOWN[content]
    if name == "list_type":
        return list_of(type_of(content["elem_type"][0]))
    if name == "map_type":
        return map_of(type_of(content["key_type"][0]), type_of(content["value_type"][0]))
    if name in {"dyn", "null"}:
        return DYN if name == "dyn" else NULL
    raise UnsupportedError(name)


def passes(test: dict[str, list[Any]]) -> bool:
    """Whether the result of a test is the expected one."""
    try:
        declared = {one["name"][0].decode(): one for one in test.get("type_env", ()) if "ident" in one}
        variables = {name: type_of(one["ident"][0]["type"][0]) for name, one in declared.items()}
        values = {
            one["key"][0].decode(): value_of(one["value"][0].get("value", [{}])[0]) for one in test.get("bindings", ())
        }
        text, environment = test["expr"][0].decode(), Environment(variables, {}, mixed=True)
        checked = test.get("disable_check") != ["true"]
        program = compile_expression(text, environment) if checked else Program(text, DYN, closure(parse(text), {}))
        if test.get("check_only") == ["true"]:
            return program.type == type_of(test["typed_result"][0]["deduced_type"][0])
        found = program.evaluate(values)[0]
    except (CelError, CompileError):
        return "eval_error" in test or "any_eval_errors" in test
    except (NotEvaluatedError, UnsupportedError, KeyError):
        return False
    expected = True
    if "value" in test:
        expected = value_of(test["value"][0])
    elif "typed_result" in test:
        expected = value_of(test["typed_result"][0]["result"][0])
    elif "eval_error" in test or "any_eval_errors" in test:
        return False
    return _same(found, expected)


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, Type):
        return isinstance(found, Type) and found.name == expected.name
    if isinstance(found, float) and isinstance(expected, float) and math.isnan(found) and math.isnan(expected):
        return True
    return type_name(found) == type_name(expected) and equal(found, expected) and tag(found) == tag(expected)


def groups(folder: Path) -> list[tuple[str, str, dict[str, list[Any]]]]:
    """All tests with their file and group."""
    return [
        (path.stem, section["name"][0].decode(), test)
        for path in sorted((folder / _TESTS).glob("*.textproto"))
        for section in read_textproto(path.read_text()).get("section", ())
        for test in section.get("test", ())
    ]


def needs_messages(test: dict[str, list[Any]]) -> bool:
    """Whether a test is about protocol buffers."""
    text = str(test)
    return any(
        word in text.replace("google.protobuf.Timestamp", "").replace("google.protobuf.Duration", "")
        for word in MESSAGES
    )


def main(folder: str) -> None:
    """Print the shares by file and the groups with failures."""
    tests, passed, total, own = groups(Path(folder)), Counter[str](), Counter[str](), Counter[str]()
    failed: dict[str, list[str]] = {}
    for file, section, test in tests:
        good = passes(test)
        total[file] += 1
        passed[file] += good
        kind = "messages" if needs_messages(test) else "absent" if file in ABSENT else "values"
        own[kind] += 1
        own[f"{kind} passed"] += good
        if not good:
            failed.setdefault(f"{file}/{section}", []).append(test["name"][0].decode() + f" ({kind})")
    for file, count in sorted(total.items()):
        print(f"{file:20} {passed[file]:4} of {count:4}")
    print(f"all: {sum(passed.values())} of {len(tests)} ({sum(passed.values()) / len(tests):.1%})")
    share = own["values passed"] / own["values"]
    print("without protocol buffers, and without extensions that API servers do not have: ", end="")
    print(f"{own['values passed']} of {own['values']} ({share:.1%})")
    for group, names in sorted(failed.items()):
        print(f"failing: {group}: {', '.join(names)}")


if __name__ == "__main__":
    main(sys.argv[1])
