"""Quantities, and the authorizer of policies, which can only be evaluated in a cluster.

From `quantity.go` and `authz.go` of `apiserver/pkg/cel/library`, and `resource.ParseQuantity` of apimachinery.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, Final

from gen.base import regex
from gen.kubernetes.cel.environment import since, text_work
from gen.kubernetes.cel.values import MAX_INT, MIN_INT, CelError, NotEvaluatedError, Opaque

function = since(28)

_QUANTITY: Final = "kubernetes.Quantity"
_FORM = regex(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]{1,3})")
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_MAX_DIGITS: Final = 1000
_NANO: Final = Fraction(1, 10**9)
_BAD: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    "unable to parse quantity's suffix",
)


def _parsed(text: str) -> Fraction:
    match = _FORM.fullmatch(text)
    if match is None or len(text) > _MAX_DIGITS or not (match[2] or match[3]):
        known = re.fullmatch(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*", text)
        raise CelError(_BAD[1] if known and text.count(".") <= 1 else _BAD[0])
    sign, whole, part, suffix = match.groups()
    value = Fraction(int(whole or 0)) + (Fraction(int(part), 10 ** len(part)) if part else 0)
    if suffix in _BINARY:
        value *= 2 ** _BINARY[suffix]
    else:
        exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
        value *= Fraction(10) ** exponent
    if value % _NANO:  # rounded up to the smallest unit
        value = (value // _NANO + 1) * _NANO
    return -value if sign == "-" else value


function("quantity(string) kubernetes.Quantity", work=text_work)(lambda text: Opaque(_QUANTITY, _parsed(text)))


@function("isQuantity(string) bool", work=text_work)
def _is_quantity(text: str) -> bool:
    try:
        _parsed(text)
    except CelError:
        return False
    return True


function("sign(kubernetes.Quantity) int")(lambda value: int(value.content > 0) - int(value.content < 0))
function("kubernetes.Quantity::isGreaterThan(kubernetes.Quantity) bool")(
    lambda one, other: bool(one.content > other.content)
)
function("kubernetes.Quantity::isLessThan(kubernetes.Quantity) bool")(
    lambda one, other: bool(one.content < other.content)
)
function("kubernetes.Quantity::compareTo(kubernetes.Quantity) int")(
    lambda one, other: int(one.content > other.content) - int(one.content < other.content)
)


@function("kubernetes.Quantity::asApproximateFloat() double")
def _as_float(value: Opaque) -> float:
    try:
        return float(value.content)
    except OverflowError:
        return math.inf if value.content > 0 else -math.inf


@function("kubernetes.Quantity::isInteger() bool")
def _is_integer(value: Opaque) -> bool:
    return bool(value.content.denominator == 1) and MIN_INT <= value.content <= MAX_INT


@function("kubernetes.Quantity::asInteger() int")
def _as_integer(value: Opaque) -> int:
    if not _is_integer(value):
        raise CelError("cannot convert value to integer")
    return int(value.content)


function("kubernetes.Quantity::add(kubernetes.Quantity) kubernetes.Quantity")(
    lambda one, other: Opaque(_QUANTITY, one.content + other.content)
)
function("kubernetes.Quantity::add(int) kubernetes.Quantity")(lambda one, other: Opaque(_QUANTITY, one.content + other))
function("kubernetes.Quantity::sub(kubernetes.Quantity) kubernetes.Quantity")(
    lambda one, other: Opaque(_QUANTITY, one.content - other.content)
)
function("kubernetes.Quantity::sub(int) kubernetes.Quantity")(lambda one, other: Opaque(_QUANTITY, one.content - other))


_AUTHORIZER = "kubernetes.authorization.Authorizer"
_PATH = "kubernetes.authorization.PathCheck"
_GROUP = "kubernetes.authorization.GroupCheck"
_RESOURCE = "kubernetes.authorization.ResourceCheck"
_DECISION = "kubernetes.authorization.Decision"


@since(27)(
    f"{_AUTHORIZER}::path(string) {_PATH}",
    f"{_PATH}::check(string) {_DECISION}",
    f"{_AUTHORIZER}::group(string) {_GROUP}",
    f"{_AUTHORIZER}::serviceAccount(string, string) {_AUTHORIZER}",
    f"{_GROUP}::resource(string) {_RESOURCE}",
    *(f"{_RESOURCE}::{name}(string) {_RESOURCE}" for name in ("subresource", "namespace", "name")),
    *(f"{_RESOURCE}::{name}(string) {_RESOURCE}" for name in ("fieldSelector", "labelSelector")),
    f"{_RESOURCE}::check(string) {_DECISION}",
    f"{_DECISION}::errored() bool",
    f"{_DECISION}::error() string",
    f"{_DECISION}::allowed() bool",
    f"{_DECISION}::reason() string",
)
def _authorization(*_: Any) -> Any:
    raise NotEvaluatedError("the permissions of the user are only known in a cluster")
