"""The shape of the code, as `docs/architecture.md` draws it: imports go down only, and files stay small."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gen.kinds import KINDS
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = (
    ("gen.__main__",),
    ("gen.cli",),
    ("gen.edit", "gen.init"),
    ("gen.commands", "gen.review", "gen.scaffold", "gen.schema"),
    ("gen.inspection",),
    ("gen.report", "gen.explain"),
    ("gen.write",),
    ("gen.pipeline", "gen.parallel", "gen.crosscheck", "gen.bundle", "gen.clusters"),
    ("gen.cache",),
    (
        "gen.emit",
        "gen.identity",
        "gen.validate",
        "gen.patch",
        "gen.build",
        "gen.plan",
        "gen.model.parse",
        "gen.overlay",
    ),
    ("gen.kinds", "gen.model.overlay", "gen.manifest", "gen.outcome"),
    ("gen.networks", "gen.storage", "gen.gitops"),
    ("gen.model",),
    ("gen.secrets", "gen.expression"),
    ("gen.load",),
    ("gen.jobs",),
    ("gen.control", "gen.workspace"),
    ("gen.diagnostics", "gen.files", "gen.kubernetes", "gen.quantity"),
)
"""A module may import those of its own line and of the lines below, at run time."""


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted((PROJECT / "gen").rglob("*.py")):
        parts = path.relative_to(PROJECT).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def layer(module: str) -> int:
    """The line that names the module most closely."""
    best = max(
        (
            (len(prefix), row)
            for row, line in enumerate(LAYERS)
            for prefix in line
            if f"{module}.".startswith(f"{prefix}.")
        ),
        default=None,
    )
    assert best is not None, f"{module} is in no layer"
    return best[1]


def imported(path: Path) -> set[str]:
    """Modules of ours that a file imports at run time."""
    found: set[str] = set()
    known = modules()
    for node in ast.walk(without_type_checking(ast.parse(path.read_text("utf-8")))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(name if name in known else node.module for name in inner)
    return {name for name in found if name.startswith("gen.")}


def without_type_checking(tree: ast.Module) -> ast.Module:
    class Remove(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | None:
            checking = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            return None if checking else self.generic_visit(node)

    result: ast.Module = Remove().visit(tree)
    return result


def test_imports_go_down_only() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, path in modules().items()
        if module != "gen"
        for name in imported(path)
        if layer(name) < layer(module)
    ]
    assert wrong == []


def test_only_reading_writing_and_the_command_line_touch_the_disk() -> None:
    allowed = (
        "gen.__main__",
        "gen.cli",
        "gen.commands",
        "gen.inspection",
        "gen.files",
        "gen.jobs",
        "gen.init",
        "gen.load",
        "gen.overlay",
        "gen.scaffold",
        "gen.workspace",
        "gen.write",
    )
    # schemas, definitions, patch files, docs
    data = (
        "gen.cache",
        "gen.validate.schemas",
        "gen.validate.definitions",
        "gen.patch.read",
        "gen.model.docs",
        "gen.review.trees",
    )
    words = (
        ".read_text(",
        ".read_bytes(",
        ".write_text(",
        "open(",
        "os.environ",
        "time.",
        "datetime",
        "random",
        "socket",
    )
    for module, path in modules().items():
        if not module.startswith((*allowed, *data)):
            source = path.read_text("utf-8")
            assert [word for word in words if word in source] == [], module


def test_no_kind_is_named_outside_its_own_file() -> None:
    names = {f'"{name}"' for name in KINDS} | {f'"{kind.resource}"' for kind in KINDS.values()} - {'"Job"'}
    # what others wrote is judged there, also of kinds and versions that gen does not render
    judges = ("gen.validate.operators", "gen.validate.deprecations", "gen.validate.gitops")
    for module, path in modules().items():
        if not module.startswith(("gen.kinds", *judges)):
            source = path.read_text("utf-8")
            assert [name for name in names if name in source] == [], module


def test_files_stay_small() -> None:
    lines = {module: len(path.read_text("utf-8").splitlines()) for module, path in modules().items()}
    assert {module: count for module, count in lines.items() if count > 300} == {}
    ordered = sorted(lines.values())
    assert ordered[len(ordered) // 2] <= 100


def test_every_module_says_what_it_is_for() -> None:
    for module, path in modules().items():
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), module
