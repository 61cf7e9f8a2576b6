"""`gen validate`: what it reads, what it says, and that no bytes bring it down."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.diagnostics import UsageError
from gen.inspection import Inspection
from gen.report.reporters import REPORTERS
from gen.validate.catalogue import CATALOGUE
from gen.validate.rule import Judge
from tests.support import PROJECT, SHARED
from tests.validate.support import objects

if TYPE_CHECKING:
    from gen.report.types import Report

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
    - name: main
      image: b
"""

WIDGETS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              x-kubernetes-validations:
                - {rule: "self.size <= self.limit", message: "size is over limit"}
                - {rule: "isURL(self.home)"}
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
    - {name: v1alpha1, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
"""


def inspect(tmp_path: Path, text: str | bytes, name: str = "a.yaml", **options: Any) -> tuple[Report, int]:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return Inspection((str(path),), **options).run()


def codes(tmp_path: Path, text: str | bytes, **options: Any) -> list[str]:
    return [finding.code for finding in inspect(tmp_path, text, **options)[0].findings]


def places(report: Report) -> list[tuple[str, int, int]]:
    return [(finding.code, finding.place.line, finding.place.column) for finding in report.findings]


def refused(report: Report) -> list[str]:
    """What is wrong whoever applies the objects."""
    return [one.code for one in report.findings if CATALOGUE[one.code].judge is not Judge.GITOPS]


def test_a_good_object_is_clean(tmp_path: Path) -> None:
    report, code = inspect(tmp_path, POD)
    assert (report.findings, code) == ((), 0)
    assert report.summary == "1 object in 1 file: 0 errors, 0 warnings"


def test_findings_stand_where_the_value_stands(tmp_path: Path) -> None:
    text = POD + "      imagePullPolcy: Always\n---\n" + POD.replace("image: b", "image: 3") + "---\n"
    report, code = inspect(tmp_path, text + POD.replace("name: main", "name: Main"))
    assert code == 1
    assert places(report) == [("unknown-field", 9, 7), ("wrong-type", 18, 14), ("containers", 26, 13)]


def test_an_unknown_field_has_a_near_name(tmp_path: Path) -> None:
    (finding,) = inspect(tmp_path, POD.replace("image: b", "imag: b\n      image: b"))[0].findings
    assert finding.hint == "did you mean `image`?"


def test_folders_json_and_lists_are_read(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects("kubernetes.yaml"))}
    (tmp_path / "inner/a.json").write_text(json.dumps(listed, indent="\t"))
    (tmp_path / "b.yml").write_text(POD)
    (tmp_path / "notes.md").write_text("# none")
    report, code = Inspection((str(tmp_path),)).run()
    assert (refused(report), code) == ([], 0)
    assert report.summary.startswith(f"{len(objects('kubernetes.yaml')) + 1} objects in 2 files")


def test_a_finding_in_a_list_has_its_place(tmp_path: Path) -> None:
    report, _ = inspect(
        tmp_path,
        "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: Pod\n    metadata: {name: a}\n    spc: {}\n",
    )
    assert ("unknown-field", 7, 5) in places(report)


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(POD.replace("b", "''").encode())))
    report, code = Inspection(("-",)).run()
    assert code == 1
    assert report.findings[0].place.file == "<stdin>"


def test_nothing_to_look_at_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no manifests"):
        Inspection((str(tmp_path),)).run()
    with pytest.raises(UsageError, match="there is no"):
        Inspection((str(tmp_path / "none"),)).run()


def test_an_unknown_kind_is_an_error_unless_it_may_be(tmp_path: Path) -> None:
    text = POD.replace("kind: Pod", "kind: Pdo")
    (finding,) = inspect(tmp_path, text)[0].findings
    assert (finding.code, finding.hint) == ("unknown-kind", "did you mean `Pod`?")
    assert codes(tmp_path, text, missing=True) == ["unknown-kind"], "all kinds of that version are known"
    assert codes(tmp_path, text.replace("v1", "example.com/v1"), missing=True) == []


def test_rules_look_at_what_the_schema_let_pass(tmp_path: Path) -> None:
    text = POD.replace("name: a", "name: A_").replace(
        "image: b", "image: b\n      imagePullPolicy: Alway\n      porst: []"
    )
    report, _ = inspect(tmp_path, text)
    assert [finding.code for finding in report.findings] == ["metadata", "containers", "unknown-field"]
    assert [finding.hint for finding in report.findings][1:] == ["did you mean `Always`?", "did you mean `ports`?"]


def test_a_truth_value_without_quotes_is_quoted_as_it_is(tmp_path: Path) -> None:
    report, _ = inspect(tmp_path, POD + "      env: [{name: A, value: yes}]\n")
    assert "in quotes, as it is" in report.findings[0].hint


@pytest.mark.parametrize(
    ("api_version", "kind", "instead"),
    [
        ("extensions/v1beta1", "Deployment", "apps/v1"),
        ("kubeflow.org/v1alpha1", "TFJob", "kubeflow.org/v1"),
        ("batch/v1beta1", "CronJob", "batch/v1"),
    ],
)
def test_a_version_that_is_gone_has_a_replacement(tmp_path: Path, api_version: str, kind: str, instead: str) -> None:
    (finding,) = inspect(tmp_path, f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n")[0].findings
    assert (finding.code, finding.hint, finding.place.line) == ("removed-api", f"write `{instead}`", 1)


def test_a_version_that_will_go_is_a_warning(tmp_path: Path) -> None:
    text = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {}\n"
    assert codes(tmp_path, text) == ["removed-api"]
    text = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: a}\n"
    report, code = inspect(tmp_path, text)
    assert ([finding.code for finding in report.findings], code) == (["deprecated-api"], 0)
    assert codes(tmp_path, text, kubernetes="1.32") == []


def test_a_rule_is_silenced_for_a_reason_that_is_told(tmp_path: Path) -> None:
    bad = POD.replace("image: b", 'image: ""')
    silent = bad.replace("name: a\n", 'name: a\n  annotations: {gen/ignore-containers: "filled in later"}\n')
    report, code = inspect(tmp_path, silent)
    (finding,) = report.findings
    assert (code, finding.severity.value) == (0, "note")
    assert "filled in later" in finding.message
    assert codes(tmp_path, silent.replace("filled in later", " ")) == ["silenced", "containers"]
    assert codes(tmp_path, silent.replace("ignore-containers", "ignore-container")) == ["silenced", "containers"]


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
        ("{size: 1, limit: 2, home: a, siz: 1}", "unknown-field"),
        ("{limit: 2}", "missing-field"),
        ("{size: 9223372036854775808, limit: 2}", "invalid-value"),
        ("{size: 1.5}", "wrong-type"),
        ("{size: null}", "missing-field"),
        ("{size: 1, limit: 2, port: [1]}", "wrong-type"),
        ("{size: 3, limit: 2, home: a}", "cel"),
        ("{size: 1, limit: 2, home: a, parts: [{name: a}, {name: a}]}", "double-entry"),
    ],
)
def test_a_definition_of_the_user_is_closed(tmp_path: Path, widgets: tuple[Path, ...], spec: str, code: str) -> None:
    assert code in codes(tmp_path, widget(spec), schemas=widgets)


def test_a_rule_that_cannot_be_evaluated_is_said(tmp_path: Path, widgets: tuple[Path, ...]) -> None:
    good = widget("{size: 1, limit: 2, home: a, port: 80, any: {thing: [1]}, parts: [{name: a}, {name: b}]}")
    report, code = inspect(tmp_path, good, schemas=widgets)
    assert ([finding.code for finding in report.findings], code) == (["cel-not-evaluated"], 0)
    assert "isURL" in report.findings[0].message


def test_a_deprecated_version_of_a_definition_is_a_warning(tmp_path: Path, widgets: tuple[Path, ...]) -> None:
    assert codes(tmp_path, widget("{}", "v1alpha1").replace("spec: {}\n", ""), schemas=widgets) == ["deprecated-api"]


def test_definitions_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text("kind: CustomResourceDefinition # of kind: Widget\nspec: [")
    with pytest.raises(UsageError, match="crd"):
        codes(tmp_path, widget("{}"), schemas=(tmp_path / "crd.yaml",))


def test_every_upstream_definition_can_be_used(tmp_path: Path) -> None:
    crds = SHARED / "crds"
    if not crds.is_dir():
        pytest.skip(f"there are no CRDs in {crds}")
    text = yaml.safe_dump_all(objects("operators.yaml"))
    report, code = inspect(tmp_path, text, schemas=(crds,))
    assert (refused(report), code) == ([], 0)
    kinds = {body["kind"] for body in objects("operators.yaml")}
    defined = {yaml.load(path.read_bytes(), yaml.CSafeLoader)["spec"]["names"]["kind"] for path in crds.rglob("*.yaml")}
    assert defined <= kinds


def test_a_repository_says_version_and_definitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, widgets: tuple[Path, ...]
) -> None:
    for folder in ("jobs", "overlays/base/crds", "overlays/dev", "rendered/dev/jobs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "overlays/base/overlay.yaml").write_text('kubernetes: "1.30"\n')
    (tmp_path / "overlays/base/crds/widgets.yaml").write_text((widgets[0] / "widgets.yaml").read_text())
    (tmp_path / "overlays/dev/overlay.yaml").write_text("extends: base\n")
    (tmp_path / "rendered/dev/jobs/a.yaml").write_text(widget("{size: 3, limit: 2, home: a}"))
    # until 1.32 the name of a variable was held to more
    (tmp_path / "rendered/dev/jobs/b.yaml").write_text(POD + "      env: [{name: a b, value: c}]\n")
    monkeypatch.chdir(tmp_path)
    report, _ = Inspection(("rendered",)).run()
    assert [finding.code for finding in report.findings] == ["cel", "cel-not-evaluated", "environment"]
    (tmp_path / "outside.yaml").write_text(widget("{}"))
    assert [finding.code for finding in Inspection(("outside.yaml",)).run()[0].findings] == ["unknown-kind"]


def test_many_files_are_shared_among_processes(tmp_path: Path) -> None:
    for number in range(450):
        name = "A" if number == 333 else "a"
        (tmp_path / f"{number:03}.yaml").write_text(POD.replace("name: a", f"name: {name}{number}"))
    report, code = Inspection((str(tmp_path),), parallel=2).run()
    assert code == 1
    assert [Path(finding.place.file).name for finding in report.findings] == ["333.yaml"]
    assert report.summary.startswith("450 objects in 450 files")


def test_a_schema_of_what_gen_renders_is_for_that_alone(tmp_path: Path) -> None:
    """Those of the engines' objects are a part of their definitions, which would refuse what others rightly write."""
    body = (PROJECT / "rendered/flux/ack/gitrepository-ack.yaml").read_text("utf-8")
    ours, theirs = tmp_path / "ours.yaml", tmp_path / "theirs.yaml"
    ours.write_text(body, "utf-8")
    theirs.write_text(body.replace("managed-by: gen", "managed-by: me"), "utf-8")
    assert Inspection((str(ours),)).run()[1] == 0
    report, code = Inspection((str(theirs),)).run()
    assert ([finding.code for finding in report.findings], code) == (["unknown-kind"], 1)
    assert Inspection((str(theirs),), missing=True).run()[1] == 0


def test_words_in_a_sentence_are_no_choice(tmp_path: Path) -> None:
    """What is expected is what a rule says is, and not what its sentence holds between quotes."""
    claims = "      resources: {claims: [{name: other}]}\n"
    report, _ = inspect(tmp_path, POD + claims)
    (finding,) = [finding for finding in report.findings if "resourceClaims" in finding.message]
    assert finding.hint == "add it to the pod's `resourceClaims`"


def test_a_silenced_fault_hides_no_other(tmp_path: Path) -> None:
    numbers = "".join(f"  k{number}: {number}\n" for number in range(40))
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_b, annotations: {gen/ignore-wrong-type: known}}\n"
    report, code = inspect(tmp_path, f"{head}data:\n{numbers}immutible: true\n")
    assert code == 1
    told = sorted({finding.code for finding in report.findings if finding.severity.value == "error"})
    assert told == ["metadata", "unknown-field"]


def test_a_number_is_quoted_as_it_is_written(tmp_path: Path) -> None:
    report, _ = inspect(tmp_path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {version: 1.10}\n")
    (finding,) = report.findings
    assert finding.hint == "write it in quotes, as it is: without them YAML 1.1 reads a number"


def test_a_path_that_is_no_utf_8_is_reported_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.yaml")
    path.write_text("a: 1\n", "utf-8")
    report, _ = Inspection((str(path),)).run()
    for reporter in REPORTERS.values():
        assert reporter(report)


def test_an_entry_that_cannot_be_read_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n", "utf-8")
    report, code = Inspection((str(tmp_path),)).run()
    assert ([finding.code for finding in report.findings], code) == (["metadata", "unreadable"], 1)


def test_places_in_later_documents_count_characters(tmp_path: Path) -> None:
    first = "# é 😀\r\n---\r\n  # nothing\r\n---\r\nkind: ConfigMap # 😀\r\napiVersion: v1\r\nmetadata: {name: ü😀}\r\n"
    report, _ = inspect(
        tmp_path, f"{first}...\n--- # next\n{{apiVersion: v1, kind: ConfigMap,\n metadata: {{name: B}}}}\n"
    )
    assert [str(finding.place).rpartition("a.yaml")[2] for finding in report.findings] == [":7:18", ":11:19"]


def test_of_a_document_that_no_cluster_stores_the_beginning_is_told(tmp_path: Path) -> None:
    large = "".join(f"  k{number}: 1\n" for number in range(400_000))
    report, _ = inspect(tmp_path, f"# a\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{large}")
    told = {(finding.code, str(finding.place).rpartition("a.yaml")[2]) for finding in report.findings}
    assert told == {("object-size", ":2:1")}
