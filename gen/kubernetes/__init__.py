"""All that knows Kubernetes and nothing of the jobs of gen: manifests, schemas, facts of kinds, rules, CEL, policies.

It imports nothing else of gen but `gen.base`, and can be used from Python alone: `check_manifests` and `check_objects`
return the findings about any manifests or objects. See `docs/python.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.base import DefinitionError, Diagnostic, Location, Severity, UsageError
    from gen.kubernetes.check.files import Content

__all__ = ["DefinitionError", "Diagnostic", "Location", "Severity", "UsageError", "check_manifests", "check_objects"]


def __getattr__(name: str) -> object:
    """Load findings when they are used, so that importing one module of the room imports no others."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("gen.base.findings"), name)


def check_manifests(
    manifests: str | bytes | Mapping[str, str | bytes],
    kubernetes: str | None = None,
    *,
    definitions: Iterable[Path | str] = (),
    policies: Iterable[Path | str] = (),
    skip_unknown_kinds: bool = False,
) -> list[Diagnostic]:
    """Check manifests, which are YAML or JSON with any number of documents.

    `manifests` is one text, with the place `manifest` in findings, or texts by file name. `kubernetes` is a minor
    version such as `1.34`; by default the newest that gen knows. `definitions` and `policies` are files or folders of
    CustomResourceDefinitions and ValidatingAdmissionPolicies. Kinds without a schema are findings, unless
    `skip_unknown_kinds` is set. Objects in one folder belong to the same cluster, and must not conflict.

    Returns findings sorted by place, with lines and columns counted from 1. Invalid manifests never raise.

    Raises:
        UsageError: the version is not supported, a path does not exist, or a definition is invalid (DefinitionError).

    """
    texts = manifests if isinstance(manifests, Mapping) else {"manifest": manifests}
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in texts.items()}
    return _findings(contents, kubernetes, definitions, policies, skip_unknown_kinds=skip_unknown_kinds)


def check_objects(
    objects: Iterable[object],
    kubernetes: str | None = None,
    *,
    definitions: Iterable[Path | str] = (),
    policies: Iterable[Path | str] = (),
    skip_unknown_kinds: bool = False,
) -> list[Diagnostic]:
    """Check objects: mappings, lists, strings, numbers, booleans and None, as `json.loads` returns them.

    Like `check_manifests`, but the place of a finding is `objects[3]` for the fourth object, and its message begins
    with the object and the path of the field.

    Raises:
        UsageError: the version is not supported, a path does not exist, or a definition is invalid (DefinitionError).

    """
    contents = {f"objects[{number}]": (body,) for number, body in enumerate(objects)}
    return _findings(contents, kubernetes, definitions, policies, skip_unknown_kinds=skip_unknown_kinds)


def _findings(
    contents: Mapping[str, Content],
    kubernetes: str | None,
    definitions: Iterable[Path | str],
    policies: Iterable[Path | str],
    *,
    skip_unknown_kinds: bool,
) -> list[Diagnostic]:
    from gen.kubernetes.check.files import ManifestChecker  # which importing a module of the room does not load

    checker = ManifestChecker(
        (),
        kubernetes,
        tuple(map(Path, definitions)),
        missing=skip_unknown_kinds,
        policies=tuple(map(Path, policies)),
        contents=contents,
    )
    return list(checker.run().findings)
