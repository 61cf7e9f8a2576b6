"""A copy of the process that starts programs is a program of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import forks

pytestmark = pytest.mark.slow  # the first program imports what all of them use
SHOW = "import os, sys; print(os.getcwd(), os.environ, sys.argv); print('é', file=sys.stderr); os.environ['B'] = '2'\n"


def test_a_program_has_its_folder_environment_and_streams(tmp_path: Path) -> None:
    for arguments in (("a", "b"), ("c",)):
        done = forks.ran(*arguments, script=f"{SHOW}sys.stdout.flush(); os._exit(5)", cwd=tmp_path, env={"A": "1"})
        assert done.returncode == 5
        assert done.stdout == f"{tmp_path} environ({{'A': '1'}}) {['gen', *arguments]}\n"
        assert done.stderr == "é\n"


def test_an_error_and_a_crash_end_the_program_alone(tmp_path: Path) -> None:
    done = forks.ran(script="raise SystemExit(0)", cwd=tmp_path, env={})
    assert (done.returncode, done.stdout) == (1, "")  # gen ends its process itself
    assert "SystemExit: 0" in done.stderr
    assert forks.ran(script="import os; os.abort()", cwd=tmp_path, env={}).returncode == -6
    assert forks.ran("--version", cwd=tmp_path, env=os.environ).returncode == 0


def test_a_program_above_its_limit_is_ended(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        forks.ran(script="import select; select.select([], [], [])", cwd=tmp_path, env={}, limit_s=0.1)
    assert forks.ran("--version", cwd=tmp_path, env=os.environ).stdout.startswith("gen ")
