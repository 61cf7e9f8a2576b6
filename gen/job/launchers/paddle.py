"""`python -m paddle.distributed.launch` (options of Paddle 3.2, `paddle/distributed/launch/context/args_envs.py`)."""

from __future__ import annotations

from typing import Final

from gen.base import names
from gen.job.launchers.base import ADDRESS, DEVICES, PODS, PROCESSES, RANK, Launcher

LAUNCHER: Final = Launcher(
    name="paddle.distributed.launch",
    programs=names("fleetrun"),
    modules=names("paddle.distributed.launch"),
    values=names(
        "master legacy rank log_level log_overwrite nnodes nproc_per_node log_dir run_mode job_id devices gpus npus "
        "xpus ips host start_port servers trainers trainer_num server_num gloo_port with_gloo max_restart "
        "elastic_level elastic_timeout sort_ip auto_parallel_config auto_cluster_config auto_tuner_json"
    ),
    flags=names("help"),
    short={"h": "help"},
    roles={
        PROCESSES: ("nproc_per_node",),
        PODS: ("nnodes",),
        ADDRESS: ("master",),
        RANK: ("rank",),
        DEVICES: ("devices", "gpus"),
    },
    alone="use `kind: paddle`",
    variables={ADDRESS: "PADDLE_MASTER", PODS: "PADDLE_NNODES"},
)
