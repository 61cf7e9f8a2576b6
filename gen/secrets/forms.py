"""Detects secrets by their form. The patterns match the issuers' own keys, and are strict enough to trust."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
from ahocorasick_rs import BytesAhoCorasick

from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEY = "[0-9A-Za-z]"
_TOKEN = "[0-9A-Za-z_-]"  # noqa: S105 - a class of characters
_FREE = r"[^\s/?#@:'\"\\${}<>]"
"""Characters of a user name or a password in a URL, unless it is a variable."""

_FORMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "an AWS access key": (("AKIA", "ASIA"), (rf"(?:AKIA|ASIA)[0-9A-Z]{{16}}(?!{_KEY})",)),
    "an Alibaba Cloud access key": (("LTAI",), (rf"LTAI{_KEY}{{12,26}}(?!{_KEY})",)),
    "a Tencent Cloud secret ID": (("AKID",), (rf"AKID{_KEY}{{13,40}}(?!{_KEY})",)),
    "a Google key": (
        ("AIza", "ya29.", "GOCSPX-"),
        (rf"AIza{_TOKEN}{{35}}", rf"ya29\.{_TOKEN}{{20}}", rf"GOCSPX-{_TOKEN}{{20}}"),
    ),
    "an Azure storage key": (("AccountKey=",), (r"AccountKey=[0-9A-Za-z+/]{80}",)),
    "a GitHub token": (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        (rf"gh[pousr]_{_KEY}{{36}}", r"github_pat_[0-9A-Za-z_]{22}"),
    ),
    "a GitLab token": (
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-"),
        (rf"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-{_TOKEN}{{20}}",),
    ),
    "a Hugging Face token": (("hf_", "api_org_"), (rf"(?:hf|api_org)_{_KEY}{{30}}",)),
    "a Weights & Biases key": (
        ("wandb login", "wandb_v1_"),
        (r"wandb login (?:--[a-z]{1,20} )?[0-9a-f]{40}(?![0-9a-f])", r"wandb_v1_[0-9A-Za-z_]{40}"),
    ),
    "a Slack token": (
        ("xox", "xapp-", "hooks.slack.com"),
        (rf"xox[abeoprs]-{_TOKEN}{{10}}", rf"xapp-[0-9]-{_TOKEN}{{10}}", rf"hooks\.slack\.com/services/T{_KEY}{{8}}"),
    ),
    "an OpenAI key or a similar one": (
        ("sk-",),
        (rf"sk-(?:proj|svcacct|admin|ant)-{_TOKEN}{{20}}", rf"sk-{_KEY}{{32}}"),
    ),
    "a registry token": (
        ("dckr_pat_", "npm_", "pypi-"),
        (rf"dckr_pat_{_TOKEN}{{20}}", rf"npm_{_KEY}{{36}}", rf"pypi-AgEI{_TOKEN}{{20}}"),
    ),
    "a private key": (("PRIVATE KEY",), (r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY",)),
    "a JSON web token": (("eyJ",), (rf"eyJ{_TOKEN}{{10,}}\.eyJ{_TOKEN}{{10,}}\.",)),
    "a password in a URL": (
        ("@",),
        (rf"(?i:[a-z][a-z0-9+.-]{{1,20}})://{_FREE}{{0,128}}:(?![*.xX]+@|%s@){_FREE}{{1,256}}@(?!sha[0-9]{{3}}:)",),
    ),
    "a user name or a token in a URL": (("@",), (rf"(?i:https?)://{_FREE}{{1,256}}@",)),
}
"""Description, texts of which one must occur, and patterns.

No pattern starts inside a word, and none reads the same text more than a few times, of any length.
"""
Form = tuple[str, str, re.Pattern[str]]
_BY_PART: tuple[Form, ...] = tuple(
    (part, what, regex(rf"(?<!{_TOKEN})(?:{'|'.join(patterns)})"))
    for what, (parts, patterns) in _FORMS.items()
    for part in parts
)


_PARTS = BytesAhoCorasick([part.encode() for part, _, _ in _BY_PART])
MAX_SEARCHED = 1 << 16
"""Bytes that are searched at once; each occurrence takes memory."""


def forms_in(data: Any, json: bytes | None = None) -> list[Form]:
    """The forms that may be somewhere in the data, found quickly; `json` is the data as orjson writes it."""
    json = orjson.dumps(data) if json is None else json
    there = _parts_in(json)
    if not there:
        return []
    everything = json.decode()
    if "\\" in everything:
        everything = _ESCAPE.sub(" ", everything)  # an escape is not part of a secret
    return [form for form in there if _stands_in(everything, form)]


def _parts_in(json: bytes) -> list[Form]:
    if len(json) > MAX_SEARCHED:
        return [form for form in _BY_PART if form[0].encode() in json]
    numbers = {number for number, _, _ in _PARTS.find_matches_as_indexes(json, overlapping=True)}
    return [_BY_PART[number] for number in sorted(numbers)]


_ESCAPE = regex(r"\\(?:u[0-9a-f]{4}|.)")


def _stands_in(everything: str, form: Form) -> bool:
    """Whether one of the texts in JSON without escapes may have a form."""
    part, _, pattern = form
    at = everything.find(part)
    while at >= 0:
        end = everything.find('"', at)
        if pattern.search(everything, everything.rfind('"', 0, at), end):
            return True
        at = everything.find(part, end)
    return False


def known_form(text: str, forms: Iterable[Form]) -> str | None:
    """The secret in a text, which must not be in Git."""
    return next((what for part, what, pattern in forms if part in text and pattern.search(text)), None)
