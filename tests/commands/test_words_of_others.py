"""`gen explain` knows the words of other tools, and the shell completes values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.commands.explain import Request, run
from gen.commands.list import _states
from gen.commands.set import complete_fields
from gen.commands.status import _phases
from tests.cases import for_each

if TYPE_CHECKING:
    import pytest

    from tests.support import Repository


@for_each(
    ("word", "expected"),
    [
        ("volumeMounts", "mount volumes of the overlay with `data: {<volume>: <path>}`"),
        ("limits", "set `gpus`, `cpu` and `memory` instead"),
        ("backoffLimit", "`backoffLimit` is `retries` in a job file:\n\njob.retries"),
        ("walltime", "`walltime` is `timeout` in a job file:\n\njob.timeout"),
        ("nodeSelector", "job.placement.nodeSelector"),
        ("ntasks", "set `workers`, the number of pods"),
    ],
)
def test_a_word_of_another_tool_is_explained(word: str, expected: str) -> None:
    assert expected in run(Request(name=word)).output


def test_values_are_completed(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    assert complete_fields("network=") == ["network=eni", "network=host"]
    assert complete_fields("network=h") == ["network=host"]
    assert complete_fields("data.") == ["data.data=", "data.nas=", "data.scratch="]
    assert complete_fields("clusters=") == ["clusters=dev"]
    assert complete_fields("queue=") == ["queue=research"]
    assert _states("su") == ["suspended"]
    assert _phases("su") == ["suspended", "succeeded"]
