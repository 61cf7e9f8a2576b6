"""Differences of objects by field, without noise."""

from __future__ import annotations

import shutil
from typing import Any

from gen.render.rendered_object import ObjectKey, RenderedObject
from gen.review.field_changes import MISSING, field_changes
from tests.cases import for_each
from tests.history import JOB, History, branch
from tests.support import OVERLAY

KEY = ObjectKey("dev", "", "Pod", "team", "a")


def differences(old: Any, new: Any) -> list[tuple[str, Any, Any]]:
    changes = field_changes(RenderedObject(KEY, "", "", {"spec": old}), RenderedObject(KEY, "", "", {"spec": new}))
    return [(change.path, change.before, change.after) for change in changes]


@for_each(
    ("old", "new", "expected"),
    [
        ([{"name": "A", "value": "1"}, {"name": "B"}], [{"name": "B"}, {"name": "A", "value": "1"}], []),
        ([{"name": "B"}], [{"name": "A"}, {"name": "B"}], [("spec[A]", MISSING, {"name": "A"})]),
        ([{"name": "A"}, {"name": "B"}], [{"name": "B"}], [("spec[A]", {"name": "A"}, MISSING)]),
        (
            [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}],
            [{"name": "v", "mountPath": "/b", "readOnly": True}, {"name": "v", "mountPath": "/a"}],
            [("spec[/b].readOnly", MISSING, True)],
        ),
        (
            [{"containerPort": 1}, {"containerPort": 2}],
            [{"containerPort": 2, "protocol": "UDP"}, {"containerPort": 1}],
            [("spec[2].protocol", MISSING, "UDP")],
        ),
        (["sh", "-c", "a"], ["sh", "-c", "b"], [("spec[2]", "a", "b")]),
        (["a"], ["a", "b"], [("spec", ["a"], ["a", "b"])]),
        ([{"x": 1}, {"x": 2}], [{"x": 2}], [("spec[]", {"x": 1}, MISSING)]),
        ({"a.b/c": 1}, {"a.b/c": 2}, [("spec[a.b/c]", 1, 2)]),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, [("spec.a.c", MISSING, 2)]),
        ({"a": 1}, {"a": "1"}, [("spec.a", 1, "1")]),
        ({"a": {}}, {"a": []}, [("spec.a", {}, [])]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
    ],
)
def test_differences(old: Any, new: Any, expected: list[tuple[str, Any, Any]]) -> None:
    assert differences(old, new) == expected


def test_header_lines_and_run_hashes_do_not_count_as_differences(history: History) -> None:
    batch = JOB.replace("pytorch", "batch") + "files: {/etc/a: b}\n"
    history.job(batch)
    branch(history)
    history.job(batch + "attempt: 2\n")
    report = history.report()
    assert {item["kind"]: item["change"] for item in report["objects"]} == {
        "ConfigMap": "replaced",
        "Job": "replaced",
        "Service": "replaced",
    }
    assert [item["fields"] for item in report["objects"]] == [[], [], []]


def test_run_hashes_are_replaced_as_whole_words_only() -> None:
    def item(run: str, value: str) -> RenderedObject:
        volumes = [{"name": f"demo-{run}-files", "x": value}]
        return RenderedObject(
            KEY, "", "", {"metadata": {"labels": {"gen/run": run}}, "spec": {"volumes": volumes, "run": run}}
        )

    old, new = "0123abcd", "89abcdef"
    assert field_changes(item(old, f"a-{old}"), item(new, f"a-{new}")) == ()
    (change,) = field_changes(item(old, f"{old}ef"), item(new, f"{new}ef"))
    assert (change.path, change.before, change.after) == ("spec.volumes[demo-<hash>-files].x", f"{old}ef", f"{new}ef")


def test_a_changed_first_line_does_not_count(history: History) -> None:
    history.job(JOB)
    branch(history)
    path = history.file("pytorchjob")
    path.write_text("# another first line\n" + path.read_text())
    assert history.plan().objects == ()


def test_a_changed_overlay_shows_in_the_changed_fields(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.overlay(OVERLAY + "images: [{from: registry.example.com/, to: mirror.example.com/}]\n")
    history.job(JOB + "# edited\n")  # the run of a job with the same text would be kept
    shutil.rmtree(history.root / "rendered")
    (item,) = history.report()["objects"]
    assert [field["path"].rsplit(".", 1)[1] for field in item["fields"]] == ["image", "image"]
