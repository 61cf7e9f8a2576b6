"""The life of a repository under Argo CD from one installation on: nothing drifts, runs twice, or loses data."""

from __future__ import annotations

from tests.controllers.argocd.applications import state
from tests.controllers.argocd.delivery import DATA, GIVEN, JOB, Delivery, deleted, quiet

PYTORCH = (
    "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py --lr {lr}\n"
    "workers: 2\ntimeout: 12h\ntensorboard: {{logdir: /data/runs}}\ndata: {{nas: /data}}\n"
)


def test_states_of_a_job(delivery: Delivery) -> None:
    delivery.change(volumes=GIVEN)
    delivery.job(JOB, "other")
    delivery.job(PYTORCH.format(lr=1))
    delivery.start()
    first = delivery.runs()
    delivery.rests()

    delivery.job(PYTORCH.format(lr=2))
    delivery.merge()
    runs = delivery.runs()
    assert len(first.items() & runs.items()) == 1, "only the edited job has another run"
    assert len(runs) == 2
    delivery.rests()

    for value in ("suspended", "active"):
        delivery.job(PYTORCH.format(lr=2) + f"state: {value}\n")
        delivery.merge()
        run = delivery.wait_for_run()
        assert run["spec"]["runPolicy"].get("suspend", False) is (value == "suspended")
        assert delivery.runs() == runs
        delivery.rests()

    delivery.job(PYTORCH.format(lr=2) + "state: finished\n")
    delivery.merge()
    assert delivery.runs() == runs
    delivery.delete(delivery.wait_for_run())
    delivery.rests()
    (other,) = delivery.runs()

    delivery.remove()
    delivery.merge()
    assert list(delivery.runs()) == [other]
    delivery.job(PYTORCH.format(lr=2))
    delivery.merge()
    # the run appeared after the new Application had reported that it is in sync
    delivery.wait(lambda: delivery.runs().keys() == runs.keys(), "run of the job that is there again")
    assert delivery.runs()[other] == runs[other]
    delivery.rests()


def test_namespaces(delivery: Delivery) -> None:
    """The first and the last job of a namespace and of the repository need no apply.

    The overlay lists the kind under `operators`, as documented; otherwise the project does not permit it.
    """
    delivery.change(operators="{batch: batch/v1}")
    other = f"{delivery.name}-b"
    delivery.grant(other)
    delivery.start(allow_empty=True)
    delivery.job(JOB, "one")
    delivery.merge()
    own = delivery.runs()
    assert len(own) == 1
    delivery.job(JOB, "two", other)
    delivery.merge()
    assert len(delivery.runs(other)) == 1
    delivery.rests()
    delivery.remove("two", other)
    delivery.merge()
    assert delivery.runs(other) == {}
    assert delivery.runs() == own
    delivery.remove("one")
    delivery.merge(allow_empty=True)
    assert delivery.runs() == {}
    delivery.rests()
    delivery.job(JOB, "two", other)
    delivery.merge()
    assert len(delivery.runs(other)) == 1


def test_hand_edits(delivery: Delivery) -> None:
    """They are undone, and no run starts again."""
    delivery.change(volumes=GIVEN)
    delivery.job(PYTORCH.format(lr=1))
    delivery.start()
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
    """Nothing changes, not even after a push, and everything continues when it is back."""
    delivery.change(volumes=GIVEN)
    delivery.job(JOB + DATA)
    delivery.start()
    delivery.wait(delivery.bound, "bound claim")
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
    delivery.start()
    own = delivery.runs()
    for number in range(200):
        delivery.job(JOB + f"env: {{SEED: {number}}}\n", f"job-{number}")
    delivery.commit()
    delivery.follow(seconds=540)
    runs = delivery.runs()
    assert len(runs) == 201
    assert own.items() <= runs.items()
    delivery.rests()
