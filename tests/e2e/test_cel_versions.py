"""Functions of CEL by version of Kubernetes agree with `k8s.io/apiserver`, built from its Go module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.kubernetes.cel import library
from gen.kubernetes.cel.environment import FUNCTIONS
from gen.kubernetes.cel.program import compile_expression
from gen.kubernetes.cel.values import CompileError, Type
from gen.kubernetes.cel.variables import admission_environment
from tests.go_programs import answers, go_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MINORS = range(30, 37)
"""`admissionregistration.k8s.io/v1` has policies since 1.30; `k8s.io/apiserver` is of 1.36."""
VALUES = {
    "int": "1",
    "uint": "1u",
    "double": "1.5",
    "string": "'1s'",
    "bool": "true",
    "bytes": "b'a'",
    "null": "null",
    "duration": "duration('1s')",
    "timestamp": "timestamp('2024-01-01T00:00:00Z')",
    "dyn": "dyn(1)",
    "type": "int",
    "kubernetes.Quantity": "quantity('1')",
    "kubernetes.URL": "url('https://a')",
    "kubernetes.Semver": "semver('1.0.0')",
    "kubernetes.NamedFormat": "format.named('uri').value()",
    "net.IP": "ip('192.0.2.1')",
    "net.CIDR": "cidr('192.0.2.0/24')",
    "kubernetes.authorization.Authorizer": "authorizer",
    "kubernetes.authorization.PathCheck": "authorizer.path('/a')",
    "kubernetes.authorization.GroupCheck": "authorizer.group('')",
    "kubernetes.authorization.ResourceCheck": "authorizer.group('').resource('pods')",
    "kubernetes.authorization.Decision": "authorizer.path('/a').check('get')",
}
CHECKED_LATER = {"timestamp('1s')", "duration(1)", "'1s'.format([dyn(1)])"}
"""Valid by their types; the literals in them are not."""
MACROS = [
    "[1].all(i, v, v == 1)",
    "[1].existsOne(i, v, v == 1)",
    "[1].existsOne(v, v == 1)",
    "[1].exists_one(v, v == 1)",
    "[1].transformList(i, v, v)",
    "{1: 1}.transformMap(k, v, v)",
    "{1: 1}.transformMapEntry(k, v, {v: k})",
    "cel.bind(a, 1, a)",
    "optional.of(1).optMap(x, x)",
    "[1].sortBy(x, x)",
    "object.?a",
    "object[?'a']",
    "'a%d'.format([1])",
    "object.a.reverse()",
]


def value(type_: Type) -> str:
    if type_.is_parameter:
        return "1"
    if type_.name == "list":
        return f"[{value(type_.of[0])}]"
    if type_.name == "map":
        key = "'a'" if type_.of[0].is_parameter else value(type_.of[0])
        return f"{{{key}: {value(type_.of[1])}}}"
    if type_.name == "optional":
        return f"optional.of({value(type_.of[0])})"
    return VALUES[type_.name]


def calls() -> Iterator[str]:
    """A call of each overload of each function."""
    library.load()
    for name, overloads in FUNCTIONS.items():
        for overload in overloads if name[0].isalpha() else ():
            given = [value(one) for one in overload.parameters]
            yield f"{given[0]}.{name}({', '.join(given[1:])})" if overload.method else f"{name}({', '.join(given)})"


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return go_program("celref", tmp_path_factory.mktemp("go"))


def compiles(expression: str, minor: int) -> bool:
    try:
        compile_expression(expression, admission_environment({"object", "authorizer"}, minor=minor))
    except CompileError:
        return False
    return True


@pytest.mark.slow
def test_each_function_is_accepted_from_the_same_version_on(reference: Path) -> None:
    expressions = list(dict.fromkeys([*calls(), *MACROS]).keys() - CHECKED_LATER)
    cases = [(expression, minor) for expression in expressions for minor in MINORS]
    errors = answers(reference, [{"expression": expression, "minor": minor} for expression, minor in cases])
    different = [
        (*case, error) for case, error in zip(cases, errors, strict=True) if compiles(*case) is not (not error)
    ]
    assert not different
    refused = sum(map(bool, errors))
    assert len(expressions) > 200
    assert 100 < refused < len(cases) / 2
