"""The digest of a job covers every field that starts a new run, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen.base.findings import Findings
from gen.base.yaml.source import Source, source_of
from gen.base.yaml.strict import Data
from gen.render.emit import HEADER, NOT_PART_OF_RUN, Record, run_record
from gen.render.emit import header as first_line
from gen.render.pipeline import render_job
from tests.contract.fields import leaves, without
from tests.contract.test_jobs import EVERY, OVERLAY, Case, dump, read_overlay, source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark.structures import ParameterSet

    from gen.overlay.overlay import Overlay

JOB = "kind: pytorch\nimage: a:1\ncommand: x\n"


@pytest.fixture(scope="module")
def granted(tmp_path_factory: pytest.TempPathFactory) -> Overlay:
    return read_overlay(tmp_path_factory.mktemp("record") / "repository", OVERLAY)


def run_and_record(given: Source, overlay: Overlay) -> tuple[str, str] | None:
    """The identity of the run and its record; None if the job is refused."""
    found = Findings()
    rendered = render_job(given, "team", overlay, found).rendered
    if not rendered:
        return None
    workload = next(file for file in rendered[0].files if file.record)
    header = HEADER.match(workload.text or "")
    assert header is not None
    assert header["record"] == workload.record
    return workload.identity, workload.record


def fields_and_kinds() -> Iterator[ParameterSet]:
    """Each field with one kind, in turn; with all other kinds they are slow."""
    names = list(dict.fromkeys(case.said["name"] for case in EVERY))
    for number, name in enumerate(names):
        same = [case for case in EVERY if case.said["name"] == name]
        for case in same:
            marks = [] if case is same[number % len(same)] else [pytest.mark.slow]
            yield pytest.param(case, id=f"{case.kind}-{'-'.join(case.fields)}-{name}", marks=marks)


@pytest.mark.parametrize("case", list(fields_and_kinds()))
def test_a_value_that_starts_a_new_run_changes_the_record(case: Case, granted: Overlay) -> None:
    with_it = run_and_record(source(dump(case.document)), granted)
    for route in leaves(dict(case.fields)):
        without_it = run_and_record(source(dump(without(case.document, route))), granted)
        if with_it is None or without_it is None:
            continue
        if route[0] in NOT_PART_OF_RUN:
            assert route == ("name",) or with_it[0] == without_it[0], route
        if with_it[0] != without_it[0]:
            assert with_it[1] != without_it[1], route


@pytest.mark.parametrize(
    "more", ["state: suspended\n", "labels: {a: b}\n", "annotations: {a: b}\n", "metrics: [{name: loss}]\n", "# note\n"]
)
def test_what_never_starts_a_run_does_not_change_the_record(more: str) -> None:
    assert digest(JOB + more) == digest(JOB)


def digest(text: str, run: str = "demo") -> str:
    given = source_of(text.encode(), "jobs/team/demo.yaml", Findings())
    assert given is not None
    return run_record(run, given.data, None).job


def test_order_counts_for_variables_only() -> None:
    one, other = "env: {A: '1', B: '2'}\n", "env: {B: '2', A: '1'}\n"
    assert digest(JOB + one) != digest(JOB + other)
    roles = "kind: tensorflow\nroles: {{ps: {{{}}}}}\n"
    assert digest(roles.format(one.strip())) != digest(roles.format(other.strip()))
    assert digest(JOB + "data: {a: /a, b: /b}\n") == digest(JOB + "data: {b: /b, a: /a}\n")
    assert digest("image: a:1\ncommand: x\nkind: pytorch\n") == digest(JOB)


def test_a_moved_file_with_the_same_name_keeps_its_record() -> None:
    assert digest(JOB + "name: demo\n") == digest(JOB)
    assert digest(JOB, "other") != digest(JOB)


def test_the_digest_is_the_same_for_ever() -> None:
    """Another digest would render every run of every repository again."""
    text = JOB + "workers: 2\nenv: {A: '1', B: {secret: s, key: k}}\nresources: [{a: b}]\n"
    assert digest(text) == "7d0b073f24a2873813b4d6650ff3011c"


@given(
    st.recursive(
        st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    )
)
def test_different_values_have_different_digests(value: Data) -> None:
    one = run_record("a", {"args": value}, None)
    assert one != run_record("a", {"args": [value]}, None)
    assert one == run_record("a", {"args": value, "state": value}, None)


@pytest.mark.parametrize("restarted_for", [None, "", "CVE-2026-1234"])
def test_a_record_is_read_from_a_first_line(restarted_for: str | None) -> None:
    record = run_record("demo", {}, restarted_for)
    header = HEADER.match(first_line("jobs/team/demo.yaml", "0" * 64, str(record)))
    assert header is not None
    assert Record.parse(header["record"]) == record
    assert Record.parse(None) is None


def test_a_run_is_kept_for_the_same_job_and_restart() -> None:
    before, after = (run_record("demo", {}, text) for text in ("a", "b"))
    assert before.keeps(before, "active")
    assert not after.keeps(before, "active")
    assert not after.keeps(before, "suspended")
    assert after.keeps(before, "finished")
    assert not run_record("demo", {"image": "b"}, "a").keeps(before, "finished")
