"""An older name of a field: it works, with a warning, and `gen check --fix` writes the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.commands import explain
from gen.edit.fixes import find_fixes, write_fixes
from gen.job.fields import JobFields
from gen.job.kinds import ALL_KINDS
from gen.job.model import RENAMED, CurrentName, Model
from gen.job.suggest import old_names
from gen.overlay.entries import VolumeFields
from gen.overlay.fields import OverlayFields
from gen.overlay.grant import Grant
from gen.overlay.profiles.storage import STORAGE
from gen.report import schemas
from tests.support import OVERLAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support import Repository

SINCE = "0.2.0 (2027-01-15)"
JOB = "kind: batch\nimage: registry.example.com/a:1\ncommand: sleep 1\nenv: {A: b}\nmemory: 1Gi # small\n"
OLD = JOB.replace("memory", "ram").replace("env", "variables")
MESSAGE = f"`ram` is named `memory` since {SINCE}"


def clear() -> None:
    old_names.cache_clear()
    schemas._definitions_text.cache_clear()  # noqa: SLF001 - no other schema has these fields


@pytest.fixture(autouse=True)
def renamed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two fields of jobs and one of grants as if they had had other names. No field was renamed so far."""
    names = {"ram": CurrentName("memory", SINCE), "variables": CurrentName("env", SINCE)}
    grants = {"accelerators": CurrentName("gpus", SINCE)}
    models: tuple[tuple[type[Model], dict[str, CurrentName]], ...] = ((JobFields, names), (Grant, grants))
    for model, fields in models:
        monkeypatch.setitem(RENAMED, model, fields)
    clear()
    yield
    monkeypatch.undo()
    clear()


def test_a_job_with_older_names_is_the_same_job(repo: Repository) -> None:
    repo.job(JOB)
    assert repo.render()[1] == 0
    before = repo.rendered()
    path = repo.job(OLD)
    report, code = repo.check()
    assert code == 0
    assert [(one.code, one.message, str(one.place)) for one in report.findings] == [
        ("renamed-field", f"`variables` is named `env` since {SINCE}", "jobs/team/demo.yaml:4:1"),
        ("renamed-field", MESSAGE, "jobs/team/demo.yaml:5:1"),
    ]
    assert repo.render()[1] == 0
    assert repo.rendered() == before, "no run starts again, and the record is the same"
    write_fixes(repo.root, find_fixes(repo.root, ()))
    assert path.read_text() == JOB
    assert repo.check()[0].findings == ()


def test_findings_about_the_value_have_the_place_of_the_older_name(repo: Repository) -> None:
    repo.job(OLD.replace("1Gi", "much"))
    found = [one for one in repo.check()[0].findings if one.is_error]
    assert [(one.code, str(one.place)) for one in found] == [("invalid-value", "jobs/team/demo.yaml:5:6")]
    assert found[0].message.startswith("`memory`")


def test_both_names_at_once_are_an_error(repo: Repository) -> None:
    repo.job(f"{JOB}ram: 2Gi\n")
    assert [(one.code, one.place.line) for one in repo.check()[0].findings] == [("unknown-field", 6)]


def test_overlays_and_their_defaults(repo: Repository) -> None:
    repo.job(JOB.replace("memory: 1Gi # small\n", ""))
    text = OVERLAY.replace("namespaces:\n", "namespaces:\n  team: {accelerators: 8}\n")
    text += "defaults: {ram: 1Gi, kinds: {batch: {variables: {C: d}}}}\n"
    path = repo.overlay(text)
    assert repo.render()[1] == 0
    report, code = repo.check()
    assert code == 0, report.findings
    assert [one.code for one in report.findings] == ["renamed-field"] * 3
    assert {one.place.file for one in report.findings} == {"overlays/dev/overlay.yaml"}
    (job,) = (body for body in repo.objects() if body["kind"] == "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"]["memory"] == "1Gi"
    assert {"name": "C", "value": "d"} in container["env"]
    write_fixes(repo.root, find_fixes(repo.root, ()))
    assert path.read_text() == text.replace("ram", "memory").replace("variables", "env").replace("accelerators", "gpus")


def test_profiles_in_an_overlay(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The field with the entry of a volume, the key of its profile, and a field of the profile, at once."""
    renamed: list[tuple[type[Model], str, str]] = [
        (OverlayFields, "disks", "volumes"),
        (VolumeFields, "share", "nas"),
        (STORAGE["nas"], "host", "server"),
    ]
    for model, old, new in renamed:
        monkeypatch.setitem(RENAMED, model, {old: CurrentName(new, SINCE)})
    clear()
    repo.job(f"{JOB}data: {{nas: /data}}\n")
    assert repo.render()[1] == 0
    before = repo.rendered()
    path = repo.overlay(OVERLAY.replace("volumes:", "disks:").replace(" nas: {server:", " share: {host:"))
    assert [one.code for one in repo.check()[0].findings] == ["renamed-field"] * 3
    assert repo.render()[1] == 0
    assert repo.rendered() == before
    write_fixes(repo.root, find_fixes(repo.root, ()))
    assert path.read_text() == OVERLAY


def test_steps_of_a_pipeline(repo: Repository) -> None:
    steps = "kind: pipeline\nsteps:\n  a:\n" + "".join(f"    {line}\n" for line in OLD.splitlines())
    path = repo.job(steps)
    found = repo.check()[0].findings
    assert [(one.code, one.place.line) for one in found][:2] == [
        ("renamed-field", 7),
        ("renamed-field", 8),
    ]
    write_fixes(repo.root, find_fixes(repo.root, ()))
    assert "    memory: 1Gi # small\n" in path.read_text()


def test_schemas_call_the_older_name_deprecated() -> None:
    definitions = schemas.job_schema()["definitions"]
    for model in ALL_KINDS.values():
        fields = definitions[model.__name__]["properties"]
        if "memory" in fields:
            assert fields["ram"] == fields["memory"] | {
                "deprecated": True,
                "deprecationMessage": f"Named `memory` since {SINCE}.",
                "description": f"Named `memory` since {SINCE}.",
            }


@pytest.mark.parametrize("name", ["ram", "job.ram"])
def test_an_older_name_is_explained(name: str) -> None:
    shown = explain.run(explain.Request(name=name)).output
    assert "memory" in shown
    assert SINCE in shown
