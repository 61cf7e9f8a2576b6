"""Our schemas of training kinds against the upstream CRDs: the same fields, in both directions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.findings import BugError
from gen.job.kinds import KINDS
from gen.kubernetes.schemas import registry
from gen.kubernetes.schemas.registry import Schemas, is_partial, minor_version, schemas, versions
from scripts.closed_schema import OWN, closed_schema, layout
from tests.cases import for_each
from tests.support import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Schema = dict[str, Any]


def definition(version: str, kind: str) -> str:
    """The file of a CRD below `crds/`. One with several files has the version in the names of the others."""
    group, _, name = version.partition("/")
    file = f"{group}/{kind.lower()}s"
    of_version = f"{file}.{name}.yaml"
    return of_version if (SHARED / "crds" / of_version).exists() else f"{file}.yaml"


_DOCUMENTS = [json.loads(path.read_text("utf-8"))["properties"] for path in sorted(OWN.glob("*_*.json"))]
CRDS = {gvk: definition(*gvk) for one in _DOCUMENTS for gvk in [(one["apiVersion"]["enum"][0], one["kind"]["enum"][0])]}
"""The definitions of our schemas: of every API version that a kind can render and Kubernetes does not define."""

EXPLAINED = {
    "apiVersion: enum": "one schema is of one version",
    "kind: enum": "one schema is of one kind",
    "required apiVersion": "the CRD leaves it to the API server",
    "required kind": "as apiVersion",
    "required metadata": "an object needs a name",
    "required name": "the webhook of JobSet names the rules of a failure policy",
    "status: only here": "the script gives one to each kind, and a Pipeline has none",
    "replica map: named": "the CRD takes any key, and patches find containers by the names of these",
}
"""Intended differences, as `difference` reports them."""

REMOVED = {"podSpecOverrides", "podTemplateOverrides", "labels", "annotations"}
"""Fields of TrainJob that later releases with the same API version do not have."""
EXPLAINED |= {f"{field}: only here": "an overlay can state an older release" for field in REMOVED}

POD = {"metadata", "spec"}
COMPLETE = {"restartPolicy", "completions"}
"""Fields of templates of pods and Jobs that parts of templates lack."""


def test_every_api_version_of_every_kind_is_compared() -> None:
    rendered = {(version, kind.facts.kind) for kind in KINDS.values() for version in kind.facts.versions}
    rendered = {gvk for gvk in rendered if not is_partial(*gvk)}
    assert {gvk for gvk in rendered if "." in gvk[0]} <= set(CRDS)


@for_each(("gvk", "file"), CRDS.items(), ids=[f"{kind}-{version}" for version, kind in CRDS])
def test_our_schema_is_equivalent_to_the_crd(gvk: tuple[str, str], file: str) -> None:
    crd = upstream(file, gvk[0].split("/")[1])
    ours = Schemas(versions()[-1])
    found = set(difference(ours, ours.schema(*gvk), crd, "object"))
    assert found - EXPLAINED.keys() == set()


def test_the_comparison_finds_a_field_that_is_missing_on_either_side() -> None:
    crd = upstream("kubeflow.org/pytorchjobs.yaml", "v1")
    ours = Schemas(versions()[-1])
    schema = ours.schema("kubeflow.org/v1", "PyTorchJob")
    run_policy = crd["properties"]["spec"]["properties"]["runPolicy"]["properties"]
    run_policy["newField"] = {"type": "string"}
    del run_policy["suspend"]
    run_policy["backoffLimit"]["type"] = "string"
    found = set(difference(ours, schema, crd, "object")) - EXPLAINED.keys()
    assert found == {"newField: only there", "suspend: only here", "backoffLimit: integer here and string there"}


DERIVED = [gvk for gvk in CRDS if not gvk[0].startswith("kubeflow.org/")]
"""Kinds with an unchanged schema of the script. Those of Kubeflow name the roles of their replica maps."""


@pytest.mark.slow  # a process for each kind
@pytest.mark.parametrize("gvk", DERIVED, ids=[kind for _, kind in DERIVED])
def test_the_script_writes_the_schema_from_the_definition(gvk: tuple[str, str]) -> None:
    group, version = gvk[0].split("/")
    written = closed_schema(group, version, gvk[1], upstream(CRDS[gvk], version))
    stored = (OWN / written["$id"].rpartition("/")[2]).read_text("utf-8")
    document = json.loads(stored)
    assert stored == layout(document) + "\n"
    fields = document["properties"]["spec"]["properties"]
    for field in (fields.keys() & REMOVED) - written["properties"]["spec"]["properties"].keys():
        del fields[field]
    assert document == written


def upstream(file: str, version: str) -> Schema:
    path = SHARED / "crds" / file
    if not path.exists():
        pytest.skip("the upstream CRDs are not here")
    crd = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
    (found,) = [entry for entry in crd["spec"]["versions"] if entry["name"] == version]
    schema: Schema = found["schema"]["openAPIV3Schema"]
    return schema


def difference(ours: Schemas, mine: Schema, theirs: Schema, name: str) -> Iterator[str]:
    """Differences between two schemas of a value. Parts of pods are not compared, because both are Kubernetes' own."""
    of_kubernetes = mine.get("$ref", "").rpartition("/")[2] in ours.types
    mine = ours.resolve(mine)
    if of_kubernetes and theirs.get("properties", {}).keys() <= mine.get("properties", {}).keys():
        return  # each version of Kubernetes has its own fields there
    if theirs.get("properties", {}).keys() == POD and COMPLETE & theirs["properties"]["spec"]["properties"].keys():
        yield from () if mine["properties"].keys() == POD else (f"{name}: no pod template here",)
        return
    if name in {"metadata", "status"}:  # manifests have no status
        return
    yield from types(mine, theirs, name)
    if mine.get("enum") != theirs.get("enum"):
        yield f"{name}: enum"
    # the API server fills in defaults before it checks
    given = {field for field in theirs.get("required", ()) if "default" not in theirs["properties"][field]}
    yield from (f"required {field}" for field in set(mine.get("required", ())) ^ given)
    yield from properties(ours, mine, theirs, name)
    if "items" in theirs or "items" in mine:
        yield from difference(ours, mine["items"], theirs["items"], f"{name}[]")


def types(mine: Schema, theirs: Schema, name: str) -> Iterator[str]:
    def kinds(schema: Schema) -> set[str]:
        if schema.get("x-kubernetes-int-or-string") or "oneOf" in schema:
            return {"integer", "string"}
        given = schema.get("type", "object")
        return ({given} if isinstance(given, str) else set(given)) - {"null"}

    if kinds(mine) != kinds(theirs):
        yield f"{name}: {' or '.join(sorted(kinds(mine)))} here and {' or '.join(sorted(kinds(theirs)))} there"
    if mine.get("format") != theirs.get("format"):
        yield f"{name}: format"


def properties(ours: Schemas, mine: Schema, theirs: Schema, name: str) -> Iterator[str]:
    here, there = mine.get("properties", {}), theirs.get("properties", {})
    extra = theirs.get("additionalProperties")
    if isinstance(extra, dict) and here:  # a replica map: any key there, the operator's own here
        yield "replica map: named"
        for key in here:
            yield from difference(ours, here[key], extra, key)
        return
    if isinstance(extra, dict):
        yield from difference(ours, mine["additionalProperties"], extra, f"{name}.*")
    for key in sorted(here.keys() | there.keys()):
        if key not in here or key not in there:
            yield f"{key}: only {'there' if key in there else 'here'}"
        else:
            yield from difference(ours, here[key], there[key], key)


@for_each("version", versions())
def test_every_kubernetes_version_has_schemas_of_all_rendered_kinds(version: str) -> None:
    kinds = [("v1", "Service"), ("v1", "ConfigMap"), ("v1", "PersistentVolume"), ("v1", "PersistentVolumeClaim")]
    kinds += [("apps/v1", "Deployment"), ("networking.k8s.io/v1", "Ingress"), ("batch/v1", "Job"), *CRDS]
    for api_version, kind in kinds:
        assert not schemas(version).validator(api_version, kind).is_valid({"unknown": 1})


def test_kinds_with_pods_are_compiled_together(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, schemas = registry.compiled, Schemas(versions()[-1])
    calls: list[set[str]] = []

    def counted(schema: Schema, own: Schemas) -> Any:
        calls.append(set(schema["properties"]))
        return compiled(schema, own)

    monkeypatch.setattr(registry, "compiled", counted)
    schemas.compile([("batch/v1", "Job"), ("v1", "Service"), ("example.com/v1", "Unknown")])
    for key in (("v1", "ConfigMap"), ("apps/v1", "Deployment"), *CRDS):
        schemas.validator(*key)
    alone = [{f"{version}/{kind}"} for version, kind in CRDS if kind in {"Pipeline", "PipelineVersion", "PodGroup"}]
    assert calls[:2] == [{"batch/v1/Job", "v1/Service"}, {"v1/ConfigMap"}]
    assert {"apps/v1/Deployment", "ray.io/v1/RayJob", "v1/PodTemplate"} <= calls[2]
    assert calls[3:] == alone


@pytest.mark.parametrize("identifier", [{}, {"$id": "https://example.com/widget.json"}], ids=["without", "with"])
def test_a_schema_of_a_plugin_can_refer_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, identifier: dict[str, str]
) -> None:
    size = {"type": "integer"}
    schema = {**identifier, "properties": {"size": {"$ref": "#/$defs/Size"}}, "$defs": {"Size": size}}
    (tmp_path / "example.com_v1_widget.json").write_text(json.dumps(schema), "utf-8")
    (tmp_path / "example.com_v1_gadget.json").write_text('{"properties": {"size": {"type": "string"}}}', "utf-8")
    monkeypatch.setattr(registry, "_FOLDERS", [tmp_path])
    own = Schemas(versions()[-1])
    own.compile([("example.com/v1", "Widget"), ("example.com/v1", "Gadget"), ("v1", "ConfigMap")])
    for kind, size_of_kind in (("Widget", 1), ("Gadget", "1")):
        validator = own.validator("example.com/v1", kind)
        for value in (1, "1"):
            fits = value == size_of_kind
            assert validator.is_valid({"size": value}) == fits
            assert [route for route, _ in validator.errors({"size": value})] == [("size",)] * (not fits)


def test_a_shared_validator_only_checks_its_own_kind() -> None:
    own = Schemas(versions()[-1])
    bodies: dict[tuple[str, str], dict[str, Any]] = {
        ("v1", "Service"): {"apiVersion": "v1", "kind": "Service", "spec": {"type": "ClusterIP"}},
        ("v1", "ConfigMap"): {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}},
    }
    own.compile(bodies)
    for key in bodies:
        for other, body in bodies.items():
            validator = own.validator(*key)
            assert validator.is_valid(body) == (key == other)
            found = {route for route, _ in validator.errors(body)}
            assert found == (set() if key == other else {("kind",), ()})


@for_each("version", versions())
def test_each_kind_of_kubernetes_is_found_by_its_name(version: str) -> None:
    types = schemas(version).types
    assert {key: types.name_of(*key) for key in types.kinds} == types.kinds
    assert types.name_of("batch/v1", "Jobs") is types.name_of("example.com/v1", "Job") is None
    assert types.name_of("v1", "Pod") is not None
    assert types.name_of("/v1", "Pod") is None


def test_a_kind_without_a_schema_is_a_bug_of_gen() -> None:
    for asked in (schemas(versions()[-1]).schema, schemas(versions()[-1]).validator):
        with pytest.raises(BugError, match=r"no schema found for example\.com/v1 Nothing"):
            asked("example.com/v1", "Nothing")


def test_versions_are_sorted_by_number() -> None:
    assert versions().index("1.25") < versions().index("1.30")
    assert minor_version("v1.34.2") == minor_version("1.34") == "1.34"
