"""Combinations of a sweep: the product of a matrix, and its exceptions."""

from __future__ import annotations

import pytest

from gen.base.findings import Findings
from gen.base.yaml.source import source_of
from gen.job.search import Sweep
from gen.render.job_run import WrittenJob
from gen.render.model import read_job
from gen.render.sweep import combinations


@pytest.fixture
def written() -> WrittenJob:
    source = source_of(b"kind: batch\nsweep: {}\n", "jobs/team/demo.yaml", Findings())
    assert source is not None
    job = read_job(source, "team", None, Findings())
    assert job is not None
    return job


def known(written: WrittenJob, **fields: object) -> list[dict[str, str]]:
    found = Findings()
    every = combinations(Sweep.model_validate(fields), written, 256, found)
    assert found.items == []
    return [dict(one.values) for one in every]


def test_the_product_of_the_lists(written: WrittenJob) -> None:
    assert known(written, matrix={"a": ["1", "2"], "b": ["x"]}) == [{"a": "1", "b": "x"}, {"a": "2", "b": "x"}]


def test_an_entry_without_a_parameter_of_the_matrix_extends_every_combination(written: WrittenJob) -> None:
    assert known(written, matrix={"a": ["1", "2"]}, include=[{"c": "y"}]) == [
        {"a": "1", "c": "y"},
        {"a": "2", "c": "y"},
    ]


def test_a_later_entry_replaces_values_of_earlier_ones_but_extends_no_combination_of_theirs(
    written: WrittenJob,
) -> None:
    include = [{"c": "y"}, {"a": "2", "c": "z"}, {"a": "3"}, {"a": "3", "c": "w"}]
    assert known(written, matrix={"a": ["1", "2"]}, include=include) == [
        {"a": "1", "c": "y"},
        {"a": "2", "c": "z"},
        {"a": "3"},
        {"a": "3", "c": "w"},
    ]


def test_an_excluded_combination_can_be_included_with_another_value(written: WrittenJob) -> None:
    fields = {"matrix": {"a": ["1", "2"]}, "exclude": [{"a": "2"}], "include": [{"a": "2", "c": "y"}]}
    assert known(written, **fields) == [{"a": "1"}, {"a": "2", "c": "y"}]


def test_a_sweep_of_listed_combinations_only(written: WrittenJob) -> None:
    assert known(written, include=[{"b": "1"}, {"a": "2"}]) == [{"a": "2"}, {"b": "1"}]


def test_of_several_overrides_the_last_one_applies(written: WrittenJob) -> None:
    overrides = [{"when": {"a": "1"}, "state": "finished", "attempt": 2}, {"when": {"a": "1"}, "attempt": 3}]
    sweep = Sweep.model_validate({"matrix": {"a": ["1", "2"]}, "overrides": overrides})
    first, second = combinations(sweep, written, 256, Findings())
    assert (first.fields, second.fields) == ({"state": "finished", "attempt": "3"}, {})
    assert first.routes["attempt"] == ("sweep", "overrides", 1, "attempt")
