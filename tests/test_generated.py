"""Generated repositories are the same for each seed, of many kinds, and some have mistakes."""

from __future__ import annotations

import pytest
import yaml

from tests.contract.test_jobs import EVERY
from tests.generated import generated


def test_a_seed_always_gives_the_same_files() -> None:
    assert generated(7) == generated(7) != generated(8)


@pytest.mark.slow
def test_the_compared_seeds_have_every_kind_and_many_fields() -> None:
    from scripts.compare import GENERATED

    files = [
        (path, yaml.safe_load(text))
        for seed in range(GENERATED)
        for path, text in generated(seed).items()
        if path.endswith(("job-0.yaml", "job-1.yaml", "overlay.yaml"))
    ]
    jobs = [document for path, document in files if path.startswith("jobs/")]
    overlays = [document for path, document in files if path.startswith("overlays/dev/")]
    assert {job.get("kind") for job in jobs if isinstance(job.get("kind"), str)} >= {case.kind for case in EVERY}
    fields = {field for job in jobs for field in job}
    assert fields >= {"schedule", "sweep", "search", "steps", "data", "inputs", "tensorboard", "placement", "roles"}
    assert {field for overlay in overlays for field in overlay} >= {"patches", "gitops", "volumes", "queues", "kinds"}
