"""A connection to a server that a test can cut off or let hang."""

from __future__ import annotations

import contextlib
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 1 << 16


class Proxy:
    """Passes bytes on to a port of this machine."""

    def __init__(self, port: int) -> None:
        self._to, self._open = port, list[socket.socket]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.silent = False
        """Whether new connections are accepted and never answered."""
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections."""
        held, self._open = self._open, []
        for one in held:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                self.connections += 1
                self._open.append(here)
                if not self.silent:
                    there = socket.create_connection(("127.0.0.1", self._to))
                    self._open.append(there)
                    for one, other in ((here, there), (there, here)):
                        threading.Thread(target=_pass, args=(one, other), daemon=True).start()


def _pass(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(_CHUNK):
            other.sendall(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(port: int) -> Iterator[Proxy]:
    made = Proxy(port)
    try:
        yield made
    finally:
        made.close()
