"""The program of a container is one field of the job, with the variables that it reads."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from gen.importers.manifests.container_names import with_container
from tests.cases import for_each
from tests.importers.manifests.changes import of_container
from tests.importers.manifests.forms import EQUAL, IMAGE, an_object, pod, replicas
from tests.importers.manifests.proofs import messages, operations, proof_of


@for_each(
    ("script", "command"),
    [
        ("python train.py \n", "python train.py"),
        ("python a.py\npython b.py \n\n", "python a.py\npython b.py\n"),
        ("python a.py \\ ", "python a.py \\ "),
        (" python a.py && python b.py", "python a.py && python b.py"),
        ("\n  python a.py\n  python b.py\n", "  python a.py\n  python b.py\n"),
    ],
)
def test_blanks_around_a_script_are_left_out(script: str, command: str) -> None:
    proof = proof_of(of_container(command=["/bin/sh", "-c", script]))
    assert proof.job.fields["command"] == command
    assert (proof.patch, proof.remaining) == (None, ())


def test_variables_of_other_containers_are_kept() -> None:
    variable = {"name": "RANK", "value": "0"}
    other = {"name": "other", "image": IMAGE, "env": [variable]}
    body = of_container(env=[variable])
    body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"].append(other)
    proof = proof_of(body)
    assert (proof.remaining, proof.patch is not None) == ((), True)
    assert '"RANK"' in json.dumps(proof.patch)


def test_a_variable_with_two_values_differs() -> None:
    source = {"secretKeyRef": {"name": "a", "key": "b"}}
    proof = proof_of(of_container(env=[{"name": "API_TOKEN", "value": "zq81k3hd7", "valueFrom": source}]))
    assert [one.route[-1] for one in proof.remaining] == ["value"]


PIPEFAIL = ["/bin/bash", "-x", "-o", "pipefail", "-c"]


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ({"command": ["sh", "-c"], "args": ["a\nb"]}, "a\nb\n"),
        ({"command": ["/bin/bash", "-c", "--"], "args": ["a"]}, ["/bin/bash", "-c", "a"]),
        ({"command": ["/bin/sh", "-c", "a"]}, "a"),
        ({"command": ["bash", "-c"], "args": ["a"]}, ["bash", "-c", "a"]),
        ({"command": ["bash", "-xc", "a --b\n"]}, ["bash", "-xc", "a --b"]),
        ({"command": ["python3", "-u", "-c", "print(1)\n"]}, ["python3", "-u", "-c", "print(1)"]),
        ({"command": ["python", "-c", "\nif a:\n  b\n\n"]}, ["python", "-c", "if a:\n  b\n"]),
        ({"command": ["python", "a.py", "b\n"]}, ["python", "a.py", "b\n"]),
        ({"command": ["bash", "-euxc"], "args": ["a\nb"]}, ["bash", "-euxc", "a\nb\n"]),
        ({"command": ["/bin/bash", "-x", "-o", "pipefail", "-c", "a\n\n"]}, [*PIPEFAIL, "a"]),
    ],
)
def test_a_script_of_a_shell_is_one_field(program: dict[str, Any], command: object) -> None:
    body = deepcopy(EQUAL["batch"])
    container = body["spec"]["template"]["spec"]["containers"][0]
    del container["command"]
    container |= program
    made = proof_of(body)
    assert (made.patch, made.remaining) == (None, ())
    assert (made.job.fields["command"], "args" in made.job.fields) == (command, False)


@for_each(
    "command",
    [["bash", "-xc", "a $0\n", "name"], ["bash", "-x", "a\n"], ["node", "-e", "a\n"], ["bash", "-o", "-c", "a\n"]],
)
def test_other_arguments_keep_their_ends(command: list[str]) -> None:
    proof = proof_of(of_container(command=command))
    assert proof.job.fields["command"] == command


def test_a_role_can_run_the_program_of_its_image() -> None:
    body = deepcopy(EQUAL["volcano"])
    del body["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"]
    body["spec"]["tasks"][1]["template"]["spec"]["containers"][0]["command"] = ["other"]
    made = proof_of(body)
    assert made.remaining == ()
    assert made.job.fields["roles"]["ps"]["args"] == []


@for_each("plugin", ["pytorch", "mpi"])
@for_each(("flags", "master"), [(["--master=ps", "--worker=worker"], "ps"), ([], "master"), (["--master", "ps"], "ps")])
def test_the_plugins_of_volcano_have_any_master(plugin: str, flags: list[str], master: str) -> None:
    body = deepcopy(EQUAL["volcano"])
    body["spec"]["plugins"] = {"svc": [], "ssh": [], plugin: flags}
    body["spec"]["tasks"][0]["name"] = master
    made = proof_of(body)
    assert made.remaining == ()
    assert made.job.fields["workers"] == {"pytorch": "3", "mpi": "2"}[plugin]
    assert made.job.fields.get("roles", {}).keys() - {"worker"} == {master} - {"master"}


@for_each(
    ("command", "args"),
    [(["/bin/sh", "-c"], ["sleep 60"]), (["/bin/sh"], ["-c", "sleep 60"]), (["sh", "-c", "sleep 60"], None)],
)
def test_a_script_is_one_field(command: list[str], args: list[str] | None) -> None:
    proof = proof_of(of_container(command=command, **({"args": args} if args else {})))
    assert (proof.patch, proof.remaining) == (None, ())
    assert proof.job.fields["command"] == "sleep 60"
    assert "args" not in proof.job.fields


def test_a_variable_stays_behind_those_that_it_refers_to() -> None:
    def role(name: str) -> dict[str, Any]:
        variables = {"SAME": "1", "ROLE": name, "LOGS": "/logs/$(ROLE)", "ALL": "$(SAME) $(LOGS)"}
        return pod("pytorch", env=[{"name": key, "value": value} for key, value in variables.items()])

    roles = replicas(Master=(1, role("m")), Worker=(1, role("w")))
    fields = proof_of(an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": roles})).job.fields
    assert fields["env"] == {"SAME": "1"}
    assert list(fields["roles"]["master"]["env"]) == ["ROLE", "LOGS", "ALL"]


@for_each("mode", [{}, {"submissionMode": "K8sJobMode"}])
def test_a_submitter_submits_the_program_of_ray(mode: dict[str, str]) -> None:
    body = deepcopy(EQUAL["ray"])
    body["spec"] = {name: value for name, value in body["spec"].items() if name != "submissionMode"} | mode
    sizes = {"limits": {"cpu": "1", "memory": "1Gi"}}
    body["spec"]["submitterPodTemplate"] = pod("submitter", image="ray:2", command=["ray"], resources=sizes)
    body["spec"]["submitterPodTemplate"]["spec"]["restartPolicy"] = "Never"
    del body["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert operations(body) == {"containers/0/command": ["ray"]}
    fields = proof_of(body).job.fields
    assert (fields["image"], fields["submissionMode"]) == (IMAGE, "K8sJobMode")
    assert fields["roles"]["worker"] == {"replicas": "0"}
    assert fields["roles"]["submitter"] == {"image": "ray:2", "cpu": "1", "memory": "1Gi"}
    assert {"cpu", "memory"}.isdisjoint(fields)


def test_a_submitter_may_have_the_only_program_of_ray() -> None:
    body = deepcopy(EQUAL["ray"])
    args = ["--runtime-env-json", "{}", "--", "python", "/code/train.py"]
    body["spec"] = {name: value for name, value in body["spec"].items() if name not in ("submissionMode", "entrypoint")}
    body["spec"]["submitterPodTemplate"] = pod("submitter", image="s:1", command=["/submitter"], args=args)
    assert proof_of(body).job.fields["command"] == "python /code/train.py"
    patch = operations(body)
    assert (patch["containers/0/command"], patch["containers/0/args"]) == (["/submitter"], args)


def test_the_last_value_of_a_variable_counts() -> None:
    proof = proof_of(of_container(env=[{"name": "TWICE", "value": value} for value in ("one", "two")]))
    assert proof.job.fields["env"] == {"TWICE": "two"}
    assert (proof.patch, proof.remaining) == (None, ())


def test_a_variable_without_a_value_is_an_empty_one() -> None:
    assert not any("value" in one for one in proof_of(of_container(env=[{"name": "EMPTY"}])).added)


@for_each("command", [["mpirun", "-n", "2", "python", "t.py"], ["mpirun", "python", "t.py"]])
def test_a_launcher_that_trains_becomes_a_worker(command: list[str]) -> None:
    gpus = {"resources": {"limits": {"nvidia.com/gpu": 1}}}
    roles = replicas(Launcher=(1, pod("main", command=command, **gpus)), Worker=(1, pod("main", command=[], **gpus)))
    body = an_object("kubeflow.org/v2beta1", "MPIJob", {"runLauncherAsWorker": True, "mpiReplicaSpecs": roles})
    proof = proof_of(body)
    fields = proof.job.fields
    assert (proof.patch, proof.remaining, fields["workers"], fields["gpus"]) == (None, (), "2", "1")
    assert "roles" not in fields
    message = "the launcher of a job does not train: one more worker has its processes and devices"
    assert messages(body) == [message]


@for_each(
    ("version", "command", "expected"),
    [("kubeflow.org/v2beta1", [], True), ("kubeflow.org/v2beta1", ["sshd"], False), ("kubeflow.org/v1", [], False)],
)
def test_workers_in_the_memory_of_the_node_are_reported(version: str, command: list[str], *, expected: bool) -> None:
    worker = pod("main", command=command)
    worker["spec"]["hostIPC"] = True
    roles = replicas(Launcher=(1, pod("main")), Worker=(2, worker))
    found = messages(an_object(version, "MPIJob", {"mpiReplicaSpecs": roles}))
    assert any("with `hostIPC`, `/dev/shm` of workers is that of the node" in one for one in found) is expected


def batch(*words: str, annotations: dict[str, str] | None = None, **container: Any) -> dict[str, Any]:
    """A Job with the container `main`, which gen calls `trainer`."""
    template = pod("main", command=list(words or ["date"]), **container)
    template["spec"]["restartPolicy"] = "Never"
    template |= {"metadata": {"annotations": annotations}} if annotations else {}
    return an_object("batch/v1", "Job", {"backoffLimit": 0, "template": template})


@for_each(
    ("key", "text", "expected"),
    [
        ("container.apparmor.security.beta.kubernetes.io/main", "x", {"{start}/trainer": "x"}),
        ("container.apparmor.security.beta.kubernetes.io/other", "x", {"{start}/other": "x"}),
        ("ad.datadoghq.com/main.logs", "x", {"{start}/trainer.logs": "x"}),
        ("devices.nri.io/container.main", "x", {"{start}/container.trainer": "x"}),
        ("instrumentation.opentelemetry.io/container-names", "main,o", {"{start}/container-names": "trainer,o"}),
        ("example.com/maintainer", "main", {"{start}/maintainer": "main"}),
    ],
)
def test_annotations_have_the_name_of_the_container(key: str, text: str, expected: dict[str, str]) -> None:
    proof = proof_of(batch(annotations={key: text}))
    start = key.partition("/")[0]
    wanted = {name.replace("{start}", start): value for name, value in expected.items()}
    assert proof.job.fields["podAnnotations"] == wanted
    assert (proof.patch, proof.remaining, messages(batch(annotations={key: text}))) == (None, (), [])


def test_annotations_that_may_have_the_name_of_the_container_are_reported() -> None:
    message = "`example.com/main` may name the container `main`, which is `trainer` in pods of the job"
    assert messages(batch(annotations={"example.com/main": "x"})) == [message]
    assert messages(batch(annotations={"example.com/mains": "x"})) == []


@for_each(
    ("words", "expected"),
    [
        (["kubectl", "logs", "p", "-c", "main"], ["kubectl", "logs", "p", "-c", "trainer"]),
        (["kubectl", "logs", "p", "--container=main"], ["kubectl", "logs", "p", "--container=trainer"]),
        (["kubectl", "exec", "p", "--", "sh", "-c", "main"], None),
        (["bash", "-c", "kubectl logs $P -c main -f"], ["bash", "-c", "kubectl logs $P -c trainer -f"]),
        (["bash", "-c", "kubectl logs $P -c main-2; run -c main"], None),
    ],
)
def test_commands_of_kubectl_have_the_name_of_the_container(words: list[str], expected: list[str] | None) -> None:
    proof = proof_of(batch(*words))
    assert proof.job.fields["command"] == (expected or words)
    assert (proof.patch, proof.remaining) == (None, ())


def test_arguments_of_kubectl_have_the_name_of_the_container() -> None:
    proof = proof_of(batch("kubectl", args=["logs", "p", "-c", "main"]))
    assert proof.job.fields["args"] == ["logs", "p", "-c", "trainer"]


def test_another_container_knows_the_name_of_the_container() -> None:
    body = batch()
    other = {"name": "other", "image": IMAGE, "command": ["sh", "-c", "kubectl logs $HOSTNAME -c main"]}
    body["spec"]["template"]["spec"]["containers"].append(other)
    assert "kubectl logs $HOSTNAME -c trainer" in json.dumps(proof_of(body).patch)


def test_a_variable_of_its_own_container_needs_no_patch() -> None:
    source = {"resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}}
    proof = proof_of(batch(env=[{"name": "LIMIT", "valueFrom": source}]))
    assert proof.job.fields["env"] == {"LIMIT": {"resource": "limits.cpu"}}
    assert (proof.patch, proof.remaining) == (None, ())


def test_a_container_whose_name_is_a_number_is_no_reason_to_fail() -> None:
    number: Any = 3
    assert with_container({1: "a", "args": ["b"]}, number, "main") == {1: "a", "args": ["b"]}


OF_TRAINER = ["--headContainer=trainer", "--workerContainer=trainer"]


@for_each(
    ("arguments", "containers", "expected"),
    [
        ([], ("head", "worker"), OF_TRAINER),
        (["--port=1", "-headContainer=a", "--workerContainer", "b"], ("a", "b"), ["--port=1", *OF_TRAINER]),
        (["--worker=w"], ("head", "worker"), ["--worker=w", OF_TRAINER[0]]),
        ([], ("head", "other"), OF_TRAINER[:1]),
        ([], ("a", "b"), []),
    ],
)
def test_the_plugin_of_ray_finds_the_containers(arguments: list[str], containers: Any, expected: list[str]) -> None:
    """`OnPodCreate` of the plugin of Volcano starts Ray only in containers with these names."""
    tasks = [
        {"name": name, "replicas": 1, "template": pod(container)}
        for name, container in zip(("head", "worker"), containers, strict=True)
    ]
    spec = {"minAvailable": 2, "schedulerName": "volcano", "plugins": {"svc": [], "ray": arguments}, "tasks": tasks}
    proof = proof_of(an_object("batch.volcano.sh/v1alpha1", "Job", spec))
    assert proof.patch is not None
    values = {one["path"]: one["value"] for one in proof.patch["patch"]}
    assert (values["/spec/plugins/ray"], proof.remaining) == (expected, ())
