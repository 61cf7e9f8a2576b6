"""The ground floor: findings and places, codes, YAML with places, routes through data, the repository, processes, text.

It knows nothing of Kubernetes objects or jobs, and imports nothing else of gen. What most rooms use is exported here:
findings with their places, routes, and lazy regular expressions.
"""

from gen.base.findings import (
    BugError,
    DefinitionError,
    Diagnostic,
    Findings,
    Fix,
    Location,
    Move,
    Put,
    Rename,
    Respell,
    Severity,
    UsageError,
    counted,
    did_you_mean,
    message_text,
    near,
    only_near,
    with_article,
)
from gen.base.lazy import LazyRegistry, regex
from gen.base.routes import Route, at, dotted, follow, get, nulls, overlap, replaced, set_value, with_field

__all__ = [
    "BugError",
    "DefinitionError",
    "Diagnostic",
    "Findings",
    "Fix",
    "LazyRegistry",
    "Location",
    "Move",
    "Put",
    "Rename",
    "Respell",
    "Route",
    "Severity",
    "UsageError",
    "at",
    "counted",
    "did_you_mean",
    "dotted",
    "follow",
    "get",
    "message_text",
    "near",
    "nulls",
    "only_near",
    "overlap",
    "regex",
    "replaced",
    "set_value",
    "with_article",
    "with_field",
]
