"""What launchers start, compared with the pods: processes, pods, addresses and ports."""

from __future__ import annotations

from typing import Final

from gen.base import Location, counted, names, regex
from gen.base.codes.commands import (
    IDLE_GPUS,
    IDLE_WORKERS,
    NO_LAUNCHER,
    NO_VARIABLE,
    POD_COUNT,
    PROCESS_COUNT,
    RESERVED_PORT,
)
from gen.job.launchers import accelerate, deepspeed, mpirun, python, ray, torchrun
from gen.job.launchers.base import ADDRESS, ALL_PROCESSES, CONFIG, HOSTS, PODS, PORT, PROCESSES, RANK, Launch, Setting
from gen.job.script import SHELLS
from gen.kubernetes.check.silence import warn
from gen.render.parts.command_checks.addresses import check_address, check_interfaces, check_variables
from gen.render.parts.command_checks.role_command import Command


class _Numbers:
    """Pods, GPUs and slots of a command."""

    def __init__(self, command: Command) -> None:
        job, pods = command.context.job, command.pods
        self.slots = job.slots({pod.role.name: pod.role.gpus for pod in pods})
        """MPI processes that fit on the pods; None for kinds without a launcher."""
        workers = [pod for pod in pods if not pod.role.runs] if self.slots is not None else [command.pod]
        self.gpus = max((pod.role.gpus for pod in workers), default=0)
        self.pods = 1 if self.slots is not None else _together(command)
        """Pods that train together; None if that is unknown."""
        self.most = sum(pod.role.largest or pod.role.replicas for pod in pods if pod.role.runs)
        """Pods that an elastic job can have."""
        self._workers, self._accelerators = workers, command.context.overlay.accelerators
        every = (one for _, launches in command.launched for one in launches)
        self.only_python = all(one.launcher is python.LAUNCHER and not one.is_module for one in every)
        """Whether no other launcher starts before or after a training."""

    @property
    def one_each(self) -> bool:
        """Whether a process uses one GPU."""
        known = [self._accelerators.get(pod.accelerator) for pod in self._workers if pod.role.gpus]
        return all(one is None or one.profile.one_process for one in known)


def _together(command: Command) -> int | None:
    own = command.env.get("NNODES")
    running = [pod for pod in command.pods if pod.role.runs]
    if command.context.job.independent:
        return 1
    if not running or any(pod.role.largest is not None for pod in running):
        return None
    if own is not None and own.isdecimal():
        return int(own)
    known = len(running) == 1 or bool({"WORLD_SIZE", "PET_NNODES"} & command.context.job.reserved)
    return sum(pod.role.replicas for pod in running) if known else None


def check_launches(command: Command) -> None:
    """Report launchers that start something else than the pods have."""
    if not any(launched for _, launched in command.launched):
        return
    numbers = _Numbers(command)
    for program, launched in command.launched:
        if launched and "a function" not in program.around and "a substitution" not in program.around:
            for launch in launched:
                if launch.options:
                    _check_processes(command, launch, numbers)
                    _check_pods(command, launch, numbers)
                    _check_port(command, launch)
                    if "$" in command.text:
                        _check_unset(command, launch)
                    _check_config(command, launch, numbers)
                check_address(command, launch, numbers.pods, of_mpi=numbers.slots is not None)
            _check_single(command, launched, numbers)
            _check_nested(command, launched, numbers)
    if numbers.pods is not None and numbers.pods > 1 and command.script.variables:
        check_variables(command, numbers.pods)
    check_interfaces(command)
    if numbers.slots is not None:
        _check_launcher(command)


def _check_processes(command: Command, launch: Launch, numbers: _Numbers) -> None:
    setting, gpus = launch.get(PROCESSES), numbers.gpus
    if setting is not None and setting.value == "gpu" and not gpus and launch.launcher is torchrun.LAUNCHER:
        message = "`torchrun` fails, because the pods have no GPUs to start a process for"
        command.error(PROCESS_COUNT, setting.word, message, "set `gpus`, or write `--nproc-per-node=auto`")
    number = setting.number if setting is not None else None
    own = command.context.job.processes
    if setting is not None and number and own is not None and number != own[1] and launch.launcher is torchrun.LAUNCHER:
        message = f"`{own[0]}: {own[1]}` has no effect: `{launch.option(setting)}` of the command is {number}"
        command.warning(PROCESS_COUNT, setting.word, message, f"remove the option, or `{own[0]}`")
    every = launch.get(ALL_PROCESSES)
    if number is None and every is not None and every.number is not None:
        if numbers.slots is not None and launch.launcher.starts_programs:
            if all(word.text != ":" for word in launch.program):  # which starts another program
                _check_slots(command, launch, every, numbers.slots, gpus)
            return
        setting, pods = every, launch.get(PODS)
        if launch.launcher.starts_programs or (pods is not None and not pods.number):
            return  # hosts are in files
        number = _divided(every, pods)
    if setting is None or not number or not gpus or number == gpus or not numbers.one_each:
        return
    if numbers.slots is not None and launch.launcher.starts_programs:
        _check_slots_of_a_pod(command, launch, setting, numbers.slots)
        return
    named = setting.word.raw or setting.word.text
    right = gpus * (setting.number or 0) // number if number else gpus
    does = f"starts {counted(number, 'process')[:-1]}es on each pod" if number > 1 else "starts one process on each pod"
    option = launch.option(setting)
    message = f"`{launch.launcher.name}` {does}, which has {counted(gpus, 'GPU')}"
    instead = f"`{right}` instead of `{named}`" if "=" not in named else f"`{named.split('=')[0]}={right}`"
    hint = f"write {instead}, remove `{option}`, or set `gpus: {number}`"
    command.warning(PROCESS_COUNT, setting.word, message, hint)


def _divided(every: Setting, pods: Setting | None) -> int | None:
    """Processes on each pod."""
    machines = pods.number if pods is not None and pods.number else 1
    number = every.number or 0
    return number // machines if number % machines == 0 else None


def _check_slots(command: Command, launch: Launch, every: Setting, slots: int, gpus: int) -> None:
    number = every.number or 0
    over = _oversubscribes(command, launch)
    if number > slots and not over:
        message = f"`{launch.launcher.name}` starts {number} processes, and the workers have {counted(slots, 'slot')}"
        hint = f"write `{slots}`, increase `workers`, or set `slotsPerWorker`"
        command.error(PROCESS_COUNT, every.word, message, hint)
    elif number < slots and not over:
        started = f"{number} processes" if number > 1 else "one process"
        message = f"`{launch.launcher.name}` starts {started}, and the workers have {counted(slots, 'slot')}"
        each = _slots_of_a_pod(command, slots)
        decisive = "" if each == 1 else " or `gpus`" if each == gpus else " or `slotsPerWorker`"
        command.warning(PROCESS_COUNT, every.word, message, f"write `{slots}`, or reduce `workers`{decisive}")


def _check_slots_of_a_pod(command: Command, launch: Launch, each: Setting, slots: int) -> None:
    of_pod = _slots_of_a_pod(command, slots)
    if of_pod and (each.number or 0) > of_pod and not _oversubscribes(command, launch):
        message = f"`{launch.launcher.name}` starts {each.number} processes on each worker, which has "
        hint = f"write `{of_pod}`, or set `slotsPerWorker`"
        command.error(PROCESS_COUNT, each.word, message + counted(of_pod, "slot"), hint)


def _slots_of_a_pod(command: Command, slots: int) -> int:
    """Slots of each worker; 0 if they differ."""
    workers = sum(pod.role.replicas for pod in command.pods if not pod.role.runs)
    return slots // workers if workers and slots % workers == 0 else 0


def _oversubscribes(command: Command, launch: Launch) -> bool:
    """Whether slots are not counted, or are those of other hosts."""
    mapped = launch.options.get("map_by")
    return (
        not _UNCOUNTED.isdisjoint(launch.options)
        or (mapped is not None and "OVERSUBSCRIBE" in (mapped.value or "OVERSUBSCRIBE"))
        or any("oversubscribe" in name.lower() for name in command.env)
    )


_UNCOUNTED: Final = frozenset({"oversubscribe", "H", "host", "hosts", "hostfile", "machinefile", "f"})


def _check_pods(command: Command, launch: Launch, numbers: _Numbers) -> None:
    setting, pods = launch.get(PODS), numbers.pods
    if setting is None or setting.value is None or numbers.slots is not None:
        return
    least, sign, most = setting.value.partition(":")
    if not least.isdecimal() or (sign and not most.isdecimal()):
        return
    low, high = int(least), int(most or least)
    if pods is None and 0 < numbers.most < low:
        message = f"`{launch.launcher.name}` waits for {low} pods, and the job has at most {numbers.most}"
        command.error(POD_COUNT, setting.word, message, f"write `{numbers.most}`, or let the job have more pods")
    if pods is None or low <= pods <= high:
        return
    option = launch.option(setting)
    remedy = f"write `{pods}`, or set `workers: {high}`"
    if command.context.job.independent:
        message = f"`{option}` waits for {low} pods, and the tasks of an array do not meet"
        command.error(POD_COUNT, setting.word, message, f"remove `{option}`, or remove `array`")
    elif high == 1:
        message = f"each of the {pods} pods trains alone, because `{option}` is 1"
        command.warning(POD_COUNT, setting.word, message, f"write `{pods}`, or use `workers: 1`")
    elif low > pods:
        message = f"`{launch.launcher.name}` waits for {low} pods, and the job has {pods}"
        command.error(POD_COUNT, setting.word, message, remedy)
    else:
        message = f"`{launch.launcher.name}` trains on {high} pods, and the job has {pods}"
        command.error(POD_COUNT, setting.word, message, remedy)


def _check_port(command: Command, launch: Launch) -> None:
    for role in (PORT, ADDRESS):
        setting = launch.get(role)
        if setting is None or setting.value is None:
            continue
        port = setting.value if role == PORT else setting.value.rpartition(":")[2]
        user = command.context.job.used_ports.get(int(port)) if port.isdecimal() and len(port) < 6 else None  # noqa: PLR2004
        if user is not None:
            message = f"port {port} is that of {user} in the same pod"
            command.warning(RESERVED_PORT, setting.word, message, "use another port, such as `29500`")


_SAME: Final = {
    PODS: ("NNODES", "PET_NNODES"),
    RANK: ("NODE_RANK", "PET_NODE_RANK", "RANK"),
    ADDRESS: ("MASTER_ADDR", "PET_MASTER_ADDR"),
    PORT: ("MASTER_PORT", "PET_MASTER_PORT"),
    PROCESSES: ("PET_NPROC_PER_NODE",),
}
"""Variables of kinds with the values of options."""
_VARIABLE: Final = regex(r"(?:--?[\w-]+=)?\"?\$\{?(\w+)\}?(?::\S*)?\"?")
_OF_PODS: Final = names(
    "NNODES NUM_NODES NODE_COUNT NUM_MACHINES NODE_RANK MACHINE_RANK RANK WORLD_SIZE MASTER_ADDR MASTER_ADDRESS "
    "MASTER_IP MASTER_PORT NPROC_PER_NODE"
)
"""Variables that only the command, the job or an operator sets."""


def _check_unset(command: Command, launch: Launch) -> None:
    """Report the first option with a variable of the pods that nothing sets."""
    if not command.script.names.isdisjoint(("source", ".", "eval", "set", "read")):
        return
    for role, others in _SAME.items():
        setting = launch.get(role)
        match = _VARIABLE.fullmatch(setting.word.raw) if setting is not None and setting.value is None else None
        name = match[1] if match is not None else ""
        if setting is None or name not in _OF_PODS or name in command.env:
            continue
        if command.text.count(name) != command.text.count(f"${name}") + command.text.count(f"${{{name}}}"):
            continue  # the command may set it
        other = next((one for one in others if one in command.env), "")
        message = f"nothing sets `{name}` in these pods, so that `{launch.option(setting)}` has no value"
        hint = f"write `${other}`" if other else "set it in `env`, or write the value itself"
        command.warning(NO_VARIABLE, setting.word, message, hint)
        return


_IN_CONFIG: Final = regex(r"(?m)^(num_processes|num_machines):[ \t]*([0-9]{1,6})[ \t]*$")
"""Numbers in a configuration of Accelerate. Options override them, and they override variables."""


def _check_config(command: Command, launch: Launch, numbers: _Numbers) -> None:
    """The configuration of Accelerate, if it is a file of the job."""
    setting, pods = launch.get(CONFIG), numbers.pods
    text = command.context.job.files.get(setting.value or "") if setting is not None else None
    if setting is None or text is None or pods is None or numbers.slots is not None:
        return
    found = {match[1]: match for match in _IN_CONFIG.finditer(text) if match[1] not in launch.options}
    expected = {"num_machines": pods, "num_processes": pods * numbers.gpus if numbers.one_each else 0}
    for name, match in found.items():
        number, right = int(match[2]), expected[name]
        if number == right or not right:
            continue
        inner = Location("", text.count("\n", 0, match.start()) + 1, 1)
        place = command.context.given.layers.place_inside(("files", setting.value or ""), inner, name)
        of_pods = name == "num_machines"
        has = counted(pods, "pod") if of_pods else f"{counted(pods, 'pod')} with {counted(numbers.gpus, 'GPU')} each"
        message = f"`{name}` of the configuration is {number}, and the job has {has}"
        hint = f"write `{name}: {right}`, or remove it" if of_pods else f"write `{name}: {right}`"
        code = POD_COUNT if of_pods else PROCESS_COUNT
        warn(command.context.found, command.context.job.annotations, code, place, message, hint)


_SPAWNS: Final = regex(
    r".*(?:spawn|multiprocessing|device|gpu|nproc|num_proc|world[-_]?size|parallel|dist|accelerator|strategy|rank).*"
    r"|(?:.*[^a-z])?(?:tp|dp|vllm|jax|gin)(?:[^a-z].*)?|--criterion|--user-dir|--help"
)
"""Arguments of programs that use several GPUs by themselves, or none. Those of fairseq have no word for it."""
_NO_TRAINING: Final = regex(
    r"(?:.*/)?(?:(?:setup|prepare|preprocess|convert|merge|download|export|tokenize|generate)[^/]*"
    r"|(?:[^/]*[^a-z/])?(?:dist|distributed|launch|submitit|spawn|parallel|multigpu|tf|jax)(?:[^a-z/][^/]*)?)\.py"
)
"""Scripts that start processes by themselves, or train nothing with PyTorch."""


def _check_single(command: Command, launched: tuple[Launch, ...], numbers: _Numbers) -> None:
    """One process of PyTorch on pods with several GPUs."""
    launch = launched[-1]
    if not numbers.only_python or numbers.gpus < 2 or not launch.program:  # noqa: PLR2004
        return
    is_torch = "PET_NPROC_PER_NODE" in command.context.job.reserved or "torch" in command.pod.image
    script = launch.program[0]
    if not is_torch or not numbers.one_each or not script.text.endswith(".py"):
        return
    if _NO_TRAINING.fullmatch(script.text) is not None:
        return
    if not command.script.names.isdisjoint(SHELLS):
        return
    words = [word.text if word.unknown is None else word.raw for word in launch.program[1:]]
    if any(_SPAWNS.fullmatch(word.lower()) for word in words) or "CUDA_VISIBLE_DEVICES" in command.text:
        return
    message = f"`python` starts one process, and PyTorch trains on one of the {numbers.gpus} GPUs with it"
    command.warning(IDLE_GPUS, launch.word, message, "write `torchrun` instead of `python`, or set `gpus: 1`")


_ONE_EACH: Final = frozenset({"npernode", "N", "ppn", "perhost", "pernode", "map_by", *_UNCOUNTED})
"""Options of `mpirun` that may start one process on each worker."""
_OF_TORCH: Final = (torchrun.LAUNCHER, accelerate.LAUNCHER, deepspeed.LAUNCHER)


def _check_nested(command: Command, launched: tuple[Launch, ...], numbers: _Numbers) -> None:
    """A launcher in each process of another one, and options of a launcher behind its script."""
    outer, inner = launched[0], launched[-1]
    if numbers.slots and outer.launcher is mpirun.LAUNCHER and inner.launcher in _OF_TORCH:
        workers, every = sum(pod.role.replicas for pod in command.pods if not pod.role.runs), outer.get(ALL_PROCESSES)
        number = numbers.slots if every is None else every.number
        if number is not None and number > workers and _ONE_EACH.isdisjoint(outer.options):
            name = inner.launcher.name
            message = f"`mpirun` starts `{name}` {number} times on {workers} workers, and each one starts processes"
            hint = f"write `python` instead of `{name}`, or add `-npernode 1` to `mpirun`"
            command.warning(PROCESS_COUNT, inner.word, message, hint)
    if inner.launcher is torchrun.LAUNCHER and inner.program and inner.program[0].text.endswith(".py"):
        for word in inner.program[1:]:
            if not word.text.startswith("--"):
                continue
            if word.text.lstrip("-").partition("=")[0].replace("-", "_") in _BEFORE:
                message = f"`torchrun` gives `{word.text.partition('=')[0]}` to its script, and does not read it"
                command.warning(PROCESS_COUNT, word, message, "move it before the script")
                return


_BEFORE: Final = frozenset({"nproc_per_node", "nnodes", "rdzv_backend", "rdzv_endpoint", "rdzv_id", "standalone"})
"""Options of torchrun that no script has."""


def _check_launcher(command: Command) -> None:
    """A command that starts nothing on the workers."""
    first: Launch | None = None
    for program, launched in command.launched:
        if any(launch.get(HOSTS) is not None or HOSTS in launch.launcher.roles for launch in launched):
            return
        if launched and all(launch.launcher is not ray.LAUNCHER for launch in launched):
            first = first or launched[0]
        elif not program.name or program.name in SHELLS or "mpi" in program.name or program.name in ("ssh", "eval"):
            return
    if first is not None:
        message = f"`{first.word.text}` runs in the launcher alone, and the workers wait"
        is_python = first.launcher is python.LAUNCHER
        message = f"{message}, unless its program starts `mpirun` itself" if is_python else message
        command.warning(IDLE_WORKERS if is_python else NO_LAUNCHER, first.word, message, "write `mpirun` before it")
