"""Names that Kubernetes, Arena and other tools give to fields of gen, for the hints about unknown fields.

A value is the path of the field that is meant, relative to the model, or a whole hint if no single field is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _names(table: Mapping[str, str]) -> dict[str, str]:
    """The table with one entry for each of the words of its values, in the other direction."""
    return {normal(word): meant for meant, words in table.items() for word in words.split()}


def normal(name: str) -> str:
    """A name without the differences between camelCase, snake_case and kebab-case."""
    return name.replace("-", "").replace("_", "").lower()


_A_PATCH = "remove it; only the platform owner can set it, with `patches` in the overlay"
_A_MANIFEST = (
    "remove it; a job file is not a Kubernetes manifest: its fields, such as `image`, `command` and `gpus`, are at the "
    "top level"
)

JOB: Final = _names({
    "clusters": "cluster overlays overlay targets environments",
    "command": "cmd entrypoint entry script run exec commands",
    "args": "arguments",
    "env": "environment environmentVariables envVars",
    "workers": "replicas nodes numNodes nnodes numWorkers workerCount nodeCount parallelism completions",
    "elastic.min": "minWorkers minReplicas minNodes minimumWorkers",
    "elastic.max": "maxWorkers maxReplicas maxNodes maximumWorkers",
    "gpus": "gpu nvidia.com/gpu numGpus gpuCount gpusPerNode gpusPerWorker accelerators gres",
    "set `workers`, the number of pods, and `gpus`, those of each pod, instead": "ntasks tasks numTasks worldSize",
    "nprocPerNode": "ntasksPerNode tasksPerNode",
    "remove it; pods get their ranks and addresses in variables": "rank nodeRank localRank masterAddr masterAddress",
    "cpu": "cpus vcpus cpuCount workerCpu cpusPerTask",
    "memory": "mem ram workerMemory memPerNode",
    "sharedMemory": "shm shmSize shareMemory dshm devShm",
    "timeout": "activeDeadlineSeconds deadline maxRuntime walltime runningTimeout time timeLimit",
    "retries": "backoffLimit retry maxRetry maxRestarts",
    "restart": "restartPolicy",
    "write `state: suspended` instead": "suspend suspended paused",
    "write `state: active`, `state: suspended`, `state: stopped` or `state: finished` instead":
        "enabled disabled active status",
    "priority": "priorityClassName priorityClass",
    "serviceAccount": "serviceAccountName",
    "imagePullSecrets": "imagePullSecret pullSecrets registrySecret",
    "write `network: <network>` instead, with a network of the overlay": "hostNetwork",
    "queue": "queueName localQueue",
    "set `queue`, one that the namespace may use, instead": "partition",
    "cleanup": "cleanPodPolicy cleanTaskPolicy",
    "podLabels": "podLabel",
    "array": "jobArray taskArray arraySize taskInstanceNum",
    "attemptTimeout": "taskTimeout timeoutPerAttempt",
    "remove it; a job starts as soon as it is applied, and steps of a `kind: pipeline` have `needs`":
        "after dependsOn dependencies dependences waitFor",
    "remove it, or make the job a step of a `kind: pipeline`, which can have `kfp`": "kfp kubeflowPipelines",
    "remove it; the overlay sets who gets messages about runs, with `gitops.argocd.notify` or `pipelines.argo.notify`":
        "notify notifications notification onExit webhook email alerts",
    "remove it; the name of the file is that of the job": "jobName",
    "remove it; the folder below `jobs/` is the namespace": "namespace",
    "params": "parameters variables vars values",
    "schedule": "cron cronjob crontab schedules",
    "schedule.timeZone": "timeZone",
    "schedule.concurrency": "concurrencyPolicy",
    "sweep": "sweeps grid hyperparameters hyperparams",
    "search": "katib experiment tune hpo tuning",
    "sweep.matrix": "matrix strategy",
    "code.git": "syncSource gitUrl gitRepo repo repository sourceCode",
    "code.ref": "branch revision",
    "placement.nodeSelector": "selector selectors nodeLabels",
    "placement.tolerations": "toleration taints",
    "placement.gpuModel": "gpuType gpuProduct acceleratorType",
    "placement.instanceType": "machineType nodeType instance",
    "placement.zone": "zones availabilityZone",
    "tensorboard.logdir": "logPath tensorboardLogdir",
    "roles.ps.replicas": "ps psCount parameterServers",
    "roles.ps.cpu": "psCpu",
    "roles.ps.memory": "psMemory",
    "roles.chief": "chief",
    "roles.master": "master",
    "roles.launcher": "launcher",
    "roles.evaluator": "evaluator",
    "set `gpus`, `cpu` and `memory` instead; each is the request and the limit": "resources limits requests",
    "mount volumes of the overlay with `data: {<volume>: <path>}` instead":
        "volumes volumeMounts mounts dataDir dataset datasets pvc persistentVolumeClaim",
    "inputs": "input inputMappings downloads",
    "outputs": "output outputMappings uploads artifacts",
    "logs": "logFile logRedirect",
    "write `logs: {store: <store>, path: <path>}` instead": "redirectInfo stdoutRedirectPath stderrRedirectPath",
    "disk": "ephemeralStorage diskSize systemDisk storage",
    "write each variable as `env: {<variable>: {secret: <secret>, key: <key>}}` instead": "envFrom secret secrets",
    "write each variable as `env: {<variable>: <value>}` instead; gen reads no file of variables": "envFile dotenv",
    "write each file as `files: {<path>: <text>}` instead": "configMap configMaps configFile configFiles config",
    "remove it; fetch code with `code: {git: <URL>}`, or with `code: {rsync: <source>}`": "syncMode",
    "write `gpus` instead; the platform owner sets the resource, with `gpu` in the overlay": "device devices",
    "remove it; set `state: finished` in the job after its end": "ttlSecondsAfterFinished ttl jobTtl",
    "set `placement` instead, or ask the platform owner for `patches` in the overlay": "affinity nodeAffinity nodeName",
    _A_PATCH: "securityContext privileged podSecurityContext initContainers sidecars ports lifecycle livenessProbe "
        "readinessProbe schedulerName dnsPolicy hostIPC hostPID hostAliases rdma terminationGracePeriodSeconds",
    _A_MANIFEST: "apiVersion metadata spec template containers runPolicy",
})  # fmt: skip

RAY: Final = JOB | _names({
    "write `autoscaler: true` and `roles: {worker: {minReplicas: …, maxReplicas: …}}` instead":
        "minWorkers maxWorkers minReplicas maxReplicas minNodes maxNodes elastic autoscaling",
})  # fmt: skip

ROLE: Final = _names({
    "command": "cmd entrypoint script run",
    "cpu": "cpus vcpus",
    "memory": "mem ram",
    "sharedMemory": "shm shmSize shareMemory",
    "placement.nodeSelector": "selector selectors",
    "set `gpus`, `cpu` and `memory` instead; each is the request and the limit": "resources limits requests",
    "remove it; set `workers` of the job": "replicas count number parallelism",
    _A_MANIFEST: "template spec containers",
})  # fmt: skip

REPLICATED_ROLE: Final = {
    **{name: meant for name, meant in ROLE.items() if name != "replicas"},
    **_names({"replicas": "count number parallelism workers"}),
}

ENV: Final = _names({
    "secret": "secretName",
    "configMap": "configMapName",
    "field": "fieldPath",
    "write the value itself, without `value`": "value",
    "write `{secret: <secret>, key: <key>}`, `{configMap: <config map>, key: <key>}` or `{field: <path>}` instead":
        "valueFrom secretKeyRef configMapKeyRef fieldRef secretRef",
    "write `{resource: <resource>}` instead": "resourceFieldRef",
})  # fmt: skip

SCHEDULE: Final = _names({
    "cron": "schedule expression time times",
    "timeZone": "tz zone",
    "concurrency": "concurrencyPolicy",
    "deadline": "startingDeadline startingDeadlineSeconds",
    "history": "historyLimit",
    "history.succeeded": "successfulJobsHistoryLimit",
    "history.failed": "failedJobsHistoryLimit",
})  # fmt: skip

_PARALLEL = "remove it; use a `queue`, whose quota limits the runs at the same time: no object of Kubernetes can"
SWEEP: Final = _names({
    "matrix": "grid params parameters product values choices",
    "include": "add extra",
    "exclude": "except skip omit remove",
    "max": "maxRuns maxTrials maxTrialCount limit maximum",
    _PARALLEL: "parallel maxParallel parallelism concurrency maxConcurrent parallelTrialCount",
    "overrides": "override states",
})  # fmt: skip

AUTOSCALER: Final = _names({
    "write `roles: {worker: {minReplicas: …}}` instead": "min minReplicas minWorkers",
    "write `roles: {worker: {maxReplicas: …}}` instead": "max maxReplicas maxWorkers",
    "idleTimeoutSeconds": "idleTimeout",
})  # fmt: skip

CODE: Final = _names({
    "git": "url repo repository source gitUrl",
    "ref": "branch tag revision commit rev sha",
    "credentials": "secret secretName",
    "name": "path dir directory dest",
})  # fmt: skip

MOUNT: Final = _names({"path": "mountPath mount dir directory"})

TENSORBOARD: Final = _names({"logdir": "logs dir path log directory"})

ORDER: Final = _names({
    "needs": "need after depends dependsOn dependencies dependences waitFor requires upstream",
    "when": "condition onlyIf runAfter triggerRule",
    "results": "result",
})  # fmt: skip

PLACEMENT: Final = _names({
    "nodeSelector": "selector labels nodeLabels",
    "tolerations": "toleration taints",
    "gpuModel": "gpu gpuType gpuProduct",
    "instanceType": "instance machineType nodeType",
    "zone": "zones availabilityZone",
    "spot": "preemptible useSpot capacityType",
    "spread": "topologySpread topologySpreadConstraints antiAffinity podAntiAffinity",
})  # fmt: skip

SEARCH: Final = _names({
    "params": "parameters space matrix searchSpace",
    "maximize": "objective metric objectiveMetricName",
    "maxTrials": "trials maxTrialCount numTrials max",
    "parallelTrials": "parallel parallelTrialCount concurrency",
    "maxFailedTrials": "maxFailedTrialCount failedTrials",
    "algorithm": "algorithmName strategy sampler searchAlgorithm",
    "earlyStopping": "stop earlyStop medianstop",
})  # fmt: skip

SEARCHED: Final = _names({
    "values": "list choices options",
    "distribution": "scale log prior",
    "type": "parameterType",
})  # fmt: skip

METRIC: Final = _names({"pattern": "regex regexp filter metricsFormat", "format": "unit type"})

OVERLAY: Final = _names({
    "kubernetes": "kubernetesVersion k8s version k8sVersion clusterVersion",
    "extends": "base bases inherits parent from",
    "namespaces": "grants permissions teams",
    "groups": "namespaceGroups namespaceDefaults commonGrants",
    "patches": "patch",
    "write each as an entry of `patches`, with `target`, and `patch` or `path`, instead":
        "patchesStrategicMerge patchesJson6902",
    "images": "registries mirrors registryMirrors",
    "params": "parameters variables vars values",
    "codeSync": "gitSync",
    "priorities": "priority priorityClasses",
    "remove it; policies are files in the folder `policies/` of the overlay": "policies policy admissionPolicies",
    "remove it; definitions are files in the folder `crds/` of the overlay": "crds customResourceDefinitions",
    "set `gpus` of a namespace: `namespaces: {<namespace>: {gpus: <number>}}`": "quota quotas gpus limits",
    "set it for each namespace: `namespaces: {<namespace>: {<field>: …}}`": "serviceAccounts allow",
    "write `select: {include: [<pattern>], exclude: [<pattern>]}` instead": "include exclude jobs",
    "write `gitops: {argocd: {repoURL: <URL>}}` or `gitops: {flux: {repoURL: <URL>}}` instead": "argocd argo flux",
})  # fmt: skip

GRANT: Final = _names({
    "gpus": "gpu quota maxGpus gpuQuota",
    "pods": "maxPods",
    "sweepRuns": "runs maxRuns sweep",
    "queues": "queue",
    "priorities": "priority priorityClasses",
    "serviceAccounts": "serviceAccount",
    "volumes": "volume data",
    "networks": "network",
    "registries": "images registry",
    "metadata": "annotations labels",
    "allow": "permissions privileges",
    "write `allow: [<permission>]` instead": "hostNetwork hostPath privileged",
})  # fmt: skip

VOLUME: Final = _names({
    "claim": "pvc persistentVolumeClaim claimName existingClaim volumeClaim",
    "size": "capacity storage",
    "storageClass": "storageClassName",
    "nfs": "nfsServer",
    "hostPath": "path host",
})  # fmt: skip

ACCELERATOR: Final = _names({
    "write it below the profile, such as `nvidia: {model: <model>}`": "model product gpuModel gpuType name",
    "perNode": "gpusPerNode devicesPerNode",
    "nodeLabels": "nodeSelector selector labels",
    "set it for a namespace: `namespaces: {<namespace>: {accelerators: {<accelerator>: <number>}}}`":
        "count quota number total gpus",
})  # fmt: skip

GPU: Final = _names({"resource": "name device", "modelLabel": "label model product"})

SELECT: Final = _names({"include": "only match jobs", "exclude": "except ignore skip"})

TARGET: Final = _names({"labelSelector": "labels selector", "annotationSelector": "annotations"})

VALUES: Final = _names({
    "active": "running run start started resume resumed on enabled",
    "suspended": "suspend pause paused off disabled",
    "stopped": "stop cancel cancelled canceled kill killed terminate terminated abort aborted delete deleted ended",
    "finished": "done complete completed finish succeeded",
    "IfNotPresent": "missing",
    "None": "null keep",
})  # fmt: skip
"""Words for the values of fields with a few values."""
TRANSFER: Final = _names({
    "store": "bucket objectStore remote",
    "volume": "claim pvc data",
    "path": "prefix folder dir directory key source destination sourcePath destinationPath to from",
    "size": "sizeLimit disk",
})  # fmt: skip

STORE: Final = _names({
    "bucket": "bucketName container",
    "prefix": "path folder directory",
    "secret": "credentials secretName",
    "s3": "aws minio obs",
    "cos": "tencent",
    "oss": "alibaba aliyun",
    "gs": "gcs google",
})  # fmt: skip
