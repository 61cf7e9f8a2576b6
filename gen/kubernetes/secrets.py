"""Secret values in inputs. They must never get into Git, so a job can only name a Secret.

A finding shows the place and never the value. Secrets have names, or forms of their issuers. Training uses many tokens
that are none: `MAX_TOKENS`, `tokenizer`, `pad_token`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

import orjson
from ahocorasick_rs import BytesAhoCorasick

from gen.base import Findings, Location, Route, regex
from gen.base.codes.jobs import SECRET_VALUE

if TYPE_CHECKING:
    from gen.base.yaml.layers import Layers
    from gen.base.yaml.strict import Data

_WORD = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
MAX_NAME_LENGTH = 256
"""Characters of a name that are checked."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SECRET = _set(
    "passwords passphrase secrets credential credentials apikey accesskey secretkey privatekey apitoken "
    "authtoken accesstoken"
)
"""Words that mark a name as that of a secret, at any position."""
_ENDINGS = ("password", "passwd", "secret")
_KEYS = frozenset({"access", "account", "api", "auth", "encryption", "license", "private", "secret", "signing", "ssh"})
"""Words that mark a following `key` as a secret."""
_PASSES = _set("admin db ftp mongo mysql pg postgres proxy redis root smtp user")
_ABOUT = _set(
    "algorithm backend chain class count dir enabled endpoint expiration expiry file files format header helper "
    "host id length limit manager mode name names path paths port prefix provider ref required seconds size "
    "source store timeout ttl type uri url version"
)
"""Last words of a name that is about a secret and does not hold it."""
_OF_TEXT = _set(
    "add audio begin bos class cls concept end eos extra first image initializer instance lang language last mask "
    "max min modifier new next num pad padding per placeholder prompt sep separator special start stop sub "
    "subject text think thinking tool trigger unique unk use video vision word"
)
"""Words before `token` that make it a piece of text."""

_SWITCH = regex(r"|true|false|yes|no|on|off|none|null|~|[0-9]{1,3}", re.IGNORECASE)
_NUMBER = regex(r"[0-9.,_-]{1,20}")
_PATH = regex(r"(?:~|\.{0,2})(?:/[^\s/]{1,255}){2,64}/?")
_PLACEHOLDER = regex(r"<[^<>\s]{1,60}>|\[[^\[\]\s]{1,60}\]|\*+|\$[({]?[A-Za-z_][A-Za-z0-9_]{0,250}[)}]?")
"""Also the pieces of text that tokenizers know, and references to other variables."""
_RANDOM = regex(r"(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z])[^\s]{16,512}")


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Whether a value of this name should be kept in a Secret."""
    words = _words(name)
    if not words or words[-1] in _ABOUT:
        return False
    return _strong(words) or ("token" in words and not _of_text(words))


def is_harmless(name: str, value: str) -> bool:
    """Whether a value is harmless although its name marks a secret."""
    if _SWITCH.fullmatch(value) or _PATH.fullmatch(value) or _PLACEHOLDER.fullmatch(value):
        return True
    words = _words(name)
    if _strong(words):
        return False
    # `TOKEN` itself is a secret; `TOKEN_MIXING` only when its value looks like one
    return _NUMBER.fullmatch(value) is not None or (words[-1] != "token" and _RANDOM.fullmatch(value) is None)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name[-MAX_NAME_LENGTH:])]


def _strong(words: list[str]) -> bool:
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


_BY_NAME = "is a secret, judging by its name, but has a literal value"
_REVOKE = "revoke it if it was ever pushed"
_NAMED = ("env", "params")
"""Fields that map names to values, at any depth."""


def report_secrets(
    data: Data, layers: Layers, found: Findings, unevaluated: Collection[Route] | None = None
) -> set[Route]:
    """Report every text that is a secret by its form or its name, and return routes that messages must not show.

    `unevaluated` are routes of texts with expressions that are not evaluated yet, or None for all texts. Those are
    checked after evaluation.
    """
    hidden = set(_known(data, layers, found))
    for route, name, text in _named(data, ()):
        pending = "{{" in text and (unevaluated is None or route in unevaluated or "params" in route)
        if not pending and route not in hidden and names_secret(name) and not is_harmless(name, text):
            message = f"`{name}` {_BY_NAME}"
            found.error(SECRET_VALUE, layers.place(route), message, _hint(route))
    for route, name, inner in _in_texts(data, ()):
        if not any(route[: len(one)] == one or one[: len(route)] == route for one in hidden):
            message = f"`{name}` {'gets a literal password' if name in _LOGINS else _BY_NAME}"
            place = layers.place(route) if inner is None else layers.place_inside(route, inner, name)
            found.error(SECRET_VALUE, place, message, _hint_for_text(route, name))
            hidden.add(route)
    return hidden


def _known(data: Data, layers: Layers, found: Findings) -> Iterator[Route]:
    for route, what, key in known_secrets(data):
        found.error(SECRET_VALUE, layers.place(route, key=key), f"this looks like {what}", _hint(route, what))
        yield route


def known_secrets(data: object, json: bytes | None = None) -> Iterator[tuple[Route, str, bool]]:
    """Texts and keys that are secrets by their form: route, description, and whether it is a key.

    `json` is the data as orjson writes it, if already known. TypeError for data that JSON does not support.
    """
    forms = forms_in(data, json)
    for route, text, key in _texts(data, ()) if forms else ():
        if (what := known_form(text, forms)) is not None:
            yield route, what, key


def _hint_for_text(route: Route, name: str) -> str:
    if "files" in route:
        return f"remove it from the file, and read it from a variable or a volume with a Secret; {_REVOKE}"
    variable = name.lstrip("-").replace("-", "_").rpartition(".")[2].upper()
    variable = "TOKEN" if name == "Bearer" else "PASSWORD" if name in _LOGINS else variable
    used = f"$({variable})" if isinstance(route[-1], int) else f"${variable}"
    is_used = name.startswith("-") or name == "Bearer" or name in _LOGINS
    instead = f"write `{used}` instead of the value" if is_used else "remove it"
    return f"{instead}, and set `env: {{{variable}: {{secret: <name>, key: <key>}}}}`; {_REVOKE}"


def _hint(route: Route, what: str = "") -> str:
    """The remedy at a route, where a reference to a Secret may not be possible."""
    if what.endswith("URL") or route[-2:] == ("code", "git"):
        field = next((field for part, field in _CREDENTIALS.items() if part in route), "")
        return f"remove it from the URL{f', and set `{field}` to a Secret' if field else ''}; {_REVOKE}"
    if route[-2:-1] == ("env",):
        return f"move it to a Secret and write `{{secret: <name>, key: <key>}}`; {_REVOKE}"
    return f"move it to a Secret, and read it with `env: {{<variable>: {{secret: <name>, key: <key>}}}}`; {_REVOKE}"


_CREDENTIALS = {"code": "credentials", "flux": "secret"}
"""Field for the credentials of a Git repository, by a part of the route to its URL."""


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


def _named(data: Data, route: Route) -> Iterator[tuple[Route, str, str]]:
    """Every text with a name: in `env`, `params` and the values of a sweep, and in entries with `name` and `value`."""
    if isinstance(data, list):
        for index, entry in enumerate(data):
            yield from _named(entry, (*route, index))
    elif not isinstance(data, str):
        name, value = data.get("name"), data.get("value")
        if isinstance(name, str) and isinstance(value, str):
            yield (*route, "value"), name, value
        named = bool(route) and (route[-1] in _NAMED or route[0] == "sweep")
        for key, inner in data.items():
            if named and isinstance(inner, list):
                yield from (
                    ((*route, key, number), key, one) for number, one in enumerate(inner) if isinstance(one, str)
                )
            if not isinstance(inner, str):
                yield from _named(inner, (*route, key))
            elif named:
                yield (*route, key), key, inner


_LITERAL: Final = r"(?:\"([^\"$`\n]{1,512})\"|'([^'\n]{1,512})'|([^\s\"'$`;|&<>(){}\\]{1,512})(?=[\s;|&)]|$))"
_ASSIGNED: Final = regex(rf"(?<![^\s;&|(\"'])(-{{0,2}}[A-Za-z_+][\w.-]{{0,100}})={_LITERAL}")
_OPTION: Final = regex(rf"(?<!\S)(--?[A-Za-z][\w-]{{1,100}})(?:[ \t]|\\\n)+(?!-){_LITERAL}")
_BEARER: Final = regex(r"\b(?i:bearer)[ \t]+(?=[^\s\"'$]*[0-9])[\w.~+/-]{16,512}")
_SETTING: Final = regex(
    r"(?m)^[ \t]*(?:export[ \t]+)?[\"']?([A-Za-z_][\w.-]{0,100})[\"']?[ \t]*[:=][ \t]*"
    r"(?:\"([^\"$`{<\s]{4,512})\"|'([^'$`{<\s]{4,512})'|([\w+/=~-]{6,512}))[ \t]*,?[ \t]*(?:#.*)?$"
)
"""A line of a file with a name and nothing but a value."""
_PLAIN: Final = 4
"""Its group with a value without quotes."""
_MIXED: Final = regex(r"(?=\S*[0-9])(?=\S*[A-Za-z])\S+")
_QUOTED: Final = regex(
    r"(?<![\w.-])[\"']?([A-Za-z_][\w.-]{0,100})[\"']?\]?[ \t]{0,9}[:=][ \t]{0,9}"
    r"(?:\"([^\"$`{<\s]{4,512})\"|'([^'$`{<\s]{4,512})')"
)
"""A name and a quoted value in JSON or Python."""
_BETWEEN: Final = r"\b[^\n;|&]{0,300}?[ \t]"
_GIVEN: Final = r"[\"']?[^\s\"'$<*{-][^\s\"'$<*{]{2}"
_LOGINS: Final = {
    "curl -u": regex(rf"\bcurl{_BETWEEN}-u[ \t]*[\"']?[^\s:\"'$]{{1,100}}:{_GIVEN}"),
    "sshpass -p": regex(rf"\bsshpass[ \t]+-p[ \t]*{_GIVEN}"),
    "redis-cli -a": regex(rf"\bredis-cli{_BETWEEN}-a[ \t]+{_GIVEN}"),
    "mysql -p": regex(rf"\bmysql(?:dump|admin)?{_BETWEEN}-p{_GIVEN}"),
    "docker login -p": regex(rf"\b(?:docker|podman|skopeo|crane)[ \t]+login{_BETWEEN}-p[ \t]+{_GIVEN}"),
    "aws configure set": regex(rf"\baws configure set \w{{0,40}}secret\w{{0,40}} {_GIVEN}"),
    ".netrc": regex(rf"\bmachine(?:\s{{1,9}}\S{{1,99}}){{1,3}}\s{{1,9}}password\s{{1,9}}{_GIVEN}"),
    "auths": regex(r"\"auth\"\s{0,20}:\s{0,20}\"[\w+/]{12,512}={0,2}\""),
}
"""Programs and files that take a password without a name, as they are called in messages."""
_SUSPECT: Final = _set("pass pwd secret token key credential bearer curl redis mysql login auth")
_NO_SECRET: Final = regex(
    r"(?i)<[^<>]{1,60}>|empty|dummy|fake|none|test|(?:[a-z]{1,8}[-_])?x{3,}|\.{3}|your\W?\w.*|change_?me|no(?:t-needed|-key)|.*(?:placeholder|example).*"
    r"|[\w./~@:-]+\.(?:pem|key|json|ya?ml|txt|crt|cfg|toml|env|py|sh|pt|bin)|[A-Za-z_]\w*=[^=].*"
)
"""Values in commands and files that are none, or name a file."""
_SWITCHES: Final = regex(r"-{1,2}(?:no|use|with|without|enable|disable|skip|allow|add|print|show)[-_].*")
"""Options that take no value."""
_TEXTS: Final = ("command", "args", "files")
_HOLDERS: Final = ("roles", "steps", "defaults", "kinds")


def _in_texts(data: Data, route: Route) -> Iterator[tuple[Route, str, Location | None]]:
    """Secrets by their names in commands, arguments and files: the first of each text, with its place in the text."""
    if not isinstance(data, dict):
        return
    for field in _TEXTS:
        texts = data.get(field)
        if isinstance(texts, list):
            yield from _in_words([text if isinstance(text, str) else "" for text in texts], (*route, field))
        elif isinstance(texts, dict) and field == "files":
            for path, text in texts.items():
                yield from _in_text(text, (*route, field, path), _named_file)
        elif field != "files":
            yield from _in_text(texts, (*route, field), _named_command)
    for holder in data if route[-1:] in (("roles",), ("steps",), ("kinds",)) else _HOLDERS:
        if holder in data:
            yield from _in_texts(data[holder], (*route, holder))


def _in_words(words: list[str], route: Route) -> Iterator[tuple[Route, str, Location | None]]:
    for index, (before, word) in enumerate(pairwise(("", *words))):
        option = re.fullmatch(r"--?[A-Za-z][\w-]{1,100}", before) is not None and not word.startswith(("-", "$"))
        if option and _is_secret(before, word, certain=False):
            yield (*route, index), before, None
        else:
            yield from _in_text(word, (*route, index), _named_command)


def _in_text(
    text: object, route: Route, named: Callable[[str], tuple[str, int] | None]
) -> Iterator[tuple[Route, str, Location | None]]:
    if not isinstance(text, str) or not any(map(text.lower().__contains__, _SUSPECT)):
        return
    if (secret := named(text)) is not None:
        name, start = secret
        yield route, name, Location("", text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))


def _is_secret(name: str, value: str, *, certain: bool) -> bool:
    """Whether a value is a secret by its name; unless it is `certain` that it is a value, a token must look random."""
    if not names_secret(name) or is_harmless(name, value) or _NO_SECRET.fullmatch(value) or "{{" in value:
        return False
    if value.lower().endswith(name.lower()):  # the name of a Secret
        return False
    strong = _strong(_words(name))
    return (strong and (certain or _SWITCHES.fullmatch(name) is None)) or (
        not strong and (certain or _RANDOM.fullmatch(value) is not None)
    )


def _named_command(text: str) -> tuple[str, int] | None:
    """The name of the first secret in a command, and its position."""
    for pattern, certain in ((_ASSIGNED, True), (_OPTION, False), (_QUOTED, False)):
        for match in pattern.finditer(text):
            if _is_secret(match[1], next(filter(None, match.groups()[1:]), ""), certain=certain):
                return match[1], match.start()
    bearer = _BEARER.search(text)
    return ("Bearer", bearer.start()) if bearer is not None else _login(text)


def _login(text: str) -> tuple[str, int] | None:
    found = ((name, pattern.search(text)) for name, pattern in _LOGINS.items())
    return next(((name, match.start()) for name, match in found if match is not None), None)


def _named_file(text: str) -> tuple[str, int] | None:
    for pattern in (_SETTING, _QUOTED):
        for match in pattern.finditer(text):
            name, value = match[1], next(filter(None, match.groups()[1:]), "")
            is_random = _RANDOM.fullmatch(value) or ("pass" in name.lower() and _MIXED.fullmatch(value))
            if _is_secret(name, value, certain=False) and (match.lastindex != _PLAIN or is_random):
                return name, match.start(1)
    return _login(text)


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
