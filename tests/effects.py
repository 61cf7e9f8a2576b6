"""Side effects of a module, from its syntax tree: imports, calls and attributes that reach outside of the process."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.source_tree import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = {
    "time": "clock",
    "datetime": "clock",
    "zoneinfo": "disk",
    "random": "randomness",
    "secrets": "randomness",
    "uuid": "randomness",
    "socket": "network",
    "http": "network",
    "urllib.request": "network",
    "ssl": "network",
    "kubernetes": "network",
    "subprocess": "processes",
    "multiprocessing": "processes",
    "concurrent": "processes",
    "signal": "processes",
    "threading": "processes",
    "shutil": "disk",
    "tempfile": "disk",
    "glob": "disk",
    "fileinput": "disk",
    "importlib.resources": "disk",
    "importlib.metadata": "environment",
    "linecache": "disk",
    "fcntl": "disk",
    "mmap": "disk",
    "platform": "environment",
    "locale": "environment",
    "getpass": "environment",
}
"""Modules whose import alone is an effect."""

PURE_OF_OS = {"path", "sep", "fsencode", "fsdecode", "fspath", "PathLike", "strerror", "stat_result", "DirEntry"}
PURE_OF_OS_PATH = {
    "join",
    "dirname",
    "basename",
    "split",
    "splitext",
    "normpath",
    "relpath",
    "commonpath",
    "isabs",
    "sep",
}
OF_OS = {
    **dict.fromkeys(
        ("environ", "environb", "getenv", "putenv", "getcwd", "uname", "getuid", "getpid", "cpu_count"), "environment"
    ),
    **dict.fromkeys(("urandom", "getrandom"), "randomness"),
    **dict.fromkeys(("fork", "kill", "system", "popen", "_exit"), "processes"),
    "times": "clock",
}
"""Other names of `os` are for the disk."""
ATTRIBUTES = {
    **dict.fromkeys(("sys.stdin", "sys.stdout", "sys.stderr"), "terminal"),
    "sys.argv": "environment",
    **dict.fromkeys(("inspect.getsource", "inspect.getsourcelines", "inspect.getsourcefile"), "disk"),
}
BUILTINS = {"open": "disk", "print": "terminal", "input": "terminal"}
METHODS = {
    **dict.fromkeys(("read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "rglob", "glob"), "disk"),
    **dict.fromkeys(("is_file", "is_dir", "is_symlink", "exists", "stat", "lstat", "readlink", "samefile"), "disk"),
    **dict.fromkeys(("mkdir", "rmdir", "unlink", "touch", "symlink_to", "hardlink_to", "chmod", "rename"), "disk"),
    **dict.fromkeys(("cwd", "home", "expanduser"), "environment"),
    **dict.fromkeys(("now", "utcnow", "today", "monotonic", "perf_counter"), "clock"),
}
"""Methods of paths and of times, called on any object."""


def effects(tree: ast.Module) -> set[tuple[str, str]]:
    """Each effect with the name that has it, such as `("disk", "os.scandir")`."""
    aliases = dict(_aliases(tree))
    found = {(MODULES[name], name) for name in _imported(tree) if name in MODULES}
    for node in walk(tree):
        name = _dotted(node, aliases)
        if name is not None and (effect := _of_name(name)) is not None:
            found.add((effect, name))
        if isinstance(node, ast.Call):
            found |= _of_call(node)
    return found


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Local names of imported modules and of what is imported from them."""
    for node in walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _imported(tree: ast.Module) -> Iterator[str]:
    """Every imported module, with the packages that it is in. Imports for types only have no effect."""
    skipped = {id(inner) for node in walk(tree) if _is_type_checking(node) for inner in walk(node)}
    for node in walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str | None:
    """`os.path.exists`, with the names under which modules were imported resolved."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    if isinstance(node, ast.Attribute):
        holder = _dotted(node.value, aliases)
        return None if holder is None else f"{holder}.{node.attr}"
    return None


def _of_name(name: str) -> str | None:
    module, _, attribute = name.partition(".")
    attribute, _, inner = attribute.partition(".")
    if module == "os" and attribute == "path":
        return "disk" if inner and inner not in PURE_OF_OS_PATH else None
    if module == "os" and attribute and attribute not in PURE_OF_OS and not attribute.isupper():
        return OF_OS.get(attribute, "disk")
    return ATTRIBUTES.get(f"{module}.{attribute}")


def _of_call(node: ast.Call) -> set[tuple[str, str]]:
    function = node.func
    if isinstance(function, ast.Name) and function.id in BUILTINS:
        return {(BUILTINS[function.id], function.id)}
    if isinstance(function, ast.Attribute) and function.attr in METHODS:
        return {(METHODS[function.attr], f".{function.attr}")}
    return set()
