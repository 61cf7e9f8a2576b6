"""Programs of gen that are copies of a process, which has imported the modules and read the schemas: a start takes half
of a second less.

Each is a process of its own, with its own streams, environment and folder. Tests of imports, of an installation and of
the end of an interpreter start `python -m gen` instead.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROJECT = Path(__file__).parent.parent
MAIN = "from gen.__main__ import main\nmain()\n"
_NUMBER = 8
"""Bytes of a message, which is the number of a process or its exit code."""
_JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"


@dataclass(frozen=True)
class Program:
    """A started program. Its number belongs to it until `wait` returns."""

    pid: int

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, limit_s: float | None = None) -> int:
        """The exit code, as `subprocess` has it; nothing else can be started before. A limit ends the program."""
        server = _server()
        server.sendall(_message(self.pid))
        server.settimeout(limit_s)
        try:
            return _received(server)
        except TimeoutError:
            self.send_signal(signal.SIGKILL)
            server.settimeout(None)
            _received(server)
            raise
        finally:
            server.settimeout(None)


def start(
    arguments: Sequence[str | Path],
    streams: tuple[int, int, int],
    *,
    cwd: Path,
    env: Mapping[str, str],
    script: str = MAIN,
) -> Program:
    """Start gen, or another script, with descriptors for standard input, output and errors."""
    request = {"arguments": ["gen", *map(str, arguments)], "cwd": str(cwd), "env": dict(env), "script": script}
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(request).encode())
        file.seek(0)
        socket.send_fds(_server(), [_message(0)], [*streams, file.fileno()])
        return Program(_received(_server()))


def ran(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str], script: str = MAIN, limit_s: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run gen, or another script, as `subprocess.run` does."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open("rb") as nothing:
        streams = (nothing.fileno(), out.fileno(), err.fileno())
        code = start(arguments, streams, cwd=cwd, env=env, script=script).wait(limit_s)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["gen", *arguments], code, out.read().decode(), err.read().decode())


def _message(number: int) -> bytes:
    return number.to_bytes(_NUMBER, "little", signed=True)


def _received(connection: socket.socket) -> int:
    data = connection.recv(_NUMBER, socket.MSG_WAITALL)
    assert len(data) == _NUMBER, "the process that starts programs has ended"
    return int.from_bytes(data, "little", signed=True)


@cache
def _server() -> socket.socket:
    own, other = socket.socketpair()
    with other:
        command = [sys.executable, "-m", "tests.forks", str(other.fileno())]
        process = subprocess.Popen(command, cwd=PROJECT, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL)

    def end() -> None:
        own.close()
        process.wait()

    atexit.register(end)
    return own


def _prepare() -> None:
    """Import what programs use, and read the schemas."""
    from gen.commands import COMMANDS
    from gen.report.schemas import SCHEMAS
    from tests.support import Repository

    for module in (
        "gen.__main__",
        "gen.cli.command",
        "gen.editor.server",
        *(f"gen.commands.{name}" for name in COMMANDS),
    ):
        importlib.import_module(module)
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository.at(Path(folder, "repository"))
        repository.job(_JOB)
        assert repository.render()[1] == 0
        assert repository.check()[1] == 0
    for schema in SCHEMAS.values():
        schema()
    gc.disable()  # as the program does
    gc.collect()
    gc.freeze()


def _serve(connection: socket.socket) -> None:
    _prepare()
    while True:
        data, descriptors, _, _ = socket.recv_fds(connection, _NUMBER, 4)
        if not data:
            return
        if not descriptors:
            _, status = os.waitpid(int.from_bytes(data, "little", signed=True), 0)
            connection.sendall(_message(os.waitstatus_to_exitcode(status)))
            continue
        pid = os.fork()
        if pid == 0:
            connection.close()
            try:
                _become(descriptors)
            except BaseException:  # noqa: BLE001 - also the end of the program: nothing of the copied process may go on
                traceback.print_exc()
            os._exit(1)
        for one in descriptors:
            os.close(one)
        connection.sendall(_message(pid))


def _become(descriptors: list[int]) -> None:
    """Run the script of a request in this process. Gen ends it."""
    *streams, request = descriptors
    with open(request, "rb") as file:  # noqa: PTH123 - a descriptor
        given = json.load(file)
    for number, one in enumerate(streams):
        os.dup2(one, number)
        os.close(one)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - a descriptor, for the whole program
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115 - as above
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - as above
    os.chdir(given["cwd"])
    os.environ.clear()
    os.environ.update(given["env"])
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = given["arguments"]
    exec(given["script"], {"__name__": "__main__"})  # noqa: S102 - of a test


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as _connection, suppress(KeyboardInterrupt):
        _serve(_connection)
