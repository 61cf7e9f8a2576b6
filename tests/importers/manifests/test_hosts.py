"""Host names of the pods of an object: a run has another name, with its hash."""

from __future__ import annotations

from typing import Any

from tests.cases import for_each
from tests.importers.manifests.forms import EQUAL, an_object, pod, replicas
from tests.importers.manifests.proofs import proof_of, read
from tests.importers.support import job_of


def pytorch(*command: str, **of_pod: Any) -> dict[str, Any]:
    template = pod("pytorch", command=list(command))
    template["spec"] |= of_pod
    return an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas(Master=(1, template))})


def mpi(version: str, *command: str) -> dict[str, Any]:
    roles = replicas(Launcher=(1, pod("mpi", command=list(command))), Worker=(2, pod("mpi", command=[])))
    return an_object(f"kubeflow.org/{version}", "MPIJob", {"mpiReplicaSpecs": roles})


def volcano(*command: str) -> dict[str, Any]:
    tasks = [{"name": "worker", "replicas": 2, "template": pod("worker", command=list(command))}]
    return an_object("batch.volcano.sh/v1alpha1", "Job", {"plugins": {"svc": []}, "tasks": tasks})


def jobset(*command: str, **network: str) -> dict[str, Any]:
    template = {"spec": {"parallelism": 2, "completions": 2, "template": pod("main", command=list(command))}}
    spec = {"replicatedJobs": [{"name": "workers", "template": template}]}
    return an_object("jobset.x-k8s.io/v1alpha2", "JobSet", spec | ({"network": network} if network else {}))


def indexed(*command: str) -> dict[str, Any]:
    template = pod("main", command=list(command))
    template["spec"] |= {"restartPolicy": "Never", "subdomain": "meet"}
    counts = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimit": 0}
    return an_object("batch/v1", "Job", {**counts, "template": template})


@for_each(
    ("body", "expected"),
    [
        (pytorch("x", "--to=run-master-0:29400"), "--to={{ run.id }}-master-0:29400"),
        (pytorch("x", "http://run-master-0/a"), "http://{{ run.id }}-master-0/a"),
        (pytorch("x", "run-master-0.team.svc:1"), "{{ run.id }}-master-0.team.svc:1"),
        (pytorch("x", "run-master-0.other.svc.cluster.local"), "{{ run.id }}-master-0.team.svc.cluster.local"),
        (pytorch("x", "/logs/run-master-0"), "/logs/run-master-0"),
        (pytorch("x", "--log=run-master-0.log"), "--log=run-master-0.log"),
        (pytorch("x", "dry-run-master-0"), "dry-run-master-0"),
        (pytorch("x", "run-worker-0"), "run-worker-0"),
        (mpi("v2beta1", "mpirun", "run-worker-0.run:1"), "{{ run.id }}-worker-0.{{ run.id }}:1"),
        (mpi("v2beta1", "mpirun", "run-worker-{0..1}"), "{{ run.id }}-worker-{0..1}.{{ run.id }}"),
        (mpi("v1", "mpirun", "run-worker-0"), "{{ run.id }}-worker-0"),
        (volcano("bash", "-c", "x run-worker-$i.run"), "x {{ run.id }}-worker-$i.{{ run.id }}"),
        (jobset("x", "run-workers-0-0.run:1"), "{{ run.id }}-workers-0-0.{{ run.id }}:1"),
        (jobset("x", "run-workers-0-0.meet:1", subdomain="meet"), "{{ run.id }}-workers-0-0.{{ run.id }}:1"),
        (indexed("x", "run-0.meet"), "{{ run.id }}-0.{{ run.id }}"),
        (indexed("x", "run-0"), "run-0"),
    ],
)
def test_programs_find_the_pods_of_a_run(body: dict[str, Any], expected: str) -> None:
    proof = proof_of(body)
    assert proof.job.fields["command"][-1] == expected
    assert (proof.patch, proof.remaining, proof.job.obstacles) == (None, (), ())


def test_variables_and_files_have_the_names_of_a_run() -> None:
    body = pytorch(
        "mpirun",
        "--hostfile=/etc/hosts/all",
        containers=[
            {
                **pod("pytorch")["spec"]["containers"][0],
                "env": [{"name": "FIRST", "value": "run-master-0"}],
                "volumeMounts": [{"name": "hosts", "mountPath": "/etc/hosts"}],
            }
        ],
        volumes=[{"name": "hosts", "configMap": {"name": "hosts"}}],
    )
    hosts = {**an_object("v1", "ConfigMap", {}, name="hosts"), "data": {"all": "run-master-0 slots=1\n"}}
    del hosts["spec"]
    fields = read(body, hosts)[0][0].fields
    assert fields["env"] == {"FIRST": "{{ run.id }}-master-0"}
    assert fields["files"] == {"/etc/hosts/all": "{{ run.id }}-master-0 slots=1\n"}


def test_host_of_a_rendezvous() -> None:
    body = EQUAL["pytorch-elastic"]
    policy = {**body["spec"]["elasticPolicy"], "rdzvHost": "run-worker-0"}
    proof = proof_of({**body, "spec": {**body["spec"], "elasticPolicy": policy}})
    assert proof.job.fields["elastic"]["host"] == "{{ run.id }}-worker-0"
    assert (proof.patch, proof.job.obstacles) == (None, ())


def test_other_containers_cannot_find_the_pods() -> None:
    wait = {"name": "wait", "image": "busybox", "command": ["nslookup", "run-master-0"]}
    (job,), _ = read(pytorch("x", initContainers=[wait]))
    message = "`run-master-0` is the host name of a pod, and the pods of a run have another name"
    assert [one.message for one in job.obstacles] == [message]


def test_other_containers_cannot_find_the_object() -> None:
    wait = {"name": "wait", "image": "kubectl", "command": ["sh", "-c", "kubectl get pod -l training/job-name=run"]}
    (job,), _ = read(pytorch("x job-name=run-2 pytorchjob/run", initContainers=[wait]))
    assert [one.message for one in job.obstacles] == ["`run` is the object, and a run has another name"]
    assert "pytorchjob/{{ run.id }}" in str(job.fields["command"])


def test_a_subdomain_that_gen_leaves_out_is_not_added() -> None:
    proof = proof_of(jobset("x", subdomain="meet"))
    assert (proof.patch, proof.remaining) == (None, ())
    assert not [one for one in proof.added if "subdomain" in one]


def test_services_of_other_names() -> None:
    service = an_object("v1", "Service", {"clusterIP": "None", "selector": {"job-name": "run"}}, name="meet")
    _, found = read(indexed("x", "run-0.meet"), service)
    assert [one.message for one in found] == [
        "`subdomain: meet` is not carried: the pods of a run have a Service with its name",
        "Service `meet` is not carried: it selects pods of `run` by its name, and those of a run have another one",
    ]


@for_each(
    ("words", "used"),
    [
        ("--url=tcp://run-front:29500", True),
        ("--host=run-front.team.svc", True),
        ("--host=run-front.svc", True),
        ("--host=run-front:80", True),
        ("--name=run-front --url=http://run-front-2", False),
    ],
)
def test_a_service_that_programs_use_by_its_name(words: str, used: bool) -> None:
    selector = {"training.kubeflow.org/job-name": "run"}
    service = an_object("v1", "Service", {"clusterIP": "None", "selector": selector}, name="run-front")
    (job,), _ = read(pytorch(words), service)
    message = "the Service `run-front` selects pods by the name `run`, and a run has another one"
    assert [one.message for one in job.obstacles] == [message] * used


@for_each(
    ("submission", "expected"),
    [
        ("pytorch --workers=2 'x p-master-0'", "x {{ run.id }}-master-0"),
        ("mpi --workers=2 'mpirun -H p-worker-0,p-worker-1'", "mpirun -H A-worker-0.A,A-worker-1.A"),
        (
            "deepspeedjob --workers=2 'deepspeed --hostfile=/job/hostfile t.py'",
            "deepspeed --hostfile=/etc/mpi/hostfile t.py",
        ),
        ("tfjob --workers=2 'x --ps=p-worker-0.other.svc'", "x --ps={{ run.id }}-worker-0.team.svc"),
    ],
)
def test_submissions_of_arena(submission: str, expected: str) -> None:
    kind, rest = submission.split(" ", 1)
    job = job_of(f"arena submit {kind} --name=p --image=r/x:1 --gpus=1 {rest}\n")
    assert job.fields["command"] == expected.replace("A", "{{ run.id }}")


def test_elastic_hosts_of_arena() -> None:
    command = "horovodrun --host-discovery-script /etc/edl/discover_hosts.sh python t.py"
    job = job_of(f"arena submit etjob --name=p --image=r/x:1 --gpus=1 --workers=2 '{command}'\n")
    message = "`/etc/edl/discover_hosts.sh` is a file of Arena's operator, which the pods of an MPIJob do not have"
    assert [one.message for one in job.obstacles] == [message]


@for_each(
    ("selector", "expected"),
    [
        ({"matchLabels": {"training.kubeflow.org/job-name": "run"}}, {"matchLabels": {"gen/job": "run"}}),
        ({"matchLabels": {"job-name": "run", "a": "run"}}, {"matchLabels": {"a": "run", "gen/job": "run"}}),
        ({"matchLabels": {"job-name": "other"}}, {"matchLabels": {"job-name": "other"}}),
        (
            {"matchExpressions": [{"key": "job-name", "operator": "In", "values": ["run"]}]},
            {"matchExpressions": [{"key": "gen/job", "operator": "In", "values": ["run"]}]},
        ),
    ],
)
def test_selectors_of_pods_have_the_label_of_the_job(selector: dict[str, Any], expected: dict[str, Any]) -> None:
    """The label of the operator has the name of a run, and with the old one no pod would match."""
    terms = [{"topologyKey": "rack", "labelSelector": selector}]
    proof = proof_of(pytorch("x", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}))
    assert proof.patch is not None
    (operation,) = proof.patch["patch"]
    (term,) = operation["value"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert (term["labelSelector"], proof.remaining) == (expected, ())


@for_each(
    ("words", "value", "expected"),
    [
        ("x --to=${JOB}-master-0", "run", "{{ run.id }}"),
        ("x --to=$(JOB)-master-0.team", "run", "{{ run.id }}"),
        ("x $JOB-master-0", "run", "{{ run.id }}"),
        ("x $JOB-master", "run", "run"),
        ("x $JOB run-master-0", "run", "run"),
        ("x $JOB-master-0", "other", "other"),
    ],
)
def test_a_variable_that_is_a_part_of_a_host_name(words: str, value: str, expected: str) -> None:
    body = pytorch("sh", "-c", words)
    (container,) = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
    container["env"] = [{"name": "JOB", "value": value}]
    proof = proof_of(body)
    assert (proof.job.fields["env"], proof.patch, proof.remaining) == ({"JOB": expected}, None, ())
    message = "`JOB: run` is not carried: it is a part of the host name of a pod, and those of a run have another one"
    assert [one.message for one in read(body)[1]] == [message] * (expected != value)


@for_each(("version", "absent"), [("v2beta1", True), ("v1alpha2", True), ("v1", False)])
def test_a_file_of_another_version(version: str, absent: bool) -> None:
    agent = "mpirun -mca plm_rsh_agent /etc/mpi/kubexec.sh python t.py"
    (job,), _ = read(mpi(version, *agent.split()))
    message = "`/etc/mpi/kubexec.sh` is a file that pods of kubeflow.org/v2beta1 do not have"
    assert [one.message for one in job.obstacles] == [message] * absent
    job = job_of(f"arena submit mpijob --name=p --image=r/x:1 --gpus=1 --workers=2 '{agent}'\n")
    assert [one.message for one in job.obstacles] == [message]


def test_the_port_of_ssh_for_an_own_server_of_workers() -> None:
    """On the network of the nodes, gen sets that of its server."""
    agent = {"name": "OMPI_MCA_plm_rsh_agent", "value": "ssh -p 2222"}
    launcher = pod("mpi", command=["mpirun", "python", "t.py"], env=[agent])
    worker = pod("mpi", command=["/usr/sbin/sshd", "-D", "-p", "2222"])
    for one in (launcher, worker):
        one["spec"]["hostNetwork"] = True
    spec = {"mpiReplicaSpecs": replicas(Launcher=(1, launcher), Worker=(2, worker))}
    proof = proof_of(an_object("kubeflow.org/v2beta1", "MPIJob", spec))
    assert (proof.patch, proof.remaining) == (None, ())


@for_each(
    ("name", "words", "expected"),
    [
        ("SUB", "x host-0.${SUB}", "{{ run.id }}"),
        ("SUB", "x host-$i.$SUB", "{{ run.id }}"),
        ("MY_SUBDOMAIN", "x", "run"),
        ("JOBSET_NAME", "x", "run"),
        ("MODE", "x $MODE", "run"),
        ("SUB", "x model.$SUBSET", "run"),
    ],
)
def test_a_variable_with_the_name_of_the_object(name: str, words: str, expected: str) -> None:
    body = jobset("sh", "-c", words)
    (job,) = body["spec"]["replicatedJobs"]
    (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
    container["env"] = [{"name": name, "value": "run"}]
    proof = proof_of(body)
    assert (proof.job.fields["env"], proof.patch, proof.remaining) == ({name: expected}, None, ())
    service = f"`{name}: run` is not carried: it is the Service of the pods, and that of a run has another name"
    other = f"the name of the object in `{name}: run` is not carried: a run has another one"
    messages = [service] if expected != "run" else [other] if name == "JOBSET_NAME" else []
    assert [one.message for one in read(body)[1]] == messages


@for_each("own", ["run", "meet"])
def test_a_variable_for_the_subdomain(own: str) -> None:
    body = jobset("x", subdomain=own)
    (job,) = body["spec"]["replicatedJobs"]
    (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
    container["env"] = [{"name": "MY_SUBDOMAIN", "value": own}]
    assert proof_of(body).job.fields["env"] == {"MY_SUBDOMAIN": "{{ run.id }}"}


@for_each(
    ("words", "expected"),
    [
        (["kubectl", "get", "jobset", "run"], ["kubectl", "get", "jobset", "{{ run.id }}"]),
        (["bash", "-c", "kubectl wait --for=x jobsets run; x run"], "kubectl wait --for=x jobsets {{ run.id }}; x run"),
        (["sh", "-c", "kubectl get jobset run-2; x jobset run"], "kubectl get jobset run-2; x jobset run"),
    ],
)
def test_the_object_behind_its_kind(words: list[str], expected: object) -> None:
    proof = proof_of(jobset(*words))
    command = proof.job.fields["command"]
    assert (command == expected or command[-1] == expected, proof.patch, proof.remaining) == (True, None, ())


def test_other_names_of_the_object_are_reported() -> None:
    wait = {"name": "wait", "image": "kubectl", "command": ["sh", "-c", "kubectl wait --for=x pytorchjob run"]}
    (job,), found = read(pytorch("x --mode run --job-name run", initContainers=[wait]))
    message = "`kubectl wait --for=x pytorchjob run` names the object, and a run has another name"
    assert [one.message for one in job.obstacles] == [message]
    option = "the name of the object in `--job-name run` is not carried: a run has another one"
    assert option in [one.message for one in found]


def test_a_hint_names_hosts_only_of_a_job_that_has_some() -> None:
    for words, known in (("x", ""), ("x --to=run-workers-0-0.meet", ", as the job does")):
        _, found = read(jobset(words, subdomain="meet"))
        assert [one.hint for one in found] == [f"use host names with `{{{{ run.id }}}}`{known}"]


def test_names_of_containers_and_volumes_are_no_hosts() -> None:
    container = pod("pytorch", command=["x"])["spec"]["containers"][0]
    mounts = [{"name": "run-master-0", "mountPath": "/data"}]
    body = pytorch(
        containers=[{**container, "volumeMounts": mounts}],
        initContainers=[{"name": "run-master-0", "image": "busybox:1", "volumeMounts": mounts}],
        volumes=[{"name": "run-master-0", "emptyDir": {}}],
    )
    assert proof_of(body).job.obstacles == ()


@for_each(
    ("version", "path", "found"),
    [
        ("v1alpha2", "$PATH:/opt/bin", True),
        ("v1alpha2", "$PATH:/usr/bin", False),
        ("v1alpha2", "$(PATH):/opt/bin", False),
        ("v2beta1", "$PATH:/opt/bin", False),
    ],
)
def test_a_launcher_without_a_path_finds_no_ssh(version: str, path: str, found: bool) -> None:
    body = mpi(version, "/opt/bin/mpirun", "x")
    container = body["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "PATH", "value": path}]
    (job,), _ = read(body)
    message = "Kubernetes expands no `$NAME` in `PATH`, so that the launcher finds no `ssh`"
    assert [one.message for one in job.obstacles if "PATH" in one.message] == ([message] if found else [])
