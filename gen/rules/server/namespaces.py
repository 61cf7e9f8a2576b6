"""Namespaces: the labels that select a level of Pod Security.

From `PolicyToEvaluate` of `pod-security-admission/api/helpers.go`; the admission plugin is on by default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.regex import regex
from gen.rules.fault import Fault
from gen.rules.rule import server
from gen.rules.value_checks import one_of

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_PREFIX: Final = "pod-security.kubernetes.io/"
_VERSION = regex(r"latest|v1\.(?:[0-9]|[1-9][0-9]+)")


def _version(value: Any) -> Fault | None:
    hint = "use `latest`, or a version such as `v1.34`"
    return None if _VERSION.fullmatch(value) else Fault((), f"`{value}` is not a version of Pod Security", hint)


_level = one_of("privileged", "baseline", "restricted")
_CHECKS = {
    f"{_PREFIX}{mode}{suffix}": check
    for mode in ("enforce", "audit", "warn")
    for suffix, check in {"": _level, "-version": _version}.items()
}


@server("namespaces", "Namespace", remedy="Use the level `privileged`, `baseline` or `restricted`.")
def namespaces(view: ObjectView) -> Faults:
    """A namespace has a label for Pod Security with an unknown level or version."""
    for key, value in (view.metadata.get("labels") or {}).items():
        check = _CHECKS.get(key)
        if check is not None and (fault := check(value)) is not None:
            yield fault.at(("metadata", "labels", key))
