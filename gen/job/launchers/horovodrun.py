"""`horovodrun` (options of Horovod 0.28, `horovod/runner/launch.py`)."""

from __future__ import annotations

from typing import Final

from gen.base import names
from gen.job.launchers.base import ALL_PROCESSES, HOSTS, Launcher

LAUNCHER: Final = Launcher(
    name="horovodrun",
    programs=names("horovodrun"),
    values=names(
        "num_proc min_num_proc max_num_proc slots_per_host hosts hostfile host_discovery_script ssh_port "
        "ssh_identity_file start_timeout elastic_timeout reset_limit "
        "network_interfaces output_filename config_file fusion_threshold_mb cycle_time_ms cache_capacity "
        "timeline_filename autotune_log_file mpi_args log_level nics gloo_timeout_seconds thread_affinity "
        "stall_check_warning_time_seconds stall_check_shutdown_time_seconds num_nccl_streams "
        "autotune_warmup_samples autotune_steps_per_sample autotune_bayes_opt_max_samples "
        "autotune_gaussian_process_noise network_interface"
    ),
    pairs=names("cooldown_range blacklist_cooldown_range"),
    flags=names(
        "verbose gloo mpi jsrun disable_cache check_build autotune no_autotune hierarchical_allreduce "
        "no_hierarchical_allreduce hierarchical_allgather no_hierarchical_allgather timeline_mark_cycles "
        "no_stall_check stall_check tcp binding_args version help prefix_output_with_timestamp "
        "torus_allreduce no_torus_allreduce mpi_threads_disable no_mpi_threads_disable log_with_timestamp "
        "log_without_timestamp log_hide_timestamp no_log_hide_timestamp no_timeline_mark_cycles"
    ),
    short={
        "np": "num_proc",
        "min-np": "min_num_proc",
        "max-np": "max_num_proc",
        "p": "ssh_port",
        "i": "ssh_identity_file",
        "H": "hosts",
        "v": "version",
        "h": "help",
    },
    roles={ALL_PROCESSES: ("num_proc",), HOSTS: ("hosts", "hostfile", "host_discovery_script")},
    mistaken={"horovodrun": "horovod.runner.launch"},
    alone="use `kind: mpi`",
    single_dash=True,
    starts_programs=True,
)
