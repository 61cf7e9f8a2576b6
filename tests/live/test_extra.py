"""Live commands without the client."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from gen.base.findings import UsageError
from gen.cli import app

if TYPE_CHECKING:
    from tests.support import Repository

LIVE = ["status", "retire", "logs", "top", "tensorboard"]


@pytest.mark.parametrize("command", LIVE)
def test_the_error_names_the_installation(command: str, repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(UsageError, match="install gen from its source with the extra `live`"):
        CliRunner().invoke(
            app,
            [
                *command.split(),
                *(["team/demo"] if command in {"logs", "tensorboard"} else []),
                "--root",
                str(repo.root),
            ],
            catch_exceptions=False,
        )


@pytest.mark.parametrize("command", LIVE)
def test_its_help_does_not_need_the_client(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    done = CliRunner().invoke(app, [command, "--help"], catch_exceptions=False)
    assert (done.exit_code, "--kubeconfig" in done.output) == (0, True)
