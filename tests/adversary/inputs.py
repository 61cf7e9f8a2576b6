"""Generated repositories: overlays with an owner who changes grants, patches, policies and definitions, and jobs that try them.

Each part of an overlay and each field of a job has a random generator of its own, by the number of the history, the job
and the step that last changed it. So a job is the same alone as among hundreds of others.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Data = dict[str, Any]

ATTACKED = "registry.example.com/a:1"
FOREIGN = "docker.io/b:1"
TOOLS = "registry.example.com/tools:1"
KINDS = (
    *(
        "pytorch",
        "batch",
        "mpi",
        "jobset",
        "volcano",
        "ray",
        "tensorflow",
        "xgboost",
        "paddle",
        "jax",
        "train",
        "train",
    ),
    *("robot", "pipeline"),
)
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


PLUGIN = "p"
"""The end of the seed of histories with a plugin."""
OF_PLUGIN = ("swarm",) * 6


class Choices:
    """Values that change in some steps of a history, each by itself."""

    def __init__(self, seed: str, step: int, odds: float) -> None:
        self.seed, self.step, self.odds = seed, step, odds

    def of(self, part: str) -> Random:
        """A generator for a part, of the step that last changed it."""
        by = Random(f"{self.seed}/{part}")
        last = max((step for step in range(1, self.step + 1) if by.random() < self.odds), default=0)
        return Random(f"{self.seed}/{part}/{last}")


def dumped(value: Any) -> str:
    return yaml.dump(value, Dumper=DUMPER, sort_keys=False)


def pick(by: Random, good: Sequence[Any], bad: Sequence[Any]) -> Any:
    """Mostly a value that overlays grant: a job with one error is refused for it, which hides its others."""
    return by.choice(bad if by.random() < 0.1 else good)


def secret(by: Random) -> Data:
    return {"secret": pick(by, ["own", "own", "of-store"], ["of-stage", "of-defaults", "of-pull"]), "key": "k"}


def image(by: Random) -> str:
    good = [ATTACKED, ATTACKED, FOREIGN, "registry.example.com/c", "{{ params.image }}"]
    bad = [
        "b:2",
        "mirror.example.com/d:1",
        "registry.example.com.evil.org/a:1",
        f"registry.example.com/a@sha256:{'0' * 64}",
    ]
    return str(pick(by, good, bad))


def placement(by: Random) -> Data:
    good = [
        {"nodeSelector": {"pool": "a"}},
        {"nodeSelector": {"pool": ["a", "b"]}},
        {"tolerations": [{"key": "spare", "operator": "Exists"}]},
        {"zone": "z1"},
        {"spot": True},
        {"instanceType": ["m1", "m2"]},
    ]
    bad = [
        {"nodeSelector": {"zone": "b"}},
        {"nodeSelector": {"kubernetes.io/hostname": "n1"}},
        {"tolerations": [{"key": "odd", "value": "x", "effect": "NoSchedule"}]},
        {"tolerations": [{"operator": "Exists"}]},
    ]
    return dict(pick(by, good, bad))


def mount(by: Random) -> Any:
    return by.choice(
        ["/data", "/data", {"path": "/data", "readOnly": False}, {"path": "/data", "subPath": "{{ job.name }}"}]
    )


def sweep(by: Random) -> Data:
    matrix: Data = by.choice([{"image": [ATTACKED, FOREIGN]}, {"lr": [1, 2]}])
    (name, (first, _)) = next(iter(matrix.items()))
    one: Data = {"when": {name: first}, **by.choice([{"state": "finished"}, {"state": "suspended"}, {"attempt": 2}])}
    return {"matrix": matrix} | by.choice([{}, {"overrides": [one]}])


def role(by: Random) -> Data:
    fields: dict[str, Callable[[], Any]] = {
        "image": lambda: image(by),
        "env": lambda: {"R": secret(by)},
        "placement": lambda: placement(by),
        "podLabels": lambda: {by.choice(["app", "queue", "example.com/a"]): "x"},
        "gpus": lambda: by.choice([0, 1]),
    }
    return {name: make() for name, make in fields.items() if by.random() < 0.35}


_SEARCH = {"minimize": "loss", "params": {"lr": [0.1, 0.2]}, "maxTrials": 4, "parallelTrials": 2}
ROLES = {
    "pytorch": ["master", "worker"],
    "mpi": ["launcher", "worker"],
    "tensorflow": ["ps", "chief", "worker"],
    "xgboost": ["master", "worker"],
    "paddle": ["master", "worker"],
    "ray": ["head", "worker"],
    "robot": ["lead", "arm"],
    "volcano": ["worker", "extra"],
    "jobset": ["worker"],
}
VOLUMES = ("nas", "node", "data", "stage", "disk", "scratch", "frozen")
FIELDS: dict[str, tuple[float, Callable[[Random, str], Any]]] = {
    "workers": (0.4, lambda by, _: by.randint(1, 3)),
    "gpus": (0.4, lambda by, _: by.randint(0, 4)),
    "accelerator": (0.02, lambda by, _: by.choice(["a10", "h100"])),
    "timeout": (0.4, lambda *_: "1h"),
    "network": (0.2, lambda by, _: pick(by, ["host", "rdma", "pod"], ["none"])),
    "serviceAccount": (0.12, lambda by, _: pick(by, ["trainer"], ["admin", "gen-pipeline", "default"])),
    "priority": (0.15, lambda by, _: pick(by, ["high", "urgent"], ["low", "system-node-critical", "high-class"])),
    "queue": (0.15, lambda by, _: pick(by, ["research", "gold", "gang"], ["rich", "lq", "root"])),
    "data": (0.3, lambda by, _: {by.choice(VOLUMES): mount(by)}),
    "env": (0.25, lambda by, _: {"T": by.choice([secret(by), "x", {"configMap": "c", "key": "k"}, {"field": "spec.nodeName"}])}),
    "inputs": (0.1, lambda by, _: {"/in": by.choice([{"store": by.choice(["models", "logs"]), "path": "a"}, {"volume": "nas", "path": "b"}])}),
    "outputs": (0.06, lambda by, _: {"/out": pick(by, [{"store": "models", "path": "a"}], [{"store": "logs", "path": "a"}, {"volume": "frozen", "path": "b"}])}),
    "logs": (0.03, lambda by, _: {"store": pick(by, ["models"], ["logs"]), "path": "l"}),
    "code": (0.08, lambda by, _: {"git": "https://git.example.com/a.git", "ref": "c" * 40} | by.choice([{}, {"credentials": pick(by, ["own"], ["of-store", "of-pull"])}])),
    "imagePullSecrets": (0.08, lambda by, _: [pick(by, ["own"], ["of-store", "of-pull", "of-defaults"])]),
    "placement": (0.2, lambda by, _: placement(by)),
    "podLabels": (0.08, lambda by, _: {pick(by, ["app", "example.com/a"], ["team", "job-name", "queue"]): "x"}),
    "podAnnotations": (0.06, lambda by, _: {pick(by, ["example.com/a"], ["k8s.aliyun.com/eni", "sidecar.istio.io/inject"]): "true"}),
    "labels": (0.06, lambda by, _: {pick(by, ["team", "example.com/a"], ["kueue.x-k8s.io/queue-name"]): "rich"}),
    "tensorboard": (0.05, lambda by, _: pick(by, [True], [{"image": FOREIGN}, {"logdir": "/data/x"}])),
    "files": (0.04, lambda *_: {"/etc/a.yaml": "a: 1"}),
    "sharedMemory": (0.04, lambda *_: "512Mi"),
    "sweep": (0.04, lambda by, _: sweep(by)),
    "schedule": (0.08, lambda by, _: {"cron": "0 3 * * *", "concurrency": by.choice(["Forbid", "Replace"])}),
    "search": (0.06, lambda by, _: {**_SEARCH, "maxTrials": pick(by, [4], [40])}),
    "attempt": (0.1, lambda by, _: by.randint(1, 3)),
    "clusters": (0.08, lambda *_: ["dev"]),
    "roles": (0.15, lambda by, kind: {by.choice(ROLES.get(kind, ["worker"])): role(by)}),
    "runtime": (0.7, lambda by, _: pick(by, ["torch-distributed", "open", "strong"], ["torchtune-llama3.2-1b", "missing"])),
    "initializer": (0.2, lambda by, _: {"dataset": {"storageUri": "hf://a/b"} | by.choice([{}, {"secret": by.choice(["of-store", "own"])}])}),
    "spec": (0.5, lambda by, _: pick(by, [{"color": "red"}, {"arms": {"reach": 3}}, {"joints": [{"angle": 1}]}], [{"speed": "slow"}, {"arms": {"template": {"spec": {"hostPID": True}}}}])),
    "kfp": (0.15, lambda by, _: by.choice([{}, {"params": ["image"]}])),
}  # fmt: skip
"""Odds and values of each field."""
_ONLY = {"runtime": ("train",), "initializer": ("train",), "spec": ("robot",), "kfp": ("pipeline",)}
_NOT = {
    "pipeline": {
        "workers",
        "gpus",
        "timeout",
        "roles",
        "accelerator",
        "search",
        "tensorboard",
        "env",
        "placement",
        "data",
    },
    "train": {"roles", "logs", "outputs", "priority", "code", "files", "tensorboard", "imagePullSecrets", "network"},
    "robot": {"queue", "search", "schedule"},
    "jobset": {"timeout"},
    "volcano": {"timeout", "search", "queue"},
    "jax": {"search"},
    "paddle": {"search"},
}
"""Fields that kinds do not have: most jobs do not try them."""
_IN_STEPS = (
    "workers",
    "gpus",
    "network",
    "serviceAccount",
    "data",
    "env",
    "inputs",
    "placement",
    "priority",
    "runtime",
)
NEEDED = ("workers", "gpus", "timeout", "runtime")
STATES = ("active", "active", "suspended", "finished")


def job_at(seed: str, number: int, step: int) -> Data:
    """The fields of a job at a step of a history."""
    own = f"{seed}/{number}"
    kind = Random(f"{own}/kind").choice((*KINDS, *OF_PLUGIN) if seed.endswith(PLUGIN) else KINDS)
    edited = Choices(own, step, 0.35)  # most jobs do not change in most steps
    changed = max((at for at in range(step + 1) if at == 0 or Random(f"{own}/{at}/edit").random() < 0.3), default=0)
    values = Choices(own, changed, 0.3)
    job: Data = {"kind": kind, "image": image(values.of("image"))}
    job["command"] = "mpirun python train.py" if kind == "mpi" else "python train.py"
    job |= {"cpu": 1, "memory": "1Gi", "params": {"image": values.of("params").choice([ATTACKED, FOREIGN])}}
    if kind == "pipeline":
        job.pop("command")
        job["steps"] = _steps(values)
    share = Random(f"{own}/share").choice([0.3, 0.5, 1.0])  # jobs with few fields are refused less often
    for name, (odds, make) in FIELDS.items():
        by = values.of(name)
        if name in _NOT.get(kind, ()) and by.random() < 0.98:
            continue
        if kind in _ONLY.get(name, (kind,)) and by.random() < odds * (share if name not in NEEDED else 1):
            job[name] = make(by, kind)
    if "search" in job:
        job |= {"metrics": ["loss"], "command": f"{job.get('command', 'python x.py')} --lr {{{{ params.lr }}}}"}
    elif "lr" in job.get("sweep", {}).get("matrix", {}):
        job["env"] = {"LR": "{{ params.lr }}"}
    if seed.endswith(PLUGIN):
        by = values.of("plugin")
        fields = {"network": "mesh", "queue": "north", "data": {"tapes": "/tapes"}}
        job |= {name: value for name, value in fields.items() if by.random() < 0.25}
    state = edited.of("state").choice(STATES)
    if state != "active" and not ({"search", "schedule", "kfp"} & job.keys() and Random(own).random() < 0.9):
        job["state"] = state
    return job


def _steps(values: Choices) -> Data:
    by = values.of("steps")
    found: Data = {}
    for index in range(by.randint(1, 3)):
        kind = by.choice(["batch", "pytorch", "train", "jobset", "ray"])
        names = [name for name in _IN_STEPS if kind in _ONLY.get(name, (kind,))]
        step = {name: FIELDS[name][1](by, kind) for name in names if by.random() < FIELDS[name][0] * 0.3}
        found[f"s{index}"] = {"kind": kind, "command": "python a.py", **step}
        if kind != "jobset":
            found[f"s{index}"]["timeout"] = "1h"
        if index and by.random() < 0.6:
            found[f"s{index}"]["needs"] = ["s0"]
    return found


def lock_at(seed: str, number: int, step: int, job: Data) -> str | None:
    """The lock of a job, which its author writes; mostly none."""
    by = Choices(f"{seed}/{number}", step, 0.2).of("lock")
    named = str(job.get("image"))
    if by.random() < 0.85 or "{" in named:
        return None
    other = pick(by, [named], [FOREIGN, "evil.example.com/a:1"])
    pins = {named: f"{other}@sha256:{'a' * 64}"}
    return dumped({"images": pins} | by.choice([{}, {"code": {"https://git.example.com/a.git": {"main": "d" * 40}}}]))


WAYS = ("plain", "plain", "plain", "forged", "forged", "restarted", "edited", "edited", "removed")


def way_at(seed: str, number: int, step: int) -> str:
    return Random(f"{seed}/{number}/{step}/way").choice(WAYS) if step else "plain"


def namespace_at(seed: str, number: int, step: int) -> str:
    """Some jobs move."""
    by = Choices(f"{seed}/{number}", step, 0.07).of("namespace")
    return by.choice((*("team",) * 10, *("other",) * 5, "lab"))


GRANTED = {
    "allow": ["hostNetwork", "hostPath", "local"],
    "queues": ["research", "gold", "gang"],
    "priorities": ["high", "urgent"],
    "serviceAccounts": ["trainer"],
    "nodeLabels": ["pool"],
    "taints": ["spare"],
    "metadata": ["app", "example.com/*"],
}
"""Nothing without them."""
LIMITED = {
    "networks": ["host", "rdma"],
    "volumes": ["nas", "node", "data", "stage", "disk", "scratch", "frozen"],
    "stores": ["models", "logs"],
    "runtimes": ["torch-distributed", "open", "strong"],
    "accelerators": ["a10", "h100"],
}
"""Everything without them."""


def _grant(choices: Choices, namespace: str, runtimes: Data, accelerators: Data) -> Data:
    odds = choices.of(f"{namespace}/odds").choice([0.7, 0.9, 0.97, 1.0])
    grant: Data = {}
    for name, every in GRANTED.items():
        by = choices.of(f"{namespace}/{name}")
        grant[name] = [one for one in every if by.random() < odds]
    for name, every in LIMITED.items():
        by = choices.of(f"{namespace}/{name}")
        if by.random() > odds or (name == "runtimes" and by.random() < 0.5):
            known = {"runtimes": runtimes, "accelerators": accelerators}.get(name)
            grant[name] = [one for one in every if by.random() < 0.7 and (known is None or one in known)]
    if not accelerators:
        grant.pop("accelerators", None)
    by = choices.of(f"{namespace}/rest")
    if by.random() > odds:
        grant["registries"] = by.choice(
            [["registry.example.com"], ["registry.example.com", "mirror.example.com"], ["docker.io"]]
        )
    if by.random() < odds:
        grant |= {"search": {"maxTrials": by.choice([10, 50]), "parallelTrials": 4}, "kfp": by.random() < 0.8}
    return grant


PATCHES: tuple[Any, ...] = (
    {"target": {"pods": {}}, "patch": {"spec": {"securityContext": {"runAsNonRoot": True}}}},
    {"target": {"pods": {}}, "patch": {"spec": {"automountServiceAccountToken": False}}},
    {"target": {"pods": {}}, "patch": {"spec": {"hostPID": True}}},
    {"target": {"pods": {}}, "patch": {"spec": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}}},
    {"target": {"pods": {}}, "patch": {"spec": {"containers": [{"name": "$training", "securityContext": {"privileged": True}}]}}},
    {"target": {"pods": {}}, "patch": {"spec": {"volumes": [{"name": "logs", "hostPath": {"path": "/var/log"}}]}}},
    {"target": {"pods": {"role": "worker"}}, "patch": {"metadata": {"labels": {"patched": "yes"}}}},
    {"target": {"kind": "PyTorchJob"}, "patch": {"spec": {"runPolicy": {"backoffLimit": 2}}}},
    {"target": {"kind": "Job"}, "patch": [{"op": "add", "path": "/spec/backoffLimit", "value": 1}]},
)  # fmt: skip


def overlay_at(seed: str, step: int, name: str = "dev") -> Data:  # noqa: C901 - a list of fields
    """All fields of an overlay at a step, without those of an overlay that it extends taken apart."""
    choices = Choices(f"{seed}/{name}", step, 0.3)
    by = choices.of("runtimes")
    runtimes: Data = {"torch-distributed": {}} if by.random() < 0.9 else {}
    if by.random() < 0.6:
        runtimes["open"] = {"gpus": 1}
    by = choices.of("accelerators")
    accelerators: Data = (
        {"a10": {"nvidia": {}}, "h100": {"nvidia": {}, "nodeLabels": {"gpu": "h100"}}} if by.random() < 0.2 else {}
    )
    if accelerators and "open" in runtimes:
        runtimes["open"]["accelerator"] = "a10"
    namespaces = {"team": _grant(choices, "team", runtimes, accelerators)}
    by = choices.of("namespaces")
    if by.random() < 0.9:
        namespaces["other"] = _grant(choices, "other", runtimes, accelerators)
    if by.random() < 0.3:
        namespaces["*"] = _grant(choices, "*", runtimes, accelerators)
    defaults = {
        "network": choices.of("d/network").choice(["host", "rdma"]),
        "data": {choices.of("d/data").choice(["nas", "node"]): "/mnt"},
        "placement": choices.of("d/placement").choice([{"nodeSelector": {"zone": "b"}}, {"tolerations": [{"key": "odd", "operator": "Exists"}]}]),
        "priority": "high",
        "env": {"D": {"secret": "of-defaults", "key": "k"}},
        "imagePullSecrets": ["of-pull"],
        "podLabels": {"tier": "batch"},
        "kinds": {"batch": {"serviceAccount": "trainer"}},
    }  # fmt: skip
    by = choices.of("defaults")
    patches = [choices.of("patch").choice([*PATCHES, *[None] * 6])]
    engine = choices.of("engine").choice([["argocd"], ["flux"], ["argocd", "flux"]])
    queues = {
        "research": {"kueue": {"localQueue": "lq"}},
        "gang": {"volcano": {"queue": "root"}},
        "gold": {"kueue": "gold"},
    }
    priorities = {"high": {"className": "high-class"}, "urgent": {"className": "urgent"}, "low": {"className": "low"}}
    data: Data = {
        "kubernetes": "1.34",
        "cluster": name,
        "namespaces": namespaces,
        "volumes": {
            "nas": {"size": "1Gi", "nfs": {"server": "a.example.com", "path": "/a"}},
            "node": {"hostPath": {"path": "/mnt/node"}},
            "data": {"claim": "data"},
            "stage": {"size": "1Gi", "csi": {"driver": "a.example.com", "stageSecret": "of-stage"}},
            "disk": {"size": "1Gi", "local": {"path": "/disk", "node": "n1"}},
            "scratch": {"emptyDir": {}},
            "frozen": {"claim": "frozen", "readOnly": True},
        },
        "networks": {"host": {"hostNetwork": True}, "rdma": {"rdma": "rdma/hca"}},
        "stores": {
            "models": {"bucket": "models", "prefix": "a", "secret": "of-store", "s3": {}},
            "logs": {"bucket": "logs", "readOnly": choices.of("logs").random() < 0.5, "s3": {}},
        },
        "runtimes": runtimes,
        "defaults": {key: value for key, value in defaults.items() if by.random() < 0.15},
        "patches": [one for one in patches if one],
        "gitops": {one: {"repoURL": "https://git.example.com/a.git"} for one in engine},
        "pipelines": {"argo": {"serviceAccount": "gen-pipeline", "reader": TOOLS}},
        "spot": {"nodeLabels": {"capacity": "spot"}, "tolerations": [{"key": "capacity", "value": "spot"}]},
        "kinds": {"robot": _robot(Choices(seed, step, 0.3).of("robot"))},
    }  # fmt: skip
    if engine == ["argocd"]:
        data["pipelines"]["kfp"] = {"image": TOOLS}
    if accelerators:
        data["accelerators"] = accelerators
        data["defaults"]["accelerator"] = "a10"
    if seed.endswith(PLUGIN):
        _with_plugin(data, choices)
    if choices.of("queues").random() < 0.5 or seed.endswith(PLUGIN):
        data["queues"] = {**queues, **data.get("queues", {})}
    if choices.of("priorities").random() < 0.5:
        data["priorities"] = priorities
    if choices.of("images").random() < 0.2:
        data["images"] = [{"from": "docker.io/", "to": "mirror.example.com/"}]
    if choices.of("gpu").random() < 0.2:
        data["gpu"] = {"hideFromOthers": True}
    if choices.of("naming").random() < 0.1:
        data["runs"] = {"naming": "stable"}
    return data


def _with_plugin(data: Data, choices: Choices) -> None:
    """The kind, volume, network, accelerator and scheduler of the plugin of the tests, with grants for some."""
    data["plugins"] = {"acme-gen": ">=1,<2"}
    data["volumes"]["tapes"] = {"size": "1Ti", "tape": {"library": "a"}}
    data["networks"]["mesh"] = {"mesh": "inner"}
    data["accelerators"] = {"beads": {"abacus": {}}}
    data["defaults"] = {**data["defaults"], "accelerator": "beads"}
    data["queues"] = {"north": {"hive": "north"}}
    data["runtimes"].pop("open", None)
    for namespace, grant in data["namespaces"].items():
        by = choices.of(f"{namespace}/plugin")
        grant.pop("accelerators", None)
        if "runtimes" in grant:
            grant["runtimes"] = [one for one in grant["runtimes"] if one != "open"]
        for field, name in (("volumes", "tapes"), ("networks", "mesh"), ("queues", "north")):
            if field in grant and by.random() < 0.6:
                grant[field] = [*grant[field], name]


def _robot(by: Random) -> Data:
    return {
        "apiVersion": "acme.example.com/v1",
        "kind": "Robot",
        "pods": {
            "lead": {"template": "spec.lead.template", "trains": False, "runs": False},
            "arm": {"template": "spec.arms.template", "replicas": "spec.arms.count"},
        },
        "status": {"phase": "status.phase", "succeeded": ["Done"], "failed": ["Broken"], "suspended": ["Asleep"]},
        "spec": {"speed": "fast"},
        "fields": by.choice([["color", "arms.reach", "joints"], ["color", "arms.reach", "joints"], ["color"]]),
        "suspend": "spec.paused",
        "deadline": "spec.seconds",
        "container": "brain",
    }


def definition() -> str:
    template = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    number = {"type": "integer"}
    fields = {
        "speed": {"type": "string"},
        "color": {"type": "string"},
        "paused": {"type": "boolean"},
        "seconds": number,
        "joints": {"type": "array", "items": {"type": "object", "properties": {"angle": number}}},
        "lead": {"type": "object", "properties": {"template": template}},
        "arms": {"type": "object", "properties": {"template": template, "count": number, "reach": number}},
    }
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}, "status": template}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Robot", "listKind": "RobotList", "plural": "robots", "singular": "robot"}
    spec = {"group": "acme.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return json.dumps({**head, "metadata": {"name": "robots.acme.example.com"}, "spec": spec})


def runtime_definition(by: Random) -> Data:
    """The runtime `strong`: its pods may have privileges of their own."""
    pod: Data = {"containers": [{"name": "node", "image": "registry.example.com/runtime:1"}]}
    way = by.randrange(4)
    if way == 1:
        pod["hostNetwork"] = True
    elif way == 2:
        pod["containers"][0]["securityContext"] = {"privileged": True}
    elif way == 3:
        pod["volumes"] = [{"name": "root", "hostPath": {"path": "/"}}]
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    node = {"name": "node", "template": {"metadata": {"labels": labels}, "spec": {"template": {"spec": pod}}}}
    spec = {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [node]}}}
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime"}
    return {**head, "metadata": {"name": "strong"}, "spec": spec}


def policy(rule: str) -> str:
    head = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy"
    resources = '{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [jobs, pytorchjobs]}'
    return f"""\
{head}
metadata: {{name: p}}
spec:
  matchConstraints: {{resourceRules: [{resources}]}}
  validations:
  - expression: {json.dumps(rule)}
---
{head}Binding
metadata: {{name: p}}
spec: {{policyName: p, validationActions: [Deny]}}
"""


_JOB = "object.kind != 'Job' || "
_TORCH = "object.kind != 'PyTorchJob' || object.spec.pytorchReplicaSpecs.all(r, "
_OWN, _EACH = "object.spec.template.spec", "object.spec.pytorchReplicaSpecs[r].template.spec"


def _of_both(rule: str) -> str:
    return f"({_JOB}{rule.format(pod=_OWN)}) && ({_TORCH}{rule.format(pod=_EACH)}))"


POLICIES = {
    "hostNetwork": policy(_of_both("!{pod}.?hostNetwork.orValue(false)")),
    "images": policy(_of_both("{pod}.containers.all(c, c.image.startsWith('registry.example.com/'))")),
}
"""Policies of a cluster by their restriction, for the pods of two kinds."""


def policy_at(seed: str, step: int, name: str) -> str | None:
    return Choices(f"{seed}/{name}", step, 0.3).of("policy").choice([None, None, None, None, *POLICIES])


_BELOW = {"namespaces", "defaults", "kinds"}
"""Fields that name others, which must be in the same file or above."""


def files_of_overlay(seed: str, step: int, name: str = "dev") -> dict[str, str]:
    """The files of an overlay. Some extend another one, which has a part of their fields."""
    data = overlay_at(seed, step, name)
    folder = f"overlays/{name}"
    choices = Choices(f"{seed}/{name}", step, 0.3)
    found = {f"{folder}/crds/robot.json": definition()}
    by = choices.of("strong")
    if by.random() < 0.6:
        found[f"{folder}/runtimes/strong.json"] = json.dumps(runtime_definition(by))
    else:
        _without_runtime(data, "strong")
    if (rule := policy_at(seed, step, name)) is not None:
        found[f"{folder}/policies/p.yaml"] = POLICIES[rule]
    by = choices.of("extends")
    if by.random() < 0.4:
        above = {key: value for key, value in data.items() if key not in _BELOW and by.random() < 0.5}
        above |= {key: data[key] for key in ("plugins",) if key in data}
        data = {"extends": f"{name}-base", **{key: value for key, value in data.items() if key not in above}}
        found[f"overlays/{name}-base/overlay.yaml"] = dumped({"abstract": True, **above})
    found[f"{folder}/overlay.yaml"] = dumped(data)
    return found


def _without_runtime(data: Data, name: str) -> None:
    for grant in data["namespaces"].values():
        if name in grant.get("runtimes", ()):
            grant["runtimes"].remove(name)
