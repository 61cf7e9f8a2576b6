"""Help: its width, its types and its imports."""

from __future__ import annotations

import re
import subprocess
import sys

from gen.commands import COMMANDS
from tests.cases import for_each
from tests.processes import gen
from tests.support import PROJECT

MAX_MODULES, MAX_OWN_MODULES = 200, 5
"""Modules that `gen --help` may import: all, including those of Python itself, and those of gen."""


@for_each("command", [[], *([name] for name in COMMANDS)], ids=lambda command: "-".join(command) or "gen")
def test_help_fits_into_a_narrow_terminal(command: list[str]) -> None:
    done = gen(*command, "--help", cwd=PROJECT, COLUMNS="80")
    assert done.returncode == 0
    assert not re.search(r"…(?!\S)", done.stdout), "a word that is cut off"
    assert "..." not in done.stdout.partition("\n")[2], "a text that is cut off"
    assert max(map(len, done.stdout.splitlines())) <= 80


TYPE = re.compile(r"<[^<>]+>|\[(?:bool|int|float|str|list|tuple|Path)\b|\b(?:TEXT|INTEGER|FLOAT|BOOLEAN|STR|INT)\b")
"""What typer shows of types."""


@for_each("command", COMMANDS)
def test_help_shows_no_types_of_python(command: str) -> None:
    shown = gen(command, "--help", cwd=PROJECT).stdout
    assert TYPE.findall(shown) == []
    assert max(map(len, shown.splitlines())) <= 120
    assert re.search(r"^  -h, --help +Show this message", shown, re.MULTILINE)


def test_types_of_python_are_found() -> None:
    shown = ["JOB <list[str]>", "--root <path>", "--tail <int range>", "--root PATH TEXT", "--n [int]", "-n INTEGER"]
    assert [text for text in shown if not TYPE.search(text)] == []


def test_help_imports_few_modules() -> None:
    """Start-up time is nearly all imports; `bench/` measures it."""
    heavy = ["pydantic", "yaml", "jinja2", "jsonschema_rs", "gen.render.pipeline"]
    script = (
        "import sys; from gen.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {heavy} if name in sys.modules])\n"
        "print(len(sys.modules), sum(name.partition('.')[0] == 'gen' for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    *_, imported, counts = done.stdout.splitlines()
    total, own = map(int, counts.split())
    assert imported == "[]"
    assert (total <= MAX_MODULES, own <= MAX_OWN_MODULES) == (True, True), counts
