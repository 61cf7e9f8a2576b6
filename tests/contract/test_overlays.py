"""Every field of an overlay changes what is rendered for every kind, or is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.diagnostics import Findings
from gen.gitops.model import Gitops
from gen.kinds import KINDS
from gen.overlay.fields import OverlayFields, VolumeFields
from gen.overlay.read import OverlayReader
from gen.render.run import render
from gen.storage import STORAGE
from gen.storage.base import SETTINGS as SETTINGS_OF_OBJECTS
from tests.contract.fields import leaves, model_fields, pattern, without
from tests.history import History, branch
from tests.support import Repository

if TYPE_CHECKING:
    from gen.diagnostics import Route

pytestmark = pytest.mark.slow  # every field with every kind and profile

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "overlays.yaml").read_text("utf-8"))
COMMON: dict[str, Any] = {"kubernetes": "1.34"}
"""Fields of every case, but for those that say `alone`."""


@dataclass(frozen=True)
class Case:
    """An overlay, and a job of one kind."""

    kind: str
    said: dict[str, Any]

    @property
    def document(self) -> dict[str, Any]:
        overlay: dict[str, Any] = self.said["overlay"]
        return overlay

    @property
    def needed(self) -> dict[str, Any]:
        """What the overlay must have for the kind."""
        return {"pipelines": {"argo": {"serviceAccount": "gen-pipeline"}}} if KINDS[self.kind].own_fields else {}

    def outcome(self, repository: Repository, overlay: dict[str, Any]) -> tuple[Any, ...]:
        """Everything that a render makes of the case with this overlay."""
        repository.overlay(
            yaml.safe_dump(
                ({} if "alone" in self.said else COMMON) | self.needed | self.said.get("extra", {}) | overlay
            )
        )
        done = render(repository.root, (), ())
        texts = {path: file.text for path, file in done.files.items()}
        found = sorted({(item.code, item.message, item.severity) for item in done.findings})
        contexts = [one.context for one in OverlayReader(repository.root, Findings()).read()]  # of live commands
        return texts, found, done.overlays, done.keep, contexts, self.planned(repository)

    def planned(self, repository: Repository) -> list[tuple[str, str]]:
        """Findings of a plan against a commit with the case's `base-job`."""
        if "base-job" not in self.said:
            return []
        history = History(repository.root)
        if not (repository.root / ".git").exists():
            history.git("init", "--quiet", "--initial-branch=main")
        history.render()
        if not history.git("branch", "--list", "topic"):
            fields = {"kind": self.kind, **KINDS[self.kind].example, **self.said["base-job"]}
            history.job(yaml.safe_dump(fields, sort_keys=False))
            branch(history)
            self.write(repository)
            history.render()
        return sorted((finding.code, finding.message) for finding in history.plan().findings)

    def write(self, repository: Repository) -> None:
        fields = {"kind": self.kind, **KINDS[self.kind].example, **self.said["job"]}
        repository.job(yaml.safe_dump(fields, sort_keys=False))
        repository.job(yaml.safe_dump({"kind": self.kind, **KINDS[self.kind].example}), name="other")
        for path, text in self.said.get("files", {}).items():
            repository.write(f"overlays/dev/{path}", text)
        if "base" in self.said:
            repository.overlay(yaml.safe_dump(self.needed | self.said["base"]), name="base")


EVERY = [Case(kind, said) for said in CASES for kind in said.get("kinds", KINDS)]


@pytest.mark.parametrize("case", EVERY, ids=lambda case: f"{case.said['name']}-{case.kind}")
def test_no_value_is_accepted_and_ignored(case: Case, repo: Repository) -> None:
    case.write(repo)
    expected = case.outcome(repo, case.document)
    same = [route for route in leaves(case.document) if case.outcome(repo, without(case.document, route)) == expected]
    assert same == []


SETTINGS: dict[str, Any] = {
    "size": "20Gi",
    "accessModes": ["ReadWriteOnce"],
    "readOnly": True,
    "mountReadOnly": True,
    "mountOptions": ["noresvport"],
    "zone": "cn-hangzhou-h",
}
"""A value for each setting that all storage profiles share."""
PROFILES = {
    key: {key: fields, "size": "10Gi"} if STORAGE[key].needs_size else {key: fields}
    for case in CASES
    for volume in case["overlay"].get("volumes", {}).values()
    for key, fields in volume.items()
    if key in STORAGE
}
"""A volume of each storage profile."""


def test_every_setting_of_volumes_and_every_profile_has_an_example() -> None:
    assert set(SETTINGS) == {field.alias for field in VolumeFields.model_fields.values()}
    assert set(PROFILES) == set(STORAGE)


@pytest.mark.parametrize("profile", sorted(STORAGE))
@pytest.mark.parametrize("setting", list(SETTINGS))
def test_no_setting_of_a_volume_is_accepted_and_ignored(setting: str, profile: str, repo: Repository) -> None:
    case = Case("pytorch", {"job": {"data": {"a": "/a"}}})
    case.write(repo)
    grants = {"namespaces": {"team": {"allow": [word] if (word := STORAGE[profile].grant) else []}}}
    with_it, without_it = (
        case.outcome(repo, grants | {"volumes": {"a": PROFILES[profile] | more}})
        for more in ({setting: SETTINGS[setting]}, {})
    )
    assert with_it != without_it
    refused = setting in SETTINGS_OF_OBJECTS - STORAGE[profile].settings
    expected = [("no-effect", f"`{setting}` has no effect on a volume with `{profile}`")] if refused else []
    assert [(code, message) for code, message, severity in with_it[1] if severity == "error"] == expected


def uncovered(model: type[OverlayFields]) -> list[Route]:
    """Fields without a value in any case. Fields of `defaults` are those of jobs, which have their own contract."""
    known = set(model_fields(model))
    covered = {pattern(route, known) for case in CASES for route in leaves(case["overlay"])}
    return sorted(known - covered, key=str)


class WithEngines(OverlayFields):
    """An overlay with the fields of engines, whose models are only imported for an overlay that has some."""

    gitops: Gitops | None = None


def test_every_field_has_a_case() -> None:
    assert ("gitops", "flux", "secret") in model_fields(WithEngines)
    assert uncovered(WithEngines) == []


def test_a_field_in_the_model_alone_is_found() -> None:
    class Extended(WithEngines):
        """An overlay with a field that is ignored."""

        region: str | None = None

    assert uncovered(Extended) == [("region",)]
