"""What launchers start, compared with the pods: processes, pods, addresses and ports."""

from __future__ import annotations

from typing import Final

from gen.base.codes.commands import IDLE_GPUS, NO_LAUNCHER, NO_RENDEZVOUS, POD_COUNT, PROCESS_COUNT, RESERVED_PORT
from gen.base.findings import Location, counted
from gen.base.regex import regex
from gen.base.shell_words import Word
from gen.job.commands import deepspeed, torchrun
from gen.job.commands.base import (
    ADDRESS,
    ALL_PROCESSES,
    ALONE,
    CONFIG,
    HOSTS,
    PODS,
    PORT,
    PROCESSES,
    Launch,
    Setting,
)
from gen.job.commands.script import SHELLS
from gen.kubernetes.check.silence import warn
from gen.render.parts.command.command import Command

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0"})  # noqa: S104 - nothing listens here
_OWN_NAME: Final = regex(
    r"(?:--?[\w-]+=)?[\"']?(?:\$\(hostname(?: -[a-zA-Z]+)?\)|`hostname(?: -[a-zA-Z]+)?`|\$\{?HOSTNAME\}?)"
    r"(?::\S*)?[\"']?"
)
"""The name of its own pod, which differs between them."""


class _Numbers:
    """Pods, GPUs and slots of a command."""

    def __init__(self, command: Command) -> None:
        job, pods = command.context.job, command.pods
        self.slots = job.slots({pod.role.name: pod.role.gpus for pod in pods})
        """MPI processes that fit on the pods; None for kinds without a launcher."""
        workers = [pod for pod in pods if not pod.role.runs] if self.slots is not None else [command.pod]
        self.gpus = max((pod.role.gpus for pod in workers), default=0)
        self.one_each = all(
            command.context.overlay.accelerators[pod.accelerator].profile.one_process
            for pod in workers
            if pod.role.gpus and pod.accelerator in command.context.overlay.accelerators
        )
        """Whether a process uses one GPU."""
        self.pods = 1 if self.slots is not None else _together(command)
        """Pods that train together; None if that is unknown."""


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
                _check_processes(command, launch, numbers)
                _check_pods(command, launch, numbers)
                _check_address(command, launch, numbers)
                _check_port(command, launch)
                _check_config(command, launch, numbers)
            _check_single(command, launched, numbers)
    if numbers.slots is not None:
        _check_launcher(command)


def _check_processes(command: Command, launch: Launch, numbers: _Numbers) -> None:
    setting, gpus = launch.get(PROCESSES), numbers.gpus
    if setting is not None and setting.value == "gpu" and not gpus and launch.launcher is torchrun.LAUNCHER:
        message = "`torchrun` fails, because the pods have no GPUs to start a process for"
        command.error(PROCESS_COUNT, setting.word, message, "set `gpus`, or write `--nproc-per-node=auto`")
    number = setting.number if setting is not None else None
    every = launch.get(ALL_PROCESSES)
    if number is None and every is not None and every.number is not None:
        if numbers.slots is not None and launch.launcher.starts_programs:
            _check_slots(command, launch, every, numbers.slots)
            return
        setting, pods = every, launch.get(PODS)
        if launch.launcher.starts_programs or (pods is not None and not pods.number):
            return  # hosts are in files
        number = _divided(every, pods)
    if setting is None or number is None or not gpus or number == gpus or not numbers.one_each:
        return
    if numbers.slots is not None and launch.launcher.starts_programs:
        return
    named = setting.word.raw or setting.word.text
    right = gpus * (setting.number or 0) // number if number else gpus
    does = f"starts {counted(number, 'process')[:-1]}es on each pod" if number > 1 else "starts one process on each pod"
    option = _option(launch, setting)
    message = f"`{launch.launcher.name}` {does}, which has {counted(gpus, 'GPU')}"
    instead = f"`{right}` instead of `{named}`" if "=" not in named else f"`{named.split('=')[0]}={right}`"
    hint = f"write {instead}, remove `{option}`, or set `gpus: {number}`"
    command.warning(PROCESS_COUNT, setting.word, message, hint)


def _divided(every: Setting, pods: Setting | None) -> int | None:
    """Processes on each pod."""
    machines = pods.number if pods is not None and pods.number else 1
    number = every.number or 0
    return number // machines if number % machines == 0 else None


def _option(launch: Launch, setting: Setting) -> str:
    name = next((name for name, one in launch.options.items() if one is setting), "")
    return f"--{name}" if len(name) > 2 else f"-{name}"  # noqa: PLR2004 - such as `-np`


def _check_slots(command: Command, launch: Launch, every: Setting, slots: int) -> None:
    number = every.number or 0
    over = {"oversubscribe", "H", "host", "hosts", "hostfile", "machinefile", "f"} & launch.options.keys()
    mapped = launch.options.get("map_by")
    over = over or {"x"} & {"" if mapped is None or "OVERSUBSCRIBE" not in (mapped.value or "OVERSUBSCRIBE") else "x"}
    if number > slots and not over and not any("oversubscribe" in name.lower() for name in command.env):
        message = f"`{launch.launcher.name}` starts {number} processes, and the workers have {counted(slots, 'slot')}"
        hint = f"write `{slots}`, increase `workers`, or set `slotsPerWorker`"
        command.error(PROCESS_COUNT, every.word, message, hint)
    elif number < slots and not over:
        message = f"`{launch.launcher.name}` starts {number} processes, and the workers have {counted(slots, 'slot')}"
        command.warning(PROCESS_COUNT, every.word, message, f"write `{slots}`, or reduce `workers` or `gpus`")


def _check_pods(command: Command, launch: Launch, numbers: _Numbers) -> None:
    setting, pods = launch.get(PODS), numbers.pods
    if pods is None or setting is None or setting.value is None or numbers.slots is not None:
        return
    least, sign, most = setting.value.partition(":")
    if not least.isdecimal() or (sign and not most.isdecimal()):
        return
    low, high = int(least), int(most or least)
    if low <= pods <= high:
        return
    option = _option(launch, setting)
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


def _check_address(command: Command, launch: Launch, numbers: _Numbers) -> None:
    if numbers.slots is not None:
        _check_hosts(command, launch)
        return
    pods, chosen = numbers.pods, launch.get(PODS)
    if pods is None or pods == 1 or launch.launcher.starts_programs:
        return
    alone = launch.get(ALONE)
    if alone is not None:
        message = f"each of the {pods} pods trains alone, because of `--standalone`"
        command.warning(NO_RENDEZVOUS, alone.word, message, "remove `--standalone`, or use `workers: 1`")
        return
    if chosen is not None and chosen.number != pods:
        return  # it is reported, or unknown
    variables = launch.launcher.variables
    meets = chosen is not None or (PODS in variables and variables[PODS] in command.env)
    if not meets:
        _report_alone(command, launch, pods)
        return
    for name in launch.launcher.roles.get(ADDRESS, ()):
        setting = launch.options.get(name)
        if setting is not None and _is_here(setting):
            message = f"each of the {pods} pods waits for the others at its own address"
            command.error(NO_RENDEZVOUS, setting.word, message, _address_hint(command, launch, name))


def _address_hint(command: Command, launch: Launch, name: str) -> str:
    prefix = next((one for one in ("PET_", "") if f"{one}MASTER_ADDR" in command.env), None)
    if prefix is None:
        return "write the address of the first pod"
    known = f"${prefix}MASTER_ADDR" + (f":${prefix}MASTER_PORT" if name == "rdzv_endpoint" else "")
    alone = prefix and name == "master_addr" and launch.launcher is torchrun.LAUNCHER
    return f"write `{known}`" + (", or remove the option" if alone else "")


def _is_here(setting: Setting) -> bool:
    if setting.value is None:
        return _OWN_NAME.fullmatch(setting.word.raw) is not None
    return setting.value.removeprefix("tcp://").rpartition(":")[0] in _HERE or setting.value in _HERE


def _report_alone(command: Command, launch: Launch, pods: int) -> None:
    if launch.get(HOSTS) is not None or launch.get(CONFIG) is not None or "no_ssh" in launch.options:
        return
    if not launch.complete or (launch.launcher is deepspeed.LAUNCHER and deepspeed.DEFAULT_HOSTS in _files(command)):
        return
    is_torchrun = launch.launcher is torchrun.LAUNCHER
    if is_torchrun and (launch.get(ADDRESS) is not None or any(name.startswith("PET_") for name in command.env)):
        return
    if not (is_torchrun or launch.launcher.roles.get(PODS)):
        return
    message = f"`{launch.launcher.name}` starts processes on its own pod, so that each of the {pods} pods trains alone"
    hint = "start it with `torchrun`"
    if is_torchrun:
        hint = f"add `--nnodes={pods}` with the rank and the address of the pods, or use `workers: 1`"
    command.warning(NO_RENDEZVOUS, launch.word, message, hint)


def _files(command: Command) -> tuple[str, ...]:
    return tuple(mount.path for mount in command.pod.mounts)


def _check_hosts(command: Command, launch: Launch) -> None:
    """Launchers with a file of hosts, in the pod that starts processes on the others."""
    if launch.launcher.name == "mpirun" or HOSTS not in launch.launcher.roles or launch.get(HOSTS) is not None:
        return
    if not launch.complete or deepspeed.DEFAULT_HOSTS in _files(command):
        return
    message = f"`{launch.launcher.name}` starts all processes in the launcher, because it gets no file of hosts"
    command.warning(NO_RENDEZVOUS, launch.word, message, "add `--hostfile /etc/mpi/hostfile`")


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
        warn(
            command.context.found,
            command.context.job.annotations,
            POD_COUNT if of_pods else PROCESS_COUNT,
            place,
            message,
            hint,
        )


_SPAWNS: Final = regex(
    r".*(?:spawn|multiprocessing|device|gpu|nproc|num_proc|world[-_]?size|parallel|\btp\b|dist|accelerator|strategy|rank).*"
)
"""Arguments of programs that use several GPUs by themselves."""


def _check_single(command: Command, launched: tuple[Launch, ...], numbers: _Numbers) -> None:
    """One process of PyTorch on pods with several GPUs."""
    launch = launched[-1]
    if numbers.gpus < 2 or not launch.program:  # noqa: PLR2004
        return
    if any(one.launcher.name != "python" for _, launches in command.launched for one in launches):
        return  # it starts before or after the training
    is_torch = "PET_NPROC_PER_NODE" in command.context.job.reserved or "torch" in command.pod.image
    script = launch.program[0]
    if not is_torch or not numbers.one_each or launch.is_module or not script.text.endswith(".py"):
        return
    words = [word.text if word.unknown is None else word.raw for word in launch.program[1:]]
    if any(_SPAWNS.fullmatch(word.lower()) for word in words) or "CUDA_VISIBLE_DEVICES" in command.text:
        return
    message = f"`python` starts one process, and PyTorch trains on one of the {numbers.gpus} GPUs with it"
    command.warning(IDLE_GPUS, launch.word, message, "write `torchrun` instead of `python`, or set `gpus: 1`")


def _check_launcher(command: Command) -> None:
    """A command that starts nothing on the workers."""
    first: Word | None = None
    for program, launched in command.launched:
        if any(launch.get(HOSTS) is not None or HOSTS in launch.launcher.roles for launch in launched):
            return
        if launched and all(launch.launcher.name in ("python", "torchrun", "accelerate launch") for launch in launched):
            first = first or launched[0].word
        elif not program.name or program.name in SHELLS or "mpi" in program.name or program.name in ("ssh", "eval"):
            return
    if first is not None:
        message = f"`{first.text}` runs in the launcher alone, and the workers wait"
        command.warning(NO_LAUNCHER, first, message, "write `mpirun` before it")
