"""Argo CD as its release installs it: its CRDs and settings in the cluster, its programs on this machine.

`argocd` in the folder of the controllers is the binary, which is every component by the name that it is started with.
`argocd.manifests/install.yaml` is that of the same release. Intervals are short: all default to minutes.
"""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.controllers.programs import Programs, answers
from tests.controllers.waiting import wait
from tests.e2e.server import free_ports, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

NAMESPACE = "argocd"
_INTERVAL_S = 5
_COMMAND_S = 60
_WRAPPERS = ("git-verify-wrapper.sh", "gpg-wrapper.sh")
"""Programs that verify signatures of commits. The repo-server looks for them even if it does not verify any."""
_COMPONENTS = ("application-controller", "repo-server", "applicationset-controller", "notifications", "git-ask-pass")


@dataclass(frozen=True, slots=True)
class ArgoCD:
    """A running Argo CD, in a cluster that it also manages as `in-cluster`."""

    cluster: Cluster
    kubeconfig: Path
    program: str
    """Path of kubectl."""

    def kubectl(self, *arguments: str) -> str:
        """Output of kubectl, which must succeed."""
        command = [self.program, f"--kubeconfig={self.kubeconfig}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_S, check=False)
        assert done.returncode == 0, f"{' '.join(arguments)}: {done.stderr}"
        return done.stdout


@contextmanager
def started(cluster: Cluster, programs: Programs, slack: str) -> Iterator[ArgoCD]:
    """Install Argo CD and run it. `slack` is the URL of the API of Slack."""
    program, release = binary(programs), installation(programs)
    redis_server, kubectl = _tool("redis-server", programs), _tool("kubectl", programs)
    folder = programs.work / "argocd"
    folder.mkdir()
    kubeconfig = programs.kubeconfig(cluster)
    argo_cd = ArgoCD(cluster, kubeconfig, kubectl)
    _install(argo_cd, folder, release, slack)
    redis, repo, *ports = free_ports(8)
    environment = _environment(program, folder, kubeconfig)
    kubernetes = ("--kubeconfig", str(kubeconfig), "--namespace", NAMESPACE)
    to_redis, to_repo = ("--redis", f"127.0.0.1:{redis}"), f"127.0.0.1:{repo}"
    metrics, probe, hooks = f"127.0.0.1:{ports[2]}", f"127.0.0.1:{ports[3]}", f"127.0.0.1:{ports[4]}"
    commands: dict[str, tuple[str, ...]] = {
        "redis": (redis_server, "--port", str(redis), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"),
        "repo-server": (
            *("--port", str(repo), "--address", "127.0.0.1", "--metrics-address", "127.0.0.1"),
            *("--metrics-port", str(ports[0]), "--revision-cache-expiration", "2s", *to_redis),
        ),
        "application-controller": (
            *(*kubernetes, *to_redis, "--repo-server", to_repo, "--metrics-port", str(ports[1])),
            *("--app-resync", str(_INTERVAL_S), "--app-resync-jitter", "0", "--repo-error-grace-period-seconds", "2"),
        ),
        "applicationset-controller": (
            *(*kubernetes, "--argocd-repo-server", to_repo),
            *("--metrics-addr", metrics, "--probe-addr", probe, "--webhook-addr", hooks),
        ),
        "notifications": (*kubernetes, "--argocd-repo-server", to_repo, "--metrics-port", str(ports[5])),
    }
    with ExitStack() as stack:
        for name, arguments in commands.items():
            path = () if name == "redis" else (str(folder / "bin" / f"argocd-{name}"),)
            stack.enter_context(running([*path, *arguments], folder / f"{name}.log", environment))
        wait(lambda: answers(f"http://127.0.0.1:{ports[1]}/healthz"), "application controller")
        yield argo_cd


def binary(programs: Programs) -> Path:
    """The binary of Argo CD, or a skip."""
    program = programs.folder / "argocd"
    if not program.is_file():
        pytest.skip(f"{program} is missing; scripts/controllers/argocd.sh builds or copies it")
    return program


def installation(programs: Programs) -> Path:
    """`install.yaml` of Argo CD, or a skip."""
    path = programs.manifests("argocd") / "install.yaml"
    if not path.is_file():
        pytest.skip(f"{path} is missing; scripts/controllers/argocd.sh builds or copies it")
    return path


def _tool(name: str, programs: Programs) -> str:
    """A program of this machine, or one that the script of Argo CD has built."""
    program = shutil.which(name) or shutil.which(name, path=programs.folder)
    if program is None:
        pytest.skip(f"{name} is not installed")
    return program


def settings(release: Path) -> list[Body]:
    """ConfigMaps and Secrets of the release."""
    bodies = yaml.load_all(release.read_bytes(), yaml.CSafeLoader)
    return [body for body in bodies if body and body["kind"] in {"ConfigMap", "Secret"}]


def write(path: Path, bodies: list[Body]) -> str:
    """A file with objects for kubectl."""
    path.write_text(yaml.dump_all(bodies, Dumper=yaml.CSafeDumper), "utf-8")
    return str(path)


def _install(argo_cd: ArgoCD, folder: Path, release: Path, slack: str) -> None:
    bodies = yaml.load_all(release.read_bytes(), yaml.CSafeLoader)
    argo_cd.cluster.install(body for body in bodies if body and body["kind"] == "CustomResourceDefinition")
    argo_cd.cluster.add_namespaces([NAMESPACE])
    file = write(folder / "settings.yaml", settings(release))
    argo_cd.kubectl("apply", "--namespace", NAMESPACE, "-f", file)
    patches = {
        "secret/argocd-secret": {"stringData": {"server.secretkey": "c2VjcmV0"}},
        "configmap/argocd-cm": {"data": {"url": "https://argocd.example.com"}},
        "configmap/argocd-notifications-cm": {"data": {"service.slack": f"token: x\napiURL: {slack}/api/\n"}},
    }
    for name, patch in patches.items():
        text = yaml.safe_dump(patch)
        argo_cd.kubectl("patch", name, "--namespace", NAMESPACE, "--type=merge", f"--patch={text}")


def _environment(program: Path, folder: Path, kubeconfig: Path) -> dict[str, str]:
    programs = folder / "bin"
    programs.mkdir()
    for name in _COMPONENTS:
        (programs / f"argocd-{name}").symlink_to(program)
    for name in _WRAPPERS:
        (programs / name).write_text("#!/bin/sh\n", "utf-8")
        (programs / name).chmod(0o755)
    folders = {name: folder / name for name in ("temporary", "tls", "ssh", "plugins")}
    for path in folders.values():
        path.mkdir()
    (folders["ssh"] / "ssh_known_hosts").touch()
    return {
        "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        "KUBECONFIG": str(kubeconfig),
        "TMPDIR": str(folders["temporary"]),
        "ARGOCD_FAKE_IN_CLUSTER": "true",
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_TLS_DATA_PATH": str(folders["tls"]),
        "ARGOCD_SSH_DATA_PATH": str(folders["ssh"]),
        "ARGOCD_PLUGINSOCKFILEPATH": str(folders["plugins"]),
        "ARGOCD_RECONCILIATION_TIMEOUT": f"{_INTERVAL_S}s",
        "ARGOCD_RECONCILIATION_JITTER": "0s",
        "ARGOCD_APPLICATIONSET_CONTROLLER_REQUEUE_AFTER": f"{_INTERVAL_S}s",
        "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_TIMEOUT_SECONDS": "2",
    }
