"""Commands of Slurm, whose daemons no pod can reach, and the variables that they set (`srun(1)` of Slurm 25.05)."""

from __future__ import annotations

from typing import Final

from gen.job.commands.base import names

PROGRAMS: Final = names("srun sbatch salloc scontrol squeue sinfo sacct sattach scancel")
