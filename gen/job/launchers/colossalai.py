"""`colossalai run` (options of ColossalAI 0.5, `colossalai/cli/launcher`), which starts torchrun on each host."""

from __future__ import annotations

from typing import Final

from gen.base import names
from gen.job.launchers.base import ADDRESS, HOSTS, PODS, PORT, PROCESSES, Launcher

LAUNCHER: Final = Launcher(
    name="colossalai run",
    programs=names("colossalai"),
    before=("run",),
    values=names(
        "host hostfile include exclude num_nodes nproc_per_node master_port master_addr extra_launch_args ssh_port"
    ),
    flags=names("m help"),
    short={"H": "host", "h": "help"},
    roles={
        PROCESSES: ("nproc_per_node",),
        PODS: ("num_nodes",),
        ADDRESS: ("master_addr",),
        PORT: ("master_port",),
        HOSTS: ("host", "hostfile"),
    },
    module_flag="m",
)
