"""Kinds that overlays declare, with the whole CRDs of their operators, and an API server that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from gen.report.findings.text import text
from tests.support import HERE, copy_case, tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.controllers.programs import Programs
    from tests.e2e.cluster import Cluster

OPERATORS = {"declared-kind": "spark-operator", "declared-kind-that-never-ends": "lws"}
"""By golden case. Its CRD has only the fields that it needs."""


@pytest.mark.parametrize("name", OPERATORS)
def test_the_whole_definition_renders_the_same_and_accepts_it(
    cluster: Cluster, controllers: Programs, name: str, tmp_path: Path
) -> None:
    definitions = controllers.definitions(OPERATORS[name])
    if not definitions:
        pytest.skip("scripts/controllers/declared-kinds.sh copies the CRDs")
    repo = copy_case(HERE / "golden" / name, tmp_path / "repo")
    (definition,) = (repo.root / "overlays/dev/crds").iterdir()
    definition.write_text(yaml.dump(definitions[0], Dumper=yaml.CSafeDumper), "utf-8")
    report, code = repo.render()
    assert code == 0, text(report)
    assert tree(repo.root / "rendered") == tree(HERE / "golden" / name / "rendered")
    cluster.install(definitions)
    cluster.add_namespaces(["team"])
    (file,) = (repo.root / "rendered/dev/jobs/team/demo").iterdir()
    response = cluster.try_to_create(yaml.safe_load(file.read_bytes()))
    assert response.status == 201, response.message
