"""The same server refuses objects that are slightly wrong: an acceptance elsewhere is worth something."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest

from tests.e2e.objects import all_rendered, pod_templates

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

    Change = Callable[[Body], object]

RENDERED = all_rendered()

_TOO_MUCH = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}

JOBS: dict[str, tuple[Change, str]] = {
    "misspelt field": (lambda job: job["spec"].update(runPolcy={}), 'unknown field "spec.runPolcy"'),
    "misspelt field inside": (lambda job: job["spec"]["runPolicy"].update(suspended=True), "runPolicy.suspended"),
    "wrong type": (lambda job: job["spec"]["runPolicy"].update(backoffLimit="3"), "must be of type integer"),
    "label value": (lambda job: job["metadata"]["labels"].update(team="a b"), "a valid label must be"),
    "name": (lambda job: job["metadata"].update(name="Upper_Case"), "a lowercase RFC 1123 subdomain"),
    "namespace that is not there": (lambda job: job["metadata"].update(namespace="nowhere"), '"nowhere" not found'),
}

PODS: dict[str, tuple[Change, str]] = {
    "misspelt field": (lambda pod: _container(pod).update(comand=["sh"]), "spec.containers[0].comand"),
    "wrong type": (lambda pod: _container(pod).update(env=[{"name": "A", "value": 1}]), "cannot unmarshal number"),
    "quantity": (lambda pod: _container(pod).update(resources={"limits": {"cpu": "1 core"}}), "quantities must match"),
    "request over limit": (lambda pod: _container(pod).update(resources=_TOO_MUCH), "less than or equal to cpu limit"),
    "label value": (lambda pod: pod["metadata"]["labels"].update(team="a b"), "a valid label must be"),
    "mount of no volume": (lambda pod: pod["spec"].update(volumes=[]), "volumeMounts[0].name: Not found"),
    "mount path twice": (lambda pod: _container(pod).update(volumeMounts=_mounts(pod) * 2), "must be unique"),
}


def a_job() -> Body:
    """A training job, of any kind of the training operator: they have the run policy in common."""
    return next(one.body for one in RENDERED if one.body["apiVersion"] == "kubeflow.org/v1")


def a_pod() -> Body:
    """A pod with a volume mounted."""
    pods = (template.pod() for one in RENDERED for template in pod_templates(one))
    return next(pod for pod in pods if "volumeMounts" in _container(pod))


@pytest.mark.parametrize(("change", "reason"), JOBS.values(), ids=JOBS)
def test_the_server_refuses_a_job(change: Change, reason: str, cluster: Cluster) -> None:
    _assert_refused_once_changed(a_job(), change, reason, cluster)


@pytest.mark.parametrize(("change", "reason"), PODS.values(), ids=PODS)
def test_the_server_refuses_a_pod(change: Change, reason: str, cluster: Cluster) -> None:
    _assert_refused_once_changed(a_pod(), change, reason, cluster)


def test_each_version_of_mpijob_has_a_schema_of_its_own(cluster: Cluster) -> None:
    """The cluster serves the versions of two operators under one name; see `read_definitions`."""
    job = next(one.body for one in RENDERED if one.body["apiVersion"] == "kubeflow.org/v2beta1")
    job = {**job, "spec": {**job["spec"], "sshAuthMountPath": "/root/.ssh"}}
    _assert_refused_once_changed(
        job, lambda body: body.update(apiVersion="kubeflow.org/v1"), "spec.sshAuthMountPath", cluster
    )


def test_the_server_refuses_a_duplicate_key(cluster: Cluster) -> None:
    rendered = next(one for one in RENDERED if one.body["kind"] == "PersistentVolumeClaim")
    response = cluster.try_to_create_file(rendered.body, rendered.text + b"kind: PersistentVolumeClaim\n")
    assert response.status == 400
    assert 'key "kind" already set' in response.message


def _assert_refused_once_changed(body: Body, change: Change, reason: str, cluster: Cluster) -> None:
    before = cluster.try_to_create(body)
    assert before.status == 201, before.message
    changed = copy.deepcopy(body)
    change(changed)
    response = cluster.try_to_create(changed)
    assert response.status in {400, 404, 422}
    assert reason in response.message


def _container(pod: Body) -> Body:
    container: Body = pod["spec"]["containers"][0]
    return container


def _mounts(pod: Body) -> list[Body]:
    mounts: list[Body] = _container(pod)["volumeMounts"]
    return mounts
