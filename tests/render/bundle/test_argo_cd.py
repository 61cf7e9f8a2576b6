"""Bundles of Argo CD: applications, projects and settings."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

import pytest
import yaml

from tests.overlay.profiles.engines.project import permitted
from tests.render.bundle.support import BOTH, COMPARE, JOB, NAMED, OVERLAY, URL, bundle
from tests.support import PROJECT, Repository, cases, copy_case


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


def fill_hash(text: str, path: str) -> str:
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
            assert fill_hash(spec["template"]["spec"]["source"]["path"], path) == path
            assert fill_hash(spec["template"]["spec"]["destination"]["namespace"], path) == one.parts[-depth]
            found.add(fill_hash(spec["template"]["metadata"]["name"], path))
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


def test_argo_cd_notifies_the_subscribers(jobs: Repository) -> None:
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
