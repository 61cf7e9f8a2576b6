"""Volumes under Flux: their size, rejected changes, and claims that were deleted by hand."""

from __future__ import annotations

import pytest

from tests.controllers.flux.world import BATCH, DATA, VOLUMES, World, until
from tests.controllers.provisioned import provision
from tests.controllers.waiting import give_time

CLASS = "volumes: {{nas: {{size: {size}, storageClass: {name}}}}}\n"


def provisioned(world: World, *, resizable: bool) -> None:
    """A claim of the overlay, and what its provisioner would create for it."""
    provision(world.cluster, world.name, world.name, "nas", resizable=resizable)
    world.overlay(CLASS.format(size="10Gi", name=world.name))


def requested(world: World) -> str:
    size: str = world.live("PersistentVolumeClaim")["nas"]["spec"]["resources"]["requests"]["storage"]
    return size


def test_a_volume_of_a_class_grows(world: World) -> None:
    provisioned(world, resizable=True)
    world.job("one", BATCH + DATA)
    world.start()
    world.binds("nas")
    runs = world.runs()
    world.overlay(CLASS.format(size="20Gi", name=world.name))
    world.merge()
    assert requested(world) == "20Gi"
    assert world.runs() == runs
    world.rests()


def test_a_claim_that_the_cluster_rejects_stops_no_job(world: World) -> None:
    """Its class does not allow it to grow, which gen cannot know."""
    provisioned(world, resizable=False)
    world.job("one", BATCH + DATA)
    world.start()
    world.binds("nas")
    runs = world.runs()
    other = f"{world.name}-2"
    world.grant(other)
    world.overlay(CLASS.format(size="20Gi", name=world.name))
    world.job("two", BATCH)
    world.job("three", BATCH + DATA, other)
    world.push()
    world.poll()
    until(lambda: "" if len(world.runs()) == 2 and len(world.runs(other)) == 1 else "the new runs are missing")
    until(lambda: "" if "nas" in world.live("PersistentVolumeClaim", other) else "the claim of the other namespace")
    until(lambda: "" if world.ready(f"{world.name}.storage.{world.name}")["status"] == "False" else "no error")
    assert "resize" in world.ready(f"{world.name}.storage.{world.name}")["message"]
    assert runs.items() <= world.runs().items()
    assert requested(world) == "10Gi"


def test_a_given_volume_keeps_its_size(world: World) -> None:
    """What `immutable-storage` prevents: the server rejects the claim, and takes other changes of the volume."""
    world.overlay(VOLUMES)
    world.job("one", BATCH + DATA)
    world.start()
    world.binds("nas")
    world.overlay(VOLUMES.replace("10Gi", "20Gi"))
    assert [finding.code for finding in world.repo.render()[0].findings] == ["immutable-storage"]
    larger = {"spec": {"resources": {"requests": {"storage": "20Gi"}}}}
    response = world.cluster.client.merge(world.path("PersistentVolumeClaim", "nas"), larger)
    assert response.status == 403
    assert "only dynamically provisioned pvc can be resized" in response.message
    world.overlay(VOLUMES.replace("10Gi", "10Gi, zone: a, mountOptions: [nolock]"))
    world.merge()
    assert [body["spec"]["mountOptions"] for body in world.volumes().values()] == [["nolock"]]
    assert all("nodeAffinity" in body["spec"] for body in world.volumes().values())
    world.rests()


@pytest.mark.parametrize("recovered", [True, False])
def test_a_claim_that_was_deleted_by_hand_is_recovered(world: World, *, recovered: bool) -> None:
    """By the documented patch; without it the new claim waits forever."""
    world.overlay(VOLUMES)
    world.job("one", BATCH + DATA)
    world.start()
    world.binds("nas")
    (name,) = world.volumes()
    uid = world.volumes()[name]["metadata"]["uid"]
    # the controllers of protection keep a claim that a pod uses
    for pod in world.live("Pod"):
        world.cluster.client.delete(f"{world.path('Pod', pod)}?gracePeriodSeconds=0")
    world.remove("one")
    world.job("two", BATCH)
    world.merge()
    until(lambda: "" if len(world.live("Pod")) == 1 else "pods")
    world.delete("PersistentVolumeClaim", "nas")
    world.job("one", BATCH + DATA)
    world.merge()
    give_time()
    assert world.bound() == set()
    if recovered:
        path = world.path("PersistentVolume", name)
        response = world.cluster.client.merge(path, {"spec": {"claimRef": {"uid": None, "resourceVersion": None}}})
        assert response.status == 200, response.message
        world.binds("nas")
        assert world.volumes()[name]["metadata"]["uid"] == uid
        world.rests()
    else:
        world.intervals()
        give_time()
        assert world.bound() == set()
