"""Patterns are compiled late, so these tests compile all patterns."""

from __future__ import annotations

import ast
import gc
import re
from importlib import import_module

import pytest

from gen.base.lazy import LazyPattern, regex
from tests.source_tree import modules, tree


def test_every_pattern_of_the_program_is_valid() -> None:
    for module in modules():
        import_module(module)
    gc.unfreeze()  # see `conftest.py`
    made = [one for one in gc.get_objects() if isinstance(one, LazyPattern)]
    assert len(made) > 150
    for one in made:
        one.fullmatch(one.pattern[:0])


@pytest.mark.slow
def test_no_module_compiles_patterns_when_it_is_imported() -> None:
    eager = [
        f"{module}:{call.lineno}"
        for module in modules()
        if module != "gen.base.lazy"
        for call in _calls_at_import(tree(module))
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func) == "re.compile"
    ]
    assert eager == [], "write `regex(…)` of gen.base.lazy"


def _calls_at_import(node: ast.AST) -> list[ast.Call]:
    found = []
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            found += [child] if isinstance(child, ast.Call) else []
            found += _calls_at_import(child)
    return found


def test_a_pattern_behaves_like_a_compiled_one() -> None:
    pattern = regex("(?P<word>[a-z]+)", re.IGNORECASE)
    assert "fullmatch" not in vars(pattern), "nothing is compiled before the first use"
    assert pattern.fullmatch("Word") is not None
    assert pattern.sub("-", "a1b") == "-1-"
    assert (pattern.pattern, pattern.groups, dict(pattern.groupindex)) == ("(?P<word>[a-z]+)", 1, {"word": 1})


def test_an_invalid_pattern_is_refused_at_its_first_use() -> None:
    pattern = regex("(")
    with pytest.raises(re.error):
        pattern.search("")
    with pytest.raises(AttributeError):
        pattern.unknown  # type: ignore[attr-defined] # noqa: B018 - no such method
