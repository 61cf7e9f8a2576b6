"""`gen validate`: inputs and findings."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from gen.base.findings import Severity, UsageError
from gen.kubernetes.check.objects import check
from gen.kubernetes.schemas.lookup import Kinds
from gen.report.formats import REPORTERS
from tests.cases import for_each
from tests.kubernetes.check.support import POD, codes, inspect, refused
from tests.kubernetes.rules.support import objects
from tests.support import PROJECT, SHARED, validated


def test_a_valid_object_has_no_findings(tmp_path: Path) -> None:
    report, code = inspect(tmp_path, POD)
    assert (report.findings, code) == ((), 0)
    assert report.summary == "1 object in 1 file: 0 errors, 0 warnings"


def test_an_unknown_field_has_the_nearest_name_as_hint(tmp_path: Path) -> None:
    (finding,) = inspect(tmp_path, POD.replace("image: b", "imag: b\n      image: b"))[0].findings
    assert finding.hint == "did you mean `image`?"


def test_folders_json_and_lists_are_read(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects("kubernetes.yaml"))}
    (tmp_path / "inner/a.json").write_text(json.dumps(listed, indent="\t"))
    (tmp_path / "b.yml").write_text(POD)
    (tmp_path / "notes.md").write_text("# none")
    report, code = validated(str(tmp_path))
    assert (refused(report), code) == ([], 0)
    assert report.summary.startswith(f"{len(objects('kubernetes.yaml')) + 1} objects in 2 files")


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(POD.replace("b", "''").encode())))
    report, code = validated("-")
    assert code == 1
    assert report.findings[0].place.file == "<stdin>"


def test_no_manifests_are_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no manifests"):
        validated(str(tmp_path))
    with pytest.raises(UsageError, match="does not exist"):
        validated(str(tmp_path / "none"))


def test_an_unknown_kind_is_an_error_unless_ignored(tmp_path: Path) -> None:
    text = POD.replace("kind: Pod", "kind: Pdo")
    (finding,) = inspect(tmp_path, text)[0].findings
    assert (finding.code, finding.hint) == ("unknown-api", "did you mean `Pod`?")
    assert codes(tmp_path, text, ignore_missing=True) == ["unknown-api"], "all kinds of that version are known"
    assert codes(tmp_path, text.replace("v1", "example.com/v1"), ignore_missing=True) == []


def test_rules_check_the_fields_that_match_the_schema(tmp_path: Path) -> None:
    text = POD.replace("name: a", "name: A_").replace(
        "image: b", "image: b\n      imagePullPolicy: Alway\n      porst: []"
    )
    report, _ = inspect(tmp_path, text)
    assert [finding.code for finding in report.findings] == ["metadata", "containers", "undefined-field"]
    assert [finding.hint for finding in report.findings][1:] == ["did you mean `Always`?", "did you mean `ports`?"]


def test_the_hint_for_an_unquoted_boolean_is_to_quote_it(tmp_path: Path) -> None:
    report, _ = inspect(tmp_path, POD + "      env: [{name: A, value: yes}]\n")
    assert report.findings[0].hint == "quote it as it is: YAML 1.1 reads the unquoted value as a boolean"


@pytest.mark.parametrize(
    ("api_version", "kind", "instead"),
    [
        ("extensions/v1beta1", "Deployment", "apps/v1"),
        ("kubeflow.org/v1alpha1", "TFJob", "kubeflow.org/v1"),
        ("batch/v1beta1", "CronJob", "batch/v1"),
    ],
)
def test_a_removed_api_version_has_a_replacement(tmp_path: Path, api_version: str, kind: str, instead: str) -> None:
    (finding,) = inspect(tmp_path, f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n")[0].findings
    assert (finding.code, finding.hint, finding.place.line) == ("removed-api", f"use `{instead}`", 1)


def test_a_deprecated_api_version_is_a_warning(tmp_path: Path) -> None:
    text = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {}\n"
    assert codes(tmp_path, text) == ["removed-api"]
    text = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: a}\n"
    report, code = inspect(tmp_path, text)
    assert ([finding.code for finding in report.findings], code) == (["deprecated-api"], 0)
    assert codes(tmp_path, text, kubernetes="1.32") == []


def test_a_silenced_rule_is_a_note_with_its_reason(tmp_path: Path) -> None:
    bad = POD.replace("image: b", 'image: ""')
    silent = bad.replace("name: a\n", 'name: a\n  annotations: {gen/ignore-containers: "filled in later"}\n')
    report, code = inspect(tmp_path, silent)
    (finding,) = report.findings
    assert (code, finding.severity.value) == (0, "note")
    assert "filled in later" in finding.message
    assert codes(tmp_path, silent.replace("filled in later", " ")) == ["silenced", "containers"]
    assert codes(tmp_path, silent.replace("ignore-containers", "ignore-container")) == ["silenced", "containers"]
    assert codes(tmp_path, silent.replace("ignore-containers", "ignore-definition-costs")) == ["containers"], "removed"


def test_many_files_are_checked_in_parallel(tmp_path: Path) -> None:
    for number in range(450):
        name = "A" if number == 333 else "a"
        (tmp_path / f"{number:03}.yaml").write_text(POD.replace("name: a", f"name: {name}{number}"))
    report, code = validated(str(tmp_path), parallel=2)
    assert code == 1
    assert [Path(finding.place.file).name for finding in report.findings] == ["333.yaml"]
    assert report.summary.startswith("450 objects in 450 files")


def test_a_partial_schema_is_only_for_generated_objects(tmp_path: Path) -> None:
    """Schemas of the engines' objects only describe rendered objects, and would reject valid objects of others."""
    body = (PROJECT / "rendered/flux/ack/gitrepository-ack.yaml").read_text("utf-8")
    ours, theirs = tmp_path / "ours.yaml", tmp_path / "theirs.yaml"
    ours.write_text(body, "utf-8")
    theirs.write_text(body.replace("managed-by: gen", "managed-by: me"), "utf-8")
    assert validated(str(ours))[1] == 0
    report, code = validated(str(theirs))
    assert ([finding.code for finding in report.findings], code) == (["unknown-api"], 1)
    assert validated(str(theirs), ignore_missing=True)[1] == 0


def test_the_hint_comes_from_the_rule_and_not_from_the_message(tmp_path: Path) -> None:
    """Names in backticks in a message must not be taken for the allowed values."""
    claims = "      resources: {claims: [{name: other}]}\n"
    report, _ = inspect(tmp_path, POD + claims)
    (finding,) = [finding for finding in report.findings if "resource claim" in finding.message]
    assert finding.hint == "add it to the pod's `resourceClaims`"


def test_a_silenced_problem_does_not_hide_others(tmp_path: Path) -> None:
    numbers = "".join(f"  k{number}: {number}\n" for number in range(40))
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_b, annotations: {gen/ignore-wrong-type: known}}\n"
    report, code = inspect(tmp_path, f"{head}data:\n{numbers}immutible: true\n")
    assert code == 1
    told = sorted({finding.code for finding in report.findings if finding.severity.value == "error"})
    assert told == ["metadata", "undefined-field"]


def test_the_hint_for_an_unquoted_number_is_to_quote_it(tmp_path: Path) -> None:
    report, _ = inspect(tmp_path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {version: 1.10}\n")
    (finding,) = report.findings
    assert finding.hint == "quote it as it is: YAML 1.1 reads the unquoted value as a number"


def test_a_path_that_is_not_utf_8_is_reported_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.yaml")
    path.write_text("a: 1\n", "utf-8")
    report, _ = validated(str(path))
    for reporter in REPORTERS.values():
        assert reporter(report)


def test_an_unreadable_file_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n", "utf-8")
    report, code = validated(str(tmp_path))
    assert ([finding.code for finding in report.findings], code) == (["metadata", "unreadable"], 1)


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replica:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: main, image: b, foo: null, env: null, securityContext: {bar: ~}}]}
"""
TRAINING = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a, foo: null, labels: {a: null}}
spec:
  bar: null
  runPolicy: null
  pytorchReplicaSpecs:
    Worker:
      replicas: null
      template: {spec: {baz: null, nodeName: null, containers: [{name: pytorch, image: "b:1", qux: null}]}}
"""


@pytest.mark.parametrize("defined", [False, True])
@pytest.mark.parametrize(
    ("text", "names"), [(DEPLOYMENT, ["replica", "foo", "bar"]), (TRAINING, ["foo", "bar", "baz", "qux"])]
)
def test_an_unknown_field_that_is_null_is_reported(tmp_path: Path, text: str, names: list[str], defined: bool) -> None:
    """The API server decodes strictly before it drops null fields."""
    if defined and not (SHARED / "crds").is_dir():
        pytest.skip(f"found no definitions in {SHARED / 'crds'}")
    schemas = (SHARED / "crds",) if defined else ()
    found = [one for one in inspect(tmp_path, text, schemas=schemas)[0].findings if one.code == "undefined-field"]
    assert sorted(one.message.split("`")[1] for one in found) == sorted(names)


def test_the_former_name_of_a_rule_silences_it(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team, annotations: {%s}}\ndatum: {}\n"
    rule = "undefined-field"
    assert rule in {one.code for one in inspect(tmp_path, text % "a: b")[0].findings if one.is_error}
    for name in (rule, "unknown-field"):
        report, code = inspect(tmp_path, text % f"gen/ignore-{name}: a later version has it")
        assert ([(one.code, one.severity) for one in report.findings], code) == ([(rule, Severity.NOTE)], 0)


@for_each(
    ("api_version", "kind"),
    [
        ("ray.io/v1", "RayCluster"),
        ("kueue.x-k8s.io/v1beta1", "ClusterQueue"),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue"),
    ],
)
def test_a_kind_that_gen_knows_needs_its_definition(api_version: str, kind: str) -> None:
    problems = check({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}}, Kinds("1.34")).problems
    (hint,) = [one.hint for one in problems if one.rule == "unknown-api"]
    assert hint.startswith("name the file or folder of its definition with `--schema-location`, or skip")


_CONTAINER = 'containers: [{name: a, image: "a:1"}]'
_JOB = f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: a}}\nspec: {{template: {{spec: {{{_CONTAINER}}}}}}}\n"
_HELM = "run `helm template` first, and validate its output"
_NEVER = _JOB.replace("containers", "restartPolicy: Never, containers")
_MPI = (
    "apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: {name: a}\nspec:\n  runPolicy: {cleanPodPolicy: Running}\n"
    f"  mpiReplicaSpecs: {{launcher: {{template: {{spec: {{{_CONTAINER}}}}}}}}}\n"
)


@for_each(
    ("text", "part", "hint"),
    [
        (_JOB, "`restartPolicy` is missing, and its default", "set `restartPolicy: Never`, or `OnFailure`"),
        (_NEVER.replace("spec: {", 'spec: {parallelism: "3", ', 1), "got the string `3`", "write `3`"),
        (_NEVER.replace('"a:1"', '"a:1", tty: "yes"'), "got the string `yes`", "write `true`"),
        (_NEVER.replace('"a:1"', '"a:1", command: sleep 1'), "got the string `sleep 1`", 'write `["sleep", "1"]`'),
        (_NEVER.replace('"a:1"', '"a:1", command: sleep 1 && b'), "got the string `sleep 1 && b`", "use a list"),
        (_MPI, "the kind has no role `launcher`", "did you mean `Launcher`?"),
        ("a: {{ .Values.a }}\n", "a template of Helm", _HELM),
        (
            "a: b\n{{- if .Values.a }}\nc: d\n",
            "a template of Helm",
            "run `helm template` first, and validate its output",
        ),
        ("a: {{.Name}}\n", "a Go template is not YAML", "render it first, and validate the result"),
        ("a: {{ b }}\n", "invalid key", "quote the key"),
    ],
)
def test_the_remedy_is_the_value_to_write(tmp_path: Path, text: str, part: str, hint: str) -> None:
    found = [finding for finding in inspect(tmp_path, text)[0].findings if finding.severity is Severity.ERROR]
    assert [finding.hint for finding in found] == [hint]
    assert part in found[0].message


def test_the_values_that_a_cluster_writes_are_named(tmp_path: Path) -> None:
    group = f"{{groupName: a, replicas: 1, template: {{spec: {{{_CONTAINER}}}}}, rayStartParams: {{}}}}"
    head = f"headGroupSpec: {{rayStartParams: {{}}, template: {{spec: {{{_CONTAINER}}}}}}}"
    spec = f"spec: {{entrypoint: a, rayClusterSpec: {{{head}, workerGroupSpecs: [{group}]}}}}\n"
    report, _ = inspect(tmp_path, f"apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {{name: a}}\n{spec}")
    (hint,) = [finding.hint for finding in report.findings if finding.code == "unwritten-default"]
    assert "`scaleStrategy: {}`" in hint
