"""The environment of MPI ranks: a worker's sshd as rendered, and real launchers, over the loopback.

Open MPI and MPICH are those of Debian; Intel MPI is in the folder that `I_MPI_ROOT` names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.controllers.waiting import wait
from tests.e2e.server import free_ports, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.support import Repository

_SSHD = "/usr/sbin/sshd"
HOST = "127.0.0.2"
"""On the loopback, but no address of an interface: Open MPI would start ranks there without ssh."""
JOB = """\
kind: mpi
image: a:1
command: mpirun train
workers: 1
implementation: {implementation}
network: host
env:
  NCCL_DEBUG: INFO
  QUOTES: it's "two  words" $HOME `id`
  LINES: "first\\nsecond"
roles:
  worker: {{env: {{OF_WORKER: "yes", TOKEN: {{secret: token, key: key}}}}}}
"""
SECRET = "'; exit 3 #"  # noqa: S105 - one that a shell would take for a command


@dataclass(frozen=True, slots=True)
class Ssh:
    """Keys of a launcher and of its worker, and the configuration that an image would have."""

    folder: Path
    port: int

    def make(self) -> None:
        for name in ("host", "id"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        # the privilege separation of sshd, which the service of the system creates otherwise
        Path("/run/sshd").mkdir(exist_ok=True)

    @property
    def server_options(self) -> str:
        """In an image, these are in `sshd_config`, and the key is where the operator mounts it."""
        options = {
            "HostKey": self.folder / "host",
            "AuthorizedKeysFile": self.folder / "id.pub",
            "ListenAddress": HOST,
            "StrictModes": "no",
            "UsePAM": "no",
            "PidFile": "none",
        }
        return " ".join(f"-o {name}={value}" for name, value in options.items()) + " -f /dev/null"

    def client(self, command: str) -> list[str]:
        return ["ssh", *self.client_options.split(), "-p", str(self.port), f"root@{HOST}", command]

    @property
    def client_options(self) -> str:
        return (
            f"-o ConnectionAttempts=10 -i {self.folder / 'id'} -o StrictHostKeyChecking=no "
            "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        )


def need(program: str, package: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is missing; on Debian, install {package}")


@pytest.fixture
def ssh(tmp_path: Path) -> Ssh:
    need(_SSHD, "openssh-server")
    need("ssh", "openssh-client")
    if os.geteuid() != 0:
        pytest.skip("sshd starts sessions for other keys than those of the user only as root")
    (port,) = free_ports(1)
    folder = tmp_path / "ssh"
    folder.mkdir()
    ssh = Ssh(folder, port)
    ssh.make()
    return ssh


def containers(repo: Repository, implementation: str) -> dict[str, Body]:
    network = "network: host\n" if implementation == "OpenMPI" else ""
    text = JOB.format(implementation=implementation).replace("network: host\n", network)
    repo.job(text)
    roles = repo.one("MPIJob")["spec"]["mpiReplicaSpecs"]
    return {name: role["template"]["spec"]["containers"][0] for name, role in roles.items()}


def environment(container: Body) -> dict[str, str]:
    """Environment of a container: nothing of this process."""
    given = {"PATH": "/opt/own/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root"}
    return {**given, **{entry["name"]: entry.get("value", SECRET) for entry in container["env"]}}


@contextmanager
def worker(container: Body, ssh: Ssh, folder: Path) -> Iterator[None]:
    """Sshd with its rendered command and environment, and with the keys of the test."""
    shell, option, script = container["command"]
    start = "exec /usr/sbin/sshd -De"
    assert start in script
    # the first value of an option counts, and every port
    port = "" if f"-p {ssh.port}" in script else f" -p {ssh.port}"
    command = [shell, option, script.replace(start, f"{start} {ssh.server_options}{port}")]
    clean = ["env", "-i", *(f"{name}={value}" for name, value in environment(container).items()), *command]
    with running(clean, folder / "sshd.log"):
        wait(lambda: run(ssh.client("true"), {}).returncode == 0, "sshd")
        yield


def run(command: list[str], container: Body) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment(container) if container else None,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def expected(container: Body) -> dict[str, str]:
    names = {entry["name"] for entry in container["env"]}
    return {name: value for name, value in environment(container).items() if name in names or name == "PATH"}


def printed(output: str) -> dict[str, str]:
    return dict(entry.split("=", 1) for entry in output.split("\0") if "=" in entry)


@pytest.fixture(autouse=True)
def _no_environment_left() -> Iterator[None]:
    """The file is that of a worker's container, and here that of the machine."""
    yield
    Path("/dev/shm/.environment").unlink(missing_ok=True)  # noqa: S108 - as rendered


def test_open_mpi_on_the_network_of_the_nodes(repo: Repository, ssh: Ssh, tmp_path: Path) -> None:
    need("mpirun", "openmpi-bin")
    roles = containers(repo, "OpenMPI")
    launcher, ranks = roles["Launcher"], roles["Worker"]
    agent = next(entry["value"] for entry in launcher["env"] if entry["name"] == "OMPI_MCA_plm_rsh_agent")
    ssh = replace(ssh, port=int(agent.removeprefix("ssh -p ")))
    hostfile = tmp_path / "hostfile"
    hostfile.write_text(f"{HOST} slots=2\n", "utf-8")
    # the additions of the operator to the launcher, with the keys of the test
    given = {
        "OMPI_MCA_orte_default_hostfile": str(hostfile),
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_set_default_slots": "2",
        "OMPI_MCA_plm_rsh_args": ssh.client_options,
        "ONLY_OF_THE_LAUNCHER": "yes",
    }
    launcher["env"] += [{"name": name, "value": value} for name, value in given.items()]
    with worker(ranks, ssh, tmp_path):
        done = run(["mpirun", "--allow-run-as-root", "-np", "2", "env", "-0"], launcher)
        assert done.returncode == 0, done.stderr
        assert printed(done.stdout).items() >= expected(ranks).items()
        assert "ONLY_OF_THE_LAUNCHER" not in printed(done.stdout)
        command = ["mpirun", "--allow-run-as-root", "-np", "1", "-x", "ONLY_OF_THE_LAUNCHER", "env", "-0"]
        assert printed(run(command, launcher).stdout)["ONLY_OF_THE_LAUNCHER"] == "yes"


def test_mpich(repo: Repository, ssh: Ssh, tmp_path: Path) -> None:
    """Hydra passes the environment of the launcher on, and there, too, variables of a worker reach its ranks."""
    need("mpiexec.mpich", "mpich")
    roles = containers(repo, "MPICH")
    launcher, ranks = roles["Launcher"], roles["Worker"]
    hostfile = tmp_path / "hostfile"
    hostfile.write_text(f"{HOST}:2\n", "utf-8")
    given = {"HYDRA_HOST_FILE": str(hostfile), "HYDRA_LAUNCHER_EXTRA_ARGS": f"{ssh.client_options} -p {ssh.port}"}
    launcher["env"] += [{"name": name, "value": value} for name, value in given.items()]
    with worker(ranks, ssh, tmp_path):
        done = run(["mpiexec.mpich", "-np", "2", "env", "-0"], launcher)
        assert done.returncode == 0, done.stderr
        assert printed(done.stdout).items() >= expected(ranks).items()


def test_intel_mpi(repo: Repository, ssh: Ssh, tmp_path: Path) -> None:
    """Like MPICH; the launcher reaches its workers with the options that the operator has for Intel MPI."""
    root = os.environ.get("I_MPI_ROOT")
    if root is None:
        pytest.skip("I_MPI_ROOT names no folder with Intel MPI, such as a virtual environment with the package impi-rt")
    roles = containers(repo, "Intel")
    launcher, ranks = roles["Launcher"], roles["Worker"]
    hostfile = tmp_path / "hostfile"
    hostfile.write_text(f"{HOST}:2\n", "utf-8")
    given = {
        "I_MPI_ROOT": root,
        "I_MPI_HYDRA_HOST_FILE": str(hostfile),
        "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": f"{ssh.client_options} -p {ssh.port}",
        "I_MPI_PERHOST": "2",
    }
    launcher["env"] += [{"name": name, "value": value} for name, value in given.items()]
    with worker(ranks, ssh, tmp_path):
        done = run([f"{root}/bin/mpiexec.hydra", "-np", "2", "env", "-0"], launcher)
        assert done.returncode == 0, done.stderr
        assert printed(done.stdout).items() >= expected(ranks).items()
