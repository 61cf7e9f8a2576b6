"""Limits of the roles that people name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from gen.job.pods import MAX_ROLES

if TYPE_CHECKING:
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
