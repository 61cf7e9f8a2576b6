"""Small objects of all kinds, and changes to them, written as paths and values."""

from __future__ import annotations

import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.kubernetes.rules import Fault, ObjectView, RuleSource
from gen.kubernetes.rules.catalogue import RULES
from tests.support import HERE

if TYPE_CHECKING:
    from gen.base.findings import Route
    from gen.kubernetes.objects import Body

VERSION = "1.34"
FILES = ("kubernetes.yaml", "operators.yaml", "large.yaml", "schema_only.yaml")
CASES: dict[str, dict[str, Any]] = yaml.load((HERE / "kubernetes/rules/cases.yaml").read_bytes(), yaml.CSafeLoader)


@cache
def objects(name: str) -> tuple[Body, ...]:
    """Objects of one of the files, which an API server accepts."""
    return tuple(yaml.load_all((HERE / "kubernetes/rules" / name).read_bytes(), yaml.CSafeLoader))


def an_object(name: str | Body) -> Body:
    """The first object of a kind, or of an API version and kind; a case may also have an object of its own."""
    if not isinstance(name, str):
        return name
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


def cases(which: str, source: RuleSource) -> list[Any]:
    """The `good` or `bad` changes for the rules of a source: rule, kind, change."""
    return [
        pytest.param(rule, change.get("object", case["object"]), change, id=f"{rule}-{number}")
        for rule, case in CASES.items()
        if RULES[rule].source is source
        for number, change in enumerate(case[which])
    ]


def faults(rule: str, kind: str | Body, changes: dict[str, Any]) -> list[Fault]:
    """The faults that one rule finds in a changed object."""
    body = changed(an_object(kind), {path: value for path, value in changes.items() if path not in {"at", "object"}})
    find = RULES[rule].find
    assert find is not None
    view = ObjectView.of(body, VERSION)
    assert RULES[rule].is_for(view.group, view.kind)
    return list(find(view))


def faults_in_place(rule: str, kind: str | Body, changes: dict[str, Any]) -> list[Fault]:
    """The faults at, above or below a changed field, or at the field that the case names."""
    paths = [route(path) for path in ([changes["at"]] if "at" in changes else changes)]
    return [
        fault
        for fault in faults(rule, kind, changes)
        if any(fault.route[: len(path)] == path or path[: len(fault.route)] == fault.route for path in paths)
    ]
