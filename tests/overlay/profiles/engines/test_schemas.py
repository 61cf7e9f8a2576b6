"""Schemas of objects of engines: closed, and equal to the engines' own definitions in their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.kubernetes.schemas.registry import Schemas, versions
from tests.cases import for_each
from tests.kubernetes.schemas.test_registry import types, upstream
from tests.support import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator

Schema = dict[str, Any]

CRDS = {
    ("argoproj.io/v1alpha1", "AppProject"): "argoproj.io/appprojects.yaml",
    ("argoproj.io/v1alpha1", "Application"): "argoproj.io/applications.yaml",
    ("argoproj.io/v1alpha1", "ApplicationSet"): "argoproj.io/applicationsets.yaml",
    ("argoproj.io/v1alpha1", "CronWorkflow"): "argoproj.io/cronworkflows.yaml",
    ("argoproj.io/v1alpha1", "Workflow"): "argoproj.io/workflows.yaml",
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"): "kustomize.toolkit.fluxcd.io/kustomizations.yaml",
    ("notification.toolkit.fluxcd.io/v1beta3", "Alert"): "notification.toolkit.fluxcd.io/alerts.yaml",
    ("source.toolkit.fluxcd.io/v1", "GitRepository"): "source.toolkit.fluxcd.io/gitrepositories.yaml",
}
GIVEN = ("format", "pattern", "maxLength", "minLength")


@for_each(("gvk", "file"), CRDS.items(), ids=[kind for _, kind in CRDS])
def test_what_our_schema_knows_it_knows_from_the_definition(gvk: tuple[str, str], file: str) -> None:
    theirs = upstream(file, gvk[0].split("/")[1])
    assert list(differences(schema(gvk)["properties"]["spec"], theirs["properties"]["spec"], "spec")) == []


@for_each("gvk", CRDS, ids=[kind for _, kind in CRDS])
def test_every_object_in_it_is_closed(gvk: tuple[str, str]) -> None:
    assert list(open_objects(schema(gvk)["properties"]["spec"], "spec")) == []


def test_the_comparison_sees_what_differs() -> None:
    if not (SHARED / "crds").is_dir():
        pytest.skip("the upstream CRDs are not here")
    gvk = ("kustomize.toolkit.fluxcd.io/v1", "Kustomization")
    theirs = upstream(CRDS[gvk], "v1")["properties"]["spec"]
    del theirs["properties"]["wait"]
    theirs["properties"]["prune"]["type"] = "string"
    theirs["properties"]["interval"]["pattern"] = ".*"
    theirs["properties"]["deletionPolicy"]["enum"].remove("Orphan")
    theirs["required"].append("timeout")
    assert set(differences(schema(gvk)["properties"]["spec"], theirs, "spec")) == {
        "spec: timeout is required there",
        "spec.wait: only here",
        "prune: boolean here and string there",
        "spec.interval: pattern",
        "spec.deletionPolicy: `Orphan` only here",
    }


def schema(gvk: tuple[str, str]) -> Schema:
    return Schemas(versions()[-1]).schema(*gvk)


def differences(ours: Schema, theirs: Schema, route: str) -> Iterator[str]:
    """What ours lets through that theirs does not."""
    yield from types(ours, theirs, route.rpartition(".")[2])
    yield from (
        f"{route}: {key}" for key in GIVEN if key in theirs and ours.get(key) != theirs[key] and "enum" not in ours
    )
    if "enum" in theirs:
        yield from (
            f"{route}: `{word}` only here" for word in ours.get("enum", ["anything"]) if word not in theirs["enum"]
        )
    missing = set(theirs.get("required", ())) - set(ours.get("required", ()))
    yield from (f"{route}: {key} is required there" for key in sorted(missing))
    if "items" in ours:
        yield from differences(ours["items"], theirs["items"], f"{route}[]")
    if "additionalProperties" in theirs:
        yield from differences(ours["additionalProperties"], theirs["additionalProperties"], f"{route}.*")
    for key, inner in ours.get("properties", {}).items():
        if key not in theirs.get("properties", {}):
            yield f"{route}.{key}: only here"
        else:
            yield from differences(inner, theirs["properties"][key], f"{route}.{key}")


def open_objects(ours: Schema, route: str) -> Iterator[str]:
    if ours.get("type") == "object" and ours.get("additionalProperties") is not False and "properties" in ours:
        yield route
    for key, inner in ours.get("properties", {}).items():
        yield from open_objects(inner, f"{route}.{key}")
    if "items" in ours:
        yield from open_objects(ours["items"], f"{route}[]")
