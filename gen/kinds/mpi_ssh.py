"""sshd of the workers of an MPIJob v2beta1.

sshd starts the commands of the launcher with an environment of its own. Here, it gives them that of its container, so
that variables of the job, by value or by reference, reach the ranks with every implementation of MPI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

if TYPE_CHECKING:
    from gen.kinds.role import Target

RSH_AGENT: Final = "OMPI_MCA_plm_rsh_agent"
"""Command of Open MPI that connects to a worker."""

_FILE = "/dev/shm/.environment"  # noqa: S108 - in memory, and in every container
_SAVE = f"(umask 077; unset PWD OLDPWD; export -p >{_FILE})"
_RESTORE = f'[ ! -r {_FILE} ] || . {_FILE}; eval "${{SSH_ORIGINAL_COMMAND:-exec sh}}"'
_SERVER = "/usr/sbin/sshd -De"
"""As the operator starts it."""

_PORTS = range(20_000, 30_000)
"""Neither of node ports nor of outgoing connections (`net.ipv4.ip_local_port_range`)."""


def ssh_server(port: int | None) -> tuple[str, ...]:
    """Command of a worker."""
    option = f" -p {port}" if port else ""
    return "sh", "-c", f"{_SAVE}\nexec {_SERVER}{option} -o 'ForceCommand={_RESTORE}'\n"


def ssh_port(target: Target) -> int:
    """On the network of the nodes, sshd of the node has port 22, and several jobs may have workers on one node."""
    return _PORTS[crc32(f"{target.namespace}/{target.name}".encode()) % len(_PORTS)]
