"""How the pods of a command find each other: addresses, ranks and hosts of launchers, and variables."""

from __future__ import annotations

from typing import Final

from gen.base import every, regex
from gen.base.codes.commands import NO_RENDEZVOUS
from gen.base.shell_words import Word
from gen.job.launchers import accelerate, deepspeed, mpirun, python, ray, torchrun
from gen.job.launchers.base import ADDRESS, ALONE, CONFIG, HOSTS, PODS, RANK, Launch, Setting
from gen.kubernetes.check.silence import warn
from gen.render.parts.command_checks.role_command import Command

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0"})  # noqa: S104 - nothing listens here
_OWN_NAME: Final = regex(
    r"(?:--?[\w-]+=)?[\"']?(?:\$\(hostname(?: -[a-zA-Z]+)?\)|`hostname(?: -[a-zA-Z]+)?`|\$\{?HOSTNAME\}?)"
    r"(?::\S*)?[\"']?"
)
"""The name of its own pod, which differs between them."""


def check_address(command: Command, launch: Launch, pods: int | None, *, of_mpi: bool) -> None:
    """`of_mpi` is whether the pod is that of a launcher, which starts processes on the others."""
    if of_mpi:
        _check_hosts(command, launch)
        return
    chosen = launch.get(PODS)
    if pods is None or pods == 1 or launch.launcher in (ray.LAUNCHER, python.LAUNCHER):
        return
    alone = launch.get(ALONE)
    if alone is not None:
        message = f"each of the {pods} pods trains alone, because of `--standalone`"
        command.warning(NO_RENDEZVOUS, alone.word, message, "remove `--standalone`, or use `workers: 1`")
        return
    if chosen is not None and chosen.number != pods:
        return  # it is reported, or unknown
    if _has_fixed_rank(command, launch, pods):
        return
    variables = launch.launcher.variables
    by_hosts = launch.launcher is deepspeed.LAUNCHER and "no_ssh" not in launch.options
    meets = (chosen is not None and not by_hosts) or (PODS in variables and variables[PODS] in command.env)
    if not meets:
        _report_alone(command, launch, pods)
        return
    for name in launch.launcher.roles.get(ADDRESS, ()):
        setting = launch.options.get(name)
        if setting is not None and _is_here(setting):
            message = f"each of the {pods} pods waits for the others at its own address"
            command.error(NO_RENDEZVOUS, setting.word, message, _address_hint(command, launch, name))


def _has_fixed_rank(command: Command, launch: Launch, pods: int) -> bool:
    """Whether all pods have the same rank, or none, which is reported."""
    rank, backend, chosen = launch.get(RANK), launch.options.get("rdzv_backend"), launch.get(PODS)
    if rank is None and backend is None and launch.launcher is not accelerate.LAUNCHER:
        return False
    dynamic = backend is not None and backend.value != "static"
    own = next((f"${name}" for name in ("PET_NODE_RANK", "NODE_RANK") if name in command.env), "")
    if rank is not None and rank.number is not None and not dynamic:
        option = launch.option(rank)
        message = f"{every(pods, 'pod')} get the rank {rank.number}"
        hint = f"write `{own}`, or remove `{option}`" if own else "write a variable with the index of the pod"
        command.error(NO_RENDEZVOUS, rank.word, message, hint)
        return True
    by_address = launch.launcher is accelerate.LAUNCHER  # which makes the endpoint of the address and the port
    endpoint = "main_process_ip" if by_address else "rdzv_endpoint"
    if backend is not None and backend.value in ("c10d", "etcd", "etcd-v2") and endpoint not in launch.options:
        if "PET_RDZV_ENDPOINT" in command.env:
            return False
        address = "$PET_MASTER_ADDR" if "PET_MASTER_ADDR" in command.env else "<first pod>"
        address += "" if by_address else ":29400"
        message = (
            f"each of the {pods} pods waits for the others at `localhost`, because `{backend.value}` gets no address"
        )
        hint = f"add `--{endpoint}={address}`, or remove `--rdzv_backend`"
        command.error(NO_RENDEZVOUS, backend.word, message, hint)
        return True
    if (
        launch.launcher is accelerate.LAUNCHER
        and chosen is not None
        and launch.unread is None
        and launch.get(CONFIG) is None
    ):
        missing = [option for option in ("machine_rank", "main_process_ip") if option not in launch.options]
        if missing:
            message = "`accelerate launch` gets no " + " and no ".join(f"`--{one}`" for one in missing)
            if own:
                hint = "remove `--num_machines`, and let `--num_processes` be that of one pod"
            else:
                hint = "add " + " and ".join(f"`--{one}`" for one in missing)
            command.warning(NO_RENDEZVOUS, chosen.word, message, hint)
            return True
    return False


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
    if launch.unread is not None or (
        launch.launcher is deepspeed.LAUNCHER and deepspeed.DEFAULT_HOSTS in _files(command)
    ):
        return
    is_torchrun = launch.launcher is torchrun.LAUNCHER
    if is_torchrun and (launch.get(ADDRESS) is not None or any(name.startswith("PET_") for name in command.env)):
        return
    if not (is_torchrun or launch.launcher.roles.get(PODS) or HOSTS in launch.launcher.roles):
        return
    if launch.launcher.starts_programs and any(name.startswith(("OMPI_", "I_MPI", "HYDRA_")) for name in command.env):
        return
    message = f"`{launch.launcher.name}` starts processes on its own pod, so that each of the {pods} pods trains alone"
    hint = launch.launcher.alone
    if is_torchrun:
        hint = f"add `--nnodes={pods}` with the rank and the address of the pods, or use `workers: 1`"
    command.warning(NO_RENDEZVOUS, launch.word, message, hint)


def _files(command: Command) -> tuple[str, ...]:
    return tuple(mount.path for mount in command.pod.mounts)


def _check_hosts(command: Command, launch: Launch) -> None:
    """Launchers with a file of hosts, in the pod that starts processes on the others."""
    hosts, starts = launch.get(HOSTS), f"`{launch.launcher.name}` starts"
    of_mpirun = launch.launcher is mpirun.LAUNCHER
    if hosts is not None and hosts.value:
        named = [one.partition(":")[0] for one in hosts.value.split(",")]
        others = [one for one in named if "." not in one and command.context.name not in one]
        message = ""
        if all(one in _HERE for one in named):
            message = f"{starts} all processes in the launcher, because its host is `localhost`"
        elif launch.option(hosts) in _LISTS and others:
            message = f"{starts} processes on `{others[0]}`, which is not a worker of the run"
        if message:
            hint = f"remove `{launch.option(hosts)}`" if of_mpirun else _HOSTFILE
            command.warning(NO_RENDEZVOUS, hosts.word, message, hint)
    needs_file = hosts is None and not of_mpirun and HOSTS in launch.launcher.roles
    if needs_file and launch.unread is None and deepspeed.DEFAULT_HOSTS not in _files(command):
        message = f"{starts} all processes in the launcher, because it gets no file of hosts"
        command.warning(NO_RENDEZVOUS, launch.word, message, _HOSTFILE)


_LISTS: Final = frozenset({"-H", "--host", "--hosts"})
"""Options with the names of hosts. Those of workers start with the name of the job."""
_HOSTFILE: Final = "add `--hostfile /etc/mpi/hostfile`"


_ADDRESSES: Final = frozenset({"MASTER_ADDR", "PET_MASTER_ADDR"})
_RANKS: Final = frozenset({"RANK", "PET_NODE_RANK", "WORLD_SIZE", "PET_NNODES"})
_INTERFACES: Final = frozenset({"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"})


_OF_NODES: Final = regex(r"=?(?:en[opsx][0-9a-z]+|bond[0-9]+|em[0-9]+)(?::.*)?")
"""Interfaces that the firmware or the administrator of a node names."""


def check_interfaces(command: Command) -> None:
    """Report names of interfaces that only nodes have, for pods with their own network."""
    effect = command.pod.effect
    if effect.host_network or effect.attachments:
        return
    if any(key.endswith("/networks") for key in command.context.job.annotations):  # of Multus or a cloud
        return
    if sum(pod.role.replicas for pod in command.pods) <= 1:
        return
    known = [
        (name, command.env[name] or "", command.context.place("env", name)) for name in _INTERFACES & set(command.env)
    ]
    known += (
        (one.name, one.value.text, command.place(Word(one.name, one.value.place)))
        for one in command.script.variables
        if one.name in _INTERFACES and one.value.unknown is None and not one.around
    )
    for name, value, place in known:
        if value and all(_OF_NODES.fullmatch(each) for each in value.split(",")):
            message = f"`{value}` is an interface of nodes, and these pods have their own network"
            hint = f"remove `{name}`, or write `eth0`"
            warn(command.context.found, command.context.job.annotations, NO_RENDEZVOUS, place, message, hint)


def check_variables(command: Command, pods: int) -> None:
    """Variables that the command gives all pods, and that only one pod may have."""
    script = command.script
    launchers = [launched[0].launcher for _, launched in command.launched if launched]
    alone = all(one is python.LAUNCHER for one in launchers)
    for one in script.variables:
        name, value = one.name, one.value.text
        if one.around or one.value.unknown is not None:
            continue
        if name in _INTERFACES and value == "lo":
            message = f"the {pods} pods cannot reach each other by the interface `lo`"
            command.error(NO_RENDEZVOUS, Word(name, one.value.place), message, f"remove `{name}`, or write `eth0`")
        if name not in command.env or not (alone if not name.startswith("PET_") else torchrun.LAUNCHER in launchers):
            continue
        if name in _ADDRESSES and value in _HERE:
            message = f"each of the {pods} pods waits for the others at its own address"
            command.error(NO_RENDEZVOUS, Word(name, one.value.place), message, f"remove it: the pods have `{name}`")
        elif name in _RANKS and value.isdecimal() and (name.endswith("RANK") or value == "1"):
            message = f"all {pods} pods get `{name}={value}`"
            command.error(NO_RENDEZVOUS, Word(name, one.value.place), message, f"remove it: the pods have `{name}`")
