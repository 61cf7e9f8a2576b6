"""`gen` as a program: in a process of its own, or in this process, which needs no start."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING, NoReturn
from unittest.mock import patch

from gen.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

gc.enable()  # the program disables it when it starts

ENVIRONMENT = {"NO_COLOR": "1", "COLUMNS": "200"}


def gen_process(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `gen` as users do."""
    command = [sys.executable, "-m", "gen", *arguments]
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


class _Exit(BaseException):
    """Replaces the end of the process."""


_end_process = os._exit
_tests = os.getpid()


def _exit(code: int) -> NoReturn:
    if os.getpid() != _tests:  # a process of `gen.base.parallel`, which is a fork of this one
        _end_process(code)
    raise _Exit(code)


def gen(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line of `gen` in this process, up to its exit code."""
    command = ["gen", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", command),
        patch.object(os, "_exit", _exit),
        patch.dict(os.environ, {**ENVIRONMENT, **environment}),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except _Exit as ended:
            code = ended.args[0]
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())
