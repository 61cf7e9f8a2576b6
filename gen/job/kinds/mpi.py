"""MPIJob of the MPI operator (v2beta1) or the training operator (v1). A cluster can serve only one version.

The workers of v2beta1 run sshd, which starts the commands of the launcher with an environment of its own. Here, it
gives them that of its container, so that variables of the job, by value or by reference, reach the ranks with every
implementation of MPI.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, Literal
from zlib import crc32

from msgspec.structs import replace

from gen.base import Route, as_mapping, as_mappings, at, regex
from gen.job.kinds.base import Problem
from gen.job.kinds.kubeflow import KubeflowJob
from gen.job.kinds.role import Hosts, Role, Target, counted_failures, counted_restarts
from gen.job.model import Model, default
from gen.job.names import MountPath
from gen.job.plan import Plan
from gen.job.pods import RoleFields
from gen.job.scalars import Positive
from gen.kubernetes.facts.base import Pattern, Resource
from gen.kubernetes.facts.kubeflow import KUBEXEC, MPIJOB, V1, V2
from gen.kubernetes.objects import NVIDIA_DEVICES, NVIDIA_GPU, Body, present

RSH_AGENT: Final = "OMPI_MCA_plm_rsh_agent"
"""Command of Open MPI that connects to a worker."""

_TRAINS: Final = "runLauncherAsWorker"
_MEMORY = "/dev/shm"  # noqa: S108 - in memory, and in every container
_FOLDERS = (_MEMORY, "/tmp", "/run")  # noqa: S108 - of the container
_SAVE = "(umask 077; unset PWD OLDPWD; export -p >{file})"
_RESTORE = '[ ! -r {file} ] || . {file}; eval "${{SSH_ORIGINAL_COMMAND:-exec sh}}"'
_SERVER = "/usr/sbin/sshd -De"
"""As the operator starts it."""

_PORTS = range(20_000, 30_000)
"""Neither of node ports nor of outgoing connections (`net.ipv4.ip_local_port_range`)."""


def ssh_server(port: int | None, mounted: Iterable[str] = ()) -> tuple[str, ...]:
    """Command of a worker. Volumes at the paths `mounted` can be those of several pods, which have other variables."""
    option, volumes = f" -p {port}" if port else "", [f"{path.rstrip('/')}/" for path in mounted]
    folder = next((one for one in _FOLDERS if not any(f"{one}/".startswith(path) for path in volumes)), _MEMORY)
    save, restore = (text.format(file=f"{folder}/.environment") for text in (_SAVE, _RESTORE))
    return "sh", "-c", f"{save}\nexec {_SERVER}{option} -o 'ForceCommand={restore}'\n"


def ssh_port(target: Target) -> int:
    """On the network of the nodes, sshd of the node has port 22, and several jobs may have workers on one node."""
    return _PORTS[crc32(f"{target.namespace}/{target.name}".encode()) % len(_PORTS)]


_SERVED: Final = (V1, V2)
_VARIABLE: Final = regex(r"\$(?:\w|\{)")


class MPIRoles(Model):
    """Values for single roles."""

    launcher: RoleFields | None = None
    """The pod that runs the command. It does not get the GPUs, CPU and memory of the job."""
    worker: RoleFields | None = None
    """The pods that train. They wait for the launcher and need no command."""


class MPIJob(KubeflowJob):
    """Horovod and other MPI programs. `workers` is the number of pods that train, without the launcher."""

    facts: ClassVar[Resource] = MPIJOB
    arena: ClassVar[str] = "mpijob"
    copied: ClassVar[Mapping[str, Pattern]] = {
        "slotsPerWorker": ("spec", "slotsPerWorker"),
        "implementation": ("spec", "mpiImplementation"),
        "sshAuthMountPath": ("spec", "sshAuthMountPath"),
    }
    called: ClassVar[tuple[str, ...]] = ("horovod",)
    # before v2beta1, the launcher reached the workers with `kubectl exec`
    since_retired: ClassVar[str] = "the image must have `/usr/sbin/sshd` and an ssh client"
    # `mpi_job_controller.go` of both operators: appended to the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"K_MPI_JOB_ROLE", "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames"}
        | {"OMPI_MCA_orte_set_default_slots", "OMPI_MCA_plm_rsh_args", "HYDRA_HOST_FILE", "HYDRA_LAUNCH_EXTRA_ARGS"}
        | {"I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "I_MPI_PERHOST"}
    )
    unsupported: ClassVar[Mapping[str, str]] = {
        "outputs": "its processes run in the workers, which do not know when they end; write to a volume in `data`"
    }
    example: ClassVar[Mapping[str, object]] = {
        "image": "horovod/horovod:0.28.1",
        "command": "mpirun python code/horovod/examples/pytorch/pytorch_synthetic_benchmark.py",
        "code": {
            "git": "https://github.com/horovod/horovod.git",
            "ref": "cf63b2ed3f8f47f65c2b3c885a22087fd5188eb4",
            "submodules": "off",
        },
        "workers": 2,
        "gpus": 1,
        "roles": {"launcher": {"cpu": 1, "memory": "2Gi"}},
    }

    kind: Literal["mpi"]
    """Kind of job."""
    roles: MPIRoles = default(MPIRoles)
    """Values for single roles, which override those of the job."""
    slots_per_worker: Positive | None = None
    """MPI slots of each worker. [default: its number of GPUs, or 1]"""
    implementation: Literal["OpenMPI", "Intel", "MPICH"] | None = None
    """MPI implementation of the image. [default: OpenMPI] Only with `kubeflow.org/v2beta1`."""
    ssh_auth_mount_path: MountPath | None = None
    """Mount path of the SSH keys, for images that do not run as root. Only with `kubeflow.org/v2beta1`."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """`v1alpha1` had one template: the launcher ran its command, without devices of workers. One that trains
        becomes one more worker, because the launcher of a job does not.
        """
        body = super().modern(body)
        spec = dict(body["spec"])
        roles = spec.get(cls.facts.pods[0].role_map)
        if spec.get(_TRAINS) is True and isinstance(at(roles, "Worker"), dict) and isinstance(roles, dict):
            worker = {**roles["Worker"], "replicas": _whole(roles["Worker"].get("replicas")) + 1}
            spec = {name: value for name, value in spec.items() if name != _TRAINS}
            launcher = _without_devices(roles.get("Launcher"))
            return {
                **body,
                "spec": {**spec, cls.facts.pods[0].role_map: {**roles, "Launcher": launcher, "Worker": worker}},
            }
        template = spec.pop("template", None)
        if not isinstance(template, dict) or cls.facts.pods[0].role_map in spec:
            return body
        units = spec.pop("gpus", spec.pop("processingUnits", None))
        each = spec.pop("gpusPerNode", spec.pop("processingUnitsPerNode", None)) or units
        workers = spec.pop("replicas", None) or -(-_whole(units) // _whole(each))
        resources = spec.pop("launcherResources", None)
        spec[cls.facts.pods[0].role_map] = {
            "Launcher": {"replicas": 1, "template": _with_container(template, resources=resources)},
            "Worker": {"replicas": workers, "template": _worker_of(template, each)},
        }
        for gone in ("launcherOnMaster", "mountsOnLauncher", "processingResourceType"):
            spec.pop(gone, None)
        return {**body, "spec": spec}

    @classmethod
    def obstacles(cls, body: Body) -> Iterable[tuple[Route, str, str]]:
        """In the versions that have been retired, the launcher starts `kubexec.sh` by its path, and no `ssh`."""
        pod = ("spec", cls.facts.pods[0].role_map, "Launcher", "template", "spec", "containers")
        for number, container in enumerate(
            as_mappings(at(body, *pod)) if body.get("apiVersion") not in _SERVED else ()
        ):
            for index, one in enumerate(as_mappings(container.get("env"))):
                value = str(one.get("value"))
                if one.get("name") == "PATH" and _VARIABLE.search(value) and "/usr/bin" not in value.split(":"):
                    message = "Kubernetes expands no `$NAME` in `PATH`, so that the launcher finds no `ssh`"
                    hint = "write the whole path, such as `/usr/local/bin:/usr/bin:/bin`, and the folders behind it"
                    yield (*pod, number, "env", index, "value"), message, hint

    @classmethod
    def changes(cls, body: Body) -> Iterable[tuple[Route, str, str]]:
        if at(body, "spec", _TRAINS) is True:
            message = "the launcher of a job does not train: one more worker has its processes and devices"
            yield ("spec", _TRAINS), message, "check `workers`, and host names in the program"
        pod = ("spec", cls.facts.pods[0].role_map, "Worker", "template", "spec")
        first = next(iter(as_mappings(at(body, *pod, "containers"))), {})
        if at(body, *pod, "hostIPC") is True and body.get("apiVersion") != V1 and not first.get("command"):
            message = (
                f"with `hostIPC`, `{_MEMORY}` of workers is that of the node, and gen writes their variables there"
            )
            hint = "remove `hostIPC`, or set `command` of the role `worker`, such as `[/usr/sbin/sshd, -De]`"
            yield (*pod, "hostIPC"), message, hint

    @classmethod
    def absent_files(cls, version: str) -> Mapping[str, str]:
        hint = f"remove the option, because ssh connects to the workers, or use {V1} in the overlay's `operators.mpi`"
        return {KUBEXEC: hint} if version == V2 else {}

    def arena_labels(self, role: str) -> Mapping[str, str]:
        """Those of the first MPI operator (`IsMPIPod` in `pkg/apis/utils/training.go` of kubeflow/arena)."""
        return {"group_name": "kubeflow.org", "mpi_role_type": role}

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        launcher = Role(
            name="launcher",
            replica_type="Launcher",
            replicas=1,
            fields=self.roles.launcher,
            trains=False,
            # emptied by both operators
            reserved_env=frozenset({NVIDIA_DEVICES, "NVIDIA_DRIVER_CAPABILITIES"}),
        )
        # neither operator replaces a failed worker, but a container can be restarted in place: the next attempt of the
        # launcher finds it again
        worker = Role(
            name="worker",
            replica_type="Worker",
            replicas=self.workers,
            fields=self.roles.worker,
            runs=False,
            restart="OnFailure",
        )
        return launcher, worker

    def adapted(self, roles: tuple[Role, ...], target: Target) -> tuple[Role, ...]:
        """Through ssh, ranks need the environment of their container, and the launcher running workers."""
        launcher, worker = roles
        if target.api_version != V2:
            # the operator sets its `kubexec.sh` behind the user's environment
            return replace(launcher, reserved_env=launcher.reserved_env | {RSH_AGENT}), worker
        port = ssh_port(target) if target.host_network and not self._has_own_server else None
        agent = ({"name": RSH_AGENT, "value": f"ssh -p {port}"},) if port else ()
        mounted = [one if isinstance(one, str) else one.path for one in self.data.values()]
        hosts = Hosts(pattern=f"{target.run}-worker-%d.{target.run}", count=worker.replicas)
        return replace(launcher, env=agent, wait_for=hosts), replace(worker, command=ssh_server(port, mounted))

    @property
    def _has_own_server(self) -> bool:
        """Whether the workers run a program of the job in place of gen's sshd, whose port only the job knows."""
        return self.roles.worker is not None and bool(self.roles.worker.model_fields_set & {"command", "args"})

    def slots(self, gpus: Mapping[str, int]) -> int:
        return self.workers * (self.slots_per_worker or max(gpus.get("worker", 0), 1))

    def backoff_limit(self, plan: Plan) -> int | None:
        """The MPI operator copies the limit to the Job of the launcher."""
        if plan.api_version != V2:
            return super().backoff_limit(plan)
        launcher = next(pod.role for pod in plan.pods if pod.role.runs)
        count = counted_restarts if launcher.restart == "OnFailure" else counted_failures
        return None if plan.retries is None else count(plan.retries, 1)

    def own_spec(self, plan: Plan) -> Body:
        worker = next(pod.role for pod in plan.pods if not pod.role.runs)
        return present(
            slotsPerWorker=self.slots_per_worker or max(worker.gpus, 1),
            mpiImplementation=self.implementation,
            sshAuthMountPath=self.ssh_auth_mount_path,
            # a queue that starts all pods together would wait for the launcher, and the operator ignores the policy of
            # suspended objects, as those in a queue of Kueue are: then all pods start at once
            launcherCreationPolicy="WaitForWorkersReady" if plan.api_version == V2 and plan.queue is None else None,
        )

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from super().problems(target)
        other = self.implementation not in (None, "OpenMPI")
        if target.api_version == V2 and target.host_network and other and not self._has_own_server:
            message = f"the launcher of {self.implementation} cannot use another ssh port than that of the node"
            yield Problem(("network",), message, "use the `pod` network, or `implementation: OpenMPI`")
        if target.api_version == V1:
            hint = f"remove it, or use {V2} in the overlay's `operators.mpi`"
            of_v2 = {"implementation": self.implementation, "sshAuthMountPath": self.ssh_auth_mount_path}
            for field in (name for name, value in of_v2.items() if value is not None):
                yield Problem((field,), f"`{field}` does not exist in {V1}", hint)


def _without_devices(launcher: object) -> object:
    """A launcher without the resources of a worker, which has its part."""
    template = at(launcher, "template")
    if not isinstance(launcher, dict) or not isinstance(template, dict):
        return launcher
    first = next(iter(as_mappings(at(template, "spec", "containers"))), {})
    limits = as_mapping(at(first, "resources", "limits"))
    devices = any("/" in str(name) for name in limits)
    return {**launcher, "template": _with_container(template, resources=None)} if devices else launcher


def _whole(value: object) -> int:
    """A number of devices; 1 for other values."""
    return value if isinstance(value, int) and value > 0 else 1


def _with_container(template: Body, **changes: object) -> Body:
    """A template with other values in its first container; None removes a field."""
    pod = template.get("spec")
    containers = pod.get("containers") if isinstance(pod, dict) else None
    if not isinstance(pod, dict) or not isinstance(containers, list):
        return template
    first, others = containers[:1], containers[1:]
    own = first[0] if first and isinstance(first[0], dict) else {}
    merged = {name: value for name, value in {**own, **changes}.items() if value is not None}
    return {**template, "spec": {**pod, "containers": [merged, *others]}}


def _worker_of(template: Body, gpus: int | None) -> Body:
    """The operator sets the command of workers, and their GPUs if the object has their number."""
    limits = {"limits": {NVIDIA_GPU: gpus}} if gpus else None
    worker = _with_container(template, command=None, args=None)
    return _with_container(worker, resources=limits) if limits else worker
