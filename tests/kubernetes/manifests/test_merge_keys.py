"""Merge keys (`<<`) of manifests, as in `sigs.k8s.io/yaml`."""

from __future__ import annotations

from typing import Any

from gen.base.findings import Findings
from gen.kubernetes.manifests.read import read_manifests
from tests.cases import for_each


def document(text: str) -> Any:
    found = Findings()
    manifests = read_manifests(text.encode(), "a.yaml", found)
    assert found.items == []
    assert manifests is not None
    return manifests.documents[0]


@for_each(
    ("text", "expected"),
    [
        ("a: &a {x: 1}\nb: &b {z: 2}\nc: {<<: [*a, *b], w: 3}\n", {"x": 1, "z": 2, "w": 3}),
        ("a: &a {x: 1}\nb: &b {x: 2}\nc: {<<: [*a, *b]}\n", {"x": 1}),
        ("a: &a {x: 1}\nc:\n  <<: [*a, {z: {w: 2}}]\n  x: 3\n", {"x": 3, "z": {"w": 2}}),
        ("c:\n  <<: {x: 1}\n  w: 3\n", {"x": 1, "w": 3}),
        ("c:\n  w: 3\n  <<:\n    x: 1\n    z: 2\n", {"x": 1, "w": 3, "z": 2}),
        ("c:\n  <<: {<<: {x: 1}, z: 2}\n", {"x": 1, "z": 2}),
        ("c:\n  <<: &d {x: 1}\n  z: *d\n", {"x": 1, "z": {"x": 1}}),
        ("c: {<<: []}\n", {}),
        ("c: {'<<': {x: 1}}\n", {"<<": {"x": 1}}),
    ],
)
def test_merge_keys_take_aliases_mappings_and_lists_of_them(text: str, expected: Any) -> None:
    assert document(text)["c"] == expected


def test_a_merge_key_can_be_the_first_key_of_a_document_and_of_an_entry() -> None:
    assert document("<<: {x: 1}\nz: 2\n") == {"x": 1, "z": 2}
    assert document("- <<: {x: 1}\n- <<: [{z: 1}]\n") == [{"x": 1}, {"z": 1}]


@for_each("value", ["1", "", "~", "[1]", "[[{x: 1}]]", "[*a, 2]", "*b", "text", "'text'"])
def test_another_merge_key_is_refused(value: str) -> None:
    found = Findings()
    assert read_manifests(f"a: &a {{x: 1}}\nb: &b [*a]\nc:\n  <<: {value}\n".encode(), "a.yaml", found) is None
    assert [(one.code, one.message) for one in found.items] == [("invalid-key", "`<<` expects a mapping")]
    assert found.items[0].place.line == 4


def test_keys_that_a_merge_sets_again_are_reported_in_their_order() -> None:
    found = Findings()
    keys = ["f", "a", "e", "b", "d", "c"]
    own, merged = (", ".join(f"{key}: {value}" for key in keys) for value in (1, 2))
    read_manifests(f"c: {{{own}, <<: [{{{merged}}}, {{{merged}}}]}}\n".encode(), "a.yaml", found)
    assert [one.message for one in found.items] == [f"`<<` sets the key `{key}` again" for key in keys] * 2


def test_findings_in_merged_mappings_have_the_place_of_the_value() -> None:
    manifests = read_manifests(b"c:\n  <<:\n    - {x: 1}\n    - z: {w: 2}\n", "a.yaml", Findings())
    assert manifests is not None
    place = manifests.place(0, ("c", "z", "w"))
    assert (place.line, place.column) == (4, 14)


def test_merge_keys_count_towards_the_limit_of_depth() -> None:
    found = Findings()
    read_manifests(("c: " + "{<<: " * 300 + "{}" + "}" * 300).encode(), "a.yaml", found)
    assert [one.code for one in found.items] == ["too-deep"]


def test_places_are_found_in_merges_that_repeat_each_other() -> None:
    """Without a limit, a missing field would be looked for two to the power of 60 times."""
    anchors = [f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 60)]
    manifests = read_manifests("\n".join(["a0: &a0 {x: 1}", *anchors]).encode(), "a.yaml", Findings())
    assert manifests is not None
    assert manifests.documents[0]["a59"] == {"x": 1}
    assert manifests.place(0, ("a59", "x")).line == 1
    assert manifests.place(0, ("a59", "absent")).line == 60
