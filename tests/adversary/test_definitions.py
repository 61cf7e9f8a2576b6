"""Definitions in an overlay cannot lead out of it or crash a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.kubernetes.schemas.lookup import Definitions
from tests.adversary.bare import HEAD
from tests.kubernetes.schemas.definition import definition
from tests.support import Repository, validated

if TYPE_CHECKING:
    from pathlib import Path

DEFINITION = definition("kubeflow.org", "PyTorchJob")


@pytest.mark.parametrize("link", ["crds", "crds/a.yaml", "crds/inner"])
def test_definitions_cannot_be_links(bare: Repository, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.yaml").write_text(DEFINITION)
    bare.job(HEAD)
    at = bare.root / "overlays/dev" / link
    at.parent.mkdir(exist_ok=True)
    at.symlink_to(outside / "a.yaml" if link.endswith(".yaml") else outside)
    (finding,) = bare.render()[0].findings
    assert (finding.code, finding.place.file) == ("not-a-file", f"overlays/dev/{link}")
    assert Definitions((bare.root / "overlays/dev/crds",)).kinds() == (
        [] if link != "crds" else [("kubeflow.org/v1", "PyTorchJob")]
    )


@pytest.mark.parametrize(
    "fault",
    [
        ("kind: PyTorchJob", "kind: true # kind: PyTorchJob"),
        ("group: kubeflow.org", "group: 3"),
        ("name: v1\n", "name: 1\n"),
        ("served: true", "served: true\n      deprecated: true\n      deprecationWarning: 3"),
        ("spec:", "spec: ["),
    ],
)
def test_a_definition_with_a_wrong_type_is_a_finding(
    bare: Repository, monkeypatch: pytest.MonkeyPatch, fault: tuple[str, str]
) -> None:
    bare.job(HEAD)
    bare.job(HEAD, name="other")
    assert bare.render()[1] == 0
    bare.write("overlays/dev/crds/a.yaml", DEFINITION.replace(*fault))
    (finding,) = bare.render()[0].findings
    assert (finding.code, finding.place.file) == ("invalid-definition", "overlays/dev/crds/a.yaml")
    monkeypatch.chdir(bare.root)
    text = "apiVersion: kubeflow.org/v1\nkind: PyTorchJobb\nmetadata: {name: a}\n"
    bare.write("rendered/dev/jobs/team/other/a.yaml", text)
    report, code = validated("rendered")
    assert (code, [finding.code for finding in report.findings]) == (1, ["invalid-definition"])
