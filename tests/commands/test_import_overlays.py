"""Changes of an overlay by an import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.report.findings.text import text
from tests.cases import for_each
from tests.commands.imports import LINE, errors
from tests.importers.support import run_import, script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository


def test_the_overlay_changes_only_with_its_name_and_yes(fresh: Path) -> None:
    overlay = fresh / "overlays/production/overlay.yaml"
    before = overlay.read_text()
    file = script(fresh.parent, LINE)
    report, code = run_import(fresh, file, overlay="production")
    assert code == 1
    assert "+  claim:" in text(report).replace("+    claim:", "+  claim:")
    assert "run it again with --yes" in report.summary
    assert overlay.read_text() == before
    assert not (fresh / "jobs/team-a/new.yaml").exists()
    report, code = run_import(fresh, file, overlay="production", yes=True)
    assert code == 0
    old, new = before.splitlines(), overlay.read_text().splitlines()
    assert [line for line in new if line in old] == old, "comments and order stay"
    assert "  claim:" in new
    assert "changed      overlays/production/overlay.yaml" in text(report)


def test_without_an_overlay_its_fields_are_only_shown(fresh: Path) -> None:
    before = (fresh / "overlays/production/overlay.yaml").read_text()
    report, code = run_import(fresh, script(fresh.parent, LINE))
    assert code == 0
    assert "  volumes:\n    claim:\n      claim: claim" in report.summary
    assert (fresh / "overlays/production/overlay.yaml").read_text() == before
    assert (fresh / "jobs/team-a/new.yaml").exists()


CLAIMS = ("--data=team.data:/a", "--data=team-data:/b")


def test_claims_that_give_the_same_name_are_two_volumes(fresh: Path) -> None:
    _, code = run_import(fresh, script(fresh.parent, LINE.replace("'python", f"{' '.join(CLAIMS)} 'python")))
    assert code == 0
    assert "team-data: /a\n  team-data-2: /b\n" in (fresh / "jobs/team-a/new.yaml").read_text()


def test_no_job_gets_the_claim_of_another(fresh: Path) -> None:
    lines = [
        LINE.replace("=new", f"={name}").replace("'python", f"{flag} 'python")
        for name, flag in zip("ab", CLAIMS, strict=True)
    ]
    report, code = run_import(fresh, script(fresh.parent, *lines))
    assert code == 1
    assert errors(report) == ["other-value: `volumes.team-data` of job `b` is not that of job `a`"]
    assert not (fresh / "jobs/team-a/a.yaml").exists()


def test_grants_of_every_namespace_stay(repo: Repository) -> None:
    repo.overlay(
        'kubernetes: "1.34"\nnamespaces:\n  "*": {priorities: [low], volumes: [a]}\nvolumes: {a: {claim: a}}\n'
    )
    file = script(repo.root.parent, LINE.replace("--name", "--priority=high --name"))
    assert run_import(repo.root, file, namespace="team", overlay="dev", yes=True)[1] == 0
    assert repo.codes() == []


def test_an_overlay_without_grants_still_admits_every_namespace(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    repo.job("kind: pytorch\nimage: a/b:1\ncommand: x\n", namespace="others")
    file = script(repo.root.parent, LINE.replace("--name", "--priority=high --name"))
    assert run_import(repo.root, file, namespace="team", overlay="dev", yes=True)[1] == 0
    assert repo.codes() == []


def test_queues_that_are_granted_without_a_declaration_keep_their_meaning(repo: Repository) -> None:
    overlay = repo.overlay('kubernetes: "1.34"\nnamespaces: {team: {queues: [research]}}\n')
    before = overlay.read_text()
    file = script(repo.root.parent, LINE.replace("--name", "--gang --name"))
    report, code = run_import(repo.root, file, namespace="team", overlay="dev", yes=True)
    assert (code, overlay.read_text()) == (1, before)
    assert errors(report) == ["other-value: the overlay grants `research` without `queues`; with it, all are declared"]


def test_a_profile_of_the_overlay_stays(repo: Repository) -> None:
    overlay = repo.overlay('kubernetes: "1.34"\nvolumes: {claim: {emptyDir: {}}}\n')
    before = overlay.read_text()
    report, _ = run_import(repo.root, script(repo.root.parent, LINE), namespace="team", overlay="dev", yes=True)
    assert overlay.read_text() == before
    assert errors(report) == []


def test_gpus_with_other_devices_keep_their_meaning(repo: Repository) -> None:
    """A job without `accelerator` uses the only one of the overlay."""
    repo.overlay('kubernetes: "1.34"\n')
    line = LINE.replace("python", "torchrun")
    gpus = line.replace("--name=new", "--name=gpus --gpus=2")
    npus = line.replace("--name=new", "--name=npus --device=example.com/npu=8")
    plain = LINE.replace("--name=new", "--name=plain")
    file = script(repo.root.parent, gpus, npus, plain)
    assert run_import(repo.root, file, namespace="team", overlay="dev", yes=True)[1] == 0
    assert set(repo.codes()) == {"no-deadline"}
    requested = {}
    for one in repo.objects():
        if one["kind"] == "PyTorchJob":
            (container,) = one["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
            requested[one["metadata"]["labels"]["gen/job"]] = container.get("resources", {}).get("limits")
    assert requested == {"gpus": {"nvidia.com/gpu": "2"}, "npus": {"example.com/npu": "8"}, "plain": None}


def test_the_first_accelerator_of_an_overlay_is_reported(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    file = script(repo.root.parent, LINE.replace("--name", "--device=example.com/npu=8 --name"))
    report, _ = run_import(repo.root, file, namespace="team", overlay="dev")
    assert [one.code for one in report.findings if one.place.file == "overlays/dev/overlay.yaml"] == ["other-value"]
    repo.overlay('kubernetes: "1.34"\naccelerators: {a100: {nvidia: {}}}\n')
    report, _ = run_import(repo.root, file, namespace="team", overlay="dev")
    assert not [one for one in report.findings if one.place.file == "overlays/dev/overlay.yaml"]


def test_jobs_of_an_overlay_keep_its_only_accelerator(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\naccelerators: {a100: {nvidia: {}}}\n')
    repo.job("kind: pytorch\nimage: r/x:1\ncommand: python t.py\ngpus: 1\n", "old")
    (before,) = (one["metadata"]["name"] for one in repo.objects() if one["kind"] == "PyTorchJob")
    file = script(repo.root.parent, LINE.replace("--name", "--device=example.com/npu=8 --name"))
    _, code = run_import(repo.root, file, namespace="team", overlay="dev", yes=True)
    assert code == 0
    assert "defaults:\n  accelerator: a100\n" in (repo.root / "overlays/dev/overlay.yaml").read_text()
    assert before in [one["metadata"]["name"] for one in repo.objects()]


@for_each(
    ("accelerators", "expected"),
    [
        ("{npu: {extended: {resource: example.com/npu}}}", "npu"),
        ("{gpu: {nvidia: {}}, npu: {extended: {resource: example.com/npu}}}", "npu"),
        ("{npu: {extended: {resource: example.com/npu}, nodeLabels: {a: b}}}", "example-com-npu"),
    ],
)
def test_an_accelerator_of_the_overlay_is_used_again(accelerators: str, expected: str, repo: Repository) -> None:
    """Unless it chooses other nodes. The grant of the namespace lists it."""
    grant = "namespaces: {team: {accelerators: [none]}}\n"
    more = accelerators.replace("{", "{none: {nvidia: {model: A}}, ", 1)
    repo.overlay(f'kubernetes: "1.34"\n{grant}accelerators: {more}\n')
    file = script(repo.root.parent, LINE.replace("--name", "--device=example.com/npu=8 --name"))
    _, code = run_import(repo.root, file, namespace="team", overlay="dev", yes=True)
    assert code == 0
    (job,) = (repo.root / "jobs").rglob("*.yaml")
    assert f"accelerator: {expected}\n" in job.read_text()
    assert (
        expected
        in (repo.root / "overlays/dev/overlay.yaml").read_text().split("namespaces:")[1].split("accelerators: {")[0]
    )
