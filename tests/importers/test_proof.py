"""Every import ends with a verdict on each job, which is that of a render."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gen.base.findings import Findings
from gen.base.yaml.source import read
from tests.cases import for_each
from tests.commands.imports import errors
from tests.importers.manifests.changes import changed, of_container
from tests.importers.manifests.forms import an_object, pod
from tests.importers.support import run_import, script
from tests.support import Repository, rendered

if TYPE_CHECKING:
    from gen.report.formats import Report

OVERLAY = 'kubernetes: "1.34"\ndefaults: {sharedMemory: 2Gi}\nvolumes:\n  data:\n    claim: data\n'
LINE = "arena submit pytorch --name=train --image=a/b:1 {} '{}'"


def verdict(repo: Repository, *lines: str, **options: Any) -> tuple[Report, int]:
    repo.overlay(OVERLAY)
    return run_import(repo.root, script(repo.root.parent, *lines), namespace="team", **options)


def test_a_job_that_renders_is_ready(repo: Repository) -> None:
    report, code = verdict(repo, LINE.format("--data=data:/data", "python train.py"))
    assert (report.summary, code) == ("imported 1 job, which is ready; run `gen render`", 0)
    assert rendered(repo.root)[1] == 0


def test_a_job_with_secrets_is_ready_after_them(repo: Repository) -> None:
    report, code = verdict(repo, LINE.format("--env=API_TOKEN=zq1234567890", "python train.py"))
    again = "create the Secrets that the report names, and run `gen render`"
    assert (report.summary, code) == (f"imported 1 job, which is ready; {again}", 0)


def test_a_job_needs_what_the_only_overlay_lacks(repo: Repository) -> None:
    line = LINE.format("--data=data:/data --data=other:/other", "python train.py")
    report, code = verdict(repo, line)
    assert code == 0
    assert report.summary.splitlines() == [
        "wrote 1 job: needs fields of the overlay",
        "overlays/dev/overlay.yaml lacks these fields; `--overlay dev --yes` adds them:",
        "  volumes:",
        "    other:",
        "      claim: other",
    ]
    assert rendered(repo.root)[1] == 1
    (repo.root / "jobs/team/train.yaml").unlink()
    report, code = verdict(repo, line, overlay="dev", yes=True)
    assert (report.summary, code) == ("imported 1 job, which is ready; run `gen render`", 0)
    assert rendered(repo.root)[1] == 0


def test_an_image_of_a_mirror_is_no_difference(repo: Repository) -> None:
    """A patch with the image of the manifest would undo the mirror of the platform."""
    repo.overlay(f"{OVERLAY}images: [{{from: docker.io/, to: registry.example.com/mirror/}}]\n")
    other = {"name": "other", "image": "c:1"}
    body = changed(of_container(image="b:1"))
    body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"].append(other)
    file = repo.root.parent / "run.yaml"
    file.write_text(json.dumps(body))
    report, _ = run_import(repo.root, str(file), importer="manifests", namespace="team", overlay="dev", yes=True)
    assert "b:1" not in report.summary
    assert "registry.example.com/mirror/library/c:1" in report.summary


def test_jobs_with_different_verdicts_are_counted(repo: Repository) -> None:
    lines = [LINE.format(f"--data={name}:/data", "python a.py").replace("=train", f"={name}") for name in "abc"]
    report, _ = verdict(repo, *lines, LINE.format("--data=data:/data", "python a.py"))
    assert report.summary.splitlines()[0] == "wrote 4 jobs: ready (1); needs fields of the overlay (3)"


def test_the_first_grant_of_an_overlay_admits_all_other_namespaces(repo: Repository) -> None:
    report, _ = verdict(repo, LINE.format("--priority=high", "python train.py"))
    assert report.summary.splitlines()[-6:] == [
        "  namespaces:",
        "    team:",
        "      priorities:",
        "        - high",
        "    '*': {}",
        "`*` admits all other namespaces, as before",
    ]


@for_each(
    ("command", "why"),
    [
        ("srun python train.py", "`srun` does not work in a pod: no pod reaches the daemons of Slurm"),
        ("torchrun --standalone train.py", "each of the 2 pods trains alone, because of `--standalone`"),
    ],
)
def test_a_job_that_renders_but_cannot_run_is_not_called_imported(repo: Repository, command: str, why: str) -> None:
    report, code = verdict(repo, LINE.format("--workers=2", command))
    assert code == 1
    assert rendered(repo.root)[1] == 0
    place = next(str(item.place) for item in report.findings if item.message == why)
    assert place.startswith(str(repo.root.parent / "submit.sh"))
    assert report.summary.splitlines() == [
        "wrote 1 job: renders, but cannot run",
        f"  team/train renders, but cannot run: {why} ({place})",
    ]


def test_a_job_that_renders_something_else_than_its_original_is_not_ready(repo: Repository) -> None:
    """No patch of an overlay can make claims that are deleted with a run."""
    repo.overlay('kubernetes: "1.34"\n')
    template = pod("main", volumeMounts=[{"name": "work", "mountPath": "/work"}])
    spec = {
        "replicatedJobs": [{"name": "node", "template": {"spec": {"template": template}}}],
        "volumeClaimPolicies": [
            {
                "templates": [{"metadata": {"name": "work"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
                "retentionPolicy": {"whenDeleted": "Delete"},
            }
        ],
    }
    file = repo.root.parent / "run.json"
    file.write_text(json.dumps(an_object("jobset.x-k8s.io/v1alpha2", "JobSet", spec, namespace="team")))
    report, code = run_import(repo.root, str(file), importer="manifests")
    first, second, *_ = report.summary.splitlines()
    assert (first, code) == ("wrote 1 job: renders, but not all of the original", 1)
    assert "`run` is rendered without a value of the original: `spec.replicatedJobs" in second
    assert str(file) in second


def test_a_quota_counts_the_other_jobs(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\ndefaults: {sharedMemory: 2Gi}\nnamespaces: {team: {gpus: 16}}\n')
    repo.job("kind: batch\nimage: a/b:1\ncommand: python a.py\ngpus: 2\n", "hello")
    line = "arena submit mpi --name=train --workers=2 --gpus={} --image=a/b:1 'mpirun python a.py'"
    report, code = run_import(repo.root, script(repo.root.parent, line.format(8)), namespace="team")
    first, second = report.summary.splitlines()
    assert (first, code) == ("wrote 1 job: needs a larger quota", 1)
    assert "requests 18 GPUs in overlay `dev`; its quota is 16: `team/train` 16 (changed), `team/hello` 2" in second
    (finding,) = (one for one in report.findings if "ssh" not in one.message)
    assert (finding.code, finding.severity.value) == ("over-quota", "warning")
    assert str(finding.place).startswith(f"{repo.root.parent / 'submit.sh'}:1:")
    assert rendered(repo.root)[1] == 1
    (repo.root / "jobs/team/train.yaml").unlink()
    report, code = run_import(repo.root, script(repo.root.parent, line.format(7)), namespace="team")
    assert (report.summary, code) == ("imported 1 job, which is ready; run `gen render`", 0)
    assert rendered(repo.root)[1] == 0


@for_each(
    ("line", "fields"),
    [
        ("arena submit mpi --name=train --workers=1 --image=a/b:1 'mpirun python a.py'", {}),
        (
            "arena submit tf --name=train --workers=1 --ps=1 --worker-image=a/b:1 --ps-image=a/c:1 'python a.py'",
            {"roles": {"ps": {"image": "a/c:1"}}},
        ),
        (
            "arena submit tf --name=train --workers=1 --ps=2 --image=a/b:1 'python a.py'",
            {"roles": {"ps": {"replicas": "2"}}},
        ),
        ("arena submit tf --name=train --workers=1 --ps=1 --image=a/b:1 'python a.py'", {"roles": {"ps": {}}}),
        ("arena submit mpi --name=train --clean-task-policy=Running --image=a/b:1 'mpirun python a.py'", {}),
    ],
)
def test_fields_that_repeat_a_default_are_left_out(repo: Repository, line: str, fields: dict[str, Any]) -> None:
    _, code = verdict(repo, line)
    assert code == 0
    source = read(repo.root, "jobs/team/train.yaml", Findings())
    assert source is not None
    assert isinstance(source.data, dict)
    data = {name: value for name, value in source.data.items() if name in ("workers", "roles", "cleanup")}
    assert data == fields


def test_a_job_that_does_not_render_is_not_written(repo: Repository) -> None:
    report, code = verdict(repo, LINE.format("--workers=2", "torchrun --nnodes=4 train.py"))
    assert code == 1
    assert errors(report) == ["pod-count: `torchrun` waits for 4 pods, and the job has 2"]
    assert "team/train does not render: `torchrun` waits for 4 pods" in report.summary
    assert report.summary.endswith("1 error; nothing was written")
    assert not (repo.root / "jobs/team/train.yaml").exists()


def test_a_queue_of_kueue_lists_the_frameworks_of_its_jobs(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    options = ("--job-name=train", "--nodes=2", "--gres=gpu:8", "--ntasks-per-node=1", "--partition=gold")
    lines = ["#!/bin/bash", *(f"#SBATCH {one}" for one in options), "srun torchrun train.py"]
    file = script(repo.root.parent, *lines)
    report, code = run_import(
        repo.root, file, importer="slurm", namespace="team", image="a/b:1", overlay="dev", yes=True
    )
    assert (report.summary, code) == ("imported 1 job, which is ready; run `gen render`", 0)
    assert "frameworks:\n        - kubeflow.org/pytorchjob\n" in (repo.root / "overlays/dev/overlay.yaml").read_text()
    assert rendered(repo.root)[1] == 0


@for_each(
    "line",
    [
        "arena submit volcanojob --name=demo",
        "arena submit volcanojob --name demo --taskImages busybox,busybox  --taskReplicas 2",
    ],
)
def test_a_job_of_volcano_runs_the_commands_of_its_images(repo: Repository, line: str) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    report, code = run_import(repo.root, script(repo.root.parent, line), namespace="team")
    assert (errors(report), code) == ([], 0)
    text = (repo.root / "jobs/team/demo.yaml").read_text()
    assert text.startswith("# Imported from `arena submit volcanojob`. The images run their own programs.\n")
    assert "args: []\n" in text
    assert "replicas: 1\n" not in text


@for_each("command", [""" "'python a.py --lr 1'" """, """ '"python a.py --lr 1"' """])
def test_quotes_around_the_whole_command_are_those_of_yaml(repo: Repository, command: str) -> None:
    """Arena's charts write the command into YAML as it is."""
    report, code = verdict(repo, f"arena submit pytorch --name=train --image=a/b:1 {command}")
    assert (errors(report), code) == ([], 0)
    assert "\ncommand: python a.py --lr 1\n" in (repo.root / "jobs/team/train.yaml").read_text()


@for_each(
    ("action", "instead"),
    [("get", "`gen status`"), ("logs", "`gen logs`"), ("top", "`gen top`"), ("list", "`gen list`")],
)
def test_other_commands_of_arena_have_one_of_gen(repo: Repository, action: str, instead: str) -> None:
    report, _ = verdict(repo, f"arena {action} train", LINE.format("", "python a.py"))
    assert [(one.message, one.hint) for one in report.findings if action in one.message] == [
        (f"`arena {action}` is not imported", f"use {instead}")
    ]


def test_a_schedule_with_seconds_has_the_other_five_fields(repo: Repository) -> None:
    line = "arena cron tfjob --name=cron --schedule='0 0 22 * * ?' --image=a/b:1 'python a.py'"
    report, code = verdict(repo, line, overlay="dev", yes=True)
    assert (errors(report), code) == ([], 0)
    assert "cron: 0 22 * * *" in (repo.root / "jobs/team/cron.yaml").read_text()
    assert any(one.message.startswith("`0`, the seconds of `--schedule`, is not carried") for one in report.findings)


@for_each(
    ("line", "message"),
    [
        (
            r"arena submit pytorch --name=a \ ",
            r"the last word is a blank: `\` continues a line only as its last character",
        ),
        ("arena submit pytorch –name=a --image=a/b:1 x", "`–name=a` starts with a dash that is not a hyphen"),  # noqa: RUF001
    ],
)
def test_words_that_look_like_others_are_named(repo: Repository, line: str, message: str) -> None:
    report, code = verdict(repo, line, "  --image=a/b:1 'python a.py'")
    assert code == 1
    cut = "unsupported-shell: `--image=a/b:1` is not a program, and the line before it ends without `\\`"
    assert sorted(errors(report)) == [f"invalid-command-line: {message}", cut]
