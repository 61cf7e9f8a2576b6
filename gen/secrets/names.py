"""Detects secrets by the names of values, and values that are harmless despite such a name.

Training uses many tokens that are not secrets: `MAX_TOKENS`, `tokenizer`, `pad_token`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from gen.regex import regex

_WORD = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
MAX_NAME_LENGTH = 256
"""Characters of a name that are checked."""

_SECRET = frozenset(
    {"passwords", "passphrase", "secrets", "credential", "credentials"}
    | {"apikey", "accesskey", "secretkey", "privatekey", "apitoken", "authtoken", "accesstoken"}
)
"""Words that mark a name as that of a secret, at any position."""
_ENDINGS = ("password", "passwd", "secret")
_KEYS = frozenset({"access", "account", "api", "auth", "encryption", "license", "private", "secret", "signing", "ssh"})
"""Words that mark a following `key` as a secret."""
_PASSES = frozenset(
    {"admin", "db", "ftp", "mongo", "mysql", "pg", "postgres", "proxy", "redis", "root", "smtp", "user"}
)
_ABOUT = frozenset(
    {"algorithm", "backend", "chain", "class", "count", "dir", "enabled", "endpoint", "expiration", "expiry", "file"}
    | {
        "files",
        "format",
        "header",
        "helper",
        "host",
        "id",
        "length",
        "limit",
        "manager",
        "mode",
        "name",
        "names",
        "path",
    }
    | {"paths", "port", "prefix", "provider", "ref", "required", "seconds", "size", "source", "store", "timeout", "ttl"}
    | {"type", "uri", "url", "version"}
)
"""Last words of a name that is about a secret and does not hold it."""
_OF_TEXT = frozenset(
    {"add", "audio", "begin", "bos", "cls", "end", "eos", "extra", "first", "image", "lang", "language", "last", "mask"}
    | {"max", "min", "new", "next", "num", "pad", "padding", "per", "prompt", "sep", "separator", "special", "start"}
    | {"stop", "sub", "text", "think", "thinking", "tool", "unk", "use", "video", "vision", "word"}
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
