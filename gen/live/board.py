"""A way to the TensorBoard of a job: a port of this machine that leads to its pod."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from gen.base import at, regex
from gen.base.codes.clusters import NO_TENSORBOARD
from gen.kubernetes.facts.state import has_condition
from gen.kubernetes.objects import COMPONENT, JOB_LABEL, Body
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.requests import Collection, base_of, list_objects
from gen.render.parts.metadata import BOARD

_CHUNK: Final = 1 << 16
_PREFIX = regex(r"--path_prefix=(/[\w./-]*)", re.ASCII)
_LOCAL: Final = "127.0.0.1"
"""No other machine can use the port."""


class Board(Struct, frozen=True, kw_only=True):
    """A pod of a TensorBoard that is ready."""

    namespace: str
    pod: str
    port: int
    path: str
    """Path of its page."""


def find_board(api: Api, namespace: str, job: str) -> Board | None:
    """The pod of the TensorBoard of a job; None if none is ready. ClusterError without an answer."""
    selector = f"{JOB_LABEL}={job},{COMPONENT}={BOARD}"
    pods = list_objects(api, Collection(base=base_of("v1"), resource="pods", namespace=namespace, selector=selector))
    present = (body for body in pods.items if "deletionTimestamp" not in body["metadata"])
    return next((_board(body) for body in present if has_condition(body, "Ready")), None)


def _board(body: Body) -> Board:
    containers: Any = at(body, "spec", "containers")
    container = next((one for one in containers if one.get("name") == BOARD), containers[0])
    ports = [int(one["containerPort"]) for one in container.get("ports") or ()]
    prefixes = (_PREFIX.fullmatch(str(argument)) for argument in container.get("args") or ())
    return Board(
        namespace=str(at(body, "metadata", "namespace")),
        pod=str(at(body, "metadata", "name")),
        port=ports[0] if ports else 80,
        path=next((match[1] for match in prefixes if match), "") + "/",
    )


class Forwarder:
    """Listens on a port of this machine, and passes each connection on to the pod."""

    def __init__(self, api: Api, board: Board, job: str, port: int) -> None:
        self._api, self._board, self._job = api, board, job
        self._listener = socket.create_server((_LOCAL, port))
        self.url = f"http://{_LOCAL}:{self._listener.getsockname()[1]}{board.path}"

    def errors(self) -> Iterator[ClusterError]:
        """Serve until it is closed. A connection that cannot be made is an error, and the next one is tried again."""
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                try:
                    there = self._connect()
                except ClusterError as error:
                    here.close()
                    yield error
                    continue
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=_pass, args=(one, other), daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _connect(self) -> socket.socket:
        """Another pod may have replaced the one that was found first."""
        try:
            return self._api.forward(self._board.namespace, self._board.pod, self._board.port)
        except (ClusterError, NotFoundError):
            found = find_board(self._api, self._board.namespace, self._job)
            self._board = found or self._board
            try:
                return self._api.forward(self._board.namespace, self._board.pod, self._board.port)
            except NotFoundError as error:
                hint = "wait for another pod"
                raise ClusterError(NO_TENSORBOARD, f"the pod of TensorBoard is gone: {error}", hint) from None


def _pass(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(_CHUNK):
            other.sendall(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
