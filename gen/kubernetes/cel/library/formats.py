"""Named formats of strings. From `apiserver/pkg/cel/library/format.go`, and `validation.go` of apimachinery.

URLs. From `apiserver/pkg/cel/library/urls.go`, and `net/url` of Go.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from gen.kubernetes.cel.environment import function, since, text_work
from gen.kubernetes.cel.library.times import parse_timestamp
from gen.kubernetes.cel.values import NONE, CelError, Opaque, Optional
from gen.kubernetes.formats import url_fault

_URL: Final = "kubernetes.URL"


@function("url(string) kubernetes.URL", work=text_work)
def _url(text: str) -> Opaque:
    fault = url_fault(text)
    if fault is None:
        try:
            return Opaque(_URL, urlsplit(text))
        except ValueError as error:
            fault = str(error)
    shown = f'"{text}"'
    raise CelError(f"URL parse error during conversion from string: parse {shown}: {fault}")


function("isURL(string) bool", work=text_work)(lambda text: url_fault(text) is None)


def _parts(url: Opaque) -> SplitResult:
    parts: SplitResult = url.content
    return parts


def _host(url: Opaque) -> str:
    return unquote(_parts(url).netloc.rpartition("@")[2])


function("kubernetes.URL::getScheme() string")(lambda url: _parts(url).scheme)
function("kubernetes.URL::getHost() string")(_host)


@function("kubernetes.URL::getHostname() string")
def _get_hostname(url: Opaque) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1 : host.find("]")]
    return host.rpartition(":")[0] if ":" in host else host


@function("kubernetes.URL::getPort() string")
def _get_port(url: Opaque) -> str:
    host = _host(url)
    return host.rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""


function("kubernetes.URL::getEscapedPath() string")(lambda url: quote(_parts(url).path, safe="/%$&+,:;=@!'()*~-._[]"))


@function("kubernetes.URL::getQuery() map(string, list(string))")
def _get_query(url: Opaque) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in parse_qsl(_parts(url).query, keep_blank_values=True):
        found.setdefault(key, []).append(value)
    return found


format_function = since(31)

_FORMAT: Final = "kubernetes.NamedFormat"
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    f"'{_LABEL}')"
)


def _matching(pattern: str, size: int, message: str, *, prefix: bool = False) -> Callable[[str], list[str]]:
    form = re.compile(pattern)

    def check(text: str) -> list[str]:
        whole = f"{text[:-1]}a" if prefix and text.endswith("-") else text
        long = [f"must be no more than {size} bytes"] if len(whole) > size else []
        return [*long, *([] if form.fullmatch(whole) else [message])]

    return check


def _accepted(check: Callable[[str], object], message: str) -> Callable[[str], list[str]]:
    def validate(text: str) -> list[str]:
        try:
            check(text)
        except (CelError, ValueError, binascii.Error):
            return [message]
        return []

    return validate


def _uri(text: str) -> list[str]:
    fault = url_fault(text)
    return [f'parse "{text}": {fault}'] if fault is not None else []


def _qualified(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    bad = slash and _CHECKS["dns1123Subdomain"](prefix)
    return ["not a valid qualified name"] if bad or _QUALIFIED(name) else []


_QUALIFIED = _matching(_NAME, 63, "not a valid qualified name")
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_LABEL}(\\.{_LABEL})*')"
)
_OLD_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_CHECKS: Final[dict[str, Callable[[str], list[str]]]] = {
    "dns1123Label": _matching(_LABEL, 63, _LABEL_TEXT),
    "dns1123Subdomain": _matching(_SUBDOMAIN, 253, _SUBDOMAIN_TEXT),
    "dns1035Label": _matching("[a-z]([-a-z0-9]*[a-z0-9])?", 63, _OLD_TEXT),
    "qualifiedName": _qualified,
    "dns1123LabelPrefix": _matching(_LABEL, 63, _LABEL_TEXT, prefix=True),
    "dns1123SubdomainPrefix": _matching(_SUBDOMAIN, 253, _SUBDOMAIN_TEXT, prefix=True),
    "dns1035LabelPrefix": _matching("[a-z]([-a-z0-9]*[a-z0-9])?", 63, _OLD_TEXT, prefix=True),
    "labelValue": _matching(f"({_NAME})?", 63, _VALUE_TEXT),
    "uri": _uri,
    "uuid": _matching(
        "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", 36, "does not match the UUID format"
    ),
    "byte": _accepted(lambda text: base64.b64decode(text, validate=True), "invalid base64"),
    "date": _accepted(lambda text: parse_timestamp(f"{text}T00:00:00Z"), "invalid date"),
    "datetime": _accepted(parse_timestamp, "invalid datetime"),
}


@format_function("format.named(string) optional(kubernetes.NamedFormat)")
def _named(name: str) -> Optional:
    return Optional(Opaque(_FORMAT, name)) if name in _CHECKS else NONE


def _constant(name: str) -> None:
    format_function(f"format.{name}() kubernetes.NamedFormat")(lambda: Opaque(_FORMAT, name))


for _one in _CHECKS:
    _constant(_one)


@format_function("kubernetes.NamedFormat::validate(string) optional(list(string))", work=lambda _, text: len(text))
def _validate(format_: Opaque, text: str) -> Optional:
    faults = _CHECKS[format_.content](text)
    return Optional(faults) if faults else NONE
