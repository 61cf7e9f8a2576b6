"""What becomes of files: applied, retried, kept in sync, and delivered from one installation on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.controllers.argocd.delivery import JOB, Delivery, errors, quiet, state

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes import Body

QUEUED = "kind: {kind}\nimage: registry.example.com/train:1\ncommand: python train.py\ngpus: 1\nqueue: research\n"
FLAVOUR = {"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}


def test_installation(delivery: Delivery) -> None:
    """Projects are there before what needs them, so that nothing waits for the next interval of minutes."""
    delivery.job(JOB)
    delivery.commit()
    delivery.install()
    delivery.settles("Progressing", seconds=60)
    assert errors(delivery.application() or {}) == ["successfully synced (all tasks run)"]

    delivery.argo.kubectl("delete", "-f", str(delivery.bundle))
    quiet()
    assert delivery.run() is not None, "without its bundle, Argo CD changes nothing"


VOLUME = "{nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}}"
WITH_DATA = JOB + "data: {nas: /data}\n"


def test_life(delivery: Delivery) -> None:
    """A job is added, healed, edited, retired and removed; its volume stays."""
    delivery.settings["volumes"] = VOLUME
    delivery.write_overlay()
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
    """Whether Argo CD has said that it cannot apply the files of an Application that is there."""
    said = any(f"{namespace}.demo: its files could not be applied" in text for text in delivery.messages)
    return delivery.application(namespace=namespace) is not None and said


def test_new_namespace(delivery: Delivery) -> None:
    """It gets its Applications by itself, but what they may do is up to whoever applies the projects."""
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


@pytest.mark.parametrize("kind", ["batch", "pytorch", "tensorflow", "mpi"])
def test_queue(delivery: Delivery, kind: str) -> None:
    """Kueue adds the tolerations of its flavour to those of gen. Both belong to the same atomic list."""
    delivery.grant(delivery.name, "{queues: [research]}")
    delivery.job(QUEUED.format(kind=kind))
    delivery.commit()
    edited = create_suspended(delivery, kind)
    delivery.push()
    delivery.install()
    delivery.settles("Suspended" if kind == "batch" else "Progressing")
    admit(delivery, kind)
    edited.unlink()
    delivery.commit()
    quiet()
    delivery.settles("Progressing")
    quiet()
    assert state(delivery.application() or {})[1] == "Synced"
    assert all(FLAVOUR in spec["tolerations"] for spec in pod_specs(delivery.wait_for_run()))

    delivery.job(QUEUED.format(kind=kind) + "labels: {cost-center: a}\n")
    delivery.commit()
    delivery.wait(lambda: delivery.wait_for_run()["metadata"]["labels"].get("cost-center") == "a", "label")
    delivery.settles("Progressing")
    assert all(FLAVOUR in spec["tolerations"] for spec in pod_specs(delivery.wait_for_run()))


def create_suspended(delivery: Delivery, kind: str) -> Path:
    """What the webhook of Kueue does with a new run: here the file says it, until the run is there."""
    (path,) = delivery.repository.root.glob(f"rendered/{delivery.name}/jobs/{delivery.name}/demo/*job-demo.yaml")
    body = yaml.safe_load(path.read_bytes())
    (body["spec"] if kind == "batch" else body["spec"]["runPolicy"])["suspend"] = True
    path.write_text(yaml.safe_dump(body), "utf-8")
    return path


def admit(delivery: Delivery, kind: str) -> None:
    """What Kueue does with a run when there is room: it adds the fields of the flavour and resumes the run."""
    body = delivery.wait_for_run()
    for spec in pod_specs(body):
        spec["tolerations"] = [*spec.get("tolerations", []), FLAVOUR]
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), "pool": "spot"}
    assert pod_specs(body)
    delivery.patch(body, {"spec": body["spec"]})
    suspend(delivery, kind, suspended=False)


def suspend(delivery: Delivery, kind: str, *, suspended: bool) -> None:
    field: dict[str, Any] = {"suspend": suspended}
    delivery.patch(delivery.wait_for_run(), {"spec": field if kind == "batch" else {"runPolicy": field}})


def pod_specs(body: Any) -> list[Body]:
    """Specs of all pod templates, wherever they are."""
    if isinstance(body, list):
        return [found for item in body for found in pod_specs(item)]
    if not isinstance(body, dict):
        return []
    here = [body["spec"]] if "containers" in body.get("spec", {}) else []
    return here or [found for value in body.values() for found in pod_specs(value)]
