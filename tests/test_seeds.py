"""The documents that the project comes from: what each asks for is in the objects that are rendered for it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support import PROJECT

Body = dict[str, Any]


def load(path: str) -> Body:
    body: Body = yaml.safe_load((PROJECT / "rendered" / path).read_text("utf-8"))
    return body


def job(overlay: str, name: str, kind: str, part: str = "") -> Body:
    return load(f"{overlay}/jobs/training/{name}/{kind.lower()}-{name}{part}.yaml")


def container(template: Body) -> Body:
    found: Body = template["spec"]["containers"][0]
    return found


def env(target: Body) -> Body:
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in target.get("env", ())}


def mounts(template: Body) -> dict[str, Any]:
    """Mount path to the source of the volume."""
    volumes = {volume["name"]: volume for volume in template["spec"]["volumes"]}
    return {mount["mountPath"]: volumes[mount["name"]] for mount in container(template)["volumeMounts"]}


def claim(template: Body, path: str) -> str:
    name: str = mounts(template)[path]["persistentVolumeClaim"]["claimName"]
    return name


def gpus(template: Body) -> str | None:
    amount: str | None = container(template).get("resources", {}).get("limits", {}).get("nvidia.com/gpu")
    return amount


def git_sync(template: Body) -> Body:
    init = template["spec"]["initContainers"][0]
    volumes = {volume["name"]: volume for volume in template["spec"]["volumes"]}
    (mount,) = init["volumeMounts"]
    assert volumes[mount["name"]]["emptyDir"] == {}
    settings = env(init)
    assert settings["GITSYNC_ROOT"] == mount["mountPath"]
    assert settings["GITSYNC_ONE_TIME"] == "true"
    there = [m for m in container(template)["volumeMounts"] if m["name"] == mount["name"]]
    assert [list(m) for m in there] == [["name", "mountPath"]], "the whole volume, or the link to the checkout breaks"
    return {**settings, "at": f"{there[0]['mountPath']}/{settings['GITSYNC_LINK']}"}


def board(overlay: str, name: str) -> tuple[str, str, Body]:
    """Log directory, claim and mount of a job's TensorBoard."""
    deployment = job(overlay, name, "Deployment", "-tensorboard")
    template = deployment["spec"]["template"]
    shown = container(template)
    service = job(overlay, name, "Service", "-tensorboard")
    labels = template["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert [port["port"] for port in service["spec"]["ports"]] == [80, 6006], "of ingresses, and of port-forward"
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
    (logdir,) = [arg.removeprefix("--logdir=") for arg in shown["args"] if arg.startswith("--logdir=")]
    mount = shown["volumeMounts"][0]
    assert mount["readOnly"] is True
    assert logdir.startswith(f"{mount['mountPath']}/")
    return logdir, claim(template, mount["mountPath"]), shown


@pytest.mark.parametrize("overlay", ["ack", "tke"])
def test_distributed_tensorflow_with_its_nas_volume_and_tensorboard(overlay: str) -> None:
    body = job(overlay, "mnist-simple-gpu-dist", "TFJob")
    assert body["apiVersion"] == "kubeflow.org/v1"
    roles = body["spec"]["tfReplicaSpecs"]
    assert {name: role["replicas"] for name, role in roles.items()} == {"Master": 1, "Worker": 1, "PS": 1}
    images = {name: container(role["template"])["image"].rsplit(":", 1)[-1] for name, role in roles.items()}
    assert images == {"Master": "gpu", "Worker": "gpu", "PS": "cpu"}
    assert {name: gpus(role["template"]) for name, role in roles.items()} == {"Master": "1", "Worker": "1", "PS": None}
    policies = {name: container(role["template"]).get("imagePullPolicy") for name, role in roles.items()}
    assert policies == {"Master": None, "Worker": "Always", "PS": "Always"}
    for role in roles.values():
        main = container(role["template"])
        assert main["name"] == "tensorflow"
        assert main["image"].startswith("registry.aliyuncs.com/tensorflow-samples/tf-mnist-distributed:")
        assert main["command"] == ["python", "/app/main.py"]
        assert env(main) == {"TEST_TMPDIR": "/training", "PYTHONUNBUFFERED": "1"}
        assert role["restartPolicy"] == "OnFailure"
        assert claim(role["template"], "/training") == "kubeflow-dist-nas-mnist"
    assert board(overlay, "mnist-simple-gpu-dist")[:2] == ("/training/tensorflow/logs", "kubeflow-dist-nas-mnist")


def test_the_nas_volume_has_the_documents_server_and_path() -> None:
    volume = load("ack/storage/training/persistentvolume-training-kubeflow-dist-nas-mnist.yaml")
    bound = load("ack/storage/training/persistentvolumeclaim-kubeflow-dist-nas-mnist.yaml")
    source = volume["spec"]["csi"]
    assert source["driver"] == "nasplugin.csi.alibabacloud.com"
    assert source["volumeHandle"] == volume["metadata"]["name"]
    expected = {"server": "xxxxxxx.cn-hangzhou.nas.aliyuncs.com", "path": "/training", "vers": "4.0"}
    assert source["volumeAttributes"] == expected
    assert volume["spec"]["capacity"] == {"storage": "10Gi"}
    assert volume["spec"]["accessModes"] == bound["spec"]["accessModes"] == ["ReadWriteMany"]
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert volume["spec"]["storageClassName"] == bound["spec"]["storageClassName"] == ""
    assert bound["metadata"] == {**bound["metadata"], "name": "kubeflow-dist-nas-mnist", "namespace": "training"}
    assert bound["spec"]["volumeName"] == volume["metadata"]["name"]
    reference = volume["spec"]["claimRef"]
    assert (reference["namespace"], reference["name"]) == ("training", "kubeflow-dist-nas-mnist")
    for body in (volume, bound):
        notes = body["metadata"]["annotations"]
        assert notes["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"
        assert notes["kustomize.toolkit.fluxcd.io/prune"] == "disabled"


MNIST = (
    "python /root/code/mnist-pytorch/mnist.py --epochs 10 --backend nccl "
    "--dir /mnist_data/pytorch_data/logs --data /mnist_data/pytorch_data/"
)


@pytest.mark.parametrize("overlay", ["ack", "tke"])
def test_distributed_pytorch_with_git_sync_and_tensorboard(overlay: str) -> None:
    body = job(overlay, "pytorch-dist", "PyTorchJob")
    assert body["apiVersion"] == "kubeflow.org/v1"
    roles = body["spec"]["pytorchReplicaSpecs"]
    assert {name: role["replicas"] for name, role in roles.items()} == {"Master": 1, "Worker": 2}
    for role in roles.values():
        main = container(role["template"])
        assert main["name"] == "pytorch"
        tag = "pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime"
        assert main["image"] == f"registry.cn-beijing.aliyuncs.com/ai-samples/{tag}"
        assert main["command"] == ["sh", "-c", MNIST]
        assert main["workingDir"] == "/root"
        assert gpus(role["template"]) == "1"
        assert claim(role["template"], "/mnist_data") == "training-data"
        sync = git_sync(role["template"])
        assert sync["GITSYNC_REPO"] == "https://code.aliyun.com/370272561/mnist-pytorch.git"
        assert sync["at"] == "/root/code/mnist-pytorch"
    assert board(overlay, "pytorch-dist")[:2] == ("/mnist_data/pytorch_data/logs", "training-data")
    assert not list(PROJECT.glob(f"rendered/{overlay}/storage/*/*training-data*")), "the claim exists already"


BENCHMARK = (
    "mpirun --allow-run-as-root -np 16 -oversubscribe --bind-to none -x NCCL_SOCKET_IFNAME=eth0 "
    "python code/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py --num_gpus=1 --data_name=imagenet "
    "--model=resnet50 --variable_update=horovod --horovod_device=gpu --num_batches=300 --batch_size=128 "
    "--optimizer=momentum"
)


@pytest.mark.parametrize("name", ["tf-eni", "tf-host"])
def test_the_benchmark_over_two_nodes_with_eight_gpus(name: str) -> None:
    body = job("ack", name, "MPIJob")
    assert body["apiVersion"] == "kubeflow.org/v2beta1"
    assert body["spec"]["slotsPerWorker"] == 8
    roles = body["spec"]["mpiReplicaSpecs"]
    assert {role: spec["replicas"] for role, spec in roles.items()} == {"Launcher": 1, "Worker": 2}
    launcher, worker = roles["Launcher"]["template"], roles["Worker"]["template"]
    assert container(launcher)["command"] == ["sh", "-c", BENCHMARK]
    assert "exec /usr/sbin/sshd -De" in container(worker)["command"][2]
    assert gpus(launcher) is None
    assert container(worker)["resources"]["limits"] == {"cpu": "50", "memory": "200Gi", "nvidia.com/gpu": "8"}
    for template in (launcher, worker):
        assert container(template)["image"] == "uber/horovod:0.13.10-tf1.9.0-torch0.4.0-py3.5"
        sync = git_sync(template)
        assert sync["GITSYNC_REPO"] == "https://github.com/tensorflow/benchmarks.git"
        assert sync["GITSYNC_REF"] == "cnn_tf_v1.9_compatible"
        assert sync["at"] == "/root/code/benchmarks"
        assert container(template)["workingDir"] == "/root", "where the command's relative path starts"


def test_eni_is_asked_for_on_launcher_and_workers() -> None:
    for role in job("ack", "tf-eni", "MPIJob")["spec"]["mpiReplicaSpecs"].values():
        assert role["template"]["metadata"]["annotations"] == {"k8s.aliyun.com/eni": "true"}
        assert "hostNetwork" not in role["template"]["spec"]


def test_the_host_network_comes_with_its_dns_policy() -> None:
    for role in job("ack", "tf-host", "MPIJob")["spec"]["mpiReplicaSpecs"].values():
        assert role["template"]["spec"]["hostNetwork"] is True
        assert role["template"]["spec"]["dnsPolicy"] == "ClusterFirstWithHostNet"
        assert "annotations" not in role["template"]["metadata"]


@pytest.mark.parametrize(("overlay", "batch_size"), [("ack", "64"), ("tke", "128")])
def test_resnet_101_with_its_parameters(overlay: str, batch_size: str) -> None:
    body = job(overlay, "all-reduce", "MPIJob")
    roles = body["spec"]["mpiReplicaSpecs"]
    assert roles["Worker"]["replicas"] == 1
    launcher, worker = roles["Launcher"]["template"], roles["Worker"]["template"]
    assert container(launcher)["command"][2] == (
        "mpirun python code/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py --model resnet101 \\\n"
        f"    --batch_size {batch_size}  --variable_update horovod --optimizer momentum\\\n"
        "    --summary_verbosity=3 --save_summaries_steps=10\n"
    )
    assert container(worker)["resources"]["limits"] == {"cpu": "2", "memory": "10Gi", "nvidia.com/gpu": "1"}
    for template in (launcher, worker):
        assert container(template)["image"].endswith("uber/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5")
        assert env(container(template)) == {"NCCL_DEBUG": "INFO", "PYTHONUNBUFFERED": "1"}
        assert claim(template, "/training") == "user-susan"
        assert git_sync(template)["GITSYNC_REF"] == "cnn_tf_v1.9_compatible"


def test_distributed_data_parallel_of_two_nodes_with_their_rank() -> None:
    body = job("tke", "test-job", "Job")
    spec, template = body["spec"], body["spec"]["template"]
    assert body["apiVersion"] == "batch/v1"
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 2, 2)
    assert template["spec"]["restartPolicy"] == "Never"
    main = container(template)
    name = body["metadata"]["name"]
    shell = main["command"].index("--") + 1
    assert main["command"][shell:] == ["sh", "-c", "python3 concurrent/mnist-distributed.py -n 2 -nr $RANK"]
    assert main["command"][shell - 4 : shell - 1] == [
        *("--log", "/gen/logs", f"S0:concurrent-1250000000/logs/test-job/{name}/worker-$(GEN_INDEX_0)")
    ]
    assert gpus(template) == "1"
    assert main["resources"]["limits"]["ephemeral-storage"] == "120Gi"
    assert template["spec"]["nodeSelector"] == {
        "node.kubernetes.io/instance-type": "GN10X.2XLARGE40",
        "topology.kubernetes.io/zone": "ap-guangzhou-3",
    }
    settings = env(main)
    assert settings["MASTER_ADDR"] == f"{name}-0.{name}"
    assert settings["MASTER_PORT"] == "8888"
    assert settings["WORLD_SIZE"] == settings["NNODES"] == "2"
    index = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
    assert settings["RANK"] == settings["NODE_RANK"] == index
    service = job("tke", "test-job", "Service")
    assert service["metadata"]["name"] == template["spec"]["subdomain"] == name
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert claim(template, "/workspace/concurrent") == "concurrent"
    volume = load("tke/storage/training/persistentvolume-training-concurrent.yaml")
    assert volume["spec"]["csi"]["driver"] == "com.tencent.cloud.csi.cosfs"
