"""The runs of a sweep go through all stages, next to each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import Diagnostic, Location
from gen.render.expand import merge_findings
from gen.report.findings.text import text
from tests.commands.changes import change, codes
from tests.support import OVERLAY, Repository
from tests.work import is_linear, lines_run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

JOB = """\
kind: pytorch
image: registry.example.com/train:1
command: [torchrun, train.py, "{{ params.rate }}", "{{ run.id }}"]
gpus: 2
memory: 1Gi
timeout: 1h
data: {nas: /data}
sweep: {matrix: {rate: [high, low]}}
"""


@pytest.fixture
def swept(repo: Repository) -> Repository:
    """A repository with a sweep of two runs."""
    repo.job(JOB)
    return repo


def sweep_of(values: str) -> str:
    return JOB.replace("high, low", values)


def runs(repo: Repository) -> dict[str, str]:
    """Values of each run, as JSON, and its name."""
    bodies = [body for body in repo.objects() if body["kind"] == "PyTorchJob"]
    return {body["metadata"]["annotations"]["gen/values"]: body["metadata"]["name"] for body in bodies}


def arguments(body: Mapping[str, Any]) -> list[str]:
    command: list[str] = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["command"]
    return command[2:]


def test_both_runs_are_rendered_into_the_folder_of_the_job(swept: Repository) -> None:
    for body in (body for body in swept.objects() if body["kind"] == "PyTorchJob"):
        assert body["metadata"]["labels"]["gen/job"] == "demo"
        rate = json.loads(body["metadata"]["annotations"]["gen/values"])["rate"]
        name = body["metadata"]["name"]
        assert name.startswith(f"demo-rate-{rate}-")
        assert arguments(body) == [rate, name]
    assert {path for path in swept.rendered() if "/jobs/" in path} == {
        "dev/jobs/team/demo/pytorchjob-demo-rate-high.yaml",
        "dev/jobs/team/demo/pytorchjob-demo-rate-low.yaml",
    }


def test_each_run_has_its_own_hash(swept: Repository) -> None:
    assert len({name[-8:] for name in runs(swept).values()}) == 2


def test_storage_that_both_runs_use_is_rendered_once(swept: Repository) -> None:
    kinds = [body["kind"] for body in swept.objects()]
    assert [kinds.count(kind) for kind in ("PersistentVolume", "PersistentVolumeClaim")] == [1, 1]


def test_a_value_in_the_middle_adds_one_run_and_changes_no_other(repo: Repository) -> None:
    repo.job(sweep_of("0.1, 0.01"))
    before = (runs(repo), repo.rendered())
    repo.job(sweep_of("0.1, 0.05, 0.01"))
    report, _ = repo.render()
    assert [change.path for change in report.changes] == ["rendered/dev/jobs/team/demo/pytorchjob-demo-rate-0p05.yaml"]
    assert before[0].items() < runs(repo).items()
    assert before[1].items() < repo.rendered().items()


def test_the_order_of_keys_values_and_entries_changes_nothing(repo: Repository) -> None:
    command = 'command: [python, "{{ params.a }}", "{{ params.b }}", "{{ params.c }}", "{{ run.id }}"]\n'
    job = f"kind: pytorch\nimage: a:1\nmemory: 1Gi\n{command}params: {{c: 0}}\nsweep:\n"
    repo.job(
        job + "  matrix: {a: [1, 2], b: [x, y]}\n  include: [{a: 1, c: 5}, {a: 3, b: z}]\n  exclude: [{a: 2, b: x}]"
    )
    first = (runs(repo), repo.rendered())
    repo.job(
        job + "  exclude: [{b: x, a: 2}]\n  include: [{b: z, a: 3}, {c: 5, a: 1}]\n  matrix: {b: [y, x], a: [2, 1]}"
    )
    assert (runs(repo), repo.rendered()) == first
    assert sorted(map(json.loads, first[0]), key=str) == [
        {"a": "1", "b": "x", "c": "5"},
        {"a": "1", "b": "y", "c": "5"},
        {"a": "2", "b": "y"},
        {"a": "3", "b": "z"},
    ]


def test_a_run_of_the_sweep_is_kept_when_the_platform_changes(swept: Repository) -> None:
    before = runs(swept)
    swept.overlay(OVERLAY + "defaults: {env: {A: b}}\n")
    assert runs(swept) == before
    swept.job(sweep_of("high, low, middle"))
    after = runs(swept)
    assert before.items() < after.items()
    swept.render("team/demo", restart=True)
    assert before.keys() < runs(swept).keys()
    assert not before.items() & runs(swept).items()


def test_the_state_and_the_attempt_of_one_combination(swept: Repository) -> None:
    before = runs(swept)
    swept.job(JOB.replace("low]}", "low]}, overrides: [{when: {rate: low}, state: finished}]"))
    assert runs(swept) == before
    states = {body["metadata"]["name"]: body["metadata"]["annotations"] for body in swept.objects() if "spec" in body}
    assert [
        "argocd.argoproj.io/hook" in states[name] for name in (before['{"rate":"high"}'], before['{"rate":"low"}'])
    ] == [False, True]
    swept.job(JOB.replace("low]}", "low]}, overrides: [{when: {rate: low}, attempt: 2}]"))
    after = runs(swept)
    assert after['{"rate":"high"}'] == before['{"rate":"high"}']
    assert after['{"rate":"low"}'] != before['{"rate":"low"}']


def test_a_sweep_has_one_tensorboard_for_all_runs(swept: Repository) -> None:
    swept.job(JOB + 'tensorboard: {logdir: "/data/{{ run.id }}"}\n')
    boards = [body for body in swept.objects() if body["kind"] in ("Deployment", "Service")]
    assert [body["metadata"]["name"] for body in boards] == ["demo-tensorboard"] * 2
    assert boards[0]["spec"]["selector"]["matchLabels"]["gen/job"] == "demo"
    before = swept.rendered()
    swept.job(sweep_of("low") + 'tensorboard: {logdir: "/data/{{ run.id }}"}\n')
    swept.render()
    name = "dev/jobs/team/demo/deployment-demo-tensorboard.yaml"
    assert swept.rendered()[name] == before[name], "the board does not depend on the runs"


def test_a_finding_of_the_job_is_reported_once(swept: Repository) -> None:
    swept.job(JOB.replace("train:1", "train"))
    assert swept.codes() == ["mutable-image"]
    swept.job(JOB.replace("nas:", "nsa:"))
    assert swept.codes() == ["unknown-volume"]


def test_a_finding_of_some_runs_names_their_values(swept: Repository) -> None:
    swept.job(JOB.replace("gpus: 2", 'gpus: "{{ params.rate }}"').replace("high, low", "1, two, 3, four"))
    (finding,) = swept.render()[0].findings
    assert finding.message == "`gpus`: expected an integer, got `four` (for rate=four and 1 other run)"


def test_a_finding_of_a_patch_is_reported_once(swept: Repository) -> None:
    swept.overlay(OVERLAY + "patches:\n- target: {kind: PyTorchJob}\n  patch: {spec: {wrong: 1}}\n")
    assert swept.codes() == ["undefined-field"]


def test_a_patch_may_match_only_one_of_the_runs(swept: Repository) -> None:
    patch = "patches:\n- target: {name: demo-rate-low}\n  patch: {metadata: {annotations: {example.com/a: b}}}\n"
    swept.overlay(OVERLAY + patch)
    annotated = [body for body in swept.objects() if "example.com/a" in body["metadata"].get("annotations", {})]
    assert [body["metadata"]["annotations"]["gen/values"] for body in annotated] == ['{"rate":"low"}']


@pytest.mark.parametrize(("quota", "codes"), [(4, []), (3, ["over-quota"])])
def test_the_gpus_of_all_runs_count(swept: Repository, quota: int, codes: list[str]) -> None:
    swept.overlay(OVERLAY.replace("allow:", f"gpus: {quota}\n    allow:"))
    assert swept.codes() == codes


@pytest.mark.parametrize("name", ["demo-rate-low", "other"])
def test_another_job_cannot_have_the_name_of_a_run_or_of_the_sweep(swept: Repository, name: str) -> None:
    other = JOB.partition("sweep")[0].replace("{{ params.rate }}", "low")
    swept.job(other + ("name: demo\n" if name == "other" else ""), name=name)
    (duplicate,) = [finding for finding in swept.render()[0].findings if finding.code == "duplicate-job"]
    clash = "demo" if name == "other" else name
    assert duplicate.message == f"duplicate job name `{clash}` in namespace `team`"


def test_no_run_is_rendered_if_one_has_an_error(swept: Repository) -> None:
    swept.job(JOB.replace("gpus: 2", 'gpus: "{{ params.rate }}"').replace("high, low", "1, two"))
    assert swept.codes() == ["invalid-value"]
    assert not (swept.root / "rendered").exists()


def test_other_mistakes_are_reported_with_those_of_the_sweep(swept: Repository) -> None:
    swept.job(JOB.replace("high, low", "low, low").replace("nas:", "nsa:"))
    assert sorted(swept.codes()) == ["invalid-sweep", "unknown-volume"]


def test_runs_that_overwrite_each_other_are_reported(swept: Repository) -> None:
    swept.job(JOB.replace(', "{{ run.id }}"', ""))
    assert swept.codes() == ["shared-output"]
    swept.job(JOB.replace(', "{{ run.id }}"', "").replace("{nas: /data}", "{nas: {path: /data, readOnly: true}}"))
    assert swept.codes() == []
    swept.job(JOB.replace(', "{{ run.id }}"', "") + "checkpoints: /data/checkpoints\n")
    assert swept.codes() == [], "each run has a folder in which it saves"


def test_the_cache_keeps_all_runs(swept: Repository) -> None:
    cache = swept.root / "cache"
    swept.job(JOB.replace("train:1", "train"))
    swept.job(JOB, name="other")
    first = swept.render(cache=cache)[0]
    again = swept.render(cache=cache)[0]
    assert again.summary == first.summary.replace("wrote 6, removed 0, 0 unchanged", "wrote 0, removed 0, 6 unchanged")
    assert text(swept.check(cache=cache)[0]) == text(swept.check()[0])
    swept.job(JOB.replace("gpus: 2", "gpus: 4"), name="other")
    changed = [change.path.rpartition("/")[2] for change in swept.render(cache=cache)[0].changes]
    assert changed == ["pytorchjob-other-rate-high.yaml", "pytorchjob-other-rate-low.yaml"]


def test_rendering_one_job_removes_runs_that_it_no_longer_has(swept: Repository) -> None:
    swept.render()
    swept.job(sweep_of("high"))
    assert swept.render("team/demo")[1] == 0
    assert [path for path in swept.rendered() if "/jobs/" in path] == [
        "dev/jobs/team/demo/pytorchjob-demo-rate-high.yaml"
    ]


def test_gen_set_counts_the_gpus_of_all_runs(swept: Repository) -> None:
    swept.overlay(OVERLAY.replace("allow:", "gpus: 6\n    allow:"))
    assert codes(change(swept, "team/demo", "gpus=4")[0]) == ["over-quota"]
    assert codes(change(swept, "team/demo", "gpus=3")[0]) == []


def test_names_without_a_hash_differ_by_their_values(swept: Repository) -> None:
    swept.overlay(OVERLAY + "runs: {naming: stable}\n")
    assert set(runs(swept).values()) == {"demo-rate-high", "demo-rate-low"}


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.slow
def test_the_work_is_linear_in_the_runs(tmp_path: Path, *, kept: bool) -> None:
    def work(size: int) -> int:
        repo = Repository.at(tmp_path / f"{size}-{kept}")
        repo.job(sweep_of(", ".join(map(str, range(size)))))
        if kept:
            repo.render()
            repo.overlay(OVERLAY + "defaults: {env: {NEW: a}}\n")
        return lines_run(repo.render)

    assert work(2)  # imports
    assert is_linear(work, 16)


def test_later_runs_add_findings_only_at_new_places_or_with_new_codes() -> None:
    here, there = Location("jobs/a.yaml", 1), Location("jobs/a.yaml", 2)
    first = [Diagnostic(here, "x", "one"), Diagnostic(here, "x", "two")]
    second = [Diagnostic(here, "x", "three"), Diagnostic(here, "y", "four"), Diagnostic(there, "x", "five")]
    assert [finding.message for finding in merge_findings([first, second])] == ["one", "two", "four", "five"]


RUNS = "sweep: {matrix: {a: [" + ", ".join(map(str, range(16))) + "], b: [" + ", ".join(map(str, range(16))) + "]}}\n"
STEPS = "".join(f"  s{number}: {{kind: batch, command: a}}\n" for number in range(60))
ROLES = "".join(f"  r{number}: {{replicas: 1}}\n" for number in range(100))
IMAGE = "image: registry.example.com/train:1\n"
USED = "command: python train.py {{ params.a }} {{ params.b }}\n"
LARGE = {
    "variables": (
        f"kind: batch\n{IMAGE}{USED}{RUNS}env:\n" + "".join(f"  V{number}: x\n" for number in range(6000)),
        "4:1: the job has 6006 values in 256 runs, together 1537536; the maximum is 64000",
    ),
    "script": (
        f"kind: batch\n{IMAGE}{USED}{RUNS}files: {{/s/train.py: {'x' * 14_000}}}\n",
        "4:1: the job has 14089 characters in 256 runs, together 3606784; the maximum is 3145728",
    ),
    "text": (
        f"kind: batch\n{IMAGE}{USED}{RUNS}env: {{A: {'x' * 90_000}}}\n",
        "4:1: the job has 90079 characters in 256 runs, together 23060224; the maximum is 3145728",
    ),
    "steps": (
        f"kind: pipeline\n{IMAGE}env:\n" + "".join(f"  V{n}: x\n" for n in range(3000)) + f"steps:\n{STEPS}",
        "1:1: the job has 3186 values in 60 roles or steps, together 181622; the maximum is 64000",
    ),
    "roles": (
        f"kind: jobset\n{IMAGE}{USED}{RUNS}env: {{A: b, C: d}}\nroles:\n{ROLES}",
        "4:1: the job has 209 values in 256 runs with 100 roles or steps, together 742912; the maximum is 64000",
    ),
}


@pytest.mark.parametrize("case", LARGE)
def test_the_product_of_runs_and_values_is_limited(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    text, expected = LARGE[case]

    def expands(*_: object) -> None:
        raise AssertionError("a job above the limit takes no other stage")

    monkeypatch.setattr("gen.render.expand.expand", expands)
    repo.overlay(OVERLAY)
    repo.job(text)
    found = [one for one in repo.render()[0].findings if one.code == "too-large"]
    assert [f"{one.place.line}:{one.place.column}: {one.message}" for one in found] == [expected]
    largest = {"variables": "env", "text": "env", "script": "files", "steps": "env", "roles": "roles"}
    assert f"as in `{largest[case]}`" in found[0].hint


def test_the_text_that_expressions_insert_in_all_runs_is_limited(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    inserted = "{{ params.x }}" * 40
    repo.job(f"kind: batch\n{IMAGE}{USED}{RUNS}params: {{x: {'y' * 1000}}}\nenv: {{A: '{inserted}'}}\n")
    (finding,) = [one for one in repo.render()[0].findings if one.code == "invalid-expression"]
    assert finding.message == "the expressions of a run insert more than 32768 characters"


def test_the_text_of_a_repository_is_limited(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.overlay(OVERLAY)
    repo.job(f"kind: batch\n{IMAGE}command: python train.py\n", "small")
    repo.job(f"kind: batch\n{IMAGE}command: python train.py {'x' * 5000}\n", "large")
    assert repo.render()[1] == 0
    monkeypatch.setattr("gen.render.run.MAX_CHARACTERS", 5000)
    (finding,) = [one for one in repo.render()[0].findings if one.is_error]
    assert (finding.code, finding.place.file) == ("too-large", "jobs/team/large.yaml")
    assert finding.message.endswith("of them from this file; the maximum is 5000")


@pytest.mark.slow
def test_the_work_for_errors_does_not_grow_with_the_runs(repo: Repository) -> None:
    """Each of 256 runs has 100 errors, which are the same."""
    repo.overlay(OVERLAY)
    wrong = "".join(f"  V{number}: '{{{{ params.b }}}}{{{{ run.nmae }}}}'\n" for number in range(200))
    job = f"kind: batch\n{IMAGE}{USED}{{runs}}env:\n{wrong}"
    repo.job(job.replace("{runs}", RUNS))
    many = lines_run(repo.render, "jinja2")
    repo.job(job.replace("{runs}", "sweep: {matrix: {a: [1, 2], b: [1, 2, 3, 4]}}\n"))
    assert many < 2 * lines_run(repo.render, "jinja2")
