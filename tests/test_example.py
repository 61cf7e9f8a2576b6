"""The project's own jobs, overlays and rendered files are an example that works."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
import yaml
from jsonschema_rs import Draft7Validator
from ruamel.yaml import YAML

from gen.job.kinds import forget_declared
from gen.overlay import load_extensions
from gen.report.findings.text import text
from gen.report.schemas import SCHEMAS, schema_text
from tests.support import PROJECT, Repository, cases, tree

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_committed_is_what_comes_out() -> None:
    report, code = Repository(PROJECT).check(parallel=0)
    assert code == 0, text(report)
    assert report.findings == ()


def test_rendering_from_nothing_gives_the_same(tmp_path: Path) -> None:
    for name in ("jobs", "overlays"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    assert Repository(tmp_path).render(parallel=0)[1] == 0
    assert tree(tmp_path / "rendered") == tree(PROJECT / "rendered")


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_the_editors_schema_is_fresh_and_of_draft_7(name: str) -> None:
    committed = (PROJECT / f"schemas/{name}.schema.json").read_text("utf-8")
    assert committed == schema_text(name), "run `just schema`"
    schema = json.loads(committed)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert "prefixItems" not in committed
    assert "$defs" not in committed
    Draft7Validator(schema)


def files(kind: str) -> list[Path]:
    return sorted(PROJECT.glob("jobs/*/*.yaml" if kind == "job" else "overlays/*/overlay.yaml"))


def schema_with_kinds(root: Path, kind: str) -> str:
    """The schema in a repository that declares kinds."""
    load_extensions(root)
    try:
        return schema_text(kind)
    finally:
        forget_declared()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["job", "overlay"])
def test_editors_accept_the_example_and_every_golden_case(kind: str) -> None:
    usual = Draft7Validator(json.loads(schema_text(kind)))
    pattern = "jobs/*/*.yaml" if kind == "job" else "overlays/*/overlay.yaml"
    readable = [case for case in cases("golden") if not case.name.startswith("texts-that-readers-take")]
    for path in [*files(kind), *(path for case in readable for path in case.glob(pattern))]:
        declares = (path.parents[2] / "overlays/dev/crds").exists()
        validator = Draft7Validator(json.loads(schema_with_kinds(path.parents[2], kind))) if declares else usual
        data = json.loads(json.dumps(YAML(typ="safe", pure=True).load(path), default=str))
        assert [error.message for error in validator.iter_errors(data)] == [], path


@pytest.mark.parametrize(
    ("text_of_job", "message"),
    [
        ("{kind: pytorch, wrokers: 2}", "'wrokers' was unexpected"),
        ("{kind: pytorch, workers: two}", "workers"),
        ("{kind: pytroch}", '"pytroch" is not one of'),
        ("{kind: mpi, nprocPerNode: 2}", "'nprocPerNode' was unexpected"),
    ],
)
def test_editors_refuse_what_gen_refuses(text_of_job: str, message: str) -> None:
    validator = Draft7Validator(json.loads(schema_text("job")))
    errors = list(validator.iter_errors(yaml.safe_load(text_of_job)))
    assert errors
    assert any(message in f"{error.message} {error.instance_path}" for error in errors)


def test_every_example_names_its_schema_for_editors() -> None:
    for kind in ("job", "overlay"):
        for path in files(kind):
            first = path.read_text("utf-8").splitlines()[0]
            reference = first.removeprefix("# yaml-language-server: $schema=")
            assert (path.parent / reference).resolve() == PROJECT / f"schemas/{kind}.schema.json"
