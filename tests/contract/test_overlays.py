"""Every field of an overlay changes the rendered files of every kind, or is refused."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
import yaml

from gen.base.findings import Findings, Route
from gen.job.kinds import KINDS
from gen.job.profile import with_profiles
from gen.overlay.entries import GitopsFields, VolumeFields
from gen.overlay.fields import OverlayFields
from gen.overlay.profiles.accelerators import ACCELERATORS
from gen.overlay.profiles.engines import ENGINES
from gen.overlay.profiles.networks import NETWORKS
from gen.overlay.profiles.storage import SETTINGS as SETTINGS_OF_OBJECTS
from gen.overlay.profiles.storage import STORAGE
from gen.overlay.read import OverlayReader
from gen.render.run import render
from tests.contract.fields import leaves, model_fields, pattern, without
from tests.history import History, branch
from tests.overlay.profiles.accelerators.test_profiles import EXAMPLES as ACCELERATOR_EXAMPLES
from tests.overlay.profiles.networks.examples import EXAMPLES as NETWORK_EXAMPLES
from tests.overlay.profiles.queues.examples import EXAMPLES as QUEUE_EXAMPLES
from tests.overlay.profiles.storage.examples import EXAMPLES as VOLUMES
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gen.job.plan import Plan
    from gen.kubernetes.objects import Body
    from gen.render.results import RunResult

WRITTEN: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "overlays.yaml").read_text("utf-8"))


def declarations() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any], str]]:
    """Field and name of each profile with an example, its declaration, a job that uses it, and its permission."""
    for name, volume in VOLUMES.items():
        size = {"size": "10Gi"} if STORAGE[name].needs_size else {}
        yield "volumes", name, {**size, name: volume.fields}, {"data": {"x": "/x"}}, STORAGE[name].grant
    for name, networks in NETWORK_EXAMPLES.items():
        yield "networks", name, {name: networks[0][0]}, {"network": "x", "gpus": 8}, NETWORKS[name].grant
    for name, (accelerator, count, _) in ACCELERATOR_EXAMPLES.items():
        yield "accelerators", name, {name: accelerator}, {"accelerator": "x", "gpus": count}, ACCELERATORS[name].grant
    for name, queue in QUEUE_EXAMPLES.items():
        yield "queues", name, {name: queue}, {"queue": "x"}, ""


def of_examples() -> Iterator[dict[str, Any]]:
    """A case for each profile with an example that no other case uses."""
    written = {
        (field, key)
        for case in WRITTEN
        for field in ("volumes", "networks", "accelerators", "queues")
        for declared in case["overlay"].get(field, {}).values()
        for key in declared
    }
    for field, name, declared, job, permission in declarations():
        if (field, name) not in written:
            grant = {"queues": ["x"]} if field == "queues" else {"allow": [permission] if permission else []}
            extra = {"namespaces": {"team": grant}}
            yield {"name": f"{name} of {field}", "overlay": {field: {"x": declared}}, "job": job, "extra": extra}


CASES = [*WRITTEN, *of_examples()]
EVERY_KIND = tuple(KINDS)
"""Without kinds that overlays of other tests declare."""
COMMON: dict[str, Any] = {"kubernetes": "1.34"}
"""Fields of every case, except those with `alone`."""


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
        """Fields of the overlay that the kind needs."""
        needed: dict[str, Any] = {}
        if KINDS[self.kind].own_fields:
            needed["pipelines"] = {"argo": {"serviceAccount": "gen-pipeline"}}
        if KINDS[self.kind].facts.nodes is not None and "runtimes" not in self.document:
            needed["runtimes"] = {"torch-distributed": {}}
        return needed

    def render(self, repository: Repository, overlay: dict[str, Any]) -> RunResult:
        """A render with this overlay."""
        common = {} if "alone" in self.said else COMMON
        repository.overlay(yaml.safe_dump(common | self.needed | self.said.get("extra", {}) | overlay))
        return render(repository.root, (), ())

    def outcome(self, repository: Repository, overlay: dict[str, Any]) -> Iterator[Any]:
        """Everything that a render makes of the case with this overlay, the cheapest first."""
        done = self.render(repository, overlay)
        found = sorted({(item.code, item.message, item.severity) for item in done.findings})
        yield found, done.overlays, done.keep, texts(done)
        yield [one.context for one in OverlayReader(repository.root, Findings()).read()]  # of live commands
        yield self.planned(repository)

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
        self.write_job(repository)
        repository.job(yaml.safe_dump({"kind": self.kind, **KINDS[self.kind].example}), name="other")
        self.write_overlay_files(repository)

    def write_job(self, repository: Repository, name: str = "demo") -> None:
        fields = {"kind": self.kind, **KINDS[self.kind].example, **self.said["job"]}
        repository.job(yaml.safe_dump(fields, sort_keys=False), name=name)

    def write_overlay_files(self, repository: Repository) -> None:
        for path, text in self.said.get("files", {}).items():
            repository.write(f"overlays/dev/{path}", text)
        if "base" in self.said:
            repository.overlay(yaml.safe_dump(self.needed | self.said["base"]), name="base")


def texts(done: RunResult) -> dict[str, str | None]:
    return {path: file.text for path, file in done.files.items()}


@dataclass(frozen=True)
class Alone:
    """A repository with the job of one kind: the whole outcome decides."""

    case: Case
    repository: Repository

    @classmethod
    def at(cls, root: Path, case: Case) -> Self:
        repository = Repository.at(root)
        case.write(repository)
        return cls(case, repository)

    @cached_property
    def expected(self) -> list[Any]:
        return list(self.case.outcome(self.repository, self.case.document))

    def stays(self, changed: dict[str, Any]) -> bool:
        """Whether nothing is different with another overlay."""
        return all(map(eq, self.expected, self.case.outcome(self.repository, changed)))

    def makes(self, path: str, text: str | None) -> bool:
        made: dict[str, str | None] = self.expected[0][-1]
        return path in made and made[path] == text


@dataclass(frozen=True)
class Together:
    """A repository with the jobs of several kinds, which are rendered once.

    It proves differences only: the files of a job, and findings that are about no other, depend on nothing but its own
    file and the overlay, and the files of a volume on the overlay, if a job uses it. Whatever it does not prove is
    rendered for the kind alone.
    """

    cases: Sequence[Case]
    repository: Repository

    @classmethod
    def at(cls, root: Path, cases: Sequence[Case]) -> Self:
        repository = Repository.at(root)
        for case in cases:
            case.write_job(repository, case.kind)
        cases[0].write_overlay_files(repository)
        return cls(cases, repository)

    @cached_property
    def expected(self) -> dict[str, Any]:
        return self.made(self.cases[0].document)

    def made(self, overlay: dict[str, Any]) -> dict[str, Any]:
        """Rendered files, and for each job file the findings in it."""
        done = self.cases[0].render(self.repository, overlay)
        found: dict[str, Any] = {}
        for item in done.findings:
            if not item.related:
                found.setdefault(item.place.file, set()).add((item.code, item.message, item.severity))
        return found | texts(done)

    def changes(self, changed: dict[str, Any]) -> dict[str, Any]:
        """Differences with another overlay, with their expected values."""
        expected, made = self.expected, self.made(changed)
        every = expected.keys() | made.keys()
        return {path: expected.get(path) for path in every if expected.get(path, ABSENT) != made.get(path, ABSENT)}


ABSENT = object()


def ignored(cases: Sequence[Case], folder: Path) -> Iterator[tuple[str, Route]]:
    """Kinds and values of a case that change nothing. All need the same of the overlay."""
    together = Together.at(folder / "together", cases)
    alone = {case.kind: Alone.at(folder / case.kind, case) for case in cases}
    for route in leaves(cases[0].document):
        changed = without(cases[0].document, route)
        changes = together.changes(changed)
        volumes = {path: text for path, text in changes.items() if path.startswith("rendered/dev/storage/")}
        for case in cases:
            single = alone[case.kind]
            if (
                f"jobs/team/{case.kind}.yaml" not in changes
                and not any(path.startswith(f"rendered/dev/jobs/team/{case.kind}/") for path in changes)
                and not any(single.makes(path, text) for path, text in volumes.items())
                and single.stays(changed)
            ):
                yield case.kind, route


@pytest.mark.parametrize("said", CASES, ids=lambda said: said["name"])
def test_no_value_is_accepted_and_ignored(said: dict[str, Any], tmp_path: Path) -> None:
    cases = [Case(kind, said) for kind in said.get("kinds", EVERY_KIND)]
    groups = [[case for case in cases if bool(case.needed) is needs] for needs in (False, True)]
    assert [one for index, group in enumerate(groups) if group for one in ignored(group, tmp_path / str(index))] == []


def test_a_value_that_one_kind_ignores_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kind = KINDS["jax"]

    class Deaf(kind):  # type: ignore[misc,valid-type] # one of the registry
        """A kind that drops additions of the overlay to its pods."""

        def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
            for pod in pods.values():
                pod["spec"].pop("nodeSelector", None)
            body: Body = super().workload(plan, pods)
            return body

    said = {"name": "labels", "job": {}, "overlay": {"defaults": {"placement": {"nodeSelector": {"pool": "a"}}}}}
    cases = [Case(name, said) for name in ("pytorch", "jax", "ray")]
    assert list(ignored(cases, tmp_path / "before")) == []
    monkeypatch.setitem(KINDS, "jax", Deaf)
    assert list(ignored(cases, tmp_path / "after")) == [("jax", ("defaults", "placement", "nodeSelector", "pool"))]


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
        next(case.outcome(repo, grants | {"volumes": {"a": PROFILES[profile] | more}}))
        for more in ({setting: SETTINGS[setting]}, {})
    )
    assert with_it != without_it
    refused = setting in SETTINGS_OF_OBJECTS - STORAGE[profile].settings
    expected = [("no-effect", f"`{setting}` has no effect on a volume with `{profile}`")] if refused else []
    assert [(code, message) for code, message, severity in with_it[0] if severity == "error"] == expected


def uncovered(model: type[OverlayFields]) -> list[Route]:
    """Fields without a value in any case. Fields of `defaults` are those of jobs, which have their own contract.

    Grants of a group are those of `namespaces`, as `tests/overlay/test_groups.py` proves for each.
    """
    known = {route for route in model_fields(model) if route[0] != "groups" or route[2] == "namespaces"}
    covered = {pattern(route, known) for case in CASES for route in leaves(case["overlay"])}
    return sorted(known - covered, key=str)


if TYPE_CHECKING:
    Gitops = GitopsFields
else:
    Gitops = with_profiles(GitopsFields, ENGINES, ENGINES)


class WithEngines(OverlayFields):
    """An overlay with the fields of engines. Their models are only imported for such overlays."""

    gitops: Gitops | None = None


def test_every_field_has_a_case() -> None:
    assert ("gitops", "flux", "secret") in model_fields(WithEngines)
    assert uncovered(WithEngines) == []


def test_a_field_in_the_model_alone_is_found() -> None:
    class Extended(WithEngines):
        """An overlay with a field that is ignored."""

        region: str | None = None

    assert uncovered(Extended) == [("region",)]
