"""The structure of the code, as `docs/architecture.md` draws it."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tests.source_tree import modules, tree, walk
from tests.support import HERE, PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

LAYERS = (
    ("__main__",),
    ("cli",),
    ("commands",),
    ("edit",),
    ("report",),
    ("cluster",),
    ("remote",),
    ("review",),
    ("inventory",),
    ("render",),
    ("check",),
    ("rules",),
    ("overlay",),
    ("policies",),
    ("plugins",),
    ("importers",),
    ("kinds",),
    ("storage", "stores", "networks", "accelerators", "queues", "gitops"),
    ("schemas",),
    ("pins",),
    ("model",),
    ("secrets",),
    ("load",),
    ("cel",),
    ("repository",),
    ("resources",),
    ("parallel",),
    ("diagnostics",),
    ("findings",),
    ("quantity", "kubernetes", "regex", "line_changes"),
)
"""Rooms and loose modules, the highest first. A room may import itself, its own row and the rows below."""

MAX_LOOSE_MODULES = 8
MAX_LINES = 300


class Import(NamedTuple):
    """One imported name, or one imported module."""

    module: str
    imported: str

    def __str__(self) -> str:
        return f"{self.module} imports {self.imported}"


def row(module: str) -> int:
    room = module.split(".")[1]
    rows = [number for number, rooms in enumerate(LAYERS) if room in rooms]
    assert len(rows) == 1, f"`{room}` must be in one row of LAYERS"
    return rows[0]


def imports(module: str) -> Iterator[Import]:
    """Modules of gen that a module imports, also late and for type checking."""
    for node in walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name) for alias in node.names if alias.name.startswith("gen."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gen":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield Import(module, inner if inner in modules() else str(node.module))


@cache
def every_import() -> list[Import]:
    """Those of the program, without what is taken from the top: the version."""
    return [one for module in modules() if module != "gen" for one in imports(module) if one.imported != "gen"]


def test_imports_go_down_only() -> None:
    assert [str(one) for one in every_import() if row(one.imported) < row(one.module)] == []


def test_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for one in every_import():
        if one.module != one.imported:
            graph.setdefault(one.module, set()).add(one.imported)
    left = dict(graph)
    while leaves := [name for name, below in left.items() if not below & left.keys()]:
        for name in leaves:
            del left[name]
    assert sorted(left) == []


def test_the_table_of_rooms_has_the_rows_of_the_layers() -> None:
    text = (PROJECT / "docs/architecture.md").read_text("utf-8")
    (table,) = re.findall(r"(?s)\| room \|[^\n]*\n\|---[^\n]*\n(.*?)\n\n", text)
    rows = (re.findall(r"`gen\.(\w+)`", line.split("|")[1]) for line in table.splitlines())
    assert [tuple(sorted(rooms)) for rooms in rows] == [tuple(sorted(rooms)) for rooms in LAYERS]


def test_few_loose_modules() -> None:
    loose = [path.name for path in (PROJECT / "gen").glob("*.py")]
    assert len(loose) <= MAX_LOOSE_MODULES, loose


def test_one_file_talks_to_clusters_and_only_reads() -> None:
    client = {"kubernetes", "urllib3"}
    imported = {
        module
        for module in modules()
        for node in walk(tree(module))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        if client & {alias.name.split(".")[0] for alias in node.names}
        or (isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in client)
    }
    assert imported == {"gen.cluster.client", "gen.remote.http"}
    texts = {node.value for node in walk(tree("gen.cluster.client")) if isinstance(node, ast.Constant)}
    assert texts & {"GET", "POST", "PUT", "PATCH", "DELETE"} == {"GET"}


def packages() -> list[str]:
    """Folders of the packages of gen, relative to `gen/`. Folders without `__init__.py` contain data or templates."""
    found = (path.parent.relative_to(PROJECT / "gen") for path in (PROJECT / "gen").rglob("__init__.py"))
    return sorted(folder.as_posix() for folder in found if folder.parts)


def test_tests_mirror_the_packages() -> None:
    assert [folder for folder in packages() if not any((HERE / folder).glob("test_*.py"))] == []


CLOCKS = {"time", "timeit", "resource"}
USES_OF_CLOCKS = {
    "cluster/test_large.py": "reports how long a large cluster takes",
    "controllers/waiting.py": "waits for controllers",
    "e2e/cluster.py": "waits until a server has established a definition",
    "e2e/test_kfp.py": "waits for scripts of pods",
    "e2e/test_policies.py": "waits until a server evaluates new policies",
    "e2e/server.py": "waits until a server has started",
    "render/build/store_server.py": "waits until an object store has started, and for files",
    "render/write/test_faults.py": "limits the size of files, like a full disk",
}
"""Tests that import one of them, and why. No test may depend on how fast a machine is: `bench/` measures time."""


def imports_clock(module: ast.Module) -> bool:
    names = {alias.name for node in walk(module) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in walk(module) if isinstance(node, ast.ImportFrom)}
    return bool({name.partition(".")[0] for name in names} & CLOCKS)


def test_no_test_measures_time() -> None:
    assert imports_clock(ast.parse("def f():\n    from time import monotonic"))
    assert imports_clock(ast.parse("import os, resource as r"))
    assert not imports_clock(ast.parse("from gen.resources import time"))
    paths = {path.relative_to(HERE).as_posix(): path for path in HERE.rglob("*.py")}
    assert {name for name, path in paths.items() if imports_clock(ast.parse(path.read_bytes()))} == set(USES_OF_CLOCKS)


def test_files_stay_small() -> None:
    lines = {module: len(path.read_text("utf-8").splitlines()) for module, path in modules().items()}
    assert {module: count for module, count in lines.items() if count > MAX_LINES} == {}
    ordered = sorted(lines.values())
    assert ordered[len(ordered) // 2] <= 100


def test_every_module_says_what_it_is_for() -> None:
    for module in modules():
        assert ast.get_docstring(tree(module)), module
