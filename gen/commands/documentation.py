"""The site of the documentation that messages link to. Help is shown without importing more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from gen import DOCUMENTATION

if TYPE_CHECKING:
    from gen.report.documentation import Documentation

VARIABLE: Final = "GEN_DOCS_URL"
"""Environment variable with the address of a site, such as one that an organisation hosts."""
_FORM: Final = r"(?:https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?|file://)(?:/[A-Za-z0-9_.~%+@-]+)*/?"


def documentation() -> Documentation:
    """The site of the environment, or that of this version of gen. UsageError for an address of another form."""
    from gen.report.documentation import Documentation  # noqa: PLC0415 - help does not need it

    site = _site()
    if site is None:
        from gen.diagnostics import UsageError  # noqa: PLC0415 - as above

        raise UsageError(f"`{VARIABLE}` is not a valid address; use a form like `https://docs.example.com/gen`")
    return Documentation(site)


def help_line(otherwise: str = "") -> str:
    """The last line of help: where to read more. Help is shown for an invalid address, too."""
    return f"Documentation: {home(site)}" if (site := _site()) else otherwise


def home(site: str) -> str:
    """The first page. A folder of the disk has no server that chooses it."""
    return f"{site}/index.html" if site.startswith("file:") else f"{site}/"


def _site() -> str | None:
    """The address, without `/` at the end; None if it is not valid."""
    site = os.environ.get(VARIABLE) or DOCUMENTATION
    if site:
        from gen.regex import regex  # noqa: PLC0415 - as above

        if regex(_FORM).fullmatch(site) is None:
            return None
    return site.rstrip("/")
