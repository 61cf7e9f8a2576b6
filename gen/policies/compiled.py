"""A policy with its expressions compiled. From `apiserver/pkg/admission/plugin/policy/validating/plugin.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.cel.admission import admission_environment
from gen.cel.program import compile_expression

if TYPE_CHECKING:
    from gen.cel.program import Program
    from gen.cel.types import Type
    from gen.diagnostics import Route
    from gen.kubernetes import Body

_NAMES: Final = frozenset({"object", "oldObject", "request", "namespaceObject", "authorizer"})


class Validation(Struct, frozen=True, kw_only=True):
    """One validation of a policy."""

    route: Route
    program: Program
    message: str
    message_program: Program | None


class Compiled(Struct, frozen=True, kw_only=True):
    """The expressions of a policy."""

    conditions: tuple[tuple[Route, Program], ...]
    variables: dict[str, Program]
    validations: tuple[Validation, ...]
    audits: tuple[tuple[Route, Program], ...]
    """Values of annotations of the server's audit log."""


def compiled(spec: Body) -> Compiled:
    """Compile all expressions of a policy. CompileError for the first that a server would refuse."""
    names = _NAMES | ({"params"} if spec.get("paramKind") else set())
    types: dict[str, Type] = {}
    conditions = tuple(
        (("spec", "matchConditions", index, "expression"), _program(one, "expression", names))
        for index, one in enumerate(spec.get("matchConditions") or ())
    )
    variables: dict[str, Program] = {}
    for one in spec.get("variables") or ():
        program = _program(one, "expression", names, types)
        variables[one["name"]], types[one["name"]] = program, program.type
    validations = tuple(
        Validation(
            route=("spec", "validations", index),
            program=_program(one, "expression", names, types),
            message=str(one.get("message") or ""),
            message_program=_program(one, "messageExpression", names - {"authorizer"}, types)
            if one.get("messageExpression")
            else None,
        )
        for index, one in enumerate(spec.get("validations") or ())
    )
    audits = tuple(
        (("spec", "auditAnnotations", index), _program(one, "valueExpression", names, types))
        for index, one in enumerate(spec.get("auditAnnotations") or ())
    )
    return Compiled(conditions=conditions, variables=variables, validations=validations, audits=audits)


def _program(holder: Body, field: str, names: frozenset[str], types: dict[str, Type] | None = None) -> Program:
    own = names if types is None else names | {"variables"}
    return compile_expression(str(holder.get(field) or ""), admission_environment(own, types))
