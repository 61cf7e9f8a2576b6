"""API versions that are deprecated, removed or unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import did_you_mean, near
from gen.resources.retired import RETIRED
from gen.rules.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.schemas.lookup import Kinds


def is_removed(api_version: str, name: str, kinds: Kinds) -> bool:
    """Whether Kubernetes or an operator does not serve the kind in this version any more."""
    old = RETIRED.get((api_version, name))
    return old is not None and old.removed is not None and old.removed <= kinds.minor


def retired(api_version: str, name: str, kinds: Kinds, *, known: bool) -> Iterator[Problem]:
    """The problem of a deprecated or removed API version; `known` if there is a schema for it."""
    old = RETIRED.get((api_version, name))
    if old is None:
        return
    minor = kinds.minor
    instead = f"use `{old.instead}`" if "/" in old.instead else old.instead
    if is_removed(api_version, name, kinds) and not known:
        since = f" since Kubernetes 1.{old.removed}" if old.removed else ""
        yield Problem("removed-api", ("apiVersion",), f"{api_version} {name} was removed{since}", instead)
    elif old.deprecated <= minor:
        until = f" and removed in Kubernetes 1.{old.removed}" if old.removed else ""
        yield Problem("deprecated-api", ("apiVersion",), f"{api_version} {name} is deprecated{until}", instead)


def unknown(api_version: str, name: str, kinds: Kinds) -> Problem:
    """The problem of a kind without a schema, with the version or the kind that was probably meant."""
    names = kinds.names()
    versions = sorted({version for version, kind in names if kind == name})
    message = f"no schema found for {api_version} {name}"
    if versions:
        return Problem("unknown-kind", ("apiVersion",), message, did_you_mean(api_version, versions))
    guess = near(name, (kind for version, kind in names if version == api_version))
    return Problem("unknown-kind", ("kind",), message, f"did you mean `{guess}`?" if guess else "")
