"""Forms of secrets in texts."""

from __future__ import annotations

import pytest

from gen.kubernetes.secrets import forms_in, known_form
from tests.cases import for_each


@for_each("before", ["", "\n", "\t", "\x1b", '"', "\\", "é", "a: "])
def test_a_secret_is_found_behind_anything(before: str) -> None:
    """The texts are searched as JSON first, and JSON escapes some characters with letters."""
    token = "ghp_" + "a1B2" * 9
    assert known_form(before + token, forms_in({"a": before + token})) == "a GitHub token"
    assert forms_in({"a": f"x{token}"}) == []


@pytest.mark.parametrize("before", range((1 << 16) - 50, (1 << 16) + 5, 5))
def test_a_large_text_is_searched_in_parts_that_overlap(before: int) -> None:
    token = "ghp_" + "a1B2" * 9
    assert [what for _, what, _ in forms_in({"a": "." * before + " " + token})] == ["a GitHub token"]
    part = "GOCSPX-" + "a1B2" * 5
    assert [what for _, what, _ in forms_in({"a": "." * before + " " + part})] == ["a Google key"]
