"""`gen schema`: the JSON Schema of jobs or overlays."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from msgspec import Struct

from gen.commands.common import Result, surrounding_repository
from gen.overlay import load_extensions
from gen.report.schemas import SCHEMAS, schema_text

Document = StrEnum("Document", [(name.upper(), name) for name in SCHEMAS])  # type: ignore[misc] # computed choices


FORMATS = None
"""The output is text."""


class Request(Struct, frozen=True, kw_only=True):
    document: Annotated[Document, typer.Argument(help="Document that the schema describes.", metavar="|".join(SCHEMAS))]


def run(request: Request) -> Result[str]:
    """The schema of a document, with the plugins of the repository that surrounds the working directory."""
    if (root := surrounding_repository()) is not None:
        load_extensions(root)
    return Result(output=schema_text(str(request.document)))
