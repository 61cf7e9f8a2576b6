"""A duplicate key is reported with the place of the first one."""

from __future__ import annotations

from gen.base.findings import Findings
from gen.base.yaml.source import source_of
from gen.kubernetes.manifests.read import read_manifests
from tests.cases import for_each
from tests.support import Repository
from tests.work import is_linear, lines_run

SAME = [
    ("a: 1\nb: 2\na: 3\n", {"3:1": "1:1"}),
    ("a: 1\na: 2\nb: 0\na: 3\n", {"2:1": "1:1", "4:1": "1:1"}),
    ("x: {a: [a, {a: 1}], b: a, a: 2}\ny: {a: 3}\n", {"1:27": "1:5"}),
    ("x:\n- a: {}\n  b: [[], {}]\n  a: {}\n- a: 1\n", {"4:3": "2:3"}),
    ("a: 1\n'a': 2\n", {"2:1": "1:1"}),
    ("a: 1\na: 2\nb: [\n", {"2:1": "1:1"}),
]
IN_MANIFESTS = [
    ("true: 1\nTrue: 2\n", {"2:1": "1:1"}),
    ("0x10: 1\n16: 2\n'16': 3\n", {"2:1": "1:1", "3:1": "1:1"}),
    ("a: &x {k: 1}\nb:\n  <<: *x\n  k: *x\n  z: *x\n  k: 3\n", {"6:3": "4:3"}),
    ("a: 1\n---\na: 1\na: 1\n", {"4:1": "3:1"}),
]


def pairs(found: Findings) -> dict[str, str]:
    """Places of duplicates, without the file, with those of the first keys."""
    known = [finding for finding in found if finding.code == "duplicate-key"]
    return {str(one.place)[2:]: " ".join(str(place)[2:] for place, _ in one.related) for one in known}


@for_each(("text", "expected"), SAME)
def test_the_first_key_is_named_in_files_of_people(text: str, expected: dict[str, str]) -> None:
    source_of(text.encode(), "f", found := Findings())
    assert pairs(found) == expected


@for_each(("text", "expected"), SAME + IN_MANIFESTS)
def test_the_first_key_is_named_in_manifests(text: str, expected: dict[str, str]) -> None:
    read_manifests(text.encode(), "f", found := Findings())
    assert pairs(found) == expected


def test_places_in_a_patch_are_those_of_its_file(repo: Repository) -> None:
    repo.job("kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n")
    head = 'kubernetes: "1.34"\npatches:\n  - target: {kind: PyTorchJob}\n'
    repo.overlay(f"{head}    patch: |\n      spec: {{}}\n      spec: {{}}\n")
    (finding,) = repo.render()[0].findings
    assert (finding.place.line, [place.line for place, _ in finding.related]) == (6, [5])
    repo.overlay(f"{head}    patch: >\n      spec: {{a: 1,\n      a: 2}}\n")
    (finding,) = repo.render()[0].findings
    assert (finding.place.line, finding.related) == (4, ()), "the file does not show a folded text line by line"


def test_many_duplicates_take_one_more_parse() -> None:
    def work(size: int) -> int:
        text = "a: 1\n" * size
        return lines_run(lambda: source_of(text.encode(), "f", Findings()))

    assert work(2)  # imports
    assert is_linear(work, 200)
