"""What GitOps engines get of their own: rendered from the overlay, beside the files that they apply."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from gen.gitops import ENGINES
from gen.kinds import KINDS
from gen.resources import RESOURCES
from gen.resources.engines import storage_annotations
from tests.gitops.project import permitted
from tests.gitops.source_ignore import taken
from tests.kinds.foreign import FOREIGN
from tests.support import OVERLAY as EVERYTHING
from tests.support import PROJECT, Repository, cases, copy_case, tree

OVERLAY = "".join(line for line in EVERYTHING.splitlines(keepends=True) if not line.startswith("pipelines:"))

COMPARE = "argocd.argoproj.io/compare-options"
ENGINE_FOLDERS = tuple(f"{name}/" for name in ENGINES)
JOB = "kind: {kind}\nimage: a:1\ncommand: x\ndata: {{nas: /data}}\ntensorboard: true\nfiles: {{/etc/a: b}}\n"
URL = "https://git.example.com/ml/training.git"
BOTH = f"gitops:\n  argocd: {{repoURL: {URL}, cluster: prod}}\n  flux: {{repoURL: {URL}}}\n"
NAMED = OVERLAY.replace('  "*":', "  team:")
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


def bundle(repo: Repository, overlay: str) -> dict[str, dict[str, Any]]:
    """`Kind name` to object, of everything below the folders of engines; `settings <name>` to a patch of settings."""
    repo.overlay(overlay)
    report, code = repo.render()
    assert code == 0, report
    files = {path: yaml.safe_load(text) for path, text in repo.rendered().items() if path.startswith(ENGINE_FOLDERS)}
    return {
        f"settings {Path(path).stem}" if path.endswith(".patch") else f"{body['kind']} {body['metadata']['name']}": body
        for path, body in files.items()
    }


@pytest.fixture
def jobs(repo: Repository) -> Repository:
    for kind in ("pytorch", "tensorflow", "mpi", "batch"):
        repo.job(JOB.format(kind=kind), name=kind)
    return repo


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
        "Kustomization dev.jobs.team",
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
        # for ever, with the newest commit, and never more than minutes apart
        "retry": {"limit": -1, "refresh": True, "backoff": {"duration": "5s", "factor": 2, "maxDuration": "3m"}},
        "syncOptions": [
            "ServerSideApply=true",
            "ApplyOutOfSyncOnly=true",
            "FailOnSharedResource=true",
            "RespectIgnoreDifferences=true",
        ],
    }
    assert template["metadata"]["finalizers"] == ["resources-finalizer.argocd.argoproj.io"]
    spec = objects["Kustomization dev.jobs.team"]["spec"]
    assert (spec["prune"], spec["wait"], spec["force"]) == (True, False, False)
    assert "dependsOn" not in spec, "a claim that the cluster rejects must not stop the jobs"
    assert spec["targetNamespace"] == "team"


def test_a_commit_makes_argo_cd_read_only_the_folders_that_it_touches(jobs: Repository) -> None:
    objects = bundle(jobs, NAMED + BOTH)
    templates = [objects[f"ApplicationSet {name}"]["spec"]["template"] for name in ("dev-jobs", "dev-storage")]
    for one in (*templates, objects["Application dev-root"]):
        assert one["metadata"]["annotations"]["argocd.argoproj.io/manifest-generate-paths"] == "."


def test_runs_are_compared_without_the_server(jobs: Repository) -> None:
    """Its diff reverts the tolerations of Kueue: `tests/controllers/argocd/test_delivery.py` shows it."""
    objects = bundle(jobs, NAMED + BOTH)
    options = {
        name: objects[f"ApplicationSet {name}"]["spec"]["template"]["metadata"]["annotations"][COMPARE]
        for name in ("dev-jobs", "dev-storage")
    }
    assert options == {
        "dev-jobs": "ServerSideDiff=false",
        "dev-storage": "ServerSideDiff=false",
    }


def filled(text: str, path: str) -> str:
    """A Go template of an ApplicationSet, for a folder that the generator found."""
    text = text.replace("{{ .path.path }}", path)
    return re.sub(r"\{\{ index \.path\.segments (\d+) \}\}", lambda match: path.split("/")[int(match[1])], text)


@pytest.mark.parametrize("folder", ["", "training/cluster"])
def test_each_job_is_an_application_of_its_own_in_its_namespace(jobs: Repository, folder: str) -> None:
    jobs.job(JOB.format(kind="batch"), namespace="other", name="more")
    path = f", path: {folder}" if folder else ""
    objects = bundle(jobs, OVERLAY + BOTH.replace("cluster: prod", f"cluster: prod{path}"))
    top = f"{folder}/" if folder else ""
    for tree_name, depth, expected in (
        ("jobs", 2, {"dev.team.mpi", "dev.team.batch", "dev.team.pytorch", "dev.team.tensorflow", "dev.other.more"}),
        ("storage", 1, {"dev-storage.team", "dev-storage.other"}),
    ):
        spec = objects[f"ApplicationSet dev-{tree_name}"]["spec"]
        (pattern,) = [entry["path"] for entry in spec["generators"][0]["git"]["directories"]]
        found = set()
        for one in sorted((jobs.root / "rendered/dev" / tree_name).glob("/".join("*" * depth))):
            path = top + one.relative_to(jobs.root).as_posix()
            assert fnmatchcase(path, pattern)
            assert pattern.count("/") == path.count("/")
            assert filled(spec["template"]["spec"]["source"]["path"], path) == path
            assert filled(spec["template"]["spec"]["destination"]["namespace"], path) == one.parts[-depth]
            found.add(filled(spec["template"]["metadata"]["name"], path))
        assert found == expected


@pytest.mark.parametrize("case", [*cases("golden"), PROJECT], ids=lambda path: path.name)
def test_a_project_permits_what_is_rendered_into_it_and_nothing_of_the_other(case: Any, repo: Repository) -> None:
    copied = copy_case(case, repo.root / "copy")
    overlay = next(path for path in sorted(copied.root.glob("overlays/*/overlay.yaml")) if path.parent.name != "base")
    text = overlay.read_text("utf-8")
    overlay.write_text(text if "\ngitops:" in text else f"{text}\n{BOTH}")
    name = overlay.parent.name
    assert copied.render()[1] == 0
    files = {path: yaml.safe_load(text) for path, text in copied.rendered().items()}
    projects = {
        of: next(body for path, body in files.items() if path.endswith(f"/{name}/appproject-{name}-{of}.yaml"))
        for of in ("jobs", "storage")
    }
    sets = {of: files[f"argocd/{name}/applications/applicationset-{name}-{of}.yaml"] for of in ("jobs", "storage")}
    for path, body in files.items():
        top, of, *_ = path.split("/")
        if top == name:
            assert permitted(projects[of], body), path
            assert not permitted(projects["storage" if of == "jobs" else "jobs"], body), path
            words = sets[of]["spec"]["template"]["spec"]["source"]["directory"]["include"]
            assert path.split("/")[-1].split("-")[0] in re.findall(r"\w+", words.partition("}")[0]), path


def test_a_project_is_closed_to_what_the_overlay_grants(jobs: Repository) -> None:
    objects = bundle(jobs, NAMED + BOTH)
    for name in ("dev-jobs", "dev-storage"):
        spec = objects[f"AppProject {name}"]["spec"]
        assert spec["sourceRepos"] == [URL]
        assert spec["destinations"] == [{"name": "prod", "namespace": "team"}]
    assert "clusterResourceWhitelist" not in objects["AppProject dev-jobs"]["spec"]
    assert objects["AppProject dev-storage"]["spec"]["clusterResourceWhitelist"] == [
        {"group": "", "kind": "PersistentVolume", "name": "team-*"}
    ]


@pytest.mark.parametrize("namespace", ["argocd", "kube-system", "kube-public", "kube-node-lease"])
def test_an_overlay_for_every_namespace_keeps_out_those_of_the_cluster(jobs: Repository, namespace: str) -> None:
    projects = [body for key, body in bundle(jobs, OVERLAY + BOTH).items() if key.startswith("AppProject")]
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": namespace}}
    claim = {**body, "kind": "PersistentVolumeClaim"}
    assert not any(permitted(project, one) for project in projects for one in (body, claim))
    body["metadata"] = claim["metadata"] = {"name": "x", "namespace": "anybody"}
    assert sum(permitted(project, one) for project in projects for one in (body, claim)) == 2


def test_the_largest_job_stays_below_what_argo_cd_reads(repo: Repository) -> None:
    """`reposerver.max.combined.directory.manifests.size` is 10M, for the files of one Application."""
    worst = "\u0600" * ((1 << 19) - 200)  # two bytes that are written as six, up to the largest job file
    repo.job(f'kind: mpi\nimage: a:1\ncommand: x\nfiles: {{/a: "{worst}"}}\ndata: {{nas: /d}}\ntensorboard: true\n')
    assert repo.render()[1] == 0
    sizes = [len(text.encode()) for path, text in repo.rendered().items() if path.startswith("dev/jobs/team/demo/")]
    assert 1 << 20 < sum(sizes) < 10_000_000


def test_flux_has_a_kustomization_for_each_namespace_with_jobs(jobs: Repository) -> None:
    jobs.job("kind: batch\nimage: a:1\ncommand: x\n", namespace="other")
    overlay = OVERLAY + BOTH.replace(
        f"flux: {{repoURL: {URL}}}", f"flux: {{repoURL: {URL}, revision: prod, path: a/b}}"
    )
    objects = bundle(jobs, overlay)
    paths = {key: body["spec"]["path"] for key, body in objects.items() if key.startswith("Kustomization")}
    assert paths == {
        "Kustomization dev": "./a/b/rendered/flux/dev",
        "Kustomization dev.jobs.other": "./a/b/rendered/dev/jobs/other",
        "Kustomization dev.jobs.team": "./a/b/rendered/dev/jobs/team",
        "Kustomization dev.storage.team": "./a/b/rendered/dev/storage/team",
    }
    source = objects["GitRepository dev"]["spec"]
    assert source["ref"] == {"branch": "prod"}
    assert source["sparseCheckout"] == ["a/b/rendered"]
    assert all(f"a/b/{path}" in {line[2:] for line in source["ignore"].splitlines()} for path in OWN_FILES)


def test_a_namespace_without_jobs_or_storage_has_no_kustomization_for_them(repo: Repository) -> None:
    """Flux fails for a path that is not there."""
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    objects = bundle(repo, NAMED.replace("volumes:", "  idle: {}\nvolumes:") + BOTH)
    names = sorted(key for key in objects if key.startswith("Kustomization"))
    assert names == ["Kustomization dev", "Kustomization dev.jobs.team"]


def test_flux_applies_and_prunes_its_own_objects_and_keeps_all_when_it_is_told_to_stop(repo: Repository) -> None:
    """The folder of the source is never empty, because it contains the source itself."""
    objects = bundle(repo, NAMED + BOTH)
    root = objects["Kustomization dev"]["spec"]
    assert (root["prune"], root["deletionPolicy"]) == (True, "Orphan")
    folder = repo.root / root["path"]
    assert {yaml.safe_load(path.read_text("utf-8"))["kind"] for path in folder.iterdir()} == {
        "GitRepository",
        "Kustomization",
    }
    for sparse in objects["GitRepository dev"]["spec"]["sparseCheckout"]:
        assert folder.is_relative_to(repo.root / sparse)


OWN_FILES = [f"rendered/flux/dev/{kind}-*.yaml" for kind in ("alert", "gitrepository", "kustomization")]
FOREIGN_FILES = [
    "jobs/team/demo.yaml",
    "rendered/notes.yaml",
    "rendered/dev/x-y.yaml",
    "rendered/dev/jobs/x-y.yaml",
    "rendered/dev/jobs/team/job-x.yaml",
    "rendered/dev/jobs/team/demo/kustomization.yaml",
    "rendered/dev/jobs/team/demo/Kustomization",
    "rendered/dev/jobs/team/demo/values.yaml",
    "rendered/dev/jobs/team/demo/.job-x.yaml",
    "rendered/dev/jobs/team/demo/job-x.yml",
    "rendered/dev/jobs/team/demo/-x.yaml",
    "rendered/dev/jobs/team/demo/deeper/job-x.yaml",
    "rendered/dev/jobs/team/demo/job-x.yaml/job-y.yaml",
    "rendered/dev/storage/team/job-x.yaml",
    "rendered/dev/storage/team/deeper/persistentvolume-x.yaml",
    "rendered/dev/storage/team/persistentvolume-x.yaml/persistentvolume-y.yaml",
    "rendered/dev/.sourceignore",
    "rendered/develop/jobs/team/demo/job-x.yaml",
    "rendered/flux/dev/clusterrolebinding-x.yaml",
    "rendered/flux/dev/deeper/kustomization-x.yaml",
    "rendered/flux/other/kustomization-other.yaml",
    "rendered-more/dev/jobs/team/demo/job-x.yaml",
]


def test_flux_takes_what_gen_writes_for_the_overlay_and_no_other_file(jobs: Repository) -> None:
    jobs.overlay(OVERLAY, name="other")
    source = bundle(jobs, NAMED + BOTH)["GitRepository dev"]
    written = {f"rendered/{path}" for path in jobs.rendered()}
    own = {path for path in written if path.startswith(("rendered/dev/", "rendered/flux/dev/"))}
    assert {path for path in written if taken(source, path)} == own
    assert len(own) > 10
    assert [path for path in FOREIGN_FILES if taken(source, path)] == []


def test_no_job_or_volume_changes_the_source_of_flux(repo: Repository) -> None:
    """Another source would have two artifacts of one commit, of which Kustomizations may apply the wrong one."""
    named = EVERYTHING.replace('  "*":', "  team:")
    source = bundle(repo, named + BOTH)["GitRepository dev"]
    for kind in KINDS:
        repo.job(yaml.safe_dump({"kind": kind, **KINDS[kind].example}), name=kind)
    repo.job("kind: batch\nimage: a:1\ncommand: x\ndata: {nas: /data}\ntensorboard: true\n", name="data")
    after = bundle(repo, named + BOTH)
    assert {"Kustomization dev.jobs.team", "Kustomization dev.storage.team"} <= after.keys()
    assert after["GitRepository dev"] == source


def test_flux_acts_as_the_account_that_the_overlay_names_and_tells_its_provider(jobs: Repository) -> None:
    accounts = "serviceAccount: gen, rootServiceAccount: root"
    flux = f"gitops: {{flux: {{repoURL: {URL}, {accounts}, secret: git, notify: slack}}}}\n"
    objects = bundle(jobs, NAMED + flux)
    for name, account in (("dev", "root"), ("dev.jobs.team", "gen"), ("dev.storage.team", "gen")):
        assert objects[f"Kustomization {name}"]["spec"]["serviceAccountName"] == account
    assert objects["GitRepository dev"]["spec"]["secretRef"] == {"name": "git"}
    assert objects["Alert dev"]["spec"] == {
        "providerRef": {"name": "slack"},
        "eventSeverity": "error",
        "eventSources": [
            {"kind": "GitRepository", "name": "dev"},
            {"kind": "Kustomization", "name": "dev"},
            {"kind": "Kustomization", "name": "dev.jobs.team"},
            {"kind": "Kustomization", "name": "dev.storage.team"},
        ],
    }


def test_argo_cd_tells_who_asked_for_it(jobs: Repository) -> None:
    objects = bundle(jobs, NAMED + f"gitops: {{argocd: {{repoURL: {URL}, notify: {{slack: ml, email.ops: a@b.c}}}}}}\n")
    data = objects["settings argocd-notifications-cm"]["data"]
    annotations = objects["AppProject dev-jobs"]["metadata"]["annotations"]
    assert annotations["notifications.argoproj.io/subscribe.gen-run-failed.slack"] == "ml"
    assert annotations["notifications.argoproj.io/subscribe.gen-run-succeeded.email.ops"] == "a@b.c"
    assert len(annotations) == 6
    for key in annotations:
        trigger = key.removeprefix("notifications.argoproj.io/subscribe.").split(".")[0]
        (rule,) = yaml.safe_load(data[f"trigger.{trigger}"])
        assert rule["send"] == [trigger]
        # not `app.status.sync.revision`, which every commit of the repository changes
        assert rule["oncePer"] == "app.status?.operationState?.syncResult?.revision"
        assert list(yaml.safe_load(data[f"template.{trigger}"])) == ["message"]
    assert list(objects["AppProject dev-storage"]["metadata"]["annotations"]) == [
        "notifications.argoproj.io/subscribe.gen-sync-failed.email.ops",
        "notifications.argoproj.io/subscribe.gen-sync-failed.slack",
    ]


def test_settings_of_argo_cd_are_patches_that_nothing_applies(jobs: Repository) -> None:
    """An apply of a ConfigMap with these keys alone removes all others, and a deletion of the bundle removes it."""
    objects = bundle(jobs, NAMED + f"gitops: {{argocd: {{repoURL: {URL}, notify: {{slack: ml}}}}}}\n")
    assert not any(key.startswith("ConfigMap") for key in objects)
    for name in ("argocd-cm", "argocd-notifications-cm"):
        patch = objects[f"settings {name}"]
        assert list(patch) == ["data"]
        assert all(isinstance(value, str) for value in patch["data"].values()), "none is null, which would remove it"
    # neither kubectl nor an engine reads files with this ending
    assert {path.name for path in (jobs.root / "rendered/argocd/dev/settings").iterdir()} == {
        "argocd-cm.patch",
        "argocd-notifications-cm.patch",
    }


def test_argo_cd_applies_the_sets_of_its_bundle_and_nothing_else(jobs: Repository) -> None:
    """With projects among them, a commit could widen what Argo CD may do."""
    objects = bundle(jobs, NAMED + BOTH.replace("cluster: prod", "cluster: prod, path: a/b"))
    root, project = objects["Application dev-root"]["spec"], objects["AppProject dev-root"]["spec"]
    folder = jobs.root / "rendered/argocd/dev"
    assert root["source"]["path"] == "a/b/rendered/argocd/dev/applications"
    assert {path.name.split("-")[0] for path in (folder / "applications").iterdir()} == {"applicationset"}
    assert root["project"] == "dev-root"
    assert root["destination"] == {"name": "in-cluster", "namespace": "argocd"}
    assert root["syncPolicy"]["automated"] == {"prune": False, "selfHeal": True}
    assert project["namespaceResourceWhitelist"] == [{"group": "argoproj.io", "kind": "ApplicationSet"}]
    assert project["destinations"] == [{"name": "in-cluster", "namespace": "argocd"}]
    assert "clusterResourceWhitelist" not in project


def test_kubectl_applies_projects_before_what_needs_them(jobs: Repository) -> None:
    """It applies files in the order of their names, and nothing in deeper folders."""
    bundle(jobs, NAMED + BOTH)
    applied = sorted(path.name for path in (jobs.root / "rendered/argocd/dev").glob("*.yaml"))
    assert applied == [
        "appproject-dev-jobs.yaml",
        "appproject-dev-root.yaml",
        "appproject-dev-storage.yaml",
        "root.yaml",
    ]


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


def test_a_render_of_some_jobs_leaves_bundles_as_they_are(jobs: Repository) -> None:
    bundle(jobs, NAMED + BOTH)
    before = tree(jobs.root / "rendered/flux")
    jobs.job("kind: batch\nimage: a:1\ncommand: x\n", name="new")
    assert jobs.render("team/new")[1] == 0
    assert tree(jobs.root / "rendered/flux") == before
    assert jobs.check()[1] == 0


def test_patches_are_for_what_runs_in_the_cluster(jobs: Repository) -> None:
    patch = 'patches:\n  - target: {name: "*"}\n    patch: {metadata: {annotations: {a: b}}}\n'
    assert bundle(jobs, NAMED + BOTH + patch) == bundle(jobs, NAMED + BOTH)


COMPANIONS = ["ConfigMap", "Service", "Deployment"]
"""Kinds that a bundle always permits, or an engine could not prune the last object of one."""


def kinds_of(objects: dict[str, dict[str, Any]]) -> list[str]:
    return [entry["kind"] for entry in objects["AppProject dev-jobs"]["spec"]["namespaceResourceWhitelist"]]


MPI = "operators: {mpi: kubeflow.org/v2beta1}\n"


def test_a_bundle_names_the_kinds_of_its_jobs(repo: Repository) -> None:
    repo.job("kind: tensorflow\nimage: a:1\ncommand: x\n")
    objects = bundle(repo, OVERLAY + BOTH + "operators: {batch: batch/v1}\n")
    assert kinds_of(objects) == [*COMPANIONS, "CronJob", "Job", "TFJob"]
    assert list(objects["settings argocd-cm"]["data"]) == [
        "resource.customizations.health.batch_Job",
        "resource.customizations.health.kubeflow.org_TFJob",
    ]
    application = objects["ApplicationSet dev-jobs"]["spec"]["template"]["spec"]
    assert application["source"]["directory"]["include"] == "{configmap,cronjob,deployment,job,service,tfjob}-*.yaml"
    assert [ignored["kind"] for ignored in application["ignoreDifferences"]] == ["Job", "TFJob"]
    checks = objects["Kustomization dev.jobs.team"]["spec"]["healthCheckExprs"]
    assert [check["kind"] for check in checks] == ["TFJob"]


def test_a_bundle_names_the_kinds_that_the_overlay_lists_under_operators(repo: Repository) -> None:
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    objects = bundle(repo, OVERLAY + BOTH + "operators: {mpi: kubeflow.org/v1}\n")
    assert kinds_of(objects) == [*COMPANIONS, "Job", "MPIJob"]
    (check,) = objects["Kustomization dev.jobs.team"]["spec"]["healthCheckExprs"]
    assert (check["apiVersion"], check["kind"]) == ("kubeflow.org/v1", "MPIJob")


def test_a_bundle_permits_the_first_job_of_a_listed_kind(repo: Repository) -> None:
    """Nobody has to apply a project for it."""
    listed = OVERLAY + BOTH + "operators: {batch: batch/v1}\n"
    without = bundle(repo, listed)
    assert kinds_of(without) == [*COMPANIONS, "CronJob", "Job"]
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    after = bundle(repo, listed)
    assert {key: body for key, body in after.items() if key in without} == without


def test_a_bundle_permits_workflows_if_the_overlay_has_pipelines(repo: Repository) -> None:
    """Also after the last one is removed, so that an engine can prune it."""
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    assert kinds_of(bundle(repo, EVERYTHING + BOTH)) == [*COMPANIONS, "CronWorkflow", "Workflow", "Job"]


def test_kinds_of_jobs_from_the_cache_count(repo: Repository, tmp_path: Path) -> None:
    repo.overlay(OVERLAY + BOTH + MPI)
    repo.job("kind: tensorflow\nimage: a:1\ncommand: x\n", name="one")
    for image in ("a:1", "a:2"):
        repo.job(f"kind: batch\nimage: {image}\ncommand: x\n", name="two")
        assert repo.render(cache=tmp_path / "cache")[1] == 0
        project = yaml.safe_load(repo.rendered()["argocd/dev/appproject-dev-jobs.yaml"])
        assert kinds_of({"AppProject dev-jobs": project}) == [*COMPANIONS, "Job", "MPIJob", "TFJob"]


def test_one_more_kind_changes_no_byte_of_the_example(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {path: text for path, text in tree(PROJECT / "rendered").items() if path.startswith(ENGINE_FOLDERS)}
    assert expected
    for name, model in FOREIGN.items():
        monkeypatch.setitem(KINDS, name, model)
        monkeypatch.setitem(RESOURCES, model.facts.key, model.facts)
    example = copy_case(PROJECT, repo.root / "example")
    assert example.render()[1] == 0
    assert {path: text for path, text in example.rendered().items() if path.startswith(ENGINE_FOLDERS)} == expected
