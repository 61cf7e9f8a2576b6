"""Values that the API server or an operator would refuse are refused in the job file."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each
from tests.regular_expressions import Search
from tests.support import PROJECT, Repository

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_JOBS = 'kubernetes: "1.34"\nselect: {include: [other/*]}\n'
JOB = "kind: {kind}\nimage: a:1\ncommand: x\n"


@for_each(
    "field",
    [
        "placement: {tolerations: [{operator: Exists, value: b}]}",
        "placement: {tolerations: [{}]}",
        "placement: {tolerations: [{value: b}]}",
        "placement: {tolerations: [{operator: Equal, value: b}]}",
        "placement: {tolerations: [{key: a, tolerationSeconds: 5}]}",
        "placement: {tolerations: [{key: a b}]}",
        "placement: {tolerations: [{key: a, value: x y}]}",
        "placement: {nodeSelector: {a b: c}}",
        "placement: {nodeSelector: {a: b c}}",
        "placement: {instanceType: a b}",
        "placement: {zone: [a, b c]}",
        "placement: {zone: []}",
        "placement: {gpuModel: Tesla V100}",
        "env: {A: {field: foo.bar}}",
        "env: {A: {field: metadata.labels}}",
        "env: {A: {field: 'metadata.labels[''x y'']'}}",
        "env: {A: {resource: limits.gpu}}",
        "env: {A: {secret: a, key: ''}}",
        "env: {A: {secret: a, key: b c}}",
        "env: {A: {secret: a, key: ..}}",
        "env: {A: {secret: A_B, key: c}}",
        "env: {A: {}}",
        "env: {A: {secret: a}}",
        "env: {A: {secret: a, key: b, field: status.podIP}}",
        "env: {A: {field: status.podIP, key: b}}",
        "env: {1A: b}",
        "env: {A=B: c}",
        "retries: 2147483648",
        "retries: -1",
        "retries: 1.5",
        "workers: 100001",
        "workers: 010",
        "workers: [1]",
        "workers: true",
        "attempt: 0",
        "memory: 1e30",
        "memory: 100Ei",
        "memory: 1048576.5",
        "memory: -1Gi",
        "cpu: 64Gi",
        "cpu: 10001",
        "cpu: 100u",
        "cpu: 0.0001",
        "cpu: {}",
        "timeout: 0",
        "workingDir: relative",
        "imagePullPolicy: always",
        "state: paused",
        "tensorboard: yes",
        "files: {relative: x}",
        "files: {/a/../b: x}",
        "files: {/a/: x}",
        "data: {data: {path: /x, subPath: ../y}}",
        "data: {data: {subPath: y}}",
        "code: {git: /local/path}",
        "code: {git: 'https://example.com/a.git', depth: -1}",
        "code: {git: 'https://example.com/a.git', name: a/b}",
        "args: [1]",
        "labels: {'/a': b}",
        "podAnnotations: {a b: c}",
        f"annotations: {{a: {'x' * 300_000}}}",
    ],
)
def test_a_field_of_any_kind(repo: Repository, field: str) -> None:
    repo.job(JOB.format(kind="pytorch") + f"{field}\n")
    report, code = repo.render()
    assert code == 1
    assert report.findings
    assert {finding.place.file for finding in report.findings} == {"jobs/team/demo.yaml"}


@for_each(
    ("kind", "field"),
    [
        ("batch", "masterPort: 65536"),
        ("batch", "podFailurePolicy: [{action: Ignore, condition: ''}]"),
        ("batch", "podFailurePolicy: [{action: Ignore, condition: a b}]"),
        ("batch", "podFailurePolicy: [{action: Ignore}]"),
        ("batch", "podFailurePolicy: [{action: FailJob, exitCodes: [0]}]"),
        ("batch", "podFailurePolicy: [{action: FailJob, exitCodes: [99999999999]}]"),
        ("batch", f"podFailurePolicy: [{{action: FailJob, exitCodes: {list(range(1, 258))}}}]"),
        ("batch", f"podFailurePolicy: {[{'action': 'Ignore', 'condition': 'A'}] * 21}".replace("'", "")),
        ("batch", "restart: Always"),
        ("pytorch", "nprocPerNode: many"),
        ("mpi", "slotsPerWorker: 0"),
        ("tensorflow", "roles: {chief: {replicas: 2}}"),
        ("tensorflow", "successPolicy: Any"),
    ],
)
def test_a_field_of_one_kind(repo: Repository, kind: str, field: str) -> None:
    repo.job(JOB.format(kind=kind) + f"{field}\n")
    assert repo.render()[1] == 1


@for_each(
    ("field", "expected"),
    [
        ("cpu: 0.5", "500m"),
        ("cpu: 1500m", "1500m"),
        ("cpu: '8'", "8"),
        ("memory: 1024Mi", "1Gi"),
        ("memory: 2e9", "2G"),
    ],
)
def test_quantities_are_rendered_in_the_form_of_the_api_server(repo: Repository, field: str, expected: str) -> None:
    repo.job(JOB.format(kind="pytorch") + f"{field}\n")
    container = repo.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"] == {field.partition(":")[0]: expected}


def test_an_empty_failure_policy_and_doubled_secrets_leave_nothing_behind(repo: Repository) -> None:
    repo.job(JOB.format(kind="batch") + "podFailurePolicy: []\nimagePullSecrets: [a, b, a]\n")
    spec = repo.one("Job")["spec"]
    assert "podFailurePolicy" not in spec
    assert spec["template"]["spec"]["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]


@pytest.mark.parametrize("field", ["image: 'a:{{ run.hash }}'", "imagePullSecrets: ['pull-{{ run.hash }}']"])
def test_a_hash_that_is_not_known_yet_is_judged_as_one(repo: Repository, field: str) -> None:
    repo.job(JOB.format(kind="pytorch").replace("image: a:1\n", "" if "image:" in field else "image: a:1\n") + field)
    report, code = repo.render()
    assert code == 0, report


def test_a_name_of_the_right_form_is_as_long_as_it_will_be(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + f"queue: '{'q' * 60}{{{{ run.hash }}}}'\n")
    assert repo.codes() == ["invalid-value"]


@for_each("name", ["3d", "Foo", "a_b", "null", "a" * 64, "'{{ job.name }}'", "a-"])
def test_a_name_is_checked_even_where_no_overlay_selects_the_job(repo: Repository, name: str) -> None:
    repo.overlay(WITHOUT_JOBS)
    repo.job(JOB.format(kind="pytorch") + f"name: {name}\n")
    (found,) = (f for f in repo.render()[0].findings if "selects" not in f.code and "selected" not in f.code)
    assert (found.place.line, found.place.column) == (4, 7)


def test_a_files_name_is_checked_as_early(repo: Repository) -> None:
    repo.overlay(WITHOUT_JOBS)
    repo.job(JOB.format(kind="pytorch"), name="Foo_bar")
    assert "invalid-name" in repo.codes()


LONG = (
    "image command workingDir memory timeout queue priority network name gpus restart kind env:{A labels:{a"
    " podLabels:{a data:{data code:{git code:{rsync tensorboard:{logdir placement:{zone"
)


UNITS = ("a", "-", "a-", "/.", "a@")
SIZE, MAX_STEPS = 100_000, 100
"""Characters of a value, and the steps that a search of a long text may take for each."""


def with_long_value(field: str, unit: str) -> str:
    lines = JOB.format(kind="pytorch").splitlines(keepends=True)
    others = "".join(line for line in lines if not line.startswith(f"{field}:"))
    value = unit * (SIZE // len(unit))
    return others + f"{field.replace(':', ': ')}: '{value}'" + "}\n" * ("{" in field) + "\n"


@pytest.mark.slow  # megabytes for each expression
def test_searches_of_long_values_are_linear(tmp_path: Path) -> None:
    jobs = [with_long_value(field, unit) for field in LONG.split() for unit in UNITS]
    (tmp_path / "jobs.json").write_text(json.dumps(jobs), "utf-8")
    command = [sys.executable, "-m", "tests.searched", str(tmp_path / "jobs.json")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    searches = [json.loads(line) for line in done.stdout.splitlines()]
    assert searches, "some values are searched for secrets"
    for pattern, flags, method, text in searches:
        Search(pattern, flags, text, MAX_STEPS * len(text)).run(method)
