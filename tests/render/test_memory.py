"""Memory of a run: the garbage collector is off, so nothing that a job leaves behind may refer to itself."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import cases, copy_case

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def garbage() -> Iterator[list[Any]]:
    """Objects that only the collector frees, after its next run, which looks at newer objects only."""
    gc.disable()
    gc.freeze()
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield gc.garbage
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


def of_gen(objects: list[Any]) -> set[str]:
    """Names of the types of gen with instances among the objects; classes do not count."""
    types = {type(one) for one in objects}
    return {f"{kind.__module__}.{kind.__qualname__}" for kind in types if kind.__module__.startswith("gen.")}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] * (index % 6 > 0)) for index, case in enumerate(cases("golden"))],
    ids=lambda case: case.name,
)
def test_a_job_leaves_no_circles(case: Path, tmp_path: Path, garbage: list[Any]) -> None:
    repo = copy_case(case, tmp_path / "repo")
    assert repo.render()[1] == 0
    gc.collect()
    assert of_gen(garbage) == set()


def test_circles_are_found(garbage: list[Any]) -> None:
    from gen.base.findings import Findings

    found = Findings()
    found.items.append(found)  # type: ignore[arg-type] # a circle
    del found
    gc.collect()
    assert of_gen(garbage) == {"gen.base.findings.Findings"}
