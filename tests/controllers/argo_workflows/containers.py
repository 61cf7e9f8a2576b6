"""Containers of the pods of workflows, as processes of this machine.

A container has the files of this machine, and a mount namespace of its own with the volumes of its pod and the token of
its ServiceAccount. So the executor talks to the server with the rights of that account only.
"""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

_TOKEN = "/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a folder
_PROGRAMS = "/run/bin"
_ENTER = """\
set -e
mount -t tmpfs none /run
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "${2%/*}"; touch "$2"; fi
  mount --bind "$1" "$2"
  shift 2
done
shift
cd /
exec "$@"
"""
"""Arguments: sources and targets of mounts, `--`, and the command."""


def _expanded(text: str, environment: dict[str, str]) -> str:
    """As a kubelet replaces `$(NAME)` and `$$` (`third_party/forked/golang/expansion` of Kubernetes)."""

    def replaced(found: re.Match[str]) -> str:
        return "$" if found[1] is None else environment.get(found[1], found[0])

    return re.sub(r"\$(?:\$|\(([^)]*)\))", replaced, text)


@dataclass
class PodProcesses:
    """The processes of one pod, with a folder for its volumes and logs."""

    cluster: Cluster
    pod: Body
    folder: Path
    argoexec: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    stopped: bool = False

    def prepare(self) -> None:
        """The volumes of the pod, and the token of its account."""
        self.folder.mkdir(parents=True)
        namespace, account = self.pod["metadata"]["namespace"], self.pod["spec"]["serviceAccountName"]
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        response = self.cluster.client.create(path, request)
        assert response.status == 201, response.message
        token = self.folder / "token"
        token.mkdir()
        (token / "token").write_text(response.body["status"]["token"], "utf-8")
        (token / "namespace").write_text(namespace, "utf-8")
        (token / "ca.crt").write_bytes(self.cluster.client.authority.read_bytes())
        for volume in self.pod["spec"].get("volumes", []):
            path_of = self.folder / "volumes" / volume["name"]
            path_of.mkdir(parents=True)
            for name, text in self._data(volume).items():
                (path_of / name).write_text(text, "utf-8")

    def _data(self, volume: Body) -> dict[str, str]:
        if "configMap" not in volume:
            assert "emptyDir" in volume, f"a volume that no test needed until now: {volume}"
            return {}
        data: dict[str, str] = self._object("configmaps", volume["configMap"]["name"])["data"]
        return data

    def _object(self, resource: str, name: str) -> Body:
        response = self.cluster.client.get(f"/api/v1/namespaces/{self.pod['metadata']['namespace']}/{resource}/{name}")
        assert response.status == 200, response.message
        return response.body

    def start(self, container: Body) -> subprocess.Popen[bytes]:
        mounts = [one for pair in self._mounts(container) for one in map(str, pair)]
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _ENTER, "container"]
        environment = dict(self._environment(container))
        own = (_expanded(one, environment) for one in [*container.get("command", []), *container.get("args", [])])
        command = [*enter, *mounts, "--", *own]
        with (self.folder / f"{container['name']}.log").open("wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        self.running.append(process)
        return process

    def _mounts(self, container: Body) -> Iterator[tuple[Path, str]]:
        """Volumes at their places. `/tmp` is last: the other sources may be in it."""
        yield self.folder / "token", _TOKEN
        yield self.argoexec, f"{_PROGRAMS}/argoexec"
        own = self.folder / f"{container['name']}-tmp"
        own.mkdir()
        places = {"/tmp": own}  # noqa: S108 - of the container
        for mount in container.get("volumeMounts", []):
            source = self.folder / "volumes" / mount["name"] / mount.get("subPath", "")
            source.mkdir(parents=True, exist_ok=True)
            places[mount["mountPath"]] = source
        for place in sorted(places, key=lambda place: (place == "/tmp", place)):  # noqa: S108 - of the container
            yield places[place], place

    def _environment(self, container: Body) -> Iterator[tuple[str, str]]:
        yield "PATH", f"{_PROGRAMS}:{os.environ['PATH']}"
        yield "HOME", "/tmp"  # noqa: S108 - of the container
        yield "no_proxy", "*"
        yield "KUBERNETES_SERVICE_HOST", "127.0.0.1"
        yield "KUBERNETES_SERVICE_PORT", str(self.cluster.client.port)
        for one in container.get("env", []):
            yield one["name"], one["value"] if "value" in one else self._value(one.get("valueFrom"))

    def _value(self, source: Body | None) -> str:
        if source is None:
            return ""
        if "fieldRef" in source:
            return str(self.pod["metadata"][source["fieldRef"]["fieldPath"].removeprefix("metadata.")])
        reference = source["secretKeyRef"]
        return base64.b64decode(self._object("secrets", reference["name"])["data"][reference["key"]]).decode()

    def terminate(self) -> None:
        """SIGTERM to the first process of each container, as the controller sends it through the kubelet."""
        for process in self.running:
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split():
                    os.kill(int(child), signal.SIGTERM)

    def stop(self) -> None:
        """Kill all processes: the pod was deleted, or has been evicted."""
        self.stopped = True
        for process in self.running:
            with suppress(ProcessLookupError):
                process.kill()
