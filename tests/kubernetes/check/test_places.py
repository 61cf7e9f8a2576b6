"""Places of findings: file, line and column of the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.kubernetes.manifests.read import key_of
from tests.kubernetes.check.support import POD, inspect, places

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_findings_have_the_place_of_the_value(tmp_path: Path) -> None:
    text = POD + "      imagePullPolcy: Always\n---\n" + POD.replace("image: b", "image: 3") + "---\n"
    report, code = inspect(tmp_path, text + POD.replace("name: main", "name: Main"))
    assert code == 1
    assert places(report) == [("undefined-field", 9, 7), ("wrong-type", 18, 14), ("containers", 26, 13)]


def test_a_finding_in_a_list_has_its_place(tmp_path: Path) -> None:
    report, _ = inspect(
        tmp_path,
        "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: Pod\n    metadata: {name: a}\n    spc: {}\n",
    )
    assert ("undefined-field", 7, 5) in places(report)


def test_places_in_later_documents_count_characters(tmp_path: Path) -> None:
    first = "# é 😀\r\n---\r\n  # nothing\r\n---\r\nkind: ConfigMap # 😀\r\napiVersion: v1\r\nmetadata: {name: ü😀}\r\n"
    report, _ = inspect(
        tmp_path, f"{first}...\n--- # next\n{{apiVersion: v1, kind: ConfigMap,\n metadata: {{name: B}}}}\n"
    )
    assert [str(finding.place).rpartition("a.yaml")[2] for finding in report.findings] == [":7:18", ":11:19"]


def test_a_finding_about_a_large_document_has_the_place_of_the_document(tmp_path: Path) -> None:
    large = "".join(f"  k{number}: {'a' * 200}\n" for number in range(20_000))
    report, _ = inspect(tmp_path, f"# a\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{large}")
    told = {(finding.code, str(finding.place).rpartition("a.yaml")[2]) for finding in report.findings}
    assert told == {("object-size", ":2:1")}


def test_the_last_of_equal_keys_and_its_own_key_before_merged_ones_have_the_place(tmp_path: Path) -> None:
    report, _ = inspect(
        tmp_path,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nb: &b {x y: 1, c d: 2}\ndata:\n  <<: *b\n  c d: 2\n",
    )
    assert ("wrong-type", 4, 13) in places(report)
    assert ("wrong-type", 7, 8) in places(report)


def test_an_object_has_a_thousand_findings_at_most(tmp_path: Path) -> None:
    keys = "".join(f"  k {number}: a\n" for number in range(1200))
    report, _ = inspect(tmp_path, f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{keys}")
    assert [line for _, line, _ in places(report)] == list(range(5, 1005))


def test_a_large_mapping_is_searched_once_for_all_findings_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(event: Any) -> str:
        read.append(event.value)
        return key_of(event)

    monkeypatch.setattr("gen.kubernetes.manifests.read.key_of", noted)
    keys = "".join(f"  k {number}: a\n" for number in range(500))
    inspect(tmp_path, f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{keys}")
    assert 500 < len(read) < 600  # and not 500 for each of 500 findings
