"""Parameters of a job file that no expression uses.

They are warnings, not errors: an expression in the defaults of another overlay may use them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gen.findings.jobs import NO_EFFECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gen.diagnostics import Findings
    from gen.load import Data, Source


def warn_unused_params(source: Source, data: dict[str, Data], found: Findings) -> None:
    """`data` is the job with the defaults of its overlay, before its expressions are replaced."""
    params = source.data.get("params") if isinstance(source.data, dict) else None
    if not isinstance(params, dict) or not params:
        return
    used = used_params(data, params)
    for name in params:
        if name not in used:
            hint = f"use it as `{{{{ params.{name} }}}}`, or remove it"
            place = source.place(("params", name), key=True)
            found.warning(NO_EFFECT, place, f"no expression uses the parameter `{name}`", hint)


def used_params(data: Mapping[str, Data], params: Iterable[str]) -> set[str]:
    """Those of the parameters that an expression in a field of the job uses."""
    text = "\n".join(_expressions({name: value for name, value in data.items() if name != "params"}))
    return {name for name in params if re.search(rf"\bparams\s*\.\s*{re.escape(name)}\b", text)}


def _expressions(data: Data) -> Iterator[str]:
    """Every string with an expression."""
    if isinstance(data, str):
        if "{{" in data:
            yield data
    else:
        for value in data.values() if isinstance(data, dict) else data:
            yield from _expressions(value)
