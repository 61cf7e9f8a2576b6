"""The field `rendered` of an overlay: files in `rendered/` that gen did not generate."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
import re
from typing import Annotated

from gen.model.base import Model
from gen.model.scalars import matching
from gen.model.validators import JsonForm
from gen.regex import regex
from gen.repository.layout import INERT_ENDINGS

KeptFiles = Annotated[
    str,
    matching(
        regex(
            r"(?:(?!\.{1,2}/)[A-Za-z0-9._*?-]+/)*[A-Za-z0-9_*?][A-Za-z0-9._*?-]*"
            rf"(?:{'|'.join(map(re.escape, INERT_ENDINGS))})"
        ),
        200,
        "a pattern for files that GitOps engines never apply",
        "use a form like `README.md` or `*/NOTES.txt`, relative to `rendered/`",
    ),
    JsonForm({"title": "pattern", "type": "string"}),
]


class Rendered(Model):
    """Files in `rendered/`."""

    keep: tuple[KeptFiles, ...] = ()
    """Files in `rendered/` that gen did not generate, as patterns relative to `rendered/`, such as `README.md`. `*`
    matches any text, including `/`. A pattern ends with `.md` or `.txt`, which GitOps engines ignore."""
