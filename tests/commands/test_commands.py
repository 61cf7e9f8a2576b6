"""Every command has the same shape, and one file and one line make another one."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import pytest
import typer
from msgspec import Struct
from msgspec.structs import asdict
from typer.testing import CliRunner

from gen import commands
from gen.cli import app, command_line
from gen.commands import COMMANDS
from gen.commands.common import Overlays, Result
from gen.report.formats import PLAN_REPORTERS, REPORTERS
from gen.report.schemas import SCHEMAS
from tests.cases import for_each
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable

SHARED = {
    "__init__",
    "changes",
    "common",
    "environment",
    "rendering",
    "verb",
}


@for_each("name", COMMANDS)
def test_a_command_has_a_request_and_a_run(name: str) -> None:
    module = import_module(f"gen.commands.{name}")
    request = module.Request
    assert request.__struct_config__.frozen
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in inspect.signature(request).parameters.values())
    assert list(inspect.signature(module.run).parameters) == ["request"]
    assert COMMANDS[name].endswith("."), "a summary is a sentence"


def test_every_file_is_a_command_or_shared_by_commands() -> None:
    files = {path.stem for path in (PROJECT / "gen/commands").glob("*.py")}
    assert files - SHARED == set(COMMANDS)


@pytest.mark.parametrize(
    ("command", "choices"),
    [("render", REPORTERS), ("validate", REPORTERS), ("plan", PLAN_REPORTERS), ("schema", SCHEMAS)],
)
def test_choices_are_those_of_the_registry(command: str, choices: Iterable[str]) -> None:
    shown = " ".join(CliRunner().invoke(app, [command, "--help"]).output.split())
    assert ", ".join(choices) in shown or "|".join(choices) in shown


def test_one_file_and_one_line_make_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    class Request(Struct, frozen=True, kw_only=True):
        name: Annotated[str, typer.Argument(help="Name.", metavar="NAME")]
        overlay: Overlays = ()

    def run(request: Request) -> Result[dict[str, Any]]:
        return Result(output=asdict(request), exit_code=1)

    module = ModuleType("gen.commands.greet")
    vars(module).update(Request=Request, run=run, FORMATS={"text": lambda output: f"{output}\n", "json": str})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(commands.COMMANDS, "greet", "Print a greeting.")
    app = command_line()
    done = CliRunner().invoke(app, ["greet", "a", "--overlay", "x", "--overlay", "y"])
    assert (done.exit_code, done.output) == (1, "{'name': 'a', 'overlay': ('x', 'y')}\n")
    assert CliRunner().invoke(app, ["greet", "a", "--output", "json"]).output == "{'name': 'a', 'overlay': ()}"
    assert "Print a greeting." in CliRunner().invoke(app, ["--help"]).output
