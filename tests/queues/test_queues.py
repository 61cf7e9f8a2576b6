"""Every scheduler of queues with every kind: what is rendered, or the refusal."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.commands.new import job_text
from gen.kinds import KINDS
from gen.queues import QUEUES, QueueProfile
from gen.queues.base import Gang
from gen.resources import resource_of_object
from gen.resources.pods import follow, pod_sets
from tests.history import History, branch
from tests.support import OVERLAY, validated

if TYPE_CHECKING:
    from tests.support import Repository

FRAMEWORKS = [f"kubeflow.org/{kind}job" for kind in ("jax", "paddle", "pytorch", "tf", "xgboost")]
EXAMPLES: dict[str, dict[str, Any]] = {
    "ack": {},
    "coscheduling": {},
    "kueue": {"localQueue": "research", "frameworks": FRAMEWORKS},
    "volcano": {"queue": "research"},
    "yunikorn": {"queue": "root.research"},
}
PAIRS = [(kind, name) for kind in KINDS if not KINDS[kind].own_fields for name in EXAMPLES]


def profile(name: str) -> QueueProfile:
    return QUEUES[name].model_validate(EXAMPLES[name])


def declared(name: str, fields: dict[str, Any] | None = None, /, **more: Any) -> str:
    """An overlay with one queue `gold`."""
    queue = {name: EXAMPLES[name] if fields is None else fields}
    document = {"kubernetes": "1.34", "queues": {"gold": queue}, "namespaces": {"team": {"queues": ["gold"]}}, **more}
    return yaml.safe_dump(document, sort_keys=False)


def is_refused(kind: str, name: str) -> bool:
    facts = KINDS[kind].facts
    return profile(name).refusal(facts, facts.api_version(facts.served[0])) is not None


def queued(repo: Repository, kind: str, more: str = "") -> dict[str, Any]:
    """The rendered workload of a job in the queue `gold`."""
    repo.job(job_text(kind, with_schema=False) + "queue: gold\n" + more)
    facts = KINDS[kind].facts
    return next(one for one in repo.objects() if (one["apiVersion"], one["kind"]) == (served(kind), facts.kind))


def served(kind: str) -> str:
    facts = KINDS[kind].facts
    return facts.api_version(facts.served[0])


def test_every_scheduler_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(QUEUES)


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_a_kind_is_queued_or_refused(kind: str, name: str, repo: Repository) -> None:
    repo.overlay(declared(name))
    if is_refused(kind, name):
        repo.job(job_text(kind, with_schema=False) + "queue: gold\n")
        errors = [one for one in repo.render()[0].findings if one.severity == "error"]
        assert [one.code for one in errors] == ["unsupported-queue"]
        assert f"queue `gold` with `{name}` cannot take" in errors[0].message
        return
    body = queued(repo, kind)
    assert body["metadata"]["labels"]["gen/queue"] == "gold"
    assert validated(repo.root / "rendered")[1] == 0
    size = group_size(body, repo.objects())
    if name == "kueue":
        assert body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
        assert size is None
    elif size is not None:
        assert size == sum(count for count, _ in members(body))
    elif kind != "ray":  # KubeRay counts them
        pytest.fail("no group")


def test_the_pairs_that_are_refused() -> None:
    refused = {pair for pair in PAIRS if is_refused(*pair)}
    gangs = {name for name in QUEUES if issubclass(QUEUES[name], Gang)}
    volcano = {("volcano", name) for name in QUEUES if name != "volcano"}
    assert refused == volcano | {("train", name) for name in gangs}


def members(body: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    facts = resource_of_object(body["apiVersion"], body["kind"])
    assert facts is not None
    found = []
    for one in pod_sets(facts, body):
        number = 1
        for count in one.counts:
            number *= count
        found.append((number, one.template))
    return found


def group_size(body: dict[str, Any], objects: list[dict[str, Any]]) -> int | None:
    """The size of the group as its scheduler reads it; None without a group."""
    templates = [template for _, template in members(body)]
    metadata = [template["metadata"] for template in templates]
    for group in objects:
        if group["kind"] == "PodGroup":
            name = group["metadata"]["name"]
            for one in metadata:
                joined = one["labels"].get("scheduling.x-k8s.io/pod-group")
                assert name in (joined, one.get("annotations", {}).get("scheduling.k8s.io/group-name"))
            return int(group["spec"]["minMember"])
    policy = follow(body, ("spec", "runPolicy", "schedulingPolicy")) or {}
    size = policy.get("minAvailable") or body["spec"].get("minAvailable")
    for one in metadata:
        if "yunikorn.apache.org/task-groups" in one.get("annotations", {}):
            groups = json.loads(one["annotations"]["yunikorn.apache.org/task-groups"])
            assert one["annotations"]["yunikorn.apache.org/task-group-name"] in {group["name"] for group in groups}
            size = sum(group["minMember"] for group in groups)
        size = one["labels"].get("pod-group.scheduling.sigs.k8s.io/min-available", size)
    return None if size is None else int(size)


GANGS = [pair for pair in PAIRS if issubclass(QUEUES[pair[1]], Gang) and not is_refused(*pair)]


@pytest.mark.parametrize(("kind", "name"), [pair for pair in GANGS if pair[0] not in ("ray", "mpi")])
def test_one_pod_is_a_group(kind: str, name: str, repo: Repository) -> None:
    repo.overlay(declared(name))
    text = {key: value for key, value in KINDS[kind].example.items() if key not in ("workers", "plugins", "roles")}
    more = "plugins: {}\n" if kind == "volcano" else ""
    repo.job(yaml.safe_dump({"kind": kind, **text}) + "queue: gold\n" + more)
    body = next(one for one in repo.objects() if one["kind"] == KINDS[kind].facts.kind)
    assert group_size(body, repo.objects()) == 1


@pytest.mark.parametrize("name", sorted(name for name in QUEUES if name != "kueue"))
def test_a_gang_starts_without_suspension_and_can_be_suspended(name: str, repo: Repository) -> None:
    flux = {"gitops": {"flux": {"repoURL": "https://git.example.com/a.git"}}}
    repo.overlay(declared(name, **flux))
    body = queued(repo, "batch")
    assert "suspend" not in body["spec"]
    assert "annotations" not in body["metadata"], "Flux applies what Git changes"
    assert queued(repo, "batch", "state: suspended\n")["spec"]["suspend"] is True


def test_kueue_suspends_and_git_does_not(repo: Repository) -> None:
    repo.overlay(declared("kueue"))
    assert "suspend" not in queued(repo, "batch")["spec"]
    repo.job(job_text("batch", with_schema=False) + "queue: gold\nstate: suspended\n")
    assert "suspended-in-queue" in repo.codes()


def test_a_launcher_is_in_the_group_and_not_created_later(repo: Repository) -> None:
    repo.overlay(declared("volcano"))
    body = queued(repo, "mpi")
    assert "launcherCreationPolicy" not in body["spec"]
    assert body["spec"]["runPolicy"]["schedulingPolicy"] == {"queue": "research", "minAvailable": 3}


@pytest.mark.parametrize("name", ["ack", "coscheduling", "yunikorn"])
def test_a_submitter_is_not_in_the_group_of_its_cluster(name: str, repo: Repository) -> None:
    repo.overlay(declared(name))
    body = queued(repo, "ray", "submissionMode: K8sJobMode\n")
    submitter = body["spec"]["submitterPodTemplate"]["metadata"]
    grouped = {"scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io/name"}
    assert not grouped & submitter["labels"].keys()
    assert "annotations" not in submitter


def test_placeholders_of_yunikorn_need_what_the_pods_need(repo: Repository) -> None:
    repo.overlay(declared("yunikorn"))
    more = "cpu: 250m\nmemory: 1Gi\nplacement: {zone: [a, b], instanceType: p5}\n"
    more += "code: {git: https://git.example.com/a.git, ref: 0123456789012345678901234567890123456789}\n"
    template = queued(repo, "batch", more)["spec"]["template"]
    (group,) = json.loads(template["metadata"]["annotations"]["yunikorn.apache.org/task-groups"])
    assert group["minResource"] == {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}, "git-sync needs more CPU"
    assert group["nodeSelector"] == template["spec"]["nodeSelector"]
    assert group["affinity"] == template["spec"]["affinity"]
    assert group["tolerations"] == template["spec"]["tolerations"]


@pytest.mark.parametrize(("limit", "workers", "size"), [(2, 3, 2), (4, 3, 3), (1, 1, 1)])
def test_a_queue_limits_the_pods_that_start_together(limit: int, workers: int, size: int, repo: Repository) -> None:
    repo.overlay(declared("coscheduling", {"minAvailable": limit}))
    repo.job(f"kind: jobset\nimage: a:1\ncommand: x\nqueue: gold\nworkers: {workers}\n")
    (group,) = [one for one in repo.objects() if one["kind"] == "PodGroup"]
    assert group["spec"]["minMember"] == size


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        (
            "jobset",
            "startupPolicy: InOrder\n",
            "the roles of a queue that starts all pods together cannot start in order",
        ),
        (
            "jobset",
            "roles: {a: {}, b: {dependsOn: {a: Ready}}}\n",
            "the pods of a queue that starts all together cannot wait for another role",
        ),
        ("ray", "autoscaler: true\n", "a queue takes only Ray clusters of a fixed size"),
    ],
)
def test_pods_that_are_created_later_are_refused(kind: str, more: str, message: str, repo: Repository) -> None:
    repo.overlay(declared("ack"))
    text = {key: value for key, value in KINDS[kind].example.items() if key != "workers" or "roles" not in more}
    repo.job(yaml.safe_dump({"kind": kind, **text}) + "queue: gold\n" + more)
    assert message in [one.message for one in repo.render()[0].findings]


def test_the_group_of_an_operator_has_no_place_for_some_settings(repo: Repository) -> None:
    repo.overlay(declared("volcano", {"queue": "a", "minAvailable": 2}))
    repo.job(job_text("ray", with_schema=False) + "queue: gold\n")
    (error,) = [one for one in repo.render()[0].findings if one.severity == "error"]
    assert error.message.endswith("its operator has no setting for `minAvailable` of the queue")


def test_an_accelerator_needs_the_scheduler_of_the_queue(repo: Repository) -> None:
    accelerators = {"accelerators": {"npu": {"ascend": "910B"}}}
    repo.job("kind: batch\nimage: a:1\ncommand: x\ngpus: 1\nqueue: gold\n")
    repo.overlay(declared("volcano", **accelerators))
    assert "invalid-value" not in repo.codes()
    repo.overlay(declared("yunikorn", **accelerators))
    messages = [one.message for one in repo.render()[0].findings]
    assert "queue `gold` schedules pods with `yunikorn`, but those with GPUs need `volcano`" in messages


def test_mpi_of_v1_is_not_queued_by_kueue(repo: Repository) -> None:
    for overlay in (declared("kueue"), OVERLAY):
        operators = "operators: {mpi: kubeflow.org/v1}\n"
        repo.overlay(overlay + operators)
        queue = "gold" if overlay is not OVERLAY else "research"
        repo.job(job_text("mpi", with_schema=False) + f"queue: {queue}\n")
        assert "unsupported-queue" in repo.codes()


def test_a_queue_of_a_run_is_part_of_its_identity(repo: Repository) -> None:
    names = set()
    for fields in ({"localQueue": "a"}, {"localQueue": "b"}, {"localQueue": "a", "priorityClass": "p"}):
        repo.overlay(declared("kueue", fields))
        shutil.rmtree(repo.root / "rendered", ignore_errors=True)  # a committed run keeps its queue
        names.add(queued(repo, "batch")["metadata"]["name"])
    assert len(names) == 3


@pytest.mark.parametrize(
    ("name", "kind", "patch", "what"),
    [
        ("volcano", "Job", "{spec: {template: {spec: {schedulerName: other}}}}", "selects another scheduler"),
        ("ack", "Job", "{spec: {template: {spec: {schedulerName: other}}}}", "selects another scheduler"),
        (
            "coscheduling",
            "Job",
            "{spec: {template: {metadata: {labels: {scheduling.x-k8s.io/pod-group: other}}}}}",
            "changes `scheduling.x-k8s.io/pod-group`",
        ),
        (
            "kueue",
            "Job",
            "{metadata: {labels: {kueue.x-k8s.io/queue-name: other}}}",
            "changes `kueue.x-k8s.io/queue-name`",
        ),
    ],
)
def test_no_patch_takes_a_run_out_of_its_queue(name: str, kind: str, patch: str, what: str, repo: Repository) -> None:
    patches = {"patches": [{"target": {"kind": kind}, "patch": yaml.safe_load(patch)}]}
    repo.overlay(declared(name, **patches))
    repo.job("kind: batch\nimage: a:1\ncommand: x\nqueue: gold\n")
    (error,) = [one for one in repo.render()[0].findings if one.severity == "error"]
    assert error.code == "patch-breaks"
    assert what in error.message


def test_a_patch_may_add_what_kueue_also_reads(repo: Repository) -> None:
    patch = {"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": "60"}}}
    repo.overlay(declared("kueue", patches=[{"target": {"kind": "Job"}, "patch": patch}]))
    assert queued(repo, "batch")["metadata"]["labels"].items() >= patch["metadata"]["labels"].items()


@pytest.mark.parametrize(
    "key",
    [
        "kueue.x-k8s.io/priority-class",
        "pod-group.scheduling.sigs.k8s.io/name",
        "queue",
        "scheduling.k8s.io/group-name",
        "scheduling.volcano.sh/queue-name",
        "scheduling.x-k8s.io/pod-group",
        "yunikorn.apache.org/queue",
    ],
)
def test_no_job_sets_what_a_scheduler_reads(key: str, repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\nnamespaces: {"*": {metadata: ["*"]}}\n')
    for field in ("labels", "podLabels", "podAnnotations"):
        repo.job(f"kind: batch\nimage: a:1\ncommand: x\n{field}: {{{key}: other}}\n")
        assert "reserved-metadata" in repo.codes()


def test_argo_cd_ignores_differences_only_where_kueue_makes_them(repo: Repository) -> None:
    argocd = {"gitops": {"argocd": {"repoURL": "https://git.example.com/a.git"}}}
    expected = {"kueue": True, "volcano": False}
    for name, ignored in expected.items():
        repo.overlay(declared(name, **argocd))
        queued(repo, "batch")
        files = repo.rendered()
        applications = files["argocd/dev/applications/applicationset-dev-jobs.yaml"]
        assert ("ignoreDifferences" in applications) is ignored
        assert ("PodGroup" in "".join(text for path, text in files.items() if "appproject" in path)) is not ignored


def test_a_committed_run_keeps_its_queue(repo: Repository) -> None:
    repo.overlay(declared("kueue", {"localQueue": "a", "priorityClass": "low"}))
    before = queued(repo, "batch")
    repo.overlay(declared("kueue", {"localQueue": "b", "priorityClass": "high"}))
    assert queued(repo, "batch")["metadata"] == before["metadata"]
    repo.overlay(declared("volcano"))
    assert queued(repo, "batch") == before


def test_a_run_in_a_queue_that_is_declared_later_stays_the_same_run(repo: Repository) -> None:
    repo.job(job_text("batch", with_schema=False) + "queue: research\n")
    repo.overlay('kubernetes: "1.34"\nnamespaces: {team: {queues: [research]}}\n')
    before = repo.one("Job")
    repo.overlay(declared("kueue").replace("gold", "research"))
    assert "kept-run-not-granted" not in repo.codes()
    after = repo.one("Job")
    assert after["metadata"]["labels"].pop("gen/queue") == "research"
    assert after == before


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_plan_shows_the_queue_of_the_job_and_holds_its_gpus_against_the_quota(name: str, history: History) -> None:
    granted = {"namespaces": {"team": {"queues": ["gold"], "gpus": 3}}}
    history.overlay(declared(name, **granted))
    branch(history)
    history.job("kind: batch\nimage: a:1\ncommand: x\nworkers: 2\ngpus: 2\ntimeout: 1h\nqueue: gold\n")
    assert [finding.code for finding in history.render()[0].findings] == ["over-quota"]
    granted["namespaces"]["team"]["gpus"] = 4
    history.overlay(declared(name, **granted))
    history.rendering()
    review = history.plan()
    assert review.findings == ()
    (run,) = review.runs
    assert (run.latest.queue, run.latest.demand.gpus) == ("gold", 4)
    (usage,) = review.usage
    assert (usage.key.queue, usage.after.gpus) == ("gold", 4)
