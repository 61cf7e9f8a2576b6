"""Workflows of Argo: which templates run, the parts that only its controller has, and the end of a run."""

from __future__ import annotations

from typing import Any

from tests.importers.kfp.pipelines import program, workflow
from tests.importers.kfp.test_kfp import read


def single(*found: str, document: Any) -> dict[str, Any]:
    """The fields of the only job of a document, with these findings."""
    (job,), items = read(document)
    assert [one.message for one in items] == list(found)
    return job.fields


def test_a_default_that_is_written_out_does_not_count() -> None:
    single(document=workflow(program("dag", daemon=False), suspend=False))
