"""Objects in the forms that upstream projects show: each is imported, rendered and equal to the original."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.importers.manifests.forms import EQUAL
from tests.importers.manifests.proofs import proof_of
from tests.support import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@for_each("name", EQUAL)
def test_an_object_of_each_kind_is_equal(name: str) -> None:
    proof = proof_of(EQUAL[name])
    assert proof.remaining == ()
    assert proof.patch is None, proof.patch
    assert proof.job.fields["kind"] == name.split("-", maxsplit=1)[0]


def test_every_kind_with_pods_is_imported() -> None:
    """By hand in another form, or as gen renders it."""
    with_pods = {model.facts.kind for model in KINDS.values() if model.facts.pods or model.facts.nodes}
    written = {KINDS[name.split("-")[0]].facts.kind for name in EQUAL}
    as_rendered = {param.values[0].stem.partition("-")[0] for param in golden()}
    assert {kind for kind in with_pods - written if kind.lower() not in as_rendered} == set()


NOT_EQUAL = {
    **dict.fromkeys(
        (
            "batch-array-job-demo",
            "copies-of-files-job-batch",
            "copies-of-files-jobset-set",
            "copies-of-files-mpijob-mpi",
            "copies-of-files-pytorchjob-one-pod",
            "pins-of-images-and-code-pytorchjob-train",
        ),
        "copies and logs (their volumes have a name of gen)",
    ),
    "network-host-mpijob-demo": "a variable that gen sets on this network",
    **dict.fromkeys(
        ("networks-of-every-profile-trainjob-gke-rdma", "train-torch-trainjob-demo"),
        "patches of a runtime, here for shared memory",
    ),
}
"""Rendered runs that are not imported as they are, with what prevents it. Those with long names come besides."""


KIND = re.compile(r"^kind: (\w+)$", re.MULTILINE)


def golden() -> Iterator[Any]:
    """Rendered runs of the golden cases."""
    kinds = {model.facts.kind for model in KINDS.values() if model.facts.pods or model.facts.nodes}
    for path in sorted((HERE / "golden").glob("*/rendered/*/jobs/*/*/*.yaml")):
        kind = KIND.search(path.read_text("utf-8"))
        if kind is not None and kind[1] in kinds:
            name = f"{path.parts[-7]}-{path.stem}"
            reason = NOT_EQUAL.get(name)
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason is not None else []
            yield pytest.param(path, id=name, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("path", list(golden()))
def test_what_gen_renders_is_imported_and_rendered_again(path: Path) -> None:
    body = yaml.safe_load(path.read_text("utf-8"))
    body["metadata"]["name"] = "demo"
    assert proof_of(body).remaining == ()
