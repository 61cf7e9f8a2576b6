"""Objects of GitOps engines, rendered from the overlay."""

from __future__ import annotations

import yaml

from gen.base.engines import storage_annotations
from tests.render.bundle.support import BOTH, NAMED, OVERLAY, bundle
from tests.support import Repository, tree

NEVER = (
    "sync-wave",
    "argocd.argoproj.io/hook",
    "Force=true",
    "Replace=true",
    "PruneLast",
    "CreateNamespace",
    "force: true",
    "wait: true",
    "RollingSync",
    "postBuild",
    "generateName",
    "status:",
    "kind: Namespace",
    "kind: Secret",
    "kustomization.yaml",
)


def test_storage_is_protected_from_every_engine() -> None:
    """D6, of `docs/user-guide/sync-options.md` of Argo CD and `kustomizations.md` of Flux."""
    assert storage_annotations() == {
        "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }


def test_an_overlay_without_engines_has_no_bundle(jobs: Repository) -> None:
    assert bundle(jobs, NAMED) == {}


def test_what_there_is_for_each_engine(jobs: Repository) -> None:
    assert sorted(bundle(jobs, NAMED + BOTH)) == [
        "AppProject dev-jobs",
        "AppProject dev-root",
        "AppProject dev-storage",
        "Application dev-root",
        "ApplicationSet dev-jobs",
        "ApplicationSet dev-storage",
        "GitRepository dev",
        "Kustomization dev",
        "Kustomization dev.jobs.team.batch",
        "Kustomization dev.jobs.team.mpi",
        "Kustomization dev.jobs.team.pytorch",
        "Kustomization dev.jobs.team.tensorflow",
        "Kustomization dev.storage.team",
        "settings argocd-cm",
    ]


def test_what_is_never_rendered(jobs: Repository) -> None:
    """D7."""
    for overlay in (NAMED, OVERLAY):
        text = yaml.safe_dump_all(bundle(jobs, overlay + BOTH).values())
        assert [word for word in NEVER if word in text] == []


def test_storage_is_neither_pruned_nor_deleted_by_either_engine(jobs: Repository) -> None:
    """D9: `Controlling-Resource-Modification.md`, `Application-Deletion.md` (Argo CD), `kustomizations.md` (Flux)."""
    objects = bundle(jobs, NAMED + BOTH)
    applications = objects["ApplicationSet dev-storage"]["spec"]
    assert applications["syncPolicy"] == {"applicationsSync": "create-update", "preserveResourcesOnDeletion": True}
    assert applications["template"]["spec"]["syncPolicy"]["automated"] == {"prune": False, "selfHeal": True}
    assert "finalizers" not in applications["template"]["metadata"]
    kustomization = objects["Kustomization dev.storage.team"]["spec"]
    assert (kustomization["prune"], kustomization["deletionPolicy"]) == (False, "Orphan")


def test_engines_may_apply_a_resource_quota_where_the_overlay_asks_for_one(jobs: Repository) -> None:
    asked = NAMED.replace("  team:\n", "  team:\n    pods: 99\n    resourceQuota: true\n")
    for overlay, expected in ((NAMED, False), (asked, True)):
        objects = bundle(jobs, overlay + BOTH)
        project = objects["AppProject dev-storage"]["spec"]["namespaceResourceWhitelist"]
        include = objects["ApplicationSet dev-storage"]["spec"]["template"]["spec"]["source"]["directory"]["include"]
        ignored = objects["GitRepository dev"]["spec"]["ignore"]
        assert ({"group": "", "kind": "ResourceQuota"} in project) is expected
        assert ("resourcequota" in include) is expected
        assert "!/rendered/dev/storage/*/resourcequota-*.yaml" in ignored, "a quota does not change the source"
        assert {"group": "", "kind": "ResourceQuota"} not in objects["AppProject dev-jobs"]["spec"][
            "namespaceResourceWhitelist"
        ]


def test_jobs_are_pruned_and_never_waited_for(jobs: Repository) -> None:
    """D9. Waiting for a run holds up every later commit (kustomize-controller#701)."""
    objects = bundle(jobs, NAMED + BOTH)
    template = objects["ApplicationSet dev-jobs"]["spec"]["template"]
    assert template["spec"]["syncPolicy"] == {
        "automated": {"prune": True, "selfHeal": True},
        # forever, with the newest commit, and never more than minutes apart
        "retry": {"limit": -1, "refresh": True, "backoff": {"duration": "5s", "factor": 2, "maxDuration": "3m"}},
        "syncOptions": [
            "ServerSideApply=true",
            "ApplyOutOfSyncOnly=true",
            "FailOnSharedResource=true",
            "RespectIgnoreDifferences=true",
        ],
    }
    assert template["metadata"]["finalizers"] == ["resources-finalizer.argocd.argoproj.io"]
    spec = objects["Kustomization dev.jobs.team.mpi"]["spec"]
    assert (spec["prune"], spec["wait"], spec["force"]) == (True, False, False)
    assert "dependsOn" not in spec, "a claim that the cluster rejects must not stop the jobs"
    assert spec["targetNamespace"] == "team"


def test_bundles_are_compared_written_and_removed_like_everything_else(jobs: Repository) -> None:
    bundle(jobs, NAMED + BOTH)
    project = jobs.root / "rendered/argocd/dev/appproject-dev-jobs.yaml"
    assert jobs.check()[1] == 0
    project.write_text(project.read_text("utf-8") + "# by hand\n", "utf-8")
    assert [change.status for change in jobs.check()[0].changes] == ["hand-edited"]
    jobs.render()
    assert "# by hand" not in project.read_text("utf-8")
    foreign = jobs.write("rendered/flux/dev/notes.txt", "mine\n")
    jobs.overlay(NAMED + BOTH.split("  flux", maxsplit=1)[0])
    assert jobs.render()[1] == 1
    assert foreign.read_text() == "mine\n"
    foreign.unlink()
    assert jobs.render()[1] == 0
    assert project.exists()
    assert not (jobs.root / "rendered/flux").exists()


def test_an_overlay_called_storage_has_no_data_in_its_bundle(jobs: Repository) -> None:
    jobs.overlay(NAMED + BOTH, name="storage")
    jobs.render()
    assert (jobs.root / "rendered/argocd/storage/appproject-storage-jobs.yaml").exists()
    jobs.overlay(NAMED, name="storage")
    jobs.render()
    assert not (jobs.root / "rendered/argocd").exists()


def test_a_render_of_some_jobs_adds_only_what_is_theirs(jobs: Repository) -> None:
    bundle(jobs, NAMED + BOTH)
    before = tree(jobs.root / "rendered/flux")
    jobs.job("kind: batch\nimage: a:1\ncommand: x\n", name="new")
    assert jobs.render("team/new")[1] == 0
    after = tree(jobs.root / "rendered/flux")
    assert after.keys() - before.keys() == {"dev/kustomization-dev.jobs.team.new.yaml"}
    assert before.items() <= after.items()
    assert jobs.check()[1] == 0


def test_patches_are_for_what_runs_in_the_cluster(jobs: Repository) -> None:
    patch = 'patches:\n  - target: {name: "*"}\n    patch: {metadata: {annotations: {a: b}}}\n'
    assert bundle(jobs, NAMED + BOTH + patch) == bundle(jobs, NAMED + BOTH)
