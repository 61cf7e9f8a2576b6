"""Paths of a repository: built, parsed, and the same both ways."""

from __future__ import annotations

import pytest

from gen.base.repository.layout import (
    JobFile,
    RenderedPath,
    engine_of,
    job_key,
    object_file,
    object_files,
    overlay_file,
    overlay_folder,
    overlay_of,
    rendered_folder,
    scope_overlay,
    tree_folder,
)
from tests.cases import for_each


@for_each(
    ("path", "parsed"),
    [
        (
            "rendered/dev/jobs/team/demo/service-demo.yaml",
            RenderedPath(overlay="dev", tree="jobs", namespace="team", job="demo", file="service-demo.yaml"),
        ),
        (
            "rendered/dev/storage/team/persistentvolume-data.yaml",
            RenderedPath(overlay="dev", tree="storage", namespace="team", file="persistentvolume-data.yaml"),
        ),
        ("rendered/flux/dev/alert-dev.yaml", RenderedPath(engine="flux", overlay="dev", file="alert-dev.yaml")),
        ("rendered/argocd/stray.yaml", RenderedPath(engine="argocd", file="stray.yaml")),
        ("rendered", RenderedPath()),
        ("rendered/stray.yaml", RenderedPath(file="stray.yaml")),
        (
            "rendered/dev/jobs/team/demo/deeper/stray.yaml",
            RenderedPath(overlay="dev", tree="jobs", namespace="team", job="demo", file="deeper/stray.yaml"),
        ),
        ("rendered/flux/dev/storage/stray.yaml", RenderedPath(engine="flux", overlay="dev", file="storage/stray.yaml")),
    ],
)
def test_a_rendered_path_is_parsed_and_written_back(path: str, parsed: RenderedPath) -> None:
    assert RenderedPath.parse(path) == parsed
    assert str(parsed) == path


@pytest.mark.parametrize("path", ["jobs/team/demo.yaml", "x/rendered/dev/jobs/a.yaml"])
def test_a_path_outside_of_rendered_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is not in rendered/"):
        RenderedPath.parse(path)


@pytest.mark.parametrize(
    ("path", "scope", "engine", "overlay"),
    [
        ("rendered/dev/jobs/team/demo/a.yaml", "dev", "", "dev"),
        ("rendered/argocd/dev/a.yaml", "argocd/dev", "argocd", "dev"),
        ("rendered/a.yaml", "", "", ""),
    ],
)
def test_the_scope_of_a_file_names_its_overlay_and_engine(path: str, scope: str, engine: str, overlay: str) -> None:
    assert RenderedPath.parse(path).scope == scope
    assert (engine_of(scope), scope_overlay(scope)) == (engine, overlay)


def test_an_overlay_called_storage_does_not_make_bundles_storage() -> None:
    assert not RenderedPath.parse("rendered/argocd/storage/appproject-dev.yaml").is_storage
    assert RenderedPath.parse("rendered/storage/storage/team/persistentvolume-data.yaml").is_storage


def test_folders_and_files_are_those_of_the_parsed_path() -> None:
    assert str(RenderedPath(overlay="dev", tree="jobs")) == tree_folder("dev", "jobs") == "rendered/dev/jobs"
    assert rendered_folder("dev", "jobs", "team/demo") == "rendered/dev/jobs/team/demo"
    assert tree_folder("dev", "storage", "team") == rendered_folder("dev", "storage", "team")
    assert rendered_folder("dev", "bundle", "flux") == str(RenderedPath(engine="flux", overlay="dev"))
    assert object_file("PyTorchJob", "demo") == "pytorchjob-demo.yaml"
    assert object_files(["Service", "ConfigMap", "Service"]) == "{configmap,service}-*.yaml"


@for_each(
    ("path", "overlay"),
    [
        ("overlays/dev/overlay.yaml", "dev"),
        ("rendered/dev/jobs/team/demo/a.yaml", "dev"),
        ("rendered/dev", None),
        ("rendered/argocd/dev/a.yaml", None),
        ("jobs/team/demo.yaml", None),
    ],
)
def test_the_overlay_of_a_path(path: str, overlay: str | None) -> None:
    assert overlay_of(path) == overlay


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/srv/rendered/dev/jobs/team/a.yaml", "/srv/rendered/dev/"),
        ("rendered/dev/storage/team/a.yaml", "rendered/dev/"),
        ("rendered/dev/other/a.yaml", None),
        ("manifests/a.yaml", None),
    ],
)
def test_the_folder_of_an_overlay_anywhere(path: str, folder: str | None) -> None:
    assert overlay_folder(path) == folder


def test_a_job_file_has_a_path_and_a_key() -> None:
    job = JobFile("team", "demo")
    assert job.file == "jobs/team/demo.yaml"
    assert job_key(job.file) == job.key == "team/demo"
    assert overlay_file("dev") == "overlays/dev/overlay.yaml"
