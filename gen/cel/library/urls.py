"""URLs. From `apiserver/pkg/cel/library/urls.go`, and `net/url` of Go."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from gen.cel.errors import CelError
from gen.cel.functions import function, text_work
from gen.cel.values import Opaque
from gen.regex import regex

_SCHEME = regex(r"([A-Za-z][A-Za-z0-9+.\-]*):(.*)", re.DOTALL)
_ESCAPE = regex(r"%(?![0-9A-Fa-f]{2})")
_PORT = regex(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::[0-9]*)?")
_CONTROL = regex(r"[\x00-\x1f\x7f]")
_URL: Final = "kubernetes.URL"
_HOST: Final = regex(r"[ <>\"\\^`{|}]")


def fault_of(text: str) -> str | None:
    """Why `url.ParseRequestURI` of Go rejects a text; None if it accepts it."""
    if _CONTROL.search(text):
        return "net/url: invalid control character in URL"
    if not text or text.startswith(":"):
        return "missing protocol scheme" if text else "empty url"
    match = _SCHEME.fullmatch(text)
    rest = match[2] if match else text
    if not rest.startswith("/"):
        return "invalid URI for request"
    if bad := _ESCAPE.search(rest.partition("?")[0]):
        return f'invalid URL escape "{rest[bad.start() : bad.start() + 3]}"'
    if match and rest.startswith("//"):
        return _host_fault(re.split(r"[/?]", rest[2:], maxsplit=1)[0].rpartition("@")[2])
    return None


def _host_fault(host: str) -> str | None:
    if bad := _HOST.search(host):
        return f'invalid character "{bad[0]}" in host name'
    return None if _PORT.fullmatch(host) else f'invalid port "{host[host.rfind(":") :]}" after host'


@function("url(string) kubernetes.URL", work=text_work)
def _url(text: str) -> Opaque:
    fault = fault_of(text)
    if fault is None:
        try:
            return Opaque(_URL, urlsplit(text))
        except ValueError as error:
            fault = str(error)
    shown = f'"{text}"'
    raise CelError(f"URL parse error during conversion from string: parse {shown}: {fault}")


@function("isURL(string) bool", work=text_work)
def _is_url(text: str) -> bool:
    return fault_of(text) is None


def _parts(url: Opaque) -> SplitResult:
    parts: SplitResult = url.content
    return parts


def _host(url: Opaque) -> str:
    return unquote(_parts(url).netloc.rpartition("@")[2])


@function("kubernetes.URL::getScheme() string")
def _get_scheme(url: Opaque) -> str:
    return _parts(url).scheme


@function("kubernetes.URL::getHost() string")
def _get_host(url: Opaque) -> str:
    return _host(url)


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


@function("kubernetes.URL::getEscapedPath() string")
def _get_escaped_path(url: Opaque) -> str:
    return quote(_parts(url).path, safe="/%$&+,:;=@!'()*~-._[]")


@function("kubernetes.URL::getQuery() map(string, list(string))")
def _get_query(url: Opaque) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in parse_qsl(_parts(url).query, keep_blank_values=True):
        found.setdefault(key, []).append(value)
    return found
