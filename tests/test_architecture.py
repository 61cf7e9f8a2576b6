"""The structure of the code, as `docs/architecture.md` draws it."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache

import grimp

from tests.source_tree import modules, tree, walk
from tests.support import HERE, PROJECT

MAX_LOOSE_MODULES = 3
"""The package, the program and the interface for Python."""
MAX_LINES = 450
MAX_FLOORS = 10


@cache
def contracts() -> list[dict[str, object]]:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    return list(project["tool"]["importlinter"]["contracts"])


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("gen", cache_dir=None)


def test_contracts_of_imports() -> None:
    """Floors of rooms, and modules that may use the network, processes, the clock and the disk, in `pyproject.toml`."""
    from importlinter.cli import lint_imports

    assert lint_imports(config_filename=str(PROJECT / "pyproject.toml"), no_cache=True) == 0


BELOW_KUBERNETES = {
    "gen.base",
    "gen.base.codes",
    "gen.base.engines",
    "gen.base.parallel",
    "gen.base.placeholders",
    "gen.base.repository.files",
    "gen.base.yaml",
}
"""What `gen.kubernetes` imports of gen: the interface of `gen.base`, and some of its modules and rooms. Nothing of it
is about job files, overlays or `rendered/`, but the placeholders in objects that contain those of their steps."""


def test_kubernetes_knows_nothing_of_jobs() -> None:
    own = {"gen.kubernetes", *graph().find_descendants("gen.kubernetes")}
    others = {name for module in own for name in graph().find_modules_directly_imported_by(module)} - own - {"gen"}
    rooms = BELOW_KUBERNETES - {"gen.base"}
    assert {
        next((one for one in rooms if f"{name}.".startswith(f"{one}.")), name) for name in others
    } == BELOW_KUBERNETES


def test_no_circle() -> None:
    left = {module: graph().find_modules_directly_imported_by(module) for module in graph().modules - {"gen"}}
    while leaves := [name for name, below in left.items() if not below & left.keys()]:
        for name in leaves:
            del left[name]
    assert sorted(left) == []


def test_the_table_of_rooms_has_the_rows_of_the_layers() -> None:
    text = (PROJECT / "docs/architecture.md").read_text("utf-8")
    (table,) = re.findall(r"(?s)\| room \|[^\n]*\n\|---[^\n]*\n(.*?)\n\n", text)
    rows = [sorted(re.findall(r"`gen\.(\w+)`", line.split("|")[1])) for line in table.splitlines()]
    (layers,) = (contract["layers"] for contract in contracts() if contract["type"] == "layers")
    assert isinstance(layers, list)
    assert rows == [sorted(re.split(r" [|:] ", str(layer))) for layer in layers]
    assert len(rows) <= MAX_FLOORS


def test_few_loose_modules() -> None:
    loose = [path.name for path in (PROJECT / "gen").glob("*.py")]
    assert len(loose) <= MAX_LOOSE_MODULES, loose


def test_clusters_are_only_read() -> None:
    texts = {node.value for node in walk(tree("gen.live.client")) if isinstance(node, ast.Constant)}
    assert texts & {"GET", "POST", "PUT", "PATCH", "DELETE"} == {"GET"}


def packages() -> list[str]:
    """Folders of the packages of gen, relative to `gen/`. Folders without `__init__.py` contain data or templates."""
    found = (path.parent.relative_to(PROJECT / "gen") for path in (PROJECT / "gen").rglob("__init__.py"))
    return sorted(folder.as_posix() for folder in found if folder.parts)


def test_tests_mirror_the_packages() -> None:
    assert [folder for folder in packages() if not any((HERE / folder).glob("test_*.py"))] == []


CLOCKS = ("time", "timeit", "resource")
USES_OF_CLOCKS = {
    "live/test_large.py": "reports how long a large cluster takes",
    "launchers/cluster.py": "ends pods after their time limit",
    "controllers/waiting.py": "waits for controllers",
    "e2e/cluster.py": "waits until a server has established a definition",
    "e2e/test_kfp.py": "waits for scripts of pods",
    "e2e/test_policies.py": "waits until a server evaluates new policies",
    "e2e/server.py": "waits until a server has started",
    "render/parts/store_server.py": "waits until an object store has started, and for files",
    "importers/slurm/test_task_comparison.py": "limits the memory of a proof",
    "test_costs_of_commands.py": "limits the processor time and memory of commands that repeat a part",
    "test_fuzz.py": "reports files above the limits of time and memory, in long runs alone",
    "render/parts/test_scripts.py": "the program of a pod waits for a signal",
    "test_checkpoints.py": "the program of a pod waits for a signal",
    "render/write/test_faults.py": "limits the size of files, like a full disk",
}
"""Tests that use clocks, and why. No test may depend on how fast a machine is: `bench/` measures time."""


IMPORTS_CLOCK = re.compile(rf"(?m)^ *(?:import (?:[\w., ]+, *)?(?:{'|'.join(CLOCKS)})\b|from (?:{'|'.join(CLOCKS)})\b)")


def test_no_test_measures_time() -> None:
    for text in ("def f():\n    from time import monotonic", "import os, resource as r", "import os, time"):
        assert IMPORTS_CLOCK.search(text), text
    for text in ("from gen.kubernetes.facts import time", "import timeless"):
        assert not IMPORTS_CLOCK.search(text), text
    paths = {path.relative_to(HERE).as_posix(): path for path in HERE.rglob("*.py")}
    users = {name for name, path in paths.items() if IMPORTS_CLOCK.search(path.read_text("utf-8"))}
    assert users == set(USES_OF_CLOCKS)


def test_files_stay_small() -> None:
    lines = {module: len(path.read_text("utf-8").splitlines()) for module, path in modules().items()}
    assert {module: count for module, count in lines.items() if count > MAX_LINES} == {}
