"""Secret values in inputs. They must never get into Git, so a job can only name a Secret.

A finding shows the place and never the value. The patterns are those of the issuers' own key formats.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.diagnostics import Findings, Route
    from gen.load import Data, Layers

_VALUES = {
    "an AWS access key": ("IA", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "an Alibaba Cloud access key": ("LTAI", r"\bLTAI[0-9A-Za-z]{12,26}\b"),
    "a Tencent Cloud secret id": ("AKID", r"\bAKID[0-9A-Za-z]{13,40}\b"),
    "a GitHub token": ("g", r"\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{22,})"),
    "a GitLab token": ("glpat-", r"\bglpat-[0-9A-Za-z_-]{20}"),
    "a Hugging Face token": ("hf_", r"\bhf_[0-9A-Za-z]{30,}"),
    "a Slack token": ("xox", r"\bxox[abpr]-[0-9A-Za-z-]{10,}"),
    "a private key": ("PRIVATE KEY", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a JSON web token": ("eyJ", r"\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\."),
    "a password in a URL": ("://", r"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@'\"\\${}]{1,128}:[^/\s@'\"\\${}]{1,256}@"),
}
"""What it is, a part of it that is quick to look for, and the pattern."""
_PATTERNS = {what: (part, re.compile(pattern)) for what, (part, pattern) in _VALUES.items()}

_NAME = re.compile(
    r"(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PWD|API_?KEY|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY|CREDENTIALS?)$",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"|true|false|[0-9.]{1,12}|/.*|.*\{\{.*")
"""Values behind such a name that are no secret: switches, numbers, paths, expressions."""

_HINT = "put it into a Secret and write `{secret: <name>, key: <entry>}`; if it was ever pushed, revoke it"


def report_secrets(data: Mapping[str, Data], layers: Layers, found: Findings) -> None:
    """Report every text that is, or by its name should be, a secret."""
    everything = orjson.dumps(data).decode()
    for what, (part, pattern) in _PATTERNS.items():
        if part in everything and pattern.search(everything):
            for route, text in _texts(data, ()):
                if pattern.search(text):
                    found.error("secret-value", layers.place(route), f"this looks like {what}", _HINT)
    for route, name, text in (*_environment(data), *_entries(data, ())):
        if _NAME.search(name) and not _HARMLESS.fullmatch(text):
            message = f"`{name}` is a secret by its name, and its value stands here"
            found.error("secret-value", layers.place(route), message, _HINT)


def _environment(data: Mapping[str, Data], at: Route = ()) -> Iterator[tuple[Route, str, str]]:
    """The literal variables of a job and its roles, or of an overlay's defaults."""
    for field, inner in data.items():
        if not isinstance(inner, dict):
            continue
        if field == "env":
            yield from (((*at, field, name), name, value) for name, value in inner.items() if isinstance(value, str))
        elif field in ("roles", "defaults", "kinds") or (at and at[-1] in ("roles", "kinds")):
            yield from _environment(inner, (*at, field))


def _entries(data: Data | Mapping[str, Data], route: Route) -> Iterator[tuple[Route, str, str]]:
    """Variables in Kubernetes' form: entries of a `name` and a `value`."""
    if isinstance(data, list):
        for index, entry in enumerate(data):
            yield from _entries(entry, (*route, index))
    elif not isinstance(data, str):
        name, value = data.get("name"), data.get("value")
        if isinstance(name, str) and isinstance(value, str):
            yield (*route, "value"), name, value
        for key, inner in data.items():
            yield from _entries(inner, (*route, key))


def _texts(data: Data | Mapping[str, Data], route: Route) -> Iterator[tuple[Route, str]]:
    if isinstance(data, str):
        yield route, data
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*route, index))
    else:
        for key, value in data.items():
            yield from _texts(value, (*route, key))
