"""Bundles of Flux: sources, Kustomizations and alerts."""

from __future__ import annotations

import yaml

from gen.job.kinds import KINDS
from tests.overlay.profiles.engines.source_ignore import taken
from tests.render.bundle.support import BOTH, NAMED, OVERLAY, URL, bundle
from tests.support import OVERLAY as EVERYTHING
from tests.support import Repository


def test_flux_has_a_kustomization_for_each_job(repo: Repository) -> None:
    """It applies nothing of a Kustomization with an object that the cluster refuses (fluxcd/pkg#293)."""
    repo.job("kind: batch\nimage: a:1\ncommand: x\n", namespace="other")
    repo.job("kind: batch\nimage: a:1\ncommand: x\n", name="long-name" * 5, namespace="long-namespace")
    sweep = "env: {LR: '{{ params.lr }}'}\nsweep: {matrix: {lr: [1, 2]}}\n"
    repo.job("kind: batch\nimage: a:1\ncommand: x\ndata: {nas: /data}\n" + sweep)
    overlay = OVERLAY + BOTH.replace(
        f"flux: {{repoURL: {URL}}}", f"flux: {{repoURL: {URL}, revision: prod, path: a/b}}"
    )
    objects = bundle(repo, overlay)
    paths = {key: body["spec"]["path"] for key, body in objects.items() if key.startswith("Kustomization")}
    (cut,) = [key.partition(" ")[2] for key in paths if "long" in key]
    assert len(cut) <= 63, "it is the value of a label of the objects"
    assert paths == {
        "Kustomization dev": "./a/b/rendered/flux/dev",
        "Kustomization dev.jobs.other.demo": "./a/b/rendered/dev/jobs/other/demo",
        "Kustomization dev.jobs.team.demo": "./a/b/rendered/dev/jobs/team/demo",
        f"Kustomization {cut}": f"./a/b/rendered/dev/jobs/long-namespace/{'long-name' * 5}",
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
    assert names == ["Kustomization dev", "Kustomization dev.jobs.team.demo"]


def test_flux_applies_and_prunes_its_own_objects_and_keeps_all_when_suspended(repo: Repository) -> None:
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
    """Another source would have two artifacts of one commit, and Kustomizations may apply the wrong one."""
    named = EVERYTHING.replace('  "*":', "  team:")
    source = bundle(repo, named + BOTH)["GitRepository dev"]
    for kind in KINDS:
        repo.job(yaml.safe_dump({"kind": kind, **KINDS[kind].example}), name=kind)
    repo.job("kind: batch\nimage: a:1\ncommand: x\ndata: {nas: /data}\ntensorboard: true\n", name="data")
    after = bundle(repo, named + BOTH)
    assert {"Kustomization dev.jobs.team.data", "Kustomization dev.storage.team"} <= after.keys()
    assert after["GitRepository dev"] == source


def test_flux_acts_as_the_account_of_the_overlay_and_notifies_its_provider(jobs: Repository) -> None:
    accounts = "serviceAccount: gen, rootServiceAccount: root"
    flux = f"gitops: {{flux: {{repoURL: {URL}, {accounts}, secret: git, notify: slack}}}}\n"
    objects = bundle(jobs, NAMED + flux)
    for name, account in (("dev", "root"), ("dev.jobs.team.mpi", "gen"), ("dev.storage.team", "gen")):
        assert objects[f"Kustomization {name}"]["spec"]["serviceAccountName"] == account
    assert objects["GitRepository dev"]["spec"]["secretRef"] == {"name": "git"}
    assert objects["Alert dev"]["spec"] == {
        "providerRef": {"name": "slack"},
        "eventSeverity": "error",
        "eventSources": [
            {"kind": "GitRepository", "name": "dev"},
            {"kind": "Kustomization", "name": "*", "matchLabels": {"gen/overlay": "dev"}},
        ],
        "exclusionList": ["kustomization path not found"],
    }
