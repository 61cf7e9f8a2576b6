"""CronWorkflows: runs at their times, one at a time, and their end with the schedule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.controllers.waiting import give_time, wait

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body
    from tests.controllers.argo_workflows.world import World

JOB = """\
kind: pytorch
image: a:1
command: train --out /data/{{ run.id }}
timeout: 1h
"""


def runs(world: World) -> dict[str, Body]:
    return world.objects("PyTorchJob", "kubeflow.org")


def first_run(world: World) -> str:
    (name,) = world.wait(lambda: runs(world), "run at its time")
    return name


def test_a_minutely_schedule_starts_one_run_at_a_time(world: World) -> None:
    schedule = world.render(f'{JOB}schedule: "* * * * *"\n')
    assert schedule["kind"] == "CronWorkflow"
    name = first_run(world)
    assert re.fullmatch(r"demo-\d{10}", name)
    assert int(name.removeprefix("demo-")) % 60 == 0, "at the beginning of a minute"
    (workflow,) = world.objects("Workflow", "argoproj.io").values()
    assert workflow["metadata"]["name"] == name
    (pod,) = world.training_pods("master")
    assert pod["spec"]["containers"][0]["command"][-1] == f"train --out /data/{name}"
    world.kubelet.run(pod)
    give_time(65)
    assert set(runs(world)) == {name}, "`Forbid` omits the runs of other minutes"
    world.kubelet.succeed(pod)
    world.reaches(workflow, "Succeeded")
    second = world.wait(lambda: set(runs(world)) - {name}, "run after the first has ended")
    assert len(second) == 1
    assert (name, "Succeeded") in world.messages()
    world.delete(schedule)
    wait(lambda: not world.objects("Workflow", "argoproj.io"), "deletion of the workflows")
    wait(lambda: not runs(world), "deletion of the runs")


KEPT = """\
patches:
- {target: {kind: CronWorkflow}, patch: [{op: replace, path: /spec/failedJobsHistoryLimit, value: 1}]}
"""


@pytest.mark.parametrize(("overlay", "goes_on"), [("", False), (KEPT, True)], ids=["deleted", "kept"])
def test_the_next_run_replaces_the_previous_one(world: World, overlay: str, *, goes_on: bool) -> None:
    """It would go on as long as its failed workflow is kept."""
    world.overlay(overlay)
    world.render(f'{JOB}schedule: {{cron: "@every 30s", concurrency: Replace}}\n')
    name = first_run(world)
    world.kubelet.run(*world.training_pods("master"))
    world.wait(lambda: set(runs(world)) - {name}, "next run")
    give_time(10)
    assert (name in runs(world)) is goes_on
    assert name not in dict(world.messages()), "its end sends no message"
    if goes_on:
        assert world.objects("Workflow", "argoproj.io")[name]["status"]["phase"] == "Failed"


def test_a_suspended_schedule_starts_nothing_and_its_run_goes_on(world: World) -> None:
    text = f'{JOB}schedule: "@every 10s"\n'
    schedule = world.render(text)
    name = first_run(world)
    world.render(f"{text}state: suspended\n")
    (pod,) = world.training_pods("master")
    world.kubelet.run(pod)
    world.kubelet.succeed(pod)
    world.reaches({**schedule, "kind": "Workflow", "metadata": {**schedule["metadata"], "name": name}}, "Succeeded")
    give_time(15)
    assert set(runs(world)) == {name}


def test_a_pipeline_with_a_schedule(world: World) -> None:
    world.render(
        "kind: pipeline\nimage: a:1\nschedule: '@every 20s'\nsteps:\n"
        "  first: {kind: pytorch, command: 'x {{ run.id }}', results: {best: best}}\n"
        "  second: {kind: batch, command: 'y {{ steps.first.results.best }}', needs: [first]}\n"
    )
    name = first_run(world)
    assert re.fullmatch(r"demo-\d{10}-first", name)
    run = name.removesuffix("-first")
    (pod,) = world.training_pods("first")
    assert pod["spec"]["containers"][0]["command"][-1] == f"x {run}"
    world.node.bind(pod, "best=3\n")
    world.kubelet.run(pod)
    world.kubelet.succeed(pod)
    (second,) = world.succeed("second")
    assert second["spec"]["containers"][0]["command"][-1] == "y 3"
    world.wait(lambda: (run, "Succeeded") in world.messages(), "message")
    assert len([one for one in runs(world) if one == name]) == 1
