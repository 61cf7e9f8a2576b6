"""`gen explain` for fields of jobs and overlays."""

from __future__ import annotations

import pytest

from gen.commands.explain import Request, run
from gen.job.fields import JobFields
from gen.job.kinds import KINDS
from gen.overlay.fields import OverlayFields
from gen.report.explain import Field, document_fields, matching
from gen.report.schemas import SCHEMAS
from tests.cases import for_each


@pytest.fixture(scope="module")
def fields() -> list[Field]:
    return [field for document, schema in SCHEMAS.items() for field in document_fields(document, schema())]


def explained(name: str) -> str:
    return run(Request(name=name)).output


def test_every_field_is_found_by_its_path_and_described(fields: list[Field]) -> None:
    without = [field.name for field in fields if not field.schema.get("description")]
    assert without == []
    for field in fields:
        assert field in matching(fields, field.name)
        assert field in matching(fields, ".".join(field.path[1:]))
        assert field in matching(fields, ".".join(step for step in field.path if step != "<name>"))


def test_every_field_of_the_models_is_listed(fields: list[Field]) -> None:
    job, overlay = explained("job"), explained("overlay")
    for model, listed in ((JobFields, job), (OverlayFields, overlay)):
        names = [str(field.alias) for field in model.model_fields.values()]
        assert [name for name in names if f"\n{name} <" not in f"\n{listed}"] == []
    for kind, model in KINDS.items():
        for name, field in model.model_fields.items():
            assert matching(fields, f"job.{field.alias}"), (kind, name)


@for_each("kind", KINDS)
def test_every_kind_is_described_with_its_fields(kind: str) -> None:
    text = explained(kind)
    assert f"kind: {kind}\n    {' '.join((KINDS[kind].__doc__ or '').split())[:30]}" in text
    own = {str(field.alias) for field in KINDS[kind].model_fields.values()}
    others = [{str(field.alias) for field in other.model_fields.values()} for other in KINDS.values()]
    assert [name for name in own - others[0].intersection(*others) if f"\n{name} <" not in text] == []


@for_each(
    ("name", "parts"),
    [
        ("gpus", ["job.gpus <integer>\n", "Other fields of this name:\n", "    overlay.namespaces.<name>.gpus\n"]),
        ("job.workers", ["job.workers <positive integer>\n", "    Default: 1\n"]),
        ("overlay.volumes.nas", ["overlay.volumes.<name>.nas <NAS>\n", "\nserver <host name or address> required\n"]),
        ("overlay.volumes.data.nas.server", ["overlay.volumes.<name>.nas.server <", "    Required.\n"]),
        ("defaults.kinds.mpi.tensorboard", ["job.tensorboard <", "\nlogdir <absolute path>\n"]),
        ("job.kind", ["job.kind <`batch`, ", "`xgboost`>\n"]),
        (
            "volcano",
            [
                "kind: volcano\n    Volcano. ",
                "\nplugins <map of lists of strings>\n",
                "overlay.queues.<name>.volcano <",
            ],
        ),
        ("slotsPerWorker", ["job.slotsPerWorker <", "    Only for kind mpi.\n"]),
        ("namespaces", ["namespaces: error in manifests", "\noverlay.namespaces <map of Grants>\n"]),
    ],
)
def test_the_explanation_of_a_field(name: str, parts: list[str]) -> None:
    text = explained(name)
    assert [part for part in parts if part not in text] == []
    assert max(len(line) for line in text.splitlines() if not line.startswith("job.kind")) <= 100 + len("Only for kind")


def test_a_field_that_kinds_define_differently_is_explained_for_each() -> None:
    text = explained("job.roles")
    assert text.count("job.roles <") > 1
    assert "Only for kind jobset." in text
    assert "\nlauncher <RoleFields> (kind mpi)\n" in text
