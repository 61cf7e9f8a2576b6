"""Files over files: effective values and their places."""

from __future__ import annotations

from gen.base.findings import Findings, Location
from gen.base.yaml.layers import Layer, Layers, lay_over
from gen.base.yaml.source import FoundRoute, Source, source_of
from gen.base.yaml.strict import Data
from tests.cases import for_each


def source(file: str, text: str) -> Source:
    read = source_of(text.encode(), file, Findings())
    assert read is not None
    return read


def test_mappings_merge_by_key_and_entries_and_lists_are_replaced() -> None:
    base: dict[str, Data] = {"env": {"A": "1", "B": {"secret": "s", "key": "k"}}, "args": ["x"], "cpu": "1"}
    top: dict[str, Data] = {"env": {"B": {"configMap": "c", "key": "k"}, "C": "3"}, "args": ["y"]}
    assert lay_over(base, top) == {
        "env": {"A": "1", "B": {"configMap": "c", "key": "k"}, "C": "3"},
        "args": ["y"],
        "cpu": "1",
    }


def test_roles_merge_down_to_their_variables() -> None:
    base: dict[str, Data] = {
        "roles": {"ps": {"cpu": "1", "env": {"A": "1"}}},
        "placement": {"nodeSelector": {"a": "b"}},
    }
    top: dict[str, Data] = {
        "roles": {"ps": {"env": {"B": "2"}}},
        "placement": {"nodeSelector": {"c": "d"}, "zone": "z"},
    }
    assert lay_over(base, top) == {
        "roles": {"ps": {"cpu": "1", "env": {"A": "1", "B": "2"}}},
        "placement": {"nodeSelector": {"a": "b", "c": "d"}, "zone": "z"},
    }


def test_nothing_is_changed_in_place() -> None:
    base: dict[str, Data] = {"env": {"A": "1"}}
    lay_over(base, {"env": {"B": "2"}})
    assert base == {"env": {"A": "1"}}


def test_a_place_is_in_the_file_with_most_of_the_route() -> None:
    job = source("jobs/a.yaml", "kind: mpi\nenv:\n  A: 1\n")
    overlay = source("overlays/dev/overlay.yaml", "defaults:\n  cpu: 4\n  env: {B: 2}\n")
    layers = Layers((Layer(job), Layer(overlay, ("defaults",))))
    assert layers.place(("env", "A")) == Location("jobs/a.yaml", 3, 6)
    assert layers.place(("env", "B")) == Location("overlays/dev/overlay.yaml", 3, 12)
    assert layers.place(("cpu",), key=True) == Location("overlays/dev/overlay.yaml", 2, 3)
    assert layers.place(("env", "C")) == Location("jobs/a.yaml", 3, 3)
    assert layers.place(("memory",)) == Location("jobs/a.yaml", 1, 1)


@for_each("before", ["", "\ufeff", "# why\n\n", "---\n", "--- # job\n", "%YAML 1.2\n---\n", "--- {"])
def test_a_field_that_is_missing_is_reported_at_the_first_key(before: str) -> None:
    job = source("jobs/a.yaml", f"{before}kind: mpi{'}' if before.endswith('{') else ''}\n")
    first = job.place(("kind",), key=True)
    assert first.line == before.count("\n") + 1
    whole = job.find(("kind",))
    assert vars(job).keys() & {"_root", "_parsed"}, "the positions of values were read"
    again = source("jobs/a.yaml", job.text)
    expected = again.place(()), again.place(("memory",), key=True), again.find(("memory", "x"))
    assert not vars(again).keys() & {"_root", "_parsed"}, "only the first was read"
    start = Location("jobs/a.yaml", first.line, first.column - 1 if before.endswith("{") else first.column)
    assert expected == (start, start, FoundRoute(0, False, start, start))
    assert whole.steps == 1


def test_what_holds_a_jobs_fields_again_is_laid_over_field_by_field() -> None:
    base: dict[str, Data] = {
        "defaults": {"cpu": "1", "env": {"A": "1"}, "kinds": {"mpi": {"network": "eni", "env": {"B": "1"}}}},
        "namespaces": {"team": {"gpus": "8", "queues": ["a"]}},
        "volumes": {"x": {"claim": "x"}},
    }
    top: dict[str, Data] = {
        "defaults": {"env": {"C": "2"}, "kinds": {"mpi": {"env": {"D": "2"}}}},
        "namespaces": {"team": {"queues": ["b"]}},
        "volumes": {"x": {"emptyDir": {}}},
    }
    assert lay_over(base, top) == {
        "defaults": {
            "cpu": "1",
            "env": {"A": "1", "C": "2"},
            "kinds": {"mpi": {"network": "eni", "env": {"B": "1", "D": "2"}}},
        },
        "namespaces": {"team": {"gpus": "8", "queues": ["b"]}},
        "volumes": {"x": {"emptyDir": {}}},
    }


def test_an_entry_that_replaces_another_has_the_place_of_all_that_is_in_it() -> None:
    job = source("jobs/a.yaml", "data: {x: /a}\nroles: {ps: {env: {A: {secret: s}}}}\ncommand: [a]\n")
    base = source("overlays/base/overlay.yaml", "data: {x: {path: b, subPath: c}}\nroles: {ps: {env: {A: {key: k}}}}\n")
    layers = Layers((Layer(job), Layer(base)))
    assert layers.place(("data", "x", "path")) == Location("jobs/a.yaml", 1, 11)
    assert layers.place(("roles", "ps", "env", "A", "key")) == Location("jobs/a.yaml", 2, 23)
    assert layers.place(("roles", "ps", "cpu")) == Location("jobs/a.yaml", 2, 13)
    assert layers.place(("command", 3)) == Location("jobs/a.yaml", 3, 10)
