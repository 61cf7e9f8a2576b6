"""Checks across the runs of one sweep: their common TensorBoard, and directories that they must not share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from msgspec.structs import replace

from gen.findings.sweeps import INVALID_SWEEP, SHARED_OUTPUT
from gen.kubernetes import RUN
from gen.render.record import NOT_PART_OF_RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.diagnostics import Findings
    from gen.kinds.plan import Plan
    from gen.render.expand import Expanded
    from gen.render.job_run import JobRun


def settle(runs: Sequence[Expanded], plans: Sequence[Plan | None], found: Findings) -> list[Plan | None]:
    """The plans of the runs of a job, with one TensorBoard for all runs. Reports runs that disturb each other."""
    known = [(one, one.run, plan) for one, plan in zip(runs, plans, strict=True) if one.run is not None and plan]
    if not runs[1:] or len(known) < len(runs):
        return list(plans)
    _check_distinct([(one, run) for one, run, _ in known], found)
    _, first, plan = known[0]
    if any(other.tensorboard != plan.tensorboard for _, _, other in known):
        place = first.given.place("tensorboard", "logdir")
        message = "`logdir` differs between the runs of the sweep, and a sweep has one TensorBoard"
        hint = "use `{{ run.id }}` in the path instead of parameters; TensorBoard reads the directory above it"
        found.error(INVALID_SWEEP, place, message, hint)
    _check_outputs([(run, plan) for _, run, plan in known if plan.state == "active"], found)
    return [plan, *(replace(other, tensorboard=None) for _, _, other in known[1:])]


def _check_distinct(runs: Sequence[tuple[Expanded, JobRun]], found: Findings) -> None:
    """Two combinations that give equal runs."""
    first: dict[bytes, Expanded] = {}
    for one, run in runs:
        content = {key: value for key, value in run.given.data.items() if key not in {*NOT_PART_OF_RUN, "params"}}
        text = orjson.dumps(content, option=orjson.OPT_SORT_KEYS).replace(one.name.encode(), b"")
        other = first.setdefault(text, one)
        if other is not one:
            place = run.given.place("sweep", key=True)
            message = f"the runs for {other.label} and {one.label} are equal"
            found.error(INVALID_SWEEP, place, message, "remove one of the values, or use them in different ways")
            return


def _check_outputs(runs: Sequence[tuple[JobRun, Plan]], found: Findings) -> None:
    """Volumes that several runs can write to in the same directory, if no text of the job has the name of the run."""
    if not runs[1:] or any(RUN.encode() in orjson.dumps(run.given.data) for run, _ in runs):
        return
    run, plan = runs[0]
    writable = {mount.volume for pod in plan.pods for mount in pod.mounts if not mount.read_only}
    shared = next((name for name in plan.storage if name in writable), None)
    if shared is not None:
        message = f"the runs of the sweep can write to the same directory of volume `{shared}`"
        path = f"`data: {{{shared}: {{path: …, subPath: '{{{{ run.id }}}}'}}}}`"
        hint = f"write the output below `{{{{ run.id }}}}`, such as with {path}, or mount it with `readOnly: true`"
        found.warning(SHARED_OUTPUT, run.given.place("data", shared, key=True), message, hint)
