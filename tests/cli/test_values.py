"""Values of the command line have the types of requests."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from gen.cli import app
from gen.commands.common import Result
from gen.commands.schema import Document


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests of the commands that a test runs."""
    received: list[Any] = []

    def run(request: Any) -> Result[str]:
        received.append(request)
        return Result(output="")

    for name in ("check", "schema", "status", "validate"):
        module: ModuleType = import_module(f"gen.commands.{name}")
        monkeypatch.setattr(module, "run", run)
        monkeypatch.setattr(module, "FORMATS", {"text": str, "json": str}, raising=False)
    return received


def request(requests: list[Any], *arguments: str) -> Any:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return requests.pop()


def test_values_have_the_types_of_the_request(requests: list[Any]) -> None:
    arguments = ("team/a", "b", "--parallel", "2", "--root", "x", "--overlay", "dev", "--output", "json", "--fix")
    check = request(requests, "check", *arguments)
    assert (check.jobs, check.parallel, check.root, check.overlay) == (("team/a", "b"), 2, Path("x"), ("dev",))
    assert (check.fix, check.no_cache) == (True, False)
    assert request(requests, "schema", "job").document is Document("job")
    assert request(requests, "status", "--request-timeout", "0.5").request_timeout == 0.5
    validate = request(requests, "validate", "a", "b", "--policy", "p")
    assert (validate.paths, validate.policies, validate.schemas) == (("a", "b"), (Path("p"),), ())


def test_values_that_are_not_given_are_the_defaults(requests: list[Any]) -> None:
    check = request(requests, "check")
    assert (check.jobs, check.overlay, check.root, check.parallel) == ((), (), None, 0)
