"""Objects in the forms that upstream projects show."""

from __future__ import annotations

from typing import Any

from gen.importers.manifests.volumes import SHARED_MEMORY

IMAGE = "registry.example.com/train:1"


def pod(name: str, **container: Any) -> dict[str, Any]:
    """A template with one container."""
    fields = {"name": name, "image": IMAGE, "command": ["python", "train.py"], **container}
    return {"spec": {"containers": [fields]}}


def an_object(version: str, kind: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "run", **metadata}, "spec": spec}


def replicas(**roles: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    return {
        role: {"replicas": number, "restartPolicy": "OnFailure", "template": template}
        for role, (number, template) in roles.items()
    }


GPUS = {"resources": {"limits": {"nvidia.com/gpu": 1, "cpu": "4", "memory": "16Gi"}}}
SHARED = {
    "spec": {
        "containers": [
            {
                "name": "pytorch",
                "image": IMAGE,
                "args": ["--epochs=1"],
                "volumeMounts": [
                    {"name": "dshm", "mountPath": SHARED_MEMORY},
                    {"name": "data", "mountPath": "/data", "readOnly": True},
                ],
            }
        ],
        "volumes": [
            {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "imagenet"}},
        ],
    }
}
EQUAL: dict[str, dict[str, Any]] = {
    "pytorch": an_object(
        "kubeflow.org/v1",
        "PyTorchJob",
        {"pytorchReplicaSpecs": replicas(Master=(1, pod("pytorch", **GPUS)), Worker=(3, pod("pytorch", **GPUS)))},
    ),
    "pytorch-on-volumes": an_object(
        "kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas(Master=(1, SHARED))}
    ),
    "pytorch-of-its-image": an_object(
        "kubeflow.org/v1",
        "PyTorchJob",
        {"pytorchReplicaSpecs": replicas(Master=(1, {"spec": {"containers": [{"name": "pytorch", "image": IMAGE}]}}))},
    ),
    "pytorch-elastic": an_object(
        "kubeflow.org/v1",
        "PyTorchJob",
        {
            "elasticPolicy": {"rdzvBackend": "c10d", "minReplicas": 1, "maxReplicas": 3, "maxRestarts": 100},
            "nprocPerNode": "auto",
            "pytorchReplicaSpecs": replicas(Worker=(2, pod("pytorch"))),
        },
    ),
    "tensorflow": an_object(
        "kubeflow.org/v1",
        "TFJob",
        {
            "runPolicy": {"cleanPodPolicy": "None", "activeDeadlineSeconds": 3600},
            "tfReplicaSpecs": replicas(
                PS=(2, pod("tensorflow", args=["--ps"])), Worker=(4, pod("tensorflow")), Chief=(1, pod("tensorflow"))
            ),
        },
    ),
    "mpi-v2beta1": an_object(
        "kubeflow.org/v2beta1",
        "MPIJob",
        {
            "slotsPerWorker": 1,
            "sshAuthMountPath": "/home/mpiuser/.ssh",
            "mpiReplicaSpecs": replicas(
                Launcher=(1, pod("mpi-launcher", args=["-n", "2", "pi"])),
                Worker=(2, pod("mpi-worker", command=["/usr/sbin/sshd"], args=["-De"])),
            ),
        },
    ),
    "mpi-v1": an_object(
        "kubeflow.org/v1",
        "MPIJob",
        {
            "slotsPerWorker": 1,
            "runPolicy": {"cleanPodPolicy": "Running"},
            "mpiReplicaSpecs": replicas(
                Launcher=(1, pod("mpi")),
                Worker=(2, {"spec": {"containers": [{"name": "mpi", "image": IMAGE, **GPUS}]}}),
            ),
        },
    ),
    "xgboost": an_object(
        "kubeflow.org/v1",
        "XGBoostJob",
        {"xgbReplicaSpecs": replicas(Master=(1, pod("xgboost")), Worker=(2, pod("xgboost")))},
    ),
    "jax": an_object("kubeflow.org/v1", "JAXJob", {"jaxReplicaSpecs": replicas(Worker=(2, pod("jax")))}),
    "paddle": an_object("kubeflow.org/v1", "PaddleJob", {"paddleReplicaSpecs": replicas(Worker=(2, pod("paddle")))}),
    "batch": an_object(
        "batch/v1",
        "Job",
        {
            "completions": 3,
            "parallelism": 3,
            "suspend": True,
            "template": {"spec": {**pod("main")["spec"], "restartPolicy": "Never"}},
        },
        labels={"kueue.x-k8s.io/queue-name": "team-queue"},
    ),
    "batch-on-a-schedule": an_object(
        "batch/v1",
        "CronJob",
        {
            "schedule": "0 3 * * *",
            "timeZone": "Europe/Berlin",
            "concurrencyPolicy": "Forbid",
            "jobTemplate": {"spec": {"template": {"spec": {**pod("main")["spec"], "restartPolicy": "OnFailure"}}}},
        },
    ),
    "jobset": an_object(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        {
            "failurePolicy": {"maxRestarts": 3},
            "replicatedJobs": [
                {
                    "name": "driver",
                    "template": {"spec": {"parallelism": 1, "completions": 1, "template": pod("driver")}},
                },
                {
                    "name": "workers",
                    "replicas": 2,
                    "dependsOn": [{"name": "driver", "status": "Ready"}],
                    "template": {"spec": {"parallelism": 2, "completions": 2, "template": pod("worker", **GPUS)}},
                },
            ],
        },
    ),
    "ray": an_object(
        "ray.io/v1",
        "RayJob",
        {
            "entrypoint": "python /home/ray/sample.py",
            "submissionMode": "HTTPMode",
            "shutdownAfterJobFinishes": True,
            "ttlSecondsAfterFinished": 60,
            "rayClusterSpec": {
                "rayVersion": "2.52.0",
                "headGroupSpec": {
                    "rayStartParams": {"num-cpus": "0"},
                    "template": {"spec": {"containers": [{"name": "ray-head", "image": IMAGE}]}},
                },
                "workerGroupSpecs": [
                    {
                        "groupName": "small",
                        "replicas": 2,
                        "minReplicas": 2,
                        "maxReplicas": 2,
                        "rayStartParams": {},
                        "template": {"spec": {"containers": [{"name": "ray-worker", "image": IMAGE, **GPUS}]}},
                    }
                ],
            },
        },
    ),
    "ray-interactive": an_object(
        "ray.io/v1",
        "RayJob",
        {
            "submissionMode": "InteractiveMode",
            "jobId": "",
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": {
                "headGroupSpec": {
                    "rayStartParams": {},
                    "template": {"spec": {"containers": [{"name": "ray-head", "image": IMAGE}]}},
                },
                "workerGroupSpecs": [
                    {
                        "groupName": "small",
                        "replicas": 1,
                        "rayStartParams": {},
                        "template": {"spec": {"containers": [{"name": "ray-worker", "image": IMAGE}]}},
                    }
                ],
            },
        },
    ),
    "train": an_object(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 4, "numProcPerNode": 2}},
    ),
    "volcano": an_object(
        "batch.volcano.sh/v1alpha1",
        "Job",
        {
            "minAvailable": 3,
            "schedulerName": "volcano",
            "queue": "research",
            "plugins": {"svc": [], "env": []},
            "tasks": [
                {
                    "name": "ps",
                    "replicas": 1,
                    "template": {"spec": {**pod("main")["spec"], "restartPolicy": "OnFailure"}},
                },
                {
                    "name": "worker",
                    "replicas": 2,
                    "template": {"spec": {**pod("main")["spec"], "restartPolicy": "OnFailure"}},
                },
            ],
        },
    ),
}
"""Objects that a job can say, without a patch."""
