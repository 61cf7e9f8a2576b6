"""Health of runs in Argo CD, and its notifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.controllers.argocd.applications import state
from tests.controllers.argocd.delivery import JOB, Delivery, quiet

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body

PYTORCH = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
BOARD = PYTORCH + "data: {data: /data}\ntensorboard: true\n"


def ended(delivery: Delivery, condition: str, job: str = "demo") -> None:
    """Status that an operator writes at the end of a run."""
    now = "2026-01-01T00:00:00Z"
    changed = {"lastTransitionTime": now, "lastUpdateTime": now, "status": "True", "type": condition}
    body = delivery.wait_for_run(job)
    delivery.patch(body, {"status": {"conditions": [changed]}}, status=True)


def said(delivery: Delivery, words: str) -> list[str]:
    return [text for text in delivery.messages if text.startswith(f"{delivery.name}.") and words in text]


def health(delivery: Delivery, job: str = "demo") -> str:
    body = delivery.application(job)
    return state(body)[0] if body else ""


def test_resumed(delivery: Delivery) -> None:
    """A Job that was resumed has the condition Suspended with status False for the rest of its life."""
    delivery.job(JOB + "state: suspended\n")
    delivery.commit()
    delivery.install()
    delivery.settles("Suspended")

    delivery.job(JOB)
    delivery.commit()

    def resumed() -> bool:
        conditions = delivery.wait_for_run().get("status", {}).get("conditions", [])
        return any((one["type"], one["status"]) == ("Suspended", "False") for one in conditions)

    delivery.wait(resumed, "resumed Job")
    delivery.settles("Progressing")
    quiet()
    assert health(delivery) == "Progressing"
    assert said(delivery, "succeeded") == []


def test_suspended_by_hand(delivery: Delivery) -> None:
    """No engine undoes it: Kueue does the same to runs in a namespace with a default queue."""
    delivery.job(PYTORCH)
    delivery.commit()
    delivery.install()
    delivery.settles("Progressing")
    run = delivery.wait_for_run()
    delivery.patch(run, {"spec": {"runPolicy": {"suspend": True}}})
    quiet()
    assert delivery.wait_for_run()["spec"]["runPolicy"]["suspend"] is True
    assert delivery.settles("Progressing")["status"]["sync"]["status"] == "Synced"


def test_tensorboard(delivery: Delivery) -> None:
    """A run does not fail if its TensorBoard does not start, and a failure of the run is still reported."""
    delivery.change(volumes="{data: {claim: data}}")
    delivery.job(BOARD)
    delivery.commit()
    delivery.install()
    delivery.settles("Progressing")
    (board,) = delivery.argo.cluster.live("apps", "Deployment", delivery.name)
    late = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "late"}
    delivery.patch(board, {"status": {"conditions": [late]}}, status=True)
    quiet()
    assert health(delivery) == "Progressing"
    assert said(delivery, "failed") == []

    ended(delivery, "Failed")
    delivery.settles("Degraded")
    (message,) = delivery.wait(lambda: said(delivery, "its run failed"), "message")
    assert "<no value>" not in message


def test_messages(delivery: Delivery) -> None:
    """Once for each run that ended, and never for one that was not created or that is being replaced."""
    delivery.job(PYTORCH)
    delivery.commit()
    path = f"rendered/{delivery.name}/jobs/{delivery.name}/broken/pytorchjob-broken.yaml"
    broken = delivery.repository.write(path, "a: [\n")
    delivery.push()
    delivery.install()
    delivery.settles("Progressing")
    delivery.wait(lambda: delivery.application("broken"), "Application")
    quiet()
    assert said(delivery, "succeeded") == []
    broken.unlink()

    ended(delivery, "Failed")
    delivery.wait(lambda: said(delivery, "demo: its run failed"), "message")
    delivery.job(PYTORCH + "env: {LR: '1'}\n")
    delivery.commit()
    delivery.settles("Progressing")
    quiet()
    assert len(said(delivery, "demo: its run failed")) == 1
    ended(delivery, "Failed")
    delivery.wait(lambda: len(said(delivery, "demo: its run failed")) == 2, "second message")

    delivery.job(PYTORCH + "env: {LR: '2'}\n")
    delivery.commit()
    delivery.settles("Progressing")
    ended(delivery, "Succeeded")
    (message,) = delivery.wait(lambda: said(delivery, "demo: its run succeeded"), "message")
    assert "<no value>" not in message
    assert len(said(delivery, "failed")) == 2


def test_no_second_message(delivery: Delivery) -> None:
    """A run that has ended is not announced again, by no later change, nor when it is retired."""
    delivery.job(PYTORCH)
    delivery.commit()
    delivery.install()
    delivery.settles("Progressing")
    ended(delivery, "Failed")
    delivery.wait(lambda: said(delivery, "demo: its run failed"), "message")
    delivery.job(PYTORCH + "labels: {cost-center: a}\n")
    delivery.merge()
    assert delivery.wait_for_run()["metadata"]["labels"]["cost-center"] == "a"
    quiet()
    delivery.change(images="[{from: registry.example.com, to: mirror.example.com}]")
    delivery.merge()
    quiet()
    delivery.job(PYTORCH + "labels: {cost-center: a}\nstate: finished\n")
    delivery.merge()
    if (run := delivery.run()) is not None:
        delivery.delete(run)
    quiet()
    assert len(said(delivery, "")) == 1, said(delivery, "")


def test_messages_of_a_schedule(delivery: Delivery) -> None:
    """One for each of its runs, and none before the first one or for an edit."""
    schedule = JOB + "schedule: 0 3 * * *\n"
    delivery.job(schedule)
    delivery.commit()
    delivery.install()
    delivery.settles("Suspended")
    quiet()
    assert said(delivery, "") == []
    night(delivery, {"lastScheduleTime": "2026-01-01T03:00:00Z"}, "Degraded")
    delivery.wait(lambda: said(delivery, "demo: its run failed"), "message")
    delivery.job(schedule + "labels: {cost-center: a}\n")
    delivery.merge()
    quiet()
    assert len(said(delivery, "")) == 1
    night(delivery, {"lastScheduleTime": "2026-01-02T03:00:00Z"}, "Degraded")
    delivery.wait(lambda: len(said(delivery, "demo: its run failed")) == 2, "message about the second night")
    good = {"lastScheduleTime": "2026-01-03T03:00:00Z", "lastSuccessfulTime": "2026-01-03T04:00:00Z"}
    night(delivery, good, "Healthy")
    delivery.wait(lambda: said(delivery, "demo: its run succeeded"), "message about the third night")
    quiet()
    assert len(said(delivery, "")) == 3


def night(delivery: Delivery, status: Body, end: str) -> None:
    """Status that the controller of CronJobs writes at the start of a run, and at its end."""
    (body,) = delivery.argo.cluster.live("batch", "CronJob", delivery.name)
    started = {"lastScheduleTime": status["lastScheduleTime"], "active": [{"name": "a"}]}
    delivery.patch(body, {"status": started}, status=True)
    delivery.settles("Progressing")
    delivery.patch(body, {"status": {**status, "active": None}}, status=True)
    delivery.settles(end)
