"""Only the named modules have side effects: a render is a function of its input (`docs/architecture.md`)."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.effects import effects
from tests.source_tree import modules, tree, walk

ALLOWED = {
    "gen.__main__": ({"environment", "processes", "terminal"}, "starts and ends the program"),
    "gen.cel.library.times": ({"clock", "disk"}, "calendar of given times, and time zones of the tzdata package"),
    "gen.check.files": ({"disk", "environment"}, "finds the repository of the files to validate"),
    "gen.cluster.board": ({"network", "processes"}, "listens on a port of this machine for TensorBoard"),
    "gen.cluster.client": ({"clock", "network"}, "reads clusters, with a limit of time"),
    "gen.cluster.dcgm": ({"processes"}, "asks several exporters in threads"),
    "gen.cluster.follow_logs": ({"clock", "processes"}, "follows several logs in threads"),
    "gen.cluster.lists": ({"clock"}, "waits before it goes on with a watch"),
    "gen.cluster.live": ({"clock", "processes"}, "follows several watches in threads"),
    "gen.cluster.read": ({"clock", "processes"}, "asks several clusters in threads, and notes the time"),
    "gen.cluster.top": ({"processes"}, "asks several clusters in threads"),
    "gen.cluster.wanted": ({"disk"}, "reads the runs in rendered/"),
    "gen.cli": ({"environment"}, "finds out whether a shell asks for completions"),
    "gen.commands.compared": ({"environment"}, "number of processors, current folder"),
    "gen.commands.documentation": ({"environment"}, "reads the address of the documentation"),
    "gen.commands.explain": ({"environment"}, "current folder, whose repository may name plugins"),
    "gen.commands.import": ({"disk"}, "finds job files with the names of imported ones"),
    "gen.commands.init": ({"disk"}, "writes a new repository"),
    "gen.commands.new": ({"disk"}, "writes a new job file"),
    "gen.commands.pin": ({"disk"}, "writes locks, and the message of a commit"),
    "gen.commands.pinned_source": ({"disk", "environment"}, "reads the record of how gen was installed"),
    "gen.commands.plan": ({"environment"}, "the repository in CI, number of processors"),
    "gen.commands.progress": ({"clock", "environment", "terminal"}, "shows a bar after a second"),
    "gen.commands.retire": ({"disk"}, "writes the message of a commit"),
    "gen.commands.schema": ({"environment"}, "current folder, whose repository may name plugins"),
    "gen.commands.site": ({"disk", "environment"}, "writes pages, and reads the address of the repository of CI"),
    "gen.commands.status": ({"clock"}, "limits how long it waits"),
    "gen.commands.terminal": ({"disk", "environment", "terminal"}, "finds the width, colors and links of the terminal"),
    "gen.commands.validate": ({"environment"}, "number of processors"),
    "gen.commands.words": ({"environment"}, "current folder, whose repository has the jobs"),
    "gen.load.manifest_files": ({"disk", "terminal"}, "reads the files that arguments name, and standard input"),
    "gen.model.docs": ({"disk"}, "reads descriptions of fields from gen's own source"),
    "gen.overlay.files": ({"disk"}, "reads overlays"),
    "gen.overlay.patches.read": ({"disk"}, "reads patch files"),
    "gen.pins.read": ({"disk"}, "reads locks of jobs"),
    "gen.plugins.load": (
        {"disk", "environment"},
        "finds installed plugins, and the state of their files for the cache",
    ),
    "gen.policies.read": ({"disk"}, "reads admission policies"),
    "gen.parallel.process": ({"disk", "processes"}, "starts worker processes, and enlarges their pipes"),
    "gen.render.build.scripts": ({"disk"}, "reads the scripts for pods that gen brings"),
    "gen.render.cache": (
        {"disk", "environment"},
        "keeps results of earlier runs in the user's cache folder",
    ),
    "gen.render.committed.read": ({"disk"}, "reads the runs in rendered/ that a render keeps"),
    "gen.render.write": ({"disk"}, "writes rendered/"),
    "gen.render.write.swap": ({"processes"}, "writes many files in two threads"),
    "gen.repository": ({"disk"}, "reads and writes files of a repository"),
    "gen.repository.place_files": ({"environment"}, "names temporary files after the process"),
    "gen.repository.git": ({"processes"}, "runs git"),
    "gen.repository.watch": ({"clock"}, "waits for changes"),
    "gen.remote.credentials": (
        {"environment", "processes"},
        "finds the configuration of Docker, and asks its credential helpers",
    ),
    "gen.remote.git": ({"disk", "environment", "processes"}, "runs git with the environment of the user"),
    "gen.remote.http": (
        {"clock", "disk", "environment", "network"},
        "asks registries, with limits of time, and finds authorities",
    ),
    "gen.remote.resolve": ({"clock", "processes"}, "asks several servers in threads, with limits of time"),
    "gen.report.live.view": ({"clock"}, "computes ages from two times that it is given"),
    "gen.review.rendered_trees": ({"disk"}, "reads rendered/"),
    "gen.rules.cron_values": ({"disk"}, "reads the time zones of the tzdata package"),
    "gen.schemas.definitions": ({"disk"}, "reads users' CustomResourceDefinitions"),
    "gen.schemas.registry": ({"disk"}, "reads the schemas that gen and kubernetes-validate bring"),
}
"""Modules, or rooms with all their modules, with the effects that they may have, and why."""


@cache
def effects_of(module: str) -> set[tuple[str, str]]:
    return effects(tree(module))


def allowed(module: str) -> set[str]:
    rooms = [kinds for room, (kinds, _) in ALLOWED.items() if f"{module}.".startswith(f"{room}.")]
    return set().union(*rooms)


def test_only_named_modules_have_effects() -> None:
    found = {
        module: sorted((kind, name) for kind, name in effects_of(module) if kind not in allowed(module))
        for module in modules()
    }
    assert {module: names for module, names in found.items() if names} == {}


def test_nothing_is_allowed_without_need() -> None:
    used = {
        room: {kind for module in modules() if f"{module}.".startswith(f"{room}.") for kind, _ in effects_of(module)}
        for room in ALLOWED
    }
    assert {room: kinds - used[room] for room, (kinds, _) in ALLOWED.items() if kinds - used[room]} == {}


def test_no_files_of_users_are_cached_for_the_life_of_the_process() -> None:
    """A watch mode runs many times in one process. What one run reads belongs to objects of that run."""
    of_packages = {"gen.model.docs", "gen.render.build.scripts", "gen.rules.cron_values", "gen.schemas.registry"}
    caching = {
        module for module in modules() if caches(tree(module)) and "disk" in {kind for kind, _ in effects_of(module)}
    }
    assert caching == of_packages


def caches(tree: ast.Module) -> bool:
    """Whether a function keeps its results for the life of the process."""
    functions = [node for node in walk(tree) if isinstance(node, ast.FunctionDef)]
    decorators = {ast.unparse(one).partition("(")[0] for function in functions for one in function.decorator_list}
    return bool({"cache", "lru_cache", "functools.cache", "functools.lru_cache"} & decorators)


@pytest.mark.parametrize(
    ("source", "effect"),
    [
        ("import time", ("clock", "time")),
        ("def f():\n    from time import monotonic", ("clock", "time")),
        ("from datetime import datetime as d\nd.now()", ("clock", "datetime")),
        ("import random as r", ("randomness", "random")),
        ("import os as o\no.urandom(1)", ("randomness", "os.urandom")),
        ("import os\nos.environ['A']", ("environment", "os.environ")),
        ("from os import getenv\ngetenv('A')", ("environment", "os.getenv")),
        ("from pathlib import Path\nPath.cwd()", ("environment", ".cwd")),
        ("import socket", ("network", "socket")),
        ("import urllib.request", ("network", "urllib.request")),
        ("from urllib import request", ("network", "urllib.request")),
        ("import subprocess", ("processes", "subprocess")),
        ("open('a')", ("disk", "open")),
        ("lambda path: path.read_text()", ("disk", ".read_text")),
        ("lambda path: path.write_bytes(b'')", ("disk", ".write_bytes")),
        ("import os\nos.scandir('.')", ("disk", "os.scandir")),
        ("from os.path import exists\nexists('.')", ("disk", "os.path.exists")),
        ("from os import stat as s\ns('.')", ("disk", "os.stat")),
        ("print(1)", ("terminal", "print")),
        ("import sys\nsys.stdin.read()", ("terminal", "sys.stdin")),
    ],
)
def test_an_effect_is_found(source: str, effect: tuple[str, str]) -> None:
    assert effect in effects(ast.parse(source))


@pytest.mark.parametrize(
    "source",
    [
        "import re, functools",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import socket\n    from datetime import datetime",
        "import os\nos.path.join('a', os.fsdecode(b'b'))",
        "'import time; open(random)'  # os.environ",
        "def f(time, open):\n    return time.sleep + open.now",
        "import sys\nsys.modules",
    ],
)
def test_a_pure_module_has_no_effects(source: str) -> None:
    assert effects(ast.parse(source)) == set()
