"""Projected volumes: files of several sources in one folder.

From `validateProjectionSources` of `pkg/apis/core/validation/validation.go`. Sources with a disabled feature gate are
dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.rule import server
from gen.rules.server.volumes import reflected_file
from gen.rules.value_checks import between, file_mode, file_name, not_empty

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
_LISTS = ("secret", "configMap", "downwardAPI")
_SOURCE = FieldChecks(
    {
        **{f"{kind}.items.*.mode": file_mode for kind in _LISTS},
        **{f"{kind}.items.*.key": not_empty for kind in ("secret", "configMap")},
        "serviceAccountToken.expirationSeconds": between(600, 1 << 32),
    }
)


@server(
    "projected",
    of_pods=True,
    remedy="Give each file a unique path.",
)
def projected(view: ObjectView) -> Faults:
    """A projected volume has an entry with several sources, or two files with the same path."""
    for route, pod in view.pods:
        for index, volume in enumerate(pod.get("volumes") or ()):
            taken: set[str] = set()
            for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
                yield from _source(source, (*route, "volumes", index, "projected", "sources", number), taken)


def _source(source: Body, route: Route, taken: set[str]) -> Faults:
    found = [kind for kind in _KINDS if kind in source]
    for kind in found[1:]:
        message = f"an entry has only one source, and `{found[0]}` is already set"
        yield Fault((*route, kind), message, f"move `{kind}` to a separate entry")
    yield from _SOURCE.faults(source, route)
    for kind, what in (("secret", "secret"), ("configMap", "config map")):
        if kind in source and not source[kind].get("name"):
            yield Fault((*route, kind), "`name` is missing", f"set `name` to the name of a {what}")
    for kind in _LISTS:
        for index, file in enumerate((source.get(kind) or {}).get("items") or ()):
            at = (*route, kind, "items", index)
            yield from _path(file["path"], (*at, "path"))
            if file["path"] in taken:
                message = f"duplicate path `{file['path']}`"
                yield Fault((*at, "path"), message, "change one of the two paths")
            taken.add(file["path"])
            if kind == "downwardAPI":
                yield from reflected_file(file, at)
    if "serviceAccountToken" in source:
        yield from _path(source["serviceAccountToken"]["path"], (*route, "serviceAccountToken", "path"))


def _path(path: str, route: Route) -> Faults:
    fault = not_empty(path) or file_name(path)
    if fault is not None:
        yield fault.at(route)
