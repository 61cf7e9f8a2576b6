"""The programs that the command of a job runs, compared with its pods: statements of the shell, paths, and launchers.

A value that only running the command gives is unknown, and has no finding. Warnings can be silenced by annotations.
"""

from __future__ import annotations

from collections.abc import Sequence

from gen.base import Location
from gen.base.codes.commands import CANNOT_START
from gen.job.launchers import INNER
from gen.job.plan import PodPlan
from gen.render.parts.command_checks.launchers import check_launches
from gen.render.parts.command_checks.paths import check_devices, check_paths
from gen.render.parts.command_checks.role_command import Command, read_command
from gen.render.parts.command_checks.shell import check_shell, check_syntax, ends_at_blank, is_copied, is_cut
from gen.render.parts.command_checks.start import check_start
from gen.render.parts.context import Context


def check_commands(context: Context, pods: Sequence[PodPlan]) -> None:
    """Report mistakes in the commands of the pods."""
    checked: list[tuple[object, ...]] = []
    for pod in [pod for pod in pods if pod.role.runs] or pods[:1]:
        role = (context.route_of(pod.role, "command"), pod.role.gpus, pod.role.reserved_env, pod.accelerator)
        inputs = (role, pod.command, pod.args, pod.env, pod.mounts, pod.image, pod.working_dir)
        if inputs in checked:
            continue  # with the same findings, such as those of a master and its workers
        checked.append(inputs)
        command = read_command(context, pods, pod)
        if command is not None:
            _check_command(command)
            command.report_warnings()


def _check_command(command: Command) -> None:
    script = command.script
    if command.text and is_copied(command):
        return
    if not script.readable:
        check_syntax(command)
    if not script.readable or not script.programs:
        if script.readable and command.text and not script.statements:
            message = "the command has only comments, so that the container ends at once"
            command.error(CANNOT_START, Location("", 1, 1), message, "write the program to run")
        return
    if command.text and (
        any(is_cut(command, program) for program in script.programs if INNER not in program.around)
        or ends_at_blank(command)
    ):
        return  # the rest has another meaning than intended
    check_start(command)
    check_launches(command)
    check_shell(command)
    check_devices(command)
    check_paths(command)
