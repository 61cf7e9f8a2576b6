"""Conflicts between objects, reported by `gen validate` for several files."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from gen.base.findings import Diagnostic, Severity
from gen.kubernetes.facts.builtin import SHARED_HANDLES
from gen.kubernetes.manifests.files import read_bytes
from gen.kubernetes.rules.gitops.across_objects import SET_RULES
from tests.cases import for_each
from tests.kubernetes.rules.support import an_object, changed
from tests.support import OVERLAY, Repository, validated

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes.objects import Body

SKIP = {"metadata annotations": {"argocd.argoproj.io/hook": "Skip"}}
POD = "spec template spec"
MOUNT = {"name": "data", "mountPath": "/data", "subPath": "out"}


def run(name: str, source: Body, mount: Body, **more: object) -> Body:
    changes = {
        "metadata name": name,
        f"{POD} volumes": [{"name": "data", **source}],
        f"{POD} containers 0 volumeMounts": [mount],
    }
    return changed(an_object("batch/v1 Job"), {**changes, **{key.replace("_", " "): v for key, v in more.items()}})


def claim(name: str = "a") -> Body:
    return {"persistentVolumeClaim": {"claimName": name}}


def config(name: str) -> Body:
    return changed(an_object("ConfigMap"), {"metadata name": name})


def volume(name: str, handle: str) -> Body:
    return changed(an_object("PersistentVolume"), {"metadata name": name, "spec csi volumeHandle": handle})


def one_node(mode: str = "ReadWriteOnce") -> Body:
    return changed(an_object("PersistentVolumeClaim"), {"metadata name": "a", "spec accessModes": [mode]})


FILES = {"configMap": {"name": "config"}}
CASES = {
    "same-object": ([config("a"), config("a")], [config("a"), config("b")]),
    "same-volume-handle": ([volume("a", "x"), volume("b", "x")], [volume("a", "x"), volume("b", "y")]),
    "shared-sub-path": (
        [run("a", claim(), MOUNT), run("b", claim(), MOUNT)],
        [
            run("a", claim(), MOUNT),
            run("b", claim(), {**MOUNT, "readOnly": True}),
            run("c", claim(), {**MOUNT, "subPath": "other"}),
            run("d", claim("b"), MOUNT),
            changed(run("e", claim(), MOUNT), SKIP),
        ],
    ),
    "claim-across-nodes": (
        [one_node(), run("a", claim(), MOUNT)],
        [one_node(), run("a", claim(), MOUNT, spec_parallelism=1), run("b", claim("b"), MOUNT)],
    ),
    "part-of-finished": (
        [changed(config("config"), SKIP), run("a", FILES, MOUNT)],
        [changed(config("config"), SKIP), config("b"), changed(run("a", FILES, MOUNT), SKIP)],
    ),
}


def found(folder: Path, objects: list[Body], *names: str) -> list[Diagnostic]:
    """Findings about conflicts between objects in separate files."""
    for number, body in enumerate(objects):
        path = folder / (names[number] if names else f"{number}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(body))
    report, _ = validated(str(folder))
    return [one for one in report.findings if one.code in SET_RULES]


def test_every_rule_has_a_case() -> None:
    assert set(CASES) == set(SET_RULES)


@for_each("rule", CASES)
def test_a_rule_reports_conflicts_only(rule: str, tmp_path: Path) -> None:
    bad, good = CASES[rule]
    (finding,) = found(tmp_path / "bad", bad)
    assert (finding.code, finding.severity) == (rule, Severity.WARNING)
    assert finding.place.line > 1
    assert [one.code for one in found(tmp_path / "good", good)] == []


@pytest.mark.parametrize("driver", sorted(SHARED_HANDLES))
def test_volumes_of_two_namespaces_may_have_the_handle_of_one_file_system(driver: str, tmp_path: Path) -> None:
    """The handle is its ID; a pod mounts only volumes of its own namespace."""
    own = changed(volume("a", "fs-1"), {"spec csi driver": driver, "spec claimRef namespace": "team"})
    other = changed(volume("b", "fs-1"), {"spec csi driver": driver, "spec claimRef namespace": "other"})
    assert found(tmp_path / "other", [own, other]) == []
    (finding,) = found(tmp_path / "same", [own, changed(other, {"spec claimRef namespace": "team"})])
    assert finding.code == "same-volume-handle"


@pytest.mark.parametrize("mode", ["ReadWriteMany", "ReadOnlyMany"])
def test_several_pods_may_use_a_claim_for_several_nodes(tmp_path: Path, mode: str) -> None:
    assert found(tmp_path, [one_node(mode), run("a", claim(), MOUNT)]) == []


@for_each(
    ("first", "second", "clash"),
    [
        ("rendered/a/jobs/team/x/config.yaml", "rendered/a/jobs/team/y/config.yaml", True),
        ("rendered/a/jobs/team/x/config.yaml", "rendered/a/storage/team/config.yaml", True),
        ("rendered/a/jobs/team/x/config.yaml", "rendered/b/jobs/team/x/config.yaml", False),
        ("rendered/argocd/a/config.yaml", "rendered/argocd/b/config.yaml", False),
        ("staging/config.yaml", "production/config.yaml", False),
    ],
)
def test_objects_of_different_clusters_do_not_conflict(tmp_path: Path, first: str, second: str, clash: bool) -> None:
    assert bool(found(tmp_path, [config("a"), config("a")], first, second)) is clash


def test_duplicate_generated_objects_are_an_error_that_a_reason_silences(tmp_path: Path) -> None:
    body = changed(config("a"), {"metadata labels": {"app.kubernetes.io/managed-by": "gen"}})
    (finding,) = found(tmp_path, [body, body])
    assert (finding.severity, finding.related[0][0].file) == (Severity.ERROR, f"{tmp_path}/0.yaml")
    reasoned = changed(body, {"metadata annotations": {"gen/ignore-same-object": "moved"}})
    (finding,) = found(tmp_path, [body, reasoned])
    assert (finding.severity, finding.message[:16]) == (Severity.NOTE, "silenced (moved)")


def test_malformed_objects_have_no_facts(tmp_path: Path) -> None:
    odd = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": [1]}}}
    assert (
        found(tmp_path, [odd, {"kind": "Job"}, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {}}])
        == []
    )


def test_rendered_runs_with_a_shared_output_are_reported(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    for name in ("a", "b"):
        repo.job("kind: batch\nimage: a:1\ncommand: x\ndata: {nas: {path: /out, subPath: out}}\n", name=name)
    assert repo.render()[1] == 0
    report, code = validated(str(repo.root / "rendered"))
    assert (code, [one.code for one in report.findings]) == (0, ["shared-sub-path"])


def test_a_file_is_read_twice_for_any_number_of_conflicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For its objects, and for the places of all findings about them."""
    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump_all([config(f"a{number % 20}") for number in range(60)]))
    opened: list[str] = []

    def noted(file: str) -> bytes:
        opened.append(file)
        return read_bytes(file)

    monkeypatch.setattr("gen.kubernetes.check.files.read_bytes", noted)
    report, _ = validated(path)
    places = {(one.place.line, *(place.line for place, _ in one.related)) for one in report.findings}
    assert (len(places), opened) == (40, [str(path)] * 2)


def test_objects_on_standard_input_have_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    given = yaml.safe_dump_all([config("a"), config("a")]).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    (finding,) = validated("-")[0].findings
    line = given.decode().splitlines().index("  name: a") + 1
    assert (finding.place.file, finding.related[0][0].line) == ("<stdin>", line)
    assert finding.place.line > line


@pytest.mark.parametrize("name", ["[a]", "{a: b}", "1"])
def test_names_of_other_types_are_not_compared(name: str, tmp_path: Path) -> None:
    """Nobody knows the schema of these objects."""
    body = f"apiVersion: example.com/v1\nkind: Robot\nmetadata: {{name: {name}}}\n"
    (tmp_path / "robots.yaml").write_text(f"{body}---\n{body}")
    report, code = validated(tmp_path, ignore_missing=True)
    assert (code, report.findings) == (0, ())
