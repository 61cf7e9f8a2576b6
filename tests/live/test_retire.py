"""`gen retire`: runs end, their jobs become finished in Git, and nothing in the cluster changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.engine import Engine
from tests.e2e.server import free_ports
from tests.live.test_clusters import second

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.live.world import World

    Make = Callable[[str], World]


def file_of(here: World, name: str = "demo") -> str:
    return (here.repository.root / f"jobs/{here.namespace}/{name}.yaml").read_text("utf-8")


def test_runs_end_and_nothing_starts_again(world: Make) -> None:
    here = world("retire")
    engine = Engine(here.repository.root, here.cluster)
    done, broken, active = (here.job(name, apply=False) for name in ("done", "broken", "active"))
    assert any("PyTorchJob" in line for line in engine.sync())
    here.ends(done, "Succeeded")
    here.ends(broken, "Failed")
    before = {
        name: here.cluster.client.get(here.cluster.path(name_)).body for name, name_ in _named(done, broken, active)
    }

    here.gen("retire", "--message", str(here.repository.root / "message"))
    assert here.code == 0
    for job, run, phase in (("done", done, "succeeded"), ("broken", broken, "failed")):
        ended = f"{run['metadata']['name']} {phase} in dev"
        assert f"\nstate: finished\nannotations:\n  gen/ignore-may-still-run: {ended}\n" in file_of(here, job)
    assert "state" not in file_of(here, "active")
    assert (here.repository.root / "message").read_text("utf-8") == (
        "Retire 2 jobs\n\n"
        f"- retire/broken: {broken['metadata']['name']} failed in dev\n"
        f"- retire/done: {done['metadata']['name']} succeeded in dev\n"
    )

    assert here.repository.render()[1] == 0
    assert engine.sync() == [], "the merge changes nothing in the cluster"
    after = {
        name: here.cluster.client.get(here.cluster.path(name_)).body for name, name_ in _named(done, broken, active)
    }
    assert after == before
    for run in (done, broken):
        assert here.cluster.client.delete(here.cluster.path(run)).status == 200
    assert engine.sync() == [], "and nothing starts again"
    assert [run["phase"] for run in here.answer()["runs"]] == ["pending", "gone", "gone"]

    assert "no jobs to retire" in here.gen("retire")
    assert here.code == 0


def _named(*runs: dict[str, object]) -> list[tuple[str, dict[str, object]]]:
    return [(str(run["metadata"]["name"]), run) for run in runs]  # type: ignore[index]


def test_failed_runs_can_be_kept(world: Make) -> None:
    here = world("keep-failed")
    here.ends(here.job(), "Failed")
    output = here.gen("retire", "--keep-failed")
    assert "[not-retired]" in output
    assert "state" not in file_of(here)


def test_a_dry_run_changes_nothing(world: Make) -> None:
    here = world("dry-run")
    here.ends(here.job(), "Succeeded")
    assert "Retire dry-run/demo" in here.gen("retire", "--dry-run", "--message", "/nowhere/at/all")
    assert "state" not in file_of(here)


def test_a_sweep_is_retired_run_by_run(world: Make) -> None:
    here = world("retire-sweep")
    engine = Engine(here.repository.root, here.cluster)
    here.job(more="env: {RATE: '{{ params.rate }}'}\nsweep:\n  matrix: {rate: [0.1, 2]}  # two\n", apply=False)
    names = [run["metadata"]["name"] for run in here.rendered()]
    engine.sync()
    first, second_ = here.rendered()
    here.ends(first, "Succeeded")
    assert "1 combination of its sweep, 1 succeeded" in here.gen("retire")
    assert file_of(here).endswith(
        "sweep:\n"
        "  overrides:\n"
        "    - when:\n"
        "        rate: '0.1'\n"
        "      state: finished\n"
        "  matrix: {rate: [0.1, 2]}  # two\n"
    )
    assert here.repository.render()[1] == 0
    assert engine.sync() == [], "the merge changes nothing in the cluster"
    assert here.cluster.client.delete(here.cluster.path(first)).status == 200
    assert engine.sync() == [], "and nothing starts again"
    assert {row["run"]: (row["git"], row["phase"]) for row in here.runs().values()} == {
        names[0]: ("finished", "gone"),
        names[1]: ("active", "pending"),
    }
    assert "no jobs to retire" in here.gen("retire")

    here.ends(second_, "Failed")
    assert "1 combination of its sweep" in here.gen("retire") or "\nstate: finished\n" in file_of(here)
    _, code = here.repository.render()
    assert (code, [run["metadata"]["name"] for run in here.rendered()]) == (0, names)
    assert {row["git"] for row in here.runs().values()} == {"finished"}


def test_failed_runs_of_a_sweep_can_be_kept(world: Make) -> None:
    here = world("retire-sweep-failed")
    here.job(more="env: {RATE: '{{ params.rate }}'}\nsweep: {matrix: {rate: [1, 2]}}\n", apply=False)
    for run, end in zip(here.rendered(), ("Failed", "Succeeded"), strict=True):
        here.ends(here.cluster.apply(run), end)
    here.gen("retire", "--keep-failed")
    assert "overrides: [{when: {rate: 2}, state: finished}]" in file_of(here)


def test_an_override_keeps_no_run_active(world: Make) -> None:
    here = world("retire-overrides")
    here.job(
        more="state: suspended\nenv: {RATE: '{{ params.rate }}'}\n"
        "sweep: {matrix: {rate: [1, 2]}, overrides: [{when: {rate: 2}, state: active}]}\n",
        apply=False,
    )
    for run in here.rendered():
        here.ends(here.cluster.apply(run), "Succeeded")
    assert "Retire retire-overrides/demo" in here.gen("retire")
    assert here.repository.render()[1] == 0
    assert {row["git"] for row in here.runs().values()} == {"finished"}
    assert "no jobs to retire" in here.gen("retire")


def test_a_schedule_goes_on(world: Make) -> None:
    here = world("retire-schedule")
    schedule = here.job(kind="batch", more='timeout: 1h\nschedule: "0 3 * * *"\n')
    assert schedule["kind"] == "CronJob"
    assert "no jobs to retire" in here.gen("retire")


def test_a_run_in_a_cluster_that_does_not_answer(world: Make) -> None:
    here = world("retire-two")
    run = here.job()
    here.ends(run, "Succeeded")
    (port,) = free_ports(1)
    second(here, port)
    here.repository.render()
    output = here.gen("retire")
    assert here.code == 1
    assert "the state of a run in another cluster is not known" in output
    assert "state" not in file_of(here)
    output = here.gen("retire", "--overlay", "dev")
    assert "the state of a run in another cluster is not known" in output, "it was not asked for"
    assert "state" not in file_of(here)


def test_a_run_that_is_not_that_of_the_file(world: Make) -> None:
    """The job was edited after its run started, and not rendered: the new run has not even begun."""
    here = world("retire-stale")
    here.ends(here.job(), "Succeeded")
    path = here.repository.root / "jobs/retire-stale/demo.yaml"
    path.write_text(file_of(here).replace("--lr 1", "--lr 2"), "utf-8")
    assert "not up to date" in here.gen("retire")
    assert "state" not in file_of(here)


def test_a_file_that_cannot_be_changed_hides_no_other(world: Make) -> None:
    here = world("retire-error")
    here.ends(here.job("good"), "Succeeded")
    here.ends(here.job("bad"), "Succeeded")
    path = here.repository.root / "jobs/retire-error/bad.yaml"
    path.write_text(f"{path.read_text('utf-8')}unknown: 1\n", "utf-8")
    here.gen("retire")
    assert here.code == 1
    assert "\nstate: finished\n" in file_of(here, "good")
    assert "state" not in file_of(here, "bad")
