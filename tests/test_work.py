"""The counters of work count as expected, so that tests can rely on these."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen.kubernetes.objects import identity_of
from tests.regular_expressions import Search, TooManyStepsError
from tests.work import is_linear, lines_run

PATTERNS = (
    r"a+b",
    r"(?:a|b)*c",
    r"(?<!a)b{1,3}?a",
    r"(?i:A)[^b\d]?$",
    r"(?=a)\w+\b",
    r"(?>a+|b)c?",
    r"a*+b",
    r"^(a|ab)(c|bcd)*",
)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("abcdA ", max_size=12))
def test_a_search_finds_the_matches_of_re(pattern: str, text: str) -> None:
    compiled = re.compile(pattern)
    for method in ("search", "match", "fullmatch"):
        match = getattr(compiled, method)(text)
        found = Search(pattern, compiled.flags, text, 10_000).run(method)
        assert found == ([match.span()] if match else []), method


@pytest.mark.slow
def test_a_search_that_takes_too_many_steps_ends() -> None:
    text = "a" * 1000
    assert Search("a+b", 0, text, 2_000_000).run("search") == []
    with pytest.raises(TooManyStepsError):
        Search("a+b", 0, text, 100_000).run("search")
    assert Search("(?<!a)a+b", 0, text, 10_000).run("search") == []


def test_executed_lines_are_counted() -> None:
    once = lines_run(lambda: identity_of({"kind": "Pod"}))
    assert once > 1
    assert lines_run(lambda: [identity_of({"kind": "Pod"}) for _ in range(10)]) == 10 * once
    assert is_linear(lambda size: lines_run(lambda: [identity_of({"kind": "Pod"}) for _ in range(size)]), 5)
    assert not is_linear(lambda size: lines_run(lambda: [identity_of({"kind": "Pod"}) for _ in range(size**2)]), 5)
