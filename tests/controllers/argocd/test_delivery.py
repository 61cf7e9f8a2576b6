"""What becomes of files: applied, retried, kept in sync, and delivered from one installation on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.controllers.argocd.applications import errors
from tests.controllers.argocd.delivery import DATA, GIVEN, JOB, Delivery, deleted, quiet

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body


def test_installation(delivery: Delivery) -> None:
    """Projects are there before what needs them, so that nothing waits for the next interval of minutes."""
    delivery.job(JOB)
    delivery.commit()
    delivery.install()
    delivery.settles("Progressing", seconds=60)
    (message,) = errors(delivery.application() or {})
    assert message.startswith("successfully synced"), "`all tasks run`, or `no more tasks` if it looked once more"

    delivery.argo.kubectl("delete", "-f", str(delivery.bundle))
    quiet()
    assert delivery.run() is not None, "without its bundle, Argo CD changes nothing"


WITH_DATA = JOB + DATA


def test_life(delivery: Delivery) -> None:
    """A job is added, healed, edited, retired and removed; its volume stays."""
    delivery.change(volumes=GIVEN)
    delivery.job(WITH_DATA)
    delivery.commit()
    delivery.install()
    delivery.settles("Progressing")
    first, data = delivery.wait_for_run(), delivery.wait(lambda: storage(delivery), "volume and claim")

    delivery.delete(first)
    healed = delivery.wait(lambda: other_than(delivery, uid(first)), "run that is created again")
    assert healed["metadata"]["name"] == first["metadata"]["name"]
    delivery.settles("Progressing")
    delivery.patch(healed, {"metadata": {"labels": {"gen/job": "demo", "app.kubernetes.io/managed-by": "somebody"}}})
    delivery.wait(
        lambda: delivery.wait_for_run()["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "gen", "label of Git"
    )

    delivery.job(WITH_DATA + "env: {LR: '1'}\n")
    delivery.commit()
    second = delivery.wait(lambda: other_than(delivery, uid(healed)), "new run")
    assert second["metadata"]["name"] != first["metadata"]["name"]
    delivery.settles("Progressing")
    assert uid(delivery.wait_for_run()) == uid(second), "the old run is gone"

    delivery.job(WITH_DATA + "env: {LR: '1'}\nstate: finished\n")
    delivery.commit()
    delivery.settles("Healthy")
    delivery.delete(second)
    quiet()
    assert delivery.run() is None, "a finished run that is gone stays gone"

    delivery.job(WITH_DATA + "env: {LR: '1'}\n")
    delivery.commit()
    delivery.wait(lambda: other_than(delivery, uid(second)), "run that starts again")
    delivery.job(WITH_DATA + "env: {LR: '1'}\nstate: stopped\n")
    delivery.commit()
    delivery.wait(lambda: delivery.run() is None, "end of the stopped run")
    quiet()
    assert delivery.run() is None, "the record of a stopped run is not applied"

    (delivery.repository.root / f"jobs/{delivery.name}/demo.yaml").unlink()
    delivery.commit()
    delivery.wait(lambda: delivery.application() is None, "end of the Application")
    quiet()
    assert storage(delivery) == data

    delivery.job(WITH_DATA)
    delivery.commit()
    delivery.settles("Progressing")
    assert storage(delivery) == data


def uid(body: Body) -> str:
    return str(body["metadata"]["uid"])


def other_than(delivery: Delivery, known: str) -> Body | None:
    body = delivery.run()
    return body if body is not None and uid(body) != known else None


def storage(delivery: Delivery) -> dict[str, str]:
    """Kind to uid of the claims and volumes of the namespace, once there is one of each."""
    live = delivery.argo.cluster.live
    claims = live("", "PersistentVolumeClaim", delivery.name)
    volumes = [one for one in live("", "PersistentVolume", "") if one["metadata"]["name"].startswith(delivery.name)]
    return {body["kind"]: uid(body) for body in (*claims, *volumes)} if claims and volumes else {}


def test_edit(delivery: Delivery) -> None:
    """The old run is deleted before the new one is created, which does not wait for its end."""
    delivery.job(JOB.replace("batch", "pytorch"))
    delivery.commit()
    delivery.install()
    delivery.follow()
    old = delivery.wait_for_run()
    delivery.patch(old, {"metadata": {"finalizers": ["example.com/pods"]}})
    delivery.job(JOB.replace("batch", "pytorch") + "env: {LR: '1'}\n")
    delivery.commit()
    new = delivery.wait(lambda: other_than(delivery, uid(old)), "new run")
    ending = delivery.live(old)
    assert deleted(ending)
    assert revision(ending) < revision(new)
    delivery.patch(ending, {"metadata": {"finalizers": None}})
    delivery.follow()
    assert list(delivery.runs().values()) == [uid(new)]
    delivery.rests()


def revision(body: Body) -> int:
    """When the object was changed last: revisions of all objects of a server have one order."""
    return int(body["metadata"]["resourceVersion"])


def test_late_namespace(delivery: Delivery) -> None:
    """A namespace that is created after some minutes gets its run without another commit, and not without a message."""
    late = f"{delivery.name}-b"
    delivery.grant(late, create=False)
    delivery.job(JOB, namespace=late)
    delivery.commit()
    delivery.install()
    delivery.wait(lambda: refused(delivery, late), "message after five attempts", seconds=400)
    delivery.argo.cluster.add_namespaces([late])
    delivery.wait(lambda: delivery.run(namespace=late), "run", seconds=240)
    delivery.settles("Progressing", namespace=late)


def refused(delivery: Delivery, namespace: str) -> bool:
    """Whether Argo CD reports that it cannot apply the files of an Application that is there."""
    said = any(f"{namespace}.demo: its files could not be applied" in text for text in delivery.messages)
    return delivery.application(namespace=namespace) is not None and said


def test_new_namespace(delivery: Delivery) -> None:
    """It gets its Applications by itself, but the applied projects decide their permissions."""
    delivery.job(JOB)
    delivery.commit()
    delivery.install()
    delivery.settles("Progressing")

    other = f"{delivery.name}-b"
    delivery.grant(other)
    delivery.job(JOB, namespace=other)
    delivery.commit()
    delivery.wait(lambda: delivery.application(namespace=other), "Application")
    delivery.wait(lambda: errors(delivery.application(namespace=other) or {})[:-1], "message")
    found = delivery.application(namespace=other) or {}
    assert "not permitted in project" in errors(found)[0] or "do not match" in errors(found)[0], errors(found)
    assert delivery.run(namespace=other) is None

    delivery.apply()
    delivery.settles("Progressing", namespace=other)
    assert delivery.run(namespace=other) is not None
