"""Webhooks of a controller that runs outside of the cluster instead of in a pod.

The server finds the controller by a Service of type ExternalName. Controllers with a certificate rotator write their
certificate into a Secret, which a pod would mount; `mount` copies it to the folder that they read.
"""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

_FILES = ("ca.crt", "ca.key", "tls.key", "tls.crt")
"""The last one is that for which a rotator waits."""


def add_service(cluster: Cluster, namespace: str, name: str) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }
    cluster.apply(body)


def self_signed(folder: Path, host: str) -> str:
    """Write the certificate of a webhook server, for programs that do not make one. Returns its authority."""
    folder.mkdir(parents=True, exist_ok=True)
    certificate = folder / "tls.crt"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={host[:60]}"]
    target = ["-keyout", str(folder / "tls.key"), "-out", str(certificate), "-addext", f"subjectAltName=DNS:{host}"]
    subprocess.run([*command, *target], check=True, capture_output=True)
    return base64.b64encode(certificate.read_bytes()).decode()


def add_secret(cluster: Cluster, namespace: str, name: str) -> None:
    """An empty Secret, which the rotator fills."""
    cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}})


def add_configurations(cluster: Cluster, manifests: Path, service: Body, rename: Callable[[Body], None]) -> list[Body]:
    """The webhook configurations of a file, with another service. `rename` can change more of each."""
    added = []
    for body in yaml.safe_load_all(manifests.read_bytes()):
        for webhook in body["webhooks"]:
            webhook["clientConfig"]["service"] |= service
        rename(body)
        cluster.apply(body)
        added.append(body)
    return added


def mount(cluster: Cluster, namespace: str, name: str, folder: Path) -> bool:
    """Copy the certificate of a Secret to a folder; whether there is one."""
    data = cluster.client.get(f"/api/v1/namespaces/{namespace}/secrets/{name}").body.get("data") or {}
    if not all(data.get(file) for file in _FILES):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for file in _FILES:
        (folder / file).write_bytes(base64.b64decode(data[file]))
    return True
