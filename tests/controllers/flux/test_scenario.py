"""The life of a repository under Flux, unattended from one apply: nothing drifts, runs twice, or loses data."""

from __future__ import annotations

from gen.commands.verb import Request, apply
from gen.edit.change import VERBS
from tests.controllers.flux.world import BATCH, DATA, PYTORCH, VOLUMES, World


def test_a_job_is_added_edited_suspended_resumed_and_retired(world: World) -> None:
    world.overlay(VOLUMES)
    world.job("other", BATCH)
    world.job("demo", PYTORCH.format(lr=1) + DATA)
    world.start()
    (other,) = world.live("Job", group="batch")
    first = world.live("PyTorchJob", group="kubeflow.org")
    assert list(world.live("Deployment", group="apps")) == ["demo-tensorboard"]
    world.rests()

    world.job("demo", PYTORCH.format(lr=2) + DATA)
    world.merge()
    (second,) = edited = world.live("PyTorchJob", group="kubeflow.org")
    assert edited.keys().isdisjoint(first)
    uids = world.runs()
    world.rests()

    for state in ("suspended", "active"):
        world.job("demo", PYTORCH.format(lr=2) + DATA + f"state: {state}\n")
        world.merge()
        live = world.live("PyTorchJob", group="kubeflow.org")[second]
        assert live["spec"]["runPolicy"].get("suspend", False) is (state == "suspended")
        assert world.runs() == uids
        world.rests()

    world.job("demo", PYTORCH.format(lr=2) + DATA + "state: finished\n")
    world.merge()
    assert world.runs() == uids
    world.delete("PyTorchJob", second, "kubeflow.org")
    world.rests()
    assert list(world.runs()) == [other]

    world.job("demo", PYTORCH.format(lr=2) + DATA)
    world.merge()
    assert list(world.live("PyTorchJob", group="kubeflow.org")) == [second]
    world.job("demo", PYTORCH.format(lr=2) + DATA + "state: stopped\n")
    world.merge()
    world.rests()
    assert list(world.runs()) == [other], "a stopped run is deleted, and its record is not applied"

    world.remove("demo")
    world.merge()
    assert list(world.runs()) == [other]
    world.job("demo", PYTORCH.format(lr=2) + DATA)
    world.merge()
    again = world.live("PyTorchJob", group="kubeflow.org")
    assert list(again) == [second]
    assert world.live("Job", group="batch")[other]["metadata"]["uid"] == uids[other]
    world.binds("nas")


def test_every_verb_has_its_effect(world: World) -> None:
    """`suspend` frees the pods and keeps the run, `stop` deletes it, `rerun` starts another one, `finish` leaves it."""
    world.overlay(VOLUMES)
    world.job("other", BATCH)
    world.job("demo", PYTORCH.format(lr=1) + DATA)
    world.start()
    (other,) = world.live("Job", group="batch")
    (first,) = world.live("PyTorchJob", group="kubeflow.org")
    uid, seen = world.runs()[first], {}
    for verb in ("suspend", "resume", "stop", "rerun", "finish"):
        assert apply(verb, Request(jobs=("demo",), root=world.repo.root)).exit_code == 0
        world.merge()
        seen[verb] = {
            name: body["spec"]["runPolicy"] for name, body in world.live("PyTorchJob", "", "kubeflow.org").items()
        }
        if verb in ("suspend", "resume"):
            assert world.runs()[first] == uid
        world.rests()
    assert seen.keys() == VERBS.keys()
    assert seen["suspend"][first]["suspend"] is True
    assert not seen["resume"][first].get("suspend")
    assert seen["stop"] == {}
    (second,) = seen["rerun"]
    assert second != first
    assert list(seen["finish"]) == [second], "a record is neither applied nor deleted"
    assert world.runs().keys() == {other, second}


def test_the_first_and_the_last_job_of_a_namespace_need_no_apply(world: World) -> None:
    world.job("one", BATCH)
    world.start()
    own = world.runs()
    second = f"{world.name}-2"
    world.grant(second)
    world.job("two", BATCH, second)
    world.merge()
    assert len(world.runs(second)) == 1
    world.rests()
    world.remove("two", second)
    world.merge()
    assert world.runs(second) == {}
    assert world.runs() == own
    world.job("two", BATCH, second)
    world.merge()
    assert len(world.runs(second)) == 1
    assert world.runs() == own


def test_the_last_job_of_a_repository_frees_what_it_has(world: World) -> None:
    world.job("one", BATCH)
    world.start()
    assert len(world.runs()) == 1
    world.remove("one")
    world.merge(allow_empty=True)
    assert world.runs() == {}
    world.rests()
    world.job("two", BATCH)
    world.merge()
    assert len(world.runs()) == 1


def test_a_repository_without_jobs_gets_its_first(world: World) -> None:
    world.start(allow_empty=True)
    world.overlay(VOLUMES)
    world.job("one", PYTORCH.format(lr=1) + DATA)
    world.merge()
    assert len(world.runs()) == 1
    world.rests()


def test_the_first_and_the_last_job_of_a_kind_come_and_go_with_their_commits(world: World) -> None:
    """The source is the same for all kinds: of one that changes, Kustomizations could apply the artifact before it."""
    world.job("one", BATCH)
    world.start()
    own, source = world.runs(), world.source()
    for rate in range(4):
        world.job("demo", BATCH.replace("batch", "pytorch") + f"env: {{LR: '{rate}'}}\n")
        world.merge()
        assert len(world.live("PyTorchJob", group="kubeflow.org")) == 1
        world.remove("demo")
        world.merge()
        assert world.live("PyTorchJob", group="kubeflow.org") == {}
    assert world.runs() == own
    assert world.source() == source
    world.rests()


def test_the_first_and_the_last_volume_need_no_apply_and_lose_no_data(world: World) -> None:
    world.job("one", BATCH)
    world.start()
    own = world.runs()
    world.overlay(VOLUMES)
    world.job("two", BATCH + DATA)
    world.merge()
    world.binds("nas")
    (volume,) = world.volumes().values()
    world.rests()
    world.remove("two")
    world.merge(prune_storage=True)
    assert not (world.repo.root / f"rendered/{world.name}/storage").exists()
    world.binds("nas")
    world.job("two", BATCH + DATA)
    world.merge()
    (same,) = world.volumes().values()
    assert same["metadata"]["uid"] == volume["metadata"]["uid"]
    world.binds("nas")
    assert own.items() <= world.runs().items()
    world.rests()


def test_200_jobs_at_once(world: World) -> None:
    world.job("first", BATCH)
    world.start()
    own = world.runs()
    for number in range(200):
        world.job(f"job-{number}", BATCH + f"env: {{SEED: {number}}}\n")
    world.push()
    world.follow(seconds=600)
    runs = world.runs()
    assert len(runs) == 201
    assert own.items() <= runs.items()
    world.rests(seconds=600)
