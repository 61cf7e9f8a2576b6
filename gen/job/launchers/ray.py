"""`ray job submit`, which sends a command to a cluster (options of Ray 2.52, `ray/dashboard/modules/job/cli.py`)."""

from __future__ import annotations

from typing import Final

from gen.base import names
from gen.job.launchers.base import Launcher

LAUNCHER: Final = Launcher(
    name="ray job submit",
    programs=names("ray"),
    before=("job", "submit"),
    values=names(
        "address submission_id runtime_env runtime_env_json working_dir metadata_json entrypoint_num_cpus "
        "entrypoint_num_gpus entrypoint_memory entrypoint_resources entrypoint_label_selector headers verify log_style "
        "log_color"
    ),
    flags=names("no_wait verbose help"),
    short={"v": "verbose"},
    starts_programs=True,
)
