"""Pods that outlast their run are refused where another run starts after it; `tests/errors` has the messages."""

from __future__ import annotations

import yaml

from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.support import OVERLAY, Repository

OUTLASTING = [
    *((name, {"cleanup": "None"}) for name, kind in KINDS.items() if kind.facts.cleanup is not None),
    ("ray", {"keepCluster": "10d"}),
]
AFTER = {"kind": "batch", "image": "a:1", "command": "x"}


def pipeline(first: dict[str, object], **second: object) -> str:
    return yaml.safe_dump({"kind": "pipeline", "steps": {"first": first, "second": {**AFTER, **second}}})


@for_each(("kind", "fields"), OUTLASTING)
def test_pods_that_outlast_a_step_are_refused_if_another_step_follows(
    kind: str, fields: dict[str, str], repo: Repository
) -> None:
    step = {**KINDS[kind].example, "kind": kind}
    repo.job(pipeline(step, needs=["first"]))
    assert "invalid-value" not in repo.codes()
    repo.job(pipeline({**step, **fields}, needs=["first"]))
    assert "invalid-value" in repo.codes()


@for_each(("kind", "fields"), OUTLASTING)
def test_pods_that_outlast_the_last_steps_count_with_all_others(
    kind: str, fields: dict[str, str], repo: Repository
) -> None:
    repo.job(pipeline({**KINDS[kind].example, "kind": kind, **fields}))
    assert "invalid-value" not in repo.codes()


@for_each(("kind", "fields"), OUTLASTING)
def test_pods_that_outlast_a_run_are_refused_in_schedules(kind: str, fields: dict[str, str], repo: Repository) -> None:
    job = {**KINDS[kind].example, "kind": kind, "schedule": "*/10 * * * *", "timeout": "5m"}
    repo.job(yaml.safe_dump(job))
    assert "invalid-value" not in repo.codes()
    repo.job(yaml.safe_dump({**job, **fields}))
    assert "invalid-value" in repo.codes()


def test_pods_that_outlast_a_trial_are_refused(repo: Repository) -> None:
    repo.overlay(OVERLAY.replace("allow:", "search: {maxTrials: 9}\n    allow:"))
    search = {"maximize": "a", "params": {"lr": [1, 2]}, "maxTrials": 2}
    job = {**AFTER, "kind": "pytorch", "command": "x {{ params.lr }}", "metrics": ["a"], "search": search}
    repo.job(yaml.safe_dump(job))
    assert "invalid-value" not in repo.codes()
    repo.job(yaml.safe_dump({**job, "cleanup": "None"}))
    assert "invalid-value" in repo.codes()
