"""Values of the command line: those that need no check are the same without typer's conversion."""

from __future__ import annotations

import subprocess
import sys
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer

from gen.cli import MISTAKE
from gen.cli.command import make_command
from gen.cli.values import convert_directly
from gen.commands import COMMANDS
from tests.support import Repository

TEXTS = ["", ".", "a", "a/b", "12", "0", "-1", "0.5", "text", "json", "TEXT", "bash", "job", "no", "\udcff"]
VALUES = [None, *TEXTS, (), *((text,) for text in TEXTS), ("a", "b"), ["a"]]


def outcome(convert: Any, context: Any, value: Any) -> tuple[type, Any]:
    try:
        converted = convert(context, value)
    except MISTAKE as error:
        return type(error), str(error)
    if isinstance(converted, tuple | list):
        return list, [(type(item), item) for item in converted]
    return type(converted), converted


@pytest.mark.skipif(find_spec("typer._adapters") is None, reason="older releases of typer convert values later")
@pytest.mark.parametrize("name", COMMANDS)
def test_values_are_converted_as_by_typer(name: str) -> None:
    command = make_command(name)
    context = command.context_class(command, info_name=name)
    direct = 0
    for parameter in command.params:
        convert = parameter.process_value.args[0]
        default = parameter.get_default(context)
        choices = list(type(default)) if isinstance(default, StrEnum) else []
        for value in [*VALUES, default, *choices]:
            many = parameter.multiple or parameter.nargs == -1
            if value is None or isinstance(value, str) != many:  # the parser makes no others
                expected = outcome(convert, context, value)
                assert outcome(parameter.process_value, context, value) == expected, (parameter.name, value)
                direct += 1
    assert direct or not command.params


def test_an_invalid_value_is_typer_s_to_report() -> None:
    app = typer.Typer(add_completion=False)

    @app.command()
    def run(number: int = 1, path: Path | None = None) -> None:
        pass

    command = typer.main.get_command(app)
    convert_directly(command, {"number": int, "path": Path | None})
    number, path = command.params
    context = command.context_class(command)
    assert (number.process_value(context, "12"), path.process_value(context, "a")) == (12, Path("a"))
    with pytest.raises(typer.BadParameter, match="valid integer"):
        number.process_value(context, "a")


@pytest.mark.parametrize("arguments", [["check", "--output", "json", "--root", "."], ["validate", "rendered"]])
def test_typer_imports_no_pydantic(repo: Repository, arguments: list[str]) -> None:
    repo.job("kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n")
    subprocess.run([sys.executable, "-m", "gen", "render"], cwd=repo.root, check=True, capture_output=True)
    script = (
        "import sys; from gen.cli import app\n"
        f"try: app({arguments!r})\n"
        "except SystemExit as end: print(end.code, 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=repo.root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 False"
