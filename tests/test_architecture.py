"""The structure of the code, as `docs/architecture.md` draws it."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gen.kinds import KINDS
from gen.resources import RESOURCES
from gen.resources.base import Phases
from gen.resources.engines import ENGINES
from tests.support import HERE, PROJECT

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
    ("plugins",),
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


def test_the_table_of_rooms_has_the_rows_of_the_layers() -> None:
    text = (PROJECT / "docs/architecture.md").read_text("utf-8")
    (table,) = re.findall(r"(?s)\| room \|[^\n]*\n\|---[^\n]*\n(.*?)\n\n", text)
    rows = (re.findall(r"`gen\.(\w+)`", line.split("|")[1]) for line in table.splitlines())
    assert [tuple(sorted(rooms)) for rooms in rows] == [tuple(sorted(rooms)) for rooms in LAYERS]


def test_few_loose_modules() -> None:
    loose = [path.name for path in (PROJECT / "gen").glob("*.py")]
    assert len(loose) <= MAX_LOOSE_MODULES, loose


def packages() -> list[str]:
    """Folders of the packages of gen, relative to `gen/`. Folders without `__init__.py` contain data or templates."""
    found = (path.parent.relative_to(PROJECT / "gen") for path in (PROJECT / "gen").rglob("__init__.py"))
    return sorted(folder.as_posix() for folder in found if folder.parts)


def test_tests_mirror_the_packages() -> None:
    assert [folder for folder in packages() if not any((HERE / folder).glob("test_*.py"))] == []


CLOCKS = {"time", "timeit", "resource"}
USES_OF_CLOCKS = {
    "controllers/waiting.py": "waits for controllers",
    "e2e/cluster.py": "waits until a server has established a definition",
    "e2e/server.py": "waits until a server has started",
    "render/write/test_faults.py": "limits the size of files, like a full disk",
}
"""Tests that import one of them, and why. No test may depend on how fast a machine is: `bench/` measures time."""


def imports_clock(module: ast.Module) -> bool:
    names = {alias.name for node in ast.walk(module) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(module) if isinstance(node, ast.ImportFrom)}
    return bool({name.partition(".")[0] for name in names} & CLOCKS)


def test_no_test_measures_time() -> None:
    assert imports_clock(ast.parse("def f():\n    from time import monotonic"))
    assert imports_clock(ast.parse("import os, resource as r"))
    assert not imports_clock(ast.parse("from gen.resources import time"))
    paths = {path.relative_to(HERE).as_posix(): path for path in HERE.rglob("*.py")}
    assert {name for name, path in paths.items() if imports_clock(ast.parse(path.read_bytes()))} == set(USES_OF_CLOCKS)


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


IDENTITY = re.compile(r"\{\} \{\}/\{\}.*")


def written_identities(module: ast.Module) -> Iterator[str]:
    """`Kind namespace/name` that a module puts together."""
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr) and IDENTITY.fullmatch(flattened(node)):
            yield ast.unparse(node)


def test_one_author_of_object_identities() -> None:
    assert list(written_identities(ast.parse("f'{kind} {namespace}/{name}'")))
    assert list(written_identities(ast.parse("f'{run.namespace}/{run.name}'"))) == []
    found = {module: list(written_identities(tree(module))) for module in modules()}
    assert {module: texts for module, texts in found.items() if texts} == {}


def test_one_author_of_paths_in_a_repository() -> None:
    found = {module: list(written_paths(tree(module))) for module in modules() if module != "gen.repository.layout"}
    assert {module: paths for module, paths in found.items() if paths} == {}


def test_no_kind_of_job_is_named_outside_its_own_file() -> None:
    # kinds of jobs have the names of frameworks, API groups and plugins of operators
    for module in modules():
        if not module.startswith(("gen.kinds", "gen.resources", "gen.rules.operators")):
            assert sorted(KINDS.keys() & set(strings(module))) == [], module


def test_facts_of_kubernetes_kinds_are_in_one_place() -> None:
    assert [f"{module}: {fact}" for module in modules() for fact in facts_in(tree(module), module)] == []


def test_annotations_of_engines_are_in_one_place() -> None:
    prefixes = tuple(prefix for engine in ENGINES.values() for prefix in engine.prefixes)
    for module in modules():
        if not module.startswith(("gen.gitops", "gen.resources.engines")):
            assert [text for text in strings(module) if text.startswith(prefixes)] == [], module


def test_a_fact_in_two_places_is_found() -> None:
    source = """
RUNS = ("PyTorchJob", "kubeflow.org/TFJob")
DEADLINE = ("spec", "runPolicy", "activeDeadlineSeconds")
def ttl(body): return at(body, "spec", "ttlSecondsAfterFinished")
def jobs(body): return body["spec"]["mpiReplicaSpecs"]
HEALTH = {"field": ("status", "state", "phase")}
"""
    assert sorted(facts_in(ast.parse(source), "gen.rules.example")) == [
        "PyTorchJob",
        "kubeflow.org/TFJob",
        "mpiReplicaSpecs",
        "spec.runPolicy.activeDeadlineSeconds",
        "spec.ttlSecondsAfterFinished",
        "status.state.phase",
    ]


def facts_in(node: ast.Module, module: str) -> Iterator[str]:
    """Names of kinds, of replica maps and routes of fields that only `gen.resources` may have."""
    if module.startswith("gen.resources"):
        return
    names, routes = known_names(), known_routes()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and inner.value in names:
            yield str(inner.value)
        if isinstance(inner, ast.Tuple | ast.Call):
            parts = inner.elts if isinstance(inner, ast.Tuple) else inner.args
            words = tuple(part.value if isinstance(part, ast.Constant) else None for part in parts)
            found = next((words[start:] for start in range(2) if words[start:] in routes), None)
            if found is not None:
                yield ".".join(map(str, found))


@cache
def known_names() -> frozenset[object]:
    """Names of operators' kinds that are not also words of Kubernetes, and names of replica maps."""
    own = [one for one in RESOURCES.values() if one.group.count(".") and not one.group.startswith("networking.")]
    common = {"Job", "Queue", "Workload"}
    maps = {pods.role_map for one in own for pods in one.pods if pods.roles}
    return frozenset({one.kind for one in own} - common | {str(one) for one in own} | maps)


@cache
def known_routes() -> frozenset[tuple[object, ...]]:
    found: set[tuple[object, ...] | None] = set()
    for one in RESOURCES.values():
        found |= {one.suspend, one.deadline, one.ttl, one.cleanup}
        if isinstance(one.status, Phases):
            found |= {phase.field for phase in (*one.status.succeeded, *one.status.failed)}
    return frozenset(route for route in found if route is not None)


def strings(module: str) -> Iterator[str]:
    """String literals and docstrings."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_files_stay_small() -> None:
    lines = {module: len(path.read_text("utf-8").splitlines()) for module, path in modules().items()}
    assert {module: count for module, count in lines.items() if count > MAX_LINES} == {}
    ordered = sorted(lines.values())
    assert ordered[len(ordered) // 2] <= 100


def test_every_module_says_what_it_is_for() -> None:
    for module in modules():
        assert ast.get_docstring(tree(module)), module
