"""Checks of single values: names, keys, labels, numbers, words, lists and quantities.

From `apimachinery/pkg/util/validation/validation.go` and `ip.go`, and `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Any

from gen.base import regex
from gen.kubernetes.quantity import server_amount
from gen.kubernetes.rules import Check, Fault, not_one_of

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


def driver_name(value: object) -> Fault | None:
    """A short DNS name that may have upper-case letters."""
    return lower_case(_driver)(value)


def lower_case(check: Check) -> Check:

    def with_capitals(value: Any) -> Fault | None:
        fault = check(value.lower())
        return None if fault is None else Fault((), fault.message.replace(value.lower(), value), fault.hint)

    return with_capitals


def with_suffix(value: str) -> str:
    """A name that will get a suffix: the server allows a trailing `-` and checks this name instead."""
    return value[:-2] + "a" if len(value) > 1 and value.endswith("-") else value


LARGEST_ID = 2**31 - 1
"""Largest user id, group id and other signed 32-bit integer."""


def ip(value: Any) -> Fault | None:
    if _address(value) is not None:
        return None
    return Fault((), f"`{value}` is not a valid IP address", "use an address such as `10.0.0.1`")


def endpoint_ip(value: Any) -> Fault | None:
    """An address that traffic can be sent to."""
    address = _address(value)
    if address is None:
        return ip(value)
    local = address.is_loopback or address.is_link_local or address.is_unspecified
    if local or _LINK_MULTICAST.match(value):
        return Fault((), f"`{value}` is a loopback or link-local address", "use an address that nodes can reach")
    return None


_LEADING_ZEROS = regex(r"(?:(?<=\.)|^)0+(?=[0-9])")
_LINK_MULTICAST = regex(r"224\.0\.0\.|ff[0-9a-f]2:", re.IGNORECASE)


def _address(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """As Go's sloppy parser reads it: leading zeros are allowed, zones are not."""
    try:
        return ipaddress.ip_address(_LEADING_ZEROS.sub("", value) if "." in value else value.replace("%", " "))
    except ValueError:
        return None


def cidr(value: Any) -> Fault | None:
    """A range of IP addresses. Surrounding spaces are allowed."""
    try:
        address, _, length = value.strip().partition("/")
        ipaddress.ip_network(f"{address}/{int(length)}" if length.isdecimal() else "", strict=False)
    except ValueError:
        return Fault(
            (),
            f"`{value}` is not a valid range of IP addresses",
            "use an address and a prefix length, such as `10.0.0.0/8`",
        )
    return None


def absolute(value: Any) -> Fault | None:
    return None if value.startswith("/") else Fault((), f"`{value}` is not an absolute path", "begin it with `/`")


def no_step_back(value: Any) -> Fault | None:
    return Fault((), f"`{value}` contains `..`", "use a path without `..`") if ".." in value.split("/") else None


def descending(value: Any) -> Fault | None:
    """A relative path without `..`."""
    if value.startswith("/"):
        near = value.lstrip("/")
        return Fault(
            (),
            f"`{value}` is not a relative path",
            f"use `{near}`" if near else "use a path that does not begin with `/`",
        )
    return no_step_back(value)


def file_name(value: Any) -> Fault | None:
    """A relative path of a file in a volume. Names that begin with `..` are reserved for the volume itself."""
    if value.startswith(".."):
        return Fault((), f"`{value}` begins with `..`", "use a path inside the volume")
    return descending(value)


def one_of(*words: str) -> Check:
    """One of the allowed words."""
    return lambda value: None if value in words else not_one_of(value, filter(None, words))


def between(low: int, high: int) -> Check:
    remedy = f"use a number from {low} to {high}" if low < high else f"use the number {low}"
    return lambda value: None if low <= value <= high else Fault((), f"{value} is not between {low} and {high}", remedy)


def at_least(low: int) -> Check:
    return lambda value: None if value >= low else Fault((), f"{value} is less than {low}", f"use {low} or more")


def not_empty(value: object) -> Fault | None:
    return None if value else Fault((), "must not be empty", "set a value")


def if_set(check: Check) -> Check:
    """For a field that counts as unset when it is empty or zero."""
    return lambda value: check(value) if value else None


def both(first: Check, second: Check) -> Check:
    return lambda value: first(value) or second(value)


port = between(1, 65535)
user_id = between(0, LARGEST_ID)
file_mode = between(0, 0o777)


def port_or_name(value: object) -> Fault | None:
    return port_name(value) if isinstance(value, str) else port(value)


_BYTES = regex(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kKmMgGtTpPeE])(?:i?[bB]|i)|([0-9]{1,18}) ?[bB]")
"""Spellings of memory that are common outside of Kubernetes."""


def quantity(value: object) -> Fault | None:
    """Check that a value is a quantity."""
    return invalid_quantity(value) if server_amount(value) is None else None


def invalid_quantity(value: object) -> Fault:
    match = _BYTES.fullmatch(str(value))
    hint = "use a form like `500m`, `8` or `16Gi`"
    if match is not None:
        hint = f"write `{match[3] or match[1] + match[2].upper() + 'i'}`"
    return Fault((), f"`{value}` is not a valid quantity", hint)


def not_negative(value: object) -> Fault | None:
    number = server_amount(value)
    if number is None:
        return quantity(value)
    return Fault((), f"`{value}` is negative", "write 0 or more") if number < 0 else None


def positive(value: object) -> Fault | None:
    number = server_amount(value)
    if number is None:
        return quantity(value)
    return None if number > 0 else Fault((), f"`{value}` is not more than 0", "write more than 0")


def path_segment(value: Any) -> Fault | None:
    """A name that is part of a request path."""
    if not value:
        return not_empty(value)
    if value not in {".", ".."} and "/" not in value and "%" not in value:
        return None
    hint = "use a name without `/` and `%`, other than `.` and `..`"
    return Fault((), f"`{value}` cannot be part of a request path", hint)
