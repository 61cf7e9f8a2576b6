"""Limits of the roles that people name, and the output of their containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from gen.base.routes import follow
from gen.job.kinds import KINDS
from gen.job.pods import MAX_ROLES
from gen.kubernetes.facts.pods import pods_by_shape
from gen.render.parts.containers import UNBUFFERED
from tests.support import OVERLAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support import Repository


@pytest.mark.parametrize("kind", ["jobset", "ray", "volcano"])
def test_the_number_of_roles_is_limited(repo: Repository, kind: str) -> None:
    """A file of 40 KB took more than a gigabyte: with `spread`, each role names all others."""
    fields = {"kind": kind, "image": "a:1", "command": "a", "placement": {"spread": "node"}}
    roles = {f"r{number}": {"cpu": 1} for number in range(MAX_ROLES + 1)}
    path = repo.job(yaml.safe_dump({**fields, "roles": roles}))
    assert ("invalid-value", f"at most {MAX_ROLES} entries") in {
        (one.code, one.message.partition("expected ")[2].partition(",")[0]) for one in repo.render()[0].findings
    }
    path.write_text(yaml.safe_dump({**fields, "roles": dict(list(roles.items())[:MAX_ROLES])}))
    assert "invalid-value" not in repo.codes()


TRAINING = [kind for kind in KINDS if kind != "pipeline"]


@pytest.mark.parametrize("kind", TRAINING)
def test_logs_have_the_output_of_python_at_once(repo: Repository, kind: str) -> None:
    """Python keeps up to 8 KiB of it otherwise. The operators of some kinds set the variable themselves."""
    repo.overlay(OVERLAY + "operators: {mpi: kubeflow.org/v2beta1}\n")
    values = [value for job in ("", "env: {PYTHONUNBUFFERED: ''}\n") for value in unbuffered(repo, kind, job)]
    if UNBUFFERED in KINDS[kind].fixed_env:
        assert values == []
    else:
        assert set(values) == {"1", ""}


def unbuffered(repo: Repository, kind: str, fields: str) -> Iterator[object]:
    """Values of the variable in the containers of a job."""
    if fields and UNBUFFERED in KINDS[kind].fixed_env:
        return
    repo.job(f"kind: {kind}\nimage: a:1\ncommand: x\nworkers: 2\n{fields}")
    (run,) = [body for body in repo.objects() if body["kind"] == KINDS[kind].facts.kind]
    containers = [one for route in pods_by_shape(run) for one in follow(run, (*route, "containers"))]
    containers += [run["spec"]["trainer"]] if kind == "train" else []
    yield from (one["value"] for each in containers for one in each.get("env", []) if one["name"] == UNBUFFERED)
