"""The forms that an API server asks of single values, each as a check that says what is wrong, or nothing.

From `apimachinery/pkg/util/validation/validation.go` and `ip.go`, and `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gen.rules.fault import Fault, not_one_of

Check = Callable[[Any], Fault | None]
"""The fault of a value as a sentence with its remedy, or None."""

LARGEST_ID = 2**31 - 1
"""Of users, groups and whatever else fits into 32 bits with a sign."""

ANY_SERVICE_NAME_SINCE = 36
"""Minor version of Kubernetes since which the name of a service may begin with a digit."""

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_MAX_SHOWN_LENGTH = 63


def text_check(pattern: str, longest: int, kind: str, remedy: str, *, propose: bool = False) -> Check:
    """A text of one pattern and length; `kind` says what another is not, and `remedy` what to write.

    A name in lower case that is near is proposed on demand.
    """
    matches = re.compile(pattern).fullmatch

    @lru_cache(maxsize=4096)
    def check(value: Any) -> Fault | None:
        if len(value) > longest and matches(value):
            return Fault(
                (), f"`{value[:20]}…` is longer than {longest} characters", f"shorten it by {len(value) - longest}"
            )
        if len(value) <= longest and matches(value):
            return None
        near = _NOT_IN_NAMES.sub("-", value.lower()).strip("-") if propose else ""
        fits = near and len(near) <= min(longest, _MAX_SHOWN_LENGTH) and matches(near)
        return Fault((), f"`{value}` {kind}", f"write for example `{near}`: {remedy}" if fits else f"write {remedy}")

    return check


_NOT_IN_NAMES = re.compile("[^a-z0-9]+")

dns_label = text_check(
    _LABEL, 63, "is no DNS label", "at most 63 lower case letters, digits and `-` inside", propose=True
)
dns_1035_label = text_check(
    "[a-z](?:[-a-z0-9]*[a-z0-9])?",
    63,
    "is no name of a service",
    "a letter, then at most 62 lower case letters, digits and `-`",
    propose=True,
)
dns_name = text_check(
    rf"{_LABEL}(?:\.{_LABEL})*",
    253,
    "is no DNS name",
    "lower case letters and digits, `-` and `.` inside",
    propose=True,
)
dns_wildcard = text_check(rf"\*\.{_LABEL}(?:\.{_LABEL})*", 253, "is no wildcard", "`*.` and a DNS name")
label_value = text_check(
    f"(?:{_NAME})?",
    63,
    "cannot be the value of a label",
    "at most 63 letters and digits, `-`, `_` and `.` inside; other texts can be annotations",
    propose=True,
)
config_key = text_check(
    r"(?!\.\.)(?!\.$)[-._a-zA-Z0-9]+", 253, "is no key", "letters, digits, `-`, `_` and `.`, without `..` in front"
)
port_name = text_check(
    "(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*",
    15,
    "is no name of a port",
    "at most 15 lower case letters, digits and single `-`, with a letter among them",
    propose=True,
)
header_name = text_check("[-A-Za-z0-9]+", 1 << 20, "is no name of a header", "letters, digits and `-`")
env_name = text_check(r"[ -<>-~]+", 1 << 20, "is no name of a variable", "printable ASCII without `=`")
strict_env_name = text_check(
    r"(?!\.\.)(?!\.$)[-._a-zA-Z][-._a-zA-Z0-9]*",
    1 << 20,
    "is no name of a variable before Kubernetes 1.32",
    "letters, digits, `_`, `-` and `.`, without a digit or `..` in front",
)
domain_path = text_check(
    rf"{_LABEL}(?:\.{_LABEL})*/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+",
    63,
    "is no path after a domain",
    "a domain, `/` and a path, such as `example.com/name`",
)
_driver = text_check(
    rf"{_LABEL}(?:\.{_LABEL})*", 63, "is no name of a driver", "a domain, such as `disk.csi.example.com`"
)
_unqualified = text_check(
    _NAME, 63, "is no name", "at most 63 letters and digits, `-`, `_` and `.` inside", propose=True
)


@lru_cache(maxsize=4096)
def qualified_name(value: Any) -> Fault | None:
    """A name that may have a DNS name and `/` in front: keys of labels, conditions, finalizers."""
    prefix, slash, name = value.rpartition("/")
    if (fault := _unqualified(name)) is not None:
        return Fault((), f"behind the domain, `{value}` is no name" if slash else f"`{value}` is no name", fault.hint)
    if not slash or (fault := dns_name(prefix)) is None:
        return None
    return Fault((), f"what stands before `/` in `{value}` is no DNS name", fault.hint)


def driver_name(value: Any) -> Fault | None:
    """A DNS name that is short and may have capitals."""
    return lower_case(_driver)(value)


def lower_case(check: Check) -> Check:
    """The check, with capitals taken for small letters."""

    def with_capitals(value: Any) -> Fault | None:
        fault = check(value.lower())
        return None if fault is None else Fault((), fault.message.replace(value.lower(), value), fault.hint)

    return with_capitals


def ip(value: Any) -> Fault | None:
    return Fault((), f"`{value}` is no IP address", "write one such as `10.0.0.1`") if _address(value) is None else None


def endpoint_ip(value: Any) -> Fault | None:
    """An address that traffic can be sent to."""
    address = _address(value)
    if address is None:
        return ip(value)
    local = address.is_loopback or address.is_link_local or address.is_unspecified
    if local or _LINK_MULTICAST.match(value):
        return Fault((), f"`{value}` is an address of one machine or link only", "write one that nodes can reach")
    return None


_LEADING_ZEROS = re.compile(r"(?:(?<=\.)|^)0+(?=[0-9])")
_LINK_MULTICAST = re.compile(r"224\.0\.0\.|ff[0-9a-f]2:", re.IGNORECASE)


def _address(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """As Go's sloppy parser reads it, which lets leading zeros pass and no zone."""
    try:
        return ipaddress.ip_address(_LEADING_ZEROS.sub("", value) if "." in value else value.replace("%", " "))
    except ValueError:
        return None


def cidr(value: Any) -> Fault | None:
    """A range of addresses; spaces around it are allowed."""
    try:
        address, _, length = value.strip().partition("/")
        ipaddress.ip_network(f"{address}/{int(length)}" if length.isdecimal() else "", strict=False)
    except ValueError:
        return Fault(
            (), f"`{value}` is no range of IP addresses", "write an address and a length, such as `10.0.0.0/8`"
        )
    return None


def with_suffix(value: str) -> str:
    """A name to which something will be appended: the server lets it end with `-`, and looks at this instead."""
    return value[:-2] + "a" if len(value) > 1 and value.endswith("-") else value


def absolute(value: Any) -> Fault | None:
    return None if value.startswith("/") else Fault((), f"`{value}` is no absolute path", "begin it with `/`")


def no_step_back(value: Any) -> Fault | None:
    return Fault((), f"`{value}` contains `..`", "write the path without `..`") if ".." in value.split("/") else None


def descending(value: Any) -> Fault | None:
    """A relative path that stays inside."""
    if value.startswith("/"):
        near = value.lstrip("/")
        return Fault(
            (), f"`{value}` is no relative path", f"write `{near}`" if near else "write a path without `/` in front"
        )
    return no_step_back(value)


def file_name(value: Any) -> Fault | None:
    """A relative path of a file in a volume, whose own files begin with `..`."""
    if value.startswith(".."):
        return Fault((), f"`{value}` begins with `..`", "write a path inside of the volume")
    return descending(value)


def one_of(*words: str) -> Check:
    """A word of a list."""
    return lambda value: None if value in words else not_one_of(value, filter(None, words))


def between(low: int, high: int) -> Check:
    remedy = f"write a number from {low} to {high}" if low < high else f"write {low}"
    return lambda value: None if low <= value <= high else Fault((), f"{value} is not between {low} and {high}", remedy)


def at_least(low: int) -> Check:
    return lambda value: None if value >= low else Fault((), f"{value} is less than {low}", f"write {low} or more")


def not_empty(value: Any) -> Fault | None:
    return None if value else Fault((), "must not be empty", "write a value")


def if_set(check: Check) -> Check:
    """For a field where an empty text or zero means that it is not set."""
    return lambda value: check(value) if value else None


def both(first: Check, second: Check) -> Check:
    return lambda value: first(value) or second(value)


port = between(1, 65535)
user_id = between(0, LARGEST_ID)
file_mode = between(0, 0o777)


def port_or_name(value: Any) -> Fault | None:
    return port_name(value) if isinstance(value, str) else port(value)
