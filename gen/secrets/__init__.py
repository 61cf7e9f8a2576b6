"""Secret values in inputs. They must never get into Git, so a job can only name a Secret.

A finding shows the place and never the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.findings.jobs import SECRET_VALUE
from gen.secrets.forms import forms_in, known_form
from gen.secrets.names import is_harmless, names_secret

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gen.diagnostics import Findings, Route
    from gen.load import Data, Layers

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
            message = f"`{name}` is a secret, judging by its name, but has a literal value"
            found.error(SECRET_VALUE, layers.place(route), message, _hint(route))
    return hidden


def _known(data: Data, layers: Layers, found: Findings) -> Iterator[Route]:
    for route, what, key in known_secrets(data):
        found.error(SECRET_VALUE, layers.place(route, key=key), f"this looks like {what}", _hint(route, what))
        yield route


def known_secrets(data: Any, json: bytes | None = None) -> Iterator[tuple[Route, str, bool]]:
    """Texts and keys that are secrets by their form: route, description, and whether it is a key.

    `json` is the data as orjson writes it, if already known. TypeError for data that JSON does not support.
    """
    forms = forms_in(data, json)
    for route, text, key in _texts(data, ()) if forms else ():
        if (what := known_form(text, forms)) is not None:
            yield route, what, key


def _hint(route: Route, what: str = "") -> str:
    """The remedy at a route, where a reference to a Secret may not be possible."""
    if what.endswith("URL"):
        field = next((field for part, field in _CREDENTIALS.items() if part in route), "")
        return f"remove it from the URL{f', and set `{field}` to a Secret' if field else ''}; {_REVOKE}"
    if route[-2:-1] == ("env",):
        return f"move it to a Secret and write `{{secret: <name>, key: <key>}}`; {_REVOKE}"
    return f"move it to a Secret, and read it with `env: {{<variable>: {{secret: <name>, key: <key>}}}}`; {_REVOKE}"


_CREDENTIALS = {"code": "credentials", "flux": "secret"}
"""Field for the credentials of a Git repository, by a part of the route to its URL."""


def _texts(data: Any, route: Route) -> Iterator[tuple[Route, str, bool]]:
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
    """Every text with a name: in `env` and `params`, and in entries with `name` and `value`."""
    if isinstance(data, list):
        for index, entry in enumerate(data):
            yield from _named(entry, (*route, index))
    elif not isinstance(data, str):
        name, value = data.get("name"), data.get("value")
        if isinstance(name, str) and isinstance(value, str):
            yield (*route, "value"), name, value
        named = bool(route) and route[-1] in _NAMED
        for key, inner in data.items():
            if not isinstance(inner, str):
                yield from _named(inner, (*route, key))
            elif named:
                yield (*route, key), key, inner
