"""Formats of strings that an API server checks in custom resources, by the functions that it uses.

From `apiextensions-apiserver/pkg/apiserver/validation/formats.go`, `kube-openapi/pkg/validation/strfmt`, which uses
`asaskevich/govalidator`, and `net/url`, `net` and `time` of Go. Those of addresses of people, books, cards, colors and
ids of other databases are left out, because no public definition has them. It ignores all other formats.
"""

from __future__ import annotations

import calendar
import ipaddress
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final
from unicodedata import category

from gen.base import regex

_HEX: Final = "[0-9a-fA-F]"
_CONTROL = regex(r"[\x00-\x1f\x7f]")
_SCHEME = regex(r"([A-Za-z][A-Za-z0-9+.\-]*):(.*)", re.DOTALL)
_ESCAPE = regex(r"%(?![0-9A-Fa-f]{2})")
_ESCAPED = regex(rf"%({_HEX}{{2}})")
_ASCII_ESCAPE = regex(r"%(?!25)[0-7][0-9A-Fa-f]")
_HOST = regex(r"[^A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff]")
_PORT = regex(r":[0-9]*")
_USER = regex(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")


def url_fault(text: str) -> str | None:
    """Why `url.ParseRequestURI` of Go rejects a text; None if it accepts it."""
    if _CONTROL.search(text):
        return "net/url: invalid control character in URL"
    if not text or text.startswith(":"):
        return "missing protocol scheme" if text else "empty url"
    match = _SCHEME.fullmatch(text)
    rest = (match[2] if match else text).partition("?")[0]
    if not rest.startswith("/"):
        return None if match or text == "*" else "invalid URI for request"
    if match and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        user, _, host = authority.rpartition("@")
        if (fault := _host_fault(host)) is not None:
            return fault
        if not _USER.fullmatch(user):
            return "net/url: invalid userinfo"
        rest = f"{user}{slash}{path}"
    return _escape_fault(rest)


def _escape_fault(text: str) -> str | None:
    bad = _ESCAPE.search(text)
    return f'invalid URL escape "{text[bad.start() : bad.start() + 3]}"' if bad else None


def _host_fault(host: str) -> str | None:
    if "[" in host:
        return _literal_fault(host)
    name, colon, port = host.rpartition(":") if ":" in host else (host, "", "")
    return _port_fault(colon + port) or _name_fault(name)


def _literal_fault(host: str) -> str | None:
    """An IPv6 address in brackets, possibly with a zone."""
    if host.rfind("[") > 0:
        return "invalid IP-literal"
    if "]" not in host:
        return "missing ']' in host"
    name, _, port = host[1:].rpartition("]")
    address, mark, zone = name.partition("%25")
    escapes = [one[0] for one in _ESCAPED.finditer(mark + zone) if not _may_be_escaped(chr(int(one[1], 16)))]
    fault = _port_fault(port) or _name_fault(address) or _escape_fault(name)
    fault = fault or (f'invalid URL escape "{escapes[0]}"' if escapes else None) or _character_fault(zone)
    if fault is None:
        try:
            ipaddress.IPv6Address(address.replace("%", " "))  # it would take a zone
        except ValueError:
            return "invalid host"
    return fault


def _port_fault(port: str) -> str | None:
    return None if not port or _PORT.fullmatch(port) else f'invalid port "{port}" after host'


def _name_fault(name: str) -> str | None:
    """Only bytes that are not ASCII can be escaped."""
    found = _ASCII_ESCAPE.search(name)
    fault = f'invalid URL escape "{found[0]}"' if found else None
    return _escape_fault(name) or fault or _character_fault(name)


def _character_fault(name: str) -> str | None:
    bad = _HOST.search(name)
    return f'invalid character "{bad[0]}" in host name' if bad else None


def _may_be_escaped(character: str) -> bool:
    """Of a zone."""
    return character in "% " or (character.isascii() and not _CONTROL.match(character) and not _HOST.match(character))


_OCTET: Final = r"0*(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4: Final = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_CIDR: Final = regex(rf"(?:{_IPV4}/0*(?:3[0-2]|[12]?[0-9])|(.*)/0*(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))")
_SLOPPY: Final = regex(_IPV4)
_ZEROS: Final = regex(rf"(?<!{_HEX})0+(?={_HEX})")


def _is_ipv6(text: str, *, sloppy: bool = False) -> bool:
    """With `sloppy`, numbers may have leading zeros (`ParseIPSloppy`)."""
    try:
        ipaddress.IPv6Address(_ZEROS.sub("", text) if sloppy else text)
    except ValueError:
        return False
    return "%" not in text


def _ipv4(text: str) -> bool:
    return bool(_SLOPPY.fullmatch(text)) or ("." in text and _is_ipv6(text, sloppy=True))


def _cidr(text: str) -> bool:
    match = _CIDR.fullmatch(text)
    return match is not None and (match[1] is None or _is_ipv6(match[1], sloppy=True))


_DATE: Final = regex(r"([0-9]{4})-(0[0-9]|1[0-2])-([0-9]{2})")
_TIME: Final = regex(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")


def _date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None or match[2] == "00":
        return False
    # the year 0 is a leap year, and no year of `calendar`
    days = calendar.monthrange(int(match[1]) or 4, int(match[2]))[1]
    return 1 <= int(match[3]) <= days


def _date_time(text: str) -> bool:
    parts = text.lower().split("t")
    match = _TIME.fullmatch(parts[1]) if len(parts) > 1 and _date(parts[0]) else None
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


_GO_PART: Final = "([0-9]+(?:[.][0-9]*)?|[.][0-9]+)(ns|us|[\u00b5\u03bc]s|ms|s|m|h)"
_GO_DURATION: Final = regex(rf"[+-]?(?:0|(?:{_GO_PART})+)")
_GO_PARTS: Final = regex(_GO_PART)
_NANOSECONDS: Final = {
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs"), 10**3),  # with two characters that look like the Greek letter
    "ns": 1,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_OTHER_DURATION: Final = regex("(?<![0-9])([0-9]+)[\t\n\f\r ]*([A-Za-z\u00b5]+)")
_UNITS: Final = frozenset(("ns", "us", "\u00b5s", "ms", "s", "m", "h", "hr", "d", "w", "wk"))
_LONG_UNITS: Final = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _is_go_duration(text: str) -> bool:
    """Of `time.ParseDuration`: at most 64 bits of nanoseconds."""
    if not _GO_DURATION.fullmatch(text):
        return False
    total = sum(Decimal(number) * _NANOSECONDS[unit] for number, unit in _GO_PARTS.findall(text))
    return total < 2**63


def _is_too_large(digits: str) -> bool:
    """For 64 bits."""
    largest = str(2**63 - 1)
    return (len(number := digits.lstrip("0")), number) > (len(largest), largest)


def _duration(text: str) -> bool:
    """Of Go, or any text with a number and a unit, as Scala has them."""
    found = _OTHER_DURATION.findall(text)
    if any(_is_too_large(number) for number, _ in found):
        return False
    units = (unit.lower() for _, unit in found)
    return _is_go_duration(text) or any(one in _UNITS or one.startswith(_LONG_UNITS) for one in units)


def _matching(pattern: str) -> Callable[[str], bool]:
    form = regex(pattern)
    return lambda text: form.fullmatch(text) is not None


def _host_name(text: str) -> bool:
    """With letters and symbols of every script, which count as `a` and `$` here."""
    classes = {"L": "a", "S": "$"}
    plain = "".join(one if one.isascii() and one.isalnum() else classes.get(category(one)[0], one) for one in text)
    sizes = [len(label.encode("utf-8", "surrogatepass")) for label in text.split(".")]
    short = sum(sizes) + len(sizes) - 1 <= _LONGEST_HOST and max(sizes) <= _LONGEST_LABEL
    return short and _HOST_NAME.fullmatch(plain) is not None


_LONGEST_HOST: Final = 255
_LONGEST_LABEL: Final = 63
_PART: Final = "[a-zA-Z0-9$]"
_HOST_NAME: Final = regex(
    rf"{_PART}(?:-?{_PART}{{0,62}})?|(?:{_PART}(?:[a-zA-Z0-9$-]{{0,61}}{_PART})?\.)+[a-zA-Z]{{2,63}}"
)


def _uuid(third: str, fourth: str) -> Callable[[str], bool]:
    groups = (f"{_HEX}{{8}}", f"{_HEX}{{4}}", third, fourth, f"{_HEX}{{12}}")
    return _matching("-?".join(groups))


def _mac() -> str:
    pairs = (f"{_HEX}{{2}}(?:{mark}{_HEX}{{2}}){{{more}}}" for mark in ":-" for more in (5, 7, 19))
    quads = (rf"{_HEX}{{4}}(?:\.{_HEX}{{4}}){{{more}}}" for more in (2, 3, 9))
    return "|".join((*pairs, *quads, *(f"{_HEX}{{{size}}}" for size in (12, 16, 40))))


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "byte": _matching("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "cidr": _cidr,
    "date": _date,
    "datetime": _date_time,
    "duration": _duration,
    "hostname": _host_name,
    "ipv4": _ipv4,
    "ipv6": _is_ipv6,
    "mac": _matching(_mac()),
    "uri": lambda text: url_fault(text) is None,
    "uuid": _uuid(f"{_HEX}{{4}}", f"{_HEX}{{4}}"),
    "uuid3": _uuid(f"3{_HEX}{{3}}", f"{_HEX}{{4}}"),
    "uuid4": _uuid(f"4{_HEX}{{3}}", f"[89abAB]{_HEX}{{3}}"),
    "uuid5": _uuid(f"5{_HEX}{{3}}", f"[89abAB]{_HEX}{{3}}"),
}
"""By the name without hyphens."""
KEYWORD: Final = "x-format-of-server"
"""Keyword of closed schemas for a format that is in `FORMATS`, by the name that the definition has."""


def format_of(schema: Mapping[str, object]) -> str | None:
    """The format of strings that a server checks for a schema. Parts of a combination may have no type."""
    name = str(schema.get("format", ""))
    return name if name.replace("-", "") in FORMATS and schema.get("type", "string") == "string" else None


class _FormatCheck:
    """The keyword, in the form that jsonschema-rs takes."""

    def __init__(self, _schema: object, name: str, _route: object) -> None:
        self.name, self.accepts = name, FORMATS[name.replace("-", "")]

    def validate(self, value: object) -> None:
        """ValueError for a text that has not the format."""
        if isinstance(value, str) and not self.accepts(value):
            raise ValueError(self.name)


KEYWORDS: Final[dict[str, Any]] = {KEYWORD: _FormatCheck}
"""The argument of validators of closed schemas."""
