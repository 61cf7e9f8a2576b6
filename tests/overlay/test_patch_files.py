"""Content of an overlay's patches, and places of findings about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.report.findings.text import text
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
HEAD = 'kubernetes: "1.34"\npatches:\n  - target: {kind: PyTorchJob}\n'
"""Three lines, so a patch starts in line 4."""


def said(repo: Repository, entry: str, head: str = HEAD) -> str:
    """Findings of an overlay with one patch."""
    repo.overlay(head + entry)
    repo.job(JOB)
    report, code = repo.render()
    assert code == bool(report.findings)
    return text(report)


@for_each(
    ("operation", "expected"),
    [
        ("[]", ":5:9: error: expected an operation as a mapping"),
        ("{op: [add], path: /spec/x, value: 1}", ":5:14: error: unknown JSON 6902 operation `that`"),
        ("{path: /spec/x, value: 1}", ":5:9: error: unknown JSON 6902 operation `nothing`"),
        ("{op: add, path: '', value: 1}", ":5:25: error: invalid path; expected `/`"),
        ("{op: add, path: [a], value: 1}", ":5:25: error: invalid path; expected `/`"),
        ("{op: add, path: /a~2b, value: 1}", ":5:25: error: invalid path; expected `/`"),
        ("{op: add, value: 1}", ":5:9: error: `add` requires `path`"),
        ("{op: move, path: /spec/x, from: ''}", ":5:41: error: invalid path; expected `/`"),
        ("{op: copy, path: /spec/x}", ":5:9: error: `copy` requires `from`"),
        ("{op: add, path: /spec/x}", ":5:9: error: `add` requires `value`"),
        ("{op: add, path: /spec/x, vlaue: 1, value: 2}", ":5:41: error: unknown field `vlaue` of an operation"),
        ("{op: add, path: /spec/x, value: null}", ":5:41: error: null value"),
        ("{op: add, path: /spec/x, value: {a: [1, ~]}}", ":5:49: error: null value"),
        ("{op: test, path: /spec/nprocPerNode, value: 1}", ":5:9: error: the operation does not apply"),
    ],
)
def test_an_operation_with_missing_or_additional_keys_is_explained(
    repo: Repository, operation: str, expected: str
) -> None:
    assert f"dev/overlay.yaml{expected}" in said(repo, f"    patch:\n      - {operation}\n")


def test_a_failed_test_is_the_last_finding(repo: Repository) -> None:
    operations = "    patch:\n      - {op: test, path: /spec/x, value: 1}\n      - {op: remove, path: /spec/x}\n"
    assert said(repo, operations).endswith("\n1 error; nothing was written\n")


@for_each(
    ("patch", "expected"),
    [
        ("{$patch: delete}", ":4:21: error: a patch cannot remove an object"),
        ("{$patch: replace, spec: {}}", ":4:21: error: a patch cannot replace an object as a whole"),
        (
            "{spec: {$patch: delte}}",
            ":4:28: error: invalid `$patch` directive `delte` [invalid-patch]\n    did you mean `delete`?",
        ),
        ("{spec: {$patch: {a: b}}}", ":4:28: error: invalid `$patch` directive"),
        ("{spec: {$ptach: delete}}", ":4:28: error: unknown directive `$ptach`"),
        ("{spec: {$retainKeys: [a]}}", ":4:33: error: unsupported directive `$retainKeys`"),
        ("{spec: {$setElementOrder/x: [a]}}", ":4:40: error: unsupported directive `$setElementOrder`"),
        (
            "{metadata: {$deleteFromPrimitiveList/finalizers: [a]}}",
            "error: unsupported directive `$deleteFromPrimitiveList`",
        ),
        ("{spec: {x: [{$patch: replace, name: a}]}}", ":4:24: error: `$patch: replace` replaces the whole list"),
        ("{spec: {x: [~]}}", ":4:24: error: null entry in a list"),
    ],
)
def test_a_directive_that_cannot_be_obeyed_is_refused(repo: Repository, patch: str, expected: str) -> None:
    assert expected in said(repo, f"    patch: {patch}\n")


@pytest.mark.parametrize("path", ["a" * 300, "a" * 300 + "/b", "missing.yaml"])
def test_a_file_that_cannot_be_is_missing(repo: Repository, path: str) -> None:
    expected = f"dev/overlay.yaml:4:11: error: overlays/dev/{path} does not exist [missing-file]"
    assert expected in said(repo, f"    path: {path}\n")


def test_a_merge_without_a_target_has_a_valid_name(repo: Repository) -> None:
    head = 'kubernetes: "1.34"\npatches:\n'
    for metadata in ("[a]", "{name: [a]}", "{name: x, namespace: {a: b}}"):
        assert "the patch has no target" in said(repo, f"  - patch: {{kind: PyTorchJob, metadata: {metadata}}}\n", head)


def test_a_selector_that_cannot_be_read_is_no_selector_without_match(repo: Repository) -> None:
    head = 'kubernetes: "1.34"\npatches:\n'
    entry = "  - target: {kind: PyTorchJob, labelSelector: 'a=b,c in d'}\n    patch: {spec: {nprocPerNode: auto}}\n"
    expected = "overlays/dev/overlay.yaml:3:47: error: invalid selector condition `c in d` [invalid-patch]"
    assert said(repo, entry, head).startswith(expected)


@for_each(
    ("entry", "expected"),
    [
        ("    patch: |\n      spec: {}\n      spec: {}\n", ":6:7: error: duplicate key `spec`"),
        ("    patch: |-\n\n        spec:\n          a: 1\n          a: 2\n", ":8:11: error: duplicate key `a`"),
        ("    patch: |\n      ---\n      spec: [\n", ":7:1: error: invalid YAML"),
        ("    patch: '{spec: {a: 1, a: 2}}'\n", ":4:27: error: duplicate key `a`"),
        (
            "    patch: >\n      spec: {a: 1,\n      a: 2}\n",
            ":4:12: error: invalid patch: duplicate key `a` (line",
        ),
        ("    patch: |\n      - {op: ad, path: /a, value: 1}\n", ":5:14: error: unknown JSON 6902 operation `ad`"),
        (
            "    patch: |\n      spec:\n        nprocPerNode: [a]\n",
            ":6:23: error: PyTorchJob team/demo, spec.nprocPerNode",
        ),
        ("    patch: ''\n", ":4:12: error: the patch is empty"),
    ],
)
def test_a_finding_inside_a_text_has_its_place_in_the_overlay(repo: Repository, entry: str, expected: str) -> None:
    assert f"overlays/dev/overlay.yaml{expected}" in said(repo, entry)


def test_padding_of_a_text_is_ignored(repo: Repository) -> None:
    said(repo, "    patch: |2\n      spec:\n        nprocPerNode: auto  # x\n")
    assert repo.one("PyTorchJob")["spec"]["nprocPerNode"] == "auto"


@pytest.mark.parametrize("number", ["2.0", "2e0", "+2"])
def test_a_whole_number_is_written_and_hashed_as_one(repo: Repository, number: str) -> None:
    patch = "    patch: {spec: {runPolicy: {backoffLimit: 2}}}\n"
    assert "error" not in said(repo, patch)
    before = repo.rendered()
    assert "1 unchanged" in said(repo, patch.replace("2}", f"{number}}}"))
    assert repo.rendered() == before


def test_labels_that_a_patch_made_something_else_are_a_finding(repo: Repository) -> None:
    """Also when the next patch looks for labels."""
    entry = """    patch: {metadata: {labels: [a]}}
  - target: {labelSelector: a=b}
    patch: {metadata: {labels: {a: b}}}
"""
    assert "error: the patch changes the label `gen/job`" in said(repo, entry)
