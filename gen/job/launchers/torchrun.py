"""`torchrun`, which is `python -m torch.distributed.run` (options of PyTorch 2.9, `torch/distributed/run.py`)."""

from __future__ import annotations

from typing import Final

from gen.base import names
from gen.job.launchers.base import ADDRESS, ALONE, PODS, PORT, PROCESSES, RANK, Launcher

LAUNCHER: Final = Launcher(
    name="torchrun",
    programs=names("torchrun torch_run"),
    modules=names("torch.distributed.run torch.distributed.launch torch.distributed.elastic.run"),
    values=names(
        "nnodes nproc_per_node rdzv_backend rdzv_endpoint rdzv_id rdzv_conf max_restarts monitor_interval start_method "
        "event_log_handler role log_dir redirects tee local_ranks_filter node_rank master_addr master_port local_addr "
        "logs_specs numa_binding signals_to_handle duplicate_stdout_filters duplicate_stderr_filters"
    ),
    flags=names("standalone module no_python run_path use_env virtual_local_rank help"),
    short={"m": "module", "r": "redirects", "t": "tee", "h": "help"},
    roles={
        PROCESSES: ("nproc_per_node",),
        PODS: ("nnodes",),
        ADDRESS: ("rdzv_endpoint", "master_addr"),
        PORT: ("master_port",),
        RANK: ("node_rank",),
        ALONE: ("standalone",),
    },
    module_flag="module",
    mistaken=dict.fromkeys(("torchrun", "torch.distributed"), "torch.distributed.run"),
    no_numbers=dict.fromkeys(("0", "-1", "all", "max", "none"), "write `gpu` for one process on each GPU, or a number"),
    variables={
        PROCESSES: "PET_NPROC_PER_NODE",
        PODS: "PET_NNODES",
        ADDRESS: "PET_MASTER_ADDR",
        PORT: "PET_MASTER_PORT",
    },
)
