"""All finding codes, computed from the constants in the modules of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.findings import clusters, files, grants, imports, jobs, overlays, pins, policies, rendered, search, sweeps
from gen.findings.code import Code

if TYPE_CHECKING:
    from types import ModuleType


def _codes(module: ModuleType) -> tuple[Code, ...]:
    return tuple(value for value in vars(module).values() if isinstance(value, Code))


SECTIONS: Final = {
    "Files and YAML": _codes(files),
    "Jobs": _codes(jobs),
    "Sweeps": _codes(sweeps),
    "Searches": _codes(search),
    "Pins": _codes(pins),
    "Grants of the overlay": _codes(grants),
    "Overlays and patches": _codes(overlays),
    "Admission policies": _codes(policies),
    "Imports": _codes(imports),
    "Rendered files and the effects of a change": _codes(rendered),
    "Clusters": _codes(clusters),
}
"""Codes by subject. Each code is in one section."""

CODES: Final = {code.name: code for section in SECTIONS.values() for code in section}
"""Some names are also names of rules: the same mistake in a job file and in a manifest."""
