"""The structure of the code, as `docs/architecture.md` draws it."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gen.kinds import KINDS
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LAYERS = (
    ("__main__",),
    ("cli",),
    ("commands",),
    ("edit",),
    ("report",),
    ("review",),
    ("render",),
    ("check",),
    ("rules",),
    ("overlay",),
    ("kinds",),
    ("storage", "networks", "gitops"),
    ("schemas",),
    ("model",),
    ("secrets",),
    ("load",),
    ("repository",),
    ("resources",),
    ("parallel",),
    ("diagnostics",),
    ("findings",),
    ("quantity", "kubernetes"),
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


@cache
def modules() -> Mapping[str, Path]:
    found = {}
    for path in sorted((PROJECT / "gen").rglob("*.py")):
        parts = path.relative_to(PROJECT).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text("utf-8"))


def row(module: str) -> int:
    room = module.split(".")[1]
    rows = [number for number, rooms in enumerate(LAYERS) if room in rooms]
    assert len(rows) == 1, f"`{room}` must be in one row of LAYERS"
    return rows[0]


def imports(module: str) -> Iterator[Import]:
    """Modules of gen that a module imports, also late and for type checking."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name) for alias in node.names if alias.name.startswith("gen."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gen":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield Import(module, inner if inner in modules() else str(node.module))


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


def test_few_loose_modules() -> None:
    loose = [path.name for path in (PROJECT / "gen").glob("*.py")]
    assert len(loose) <= MAX_LOOSE_MODULES, loose


FOLDERS = {"JOBS": "jobs", "OVERLAYS": "overlays", "RENDERED": "rendered"}
PATH = re.compile(rf"(?:.*[^\w-])?(?:{'|'.join(FOLDERS.values())})/\S*|rendered|overlay\.yaml")


def written_paths(module: ast.Module) -> Iterator[str]:
    """Paths below `jobs/`, `overlays/` and `rendered/` that a module puts together.

    A text with a space in it is a message, which may name such a path to people.
    """
    docstrings = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(module) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(module):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            inner = node.left.right if isinstance(node.left, ast.BinOp) else node.left
            if isinstance(inner, ast.Name) and inner.id in FOLDERS:
                yield ast.unparse(node)
        elif isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in docstrings | parts:
            text = flattened(node)
            if " " not in text and PATH.fullmatch(text):
                yield ast.unparse(node)


def flattened(node: ast.expr) -> str:
    """The text of a constant or an f-string; a value in it is `{}`, unless it is one of the folders."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(flattened, node.values))
    if isinstance(node, ast.FormattedValue):
        return FOLDERS.get(node.value.id, "{}") if isinstance(node.value, ast.Name) else "{}"
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@pytest.mark.parametrize(
    "source",
    [
        "f'rendered/{overlay}/jobs/{namespace}'",
        "f'{RENDERED}/{overlay}'",
        "f'{root}/jobs/{namespace}'",
        "root / JOBS / namespace",
        "'overlays/dev/overlay.yaml'",
        "root / 'jobs/team'",
        "'/'.join(('rendered', overlay))",
        "rf'(?:.*/)?{RENDERED}/[^/]+/'",
    ],
)
def test_a_path_put_together_by_hand_is_found(source: str) -> None:
    assert list(written_paths(ast.parse(f"x = {source}")))


@pytest.mark.parametrize(
    "source",
    ["'no jobs/ in this folder'", "f'{JOBS}: {count}'", "root / JOBS", "f'{OVERLAYS}/ is a link'", "'jobs'"],
)
def test_a_message_and_a_folder_are_no_path_put_together(source: str) -> None:
    assert list(written_paths(ast.parse(f"x = {source}"))) == []


def test_one_author_of_paths_in_a_repository() -> None:
    found = {module: list(written_paths(tree(module))) for module in modules() if module != "gen.repository.layout"}
    assert {module: paths for module, paths in found.items() if paths} == {}


def test_no_kind_is_named_outside_its_own_file() -> None:
    names = {f'"{name}"' for name in KINDS} | {f'"{kind.facts.kind}"' for kind in KINDS.values()} - {'"Job"'}
    # what others wrote is judged there, also of kinds and versions that gen does not render
    judges = "gen.resources"
    for module, path in modules().items():
        if not module.startswith(("gen.kinds", *judges)):
            source = path.read_text("utf-8")
            assert [name for name in names if name in source] == [], module


def test_files_stay_small() -> None:
    lines = {module: len(path.read_text("utf-8").splitlines()) for module, path in modules().items()}
    assert {module: count for module, count in lines.items() if count > MAX_LINES} == {}
    ordered = sorted(lines.values())
    assert ordered[len(ordered) // 2] <= 100


def test_every_module_says_what_it_is_for() -> None:
    for module in modules():
        assert ast.get_docstring(tree(module)), module
