"""Volumes under Argo CD: the first and the last one, their size, and rejected changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.controllers.argocd.applications import errors, state
from tests.controllers.argocd.delivery import DATA, GIVEN, JOB, Delivery, quiet
from tests.controllers.provisioned import provision

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body


def test_volumes(delivery: Delivery) -> None:
    """The first and the last volume need no apply and lose no data."""
    delivery.job(JOB, "one")
    delivery.start()
    own = delivery.runs()
    delivery.change(volumes=GIVEN)
    delivery.job(JOB + DATA, "two")
    delivery.merge()
    delivery.wait(delivery.bound, "bound claim")
    data = volumes(delivery)
    assert len(data) == 2
    delivery.rests()

    delivery.remove("two")
    delivery.commit(prune_storage=True)
    assert not (delivery.repository.root / f"rendered/{delivery.name}/storage").exists()
    delivery.wait(lambda: len(delivery.runs()) == 1, "end of the run")
    application = storage_application(delivery)
    delivery.wait(lambda: "path does not exist" in " ".join(errors(delivery.live(application))), "message")
    delivery.delete(application)
    delivery.wait(lambda: delivery.get("applications", application["metadata"]["name"]) is None, "end of it")
    quiet()
    assert volumes(delivery) == data
    assert delivery.bound()
    assert delivery.runs() == own

    delivery.job(JOB + DATA, "two")
    delivery.merge()
    assert volumes(delivery) == data
    assert own.items() <= delivery.runs().items()
    delivery.rests()


def storage_application(delivery: Delivery) -> Body:
    found = delivery.get("applications", f"{delivery.name}-storage.{delivery.name}")
    assert found is not None
    return found


def volumes(delivery: Delivery) -> dict[str, str]:
    """Objects with data, and their uids."""
    return {name: uid for name, (uid, *_) in delivery.seen().items() if name.startswith("PersistentVolume")}


def requested(delivery: Delivery) -> str:
    return str((delivery.claim() or {})["spec"]["resources"]["requests"]["storage"])


def of_class(delivery: Delivery, size: str) -> None:
    delivery.change(volumes=f"{{nas: {{size: {size}, storageClass: {delivery.name}}}}}")


def test_growing(delivery: Delivery) -> None:
    provision(delivery.argo.cluster, delivery.name, delivery.name, "nas", resizable=True)
    of_class(delivery, "10Gi")
    delivery.job(JOB + DATA)
    delivery.start()
    delivery.wait(delivery.bound, "bound claim")
    runs, data = delivery.runs(), volumes(delivery)
    of_class(delivery, "20Gi")
    delivery.merge()
    assert requested(delivery) == "20Gi"
    assert (delivery.runs(), volumes(delivery)) == (runs, data)
    delivery.rests()


def test_rejected_growth(delivery: Delivery) -> None:
    """The class does not allow it, which gen cannot know: a message, and no job waits for it."""
    provision(delivery.argo.cluster, delivery.name, delivery.name, "nas", resizable=False)
    of_class(delivery, "10Gi")
    delivery.job(JOB + DATA)
    delivery.start()
    delivery.wait(delivery.bound, "bound claim")
    runs = delivery.runs()
    of_class(delivery, "20Gi")
    delivery.job(JOB, "two")
    delivery.commit()
    delivery.wait(lambda: "resize" in " ".join(errors(storage_application(delivery))), "message")
    delivery.settles("Progressing", "two")
    assert state(storage_application(delivery))[1] == "OutOfSync"
    assert runs.items() <= delivery.runs().items()
    assert requested(delivery) == "10Gi"
