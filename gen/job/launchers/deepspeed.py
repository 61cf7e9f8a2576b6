"""`deepspeed` (options of DeepSpeed 0.19, `deepspeed/launcher/runner.py`).

Without a file of hosts, it starts processes on its own machine only, with any environment.
"""

from __future__ import annotations

from typing import Final

from gen.base import names
from gen.job.launchers.base import ADDRESS, HOSTS, PODS, PORT, PROCESSES, RANK, Launcher

DEFAULT_HOSTS: Final = "/job/hostfile"

LAUNCHER: Final = Launcher(
    name="deepspeed",
    programs=names("deepspeed deepspeed.pt"),
    modules=names("deepspeed.launcher.runner"),
    values=names(
        "hostfile include exclude num_nodes min_elastic_nodes max_elastic_nodes num_gpus master_port master_addr "
        "node_rank launcher launcher_args autotuning bind_core_list ssh_port venv_script enable_each_rank_log "
        "num_accelerators log_level"
    ),
    flags=names(
        "module no_python no_local_rank no_ssh no_ssh_check force_multi save_pid elastic_training bind_cores_to_rank "
        "quiet help"
    ),
    short={"H": "hostfile", "i": "include", "e": "exclude", "q": "quiet", "h": "help"},
    roles={
        PROCESSES: ("num_gpus", "num_accelerators"),
        PODS: ("num_nodes",),
        ADDRESS: ("master_addr",),
        PORT: ("master_port",),
        RANK: ("node_rank",),
        HOSTS: ("hostfile",),
    },
    module_flag="module",
    mistaken={"deepspeed": "deepspeed.launcher.runner"},
)
