"""MPIJob v2beta1: ssh between launcher and workers, and conditions of the launcher's start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.job.kinds.mpi import RSH_AGENT
from tests.cases import for_each

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body
    from tests.support import Repository

JOB = "kind: mpi\nimage: a:1\ncommand: mpirun train\nworkers: 2\n"


def containers(run: Body) -> dict[str, Body]:
    roles = run["spec"]["mpiReplicaSpecs"]
    return {name: role["template"]["spec"]["containers"][0] for name, role in roles.items()}


def test_each_job_has_an_ssh_port_of_its_own_on_the_network_of_the_nodes(repo: Repository) -> None:
    repo.job(JOB + "network: host\n", "a")
    repo.job(JOB + "network: host\n", "b")
    agents = []
    for run in (body for body in repo.objects() if body["kind"] == "MPIJob"):
        found = containers(run)
        agent = next(e["value"] for e in found["Launcher"]["env"] if e["name"] == "OMPI_MCA_plm_rsh_agent")
        port = agent.removeprefix("ssh -p ")
        assert f"sshd -De -p {port} " in found["Worker"]["command"][2]
        assert 20_000 <= int(port) < 30_000
        agents.append(agent)
    assert len(set(agents)) == 2


def test_a_worker_keeps_its_own_command(repo: Repository) -> None:
    repo.job(JOB + "roles: {worker: {command: [/usr/sbin/sshd, -De, -f, /home/mpiuser/.sshd_config]}}\n")
    assert containers(repo.one("MPIJob"))["Worker"]["command"][0] == "/usr/sbin/sshd"


@for_each("own", ["command: [/usr/sbin/sshd, -D, -p, '2222']", "args: [/usr/sbin/sshd, -D, -p, '2222']"])
def test_ssh_has_the_port_of_the_job_where_workers_have_a_server_of_their_own(own: str, repo: Repository) -> None:
    """The first port of its command counts for ssh of its command, and nothing would listen there."""
    roles = f"roles: {{worker: {{{own}}}}}\n"
    repo.job(f"{JOB}network: host\n{roles}")
    assert RSH_AGENT not in {entry["name"] for entry in containers(repo.one("MPIJob"))["Launcher"]["env"]}
    repo.job(f"{JOB}network: host\n{roles}env: {{{RSH_AGENT}: ssh -p 2222}}\n")
    env = containers(repo.one("MPIJob"))["Launcher"]["env"]
    assert {"name": RSH_AGENT, "value": "ssh -p 2222"} in env
    repo.job(f"{JOB}network: host\nimplementation: MPICH\n{roles}")
    assert repo.codes() == []


@for_each(
    ("data", "folder"),
    [
        ("{data: /mnt}", "/dev/shm"),  # noqa: S108 - as rendered
        ("{data: /dev/shm}", "/tmp"),  # noqa: S108 - as rendered
        ("{data: {path: /dev/shm}}", "/tmp"),  # noqa: S108 - as rendered
        ("{data: /dev, more: /tmp}", "/run"),
    ],
)
def test_no_volume_of_several_pods_has_their_variables(data: str, folder: str, repo: Repository) -> None:
    volumes = "volumes: {data: {claim: a}, more: {claim: b}}\n"
    repo.overlay(f'kubernetes: "1.34"\nnamespaces: {{"*": {{}}}}\n{volumes}')
    repo.job(f"{JOB}data: {data}\n")
    command = containers(repo.one("MPIJob"))["Worker"]["command"][2]
    assert f"export -p >{folder}/.environment)" in command
    assert f"[ ! -r {folder}/.environment ] || . {folder}/.environment; eval" in command


OF_V1 = 'kubernetes: "1.34"\nnamespaces: {"*": {}}\noperators: {mpi: kubeflow.org/v1}\n'


def test_the_agent_of_the_training_operator_is_its_own(repo: Repository) -> None:
    """The MPI operator sets none, so a job can."""
    repo.job(JOB + "env: {OMPI_MCA_plm_rsh_agent: ssh -v}\n")
    assert repo.codes() == []
    repo.overlay(OF_V1)
    assert repo.codes() == ["reserved-env"]


def test_the_training_operator_connects_without_ssh(repo: Repository) -> None:
    repo.overlay(OF_V1)
    repo.job(JOB)
    run = repo.one("MPIJob")
    assert "command" not in containers(run)["Worker"]
    assert "launcherCreationPolicy" not in run["spec"]
    assert "initContainers" not in run["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]


def test_the_policy_of_the_launcher_does_not_depend_on_the_state(repo: Repository) -> None:
    """Or an active run would get another name when it is suspended."""
    repo.job(JOB)
    active = repo.one("MPIJob")
    repo.job(JOB + "state: suspended\n")
    suspended = repo.one("MPIJob")
    assert active["metadata"]["name"] == suspended["metadata"]["name"]
    assert active["spec"]["launcherCreationPolicy"] == "WaitForWorkersReady"
    repo.job(JOB + "queue: research\n")
    assert "launcherCreationPolicy" not in repo.one("MPIJob")["spec"], "Kueue suspends it, which disables the policy"
