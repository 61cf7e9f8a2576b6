"""Fields that a job does not have are patches of the overlay."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from gen.importers.draft import text_of
from tests.cases import for_each
from tests.importers.manifests.changes import PYTORCH, changed, of_container
from tests.importers.manifests.forms import EQUAL, IMAGE, an_object, pod, replicas
from tests.importers.manifests.proofs import messages, operations, proof_of, read
from tests.importers.manifests.test_retries import indexed, job
from tests.importers.support import run_import

if TYPE_CHECKING:
    from tests.support import Repository

MIG = "nvidia.com/mig-1g.10gb"
HTTP = {"containerPort": 8080, "name": "http"}


PROBE = {"httpGet": {"path": "/", "port": "http"}}


NUMBERED = {"containerPort": 23457, "name": "pytorchjob-port"}


@for_each(
    ("body", "expected"),
    [
        (changed(PYTORCH, terminationGracePeriodSeconds=120), {"terminationGracePeriodSeconds": 120}),
        (changed(PYTORCH, hostIPC=True), {"hostIPC": True}),
        (changed(PYTORCH, runtimeClassName="nvidia"), {"runtimeClassName": "nvidia"}),
        (of_container(ports=[NUMBERED]), {"containers/0/ports": [NUMBERED]}),
        (
            of_container(ports=[HTTP], readinessProbe=PROBE),
            {"containers/0/ports": [HTTP], "containers/0/readinessProbe": PROBE},
        ),
        (
            of_container(envFrom=[{"configMapRef": {"name": "settings"}}]),
            {"containers/0/envFrom": [{"configMapRef": {"name": "settings"}}]},
        ),
        (
            of_container(resources={"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}),
            {"containers/0/resources/limits/memory": "2Gi"},
        ),
        (
            changed(PYTORCH, initContainers=[{"name": "prepare", "image": IMAGE}]),
            {"initContainers": [{"name": "prepare", "image": IMAGE}]},
        ),
    ],
    ids=["grace", "host-ipc", "runtime-class", "ports", "ports-of-probes", "env-from", "limits", "init"],
)
def test_what_a_job_cannot_say_is_a_patch(body: dict[str, Any], expected: dict[str, Any]) -> None:
    assert operations(body) == expected


@for_each(
    ("body", "message"),
    [
        (of_container(ports=[{"containerPort": 8080}]), ""),
        (of_container(ports=[{"containerPort": 23456, "name": "pytorchjob-port", "protocol": "TCP"}]), ""),
        (of_container(ports=[HTTP]), "the port `http` is not carried: pods reach each other without it"),
        (
            changed(of_container(ports=[{"containerPort": 8080}]), hostNetwork=True),
            "the port `8080` is not carried: pods reach each other without it",
        ),
    ],
)
def test_ports_that_only_document_need_no_patch(body: dict[str, Any], message: str) -> None:
    proof = proof_of(body)
    assert (proof.patch, proof.remaining) == (None, ())
    assert messages(body) == ([message] if message else [])


HEAD_PORTS = [
    {"containerPort": 6379, "name": "gcs-server"},
    {"containerPort": 8265, "name": "dashboard"},
    {"containerPort": 10001, "name": "client"},
]


def ray(ports: list[dict[str, Any]], **group: Any) -> dict[str, Any]:
    body = deepcopy(EQUAL["ray"])
    cluster = body["spec"]["rayClusterSpec"]
    cluster["headGroupSpec"]["template"]["spec"]["containers"][0]["ports"] = ports
    cluster["headGroupSpec"]["serviceType"] = "ClusterIP"
    cluster["workerGroupSpecs"][0] |= group
    return body


def test_what_has_no_effect_on_a_ray_cluster_needs_no_patch() -> None:
    """KubeRay makes a Service of the ports of the head, by default of these, and has the bounds for the autoscaler."""
    body = ray(HEAD_PORTS, replicas=2, minReplicas=1, maxReplicas=5)
    proof = proof_of(body)
    assert (proof.patch, proof.remaining, messages(body)) == (None, (), [])
    other = {"containerPort": 6380, "name": "gcs-server"}
    proof = proof_of(ray([other], replicas=2))
    assert proof.patch is not None
    assert [one["value"] for one in proof.patch["patch"]] == [[other]]
    proof = proof_of(ray([], replicas=0, minReplicas=1))
    assert proof.patch is not None


TPU = {
    "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
    "cloud.google.com/gke-tpu-topology": "2x4",
}


@for_each(
    ("chips", "workers", "selector", "profile"),
    [
        (4, 2, TPU, {"tpu": {"accelerator": "tpu-v5-lite-podslice", "topology": "2x4"}}),
        (8, 1, TPU, {"tpu": {"accelerator": "tpu-v5-lite-podslice", "topology": "2x4", "chipsPerHost": 8}}),
        (4, 3, TPU, {"extended": {"resource": "google.com/tpu"}}),
        (4, 1, {}, {"extended": {"resource": "google.com/tpu"}}),
    ],
    ids=["slice", "host", "no-whole-slice", "no-labels"],
)
def test_a_slice_of_tpus_is_an_accelerator(
    chips: int, workers: int, selector: dict[str, str], profile: dict[str, Any]
) -> None:
    template = pod("main", resources={"limits": {"google.com/tpu": chips}})
    template["spec"] |= {"nodeSelector": selector, "restartPolicy": "Never"}
    spec = {"parallelism": workers, "completions": workers, "completionMode": "Indexed", "template": template}
    body = an_object("batch/v1", "Job", spec)
    proof = proof_of(body)
    assert (proof.patch, proof.remaining) == (None, ())
    assert [*proof.job.overlay["accelerators"].values()] == [profile]
    assert proof.job.fields["gpus"] == str(chips)
    assert ("placement" in proof.job.fields) == (selector != {} and "extended" in profile)


@for_each(("hosts", "profile"), [(2, "tpu"), (4, "extended")])
def test_the_hosts_of_a_replica_of_ray_are_a_slice(hosts: int, profile: str) -> None:
    body = deepcopy(EQUAL["ray"])
    (group,) = body["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    container = {"name": "w", "image": IMAGE, "resources": {"limits": {"google.com/tpu": 4}}}
    template = {"spec": {"containers": [container], "nodeSelector": TPU}}
    group |= {"replicas": 3, "minReplicas": 3, "maxReplicas": 3, "numOfHosts": hosts, "template": template}
    proof = proof_of(body)
    assert (proof.patch, proof.remaining) == (None, ())
    (known,) = proof.job.overlay["accelerators"].values()
    assert [*known] == [profile]


def test_a_request_that_would_be_too_small_as_a_limit_is_left_out() -> None:
    small = {"requests": {"memory": "100Mi", "cpu": "1", "nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 1}}
    body = of_container(resources=small)
    proof = proof_of(body)
    assert "memory" not in proof.job.fields
    assert proof.remaining == ()
    assert messages(body) == [
        "the request of `100Mi` of memory is not carried: as a limit, too, no program with a GPU could start with it"
    ]


@pytest.mark.parametrize("kind", ["configMap", "persistentVolumeClaim"])
def test_a_volume_with_two_sources_differs(kind: str) -> None:
    sources = {"configMap": {"name": "settings"}, "persistentVolumeClaim": {"claimName": "a"}}
    body = of_container(volumeMounts=[{"name": "v", "mountPath": "/v"}])
    template = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    template["volumes"] = [{"name": "v", kind: sources[kind], "nfs": {"server": "a", "path": "/b"}}]
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}}
    assert proof_of(body, settings).remaining


def test_references_have_the_name_of_the_training_container() -> None:
    body = deepcopy(EQUAL["batch"])
    body["spec"]["template"]["spec"]["containers"][0]["name"] = "own"
    rule = {"action": "FailJob", "onExitCodes": {"containerName": "own", "operator": "NotIn", "values": [127, 42, 3]}}
    body["spec"]["podFailurePolicy"] = {"rules": [rule]}
    proof = proof_of(body)
    assert proof.remaining == ()
    assert '"containerName": "trainer"' in json.dumps(proof.patch)


def test_digits_in_a_patch_stay_a_text() -> None:
    body = deepcopy(EQUAL["batch"])
    body["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    assert list(operations(body).values())[0] in ("2", {"kueue.x-k8s.io/job-min-parallelism": "2"})  # noqa: RUF015 - one


def test_the_report_has_the_patches(repo: Repository) -> None:
    file = repo.root.parent / "in.yaml"
    file.write_text(json.dumps(changed(PYTORCH, hostIPC=True)))
    report, code = run_import(repo.root, str(file), importer="manifests", namespace="team")
    assert (report.summary.splitlines()[0], code) == ("wrote 1 job: needs fields of the overlay", 0)
    assert (
        "  patches:\n    - target:\n        kind: PyTorchJob\n        name: run\n        namespace: team\n"
        in report.summary
    )
    assert "path: /spec/pytorchReplicaSpecs/Master/template/spec/hostIPC\n" in report.summary.replace('"', "")


def test_a_secret_of_another_container_is_reported() -> None:
    other = {"name": "log", "image": IMAGE, "env": [{"name": "DB_PASSWORD", "value": "hunter2hunter2"}]}
    body = changed(PYTORCH, initContainers=[other])
    assert messages(body) == ["the value of `DB_PASSWORD` is a secret"]
    reference = {"secretKeyRef": {"name": "run-env", "key": "DB_PASSWORD"}}
    assert operations(body)["initContainers"][0]["env"] == [{"name": "DB_PASSWORD", "valueFrom": reference}]


def with_plugins(**plugins: list[str]) -> dict[str, Any]:
    body = deepcopy(EQUAL["volcano"])
    body["spec"]["plugins"] = plugins
    return body


@for_each(
    "plugins",
    [{"ssh": [], "svc": []}, {"env": [], "ssh": ["--no-root"], "svc": []}, {"svc": ["--publish-not-ready-addresses"]}],
)
def test_an_entry_with_an_empty_value_is_carried(plugins: dict[str, list[str]]) -> None:
    made = proof_of(with_plugins(**plugins))
    assert (made.patch, made.remaining) == (None, ())
    assert made.job.fields["plugins"] == plugins


def test_the_comparison_sees_an_entry_with_an_empty_value() -> None:
    (lost,) = proof_of(with_plugins(svc=[], env=[], other=[])).remaining  # Volcano refuses a patch with it
    assert (lost.route, lost.original) == (("spec", "plugins", "other"), [])


def test_the_default_plugins_are_left_out() -> None:
    assert "plugins" not in proof_of(with_plugins(svc=[], env=[])).job.fields


ALL_NAMESPACES = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {}}


def test_an_empty_value_that_means_something_is_a_patch() -> None:
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [ALL_NAMESPACES]}}
    assert operations(changed(PYTORCH, affinity=affinity)) == {"affinity": affinity}


@for_each(
    "of_pod",
    [{"securityContext": {}}, {"affinity": {}}, {"tolerations": []}, {"nodeSelector": {}}, {"initContainers": []}],
)
def test_an_empty_value_that_means_nothing_is_left_out(of_pod: dict[str, Any]) -> None:
    made = proof_of(changed(PYTORCH, **of_pod))
    assert (made.patch, made.remaining) == (None, ())


@for_each(
    ("image", "policy", "expected"),
    [
        ("$IMAGE", "Always", "Always"),
        ("registry.example.com/train:$TAG", "Always", "Always"),
        ("<image>", "IfNotPresent", "IfNotPresent"),
        ("registry.example.com/train", "Always", None),
        ("registry.example.com/train:1", "IfNotPresent", None),
    ],
)
def test_the_pull_policy_of_a_placeholder_is_kept(image: str, policy: str, expected: str | None) -> None:
    made = proof_of(of_container(image=image, imagePullPolicy=policy))
    assert (made.patch, made.remaining) == (None, ())
    assert made.job.fields.get("imagePullPolicy") == expected


def test_defaults_are_left_out() -> None:
    body = deepcopy(EQUAL["jobset"])
    for number, one in enumerate(body["spec"]["replicatedJobs"]):
        one["replicas"] = number + 1
        spec = one["template"]["spec"]["template"]["spec"]
        spec["containers"][0]["env"] = [{"name": "PYTHONUNBUFFERED", "value": "1"}]
        spec["restartPolicy"] = "Never"
    made = proof_of(body)
    assert (made.patch, made.remaining) == (None, ())
    assert not {"env", "restart"} & made.job.fields.keys()
    assert "replicas" not in made.job.fields["roles"].get("driver", {})
    assert next(iter(made.job.fields["roles"]["workers"].items())) == ("replicas", 2)


def test_the_report_names_what_gen_adds(repo: Repository) -> None:
    file = repo.root.parent / "in.yaml"
    file.write_text(json.dumps(indexed(parallelism=10)))
    report, _ = run_import(repo.root, str(file), importer="manifests")
    line = next(one for one in report.summary.splitlines() if one.startswith("team/tasks renders the original"))
    assert line == (
        "team/tasks renders the original; gen adds `backoffLimit: 0`, `env`, `podFailurePolicy`, `ports`, "
        "`subdomain: tasks`, labels and annotations (2)"
    )


@for_each(
    ("resources", "words"),
    [
        ({"requests": {"cpu": 2, "memory": "4Gi"}}, "gen adds limits equal to the requests, `runPolicy`"),
        ({"limits": {"cpu": 2, "memory": "4Gi"}}, "gen adds `runPolicy`"),
    ],
)
def test_the_report_names_limits_that_gen_adds(repo: Repository, resources: dict[str, Any], words: str) -> None:
    file = repo.root.parent / "in.yaml"
    file.write_text(json.dumps(of_container(resources=resources)))
    report, _ = run_import(repo.root, str(file), importer="manifests", namespace="team")
    assert words in next(one for one in report.summary.splitlines() if "renders the original" in one)
    (repo.root / "jobs/team/run.yaml").unlink()


def test_an_autoscaled_cluster_is_in_an_elastic_queue() -> None:
    body = deepcopy(EQUAL["ray"])
    body["metadata"] |= {
        "labels": {"kueue.x-k8s.io/queue-name": "gold"},
        "annotations": {"kueue.x-k8s.io/elastic-job": "true"},
    }
    body["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] = True
    made = proof_of(body)
    assert (made.patch, made.remaining) == (None, ())
    assert made.job.fields["queue"] == "gold-elastic"
    assert made.job.overlay["queues"] == {"gold-elastic": {"kueue": {"localQueue": "gold", "elastic": True}}}


@for_each(
    ("annotations", "topology", "queue"),
    [
        ({"podset-required-topology": "cloud/rack"}, {"required": "cloud/rack"}, "gold-required-rack"),
        ({"podset-preferred-topology": "cloud/block"}, {"preferred": "cloud/block"}, "gold-preferred-block"),
        ({"podset-unconstrained-topology": "true"}, {"unconstrained": True}, "gold-unconstrained"),
        ({}, None, "gold"),
    ],
)
def test_a_topology_is_that_of_a_queue(
    annotations: dict[str, str], topology: dict[str, Any] | None, queue: str
) -> None:
    body = deepcopy(PYTORCH)
    body["metadata"].setdefault("labels", {})["kueue.x-k8s.io/queue-name"] = "gold"
    for replica in body["spec"]["pytorchReplicaSpecs"].values():
        replica["template"].setdefault("metadata", {}).setdefault("annotations", {}).update(
            {f"kueue.x-k8s.io/{key}": value for key, value in annotations.items()}
        )
    made = proof_of(body)
    assert made.patch is None
    assert made.remaining == ()
    assert made.job.fields["queue"] == queue
    assert made.job.overlay["queues"][queue]["kueue"].get("topology") == topology


def test_a_value_of_most_roles_is_that_of_the_job() -> None:
    roles = {name: (1, pod("tensorflow")) for name in ("Master", "Worker", "PS")}
    body = an_object("kubeflow.org/v1", "TFJob", {"tfReplicaSpecs": replicas(**deepcopy(roles))})
    body["spec"]["tfReplicaSpecs"]["PS"]["template"]["spec"]["containers"][0]["image"] = "registry.example.com/ps:1"
    proof = proof_of(body)
    assert (proof.patch, proof.remaining) == (None, ())
    assert proof.job.fields["image"] == IMAGE
    assert proof.job.fields["roles"] == {"master": {}, "ps": {"image": "registry.example.com/ps:1"}}


@for_each("hosts", [("PS",), ("Worker", "PS")])
def test_the_network_of_the_nodes_is_that_of_a_job_if_all_roles_have_it(hosts: tuple[str, ...]) -> None:
    roles = {name: (1, pod("tensorflow")) for name in ("Worker", "PS")}
    body = an_object("kubeflow.org/v1", "TFJob", {"tfReplicaSpecs": replicas(**deepcopy(roles))})
    for name in hosts:
        body["spec"]["tfReplicaSpecs"][name]["template"]["spec"]["hostNetwork"] = True
    proof = proof_of(body)
    assert proof.remaining == ()
    assert proof.job.fields.get("network") == ("host" if len(hosts) == len(roles) else None)
    paths = [one["path"] for one in proof.patch["patch"]] if proof.patch is not None else []
    assert ("/spec/tfReplicaSpecs/PS/template/spec/hostNetwork" in paths) == (len(hosts) < len(roles))
    assert not [one for one in paths if "Worker" in one and "hostNetwork" in one]


def required(*expressions: tuple[str, list[str]]) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": values} for key, values in expressions]}]
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}},
    }


@for_each(
    ("affinity", "selector"),
    [
        (required(("gpu", ["a100"])), {"gpu": "a100"}),
        (required(("gpu", ["a100"]), ("pool", ["a", "b"])), {"gpu": "a100", "pool": ["a", "b"]}),
        (required(("pool", ["a", "b"])), {"pool": ["a", "b"]}),
    ],
)
def test_an_affinity_to_labels_is_a_selector(affinity: dict[str, Any], selector: dict[str, Any]) -> None:
    proof = proof_of(changed(PYTORCH, affinity=affinity))
    assert (proof.patch, proof.remaining) == (None, ())
    assert proof.job.fields["placement"] == {"nodeSelector": selector}


def test_the_account_in_patches_of_a_runtime_is_granted() -> None:
    body = deepcopy(EQUAL["train"])
    pods = {"template": {"spec": {"template": {"spec": {"serviceAccountName": "training"}}}}}
    replicated = {"template": {"spec": {"replicatedJobs": [{"name": "node", **pods}]}}}
    body["spec"]["runtimePatches"] = [{"manager": "example.io/team", "trainingRuntimeSpec": replicated}]
    proof = proof_of(body)
    assert proof.job.grants["serviceAccounts"] == ["training"]
    assert proof.remaining == ()
    assert (proof.patch, proof.job.fields["serviceAccount"]) == (None, "training")


CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "models"}}


@for_each(("modes", "data", "found"), [(["ReadWriteOnce"], None, False), (["ReadWriteMany"], {"models": "/m"}, True)])
def test_a_claim_of_one_role(modes: list[str], data: dict[str, str] | None, found: bool) -> None:
    """All pods of a job have its volumes."""
    master = pod("pytorch", volumeMounts=[{"name": "data", "mountPath": "/m"}])
    master["spec"]["volumes"] = [CLAIM]
    roles = replicas(Master=(1, master), Worker=(2, pod("pytorch")))
    body = an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": roles})
    claim = an_object("v1", "PersistentVolumeClaim", {"accessModes": modes}, name="models")
    proof = proof_of(body, claim)
    assert (proof.job.fields.get("data"), proof.patch is None, proof.remaining) == (data, found, ())
    message = "the limit of the volume `models` to `master` is not carried: all pods of a job have its volumes"
    assert (message in [one.message for one in read(body, claim)[1]]) == found


def test_workers_without_a_master() -> None:
    worker = pod(
        "pytorch",
        command=["torchrun", "--to=run-worker-0:1", "run-worker-2"],
        livenessProbe={"exec": {"command": ["ls"]}},
    )
    body = an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas(Worker=(3, worker))})
    proof = proof_of(body)
    names = {"--to={{ run.id }}-master-0:1", "{{ run.id }}-worker-1"}
    assert (proof.job.fields["workers"], "roles" in proof.job.fields) == ("3", False)
    assert names <= {*proof.job.fields["command"]}
    assert proof.patch is not None
    assert [one["path"].split("/")[3] for one in proof.patch["patch"]] == ["Master", "Worker"]
    assert messages(body) == ["the first pod of `Worker` becomes the role `master`, with rank 0"]


def test_a_cluster_without_groups_has_no_workers() -> None:
    body = deepcopy(EQUAL["ray"])
    del body["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    proof = proof_of(body)
    assert proof.job.fields["roles"]["worker"] == {"replicas": "0"}
    assert (proof.patch, proof.remaining) == (None, ())


@for_each(
    "resource",
    [
        "vpc.amazonaws.com/efa",
        "rdma/hca_shared",
        "openshift.io/sriov_ib",
        "nvidia.com/hostdev",
        "nvidia.com/mlnxnics",
        "amd.com/nic",
    ],
)
def test_devices_of_the_network_train_nothing(resource: str) -> None:
    limits = {"cpu": "4", "memory": "8Gi", resource: 1}
    proof = proof_of(of_container(resources={"limits": limits}))
    assert ("gpus" in proof.job.fields, proof.remaining, proof.patch is None) == (False, (), False)


@for_each("path", ["/data/", "/data/set//"])
def test_a_mount_with_a_slash_at_its_end(path: str) -> None:
    body = of_container(volumeMounts=[{"name": "d", "mountPath": path}])
    template = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    template["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]
    proof = proof_of(body)
    assert (proof.job.fields["data"], proof.patch, proof.remaining) == ({"d": path.rstrip("/")}, None, ())


def test_changes_of_a_runtime() -> None:
    """Beside those of gen, so that a patch must not replace the list."""
    spec = {"serviceAccountName": "sa", "nodeSelector": {"pool": "a"}, "terminationGracePeriodSeconds": 99}
    node = {"name": "node", "template": {"spec": {"template": {"metadata": {"labels": {"a": "b"}}, "spec": spec}}}}
    changes = {"manager": "me.io/x", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [node]}}}}
    body = deepcopy(EQUAL["train"])
    body["spec"]["runtimePatches"] = [changes]
    proof = proof_of(body)
    fields = proof.job.fields
    assert (fields["serviceAccount"], fields["placement"], fields["podLabels"]) == (
        "sa",
        {"nodeSelector": {"pool": "a"}},
        {"a": "b"},
    )
    assert "runtime" not in fields
    assert proof.patch is not None
    assert [one["path"].rpartition("/")[2] for one in proof.patch["patch"]] == ["terminationGracePeriodSeconds"]
    assert proof.remaining == ()


@for_each("form", ["runtimePatches", "podTemplateOverrides", "podSpecOverrides"])
def test_volumes_and_accounts_of_a_runtime_are_fields(form: str) -> None:
    """In the forms of the Trainer 2.2, 2.1 and 2.0; an API server drops those of other releases."""
    spec = {
        "serviceAccountName": "sa",
        "nodeSelector": {"pool": "a"},
        "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}],
        "containers": [{"name": "node", "volumeMounts": [{"name": "d", "mountPath": "/data"}]}],
    }
    node = {"name": "node", "template": {"spec": {"template": {"spec": spec}}}}
    patch = {"manager": "me.io/x", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [node]}}}}
    targets = {"targetJobs": [{"name": "node"}]}
    forms = {"runtimePatches": patch, "podTemplateOverrides": {**targets, "spec": spec}}
    body = deepcopy(EQUAL["train"])
    body["spec"][form] = [forms.get(form, {**targets, **spec})]
    proof = proof_of(body)
    expected = {"serviceAccount": "sa", "placement": {"nodeSelector": {"pool": "a"}}, "data": {"data": "/data"}}
    assert {name: proof.job.fields.get(name) for name in expected} == expected
    assert len(messages(body)) == (form != "runtimePatches")
    for release in ("2.2", "2.1", "2.0"):
        proof = proof_of(body, operators={"train": release})
        assert (proof.patch, proof.remaining) == (None, ())


def test_policies_and_claims_of_volcano_are_fields() -> None:
    body = deepcopy(EQUAL["volcano"])
    policies = [{"event": "PodFailed", "action": "RestartJob", "timeout": "10m"}]
    own = {"mountPath": "/scratch", "volumeClaim": {"accessModes": ["ReadWriteOnce"]}}
    body["spec"] |= {"policies": policies, "volumes": [{"mountPath": "/data", "volumeClaimName": "data"}]}
    proof = proof_of(body)
    fields = proof.job.fields
    assert (fields["data"], fields["policies"]) == ({"data": "/data"}, policies)
    assert (proof.patch, proof.remaining) == (None, ())
    body["spec"]["volumes"].append(own)
    proof = proof_of(body)
    assert proof.job.fields["data"] == {"data": "/data"}
    assert [one.original for one in proof.remaining] == [[own]]


@for_each(("number", "profile"), [(1, {"mig": {"profile": "1g.10gb"}}), (2, {"extended": {"resource": MIG}})])
def test_an_instance_of_mig_is_an_accelerator(number: int, profile: dict[str, Any]) -> None:
    template = pod("main", resources={"limits": {MIG: number}})
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    template["spec"] |= {"restartPolicy": "Never", "tolerations": tolerations}
    proof = proof_of(an_object("batch/v1", "Job", {"backoffLimit": 0, "template": template}))
    assert [*proof.job.overlay["accelerators"].values()] == [profile]
    assert (proof.patch is None, proof.remaining) == (number == 1, ())


@for_each(
    ("amount", "line"),
    [(0.5, "cpu: 0.5"), ("0.5", "cpu: 0.5"), ("1.50", "cpu: '1.50'"), (2, "cpu: 2"), ("500m", "cpu: 500m")],
)
def test_numbers_of_cpus_have_no_quotes(amount: object, line: str) -> None:
    proof = proof_of(of_container(resources={"limits": {"cpu": amount}}))
    assert line in text_of(proof.job, "").splitlines()
    assert (proof.patch, proof.remaining) == (None, ())


def autoscaled() -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": 90}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    policy = {"rdzvBackend": "c10d", "minReplicas": 1, "maxReplicas": 4, "metrics": metrics}
    spec = {"elasticPolicy": policy, "pytorchReplicaSpecs": {"Worker": {"template": pod("pytorch")}}}
    return an_object("kubeflow.org/v1", "PyTorchJob", spec)


def with_autoscaler() -> dict[str, Any]:
    body = ray([], replicas=1, minReplicas=1, maxReplicas=5)
    options = {"idleTimeoutSeconds": 30, "upscalingMode": "Aggressive"}
    body["spec"]["rayClusterSpec"] |= {"enableInTreeAutoscaling": True, "autoscalerOptions": options}
    return body


def of_volcano() -> dict[str, Any]:
    body = deepcopy(EQUAL["volcano"])
    body["spec"]["priorityClassName"] = "high"
    return body


FAILS: dict[str, Any] = {"action": "FailJobSet", "targetReplicatedJobs": ["driver"]}


def of_jobset(name: str = "") -> dict[str, Any]:
    body = deepcopy(EQUAL["jobset"])
    rules = [{**({"name": name} if name else {}), **FAILS}]
    body["spec"]["failurePolicy"] = {"maxRestarts": 0, "rules": rules}
    return body


DISK = {"limits": {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "80Gi"}}


HOST = {"volumes": [{"name": "d", "hostPath": {"path": "/d", "type": ""}}]}


@for_each(
    ("body", "field", "value"),
    [
        (autoscaled(), "elastic", {"min": 1, "max": 4, "backend": "c10d", "cpuUtilization": 90}),
        (with_autoscaler(), "autoscaler", {"idleTimeoutSeconds": 30, "upscalingMode": "Aggressive"}),
        (of_volcano(), "priority", "high"),
        (of_jobset("mine"), "failurePolicy", {"rules": [{"name": "mine", **FAILS}]}),
        (of_jobset("rule0"), "failurePolicy", {"rules": [FAILS]}),
        (of_jobset(), "failurePolicy", {"rules": [FAILS]}),
        (of_container(resources=DISK), "disk", "80Gi"),
        (changed(of_container(), serviceAccount="trainer"), "serviceAccount", "trainer"),
        (changed(of_container(), serviceAccountName="default"), "serviceAccount", None),
        (changed(of_container(volumeMounts=[{"name": "d", "mountPath": "/d"}]), **HOST), "data", {"d": "/d"}),
    ],
)
def test_fields_in_place_of_patches(body: dict[str, Any], field: str, value: object) -> None:
    proof = proof_of(body)
    assert (proof.job.fields.get(field), proof.patch, proof.remaining) == (value, None, ())


def test_disk_with_another_request_is_a_patch() -> None:
    resources = {"limits": {"ephemeral-storage": "80Gi"}, "requests": {"ephemeral-storage": "8Gi"}}
    assert "disk" not in proof_of(of_container(resources=resources)).job.fields


QUEUE = "kueue.x-k8s.io/queue-name"


def test_a_second_folder_of_a_claim_is_a_volume_of_its_own() -> None:
    mounts = [
        {"name": "data", "mountPath": "/a", "subPath": "a"},
        {"name": "data", "mountPath": "/b", "subPath": "b", "readOnly": True},
    ]
    proof = proof_of(changed(of_container(volumeMounts=mounts), volumes=[CLAIM]))
    second = {"path": "/b", "subPath": "b", "readOnly": True}
    assert proof.job.fields["data"] == {"models": {"path": "/a", "subPath": "a"}, "models-2": second}
    assert proof.job.overlay["volumes"] == {name: {"claim": "models"} for name in ("models", "models-2")}
    assert (proof.patch, proof.remaining) == (None, ())


def test_a_volume_with_a_name_of_gen_gets_another() -> None:
    shm = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    proof = proof_of(changed(of_container(volumeMounts=[{"name": "shm", "mountPath": "/dev/shm"}]), volumes=shm))  # noqa: S108 - in a pod
    assert (proof.job.fields["data"], proof.patch) == ({"volume-shm": "/dev/shm"}, None)  # noqa: S108 - in a pod


def test_every_role_with_a_port_of_a_name_is_reported() -> None:
    roles = replicas(Master=(1, pod("pytorch", ports=[HTTP])), Worker=(1, pod("pytorch", ports=[HTTP])))
    body = an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": roles})
    assert messages(body) == ["the port `http` is not carried: pods reach each other without it"] * 2


def test_a_refused_patch_takes_no_others_with_it() -> None:
    template = pod("main", volumeMounts=[{"name": "c", "mountPath": "/c"}], resources={"requests": {"rdma/ib": "x"}})
    template["spec"] |= {"restartPolicy": "Never", "volumes": [{"name": "c", "configMap": {"name": "settings"}}]}
    proof = proof_of(an_object("batch/v1", "Job", {"template": template}))
    of_pod = "/spec/template/spec"
    assert proof.patch is not None
    kept = [f"{of_pod}/containers/0/volumeMounts", f"{of_pod}/volumes"]
    assert [one["path"] for one in proof.patch["patch"]] == kept
    (left,) = proof.remaining
    assert left.route[-1] == "resources"
    assert list(proof.refused) == [f"{of_pod}/containers/0/resources"]


@for_each(
    ("metadata", "of_run", "queue", "message"),
    [
        ({}, {QUEUE: "user"}, "user", ""),
        ({QUEUE: "user"}, {}, None, f"`{QUEUE}: user` is not carried: only the queue of the run admits it"),
    ],
)
def test_the_queue_of_a_schedule_is_that_of_its_runs(
    metadata: dict[str, str], of_run: dict[str, str], queue: str | None, message: str
) -> None:
    template = {"metadata": {"labels": of_run}, "spec": job()["spec"]}
    body = an_object(
        "batch/v1",
        "CronJob",
        {"schedule": "0 3 * * *", "concurrencyPolicy": "Forbid", "jobTemplate": template},
        labels=metadata,
    )
    proof = proof_of(body)
    assert (proof.job.fields.get("queue"), proof.patch, proof.remaining) == (queue, None, ())
    assert messages(body) == ([message] if message else [])


NONE = {"requests": {"nvidia.com/gpu": 0, "rdma/ib": 0}, "limits": {"nvidia.com/gpu": "0", "rdma/ib": 0}}


@for_each(
    "body",
    [
        of_container(securityContext={"privileged": False}),
        of_container(resources=NONE),
        changed(of_container(tty=False, stdin=False), hostPID=False, hostIPC=False, securityContext={}),
    ],
    ids=["not-privileged", "no-devices", "switched-off"],
)
def test_values_that_change_nothing_need_no_patch(body: dict[str, Any]) -> None:
    proof = proof_of(body)
    assert (proof.patch, proof.remaining, "gpus" in proof.job.fields) == (None, (), False)


def test_a_context_with_another_value_is_a_patch() -> None:
    context = {"privileged": False, "runAsUser": 1000}
    assert operations(of_container(securityContext=context)) == {"containers/0/securityContext": context}


@for_each(("name", "field"), [("mpi-v1", "slotsPerWorker"), ("volcano", "queue")])
def test_defaults_of_operators_are_no_additions(name: str, field: str) -> None:
    body = deepcopy(EQUAL[name])
    body["spec"].pop(field, None)
    assert not [one for one in proof_of(body).added if one.startswith(f"`{field}:")]


def test_tasks_of_volcano_without_a_name_have_that_of_its_webhook() -> None:
    body = deepcopy(EQUAL["volcano"])
    first = {key: value for key, value in body["spec"]["tasks"][0].items() if key != "name"}
    body["spec"] |= {"tasks": [first, {**first, "replicas": 3}], "minAvailable": 1, "plugins": {}}
    proof = proof_of(body)
    assert [*proof.job.fields["roles"]] == ["default0", "default1"]
    assert (proof.patch, proof.remaining) == (None, ())


def test_containers_mount_the_volumes_of_the_operator() -> None:
    body = deepcopy(EQUAL["mpi-v1"])
    body["apiVersion"] = "kubeflow.org/v2beta1"
    mounts = [{"name": "mpi-job-config", "mountPath": "/etc/mpi"}, {"name": "ssh-auth", "mountPath": "/root/.ssh"}]
    waits = {"name": "wait", "image": "busybox:1", "volumeMounts": mounts}
    body["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["initContainers"] = [waits]
    proof = proof_of(body)
    assert proof.remaining == ()
    assert proof.patch is not None
