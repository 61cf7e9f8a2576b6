"""A throw-away API server with its etcd: free ports, a folder of its own, gone when the test run ends."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from tests.e2e.client import Client

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_NEED_OTHER_OBJECTS = ("ServiceAccount", "Priority", "RuntimeClass")
"""Admission that refuses a pod because of an object which is the cluster's, not gen's: accounts, classes."""

_START_S = 120
_STOP_S = 20
_POLL_S = 0.1
LOG_TAIL = 4000


@contextmanager
def api_server(
    assets: Path,
    folder: Path,
    authorization: str = "AlwaysAllow",
    users: Mapping[str, str] | None = None,
    without: Sequence[str] = _NEED_OTHER_OBJECTS,
) -> Iterator[Client]:
    """Start the programs that `assets` holds, with their data in `folder`, and wait until they answer.

    `users` have a token each, besides the administrator. The server runs `without` some plugins of admission.
    """
    etcd_port, peer_port, port = free_ports(3)
    token = secrets.token_hex(16)
    more = "".join(f"{own},{user},{user}\n" for user, own in (users or {}).items())
    (folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n{more}", "utf-8")
    server = [*_kube_apiserver(assets, folder, etcd_port, port, without), f"--authorization-mode={authorization}"]
    with (
        running(_etcd(assets, folder, etcd_port, peer_port), folder / "etcd.log"),
        running(server, folder / "kube-apiserver.log") as process,
        closing(_ready_client(process, port, token, folder)) as client,
    ):
        yield client


def _etcd(assets: Path, folder: Path, port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        str(assets / "etcd"),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync=true",
        # the largest CRDs are over the ordinary limit of 1.5 MB
        f"--max-request-bytes={8 << 20}",
    ]


def _kube_apiserver(assets: Path, folder: Path, etcd_port: int, port: int, without: Sequence[str]) -> list[str]:
    return [
        str(assets / "kube-apiserver"),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder / 'certs'}",
        # nothing here issues or checks a token of a service account, but the server does not start without a key;
        # the one that it makes for TLS in the same folder, before it reads this one, will do
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={_key(folder)}",
        f"--service-account-signing-key-file={_key(folder)}",
        "--service-cluster-ip-range=10.0.0.0/24",
        # writes the server's address into the cluster, which may not be a loopback one
        "--endpoint-reconciler-type=none",
        f"--token-auth-file={folder / 'tokens.csv'}",
        f"--disable-admission-plugins={','.join(without)}",
        # whether a cluster allows it is the cluster's, too; RDMA devices, for one, may need it
        "--allow-privileged=true",
    ]


def _key(folder: Path) -> Path:
    return folder / "certs" / "apiserver.key"


def _ready_client(process: subprocess.Popen[bytes], port: int, token: str, folder: Path) -> Client:
    # the file holds the server's certificate with the one that signed it
    authority = folder / "certs" / "apiserver.crt"
    client = None
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        if client is None and authority.exists():
            client = Client(port, token, authority)
        if client is not None and client.is_ready():
            return client
        time.sleep(_POLL_S)
    logs = [(folder / name).read_text("utf-8", "replace")[-LOG_TAIL:] for name in ("etcd.log", "kube-apiserver.log")]
    raise RuntimeError("the API server did not become ready:\n" + "\n".join(logs))


@contextmanager
def running(
    command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A program with its output in `log`, stopped at the end. `environment` is added to that of this process."""
    env = {**os.environ, **(environment or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=env)
    with process:
        try:
            yield process
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on, all held until the last is known, so that they differ."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(one.getsockname()[1]) for one in held]
    finally:
        for one in held:
            one.close()
