"""Checks of names, keys and labels, as the API server makes them.

From `apimachinery/pkg/util/validation/validation.go`, and `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gen.regex import regex
from gen.rules.fault import Fault

if TYPE_CHECKING:
    from gen.rules.fault import Check

ANY_SERVICE_NAME_SINCE = 36
"""Minor version of Kubernetes since which the name of a service may begin with a digit."""

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_MAX_SHOWN_LENGTH = 63


def text_check(pattern: str, longest: int, kind: str, remedy: str, *, propose: bool = False) -> Check:
    """A check that a text matches a pattern and is not too long.

    `kind` completes "`value` is not a valid …", and `remedy` completes "use …". With `propose`, the hint suggests the
    nearest valid lower-case name.
    """
    form = regex(pattern)

    @lru_cache(maxsize=4096)
    def check(value: Any) -> Fault | None:
        if len(value) > longest and form.fullmatch(value):
            return Fault(
                (), f"`{value[:20]}…` is longer than {longest} characters", f"shorten it by {len(value) - longest}"
            )
        if len(value) <= longest and form.fullmatch(value):
            return None
        near = _NOT_IN_NAMES.sub("-", value.lower()).strip("-") if propose else ""
        fits = near and len(near) <= min(longest, _MAX_SHOWN_LENGTH) and form.fullmatch(near)
        return Fault(
            (), f"`{value}` is not a valid {kind}", f"for example, use `{near}`: {remedy}" if fits else f"use {remedy}"
        )

    return check


_NOT_IN_NAMES = regex("[^a-z0-9]+")

dns_label = text_check(
    _LABEL,
    63,
    "DNS label",
    "at most 63 lower-case letters, digits and `-`, beginning and ending with a letter or digit",
    propose=True,
)
dns_1035_label = text_check(
    "[a-z](?:[-a-z0-9]*[a-z0-9])?",
    63,
    "service name",
    "a letter, then at most 62 lower-case letters, digits and `-`",
    propose=True,
)
dns_name = text_check(
    rf"{_LABEL}(?:\.{_LABEL})*",
    253,
    "DNS name",
    "lower-case letters and digits, with `-` and `.` in between",
    propose=True,
)
dns_wildcard = text_check(rf"\*\.{_LABEL}(?:\.{_LABEL})*", 253, "wildcard", "`*.` and a DNS name")
label_value = text_check(
    f"(?:{_NAME})?",
    63,
    "label value",
    "at most 63 letters and digits, with `-`, `_` and `.` in between, or an annotation for other texts",
    propose=True,
)
config_key = text_check(
    r"(?!\.\.)(?!\.$)[-._a-zA-Z0-9]+", 253, "key", "letters, digits, `-`, `_` and `.`, not beginning with `..`"
)
port_name = text_check(
    "(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*",
    15,
    "port name",
    "at most 15 lower-case letters, digits and single `-`, with at least one letter",
    propose=True,
)
header_name = text_check("[-A-Za-z0-9]+", 1 << 20, "header name", "letters, digits and `-`")
env_name = text_check(r"[ -<>-~]+", 1 << 20, "variable name", "printable ASCII characters except `=`")
strict_env_name = text_check(
    r"(?!\.\.)(?!\.$)[-._a-zA-Z][-._a-zA-Z0-9]*",
    1 << 20,
    "variable name before Kubernetes 1.32",
    "letters, digits, `_`, `-` and `.`, not beginning with a digit or `..`",
)
domain_path = text_check(
    rf"{_LABEL}(?:\.{_LABEL})*/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+",
    63,
    "domain-prefixed path",
    "a domain, `/` and a path, such as `example.com/name`",
)
_driver = text_check(rf"{_LABEL}(?:\.{_LABEL})*", 63, "driver name", "a domain, such as `disk.csi.example.com`")
_unqualified = text_check(
    _NAME, 63, "name", "at most 63 letters and digits, with `-`, `_` and `.` in between", propose=True
)


@lru_cache(maxsize=4096)
def qualified_name(value: Any) -> Fault | None:
    """A name with an optional DNS name and `/` before it: keys of labels, conditions, finalizers."""
    prefix, slash, name = value.rpartition("/")
    if (fault := _unqualified(name)) is not None:
        return Fault(
            (),
            f"the part after `/` in `{value}` is not a valid name" if slash else f"`{value}` is not a valid name",
            fault.hint,
        )
    if not slash or (fault := dns_name(prefix)) is None:
        return None
    return Fault((), f"the part before `/` in `{value}` is not a valid DNS name", fault.hint)


def driver_name(value: Any) -> Fault | None:
    """A short DNS name that may have upper-case letters."""
    return lower_case(_driver)(value)


def lower_case(check: Check) -> Check:
    """The check of the value in lower case."""

    def with_capitals(value: Any) -> Fault | None:
        fault = check(value.lower())
        return None if fault is None else Fault((), fault.message.replace(value.lower(), value), fault.hint)

    return with_capitals


def with_suffix(value: str) -> str:
    """A name that will get a suffix: the server allows a trailing `-` and checks this name instead."""
    return value[:-2] + "a" if len(value) > 1 and value.endswith("-") else value
