"""The site file: names of a company's Slurm with their meaning in an overlay, once for all its scripts. Programs and
variables of the machines of any site, which no pod has; and sizes with the variables that Slurm makes of them.

image: registry.example.com/train:1    # the software of the nodes
nodes: {gpus: 8, cpu: 96}              # a whole node, of --exclusive and of scripts without --gres
partitions: {gpu: main, debug: ""}     # the queue; none for an empty text
accounts: {abc@v100: abc}              # the label `account`; none for an empty text
constraints: {v100-32g: {gpuModel: V100}}    # fields of `placement`
images: {/images/train.sqsh: registry.example.com/train:1}
paths: {/fsx: fsx}                     # the volume of the overlay
define: {USER: jane}                   # variables from outside
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from gen.base import Findings, Location, did_you_mean, names, regex
from gen.base.codes.imports import INVALID_COMMAND_LINE
from gen.base.shell_script import assigned_in
from gen.base.yaml.source import source_of
from gen.importers import ImportInput
from gen.importers.draft import JobDraft, label
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.expansion import NODES, RUN, START, Value, marked, shown, source_text, sources
from gen.importers.slurm.programs import SCRIPT, VARIABLE, DroppedPart, Step
from gen.job.launchers import BY_PROGRAM, base

_ADDRESSES: Final = frozenset(name for one in BY_PROGRAM.values() for name in one.roles.get(base.ADDRESS, ()))
_TEXTS: Final = ("image",)
_MAPPINGS: Final = ("nodes", "partitions", "accounts", "constraints", "images", "paths", "define")
_OF_NODES: Final = ("gpus", "cpu", "memory")


class Site(Struct, frozen=True, kw_only=True):
    """The meanings of names. All are empty without a site file."""

    image: str = ""
    nodes: Mapping[str, str] = {}
    partitions: Mapping[str, str] = {}
    accounts: Mapping[str, str] = {}
    constraints: Mapping[str, Mapping[str, Any]] = {}
    images: Mapping[str, str] = {}
    paths: Mapping[str, str] = {}
    define: Mapping[str, str] = {}
    places: Mapping[str, Location] = {}
    """Those of the image, and of the values in `define` by name."""

    def open_values(self, known: Collection[str]) -> dict[str, str]:
        """Words in place of the placeholders in `define`, which a shell would read as redirections."""
        left = (name for name, value in self.define.items() if name not in known and TO_COMPLETE.fullmatch(value))
        return {name: f"change-me-{label(name, 'value')}" for name in left}

    def volume_of(self, path: str) -> tuple[str, str] | None:
        """The longest folder of the file that has a path, and its volume."""
        known = [one for one in self.paths if path == one or path.startswith(f"{one.rstrip('/')}/")]
        folder = max(known, key=len, default=None)
        return (folder, self.paths[folder]) if folder is not None else None


def read_site(raw: bytes, file: str, found: Findings) -> Site:
    """The site of a file; without a value that is not valid, which is a finding."""
    source = source_of(raw, file, found)
    data = source.data if source is not None else {}
    if source is None or not isinstance(data, dict):
        found.error(INVALID_COMMAND_LINE, Location(file), "a site file is a mapping", "`--site-template` writes one")
        return Site()
    values: dict[str, Any] = {}
    for name, value in data.items():
        place = source.place((name,))
        if name not in (*_TEXTS, *_MAPPINGS):
            hint = did_you_mean(str(name), (*_TEXTS, *_MAPPINGS))
            found.error(INVALID_COMMAND_LINE, place, f"`{name}` is not a field of a site file", hint)
        elif (expected := _expected(name, value)) is not None:
            found.error(INVALID_COMMAND_LINE, place, f"`{name}`: expected {expected}", "`--site-template` writes one")
        else:
            values[name] = _plain(value)
    routes = {"image": ("image",), **{name: ("define", name) for name in values.get("define", ())}}
    return Site(**values, places={name: source.place(route) for name, route in routes.items()})


def _plain(value: object) -> Any:
    """A value of the reader as plain mappings and texts."""
    return {str(key): _plain(one) for key, one in value.items()} if isinstance(value, dict) else str(value)


def _expected(name: str, value: object) -> str | None:
    """The expected form of a field; None if it has it."""
    if name in _TEXTS:
        return None if isinstance(value, str) else "a text"
    if not isinstance(value, dict):
        return "a mapping"
    inner = dict if name == "constraints" else str
    if not all(isinstance(one, inner) for one in value.values()):
        return "a mapping of mappings" if inner is dict else "a mapping of texts"
    if name == "nodes" and (set(value) - {*_OF_NODES} or not str(value.get("gpus", "0")).isdecimal()):
        return f"numbers for {', '.join(_OF_NODES)}"
    return None


SILENT: Final = names(
    "echo set ulimit sleep hostname printenv which lscpu squeue sinfo pwd wait trap unset shopt free df ls nvcc "
    "date nvidia-smi scontrol printf true : ibstat sacct seff sstat sprio sshare scancel uname lsb_release "
    "ifconfig ip umask return break "
    "continue local type shift tput clear alias read getopt getopts false readonly command test du kill "
    "disown jobs hash times fg bg dirs enable history bind caller complete compgen logout let select "
    "rocm-smi top ps pkill killall lspci cat head tail grep sort stat"
)
"""Programs that show, or change the shell of the batch part only."""
SILENT_IN_TASKS: Final = names(
    "set echo hostname ulimit nvidia-smi date env printenv ls pwd which shift umask shopt true :"
)
CONDA: Final = frozenset({"conda", "mamba", "micromamba", "deactivate", "pyenv"})
ACTIVATE: Final = "/bin/activate"
"""The file of a virtual environment that changes the shell."""
SETUP: Final = regex(r"activate|conda|\.bashrc|\.bash_profile|modules?\.sh|/etc/profile|modules/init|setvars")
SETS_UP: Final = regex(r"\b(?:conda|mamba|micromamba|module|spack|pyenv|ssh-agent)\b")
OF_LOGS: Final = names("tee grep egrep tail head sed awk tr ts cat sort uniq cut column less rotatelogs multilog")
"""Programs behind a pipe that only change the logs."""
WITHOUT_SRUN: Final = "remove `srun` and its options there: the other program starts the processes in the pod"
IN_IMAGE: Final = "install it in the image"
OF_NO_FILE: Final = "gen reads no files that a script names"
OWN_ENVIRONMENT: Final = ("a container has an environment of its own", IN_IMAGE)
"""Why the environment of a node is not in a job, and what to do."""
MODULES: Final = frozenset({"module", "ml", "spack"})
COPIES: Final = frozenset({"enroot", "sbcast"})
"""Programs that bring images and files to the nodes."""
OF_NODES: Final = {
    **dict.fromkeys(MODULES, ("a container has no modules", IN_IMAGE)),
    **dict.fromkeys(
        COPIES, ("no node needs a copy for a pod", "set `image`, or mount a volume of the overlay with `data`")
    ),
}
"""Why programs that set up nodes are not in a job, and what to do."""
_WITHOUT_SOFTWARE: Final = regex(
    r"(?:module|ml)(?:\s+-\S+)*(?:\s+(?:purge|list|avail|reset|show|spider|unload|unuse|rm)\b.*)?"
    r"|(?:conda\s+|mamba\s+|micromamba\s+)?deactivate"
)
"""Commands about the software of a node that add none."""


def of_setup(command: str) -> tuple[str, str]:
    """Why a command that sets up a node is not in a job, and what to do."""
    why, hint = OF_NODES.get(command.split(maxsplit=1)[0].rpartition("/")[2], OWN_ENVIRONMENT)
    return why, "remove it" if _WITHOUT_SOFTWARE.fullmatch(command) else hint


OF_STATE: Final = names("nvidia-smi ibstat nvcc")
ONLY_SHOWS: Final = ("it only shows the state of a node", "remove it")
SUBMITS: Final = "sbatch"
"""The program that starts another job."""
_NOT_STARTED: Final = SILENT | CONDA | MODULES | COPIES | names("[ cd popd source . exit export") | {SUBMITS}
"""Words of a script that start no program of the run."""


def is_silent(program: str) -> bool:
    """Whether a program only shows something, or sets up software that an image has."""
    return program.rpartition("/")[2] in _NOT_STARTED


_ON_NODE: Final = regex(r"ssh(?:\s+-\S+)*\s+[^\s-]\S*\s+['\"]?([\w.-]+)[^;&|<>`(\n]*")


def why_of_output(source: str, file: str, otherwise: str) -> tuple[str, str]:
    """Why a file with the output of a program is not in a job, and what to do."""
    name = file.rpartition("/")[2].strip("'\"")
    orders = name != "" and re.search(rf"\bSLURM_HOSTFILE=\S*{re.escape(name)}", source) is not None
    return OF_HOSTS if orders else ("the cluster keeps the logs", otherwise)


def shows_node(text: str) -> bool:
    """Whether a command only shows something of another node."""
    match = _ON_NODE.fullmatch(text)
    return match is not None and match[1] in SILENT


TEMPLATE: Final = regex(
    r"(?<!\$)\{\{-?\s*[A-Za-z_][\w.]*(?:\s*\|[^}]*)?\s*-?\}\}|\{%-?\s*(?:if|for|set|include)\b[^%]*%\}"
)
"""Expressions of Jinja, which bash would read as words."""
TO_COMPLETE: Final = regex(r"\s*<[A-Za-z][^<>]*>")
"""Something like `<YOUR OPTIONS>` in the place of options or a value."""
OF_NETWORK: Final = regex(
    r"(?:NCCL(?!_TESTS)|GLOO|TP|UCX|FI|OMPI|OPAL|MPICH|RCCL|HSA|MPI|PMIX|PMI|I_MPI|SHARP|NVSHMEM|EFA|RDMAV|HCCL)_\w+|(?:https?|no|ftp|all)_proxy",
    re.IGNORECASE,
)
OF_SITE: Final = regex(
    rf"{OF_NETWORK.pattern}"
    r"|LD_LIBRARY_PATH|LD_PRELOAD|PATH|LIBRARY_PATH|CPATH|CUDA_HOME|CUDA_PATH|(?:CUDA|NVIDIA)_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES|ROCR?_\w+|HIP_\w+|CC|CXX|MODULEPATH|TERM"
    r"|HOME|USER|PWD|SHELL|TMPDIR|CONDA\w*|MAMBA\w*|SINGULARITY\w*|APPTAINER\w*|ENROOT\w*|SRUN\w*|SLURM_\w+|SBATCH_\w+|MELLANOX\w*",
    re.IGNORECASE,
)
"""Variables of the machines, of the network and of Slurm, which a pod gets from its image and its overlay."""
DEVICES: Final = names("CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES")
"""Variables with the GPUs that a program has of its node."""
OF_OTHER_GPUS: Final = (
    "it has numbers of GPUs that a pod lacks",
    "write the numbers of its own, which start with 0, into `env`",
)
OF_HOSTS: Final = ("the ranks of a job have the order of its pods", "remove it, or let the program order its ranks")
"""Why a file with an order of nodes is not in a job, and what to do."""
OF_LINKER: Final = names("LD_PRELOAD LD_LIBRARY_PATH")
"""Variables with files of the image, if the script sets them for a program in a container."""
OF_MACHINES: Final = (
    "it belongs to the machines of the site",
    "set it in the image or in a network of the overlay, if it is needed",
)
HARMLESS: Final = frozenset(
    {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_ASYNC_ERROR_HANDLING", "NCCL_BLOCKING_WAIT", "NCCL_TIMEOUT"}
    | {"GLOO_TIMEOUT_SECONDS", "NCCL_AVOID_RECORD_STREAMS", "NCCL_DESYNC_DEBUG", "NCCL_ENABLE_TIMING"}
)


_MAX_NAME: Final = 36  # with room for the suffixes of the pods and the run


def named_draft(
    given: ImportInput, namespace: str, named: tuple[str, Location], stem: str, found: Findings
) -> JobDraft:
    """A job with the name of the script, or of its file. A long one ends with a word that is behind half of it."""
    whole = label(named[0], "") or label(stem, "job")
    wanted = given.name or (f"job-{whole}" if whole[0].isdecimal() and len(whole) > _MAX_NAME else whole)
    mark = TO_COMPLETE.search(named[0]) if not given.name else None
    short = wanted if given.name else wanted[:_MAX_NAME].strip("-")
    end = short.rfind("-") if wanted[len(short) :][:1] not in ("", "-") else -1
    short = short[:end] if end > _MAX_NAME // 2 else short
    draft = JobDraft(short, "batch", namespace, Location(given.file), found)
    if mark is not None:
        draft.drop(named[1], f"the name `{named[0]}`", "it is a placeholder", "choose one with `--name`")
    if short != wanted:
        why = f"the names of its pods are longer, so it is `{short}`"
        draft.drop(named[1], f"the name `{named[0] or stem}`", why, "choose one with `--name`")
    return draft


def unclear_addresses(steps: Iterable[Step], launched: Iterable[Step]) -> Iterator[DroppedPart]:
    """Values of the script for the address of the first pod, which gen sets, that are not known to be this address."""
    values: list[tuple[Location, Value]] = [(one.place, one.exported.get("MASTER_ADDR", "")) for one in steps]
    for step in launched:
        for word, following in pairwise((*step.words, "")):
            name, sign, joined_value = word.partition("=")
            if word.startswith("-") and name.lstrip("-").replace("-", "_") in _ADDRESSES:
                values.append((step.place, joined_value if sign else following))
    for place, value in dict.fromkeys(values):
        text = value if isinstance(value, str) else " ".join(value)
        if any(one.startswith("$(") or one == NODES[1:-1] for one in sources(text)):
            hint = "check that the script means its first node"
            yield DroppedPart(place, f"the address `{cut(shown(text))}`", "gen sets that of the first pod", hint)


class Layout(Struct, frozen=True, kw_only=True):
    """Sizes that the script asks for."""

    nodes: int
    per_node: int
    """Processes on a node, at most."""
    tasks: int
    """Processes on all nodes."""
    cpus_per_task: int
    gpus: int
    """GPUs of each node."""
    indices: tuple[int, ...]
    """Tasks of an array."""
    cpus: int = 0
    """CPUs of each node, if the script names their number."""
    last: int = 0
    """The highest one of them."""
    array: bool = False
    """Whether they are the pods of one job."""
    names: Mapping[str, str] = {}
    """Variables of Slurm with the names and the numbers of options."""


def names_of(options: Mapping[str, str]) -> dict[str, str]:
    """Variables of Slurm with the names and the numbers that options give. Of several partitions, Slurm chooses one."""
    known = {name: options[name] for name in ("account", "partition", "qos") if name in options}
    made = {f"SLURM_JOB_{name.upper()}": value for name, value in known.items() if not {*",$"} & {*value}}
    for name, variable in _MEMORIES.items():
        if (match := _MEMORY.fullmatch(options.get(name, ""))) is not None:
            made[variable] = str(int(match[1]) * 1024 ** "KMGT".index(match[2].upper() or "M") // 1024)
    made |= {variable: options[name] for name, variable in _NUMBERS.items() if _NUMBER.fullmatch(options.get(name, ""))}
    if (steps := _STEPS.fullmatch(options.get("array", ""))) is not None:
        made["SLURM_ARRAY_TASK_STEP"] = steps[1] or "1"
    return made


_MEMORIES: Final = {"mem": "SLURM_MEM_PER_NODE", "mem-per-cpu": "SLURM_MEM_PER_CPU", "mem-per-gpu": "SLURM_MEM_PER_GPU"}
_MEMORY: Final = regex(r"([1-9]\d{0,9})([KMGTkmgt]?)")
"""A size, which the variables have in mebibytes."""


_NUMBERS: Final = {
    name: f"SLURM_{name.replace('-', '_').upper()}"
    for name in (
        *("cpus-per-gpu", "gpus-per-task", "gpus-per-socket", "ntasks-per-gpu", "ntasks-per-socket"),
        *("ntasks-per-core", "threads-per-core"),
    )
}
"""Variables that Slurm sets only with their options: "Output environment variables" in
https://slurm.schedmd.com/sbatch.html.
"""
_NUMBER: Final = regex(r"(?:[A-Za-z][\w.-]*:)?[1-9]\d{0,5}")
_STEPS: Final = regex(r"\d+(?:-\d+(?::([1-9]\d*))?)?(?:%\d+)?")
TASK: Final = marked("{{ params.task }}")  # of an array that is a sweep


def constants(name: str, layout: Layout, values: Mapping[str, str]) -> dict[str, str]:
    """The variables of Slurm in the batch part, and those that the user gives."""
    constants = {
        "SLURM_JOB_NAME": name,
        **dict.fromkeys(("SLURM_NNODES", "SLURM_JOB_NUM_NODES"), str(layout.nodes)),
        **dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), str(layout.tasks)),
        "SLURM_NTASKS_PER_NODE": str(layout.per_node),
        "SLURM_TASKS_PER_NODE": _on_nodes(layout),
        "SLURM_CPUS_PER_TASK": str(layout.cpus_per_task),
        "SLURM_SUBMIT_DIR": values.get("PWD", START),
        "SLURMD_NODENAME": marked("$HOSTNAME"),
        **dict.fromkeys(("SLURM_PROCID", "SLURM_NODEID", "SLURM_LOCALID"), "0"),
        **dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_ARRAY_JOB_ID"), RUN),
    }
    if layout.gpus:
        constants |= dict.fromkeys(("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"), str(layout.gpus))
        constants["SLURM_GPUS"] = str(layout.gpus * layout.nodes)
        constants["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(layout.gpus)))
    if layout.cpus:
        constants["SLURM_CPUS_ON_NODE"] = str(layout.cpus)
        constants["SLURM_JOB_CPUS_PER_NODE"] = (
            f"{layout.cpus}(x{layout.nodes})" if layout.nodes > 1 else str(layout.cpus)
        )
    return {**constants, **_of_array(layout), **layout.names, **values}


def _on_nodes(layout: Layout) -> str:
    """The tasks of all nodes, as in `2(x3),1`."""
    least, more = divmod(layout.tasks, layout.nodes)
    counts = (least + 1, more), (least, layout.nodes - more)
    return ",".join(f"{tasks}(x{nodes})" if nodes > 1 else str(tasks) for tasks, nodes in counts if nodes)


def _of_array(layout: Layout) -> dict[str, str]:
    """The variables of Slurm about a task of an array."""
    if not layout.indices:
        return {}
    first, count = layout.indices[0], str(len(layout.indices))
    of_task = str(first) if len(layout.indices) == 1 else TASK
    if layout.array:
        of_task = marked(f"$((JOB_COMPLETION_INDEX + {first}))" if first else "$JOB_COMPLETION_INDEX")
        count = marked("$TASK_COUNT")
    made = {"ID": of_task, "COUNT": count, "MIN": str(min(layout.indices)), "MAX": str(layout.last)}
    return {f"SLURM_ARRAY_TASK_{name}": value for name, value in made.items()}


def other_job(script: str, place: Location, *, delayed: bool) -> DroppedPart:
    """The start of another job, or of the script itself."""
    what, why = f"`{f'{SUBMITS} {script}'.strip()[:60]}`", "it starts another job"
    hint = f"import `{script}`, and start both as steps of a job of kind `pipeline`"
    if not script:
        hint = "write its commands into a script, and import that"
    elif SCRIPT in script:
        what, why = f"the `{SUBMITS}` of the script itself", "a job does not start itself again"
        hint = "set `retries` of the job, or start it again with `gen rerun --resume`"
        hint = "set `schedule` of the job, if it runs at set times" if delayed else hint
    return DroppedPart(place, what, why, hint)


def is_of_machines(name: str) -> bool:
    """Whether a variable belongs to the machines of a site, so that no program gets it."""
    return OF_SITE.fullmatch(name) is not None and name not in HARMLESS


OF_KIND: Final = names(
    "MASTER_ADDR MASTER_PORT RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK LOCAL_SIZE NNODES"
)
"""Variables that the kind of the job or its launcher sets; `mpi` only sets those of its own launcher."""


_NUMBERS_OF_GPUS: Final = regex(r"\d{1,2}(?:,\d{1,2})*")


def selects_gpus(name: str, value: str, gpus: int = 100) -> bool:
    """Whether a variable has the numbers of GPUs that a pod has."""
    is_list = name in DEVICES and _NUMBERS_OF_GPUS.fullmatch(value) is not None
    return is_list and max(map(int, value.split(","))) < gpus


def is_of_pods(name: str) -> bool:
    """Whether the pods have a value of their own for a variable, or need none."""
    return name in OF_KIND or is_of_machines(name)


_SETTINGS: Final = regex(r"_if_(?:in|ex)clude|btl|pml|ucx|plm|ras|UCX")
"""Parts of settings of Open MPI about the network."""


def sets_network(option: str, value: str) -> bool:
    """Whether an option of `mpirun`, or the variable that it sets, is about the network of a site."""
    if option not in ("x", "env", "genv"):
        return _SETTINGS.search(value) is not None
    variable = re.split("[= ]", value, maxsplit=1)[0]
    return OF_NETWORK.fullmatch(variable) is not None and variable not in HARMLESS


def carry_values_of_file(
    draft: JobDraft, name: str, content: str, given: Mapping[str, str], known: Collection[str], place: Location
) -> None:
    """Set the variables that the user gives and a shell script in a file reads. Report others from outside."""
    if not name.endswith(".sh") and re.match(r"#!.*sh\b", content) is None:
        return
    own = {*known, *assigned_in(content)}
    for one in dict.fromkeys(VARIABLE.findall(content)):
        if one.isdecimal() or one in own or is_of_machines(one):
            continue
        if one in given:
            draft.variable(one, given[one], place)
        else:
            why = f"`{cut(name)}` reads it, and the script sets no value"
            draft.drop(place, f"`${one}` from outside", why, f"give it with `--define {one}=VALUE`, if it is set")


_OF_SLURM_ITSELF: Final = regex(rf"{re.escape(SCRIPT)}\b|\bslurm-\S*\.(?:out|err|log)\b")


def file_of_slurm(words: Sequence[str], logs: Collection[str]) -> str:
    """A file among the words of a command that only Slurm has: its copy of the script, or a log."""
    known = _OF_SLURM_ITSELF.search(source_text(" ".join(words)))
    own = (one for one in words if one.removeprefix("./") in logs or one.rpartition("/")[2] in logs)
    return known[0] if known is not None else next(own, "")
