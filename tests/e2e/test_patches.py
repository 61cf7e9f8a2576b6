"""Patches of gen, Kustomize and the API server, applied to thousands of random objects: results must agree.

Intended differences are in `patch_differences.yaml` and docs/patches.md. `PATCH_SEED` selects other cases, and
`PATCH_CASES` their number.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.findings import Findings
from gen.base.yaml.layers import Layer
from gen.base.yaml.source import source_of
from gen.base.yaml.strict import typed
from gen.kubernetes.schemas.registry import schemas
from gen.overlay.patch import check_directives
from gen.overlay.patch_files import read_operations
from gen.render.patch.apply import DoesNotApply, apply
from gen.render.patch.provenance import Provenance
from gen.render.patch.strategic import StrategicMerge
from tests.e2e.patch_cases import KINDS, Generator, operations
from tests.go_programs import answers, go_program
from tests.support import HERE, PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes.objects import Body

SEED = int(os.environ.get("PATCH_SEED", "20261121"))
CASES = int(os.environ.get("PATCH_CASES", "4000"))
VERSION = "1.34"
NEWER = ("schedulingGates", "resourceClaims")
"""Lists that merge by keys, but not in the schemas of Kustomize, which are those of Kubernetes 1.21."""
TWO_KEYS = ("ports", "topologySpreadConstraints")
"""Lists that the API server merges by the first of their keys."""
DIFFERENCES = yaml.safe_load((HERE / "e2e" / "patch_differences.yaml").read_text("utf-8"))


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with the libraries of Kustomize and of the API server, built from the Go module proxy."""
    return go_program("patchref", tmp_path_factory.mktemp("go"))


def merged(body: Body, patch: Body) -> Body | None:
    """The object after a strategic merge; None if gen refuses the patch."""
    found = Findings()
    source = source_of(json.dumps(patch).encode(), "overlays/dev/patch.yaml", found)
    assert source is not None
    read: Any = typed(source.data)
    if not check_directives(read, Layer(source), found):
        return None
    merging = StrategicMerge(schemas(VERSION), Layer(source), Provenance())
    result = merging.apply(body, read)
    return None if merging.problems else result


def operated(body: Body, given: list[Body]) -> Body | str:
    """The object after JSON 6902 operations, or the operation that does not apply; empty if gen refuses the patch."""
    found = Findings()
    source = source_of(json.dumps(given).encode(), "overlays/dev/patch.yaml", found)
    assert source is not None
    assert isinstance(source.data, list)
    for operation in (read := read_operations(source.data, Layer(source), found)) or ():
        try:
            body, _ = apply(body, operation)
        except DoesNotApply:
            return operation.op
    return "" if read is None else body


def comparable(value: Any, without: tuple[str, ...], *, ordered: bool = True) -> Any:
    """A value without differences that are intended, and without empty values, which Kustomize removes."""
    if isinstance(value, dict):
        inner = {key: comparable(item, without, ordered=ordered) for key, item in value.items() if key not in without}
        if ordered:
            inner |= {key: sorted(inner[key], key=canonical) for key in TWO_KEYS if isinstance(inner.get(key), list)}
        return {key: item for key, item in inner.items() if item not in ({}, [])}
    if isinstance(value, list):
        entries = [comparable(item, without, ordered=ordered) for item in value]
        return entries if ordered else sorted(entries, key=canonical)
    return value


def canonical(value: Any) -> str:
    """Unlike in Python, `true` and 1 differ."""
    return json.dumps(value, sort_keys=True)


def test_strategic_merges_agree(reference: Path) -> None:
    generator = Generator(schemas(VERSION), Random(SEED))  # noqa: S311
    objects = [generator.object(*KINDS[number % len(KINDS)]) for number in range(CASES)]
    cases = [{"object": body, "patch": generator.patch(body)} for body in objects]
    kinds: Counter[str] = Counter()
    for case, result in zip(cases, answers(reference, cases), strict=True):
        ours = merged(case["object"], case["patch"])
        theirs = result["kustomize"].get("object")
        assert canonical(comparable(ours, NEWER)) == canonical(comparable(theirs, NEWER)), case
        kinds["kustomize"] += 1
        if "apimachinery" in result:
            theirs = result["apimachinery"].get("object")
            expected = canonical(comparable(theirs, TWO_KEYS, ordered=False))
            assert canonical(comparable(ours, TWO_KEYS, ordered=False)) == expected, case
            kinds["apimachinery"] += 1
        kinds["changed"] += canonical(ours) != canonical(case["object"])
        kinds["delete"] += '"$patch": "delete"' in canonical(case["patch"])
        kinds["replace"] += '"$patch": "replace"' in canonical(case["patch"])
        kinds["null"] += "null" in canonical(case["patch"])
    assert kinds["apimachinery"] > CASES * 0.8
    assert kinds["changed"] > CASES * 0.5
    assert min(kinds["delete"], kinds["replace"], kinds["null"]) > CASES * 0.05


def test_operations_agree(reference: Path) -> None:
    chance = Random(SEED)  # noqa: S311
    generator = Generator(schemas(VERSION), chance)
    objects = [generator.object(*KINDS[number % len(KINDS)]) for number in range(CASES)]
    cases = [(body, operations(body, chance)) for body in objects]
    given = [{"object": body, "operations": patch} for body, patch in cases]
    applied = 0
    for (body, patch), result in zip(cases, answers(reference, given), strict=True):
        ours, theirs = operated(body, patch), result["kustomize"].get("object")
        if isinstance(ours, str):
            # Kustomize adds what `replace` does not find, and null for what `copy` does not find
            assert theirs is None or ours in {"replace", "copy"}, patch
        else:
            assert canonical(ours) == canonical(theirs), patch
            applied += 1
    assert CASES * 0.2 < applied < CASES * 0.8


def whole(difference: dict[str, Any], key: str) -> Any:
    """A patch or a result of an example as a whole object, with its pod specification in a Deployment."""
    value = difference.get("gen" if difference.get(key) == "same" else key)
    if "object" in difference or not isinstance(value, dict):
        return value
    head = {} if key == "patch" else {"apiVersion": "apps/v1", "kind": "Deployment"}
    return {**head, "spec": {"template": {"spec": value}}}


@pytest.fixture(scope="session")
def examples(reference: Path) -> dict[str, dict[str, Body]]:
    """Results of the references for all examples, by title."""
    cases = []
    for one in DIFFERENCES:
        patch = {"operations": one["operations"]} if "operations" in one else {"patch": whole(one, "patch")}
        cases.append({"object": whole(one, "pod") or one["object"], **patch})
    return dict(zip((one["title"] for one in DIFFERENCES), answers(reference, cases), strict=True))


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference["title"])
def test_a_difference_is_as_documented(examples: dict[str, dict[str, Body]], difference: dict[str, Any]) -> None:
    body = whole(difference, "pod") or difference["object"]
    if "operations" in difference:
        operated_body = operated(body, difference["operations"])
        ours = None if isinstance(operated_body, str) else operated_body
    else:
        ours = merged(body, whole(difference, "patch"))
    theirs = {name: outcome(result) for name, result in examples[difference["title"]].items()}
    expected = {name: whole(difference, name) for name in theirs}
    assert (ours or "error") == whole(difference, "gen")
    assert theirs == expected
    assert whole(difference, "gen") not in expected.values() or len(theirs) > 1


def outcome(result: Body) -> Any:
    return "removed" if result.get("removed") else "error" if "error" in result else result["object"]


def test_every_difference_is_documented() -> None:
    text = (PROJECT / "docs" / "patches.md").read_text("utf-8")
    assert [one["title"] for one in DIFFERENCES if f"| {one['title']} |" not in text] == []
