"""Checks of clients of webhooks, as the API server makes them.

From `apiserver/pkg/util/webhook/validation.go`.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gen.rules.fault import Fault
from gen.rules.name_checks import dns_name
from gen.rules.value_checks import port

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults


def client(config: Body, route: Route) -> Faults:
    """Faults of the `clientConfig` of a webhook."""
    if ("url" in config) == ("service" in config):
        yield Fault(route, "exactly one of `url` and `service` is required", "keep one of the two")
    if "url" in config and (fault := _url(config["url"])) is not None:
        yield fault.at((*route, "url"))
    service = config.get("service") or {}
    for field in ("name", "namespace") if "service" in config else ():
        if not service.get(field):
            yield Fault((*route, "service", field), f"`{field}` is missing or empty", f"add `{field}`")
    if "port" in service and (fault := port(service["port"])) is not None:
        yield fault.at((*route, "service", "port"))
    if service.get("path") and (fault := _path(service["path"])) is not None:
        yield fault.at((*route, "service", "path"))
    if config.get("caBundle") and (fault := base64_fault(config["caBundle"])) is not None:
        yield fault.at((*route, "caBundle"))


def _url(value: str) -> Fault | None:
    try:
        parts = urlsplit(value)
        fits = parts.scheme == "https" and bool(parts.netloc) and not (parts.username or parts.query or parts.fragment)
    except ValueError:
        fits = False
    hint = "use `https://`, a host and a path, without user, query and fragment"
    return None if fits else Fault((), f"`{value[:60]}` is not a valid URL of a webhook", hint)


def _path(value: str) -> Fault | None:
    steps = value.removeprefix("/").removesuffix("/").split("/") if value != "/" else []
    if value.startswith("/") and all(step and dns_name(step) is None for step in steps):
        return None
    hint = "use `/` and lower-case letters, digits, `-` and `.` between single `/`"
    return Fault((), f"`{value}` is not a valid path of a webhook", hint)


def base64_fault(value: str) -> Fault | None:
    try:
        base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return Fault((), "not valid base64", "encode the PEM certificates with `base64`")
    return None
