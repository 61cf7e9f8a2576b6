"""Edits of files that correct an error of a model as the author certainly meant it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.diagnostics import Move, Put, Rename, only_near
from gen.model.annotations import accepts
from gen.model.suggest import suggest
from gen.model.synonyms import normal

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from gen.diagnostics import Fix, Route
    from gen.load import Layers


def certain_fixes(detail: ErrorDetails, route: Route, model: type[BaseModel], layers: Layers) -> tuple[Fix, ...]:
    """The edit in the file of the error; nothing if another correction is possible."""
    if detail["type"] == "extra_forbidden":
        return _of_field(detail["input"], route, model, layers)
    value = detail["input"]
    new = _value(detail)
    written = layers.written(route) if new and isinstance(value, str) else None
    return (Put(written, str(value), new),) if written is not None else ()


def _of_field(value: Any, route: Route, model: type[BaseModel], layers: Layers) -> tuple[Fix, ...]:
    """Another name of an unknown field, or another place of it."""
    if not route or route == ("namespace",):  # which the folder sets
        return ()
    to = suggest(model, route, value).certain
    if to is None or not accepts(model, to, value) or layers.written(to) is not None:
        return ()
    written = layers.written(route)
    if written is None:
        return ()
    prefix = written[: len(written) - len(route)]
    if to[:-1] == route[:-1]:
        return (Rename(written, str(to[-1])),)
    return (Move(written, (*prefix, *to)),) if isinstance(value, str) else ()


def _value(detail: ErrorDetails) -> str:
    """The valid value that an invalid one stands for; empty if it is not certain."""
    context = detail.get("ctx", {})
    if detail["type"] == "gen":
        return str(context.get("certain", ""))
    if detail["type"] != "literal_error":
        return ""
    allowed = re.findall(r"'([^']*)'", str(context["expected"]))
    value = str(detail["input"])
    same = [one for one in allowed if normal(one) == normal(value)]
    return same[0] if len(same) == 1 else only_near(value, allowed)
