"""`gen set` from outside: which files, what is refused, what is said."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from gen.diagnostics import UsageError
from gen.edit.route import route_of
from gen.kinds import KINDS
from gen.report.text import text
from tests.support import set_fields

if TYPE_CHECKING:
    from pathlib import Path

    from gen.report.report import Report
    from tests.support import Repository

JOB = """\
# what it is for
kind: pytorch   # the kind
image: "registry.example.com/train:1"
command: python train.py
env: {DEBUG: off}  # quiet

# the end
"""


def change(repo: Repository, jobs: str, *assignments: str, unset: tuple[str, ...] = ()) -> tuple[Report, int]:
    return set_fields(repo.root, jobs, assignments, unset)


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


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


@pytest.mark.parametrize(
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


def test_a_list_that_is_no_yaml_is_refused(repo: Repository) -> None:
    path = repo.job(JOB)
    before = path.read_bytes()
    for value in ("[a", "[a: b: c]", "[*x]", "[a] b", "{a", "[&x a]"):
        report, code = change(repo, "team/demo", f"metrics={value}")
        assert (code, codes(report)[:1], path.read_bytes()) == (1, ["invalid-value"], before)


def test_a_file_that_says_so_already_is_not_written(repo: Repository) -> None:
    path = repo.job(JOB)
    before = path.stat()
    report, code = change(repo, "team/demo", "env.DEBUG=off", unset=("retries",))
    assert (code, report.summary) == (0, "no changes: 1 job file is already up to date")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize(
    ("assignment", "code", "hint"),
    [
        ("atempt=2", "unknown-field", "did you mean `attempt`?"),
        ("state=done", "invalid-value", "did you mean `finished`?"),
        ("workers=two", "invalid-value", "write digits, such as `8`"),
        ("args=x", "invalid-value", "write `[x]`"),
        ("roles.wroker.cpu=1", "unknown-field", "did you mean `worker`?"),
        ("network=enii", "unknown-network", "did you mean `eni`?"),
        ("command.x=1", "cannot-edit", "remove it in the same command with `--unset command`"),
        ("kind=pytroch", "unknown-kind", "did you mean `pytorch`?"),
    ],
)
def test_a_mistake_is_a_finding_and_nothing_is_written(repo: Repository, assignment: str, code: str, hint: str) -> None:
    path = repo.job(JOB)
    report, exit_code = change(repo, "team/demo", assignment, "attempt=2")
    assert (exit_code, codes(report)[0]) == (1, code)
    assert hint in report.findings[0].hint
    assert report.findings[0].place.file == "jobs/team/demo.yaml"
    assert path.read_text("utf-8") == JOB


@pytest.mark.parametrize(
    ("assignments", "line", "column", "message"),
    [
        (("env.DEBUG.secret=x",), 5, 14, "`env.DEBUG` is `off` and has no fields"),
        (("image=A B",), 3, 8, "after setting `image`: expected an image reference, got `A B`"),
        (("workers=two",), 2, 1, "after setting `workers`: expected an integer, got `two`"),
        (("roles.wroker.cpu=1",), 2, 1, "after setting `roles.wroker.cpu`: unknown field `roles.wroker`"),
        (("params.a=1", "restart=Maybe"), 2, 1, "after setting `restart`: invalid value `Maybe`"),
    ],
)
def test_a_refused_change_is_placed_in_the_file_that_exists(
    repo: Repository, assignments: tuple[str, ...], line: int, column: int, message: str
) -> None:
    """The text with the change is not written, so its lines would mislead."""
    repo.job(JOB)
    (finding,) = change(repo, "team/demo", *assignments)[0].findings
    assert (finding.place.line, finding.place.column, finding.message) == (line, column, message)


def test_a_finding_about_another_line_keeps_the_line_of_the_file(repo: Repository) -> None:
    """The first entry of a mapping moves the lines below it."""
    repo.job("kind: pytorch\nimage: a/b:1\ncommand: x\nparams:\n  a: 1\nenv:\n  A: '{{ params.a }}'\n")
    (finding,) = change(repo, "team/demo", "params.b=2", unset=("params.a",))[0].findings
    assert (finding.place.line, finding.code) == (7, "invalid-expression")


def test_a_pattern_changes_all_files_or_none(repo: Repository) -> None:
    first, second = repo.job(JOB), repo.job("kind: mpi\nimage: a/b:1\ncommand: x\n", name="other")
    report, code = change(repo, "team/*", "attempt=2", "nprocPerNode=2")
    assert (code, codes(report)) == (1, ["unknown-field"])
    assert (first.read_text("utf-8"), second.read_text("utf-8")[:4]) == (JOB, "kind")
    report, code = change(repo, "team/*", "attempt=2", "env.DEBUG=off")
    assert code == 0
    assert report.summary.splitlines()[-1].startswith("changed 2 of 2 job files;")
    assert "attempt: 2" in first.read_text("utf-8")
    assert "attempt: 2" in second.read_text("utf-8")


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


def test_bytes_that_are_not_the_fields_stay(repo: Repository) -> None:
    raw = b"\xef\xbb\xbf" + JOB.replace("\n", "\r\n").rstrip().encode()
    path = repo.write("jobs/team/demo.yaml", raw)
    path.chmod(0o640)
    assert change(repo, "team/demo", "attempt=2")[1] == 0
    line = b"# quiet\r\n"
    assert path.read_bytes() == raw.replace(line, line + b"attempt: 2\r\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in path.parent.iterdir()] == ["demo.yaml"]


def refusal(repo: Repository, jobs: str) -> str:
    try:
        report, code = change(repo, jobs, "attempt=2")
    except UsageError as error:
        return str(error)
    assert code == 1
    return text(report)


def test_links_are_not_followed(repo: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(JOB, "utf-8")
    (repo.root / "jobs/team").mkdir()
    (repo.root / "jobs/team/demo.yaml").symlink_to(outside)
    report, code = change(repo, "team/demo", "attempt=2")
    assert (code, codes(report)) == (1, ["not-a-file"])
    (tmp_path / "team").mkdir()
    (tmp_path / "team/demo.yaml").write_text(JOB, "utf-8")
    (repo.root / "jobs/linked").symlink_to(tmp_path / "team")
    assert "link" in refusal(repo, "jobs/linked/demo.yaml")
    assert outside.read_text("utf-8") == (tmp_path / "team/demo.yaml").read_text("utf-8") == JOB


def test_when_one_file_cannot_be_written_none_is(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [repo.job(JOB), repo.job(JOB, name="other")]
    rest = iter([os.open])

    def full(*arguments: Any) -> int:
        if str(arguments[0]).endswith(".tmp"):
            for opened in rest:
                return opened(*arguments)
            raise OSError(28, "No space left on device", str(arguments[0]))
        return original(*arguments)

    original = os.open
    monkeypatch.setattr(os, "open", full)
    with pytest.raises(UsageError, match="No space left on device"):
        change(repo, "team/*", "attempt=2")
    assert [path.read_text("utf-8") for path in paths] == [JOB, JOB]
    assert sorted(path.name for path in paths[0].parent.iterdir()) == ["demo.yaml", "other.yaml"]


@pytest.mark.parametrize(
    ("assignments", "unset", "message"),
    [
        ((), (), "no fields to change"),
        (("attempt",), (), "`attempt` has no value"),
        (("=2",), (), "is not a valid field name"),
        (("env.=2",), (), "is not a valid field name"),
        (("env.A=\ufdd0",), (), "U\\+FDD0"),
        (("env.A=" + os.fsdecode(b"\xff"),), (), "UTF-8"),
    ],
)
def test_a_command_that_cannot_be_meant(
    repo: Repository, assignments: tuple[str, ...], unset: tuple[str, ...], message: str
) -> None:
    repo.job(JOB)
    with pytest.raises(UsageError, match=message):
        change(repo, "team/demo", *assignments, unset=unset)


def test_what_is_removed_must_be_a_field(repo: Repository) -> None:
    repo.job(JOB)
    report, code = change(repo, "team/demo", unset=("comand",))
    assert (code, report.findings[0].hint) == (1, "did you mean `command`?")


def test_no_job_at_all_is_said(repo: Repository) -> None:
    repo.job(JOB)
    with pytest.raises(UsageError, match="did you mean `team/demo`"):
        change(repo, "team/dmeo", "attempt=2")


@pytest.mark.parametrize(
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
