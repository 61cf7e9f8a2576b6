"""One more profile costs one file and one line in its registry.

Each test defines the content of the file, adds the line to the registry, and uses the result through the commands.
Other costs are in `tests/test_costs_of_formats.py`, `tests/test_costs_of_rules.py`, `tests/job/kinds/test_foreign.py`,
`tests/overlay/plugins` and `tests/commands/test_commands.py`.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import pytest
from typer.testing import CliRunner

from gen.cli import app
from gen.job import kinds, launchers
from gen.job.kinds import KINDS
from gen.job.kinds.base import Job
from gen.job.launchers.base import PODS, PROCESSES, Launcher
from gen.job.names import MountPath
from gen.job.profile import Effect, Profile
from gen.job.queue import Member, PodChanges, QueueProfile, Refusal, Run
from gen.job.scalars import Text
from gen.overlay.profiles import accelerators, networks, queues, storage
from gen.overlay.profiles.accelerators import ACCELERATORS, AcceleratorProfile
from gen.overlay.profiles.networks import NETWORKS, NetworkProfile
from gen.overlay.profiles.queues import QUEUES
from gen.overlay.profiles.storage import STORAGE, StaticProfile, StorageProfile, Volume
from gen.report.schemas import overlay_schema
from scripts.reference import overlay_reference
from tests.cases import for_each
from tests.support import Repository, validated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from gen.kubernetes.facts.base import Resource
    from gen.kubernetes.objects import Body

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"


def findings(repo: Repository) -> list[tuple[str, str]]:
    """Code and place of each finding of a render."""
    return [(finding.code, str(finding.place)) for finding in repo.render()[0].findings]


def gen(*arguments: str) -> str:
    """The output of a command, which may end with 1."""
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code in (0, 1), done.output
    return done.output


def test_a_launcher_costs_a_file_and_a_line(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = Launcher(
        name="swarmrun",
        programs=frozenset({"swarmrun"}),
        values=frozenset({"each", "pods"}),
        roles={PROCESSES: ("each",), PODS: ("pods",)},
    )
    monkeypatch.setattr(launchers, "LAUNCHERS", (*launchers.LAUNCHERS, launcher))
    monkeypatch.setattr(launchers, "BY_PROGRAM", {**launchers.BY_PROGRAM, "swarmrun": launcher})
    repo.job(f"{JOB.rpartition('command')[0]}command: swarmrun --each=8 --pods 3 train.py\nworkers: 2\ngpus: 4\n")
    assert [code for code, _ in findings(repo) if code != "no-deadline"] == ["process-count", "pod-count"]


class Tape(StaticProfile):
    """Tape library."""

    short: ClassVar[str] = "library"
    grant: ClassVar[str] = "tape"

    library: Text
    """Name of the library."""
    path: MountPath = "/"
    """Folder in the library."""

    def persistent_source(self, volume: Volume) -> Body:
        return {"csi": {"driver": "tape.example.com", "volumeHandle": f"{self.library}{self.path}{volume.name}"}}


TAPE = 'kubernetes: "1.34"\nvolumes:\n  archive: {{size: 1Ti, tape: {}}}\nnamespaces: {{"*": {{allow: [{}]}}}}\n'


@pytest.fixture
def tape(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setitem(STORAGE, "tape", Tape)
    repo.overlay(TAPE.format("west", "tape"))
    repo.job(JOB + "data: {archive: /data}\n")
    return repo


def test_a_storage_profile_renders(tape: Repository) -> None:
    assert tape.one("PersistentVolume")["spec"]["csi"] == {
        "driver": "tape.example.com",
        "volumeHandle": "west/archive",
    }
    template = tape.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    (volume,) = template["spec"]["volumes"]
    assert volume == {"name": "archive", "persistentVolumeClaim": {"claimName": "archive"}}
    assert tape.check()[1] == 0
    assert validated(tape.root / "rendered")[1] == 0


def test_a_storage_profile_needs_its_grant_and_valid_fields(tape: Repository) -> None:
    tape.overlay(TAPE.format("west", ""))
    assert findings(tape) == [("not-granted", "jobs/team/demo.yaml:4:8")]
    tape.overlay(TAPE.format("{library: west, folder: /a}", "tape"))
    assert findings(tape) == [("unknown-field", "overlays/dev/overlay.yaml:3:46")]
    tape.overlay(TAPE.format("west", "tapes"))
    assert ("unknown-permission", "overlays/dev/overlay.yaml:4:28") in findings(tape)


class Mesh(NetworkProfile):
    """Service mesh."""

    grant: ClassVar[str] = "mesh"
    excludes: ClassVar[frozenset[str]] = frozenset({"hostNetwork"})

    name: Text
    """Name of the mesh."""

    def effect(self, gpus: int) -> Effect:
        return Effect(labels={"mesh.example.com/name": self.name}, env={"MESH": self.name})


MESH = 'kubernetes: "1.34"\nnetworks:\n  fast: {{mesh: {{name: inner}}{}}}\nnamespaces: {{"*": {{allow: [{}]}}}}\n'


@pytest.fixture
def mesh(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setitem(NETWORKS, "mesh", Mesh)
    repo.overlay(MESH.format("", "mesh"))
    repo.job(JOB + "network: fast\n")
    return repo


def test_a_network_profile_renders(mesh: Repository) -> None:
    template = mesh.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    assert template["metadata"]["labels"]["mesh.example.com/name"] == "inner"
    assert {"name": "MESH", "value": "inner"} in template["spec"]["containers"][0]["env"]


def test_a_network_profile_needs_its_grant_and_valid_fields(mesh: Repository) -> None:
    mesh.overlay(MESH.format("", ""))
    assert findings(mesh) == [("not-granted", "jobs/team/demo.yaml:4:10")]
    mesh.overlay(MESH.format(", hostNetwork: true", "mesh, hostNetwork"))
    assert [code for code, _ in findings(mesh)] == ["invalid-value"]


class Abacus(AcceleratorProfile):
    """Abacuses."""

    short: ClassVar[str] = "beads"
    grant: ClassVar[str] = "abacus"

    beads: Text
    """Material of the beads."""

    def units(self) -> Mapping[str, int]:
        return {"example.com/abacus": 1}

    def effect(self, count: int) -> Effect:
        return Effect(resources={"example.com/abacus": str(count)}, env={"BEADS": self.beads})


ABACUS = 'kubernetes: "1.34"\naccelerators:\n  fast: {{abacus: wood}}\nnamespaces: {{"*": {{allow: [{}]}}}}\n'


@pytest.fixture
def abacus(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setitem(ACCELERATORS, "abacus", Abacus)
    repo.overlay(ABACUS.format("abacus"))
    repo.job(JOB.replace("python", "torchrun") + "gpus: 2\n")
    return repo


def test_an_accelerator_profile_renders(abacus: Repository) -> None:
    container = abacus.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"] == {"example.com/abacus": "2"}
    assert {"name": "BEADS", "value": "wood"} in container["env"]


def test_an_accelerator_profile_needs_its_grant(abacus: Repository) -> None:
    abacus.overlay(ABACUS.format(""))
    assert findings(abacus) == [("not-granted", "jobs/team/demo.yaml:4:7")]


class Ticket(QueueProfile):
    """A ticket for each pod."""

    short: ClassVar[str] = "window"
    keys: ClassVar[tuple[str, ...]] = ("ticket.example.com/",)

    window: Text
    """Name of the window."""

    @property
    def scheduler_name(self) -> str:
        return "ticket"

    @classmethod
    def unable(cls, facts: Resource, api_version: str) -> Refusal | None:
        return None if facts.pods else Refusal(f"{api_version} has no pods", "use another kind")

    def changes(self, run: Run, member: Member) -> PodChanges:
        labels = {"ticket.example.com/window": self.window, "ticket.example.com/role": member.role}
        return PodChanges(scheduler=self.scheduler_name, labels=labels, annotations={"pods": str(run.pods)})


TICKET = """\
kubernetes: "1.34"
runtimes: {torch-distributed: {}}
queues: {fast: {ticket: left}}
namespaces: {"*": {queues: [fast]}}
"""


@pytest.fixture
def ticket(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setitem(QUEUES, "ticket", Ticket)
    repo.overlay(TICKET)
    repo.job(JOB + "workers: 3\nqueue: fast\n")
    return repo


def test_a_scheduler_of_queues_renders(ticket: Repository) -> None:
    template = ticket.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]
    assert template["spec"]["schedulerName"] == "ticket"
    assert template["metadata"]["labels"]["ticket.example.com/role"] == "worker"
    assert template["metadata"]["annotations"] == {"pods": "3"}


def test_a_scheduler_of_queues_refuses_kinds_and_keeps_its_labels(ticket: Repository) -> None:
    ticket.job("kind: train\nimage: a:1\ncommand: x\nqueue: fast\n")
    assert findings(ticket) == [("unsupported-queue", "jobs/team/demo.yaml:4:8")]
    ticket.overlay(TICKET.replace("queues: [fast]", "queues: [fast], metadata: ['*']"))
    ticket.job(JOB + "podLabels: {ticket.example.com/window: right}\n")
    assert findings(ticket) == [("reserved-metadata", "jobs/team/demo.yaml:4:13")]


@pytest.mark.usefixtures("tape", "mesh", "abacus", "ticket")
def test_profiles_and_their_permissions_are_in_the_schema_and_the_reference() -> None:
    schema = json.dumps(overlay_schema())
    reference = overlay_reference()
    profiles: dict[str, type[Profile]] = {"tape": Tape, "mesh": Mesh, "abacus": Abacus, "ticket": Ticket}
    for name, model in profiles.items():
        assert f'"#/definitions/{model.__name__}"' in schema
        assert f"### {model.__name__}\n\n`{name}`: {model.__doc__}" in reference
        assert not model.grant or f"Requires `allow: [{name}]`" in reference
    assert "Name of the library." in schema
    assert "Name of the mesh." in reference
    allow = overlay_schema()["definitions"]["Grant"]["properties"]["allow"]
    assert {"tape", "mesh", "abacus"} < set(allow["items"]["enum"])


@for_each(
    ("package", "base", "registry"),
    [
        (kinds, Job, KINDS),
        (storage, StorageProfile, STORAGE),
        (networks, NetworkProfile, NETWORKS),
        (accelerators, AcceleratorProfile, ACCELERATORS),
        (queues, QueueProfile, QUEUES),
    ],
    ids=["kinds", "storage", "networks", "accelerators", "queues"],
)
def test_every_kind_and_profile_in_a_file_is_registered(
    package: ModuleType, base: type, registry: dict[str, type]
) -> None:
    names = [f"{package.__name__}.{name}" for _, name, _ in pkgutil.iter_modules(package.__path__) if name != "base"]
    found = {
        value
        for module in map(import_module, names)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
    }
    assert {model for model in found if not is_base(model)} == set(registry.values())


def is_base(model: type) -> bool:
    """Whether a class is only there to be extended: something of it is abstract, or a class attribute has no value."""
    return inspect.isabstract(model) or any(not hasattr(model, name) for name in getattr(model, "__class_vars__", ()))
