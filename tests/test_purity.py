"""Only the named modules read or write files, as far as linters cannot see it.

`pyproject.toml` has the other effects: contracts of import-linter for modules such as `socket` and `time`, banned
names of ruff for `os.environ` and the like. Neither knows that a value is a path.
"""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.source_tree import modules, tree, walk

METHODS = {
    *("exists", "is_dir", "is_file", "is_symlink", "lstat", "readlink", "samefile", "stat"),
    *("expanduser", "glob", "iterdir", "rglob"),
    *("open", "read_bytes", "read_text", "write_bytes", "write_text"),
    *("chmod", "hardlink_to", "mkdir", "rename", "rmdir", "symlink_to", "touch", "unlink"),
}
"""Methods of paths that reach the disk, called on any object; and the function `open`."""

READERS = {
    "gen.base.repository": "reads and writes files of a repository",
    "gen.commands.completion": "reads the scripts for shells that gen brings",
    "gen.commands.import": "finds job files with the names of imported ones",
    "gen.commands.init": "writes a new repository",
    "gen.commands.new": "writes a new job file",
    "gen.commands.pin": "writes locks, and the message of a commit",
    "gen.commands.render": "watches inputs",
    "gen.commands.rendering": "finds the repository",
    "gen.commands.retire": "writes the message of a commit",
    "gen.commands.site": "writes pages",
    "gen.commands.vendor": "writes files of other repositories below overlays/, and the message of a commit",
    "gen.editor": "reads the files of an open repository, and writes a copy of its inputs",
    "gen.kubernetes.check.files": "finds out whether files that arguments name exist",
    "gen.kubernetes.manifests.files": "reads the files that arguments name, and archives in memory",
    "gen.kubernetes.policies.policy_set": "reads admission policies",
    "gen.importers.sandbox": "runs scripts of users in a folder of its own",
    "gen.kubernetes.rules.cron": "reads the time zones of the tzdata package",
    "gen.kubernetes.schemas.lookup": "reads users' CustomResourceDefinitions",
    "gen.kubernetes.schemas.registry": "reads the schemas of gen and kubernetes-validate",
    "gen.overlay.files": "reads overlays",
    "gen.overlay.plugins": "finds the state of plugins' files for the cache",
    "gen.overlay.vendored": "finds the lock of files of another repository",
    "gen.overlay.settings": "reads runtimes of the Kubeflow Trainer",
    "gen.pins.http": "finds certificate authorities",
    "gen.pins.registry": "reads the configuration of Docker",
    "gen.render.cache": "keeps results of earlier runs in the user's cache folder",
    "gen.render.parts.containers": "reads the scripts for pods that gen brings",
    "gen.render.write": "writes rendered/",
    "gen.review.rendered_trees": "reads rendered/",
}
"""Modules, or rooms with all their modules, and why."""
CACHED_READERS = {
    "gen.job.model",
    "gen.kubernetes.rules.cron",
    "gen.kubernetes.schemas.registry",
    "gen.render.parts.containers",
}
"""Modules that cache files of gen's own packages for the life of the process."""


def reads(module: ast.Module) -> set[str]:
    """Names of called functions and methods that reach the disk."""
    functions = [node.func for node in walk(module) if isinstance(node, ast.Call)]
    methods = {one.attr for one in functions if isinstance(one, ast.Attribute)} & METHODS
    return methods | {one.id for one in functions if isinstance(one, ast.Name) and one.id == "open"}


@cache
def disk_modules() -> set[str]:
    return {module for module in modules() if reads(tree(module))}


def test_only_the_named_modules_use_methods_of_paths() -> None:
    rooms = {module: [room for room in READERS if f"{module}.".startswith(f"{room}.")] for module in disk_modules()}
    assert sorted(module for module, found in rooms.items() if not found) == []
    assert READERS.keys() == {room for found in rooms.values() for room in found}, "nothing is allowed without need"


def test_no_user_files_are_cached_for_the_life_of_the_process() -> None:
    """A watch runs many times in one process. The inputs of one run belong to objects of that run."""
    disk = {"os", "inspect", "importlib.resources"}
    caching = {module for module in modules() if caches(tree(module))}
    assert {one for one in caching if one in disk_modules() or imported(tree(one)) & disk} == CACHED_READERS


def imported(module: ast.Module) -> set[str]:
    names = {alias.name for node in walk(module) if isinstance(node, ast.Import) for alias in node.names}
    return names | {str(node.module) for node in walk(module) if isinstance(node, ast.ImportFrom)}


def caches(module: ast.Module) -> bool:
    """Whether a function keeps its results for the life of the process."""
    functions = [node for node in walk(module) if isinstance(node, ast.FunctionDef)]
    decorators = {ast.unparse(one).partition("(")[0] for function in functions for one in function.decorator_list}
    return bool({"cache", "lru_cache", "functools.cache", "functools.lru_cache"} & decorators)


@pytest.mark.parametrize(
    "source", ["open('a')", "lambda path: path.read_text()", "root.joinpath('a').write_bytes(b'')", "p.exists()"]
)
def test_an_access_to_files_is_found(source: str) -> None:
    assert reads(ast.parse(source))


@pytest.mark.parametrize("source", ["def f(open):\n    return open.stat", "path.parent.joinpath('open(a)')"])
def test_a_pure_module_has_no_access(source: str) -> None:
    assert reads(ast.parse(source)) == set()
