"""Groups of pods that start together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from gen.commands.new import job_text
from gen.job.kinds import KINDS
from gen.job.queue import Gang
from gen.overlay.profiles.queues import QUEUES
from tests.cases import for_each
from tests.overlay.profiles.queues.examples import PAIRS, declared, group_size, is_refused, queued

if TYPE_CHECKING:
    from tests.support import Repository

GANGS = [pair for pair in PAIRS if issubclass(QUEUES[pair[1]], Gang) and not is_refused(*pair)]


@for_each(("kind", "name"), [pair for pair in GANGS if pair[0] not in ("ray", "mpi")])
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
        ("ray", "autoscaler: true\n", "queue `gold` takes only runs of a fixed size, and `autoscaler` changes it"),
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
