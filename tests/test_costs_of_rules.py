"""One more rule costs one function."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.kubernetes.rules import SILENCE, Fault, Faults, ObjectView, Rule, operator_rule, rules_in, server_rule
from gen.kubernetes.rules.catalogue import CATALOGUE, RULES, cached_rules
from gen.kubernetes.rules.gitops.runs import BEST_PRACTICES
from scripts.reference import rules
from tests.kubernetes.rules.support import an_object, changed
from tests.support import Repository, validated
from tests.test_costs import JOB, findings, gen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@server_rule("team-label", "kubeflow.org/PyTorchJob", "batch/Job", remedy="Add the label `team`.")
def team_label(view: ObjectView) -> Faults:
    """An object has no label `team`."""
    if "team" not in view.metadata.get("labels", {}):
        yield Fault(("metadata", "labels"), "label `team` is missing", "add the label `team`")


@operator_rule(
    "few-workers",
    "kubeflow.org/PyTorchJob",
    reason="The operator starts at most two workers.",
    remedy="Set at most two replicas.",
)
def few_workers(view: ObjectView) -> Faults:
    """A PyTorchJob has more than two workers."""
    route = ("spec", "pytorchReplicaSpecs", "Worker", "replicas")
    if (count := view.spec["pytorchReplicaSpecs"]["Worker"]["replicas"]) > 2:
        yield Fault(route, f"{count} workers; expected at most 2")


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Add a file with rules to the catalogue, as its name in `MODULES` does."""

    def add(*added: Rule) -> None:
        file = ModuleType("gen.kubernetes.rules.server.added")
        vars(file).update({rule.name.replace("-", "_"): rule for rule in added})
        for name, rule in rules_in([file]).items():
            monkeypatch.setitem(RULES, name, rule)
            monkeypatch.setitem(CATALOGUE, name, rule)
        cached_rules.cache_clear()

    yield add
    cached_rules.cache_clear()


def in_manifest(folder: Path, changes: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Code, line and hint of the findings of `gen validate` about a changed PyTorchJob, without best practices."""
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(changed(an_object("PyTorchJob"), changes), sort_keys=False), "utf-8")
    report, _ = validated(path)
    return [
        (finding.code, finding.place.line, finding.hint)
        for finding in report.findings
        if RULES[finding.code] not in BEST_PRACTICES
    ]


def line(folder: Path, text: str) -> int:
    lines = (folder / "job.yaml").read_text("utf-8").splitlines()
    return next(number for number, found in enumerate(lines, 1) if found.strip().startswith(text))


def test_a_server_rule_is_checked_placed_silenced_and_explained(tmp_path: Path, register: Callable[..., None]) -> None:
    register(team_label)
    assert in_manifest(tmp_path, {"metadata labels": {"team": "a"}}) == []
    found = in_manifest(tmp_path, {"metadata labels": {"app": "a"}})
    assert found == [("team-label", line(tmp_path, "app: a"), "add the label `team`")]
    silence = {f"{SILENCE}team-label": "not for a team"}
    (note,) = in_manifest(tmp_path, {"metadata labels": {}, "metadata annotations": silence})
    assert note[0] == "team-label"
    assert validated(tmp_path / "job.yaml")[1] == 0
    explained = gen("explain", "team-label")
    for text in ("error in manifests, enforced by the API server", "Job (batch)", "An object has no label `team`."):
        assert text in explained
    assert "### team-label" in rules()


def test_an_operator_rule_is_checked_placed_and_explained(tmp_path: Path, register: Callable[..., None]) -> None:
    register(few_workers)
    replicas = "spec pytorchReplicaSpecs Worker replicas"
    assert in_manifest(tmp_path, {replicas: 2}) == []
    found = in_manifest(tmp_path, {replicas: 17})
    assert found == [("few-workers", line(tmp_path, "replicas: 17"), "set at most two replicas")]
    assert "enforced by the operator" in gen("explain", "few-workers")


def test_a_rule_is_checked_for_patched_objects_and_placed_in_the_patch(
    repo: Repository, register: Callable[..., None]
) -> None:
    register(few_workers)
    repo.job(JOB + "workers: 2\n")
    assert "few-workers" not in repo.codes()
    patch = "{spec: {pytorchReplicaSpecs: {Worker: {replicas: 5}}}}"
    repo.overlay(f'kubernetes: "1.34"\npatches:\n  - target: {{kind: PyTorchJob}}\n    patch: {patch}\n')
    assert ("few-workers", "overlays/dev/overlay.yaml:4:61") in findings(repo)
