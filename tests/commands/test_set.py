"""`gen set` changes fields in the text of a job file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.edit.change import route_of
from gen.job.kinds import KINDS
from gen.report.findings.text import text
from tests.cases import for_each
from tests.commands.changes import JOB, change, codes

if TYPE_CHECKING:
    from tests.support import Repository


def test_fields_are_set_in_the_file_and_it_still_renders(repo: Repository) -> None:
    path = repo.job(JOB)
    report, code = change(
        repo,
        "team/demo",
        "state=finished",
        "attempt=2",
        "params.lr=3e-4",
        "env.DEBUG=on",
        "workers=2",
    )
    assert code == 0, text(report)
    assert path.read_text("utf-8") == JOB.replace("off", "on").replace(
        "# quiet\n",
        "# quiet\nstate: finished\nattempt: 2\nparams:\n  lr: 3e-4\nworkers: 2\n",
    )
    assert report.summary.splitlines() == [
        (
            "jobs/team/demo.yaml: state set to finished, attempt set to 2, params.lr set to 3e-4, env.DEBUG off → on, "
            "workers set to 2"
        ),
        "changed 1 of 1 job file; run `gen render` and commit the result",
    ]
    assert repo.codes() == ["no-effect"], "nothing uses the parameter"


@for_each(
    ("before", "assignment", "line"),
    [
        ("", "metrics=[loss, accuracy:PERCENTAGE]", 'metrics: [loss, "accuracy:PERCENTAGE"]'),
        ("metrics: [loss]\n", "metrics=[a, b]", "metrics: [a, b]"),
        ("metrics:\n  - loss\n", "metrics=[a]", "metrics: [a]"),
        ("", "data={nas: /data}", "data: {nas: /data}"),
        ("data: {nas: /a}\n", "tensorboard={logdir: /a/logs}", "tensorboard: {logdir: /a/logs}"),
        ("", "sweep={matrix: {lr: [0.1, 0.01]}}", "sweep: {matrix: {lr: [0.1, 0.01]}}"),
        ("", "sweep.matrix.lr=[0.1, 0.01]", "    lr: [0.1, 0.01]"),
        ("", "env.LIST=[a, b]", "env: {DEBUG: off, LIST: '[a, b]'}"),
        ("", "command=[ -f x ] && run {{ params.lr }}", "command: '[ -f x ] && run {{ params.lr }}'"),
    ],
)
def test_brackets_are_a_list_or_a_mapping_where_no_text_can_be(
    repo: Repository, before: str, assignment: str, line: str
) -> None:
    path = repo.job(JOB.replace("train.py", "train.py {{ params.lr }}") + "params: {lr: 1}\n" + before)
    report, code = change(repo, "team/demo", assignment)
    assert (code, codes(report)) == (0, [])
    written = path.read_text().replace('"', "").replace("'", "")
    assert line.replace('"', "").replace("'", "") in written
    field, value = assignment.split("=", 1)
    name, _, shown = text(report).partition(": ")[2].partition("\n")[0].partition(" ")
    assert (name, value in shown) == (field, True)


def test_a_job_with_another_mistake_can_be_put_right_step_by_step(repo: Repository) -> None:
    path = repo.job(JOB + "workers: x\nretries: y\n")
    assert change(repo, "team/demo", "workers=2")[1] == 0
    assert change(repo, "team/demo", "timeout=z")[1] == 1
    assert change(repo, "team/demo", "retries=2")[1] == 0
    assert path.read_text("utf-8") == JOB + "workers: 2\nretries: 2\n"


def test_a_short_form_gives_way_when_it_is_removed_in_the_same_command(repo: Repository) -> None:
    path = repo.job(JOB + "data:\n  nas: /data\n")
    report, code = change(repo, "team/demo", "data.nas.path=/data", "data.nas.readOnly=true", unset=("data.nas",))
    assert code == 0, text(report)
    assert "data:\n  nas:\n" in path.read_text(
        "utf-8"
    ) or "data: {nas: {path: /data, readOnly: true}}" in path.read_text("utf-8")
    assert repo.codes() == []


@for_each(
    ("name", "route"),
    [
        ("attempt", ("attempt",)),
        ("labels.example.com/team", ("labels", "example.com/team")),
        ("env.A.B", ("env", "A.B")),
        ("env.A.secret", ("env", "A", "secret")),
        ("files./etc/a.conf", ("files", "/etc/a.conf")),
        ("data.ckpt.readOnly", ("data", "ckpt", "readOnly")),
        ("placement.nodeSelector.a.b/c", ("placement", "nodeSelector", "a.b/c")),
        ("placement.tolerations.0.key", ("placement", "tolerations", 0, "key")),
        ("roles.worker.env.A", ("roles", "worker", "env", "A")),
        ("command.0", ("command", 0)),
        ("no.such", ("no", "such")),
    ],
)
def test_a_dot_separates_what_the_models_separate(name: str, route: tuple[str | int, ...]) -> None:
    assert route_of(KINDS["pytorch"], name) == route


PIPELINE = """\
kind: pipeline
image: registry.example.com/train:1
command: python train.py
steps:
  prepare: {kind: batch}
  train:  # the long one
    kind: pytorch
    needs: [prepare]
    env: {DEBUG: off}
"""


def test_fields_of_a_step_are_those_of_its_kind(repo: Repository) -> None:
    path = repo.job(PIPELINE)
    new = ("steps.train.env.DEBUG=on", "steps.train.workers=2")
    report, code = change(repo, "team/demo", *new, unset=("steps.train.gpus",))
    assert code == 0, text(report)
    assert path.read_text("utf-8") == PIPELINE.replace("off}", "on}\n    workers: 2")
    report, code = change(repo, "team/demo", "steps.train.needs.0=train")
    assert [finding.message for finding in report.findings] == [
        "after setting `steps.train.needs[0]`: the step `train` needs itself"
    ]
    report, code = change(repo, "team/demo", unset=("steps.train.wokers",))
    assert [finding.message for finding in report.findings] == ["unknown field `steps.train.wokers`"]
    report, code = change(repo, "team/demo", "steps.prepare.kind=mpi", "steps.prepare.slotsPerWorker=2")
    assert code == 0, text(report)
    assert "prepare: {kind: mpi, slotsPerWorker: 2}" in path.read_text("utf-8")


@for_each(
    ("before", "assignment", "after"),
    [
        ("", "attempt+=1", "attempt: 2\n"),
        ("workers: 2\n", "workers+=2", "workers: 4\n"),
        ("command: [a, b]\n", "args+=--lr", "command: [a, b]\nargs: [--lr]\n"),
        ("command: [a]\nargs: [x]  # why\n", "args+=[--lr, 1]", "command: [a]\nargs: [x, --lr, 1]  # why\n"),
        ("command: [a]\nargs:\n- x  # why\n", "args+=--lr", "command: [a]\nargs:\n- x  # why\n- --lr\n"),
        ("metrics:\n  - loss\ngpus: 1\n", "metrics+=accuracy", "metrics:\n  - loss\n  - accuracy\ngpus: 1\n"),
    ],
)
def test_values_are_added(repo: Repository, before: str, assignment: str, after: str) -> None:
    start = 'kind: pytorch\nimage: "a:1"\n' + ("" if "command" in before else "command: x\n")
    path = repo.job(start + before)
    report, code = change(repo, "demo", assignment)
    assert (code, codes(report)) == (0, [])
    assert path.read_text("utf-8") == start + after


@for_each("assignment", ["gpus+=1", "image+=x", "attempt+=x", "state+=1"])
def test_nothing_is_added_to_other_values(repo: Repository, assignment: str) -> None:
    path = repo.job(JOB)
    report, code = change(repo, "demo", assignment)
    assert (code, codes(report), path.read_text("utf-8")) == (1, ["cannot-edit"], JOB)
