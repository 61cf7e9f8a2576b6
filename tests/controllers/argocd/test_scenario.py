"""The life of a repository under Argo CD from one installation on: nothing drifts, runs twice, or loses data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.controllers.argocd.delivery import JOB, deleted, errors, quiet, state
from tests.controllers.provisioned import provision

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from tests.controllers.argocd.delivery import Delivery

DATA = "data: {nas: /data}\n"
GIVEN = "{nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}}"
PYTORCH = (
    "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py --lr {lr}\n"
    "workers: 2\ntimeout: 12h\ntensorboard: {{logdir: /data/runs}}\ndata: {{nas: /data}}\n"
)


def start(delivery: Delivery, **options: bool) -> None:
    delivery.commit(**options)
    delivery.install()
    delivery.follow()


def merge(delivery: Delivery, **options: bool) -> None:
    delivery.commit(**options)
    delivery.follow()


def test_states_of_a_job(delivery: Delivery) -> None:
    delivery.change(volumes=GIVEN)
    delivery.job(JOB, "other")
    delivery.job(PYTORCH.format(lr=1))
    start(delivery)
    first = delivery.runs()
    delivery.rests()

    delivery.job(PYTORCH.format(lr=2))
    merge(delivery)
    runs = delivery.runs()
    assert len(first.items() & runs.items()) == 1, "only the edited job has another run"
    assert len(runs) == 2
    delivery.rests()

    for value in ("suspended", "active"):
        delivery.job(PYTORCH.format(lr=2) + f"state: {value}\n")
        merge(delivery)
        run = delivery.wait_for_run()
        assert run["spec"]["runPolicy"].get("suspend", False) is (value == "suspended")
        assert delivery.runs() == runs
        delivery.rests()

    delivery.job(PYTORCH.format(lr=2) + "state: finished\n")
    merge(delivery)
    assert delivery.runs() == runs
    delivery.delete(delivery.wait_for_run())
    delivery.rests()
    (other,) = delivery.runs()

    delivery.remove()
    merge(delivery)
    assert list(delivery.runs()) == [other]
    delivery.job(PYTORCH.format(lr=2))
    merge(delivery)
    assert delivery.runs().keys() == runs.keys()
    assert delivery.runs()[other] == runs[other]
    delivery.rests()


def test_namespaces(delivery: Delivery) -> None:
    """The first and the last job of a namespace and of the repository need no apply.

    The overlay lists the kind under `operators`, as the documentation says; otherwise the project does not permit it.
    """
    delivery.change(operators="{batch: batch/v1}")
    other = f"{delivery.name}-b"
    delivery.grant(other)
    start(delivery, allow_empty=True)
    delivery.job(JOB, "one")
    merge(delivery)
    own = delivery.runs()
    assert len(own) == 1
    delivery.job(JOB, "two", other)
    merge(delivery)
    assert len(delivery.runs(other)) == 1
    delivery.rests()
    delivery.remove("two", other)
    merge(delivery)
    assert delivery.runs(other) == {}
    assert delivery.runs() == own
    delivery.remove("one")
    merge(delivery, allow_empty=True)
    assert delivery.runs() == {}
    delivery.rests()
    delivery.job(JOB, "two", other)
    merge(delivery)
    assert len(delivery.runs(other)) == 1


def test_volumes(delivery: Delivery) -> None:
    """The first and the last volume need no apply and lose no data."""
    delivery.job(JOB, "one")
    start(delivery)
    own = delivery.runs()
    delivery.change(volumes=GIVEN)
    delivery.job(JOB + DATA, "two")
    merge(delivery)
    delivery.wait(lambda: bound(delivery), "bound claim")
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
    assert bound(delivery)
    assert delivery.runs() == own

    delivery.job(JOB + DATA, "two")
    merge(delivery)
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


def claim(delivery: Delivery) -> Body | None:
    found = delivery.argo.cluster.live("", "PersistentVolumeClaim", delivery.name)
    return found[0] if found else None


def bound(delivery: Delivery) -> bool:
    return bool((claim(delivery) or {}).get("status", {}).get("phase") == "Bound")


def requested(delivery: Delivery) -> str:
    return str((claim(delivery) or {})["spec"]["resources"]["requests"]["storage"])


def of_class(delivery: Delivery, size: str) -> None:
    delivery.change(volumes=f"{{nas: {{size: {size}, storageClass: {delivery.name}}}}}")


def test_growing(delivery: Delivery) -> None:
    provision(delivery.argo.cluster, delivery.name, delivery.name, "nas", resizable=True)
    of_class(delivery, "10Gi")
    delivery.job(JOB + DATA)
    start(delivery)
    delivery.wait(lambda: bound(delivery), "bound claim")
    runs, data = delivery.runs(), volumes(delivery)
    of_class(delivery, "20Gi")
    merge(delivery)
    assert requested(delivery) == "20Gi"
    assert (delivery.runs(), volumes(delivery)) == (runs, data)
    delivery.rests()


def test_rejected_growth(delivery: Delivery) -> None:
    """The class does not allow it, which gen cannot know: a message, and no job waits for it."""
    provision(delivery.argo.cluster, delivery.name, delivery.name, "nas", resizable=False)
    of_class(delivery, "10Gi")
    delivery.job(JOB + DATA)
    start(delivery)
    delivery.wait(lambda: bound(delivery), "bound claim")
    runs = delivery.runs()
    of_class(delivery, "20Gi")
    delivery.job(JOB, "two")
    delivery.commit()
    delivery.settles("Progressing", "two")
    delivery.wait(lambda: "resize" in " ".join(errors(storage_application(delivery))), "message")
    assert runs.items() <= delivery.runs().items()
    assert requested(delivery) == "10Gi"


def test_hand_edits(delivery: Delivery) -> None:
    """They are undone, and no run starts again."""
    delivery.change(volumes=GIVEN)
    delivery.job(PYTORCH.format(lr=1))
    start(delivery)
    runs, live = delivery.runs(), delivery.argo.cluster.live
    delivery.patch(delivery.wait_for_run(), {"spec": {"runPolicy": {"cleanPodPolicy": "All"}}})
    (board,) = live("apps", "Deployment", delivery.name)
    (container,) = board["spec"]["template"]["spec"]["containers"]
    edited = [{**container, "image": "registry.example.com/another:1"}]
    delivery.patch(board, {"spec": {"template": {"spec": {"containers": edited}}}})
    (service,) = live("", "Service", delivery.name)
    delivery.delete(service)
    delivery.wait(lambda: delivery.wait_for_run()["spec"]["runPolicy"]["cleanPodPolicy"] == "Running", "policy of Git")
    delivery.wait(lambda: image(delivery) == container["image"], "image of Git")
    delivery.wait(lambda: [one for one in live("", "Service", delivery.name) if not deleted(one)], "Service")
    delivery.follow()
    assert delivery.runs() == runs
    delivery.rests()


def image(delivery: Delivery) -> str:
    (board,) = delivery.argo.cluster.live("apps", "Deployment", delivery.name)
    return str(board["spec"]["template"]["spec"]["containers"][0]["image"])


def test_git_server_away(delivery: Delivery) -> None:
    """Nothing changes, not even what was pushed meanwhile, and everything goes on when it is back."""
    delivery.change(volumes=GIVEN)
    delivery.job(JOB + DATA)
    start(delivery)
    delivery.wait(lambda: bound(delivery), "bound claim")
    before, names = delivery.seen(), {one["metadata"]["name"] for one in delivery.applications()}
    delivery.git.away = True
    try:
        delivery.job(JOB, "two")
        delivery.commit()
        quiet()
        delivery.wait(lambda: state(delivery.application() or {})[1] == "Unknown", "comparison that failed")
        quiet()
        assert delivery.seen() == before
        assert {one["metadata"]["name"] for one in delivery.applications()} == names
        assert [text for text in delivery.messages if f"{delivery.name}." in text] == []
    finally:
        delivery.git.away = False
    # an ApplicationSet looks again three minutes after an error (`ReconcileRequeueOnValidationError`)
    delivery.follow(seconds=270)
    after = delivery.seen()
    assert len(delivery.runs()) == 2
    assert before.items() <= after.items()
    delivery.rests()


def test_200_jobs(delivery: Delivery) -> None:
    """All at once."""
    delivery.job(JOB, "first")
    start(delivery)
    own = delivery.runs()
    for number in range(200):
        delivery.job(JOB + f"env: {{SEED: {number}}}\n", f"job-{number}")
    delivery.commit()
    delivery.follow(seconds=540)
    runs = delivery.runs()
    assert len(runs) == 201
    assert own.items() <= runs.items()
    delivery.rests()
