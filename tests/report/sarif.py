"""SARIF as a viewer reads it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema_rs import Draft7Validator

from tests.support import HERE


@cache
def validator() -> Draft7Validator:
    """Schema of OASIS for 2.1.0, without the superfluous bracket in its language pattern."""
    return Draft7Validator(json.loads((HERE / "data/sarif-2.1.0.json").read_text("utf-8")), validate_formats=True)


def results(text: str) -> list[dict[str, Any]]:
    """The results of a valid document."""
    document = json.loads(text)
    validator().validate(document)
    found: list[dict[str, Any]] = document["runs"][0]["results"]
    return found


def with_fix(text: str, fix: dict[str, Any]) -> str:
    """The text of a file with the replacements of one file (3.55 to 3.57)."""
    (change,) = fix["artifactChanges"]
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines) + 1)]
    for one in reversed(change["replacements"]):
        region = one["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:start] + one.get("insertedContent", {"text": ""})["text"] + text[end:]
    return text
