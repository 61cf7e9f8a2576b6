"""Small objects of all kinds, and changes to them, written as paths and values."""

from __future__ import annotations

import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from tests.support import HERE

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body

FILES = ("kubernetes.yaml", "operators.yaml")


@cache
def objects(name: str) -> tuple[Body, ...]:
    """Objects of one of the files, which an API server accepts."""
    return tuple(yaml.load_all((HERE / "rules" / name).read_bytes(), yaml.CSafeLoader))


def an_object(name: str) -> Body:
    """The first object of a kind, or of an API version and kind."""
    every = [body for file in FILES for body in objects(file)]
    return next(body for body in every if name in {body["kind"], f"{body['apiVersion']} {body['kind']}"})


def changed(body: Body, changes: dict[str, Any]) -> Body:
    """A copy with other values; null removes a field."""
    copied = copy.deepcopy(body)
    for path, value in changes.items():
        holder: Any = copied
        *steps, last = route(path)
        for step in steps:
            holder = holder[step] if isinstance(step, int) else holder.setdefault(step, {})
        if value is None:
            holder.pop(last, None)
        else:
            holder[last] = value
    return copied


def route(path: str) -> Route:
    return tuple(int(step) if step.isdecimal() else step for step in path.split(" "))
