"""`mpirun` and `mpiexec` of Open MPI, MPICH and Intel MPI (`mpirun --help` of Open MPI 5, MPICH 4 and Intel MPI 2021).

All read the hosts from the files that the operator writes, and count processes of all pods.
"""

from __future__ import annotations

from typing import Final

from gen.base import names
from gen.job.launchers.base import ALL_PROCESSES, HOSTS, PROCESSES, Launcher

LAUNCHER: Final = Launcher(
    name="mpirun",
    programs=names("mpirun mpiexec mpirun.openmpi mpirun.mpich mpiexec.hydra orterun prterun"),
    values=names(
        "np n c x H host hosts hostfile machinefile f bind_to map_by rank_by npernode N ppn perhost "
        "prefix wdir wd path output_filename output timeout report_state_on_timeout_signal iface launcher bootstrap "
        "cpus_per_proc cpus_per_rank cpu_set cpu_list display stdin report_uri show_progress_time genvlist envlist "
        "rmk personality runtime_options prtemca_file tune am oversubscribe_policy configfile"
    ),
    pairs=names("mca gmca genv env prtemca pmixmca omca"),
    flags=names(
        "allow_run_as_root oversubscribe nooversubscribe tag_output timestamp_output report_bindings verbose v q quiet "
        "merge_stderr_to_stdout display_map display_allocation display_topo bynode byslot bind_to_core bind_to_socket "
        "bind_to_none l prepend_rank genvall genvnone envall envnone pernode xterm enable_recovery disable_recovery "
        "nolocal novm do_not_launch leave_session_attached debug_devel debug_daemons index_argv_by_rank help"
    ),
    short={"h": "help"},
    roles={
        ALL_PROCESSES: ("np", "n", "c"),
        PROCESSES: ("npernode", "N", "ppn", "perhost"),
        HOSTS: ("hostfile", "machinefile", "f", "H", "host", "hosts"),
    },
    alone="use `kind: mpi`",
    single_dash=True,
    starts_programs=True,
)
