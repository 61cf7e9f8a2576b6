"""`retries` as `backoffLimit` of each kind. `tests/controllers` compares it with real controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

OVERLAY = 'kubernetes: "1.34"\nnamespaces: {"*": {}}\noperators: {mpi: kubeflow.org/%s}\n'


@for_each(
    ("job", "mpi", "limit"),
    [
        ("kind: batch\nworkers: 3\nretries: 2\n", "v1", 6),
        ("kind: batch\nworkers: 3\nretries: 2\nrestart: OnFailure\n", "v1", 7),
        ("kind: batch\nworkers: 3\nretries: 0\nrestart: OnFailure\n", "v1", 0),
        ("kind: batch\nworkers: 3\n", "v1", 0),
        ("kind: pytorch\nworkers: 3\nretries: 2\n", "v1", 7),
        ("kind: pytorch\nworkers: 3\nretries: 0\n", "v1", 0),
        ("kind: pytorch\nworkers: 3\n", "v1", None),
        ("kind: tensorflow\nworkers: 2\nroles: {ps: {}}\nretries: 2\n", "v1", 7),
        ("kind: mpi\nworkers: 2\nretries: 2\n", "v1", 7),
        ("kind: mpi\nworkers: 2\nretries: 2\n", "v2beta1", 3),
        ("kind: mpi\nworkers: 2\nretries: 0\n", "v2beta1", 0),
        ("kind: mpi\nworkers: 2\nretries: 2\nrestart: Never\n", "v2beta1", 2),
        ("kind: mpi\nworkers: 2\n", "v2beta1", None),
    ],
)
def test_retries_are_restarts_of_all_pods(repo: Repository, job: str, mpi: str, limit: int | None) -> None:
    repo.overlay(OVERLAY % mpi)
    repo.job(f"image: a:1\ncommand: x\n{job}")
    (run,) = [body for body in repo.objects() if body["kind"] != "Service"]
    assert run["spec"].get("runPolicy", run["spec"]).get("backoffLimit") == limit
