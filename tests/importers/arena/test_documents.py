"""The command lines of the documents that the project comes from give the jobs of the example repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.findings import Findings
from gen.base.yaml.source import read, source_of
from gen.importers.draft import text_of
from tests.importers.kfp.test_archives import tar
from tests.importers.support import job_of, run_import
from tests.support import PROJECT, Repository

if TYPE_CHECKING:
    from gen.importers import ImportedJob

PYTORCH = r"""
    arena submit pytorch \
            --name=pytorch-dist \
            --gpus=1 \
            --workers=3 \
            --working-dir=/root \
            --image=registry.cn-beijing.aliyuncs.com/ai-samples/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime \
            --sync-mode=git \
            --sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git \
            --data=training-data:/mnist_data \
            --tensorboard \
            --logdir=/mnist_data/pytorch_data/logs \
            "python /root/code/mnist-pytorch/mnist.py --epochs 10 --backend nccl --dir /mnist_data/pytorch_data/logs \
--data /mnist_data/pytorch_data/"
"""
BENCHMARK = r"""
arena submit mpijob --name=tf-eni \
            --annotation=k8s.aliyun.com/eni=true \
            --workers=2 \
            --syncMode=git \
            --syncSource=https://github.com/tensorflow/benchmarks.git \
            --gpus=8 \
            --cpu=50 \
            --memory=200Gi \
            --env=GIT_SYNC_BRANCH=cnn_tf_v1.9_compatible \
            --image=uber/horovod:0.13.10-tf1.9.0-torch0.4.0-py3.5 \
            "mpirun --allow-run-as-root -np 16 -oversubscribe --bind-to none -x NCCL_SOCKET_IFNAME=eth0 python \
code/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py --num_gpus=1 --data_name=imagenet --model=resnet50 \
--variable_update=horovod --horovod_device=gpu --num_batches=300 --batch_size=128 --optimizer=momentum"
"""
ALL_REDUCE = r"""
image="uber/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5" batch_size=64 optimizer=momentum
git_sync_branch=cnn_tf_v1.9_compatible
arena submit mpijob --name=all-reduce --image=$image --env=NCCL_DEBUG=INFO --env=GIT_SYNC_BRANCH=$git_sync_branch \
    --data=user-susan:/training --workers=1 --sync-mode=git \
    --sync-source=https://github.com/tensorflow/benchmarks.git --gpus=1 --cpu=2 --memory=10Gi \
    "mpirun python code/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py --model resnet101 --batch_size \
$batch_size --variable_update horovod --optimizer $optimizer --summary_verbosity=3 --save_summaries_steps=10"
"""
MNIST = r"""
REGISTRY=registry.aliyuncs.com/tensorflow-samples
arena submit tf --name=mnist-simple-gpu-dist --workers=1 --gpus=1 --chief --ps=1 \
    --image=$REGISTRY/tf-mnist-distributed:gpu --ps-image="${REGISTRY}/tf-mnist-distributed:cpu" \
    --ps-cpu=2 --ps-memory=4Gi --env=TEST_TMPDIR=/training --data=kubeflow-dist-nas-mnist:/training \
    --tensorboard --logdir=/training/tensorflow/logs "python /app/main.py"
"""


def data_of(text: str) -> dict[str, Any]:
    source = source_of(text.encode(), "", found := Findings())
    assert source is not None, list(found)
    assert isinstance(source.data, dict)
    return source.data


def example(name: str) -> dict[str, Any]:
    source = read(PROJECT, f"jobs/training/{name}.yaml", Findings())
    assert source is not None
    assert isinstance(source.data, dict)
    return source.data


def data(job: ImportedJob) -> dict[str, Any]:
    """The fields as `gen import` writes them for the overlay of the example, which has Arena's size of `/dev/shm`."""
    fields = data_of(text_of(job, ""))
    return {name: value for name, value in fields.items() if (name, value) != ("sharedMemory", "2Gi")}


@pytest.mark.parametrize("has_default", [False, True])
def test_the_size_of_shared_memory_is_no_default_for_other_jobs(repo: Repository, *, has_default: bool) -> None:
    overlay = repo.root / "overlays/dev/overlay.yaml"
    text = overlay.read_text()
    overlay.write_text(f"{text}defaults: {{sharedMemory: 2Gi}}\n" if has_default else text)
    file = repo.root.parent / "submit.sh"
    file.write_text("arena submit pytorchjob --name=mnist --gpus=1 --image=a/b:1 'torchrun a.py'\n")
    run_import(repo.root, str(file), namespace="team", overlay="dev", yes=True)
    assert ("sharedMemory: 2Gi" in (repo.root / "jobs/team/mnist.yaml").read_text()) == (not has_default)
    assert ("sharedMemory" in overlay.read_text()) == has_default


@pytest.mark.parametrize(
    ("script", "name"),
    [
        (PYTORCH, "pytorch-dist"),
        (BENCHMARK, "tf-eni"),
        (
            BENCHMARK.replace("tf-eni", "tf-host").replace("--annotation=k8s.aliyun.com/eni=true", "--hostNetwork"),
            "tf-host",
        ),
    ],
    ids=["pytorch-dist", "tf-eni", "tf-host"],
)
def test_a_command_line_gives_the_job_of_the_example(script: str, name: str) -> None:
    job = job_of(script)
    assert job.name == name
    assert data(job) == example(name)


def test_what_the_jobs_need_of_the_overlay_is_in_the_example() -> None:
    jobs = {name: job_of(script) for name, script in (("pytorch", PYTORCH), ("eni", BENCHMARK))}
    assert jobs["pytorch"].overlay == {"volumes": {"training-data": {"claim": "training-data"}}}
    assert jobs["eni"].overlay == {"networks": {"eni": {"terway": {"version": "1.0.10"}}}}


def test_a_step_of_the_pipeline_differs_in_the_parameters_that_only_the_example_has() -> None:
    ours, theirs = data(job_of(ALL_REDUCE)), example("all-reduce")
    params = theirs.pop("params")
    assert theirs.pop("metrics") == [{"name": "images/sec"}], "Arena has none; the pipeline reads them"
    for name, value in params.items():
        theirs = _replaced(theirs, f"{{{{ params.{name} }}}}", value)
    commands = [" ".join(fields.pop("command").replace("\\\n", " ").split()) for fields in (ours, theirs)]
    assert commands[0] == commands[1], "the example keeps the lines of the pipeline"
    assert ours == theirs


@pytest.mark.parametrize(
    ("text", "kind"), [(PYTORCH, "pytorchjob-pytorch-dist"), (BENCHMARK, "mpijob-tf-eni")], ids=["pytorch", "eni"]
)
def test_the_command_of_a_document_leads_to_a_run(repo: Repository, text: str, kind: str) -> None:
    file = repo.root.parent / "submit.sh"
    file.write_text(text)
    imported_and_rendered(repo, str(file), "arena", kind)


COMMAND = """
    mpirun python code/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py --model resnet101 \
    --batch_size {{inputs.parameters.batch_size}}  --variable_update horovod \
    --optimizer {{inputs.parameters.optimizer}} --summary_verbosity=3 --save_summaries_steps=10
    """
DEFAULTS = {
    "image": "uber/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5",
    "batch_size": "64",
    "optimizer": "momentum",
    "sync_source": "https://github.com/tensorflow/benchmarks.git",
    "git_sync_branch": "cnn_tf_v1.9_compatible",
    "data": "user-susan:/training",
    "gpus": "1",
    "workers": "1",
    "cpu_limit": "2",
    "metric": "images/sec",
    "memory_limit": "10Gi",
}


def compiled() -> bytes:
    """What `dsl-compile --py mpi_run.py --output mpi_run.py.tar.gz` of version 0.1 writes."""
    given = {
        "image": "image",
        "gpus": "gpus",
        "cpu": "cpu_limit",
        "memory": "memory_limit",
        "workers": "workers",
        "sync-source": "sync_source",
        "data": "data",
        "metric": "metric",
    }
    options = ["--name", "all-reduce", "--tensorboard", "False", "--rdma", "False"]
    options += ["--step-name", "{{pod.name}}", "--workflow-name", "{{workflow.name}}", "--timeout-hours", "240"]
    options += ["--env", "NCCL_DEBUG=INFO", "--env", "GIT_SYNC_BRANCH={{inputs.parameters.git_sync_branch}}"]
    options += [word for name, one in given.items() for word in (f"--{name}", f"{{{{inputs.parameters.{one}}}}}")]
    inputs = {"parameters": [{"name": name} for name in sorted(DEFAULTS)]}
    passed = [{"name": name, "value": f"{{{{inputs.parameters.{name}}}}}"} for name in sorted(DEFAULTS)]
    dag = {"tasks": [{"name": "all-reduce", "template": "all-reduce", "arguments": {"parameters": passed}}]}
    container = {
        "image": "cheyang/arena_launcher:v0.7",
        "command": ["python", "arena_launcher.py"],
        "args": [*options, "mpijob", "--", COMMAND.replace("\\\n", "")],
    }
    spec = {
        "arguments": {"parameters": [{"name": name, "value": value} for name, value in DEFAULTS.items()]},
        "entrypoint": "pipeline-to-run-mpi-job",
        "serviceAccountName": "pipeline-runner",
        "templates": [
            {"name": "all-reduce", "inputs": inputs, "container": container},
            {"name": "pipeline-to-run-mpi-job", "inputs": inputs, "dag": dag},
        ],
    }
    metadata = {"generateName": "pipeline-to-run-mpi-job-"}
    return json.dumps(
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata, "spec": spec}
    ).encode()


def test_the_pipeline_of_a_document_leads_to_a_run(repo: Repository) -> None:
    file = repo.root.parent / "mpi_run.py.tar.gz"
    file.write_bytes(tar("pipeline.yaml", compiled()))
    text = imported_and_rendered(repo, str(file), "kfp", "mpijob-all-reduce")
    job = (repo.root / "jobs/team/all-reduce.yaml").read_text("utf-8")
    assert "# Imported from the pipeline pipeline-to-run-mpi-job.\n" in job
    source = source_of(job.encode(), "", Findings())
    assert source is not None
    assert isinstance(source.data, dict)
    assert [*source.data["params"]] == [name for name in DEFAULTS if name != "data"], "the order of the function"
    assert source.data["workers"] == "{{ params.workers }}", "a parameter is not a default, whatever its value"
    assert "--model resnet101 --batch_size 64 --variable_update horovod --optimizer momentum" in text


def training_pods(role: str, image: str, *, gpus: int = 0) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": "tensorflow",
        "image": f"registry.aliyuncs.com/tensorflow-samples/tf-mnist-distributed:{image}",
        "env": [{"name": "TEST_TMPDIR", "value": "/training"}],
        "command": ["python", "/app/main.py"],
        "volumeMounts": [{"name": "nas", "mountPath": "/training"}],
        **({"resources": {"limits": {"nvidia.com/gpu": gpus}}} if gpus else {}),
        **({"imagePullPolicy": "Always"} if role != "MASTER" else {}),
    }
    pods = {"containers": [container], "volumes": [NAS], "restartPolicy": "OnFailure"}
    return {"replicas": 1, "tfReplicaType": role, "template": {"spec": pods}}


NAS = {"name": "nas", "persistentVolumeClaim": {"claimName": "kubeflow-dist-nas-mnist"}}
BOARD = {
    "containers": [
        {
            "name": "tensorboard",
            "image": "tensorflow/tensorflow:1.7.0",
            "command": ["/usr/local/bin/tensorboard"],
            "args": ["--logdir", "/training/tensorflow/logs"],
            "volumeMounts": [{"name": "nas", "mountPath": "/training"}],
            "ports": [{"containerPort": 6006, "protocol": "TCP"}],
        }
    ],
    "volumes": [NAS],
}
CLAIM = "kubeflow-dist-nas-mnist"
MANIFESTS: dict[str, dict[str, Any]] = {
    "nas-dist-pv.yaml": {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": CLAIM}, "spec": {}},
    "nas-dist-pvc.yaml": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": CLAIM}, "spec": {}},
    "mnist-simple-gpu-dist.yaml": {
        "apiVersion": "kubeflow.org/v1alpha1",
        "kind": "TFJob",
        "metadata": {"name": "mnist-simple-gpu-dist"},
        "spec": {
            "replicaSpecs": [
                training_pods("MASTER", "gpu", gpus=1),
                training_pods("WORKER", "gpu", gpus=1),
                training_pods("PS", "cpu"),
            ]
        },
    },
    "tensorboard.yaml": {
        "apiVersion": "extensions/v1beta1",
        "kind": "Deployment",
        "metadata": {"name": "tensorboard", "labels": {"app": "tensorboard"}},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "tensorboard"}},
            "template": {"metadata": {"labels": {"app": "tensorboard"}}, "spec": BOARD},
        },
    },
}


def test_the_manifests_of_a_document_lead_to_a_run(repo: Repository) -> None:
    folder = repo.root.parent / "manifests"
    folder.mkdir()
    for name, body in MANIFESTS.items():
        (folder / name).write_text(json.dumps(body), "utf-8")
    text = imported_and_rendered(repo, str(folder), "manifests", "tfjob-mnist-simple-gpu-dist")
    source = read(repo.root, "jobs/team/mnist-simple-gpu-dist.yaml", Findings())
    assert source is not None
    assert isinstance(source.data, dict)
    ours, theirs = dict(source.data), example("mnist-simple-gpu-dist")
    assert ours.pop("tensorboard") == {**theirs.pop("tensorboard"), "image": "tensorflow/tensorflow:1.7.0"}
    assert [theirs["roles"]["ps"].pop(name) for name in ("cpu", "memory", "replicas")] == ["2", "4Gi", "1"]
    assert (theirs.pop("workers"), theirs.pop("restart")) == ("1", "OnFailure"), "the defaults"
    assert ours == theirs
    assert text.count("tf-mnist-distributed:gpu") == 2
    assert any("tensorboard" in path for path in repo.rendered())


PARTS = [
    "sudo service docker restart",
    "sudo service docker status",
    "set -x",
    "docker run -t --network host --gpus all <image-name> bash concurrent/task.sh",
]
REQUESTS = [
    {
        "ComputeEnv": {
            "EnvName": "batch-concurrent-test",
            "EnvData": {
                "InstanceType": "GN10X.2XLARGE40",
                "ImageId": "img-xxxxxx",
                "SystemDisk": {"DiskSize": 120},
                "DesiredComputeNodeCount": 2,
            },
        },
        "Placement": {"Zone": "ap-guangzhou-3"},
    },
    {
        "Placement": {"Zone": "ap-guangzhou-3"},
        "Job": {
            "JobName": "test-job",
            "Tasks": [
                {
                    "TaskName": "concurrent-task",
                    "InputMappings": [
                        {
                            "SourcePath": "cos://concurrent-1250000000.cos.ap-guangzhou.myqcloud.com/code/",
                            "DestinationPath": "/workspace/",
                        }
                    ],
                    "TaskInstanceNum": 2,
                    "Application": {"Command": " && ".join(PARTS)},
                    "EnvId": "batch-concurrent-test",
                    "RedirectInfo": {
                        f"{name}RedirectPath": "cos://concurrent-1250000000.cos.ap-guangzhou.myqcloud.com/logs/"
                        for name in ("Stdout", "Stderr")
                    },
                }
            ],
        },
    },
]


def test_the_requests_of_a_document_lead_to_a_run(repo: Repository) -> None:
    file = repo.root.parent / "requests.json"
    file.write_text(json.dumps(REQUESTS), "utf-8")
    options = {"image": "registry.example.com/mnist:1", "define": ("GPUS=1",)}
    before = "create the Secrets that the report names, and "  # with the account of the bucket
    text = imported_and_rendered(repo, str(file), "batchcompute", "job-test-job", before, **options)
    (body,) = yaml.safe_load_all(text)
    container = body["spec"]["template"]["spec"]["containers"][0]
    assert (container["image"], container["command"][-1]) == (options["image"], "bash concurrent/task.sh")
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert (body["spec"]["parallelism"], body["spec"]["completionMode"]) == (2, "Indexed")
    assert {"MASTER_ADDR", "RANK"} <= {one["name"] for one in container["env"]}, "the two pods meet"


def imported_and_rendered(
    repo: Repository, file: str, importer: str, run: str, before: str = "", **options: Any
) -> str:
    """The rendered run of an import into an overlay. `before` is what the user has to do before."""
    report, code = run_import(repo.root, file, importer=importer, namespace="team", overlay="dev", yes=True, **options)
    first = report.summary.splitlines()[0]
    assert (first, code) == (f"imported 1 job, which is ready; {before}run `gen render`", 0)
    report, code = repo.render()
    assert code == 0, report
    (text,) = [text for path, text in repo.rendered().items() if run in path]
    return text


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {name: _replaced(inner, old, new) for name, inner in value.items()}
    return value.replace(old, new)


def test_the_tfjob_differs_where_arena_has_other_flags_than_a_manifest() -> None:
    ours, theirs = data(job_of(MNIST)), example("mnist-simple-gpu-dist")
    assert ours["roles"].pop("chief") == theirs["roles"].pop("master") == {}, "Arena calls the master `chief`"
    assert theirs["roles"].pop("worker") == {"imagePullPolicy": "Always"}, "Arena has one policy for all roles"
    assert theirs["roles"]["ps"].pop("imagePullPolicy") == "Always"
    assert theirs.pop("restart") == "OnFailure", "Arena has no flag for it"
    assert (ours.pop("command"), theirs.pop("command")) == ("python /app/main.py", ["python", "/app/main.py"])
    assert ours.pop("workingDir") == "/root", "the default of Arena"
    assert ours == theirs
