"""Imported packages are declared in `pyproject.toml`, and declared packages are used."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.source_tree import modules, tree, walk
from tests.support import PROJECT

DATA = {"kubernetes-validate", "tzdata"}
"""Packages that are read without an import."""


def distribution(text: str) -> str:
    """The normalized name of a distribution, or of the one in a requirement."""
    return re.split(r"[<>=~!;\[ ]", text)[0].lower().replace("_", "-").replace(".", "-")


def imported() -> set[str]:
    statements = [node for module in modules() for node in walk(tree(module))]
    names = {one.name for node in statements if isinstance(node, ast.Import) for one in node.names}
    names |= {node.module for node in statements if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"gen"}


@pytest.mark.slow
def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *extras["live"], *extras["editor"]]
    found = packages_distributions()
    used = {distribution(found[name][0]) for name in imported()}
    assert used | DATA == {distribution(one) for one in requirements}
