"""Checks of addresses, paths, numbers and words, as the API server makes them.

From `apimachinery/pkg/util/validation/validation.go` and `ip.go`, and `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Any

from gen.regex import regex
from gen.rules.fault import Fault, not_one_of
from gen.rules.name_checks import port_name

if TYPE_CHECKING:
    from gen.rules.fault import Check

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


def not_empty(value: Any) -> Fault | None:
    return None if value else Fault((), "must not be empty", "set a value")


def if_set(check: Check) -> Check:
    """For a field that counts as unset when it is empty or zero."""
    return lambda value: check(value) if value else None


def both(first: Check, second: Check) -> Check:
    return lambda value: first(value) or second(value)


port = between(1, 65535)
user_id = between(0, LARGEST_ID)
file_mode = between(0, 0o777)


def port_or_name(value: Any) -> Fault | None:
    return port_name(value) if isinstance(value, str) else port(value)
