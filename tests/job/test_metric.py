"""Metrics are found where programs print them, by an expression with the same meaning in Python and RE2."""

from __future__ import annotations

import json
import re

import pytest

from gen.job.metric import KnownMetric, Metric, known_metrics
from tests.cases import for_each
from tests.support import Repository

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\nmetrics: "


@for_each(
    ("line", "value"),
    [
        ("loss=0.3", "0.3"),
        ("loss: 1.3e-02", "1.3e-02"),
        ("loss = -7.5", "-7.5"),
        ("epoch 3, loss:.5, accuracy: 0.9", ".5"),
        ('{"epoch": 3, "loss": 12.}', "12."),
        ("loss: 93%", "93"),
        ("val/loss=1", None),
        ("val_loss=1", None),
        ("--loss=1", None),
        ("lossy=1", None),
        ("loss 1", None),
        ("loss=nan", None),
    ],
)
def test_a_name_and_its_value_are_found(line: str, value: str | None) -> None:
    match = re.search(KnownMetric(name="loss", format="raw").regex, line)
    assert (match["value"] if match is not None else None) == value


@for_each(
    ("name", "pattern", "line", "value"),
    [
        ("images/sec", "total {name}: {value}", "total  images/sec:310.5", None),
        ("images/sec", "total {name}: {value}", "total  images/sec:   310.5", "310.5"),
        ("speed", "{value} images (a+)", "so 3.5 images (a+)", "3.5"),
        ("loss", "{name} is {value}", "valloss is 3", None),
        ("loss", "{name} is {value}", "loss is 3", "3"),
    ],
)
def test_a_pattern_is_a_text(name: str, pattern: str, line: str, value: str | None) -> None:
    match = re.search(KnownMetric(name=name, format="raw", pattern=pattern).regex, line)
    assert (match["value"] if match is not None else None) == value


def test_the_forms_of_a_metric() -> None:
    short = known_metrics(["loss", "Train-accuracy:PERCENTAGE", "a:raw"])
    assert [(one.name, one.format) for one in short] == [
        ("loss", "raw"),
        ("Train-accuracy", "percentage"),
        ("a", "raw"),
    ]
    assert known_metrics([Metric(name="loss")]) == known_metrics(["loss"])


@pytest.mark.parametrize(
    ("pattern", "first"), [(None, True), ("{name} {value}", True), ("{value} {name}", False), ("is {value}", False)]
)
def test_whether_the_name_is_printed_first(pattern: str | None, first: bool) -> None:
    assert KnownMetric(name="loss", format="raw", pattern=pattern).named_first is first


@for_each(
    "value",
    [
        "[loss, loss:PERCENTAGE]",
        "['a:Percentage']",
        "['a b']",
        "[[loss]]",
        "[{name: 'a;b'}]",
        "[{name: a, pattern: '{value} {value}'}]",
        "[{name: a, pattern: '{value};'}]",
        "[{name: a, pattern: 'a'}]",
        "loss",
        "[{name: loss, format: {raw: 1}}]",
        "[{name: loss, format: [raw]}]",
        "[{name: loss, format: 1}]",
    ],
)
def test_invalid_metrics_are_refused(repo: Repository, value: str) -> None:
    repo.job(JOB + value + "\n")
    assert repo.codes() == ["invalid-value"]


def test_the_annotation_has_what_tools_need(repo: Repository) -> None:
    repo.job(JOB + "[loss, 'accuracy:PERCENTAGE', {name: speed, pattern: 'speed {value}'}]\n")
    listed = json.loads(repo.one("Job")["metadata"]["annotations"]["gen/metrics"])
    assert [(one["name"], one["format"]) for one in listed] == [
        ("loss", "raw"),
        ("accuracy", "percentage"),
        ("speed", "raw"),
    ]
    found = [re.search(one["regex"], "loss: 1 accuracy=0.5 speed 3") for one in listed]
    assert [match["value"] for match in found if match is not None] == ["1", "0.5", "3"]
