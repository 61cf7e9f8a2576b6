"""Plans compared with Flux over random histories, objects that the server refuses, and another layout of jobs."""

from __future__ import annotations

import json
import random
import shlex

import pytest

from gen.commands.move import Request as MoveRequest
from gen.commands.move import run as move
from tests.controllers.flux.world import BATCH, KUSTOMIZATIONS, World

PYTORCH = BATCH.replace("batch", "pytorch")
KINDS = {"batch": BATCH, "pytorch": PYTORCH}
STATES = ("", "", "state: suspended\n", "state: finished\n", "labels: {a: b}\n")


def active(world: World) -> dict[str, str]:
    """Name and uid of every run that is not suspended."""
    found = world.live("PyTorchJob", group="kubeflow.org") | world.live("Job", group="batch")
    bodies = found.values()
    return {
        body["metadata"]["name"]: body["metadata"]["uid"]
        for body in bodies
        if not body["spec"].get("suspend") and not body["spec"].get("runPolicy", {}).get("suspend")
    }


def planned(world: World) -> tuple[set[str], set[str]]:
    """Names of the runs that start and stop when the work tree is merged."""
    review = world.repo.plan(base="HEAD")
    started = {run.after.name for run in review.starting if run.after is not None}
    stopped = {run.before.name for run in review.stopping if run.before is not None}
    return started, stopped


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("naming", ["hash", "stable"])
def test_runs_start_and_stop_as_the_plan_says(lone_world: World, naming: str, seed: int) -> None:
    world, chance = lone_world, random.Random(f"{naming} {seed}")  # noqa: S311
    world.overlay(f"runs: {{naming: {naming}}}\n" if naming == "stable" else "")
    world.job("keep", BATCH)
    world.start()
    for step in range(8):
        for name in chance.sample(["one", "two", "three"], 2):
            if chance.random() < 0.2:
                (world.repo.root / f"jobs/{world.name}/{name}.yaml").unlink(missing_ok=True)
                continue
            kind = KINDS["pytorch" if name == "two" else "batch"]
            world.job(name, kind + f"env: {{SEED: {chance.randrange(3)}}}\n" + chance.choice(STATES))
        world.repo.rendering()
        before, (started, stopped) = active(world), planned(world)
        world.repo.git("add", "--all")
        world.repo.git("commit", "--quiet", "--allow-empty", "--message", f"step {step}")
        world.repo.git("push", "-q", "origin", "main")
        refused = world.settle()
        after = active(world)
        began = {name for name, uid in after.items() if before.get(name) != uid}
        ended = {name for name, uid in before.items() if after.get(name) != uid}
        assert (began, ended) == (started, stopped), f"step {step}: {refused}"
        clean(world, refused)


def clean(world: World, refused: list[str]) -> None:
    """Runs that have ended leave the cluster, and those that Flux cannot change give way to Git."""
    for run in world.repo.plan(base="HEAD").runs:
        record = run.latest.state.value == "finished"
        if record or any(name.endswith(f".{run.job}") for name in refused):
            kind, group = run.key.kind, run.key.group
            if run.key.name in world.live(kind, group=group):
                world.delete(kind, run.key.name, group)
    if refused:
        world.intervals()
        world.follow()


def test_an_object_that_the_cluster_refuses_stops_no_other_job(lone_world: World) -> None:
    """The cluster serves no JobSet."""
    world = lone_world
    for name in ("stays", "goes"):
        world.job(name, BATCH)
    world.start()
    (stays,) = [name for name in world.runs() if name.startswith("stays")]
    world.job("bad", BATCH.replace("batch", "jobset"))
    world.job("good", BATCH)
    world.remove("goes")
    world.push()
    assert world.settle() == [f"{world.name}.jobs.{world.name}.bad"]
    assert sorted(name.partition("-")[0] for name in world.runs()) == ["good", "stays"]
    assert stays in world.runs()
    world.remove("bad")
    world.merge()
    world.rests()


def test_jobs_leave_the_kustomization_of_their_namespace_without_a_restart(lone_world: World) -> None:
    """With the commands of `gen move`, from the layout of earlier versions."""
    world = lone_world
    for name in ("one", "two"):
        world.job(name, BATCH)
    world.repo.commit()
    folder = world.repo.root / f"rendered/flux/{world.name}"
    old = f"{world.name}.jobs.{world.name}"
    (first, *others) = sorted(folder.glob("kustomization-*.jobs.*"))
    text = first.read_text("utf-8").replace(f"{old}.one", old).replace(f"{world.name}/one", world.name)
    for path in (first, *others):
        path.unlink()
    (folder / f"kustomization-{old}.yaml").write_text(text, "utf-8")
    world.repo.git("add", "--all")
    world.repo.git("commit", "--quiet", "--message", "as it was")
    world.repo.git("push", "-q", "origin", "main")
    world.bootstrap()
    world.follow()
    runs = world.runs()
    assert len(runs) == 2

    world.repo.rendering()
    assert planned(world) == (set(runs), set(runs)), "in one step, they restart"
    script = move(MoveRequest(root=world.repo.root, base="HEAD")).output
    world.repo.git("add", "--all")
    world.repo.git("commit", "--quiet", "--message", "one for each job")
    for line in script.splitlines():
        by_hand(world, line)
    world.follow()
    assert world.runs() == runs
    world.rests()
    world.remove("one")
    world.merge()
    assert list(world.runs()) == [name for name in runs if name.startswith("two")]


def by_hand(world: World, line: str) -> None:
    """One of the commands of `gen move`, without kubectl."""
    if line.startswith("# 3."):
        world.repo.git("push", "-q", "origin", "main")
        world.poll()
    words = shlex.split(line, comments=True)
    if not words:
        return
    client, verb = world.cluster.client, words[1]
    if verb == "apply":
        world.bootstrap()
    elif verb == "patch":
        assert client.merge(f"{KUSTOMIZATIONS}/{words[3]}", json.loads(words[-1])).status == 200
    else:
        assert verb == "label", line
        kind, _, name = words[3].partition("/")
        kind, _, group = kind.partition(".")
        labels = dict(word.partition("=")[::2] for word in words if word.startswith("kustomize."))
        path = world.path({"job": "Job", "service": "Service"}[kind], name, group)
        assert client.merge(path, {"metadata": {"labels": labels}}).status == 200
