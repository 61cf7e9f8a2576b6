"""Programs of controllers, with their logs, files to connect to a server, and the wait until they are ready."""

from __future__ import annotations

import json
import os
import socket
import ssl
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.controllers.waiting import wait
from tests.e2e.server import LOG_TAIL, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

START_S = 180
ROTATED = Path("/tmp/k8s-webhook-server/serving-certs")  # noqa: S108 - `cert.go` of the operators has no other
"""Where rotators look whether a pod would have mounted the certificate. Only the existence of the file counts."""


@dataclass(frozen=True, slots=True)
class Controller:
    """A running controller."""

    name: str
    log: Path

    def tail(self) -> str:
        return self.log.read_text("utf-8", "replace")[-LOG_TAIL:]


@dataclass(frozen=True, slots=True)
class Programs:
    """The folder that `scripts/controllers/*.sh` fill, and one for the files of running controllers."""

    folder: Path
    work: Path

    def path(self, name: str) -> Path:
        """The program, or a skip of the test that needs it."""
        program = self.folder / name
        if not os.access(program, os.X_OK):
            pytest.skip(f"{name} is missing in {self.folder}; scripts/controllers/ builds it")
        return program

    def manifests(self, name: str) -> Path:
        """Files that the script copied from the sources of the program, such as its CRDs."""
        return self.folder / f"{name}.manifests"

    def definitions(self, name: str, folder: str = "") -> list[Body]:
        """CRDs of a controller."""
        found = (
            yaml.load(path.read_bytes(), yaml.CSafeLoader)
            for path in sorted((self.manifests(name) / folder).glob("*.yaml"))
        )
        return [body for body in found if body["kind"] == "CustomResourceDefinition"]

    def kubeconfig(self, cluster: Cluster) -> Path:
        path = self.work / f"kubeconfig-{cluster.client.port}.json"
        path.write_text(json.dumps(cluster.client.kubeconfig()), "utf-8")
        return path

    @contextmanager
    def started(
        self,
        name: str,
        arguments: Sequence[str],
        ready: Callable[[], bool],
        environment: dict[str, str] | None = None,
    ) -> Iterator[Controller]:
        """Start a program and wait for `ready`; stop it at the end."""
        log = self.work / f"{name}-{len(list(self.work.glob('*.log')))}.log"
        with running([str(self.path(name)), *arguments], log, environment) as process:
            controller = Controller(name, log)
            try:
                wait(lambda: process.poll() is not None or ready(), f"ready {name}", START_S)
                assert process.poll() is None
            except AssertionError as error:
                raise RuntimeError(f"{name} did not become ready:\n{controller.tail()}") from error
            yield controller
            assert process.poll() is None, f"{name} exited:\n{controller.tail()}"


def wait_for_port(port: int) -> None:
    """For programs without a flag for a port: another test run on the same machine may have it."""
    wait(lambda: _is_free(port), f"free port {port}", START_S)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def answers_over_tls(port: int) -> bool:
    """Whether a health endpoint returns success, with a certificate that the program has just signed itself."""
    unverified = ssl._create_unverified_context()  # noqa: S323, SLF001 - a loopback address
    try:
        with urllib.request.urlopen(f"https://127.0.0.1:{port}/healthz", timeout=5, context=unverified) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def answers(url: str) -> bool:
    """Whether a health endpoint returns success."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - of a controller on this machine
            return bool(response.status == 200)
    except OSError:
        return False
