"""The list of jobs, read from files alone, agrees with the rendered objects."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from gen.base.findings import Findings, UsageError
from gen.base.repository.job_files import all_jobs
from gen.base.yaml.source import read
from gen.commands.list import Request, run
from gen.job.kinds import KINDS
from gen.overlay.read import OverlayReader
from gen.render.cache import cache_file
from gen.render.model import read_job
from gen.render.pipeline import render_files
from gen.render.work import Inputs
from gen.report.formats import LIST_REPORTERS
from gen.report.listing import used_columns
from gen.report.terminal import View
from gen.review import job_list as numbers
from tests.cases import for_each
from tests.history import History
from tests.support import OVERLAY, Repository, cases, copy_case

if TYPE_CHECKING:
    from pathlib import Path

    from gen.base.yaml.source import Source
    from gen.review.job_list import JobRow, Listing

JOB = "kind: pytorch\nimage: a:1\ncommand: train\n"


def listed(root: Path, *jobs: str, **options: Any) -> tuple[Listing, int]:
    result = run(Request(root=root, jobs=jobs, **options))
    return result.output.data, result.exit_code


def only(repo: Repository, **options: Any) -> JobRow:
    (row,) = listed(repo.root, **options)[0].rows
    return row


DEEP = "".join(f"{' ' * level}a:\n" for level in range(1, 300))


@pytest.mark.slow
@for_each("case", cases("golden"), ids=lambda case: case.name)
def test_gpus_are_those_of_the_render(case: Path, tmp_path: Path) -> None:
    root = copy_case(case, tmp_path / "repo").root
    overlays = OverlayReader(root, Findings()).read()
    results = render_files(Inputs(root=root, overlays=overlays), all_jobs(root, Findings()))
    rendered = {(one.overlay, result.job.file): (one, result) for result in results for one in result.overlays}
    rows = {(row.overlay, row.file): row for row in listed(root)[0].rows if row.overlay}
    assert rows.keys() == rendered.keys()
    for key, (one, result) in rendered.items():
        gpus = sum(run.gpus for run in one.rendered)
        named = sum((Counter(run.accelerators) for run in one.rendered), Counter[str]())
        assert (rows[key].gpus, rows[key].accelerators, rows[key].job) == (gpus, dict(named), result.name)
        assert rows[key].errors == ()


@pytest.mark.slow
@for_each("case", cases("golden"), ids=lambda case: case.name)
def test_a_second_list_is_that_of_the_first(case: Path, tmp_path: Path) -> None:
    root = copy_case(case, tmp_path / "repo").root
    assert listed(root) == listed(root)


def test_a_row_has_what_the_file_and_the_defaults_of_the_overlay_say(history: History) -> None:
    history.overlay('kubernetes: "1.34"\ndefaults: {gpus: 2, timeout: 90m}\nnamespaces: {team: {queues: [research]}}\n')
    history.write("CODEOWNERS", "* @all\n/jobs/team/ @team @lead\n")
    history.job(f"{JOB}workers: 3\nqueue: research\nattempt: 2\nstate: finished\n")
    history.git("add", "-A")
    history.git("commit", "-qm", "Add")
    row = only(history)
    assert (row.overlay, row.namespace, row.job, row.kind) == ("dev", "team", "demo", "pytorch")
    assert (row.workers, row.gpus, row.queue, row.timeout) == (3, 6, "research", 5400)
    assert (row.state, row.attempt, row.owners) == ("finished", 2, ("@team", "@lead"))
    assert row.changed is not None
    assert (row.changed.author, row.changed.commit) == ("t", history.git("rev-parse", "HEAD"))


def test_a_job_that_no_overlay_selects_is_listed_without_one(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\nselect: {exclude: ["team/*"]}\n')
    repo.job(f"{JOB}gpus: 4\n")
    row = only(repo)
    assert (row.overlay, row.gpus) == (None, 4)
    assert listed(repo.root, overlay=("dev",))[0].rows == ()


def test_filters_select_rows(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n', name="other")
    repo.job(JOB, "a")
    repo.job(f"{JOB}state: suspended\n", "b")
    repo.job("kind: mpi\nimage: a:1\ncommand: train\n", "c", namespace="vision")
    names = {
        ("overlay", "other"): "a b c",
        ("state", "suspended"): "b b",
        ("kind", "mpi"): "c c",
        ("namespace", "vision"): "c c",
    }
    for (field, value), expected in names.items():
        assert " ".join(row.job for row in listed(repo.root, **{field: (value,)})[0].rows) == expected
    assert [row.job for row in listed(repo.root, "team/*", overlay=("dev",))[0].rows] == ["a", "b"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("kind", "pytroch", "unknown kind `pytroch`: did you mean `pytorch`?"),
        ("state", "activ", "unknown state `activ`: did you mean `active`?"),
        ("overlay", "dve", "did you mean `dev`?"),
        ("namespace", "taem", "unknown namespace `taem`: did you mean `team`?"),
    ],
)
def test_an_unknown_value_of_a_filter_is_refused(repo: Repository, field: str, value: str, message: str) -> None:
    repo.job(JOB)
    with pytest.raises(UsageError) as refused:
        listed(repo.root, **{field: (value,)})
    assert message in str(refused.value)


@for_each(
    ("text", "errors", "known"),
    [
        ("kind: [", "invalid-yaml", {}),
        ("kind: pytroch\n", "unknown-kind", {}),
        (f"{JOB}gpu: 8\nstate: finished\n", "unknown-field", {"kind": "pytorch", "state": "finished", "gpus": None}),
        (f"{JOB}gpus: many\nqueue: a\n", "invalid-value", {"kind": "pytorch", "queue": "a", "gpus": None}),
        (f"{JOB}timeout: soon\ngpus: 2\n", "invalid-value", {"timeout": None, "gpus": 2}),
        (f"{JOB}workers: '{{{{ params.n }}}}'\n", "invalid-expression", {"kind": "pytorch", "workers": None}),
        (f"{JOB}gpus: 0x10\n", "invalid-value", {"gpus": None}),
        (f"{JOB}gpus: +8\n", "invalid-value", {"gpus": None}),
    ],
)
def test_a_job_with_an_error_is_listed_with_what_is_known(
    repo: Repository, text: str, errors: str, known: dict[str, Any]
) -> None:
    repo.job(f"{JOB}gpus: 16\n", "a")
    repo.job(f"{JOB}gpus: 8\n", "b")
    repo.job(text, "demo")
    listing, code = listed(repo.root)
    row = next(row for row in listing.rows if row.job == "demo")
    assert code == 1
    assert row.errors == (errors,)
    assert {name: getattr(row, name) for name in known} == known
    assert [item.code for item in listing.findings] == [errors]
    assert listing.findings[0].place.file == "jobs/team/demo.yaml"
    assert listing.findings[0].hint


def test_a_field_that_only_keeps_pods_hides_no_number(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kind says which one it is, also a kind of a plugin."""
    kind = KINDS["pytorch"]

    class Lingering(kind):  # type: ignore[misc,valid-type] # one of the registry
        """A kind with a field of its own for pods that stay."""

        keeping: ClassVar[str] = "linger"
        linger: int = 0

    monkeypatch.setitem(KINDS, "pytorch", Lingering)
    for text in (f"{JOB}gpus: 2\nlinger: long\n", f"{JOB}gpus: 2\nlinger: long\nsweep: {{matrix: {{a: [1, 2]}}}}\n"):
        repo.job(text)
        (row,) = listed(repo.root)[0].rows
        assert (row.errors, row.gpus) == (("invalid-value",), 4 if "sweep" in text else 2)


def test_expressions_are_evaluated_with_the_parameters_of_each_overlay(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\nparams: {n: 4}\n', name="large")
    for name in ("a", "b"):
        repo.job(f'{JOB}params: {{n: {len(name)}}}\ngpus: "{{{{ params.n }}}}"\n', name)
    repo.job(f'{JOB}params: {{n: 3}}\ngpus: "{{{{ params.n }}}}"\n', "c")
    rows = {(row.overlay, row.job): row.gpus for row in listed(repo.root)[0].rows}
    assert rows == {(overlay, job): 4 if overlay == "large" else 3 if job == "c" else 1 for overlay, job in rows}


@pytest.mark.parametrize("gpus", ["2", "'{{ params.n }}'"])
def test_a_sweep_is_listed_with_the_sum_of_its_runs(repo: Repository, gpus: str) -> None:
    repo.job(f"{JOB}gpus: 2\n", "other")
    repo.job(f"{JOB}gpus: {gpus}\nsweep: {{matrix: {{n: [1, 2, 3]}}, exclude: [{{n: 1}}]}}\n")
    listing, code = listed(repo.root)
    row = next(row for row in listing.rows if row.job == "demo")
    assert (code, row.workers, row.gpus) == (0, 2, 4 if gpus == "2" else 5)
    repo.job(f"{JOB}gpus: {gpus}\nsweep: {{matrix: {{n: [1, 1]}}}}\n")
    row = next(row for row in listed(repo.root)[0].rows if row.job == "demo")
    assert (row.errors, row.kind, row.state, row.gpus) == (("invalid-sweep",), "pytorch", "active", None)


def test_jobs_that_differ_in_other_fields_are_validated_once(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    validated: list[str] = []

    def counted(source: Source, *given: Any) -> Any:
        validated.append(source.file)
        return read_job(source, *given)

    monkeypatch.setattr(numbers, "read_job", counted)
    for number in range(20):
        repo.job(f"{JOB}env: {{SEED: 0{number}, ON: yes}}\nworkers: {1 + number % 2}\n", f"job-{number}")
    assert len(listed(repo.root)[0].rows) == 20
    assert len(validated) == 2


def test_a_second_list_reads_what_changed(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counted(root: Path, file: str, found: Findings) -> Source | None:
        parsed.append(file.removeprefix("jobs/team/"))
        return read(root, file, found)

    def again(*patterns: str) -> tuple[list[str], dict[str, int | None]]:
        parsed.clear()
        rows = {row.job: row.gpus for row in listed(repo.root, *patterns)[0].rows}
        return [*parsed], rows

    monkeypatch.setattr(numbers, "read", counted)
    cache = cache_file("list", repo.root)
    assert cache is not None
    repo.job(f"{JOB}gpus: 2\n", "a")
    repo.job(f"{JOB}gpus: wrong\n", "b")
    repo.job(f"{JOB}gpus: 4\n", "c")
    assert again() == (["a.yaml", "b.yaml", "c.yaml"], {"a": 2, "b": None, "c": 4})
    assert again() == (["b.yaml"], {"a": 2, "b": None, "c": 4})
    path = repo.job(f"{JOB}gpus: 8\n", "a")
    assert again("team/c") == ([], {"c": 4})
    assert again("team/a") == (["a.yaml"], {"a": 8})
    assert again() == (["b.yaml"], {"a": 8, "b": None, "c": 4})
    path.unlink()
    path.symlink_to("c.yaml")
    assert again() == (["a.yaml", "b.yaml"], {"a": None, "b": None, "c": 4})
    path.unlink()
    repo.job(f"{JOB}gpus: 1\n", "b")
    assert again() == (["b.yaml"], {"b": 1, "c": 4})
    repo.overlay('kubernetes: "1.34"\nselect: {exclude: [team/b]}\n')
    assert [row.overlay for row in listed(repo.root)[0].rows] == [None, "dev"]
    assert again() == ([], {"b": 1, "c": 4})
    cache.write_bytes(cache.read_bytes().replace(b'"gpus":4', b'"gpus":9'))
    assert again() == (["b.yaml", "c.yaml"], {"b": 1, "c": 4})
    cache.write_bytes(cache.read_bytes()[:-9])
    assert again() == (["b.yaml", "c.yaml"], {"b": 1, "c": 4})
    assert "a.yaml" not in cache.read_text()


def test_a_link_is_not_followed(repo: Repository, tmp_path: Path) -> None:
    repo.job(JOB)
    secret = tmp_path / "secret.yaml"
    secret.write_text(f"{JOB}gpus: 5\n")
    (repo.root / "jobs/team/linked.yaml").symlink_to(secret)
    row = next(row for row in listed(repo.root)[0].rows if row.job == "linked")
    assert (row.kind, row.gpus, row.errors) == (None, None, ("not-a-file",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("roles: {1: {}}\n", 1),
        ("roles: {null: {}}\n", 0),
        ("workers: 1" + "0" * 40 + "\n", 1),
        ("roles:\n" + DEEP, 1),
    ],
    ids=["number", "null", "long", "deep"],
)
def test_content_without_a_form_in_json_is_read(repo: Repository, text: str, expected: int) -> None:
    repo.job(f"kind: jobset\nimage: a:1\ncommand: train\n{text}")
    listing, code = listed(repo.root)
    assert (code, len(listing.rows)) == (expected, 1)
    assert bool(listing.rows[0].errors) == bool(expected)


def test_metrics_of_a_pipeline_are_those_of_the_annotation(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    steps = (
        "steps:\n  first: {kind: batch}\n  second: {kind: pytorch, needs: [first], metrics: [loss, acc:PERCENTAGE]}\n"
    )
    repo.job(f"kind: pipeline\nimage: a:1\ncommand: train\nmetrics: [time]\n{steps}")
    listing, code = listed(repo.root, metrics=True)
    assert code == 0
    assert ("metrics", "time, second: loss, second: acc (percentage)") in used_columns(listing)
    (job,) = json.loads(LIST_REPORTERS["json"](View(data=listing)))["jobs"]
    assert job["metrics"] == json.loads(repo.one("Workflow")["metadata"]["annotations"]["gen/metrics"])
    assert [one.get("step") for one in job["metrics"]] == [None, "second", "second"]


def test_metrics_of_a_swept_pipeline(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    repo.job(
        "kind: pipeline\nimage: a:1\ncommand: train --lr {{ params.lr }}\nsweep: {matrix: {lr: [1, 2]}}\n"
        "steps:\n  only: {kind: batch, metrics: [loss]}\n"
    )
    assert {step: [one.name for one in metrics] for step, metrics in only(repo).step_metrics.items()} == {
        "only": ["loss"]
    }
