"""Findings about secrets in jobs and overlays: texts with a form or a name of a secret, also in commands and files.

A finding shows the place and never the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from gen.base import Findings, Location, Route, names, regex
from gen.base.codes.jobs import SECRET_VALUE
from gen.base.yaml.layers import HOLDERS
from gen.kubernetes.secrets import RANDOM, is_harmless, is_strong, known_secrets, names_secret, search, words_of

if TYPE_CHECKING:
    from gen.base.yaml.layers import Layers
    from gen.base.yaml.strict import Data

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
        place = layers.place(route, key=key) if key else _place_of(what, data, layers, route)
        found.error(SECRET_VALUE, place, f"this looks like {what}", _hint(route, what))
        yield route


def _place_of(what: str, data: Data, layers: Layers, route: Route) -> Location:
    """The place of a secret inside of its text."""
    text: object = data
    for step in route:
        text = text[int(step)] if isinstance(text, list) else text.get(step) if isinstance(text, dict) else ""
    text = str(text)
    match = search(text, what)
    if match is None or not match.start():
        return layers.place(route)
    start = match.start()
    inner = Location("", text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))
    return layers.place_inside(route, inner, match[0].partition("\n")[0])


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
_QUERY: Final = regex(r"(?<=[?&])([A-Za-z_][\w.-]{0,100})=([^\s\"'$`;|&<>(){}\\#]{8,512})")
"""A parameter in a URL."""
_BEARER: Final = regex(r"\b(?i:bearer|authorization:[ \t]{0,9}basic)[ \t]+(?=[^\s\"'$]*[0-9])[\w.~+/-]{16,512}")
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
_COLON: Final = r"\s{0,9}:\s{0,9}"
_LOGINS: Final = {
    "curl -u": ("curl", regex(rf"\bcurl{_BETWEEN}(?:-u|--user[ \t=])[ \t]*[\"']?[^\s:\"'$]{{1,100}}:{_GIVEN}")),
    "sshpass -p": ("sshpass", regex(rf"\bsshpass[ \t]+-p[ \t]*{_GIVEN}")),
    "redis-cli -a": ("redis-cli", regex(rf"\bredis-cli{_BETWEEN}-a[ \t]+{_GIVEN}")),
    "mysql -p": ("mysql", regex(rf"\bmysql(?:dump|admin)?{_BETWEEN}-p{_GIVEN}")),
    "docker login -p": (
        "login",
        regex(rf"\b(?:docker|podman|skopeo|crane auth|crane|oras|helm registry)[ \t]+login{_BETWEEN}-p[ \t]+{_GIVEN}"),
    ),
    "aws configure set": ("aws", regex(rf"\baws configure set \w{{0,40}}secret\w{{0,40}} {_GIVEN}")),
    ".netrc": (
        "password",
        regex(
            r"\b(?:machine(?:\s{1,9}\S{1,99}){1,3}|default\s{1,9}login\s{1,9}\S{1,99})"
            rf"\s{{1,9}}password\s{{1,9}}{_GIVEN}"
        ),
    ),
    ".pgpass": (
        "pgpass",
        regex(rf"(?<![\w.*:-])[\w.*-]{{1,253}}:(?:[0-9]{{1,5}}|\*)(?::[^\s:\"']{{1,63}}){{2}}:{_GIVEN}"),
    ),
    "auths": ("auth", regex(r"\"auth\"\s{0,20}:\s{0,20}\"[\w+/]{12,512}={0,2}\"")),
    "kaggle.json": (
        "username",
        regex(rf"\"username\"{_COLON}\"[\w-]{{1,64}}\"\s{{0,9}},\s{{0,9}}\"key\"{_COLON}\"[0-9a-f]{{32}}\""),
    ),
}
"""Programs and files that take a password without a name, as they are called in messages: a text that the command, or
the file with its path, must have, and the pattern.
"""
_SUSPECT: Final = names("pass pwd secret token key credential bearer curl redis mysql login auth")
_NO_SECRET: Final = regex(
    r"(?i)<[^<>]{1,60}>|empty|dummy|fake|none|test|(?:[a-z]{1,8}[-_])?x{3,}|\.{3}|your\W?\w.*|change_?me|no(?:t-needed|-key)|.*(?:placeholder|example).*"
    r"|[\w./~@:-]+\.(?:pem|key|json|ya?ml|txt|crt|cfg|toml|env|py|sh|pt|bin)|[A-Za-z_]\w*=[^=].*"
)
"""Values in commands and files that are none, or name a file."""
_SWITCHES: Final = regex(r"-{1,2}(?:no|use|with|without|enable|disable|skip|allow|add|print|show)[-_].*")
"""Options that take no value."""
_COMMANDS: Final = ("command", "args")
_TEXTS: Final = (*_COMMANDS, "files", "runtimeEnv")


def _in_texts(data: Data, route: Route) -> Iterator[tuple[Route, str, Location | None]]:
    """Secrets by their names in commands, arguments and files: the first of each text, with its place in the text."""
    if not isinstance(data, dict):
        return
    for field in _TEXTS:
        texts = data.get(field)
        if isinstance(texts, list):
            words = [text if isinstance(text, str) else "" for text in texts]
            yield from _in_words(words, (*route, field))
            before = data.get("command") if field == "args" else ()
            yield from _in_line(before if isinstance(before, list) else (), words, (*route, field))
        elif isinstance(texts, dict) and field == "files":
            for path, text in texts.items():
                yield from _in_text(text, (*route, field, path), _named_file)
        elif isinstance(texts, str) and field != "files":
            yield from _in_text(texts, (*route, field), _named_command if field in _COMMANDS else _named_file)
    of_entries = bool(route) and HOLDERS.get(str(route[-1]), 1) > 1
    for holder in data if of_entries else HOLDERS:
        if holder in data:
            yield from _in_texts(data[holder], (*route, holder))


def _in_words(words: list[str], route: Route) -> Iterator[tuple[Route, str, Location | None]]:
    for index, (before, word) in enumerate(pairwise(("", *words))):
        option = re.fullmatch(r"--?[A-Za-z][\w-]{1,100}", before) is not None and not word.startswith(("-", "$"))
        if option and _is_secret(before, word, certain=False):
            yield (*route, index), before, None
        else:
            yield from _in_text(word, (*route, index), _named_command)


def _in_line(
    before: Sequence[object], words: Sequence[str], route: Route
) -> Iterator[tuple[Route, str, Location | None]]:
    """The password that a program gets as an entry of its own: `[docker, login, -p, x]`. `before` are other entries."""
    line = " ".join(map(str, (*before, *words)))
    if (secret := _given(line)) is not None:
        name, match = secret
        ends = accumulate(len(str(word)) + 1 for word in (*before, *words))
        index = next(number for number, end in enumerate(ends) if match.end() <= end) - len(before)
        if index >= 0:
            yield (*route, index), name, None


def _in_text(
    text: object, route: Route, named: Callable[[str, str], tuple[str, int] | None]
) -> Iterator[tuple[Route, str, Location | None]]:
    if not isinstance(text, str):
        return
    path = str(route[-1])
    if any(map(f"{path}\n{text}".lower().__contains__, _SUSPECT)) and (secret := named(text, path)) is not None:
        name, start = secret
        yield route, name, Location("", text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))


def _is_secret(name: str, value: str, *, certain: bool) -> bool:
    """Whether a value is a secret by its name; unless it is `certain` that it is a value, a token must look random."""
    if not names_secret(name) or is_harmless(name, value) or _NO_SECRET.fullmatch(value) or "{{" in value:
        return False
    if value.lower().endswith(name.lower()):  # the name of a Secret
        return False
    strong = is_strong(words_of(name))
    return (strong and (certain or _SWITCHES.fullmatch(name) is None)) or (
        not strong and (certain or RANDOM.fullmatch(value) is not None)
    )


def _named_command(text: str, _: str) -> tuple[str, int] | None:
    """The name of the first secret in a command, and its position."""
    for pattern, certain in ((_ASSIGNED, True), (_OPTION, False), (_QUOTED, False), (_QUERY, False)):
        for match in pattern.finditer(text):
            if _is_secret(match[1], next(filter(None, match.groups()[1:]), ""), certain=certain):
                return match[1], match.start()
    bearer = _BEARER.search(text)
    return ("Bearer", bearer.start()) if bearer is not None else _login(text)


def _login(text: str, path: str = "") -> tuple[str, int] | None:
    """The name of the first password in a command or a file, and the position of its program."""
    match = _given(text, path)
    return (match[0], match[1].start()) if match is not None else None


def _given(text: str, path: str = "") -> tuple[str, re.Match[str]] | None:
    texts = (name for name, (part, _) in _LOGINS.items() if part in text or part in path)
    found = ((name, _LOGINS[name][1].search(text)) for name in texts)
    return next(((name, match) for name, match in found if match is not None), None)


def _named_file(text: str, path: str) -> tuple[str, int] | None:
    for pattern in (_SETTING, _QUOTED):
        for match in pattern.finditer(text):
            name, value = match[1], next(filter(None, match.groups()[1:]), "")
            is_random = RANDOM.fullmatch(value) or ("pass" in name.lower() and _MIXED.fullmatch(value))
            if _is_secret(name, value, certain=False) and (match.lastindex != _PLAIN or is_random):
                return name, match.start(1)
    return _login(text, path)
