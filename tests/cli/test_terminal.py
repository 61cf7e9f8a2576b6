"""Output on a real pseudo-terminal: excerpts, colors, links, widths, interruption."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest

from tests import forks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository

pytestmark = pytest.mark.slow  # programs on pseudo-terminals

JOB = """\
kind: pytorch
image: registry.example.com/team/train:1.0
command: python train.py
gpus: 8
timeout: 12h
"""
BROKEN = JOB.replace("gpus:", "gpu:") + "queues: 'x'\n"
STYLE = re.compile(r"\x1b\[[0-9;]*m")
INHERITED = (
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "CLICOLOR",
    "FORCE_HYPERLINK",
    "CI",
    "COLUMNS",
    "VTE_VERSION",
    "TERM_PROGRAM",
)


def on_terminal(*arguments: str, cwd: Path, columns: int = 80, **environment: str) -> str:
    """Output of gen to a terminal of this width."""
    return run_on_terminal(*arguments, cwd=cwd, columns=columns, **environment)


def run_on_terminal(*arguments: str, script: str = forks.MAIN, cwd: Path, columns: int = 80, **environment: str) -> str:
    """Output of gen, or of another script, to a terminal, which is its standard input, too."""
    own, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in INHERITED}
    env = {**kept, "TERM": "xterm", **environment}
    process = forks.start(arguments, (other, other, other), cwd=cwd, env=env, script=script)
    os.close(other)
    received = b"".join(iter(lambda: _read(own), b""))
    process.wait()
    os.close(own)
    return received.decode().replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # Linux: the other end is closed
        return b""


@pytest.fixture
def broken(repo: Repository) -> Repository:
    repo.write("jobs/team/train.yaml", BROKEN)
    return repo


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_terminal_shows_the_line_with_marks_in_its_width(broken: Repository, columns: int) -> None:
    shown = on_terminal("check", cwd=broken.root, columns=columns)
    plain = STYLE.sub("", shown)
    assert shown != plain
    assert max(map(len, plain.splitlines())) <= columns
    line = BROKEN.splitlines().index("queues: 'x'") + 1
    assert f"--> jobs/team/train.yaml:{line}:1\n" in plain
    assert f"{line} | queues: 'x'\n" in plain
    assert "\n  | ^^^^^^\n  = help: did you mean `queue`?\n" in plain


def test_the_standard_variables_decide_over_colors(broken: Repository) -> None:
    assert "\x1b" not in on_terminal("check", cwd=broken.root, NO_COLOR="1")
    assert "\x1b" not in on_terminal("check", cwd=broken.root, TERM="dumb")
    command = ("check", "--output", "full")
    env = {name: value for name, value in os.environ.items() if name not in INHERITED}
    piped = forks.ran(*command, cwd=broken.root, env=env).stdout
    assert "\x1b" not in piped
    assert " | queues: 'x'" in piped
    forced = {**env, "CLICOLOR_FORCE": "1"}
    colored = forks.ran(*command, cwd=broken.root, env=forced).stdout
    assert STYLE.sub("", colored) == piped != colored


def test_places_are_links_where_the_terminal_has_them(broken: Repository) -> None:
    assert "\x1b]8;;" not in on_terminal("check", cwd=broken.root)
    shown = on_terminal("check", cwd=broken.root, TERM_PROGRAM="WezTerm")
    assert re.search(r"\x1b]8;;file://[^/]*/.*/jobs/team/train.yaml\x1b\\jobs/team/train.yaml:\d+:1\x1b]8;;", shown)


def test_a_line_of_a_linked_file_is_not_shown(repo: Repository, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("hidden: 1\n", "utf-8")
    (repo.root / "jobs/team").mkdir(parents=True, exist_ok=True)
    (repo.root / "jobs/team/link.yaml").symlink_to(tmp_path / "private")
    shown = on_terminal("check", cwd=repo.root)
    assert "link.yaml" in shown
    assert "hidden" not in shown


INTERRUPTED = """
import os, signal, sys
from {module} import {name} as target
import {module} as module

def interrupted(*arguments, **options):
    os.kill(os.getpid(), signal.{signal})
    return target(*arguments, **options)

setattr(module, "{name}", interrupted)
sys.argv = ["gen", "render", "--parallel", "1"]
from gen.__main__ import main
main()
"""


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_an_interruption_on_a_screen(repo: Repository, columns: int, update_golden: bool) -> None:
    from tests.cli.test_screens import compare

    repo.write("jobs/team/train.yaml", JOB)
    script = INTERRUPTED.format(module="gen.render.write", name="_create", signal="SIGINT")
    shown = run_on_terminal(script=script, cwd=repo.root, columns=columns)
    compare(shown, "interrupted", columns, update_golden)


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("gen.render.stages", "make_plan", "gen: interrupted\n"),
        (
            "gen.render.write",
            "_create",
            "gen: interrupted while writing; run `gen render` again to write the rest\n",
        ),
    ],
)
def test_an_interrupt_is_reported_and_the_next_run_completes_the_work(
    repo: Repository, module: str, name: str, said: str, signal: str
) -> None:
    repo.write("jobs/team/train.yaml", JOB)
    script = INTERRUPTED.format(module=module, name=name, signal=signal)
    done = forks.ran(script=script, cwd=repo.root, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)
    assert not list(repo.root.rglob(".gen*"))
    assert repo.render()[1] == 0
    assert not list((repo.root / "rendered").rglob(".*"))


DURING_IMPORTS = """
import os, signal, sys
def replaced():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        pass
    raise ValueError("KeyboardInterrupt")
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            {interrupt}
    def __set_name__(self, *_):
        os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["gen", "render"]
from gen.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("module", "interrupt"),
    [
        ("typer", "os.kill(os.getpid(), signal.SIGINT)"),
        ("gen.render.pipeline", "os.kill(os.getpid(), signal.SIGINT)"),
        ("gen.render.pipeline", "replaced()"),
        ("gen.render.pipeline", "type('Made', (), {'field': Interrupting()})  # which raises a RuntimeError"),
    ],
)
def test_an_interrupt_during_imports_is_no_bug(repo: Repository, module: str, interrupt: str) -> None:
    script = DURING_IMPORTS.format(module=module, interrupt=interrupt)
    done = subprocess.run([sys.executable, "-c", script], cwd=repo.root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "gen: interrupted\n")


def test_an_import_without_a_source_does_not_wait_for_typing(repo: Repository) -> None:
    shown = run_on_terminal("import", "arena", cwd=repo.root)
    assert shown == "gen: missing argument: name a file, or `-` for standard input; `gen import --help` lists more\n"
