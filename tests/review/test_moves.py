"""Objects that a merge gives another owner, and the commands that hand them over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.commands.move import Request, run
from tests.history import History, branch

if TYPE_CHECKING:
    from collections.abc import Callable

TRACKING = "argocd.argoproj.io/tracking-id"
URL = "https://git.example.com/a.git"
JOB = "kind: batch\nimage: a:1\ncommand: x\ndata: {nas: /data}\n"
STORED = (
    'kubernetes: "1.34"\ncluster: big\nvolumes: {nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}}\n'
)
ARGOCD, FLUX = f"gitops: {{argocd: {{repoURL: {URL}}}}}\n", f"gitops: {{flux: {{repoURL: {URL}}}}}\n"


@pytest.fixture
def base(history: History) -> Callable[[str], History]:
    def at(overlay: str) -> History:
        history.overlay(overlay, "old")
        history.job(JOB, "train")
        history.job(JOB, "train", namespace="other")
        branch(history)
        return history

    return at


def moved(history: History, *folders: str) -> None:
    """Move overlays and their runs, and render."""
    for folder in folders:
        source, target = (history.root / name for name in folder.split(" "))
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
    report, code = history.render(prune_storage=True)
    assert code == 0, report


def commands(history: History) -> str:
    result = run(Request(root=history.root))
    assert result.exit_code == 0
    return result.output


def starts(history: History) -> list[str]:
    return [run.key.name for run in history.plan(allow_move=True).runs if run.starts or run.stops]


RENAMED = ("overlays/old overlays/new", "rendered/old rendered/new")


@pytest.mark.parametrize("engine", [ARGOCD, FLUX])
def test_a_renamed_overlay_is_refused_in_one_step(base: Callable[[str], History], engine: str) -> None:
    history = base(STORED + engine)
    moved(history, *RENAMED)
    assert ("moves-owner", "error") in history.codes()
    assert ("moves-owner", "warning") in history.codes(allow_move=True)
    assert not history.plan(allow_move=True).refused
    assert starts(history) == []
    assert {data.action.value for data in history.plan().data} == {"kept"}


def test_argo_cd_forgets_the_objects_before_the_new_owner_gets_them(base: Callable[[str], History]) -> None:
    history = base(STORED + ARGOCD)
    moved(history, *RENAMED)
    lines = commands(history).splitlines()
    order = [
        "kubectl patch application old-root -n argocd",
        "kubectl delete applicationset old-jobs old-storage -n argocd --cascade=orphan",
        'kubectl patch application old.team.train -n argocd --type=merge -p \'{"metadata": {"finalizers": null}}',
        "kubectl delete application old.team.train -n argocd",
        f"kubectl annotate --overwrite persistentvolume/team-nas {TRACKING}=new-storage.team:/PersistentVolume:team/",
        "kubectl apply --server-side -f rendered/argocd/new/",
        "kubectl delete application old-root -n argocd",
    ]
    places = [next(number for number, line in enumerate(lines) if line.startswith(start)) for start in order]
    assert places == sorted(places)
    assert sum("tracking-id=new.team.train:batch/Job:team/train-" in line for line in lines) == 1


def test_a_split_leaves_the_rest_with_the_old_owner(base: Callable[[str], History]) -> None:
    history = base(STORED + FLUX)
    history.overlay(STORED + FLUX + "select: {include: ['other/*']}\n", "new")
    history.overlay(STORED + FLUX + "select: {exclude: ['other/*']}\n", "old")
    moved(history, *(f"rendered/old/{tree}/other rendered/new/{tree}/other" for tree in ("jobs", "storage")))
    assert ("moves-owner", "error") in history.codes()
    assert starts(history) == []
    text = commands(history)
    labels = "kustomize.toolkit.fluxcd.io/name=new.storage.other kustomize.toolkit.fluxcd.io/namespace=flux-system"
    assert f"kubectl label --overwrite persistentvolumeclaim/nas -n other {labels}" in text
    assert "/nas -n team" not in text
    suspended = [line for line in text.splitlines() if '"suspend": true' in line]
    assert [line.split(" ")[3] for line in suspended] == ["old", "old.jobs.other.train", "old.storage.other"]
    assert "kubectl delete" not in text


def test_another_engine_gets_the_objects_without_the_marks_of_the_old(base: Callable[[str], History]) -> None:
    history = base(STORED + ARGOCD)
    history.overlay(STORED + FLUX, "old")
    moved(history)
    assert ("moves-owner", "error") in history.codes()
    assert starts(history) == []
    text = commands(history)
    assert "kubectl annotate --overwrite persistentvolume/team-nas argocd.argoproj.io/tracking-id-\n" in text
    assert (
        "kubectl label --overwrite persistentvolume/team-nas kustomize.toolkit.fluxcd.io/name=old.storage.team" in text
    )


def test_two_engines_and_other_clusters_are_no_move(base: Callable[[str], History]) -> None:
    history = base(STORED + ARGOCD)
    history.overlay(STORED + ARGOCD.replace("}}\n", "}, ") + FLUX.removeprefix("gitops: {"), "old")
    moved(history)
    assert commands(history) == "no object gets another owner\n"
    history.overlay(STORED.replace("big", "small") + ARGOCD + "select: {include: ['other/*']}\n", "new")
    history.overlay(STORED + ARGOCD + "select: {exclude: ['other/*']}\n", "old")
    moved(history)
    assert commands(history) == "no object gets another owner\n"
    assert "moves-owner" not in dict(history.codes())


def test_jobs_leave_the_kustomization_of_their_namespace(base: Callable[[str], History]) -> None:
    """As an earlier layout has it: the root would prune the old one, which deletes its runs."""
    history = base(STORED + FLUX)
    folder = history.root / "rendered/flux/old"
    (path,) = folder.glob("kustomization-old.jobs.team.*")
    text = path.read_text("utf-8").replace("old.jobs.team.train", "old.jobs.team").replace("team/train", "team")
    path.unlink()
    (folder / "kustomization-old.jobs.team.yaml").write_text(text, "utf-8")
    history.git("add", "--all")
    history.git("commit", "--quiet", "--amend", "--message", "base")
    history.git("branch", "--force", "main")
    moved(history)
    assert ("moves-owner", "error") in history.codes()
    assert [run.key.namespace for run in history.plan().runs if run.starts and run.stops] == ["team"]
    assert starts(history) == []
    lines = commands(history).splitlines()
    suspended = [line.split(" ")[3] for line in lines if '"suspend": true' in line]
    assert suspended == ["old", "old.jobs.team"]
    resumed = [line.split(" ")[3] for line in lines if '"suspend": null' in line]
    assert resumed == ["old"], "the other is removed while it is suspended"
    assert any("kustomize.toolkit.fluxcd.io/name=old.jobs.team.train " in line for line in lines)
    assert not any("nas" in line for line in lines)


def test_a_job_that_changes_overlays_without_a_cluster_is_named(history: History) -> None:
    """Whether the two have one cluster is not known, so nothing is handed over."""
    for name in ("a", "b"):
        history.overlay(f'kubernetes: "1.34"\n{ARGOCD}', name)
    history.job(f"{JOB.partition('data:')[0]}clusters: [a]\n", "train")
    branch(history)
    history.job(f"{JOB.partition('data:')[0]}clusters: [b]\n", "train")
    history.rendering()
    first, *rest = commands(history).splitlines()
    assert first.startswith("# 2 objects of overlay `a` would be in overlay `b`, which may be another cluster")
    assert any("`cluster: NAME`" in line for line in rest)
    for name in ("a", "b"):
        history.overlay(f'kubernetes: "1.34"\ncluster: {name}\n{ARGOCD}', name)
    history.rendering()
    assert commands(history) == "no object gets another owner\n"
