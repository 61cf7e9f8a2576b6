"""Users' CustomResourceDefinitions: closed schemas, CEL rules, and the choice by repository and overlay."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest
import yaml

from gen.base.findings import UsageError
from gen.kubernetes.schemas.lookup import Definitions, Kinds
from tests.cases import for_each
from tests.kubernetes.check.support import POD, codes, inspect, refused
from tests.kubernetes.rules.support import objects
from tests.kubernetes.schemas.definition import definition
from tests.support import SHARED, validated

if TYPE_CHECKING:
    from pathlib import Path

WIDGETS = definition(
    "example.com",
    "Widget",
    """\
type: object
required: [size]
x-kubernetes-validations:
  - {rule: "self.size <= self.limit", message: "size is over limit"}
  - {rule: "isURI(self.home)"}
  - {rule: "self.size == oldSelf.size", message: "size stays"}
properties:
  size: {type: integer, format: int32}
  limit: {type: integer}
  home: {type: string}
  port: {x-kubernetes-int-or-string: true}
  any: {type: object, x-kubernetes-preserve-unknown-fields: true}
  parts:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items: {type: object, required: [name], properties: {name: {type: string}}}
""",
    """\
- {name: v1alpha1, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
""",
)


@pytest.fixture
def widgets(tmp_path: Path) -> tuple[Path, ...]:
    folder = tmp_path / "crds"
    folder.mkdir()
    (folder / "widgets.yaml").write_text(WIDGETS)
    return (folder,)


def widget(spec: str, version: str = "v1") -> str:
    return f"apiVersion: example.com/{version}\nkind: Widget\nmetadata: {{name: a}}\nspec: {spec}\n"


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("{size: 1, limit: 2, home: a, siz: 1}", "undefined-field"),
        ("{limit: 2}", "absent-field"),
        ("{size: 9223372036854775808, limit: 2}", "schema-constraint"),
        ("{size: 1.5}", "wrong-type"),
        ("{size: null}", "absent-field"),
        ("{size: 1, limit: 2, port: [1]}", "wrong-type"),
        ("{size: 3, limit: 2, home: a}", "cel"),
        ("{size: 1, limit: 2, home: a, parts: [{name: a}, {name: a}]}", "double-entry"),
    ],
)
def test_a_users_definition_is_closed(tmp_path: Path, widgets: tuple[Path, ...], spec: str, code: str) -> None:
    assert code in codes(tmp_path, widget(spec), schemas=widgets)


def test_a_rule_that_cannot_be_evaluated_is_a_warning(tmp_path: Path, widgets: tuple[Path, ...]) -> None:
    good = widget("{size: 1, limit: 2, home: a, port: 80, any: {thing: [1]}, parts: [{name: a}, {name: b}]}")
    report, code = inspect(tmp_path, good, schemas=widgets)
    assert ([finding.code for finding in report.findings], code) == (["cel-not-evaluated"], 0)
    assert "isURI" in report.findings[0].message


def test_a_deprecated_version_of_a_definition_is_a_warning(tmp_path: Path, widgets: tuple[Path, ...]) -> None:
    assert codes(tmp_path, widget("{}", "v1alpha1").replace("spec: {}\n", ""), schemas=widgets) == ["deprecated-api"]


def test_an_invalid_definition_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text("kind: CustomResourceDefinition # of kind: Widget\nspec: [")
    with pytest.raises(UsageError, match="crd") as raised:
        codes(tmp_path, widget("{}"), schemas=(tmp_path / "crd.yaml",))
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)  # noqa: S301 - our own bytes


STRANGERS = definition(
    "example.com",
    "Store",
    """\
type: object
x-kubernetes-validations: [{rule: "!has(self.tier) || self.tier != 'a'", message: "not tier a"}]
properties:
  notes:
  tier: {type: string, nullable: true, default: a}
  names: {type: array, items: {type: string, nullable: true}}
  required: {type: object, required: [a], properties: {a: {type: string, nullable: true}}}
  any: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}
  expires: {type: string, format: date-time}
  ports: {type: array, items: {type: string}}
  config:
    type: array
    x-kubernetes-preserve-unknown-fields: true
    items: {type: object, properties: {known: {type: object, properties: {a: {type: string}}}}}
  podTemplate:
    type: object
    properties:
      metadata: {type: object}
      spec:
        type: object
        properties:
          schedulingGroup: {type: object, properties: {name: {type: string}}}
          containers: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
status:
""",
).replace(
    "              status:\n",
    "            status: {type: object, required: [ready], properties: {ready: {type: boolean}}}\n"
    "      subresources: {status: {}}\n",
)


@for_each(
    ("body", "expected"),
    [
        ("spec: {tier: null}", ["server-fields"]),
        ("spec: {}", ["cel"]),
        ("spec: {tier: b, names: [a, null]}", ["server-fields"]),
        ("spec: {tier: b, ports: [a, null]}", ["server-fields", "wrong-type"]),
        ("spec: {tier: b, required: {a: null}, any: [null]}", ["server-fields"]),
        ("spec: {tier: b, required: {}}", ["absent-field"]),
        ("spec: {tier: b, expires: '2029-12-31 14:00:00Z'}", ["schema-constraint"]),
        ("spec: {tier: b, config: [{any: {thing: 1}}]}", []),
        ("spec: {tier: b, config: [{known: {b: 1}}]}", ["undefined-field"]),
        ("spec: {tier: b}\nstatus: {ready: later}", ["server-fields"]),
        ("spec: {tier: b}\nstatus: {ready: {when: later}}", ["wrong-type"]),
        ("spec: {tier: b}\nstatus: {phase: Ready}", ["undefined-field"]),
        # an operator adds absent fields
        ("spec: {tier: b, podTemplate: {spec: {schedulingGroup: {name: a}, containers: [{name: a}]}}}", []),
        ("spec: {tier: b, podTemplate: {spec: {containers: [{name: a, image: b, imag: c}]}}}", ["pods-may-fail"]),
        ("spec: {tier: b, podTemplate: {spec: {containers: [{name: A B, image: b}]}}}", ["pods-may-fail"]),
    ],
)
def test_an_object_of_a_stranger_is_judged_as_by_a_server(tmp_path: Path, body: str, expected: list[str]) -> None:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "stores.yaml").write_text(STRANGERS)
    text = f"apiVersion: example.com/v1\nkind: Store\nmetadata: {{name: a}}\n{body}\n"
    assert sorted(set(codes(tmp_path, text, schemas=(tmp_path / "crds",)))) == expected


@pytest.mark.slow
def test_every_upstream_definition_can_be_used(tmp_path: Path) -> None:
    crds = SHARED / "crds"
    if not crds.is_dir():
        pytest.skip(f"found no CRDs in {crds}")
    text = yaml.safe_dump_all(objects("operators.yaml"))
    report, code = inspect(tmp_path, text, schemas=(crds,))
    assert (refused(report), code) == ([], 0)
    kinds = {body["kind"] for body in objects("operators.yaml")}
    definitions = (yaml.load(path.read_text("utf-8"), yaml.CSafeLoader) for path in crds.rglob("*.yaml"))
    defined = {one["spec"]["names"]["kind"] for one in definitions}
    assert defined <= kinds


def test_the_overlay_of_a_file_sets_version_and_definitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, widgets: tuple[Path, ...]
) -> None:
    for folder in ("jobs", "overlays/base/crds", "overlays/dev", "rendered/dev/jobs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "overlays/base/overlay.yaml").write_text('kubernetes: "1.30"\n')
    (tmp_path / "overlays/base/crds/widgets.yaml").write_text((widgets[0] / "widgets.yaml").read_text())
    (tmp_path / "overlays/dev/overlay.yaml").write_text("extends: base\n")
    (tmp_path / "rendered/dev/jobs/a.yaml").write_text(widget("{size: 3, limit: 2, home: a}"))
    # before 1.32, names of variables were more restricted
    (tmp_path / "rendered/dev/jobs/b.yaml").write_text(POD + "      env: [{name: a b, value: c}]\n")
    monkeypatch.chdir(tmp_path)
    report, _ = validated("rendered")
    assert [finding.code for finding in report.findings] == ["cel", "cel-not-evaluated", "environment"]
    (tmp_path / "outside.yaml").write_text(widget("{}"))
    assert [finding.code for finding in validated("outside.yaml")[0].findings] == ["unknown-api"]


def test_kinds_can_be_sent_to_another_process(widgets: tuple[Path, ...]) -> None:
    kinds = Kinds("1.34", Definitions(widgets))
    assert kinds.get("example.com/v1", "Widget") is not None
    copied = pickle.loads(pickle.dumps(kinds))  # noqa: S301 - our own bytes
    found = copied.get("example.com/v1", "Widget")
    assert not found.validator.is_valid({"spec": {"size": "large"}})


def test_a_text_that_looks_like_a_reference_is_none(tmp_path: Path) -> None:
    word = "https://kubernetes.io/api/_definitions.json#/$defs/No"
    schema = f"type: object\nproperties: {{a: {{type: string, enum: ['{word}']}}}}\n"
    (tmp_path / "gadgets.yaml").write_text(definition("example.com", "Gadget", schema))
    kind = Kinds("1.34", Definitions((tmp_path,))).get("example.com/v1", "Gadget")
    assert kind is not None
    assert kind.validator.is_valid({"apiVersion": "example.com/v1", "kind": "Gadget", "spec": {"a": word}})


ADDRESSES = definition(
    "example.com",
    "Address",
    """\
type: object
properties:
  either: {type: string, oneOf: [{format: ipv4}, {format: ipv6}]}
  range: {type: string, format: cidr}
""",
)


@for_each(
    ("spec", "valid"),
    [
        ("{either: 10.0.0.1}", True),
        ("{either: 010.0.0.001}", True),
        ("{either: '10:2400:3::1'}", True),
        ("{either: '::'}", True),
        ("{either: '1:2:3:4:5:6:7::'}", True),
        ("{either: '1:2:3:4:5:6:7:8'}", True),
        ("{either: '64:ff9b::1.2.3.256'}", False),
        ("{either: '::ffff:1.2.3.4'}", False),  # a server takes it for both
        ("{either: 10.0.0.256}", False),
        ("{either: 10.0.0}", False),
        ("{either: '1::2::3'}", False),
        ("{either: '1:2:3:4:5:6:7:8:9'}", False),
        ("{either: example.com}", False),
        ("{range: 10.0.0.0/32}", True),
        ("{range: '2001:db8::/128'}", True),
        ("{range: 10.0.0.0/33}", False),
        ("{range: '2001:db8::/129'}", False),
        ("{range: 10.0.0.0}", False),
    ],
)
def test_formats_of_addresses_are_checked(tmp_path: Path, spec: str, valid: bool) -> None:
    (tmp_path / "addresses.yaml").write_text(ADDRESSES)
    body = f"apiVersion: example.com/v1\nkind: Address\nmetadata: {{name: a}}\nspec: {spec}\n"
    assert (codes(tmp_path, body, schemas=(tmp_path / "addresses.yaml",)) == []) is valid
