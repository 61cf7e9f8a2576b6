"""JUnit as Jenkins reads it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tests.support import HERE

if TYPE_CHECKING:
    from xmlschema import XMLSchema


@cache
def schema() -> XMLSchema:
    """Schema of Jenkins, the strictest one in use."""
    from xmlschema import XMLSchema

    return XMLSchema(str(HERE / "data/junit-10.xsd"))


def validate_junit(text: str) -> None:
    schema().validate(text)
