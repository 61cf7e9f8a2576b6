"""Disturbances outside of Git: edits and deletions by hand, a Git server that is away, foreign files."""

from __future__ import annotations

from tests.controllers.flux.world import BATCH, DATA, KUSTOMIZATIONS, PYTORCH, SOURCES, VOLUMES, World, until
from tests.controllers.waiting import give_time


def test_edits_by_hand_are_undone_and_no_run_starts_again(world: World) -> None:
    world.overlay(VOLUMES)
    world.job("demo", PYTORCH.format(lr=1) + DATA)
    world.start()
    runs = world.runs()
    (run,) = runs
    client = world.cluster.client
    kept = {"spec": {"runPolicy": {"cleanPodPolicy": "All"}}}
    assert client.merge(world.path("PyTorchJob", run, "kubeflow.org"), kept).status == 200
    containers = world.live("Deployment", group="apps")["demo-tensorboard"]["spec"]["template"]["spec"]["containers"]
    edited = [{**containers[0], "image": "registry.example.com/another:1"}]
    board = {"spec": {"template": {"spec": {"containers": edited}}}}
    assert client.merge(world.path("Deployment", "demo-tensorboard", "apps"), board).status == 200
    world.delete("Service", "demo-tensorboard")
    world.intervals()
    live = world.live("PyTorchJob", group="kubeflow.org")[run]
    assert live["spec"]["runPolicy"]["cleanPodPolicy"] == "Running"
    live = world.live("Deployment", group="apps")["demo-tensorboard"]
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == containers[0]["image"]
    assert "demo-tensorboard" in world.live("Service")
    assert world.runs() == runs
    world.rests()


def test_a_git_server_that_is_away_changes_nothing(world: World) -> None:
    world.overlay(VOLUMES)
    world.job("one", BATCH + DATA)
    world.start()
    before = world.seen()
    world.git.away = True
    try:
        world.poll()
        world.intervals()
        assert world.seen() == before
        (run,) = world.runs()
        world.delete("Job", run, "batch")
        world.intervals()
        assert list(world.runs()) == [run], "from the last commit that Flux has seen"
        world.job("two", BATCH)
        world.push()
        world.poll()
        give_time()
        assert list(world.runs()) == [run]
    finally:
        world.git.away = False
    runs = world.runs()
    world.follow()
    assert len(world.runs()) == 2
    assert runs.items() <= world.runs().items()
    world.rests()


def test_foreign_files_are_not_applied(world: World) -> None:
    """They got into Git although `gen check` rejects them."""
    world.job("one", BATCH)
    world.start()
    before = world.seen()
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NAME}\n"
    folder = f"rendered/{world.name}/jobs/{world.name}/one"
    foreign = {
        f"{folder}/kustomization.yaml": "resources: [clusterrole-a.yaml]\n",
        f"{folder}/deeper/clusterrole-b.yaml": role.replace("NAME", f"{world.name}-b"),
        f"{folder}/clusterrole-c.yml": role.replace("NAME", f"{world.name}-c"),
        f"{folder}/values.yaml": "a: b\n",
        f"{folder}/.sourceignore": "/*\n",
        f"rendered/{world.name}/jobs/{world.name}/.sourceignore": "*.yaml\n",
        f"rendered/{world.name}/jobs/{world.name}/clusterrole-d.yaml": role.replace("NAME", f"{world.name}-d"),
        f"rendered/flux/{world.name}/clusterrole-e.yaml": role.replace("NAME", f"{world.name}-e"),
        f"rendered/flux/{world.name}/kustomization.yaml": "resources: []\n",
    }
    for path, text in foreign.items():
        world.repo.write(path, text)
    world.repo.git("add", "--all")
    world.repo.git("commit", "-q", "-m", "foreign")
    world.repo.git("push", "-q", "origin", "main")
    world.follow()
    assert world.seen() == before
    roles = world.cluster.live("rbac.authorization.k8s.io", "ClusterRole", "")
    assert [body["metadata"]["name"] for body in roles if body["metadata"]["name"].startswith(world.name)] == []


def test_without_its_root_a_bundle_stays_as_it_is(world: World) -> None:
    world.overlay(VOLUMES)
    world.job("one", BATCH + DATA)
    world.start()
    before, names = world.seen(), {one["metadata"]["name"] for one in world.kustomizations()}
    _delete(world, f"{KUSTOMIZATIONS}/{world.name}")
    give_time()
    assert world.seen() == before
    assert {one["metadata"]["name"] for one in world.kustomizations()} == names - {world.name}


def test_removing_the_bundle_stops_runs_and_keeps_data(world: World) -> None:
    world.overlay(VOLUMES)
    world.job("one", BATCH + DATA)
    world.start()
    world.binds("nas")
    world.cluster.client.delete(f"{SOURCES}/{world.name}")
    for name in [world.name, f"{world.name}.jobs.{world.name}.one", f"{world.name}.storage.{world.name}"]:
        _delete(world, f"{KUSTOMIZATIONS}/{name}")
    until(lambda: "" if world.runs() == {} else "runs")
    assert world.bound() == {"nas"}
    assert len(world.volumes()) == 1


def test_a_namespace_that_is_created_late_stops_no_other(world: World) -> None:
    late = f"{world.name}-late"
    world.namespaces.append(late)
    world.overlay(VOLUMES)
    world.job("one", BATCH)
    world.job("two", BATCH + DATA, late)
    world.push()
    world.bootstrap()
    until(lambda: "" if len(world.runs()) == 1 else "the run of the other namespace")
    until(lambda: "" if world.ready(f"{world.name}.jobs.{late}.two")["status"] == "False" else "no error")
    world.cluster.add_namespaces([late])
    world.intervals()
    assert len(world.runs(late)) == 1
    world.follow()
    world.binds("nas", late)


def _delete(world: World, path: str) -> None:
    assert world.cluster.client.delete(path).status == 200
    until(lambda: "" if world.cluster.client.get(path).status == 404 else f"{path} is still there")
