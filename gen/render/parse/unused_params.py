"""Parameters of a job file that no expression uses.

They are warnings, not errors: an expression in the defaults of another overlay may use them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gen.findings.jobs import NO_EFFECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Findings
    from gen.load import Data, Source


def warn_unused_params(source: Source, data: dict[str, Data], found: Findings) -> None:
    """`data` is the job with the defaults of its overlay, before its expressions are replaced."""
    params = source.data.get("params") if isinstance(source.data, dict) else None
    if not isinstance(params, dict) or not params:
        return
    text = "\n".join(_expressions({name: value for name, value in data.items() if name != "params"}))
    for name in params:
        if not re.search(rf"\bparams\s*\.\s*{re.escape(name)}\b", text):
            hint = f"use it as `{{{{ params.{name} }}}}`, or remove it"
            place = source.place(("params", name), key=True)
            found.warning(NO_EFFECT, place, f"no expression uses the parameter `{name}`", hint)


def _expressions(data: Data) -> Iterator[str]:
    """Every string with an expression."""
    if isinstance(data, str):
        if "{{" in data:
            yield data
    else:
        for value in data.values() if isinstance(data, dict) else data:
            yield from _expressions(value)
