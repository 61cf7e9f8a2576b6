"""Secret values in inputs. They must never get into Git, so a job can only name a Secret.

A finding shows the place and never the value. Secrets have names, or forms of their issuers. Training uses many tokens
that are none: `MAX_TOKENS`, `tokenizer`, `pad_token`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

import orjson
from ahocorasick_rs import BytesAhoCorasick

from gen.base import Route, names, regex

_WORD = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
MAX_NAME_LENGTH = 256
"""Characters of a name that are checked."""


_SECRET = names(
    "passwords passphrase secrets credential credentials apikey accesskey secretkey privatekey apitoken "
    "authtoken accesstoken"
)
"""Words that mark a name as that of a secret, at any position."""
_ENDINGS = ("password", "passwd", "secret")
_KEYS = names(
    "access account anthropic api auth comet encryption hf huggingface license neptune openai private secret signing "
    "ssh wandb"
)
"""Words that mark a following `key` as a secret."""
_PASSES = names("admin db ftp mongo mysql pg postgres proxy redis root smtp user")
_ABOUT = names(
    "algorithm backend chain class count dir enabled endpoint expiration expiry file files format header helper "
    "host id length limit manager mode name names path paths port prefix provider ref required seconds size "
    "source store timeout ttl type uri url version"
)
"""Last words of a name that is about a secret and does not hold it."""
_OF_TEXT = names(
    "add audio begin bos boundary class cls concept delimiter end eod eos eot extra first image initializer instance "
    "lang language last mask newline null sot suffix "
    "max min modifier new next num pad padding per placeholder prompt sep separator special start stop sub "
    "subject text think thinking tool trigger unique unk use video vision word"
)
"""Words before `token` that make it a piece of text."""

_SWITCH = regex(r"|true|false|yes|no|on|off|none|null|~|[0-9]{1,3}", re.IGNORECASE)
_NUMBER = regex(r"[0-9.,_-]{1,20}")
_PATH = regex(r"(?:~|\.{0,2})(?:/[^\s/]{1,255}){2,64}/?")
_PLACEHOLDER = regex(r"<[^<>\s]{1,60}>|\[[^\[\]\s]{1,60}\]|\*+|\$[({]?[A-Za-z_][A-Za-z0-9_]{0,250}[)}]?")
"""Also the pieces of text that tokenizers know, and references to other variables."""
RANDOM = regex(r"(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z])[^\s]{16,512}")


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Whether a value of this name should be kept in a Secret."""
    words = words_of(name)
    if not words or words[-1] in _ABOUT:
        return False
    return is_strong(words) or ("token" in words and not _of_text(words))


def is_harmless(name: str, value: str) -> bool:
    """Whether a value is harmless although its name marks a secret."""
    if _SWITCH.fullmatch(value) or _PATH.fullmatch(value) or _PLACEHOLDER.fullmatch(value):
        return True
    words = words_of(name)
    if is_strong(words):
        return False
    # `TOKEN` itself is a secret; `TOKEN_MIXING` only when its value looks like one
    return _NUMBER.fullmatch(value) is not None or (words[-1] != "token" and RANDOM.fullmatch(value) is None)


def words_of(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name[-MAX_NAME_LENGTH:])]


def is_strong(words: list[str]) -> bool:
    if any(word in _SECRET or word.endswith(_ENDINGS) for word in words):
        return True
    pairs = list(pairwise(words))
    if any(word in _KEYS and then in ("key", "keys") for word, then in pairs):
        return True
    return bool(pairs) and (words[-1] == "pwd" or (words[-1] == "pass" and words[-2] in _PASSES))


def _of_text(words: list[str]) -> bool:
    at = words.index("token")
    return at > 0 and words[at - 1] in _OF_TEXT


_KEY = "[0-9A-Za-z]"
_TOKEN = "[0-9A-Za-z_-]"  # noqa: S105 - a class of characters
_FREE = r"[^\s/?#@:'\"\\${}<>]"
"""Characters of a user name or a password in a URL, unless it is a variable."""

_FORMS: dict[str, tuple[str, str]] = {
    "an AWS access key": ("AKIA|ASIA", rf"(?:AKIA|ASIA)[0-9A-Z]{{16}}(?!{_KEY})"),
    "an Alibaba Cloud access key": ("LTAI", rf"LTAI{_KEY}{{12,26}}(?!{_KEY})"),
    "a Tencent Cloud secret ID": ("AKID", rf"AKID{_KEY}{{13,40}}(?!{_KEY})"),
    "a Google key": ("AIza|ya29.|GOCSPX-", rf"AIza{_TOKEN}{{35}}|ya29\.{_TOKEN}{{20}}|GOCSPX-{_TOKEN}{{20}}"),
    "an Azure storage key": ("AccountKey=", r"AccountKey=[0-9A-Za-z+/]{80}"),
    "a GitHub token": (
        "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
        rf"gh[pousr]_{_KEY}{{36}}|github_pat_[0-9A-Za-z_]{{22}}",
    ),
    "a GitLab token": (
        "glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|glagent-|gloas-",
        rf"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-{_TOKEN}{{20}}",
    ),
    "a Hugging Face token": ("hf_|api_org_", rf"(?:hf|api_org)_{_KEY}{{30}}"),
    "a Weights & Biases key": (
        "wandb login|wandb.login(|wandb_v1_",
        r"wandb(?: login (?:--[a-z]{1,20} )?|\.login\((?:key=)?[\"' ])[0-9a-f]{40}(?![0-9a-f])|wandb_v1_\w{40}",
    ),
    "a Slack token": (
        "xox|xapp-|hooks.slack.com",
        rf"xox[abeoprs]-{_TOKEN}{{10}}|xapp-[0-9]-{_TOKEN}{{10}}|hooks\.slack\.com/services/T{_KEY}{{8}}",
    ),
    "an OpenAI key or a similar one": ("sk-", rf"sk-(?:proj|svcacct|admin|ant)-{_TOKEN}{{20}}|sk-{_KEY}{{32}}"),
    "a registry token": ("dckr_pat_|npm_|pypi-", rf"dckr_pat_{_TOKEN}{{20}}|npm_{_KEY}{{36}}|pypi-AgEI{_TOKEN}{{20}}"),
    "a private key": ("PRIVATE KEY", r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY"),
    "a JSON web token": ("eyJ", rf"eyJ{_TOKEN}{{10,}}\.eyJ{_TOKEN}{{10,}}\."),
    "a password in a URL": (
        "@",
        rf"(?i:[a-z][a-z0-9+.-]{{1,20}})://{_FREE}{{0,128}}:(?![*.xX]+@|%s@){_FREE}{{1,256}}@(?!sha[0-9]{{3}}:)",
    ),
    "a user name or a token in a URL": ("@", rf"(?i:https?)://{_FREE}{{1,256}}@"),
}
"""Description, texts of which one must occur, and the pattern.

No pattern starts inside a word, and none reads the same text more than a few times, of any length.
"""
Form = tuple[str, str, re.Pattern[str]]
_BY_PART: tuple[Form, ...] = tuple(
    (part, what, regex(rf"(?<!{_TOKEN})(?:{pattern})"))
    for what, (parts, pattern) in _FORMS.items()
    for part in parts.split("|")
)


_PARTS = BytesAhoCorasick([part.encode() for part, _, _ in _BY_PART])
_SEARCHED = 1 << 16
"""Bytes that are searched at once; each occurrence takes memory."""
_OVERLAP = max(len(part) for part, _, _ in _BY_PART)


def forms_in(data: object, json: bytes | None = None) -> list[Form]:
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
    parts = (json[start : start + _SEARCHED + _OVERLAP] for start in range(0, len(json), _SEARCHED))
    numbers = {number for part in parts for number, _, _ in _PARTS.find_matches_as_indexes(part, overlapping=True)}
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


def search(text: str, what: str) -> re.Match[str] | None:
    """The secret of a form in a text."""
    found = (pattern.search(text) for part, known, pattern in _BY_PART if known == what and part in text)
    return next(filter(None, found), None)


def known_secrets(data: object, json: bytes | None = None) -> Iterator[tuple[Route, str, bool]]:
    """Texts and keys that are secrets by their form: route, description, and whether it is a key.

    `json` is the data as orjson writes it, if already known. TypeError for data that JSON does not support.
    """
    forms = forms_in(data, json)
    for route, text, key in _texts(data, ()) if forms else ():
        if (what := known_form(text, forms)) is not None:
            yield route, what, key


def _texts(data: object, route: Route) -> Iterator[tuple[Route, str, bool]]:
    """Every text and every key, with its route and whether it is a key."""
    if isinstance(data, str):
        yield route, data, False
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*route, index))
    elif isinstance(data, dict):
        for key, value in data.items():
            yield (*route, key), key, True
            yield from _texts(value, (*route, key))


_NAME: Final = r"([\w./-]{1,256})[\"']?"
_SPACE: Final = r"(?:\s|\\\n){0,300}"
"""Also the end of the line of a command that goes on."""
_NAMED_IN_LINES: Final = (
    # `name=value`, `name: value`; the value can be in the next line
    regex(rf"{_NAME}(?:=|\s{{0,300}}:{_SPACE}(?:[|>][-+0-9]{{0,3}}\s{{1,300}})?)[\"']?(?=(\S.*))"),
    # `{name: NAME, value: VALUE}`, also in two lines
    regex(
        rf"\bname[\"']?\s{{0,300}}:\s{{0,300}}[\"']?{_NAME}\s{{0,300}},?{_SPACE}[\"']?value[\"']?\s{{0,300}}:{_SPACE}"
        r"[\"']?(?=(\S.*))"
    ),
    # `--name value`, `["--name", "value"]`, and entries of a list in two lines
    regex(rf"(?<![\w-])--?{_NAME}\s{{0,300}}(?:,|\s|\\\n){_SPACE}(?:- )?[\"']?(?=([^\s\"'-][^\s\"',\]]*))"),
)
_CREDENTIALS_IN_LINES: Final = regex(
    r"(?i:\b(?:bearer|basic)\s{1,300})(?=([^\s<$*{\"'][^\s\"']{3}))|\s-u\s{0,300}[\"']?[^\s:\"'$]{1,256}:(?=([^\s$*{]))"
)
"""Headers of requests, and users with passwords as curl takes them."""


def shows_secret(text: str, before: str = "") -> bool:
    """Whether a text may show the value of a secret, which the text before it can name."""
    return any(
        start >= len(before) and names_secret(name) and not is_harmless(name, value)
        for name, value, start in _values(before + text)
    )


def _values(text: str) -> Iterator[tuple[str, str, int]]:
    """Names and values, with the position of the value."""
    for match in chain.from_iterable(form.finditer(text) for form in _NAMED_IN_LINES):
        yield match[1], match[2].rstrip("]}\"' "), match.end()
    for match in _CREDENTIALS_IN_LINES.finditer(text):
        yield "credentials", match[1] or match[2], match.end()
