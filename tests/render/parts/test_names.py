"""Names of the runs of a sweep show their values, fit, and depend on nothing else."""

from __future__ import annotations

import re

from gen.job.kinds import KINDS
from gen.job.names import JOB_NAME
from gen.kubernetes.objects import MAX_NAME
from gen.render.parts.names import most_characters, run_name
from tests.cases import for_each
from tests.support import Repository


@for_each(
    ("values", "name"),
    [
        ({"lr": "0.1"}, "demo-lr-0p1"),
        ({"lr": "1e-4"}, "demo-lr-1e-4"),
        ({"model": "resnet-50"}, "demo-model-resnet-50"),
        ({"b": "2", "a": "1"}, "demo-a-1-b-2"),
        ({"learningRate": "3"}, "demo-learningrate-3"),
        ({"batch_size": "3"}, "demo-batch-size-3"),
    ],
)
def test_plain_values_are_shown_as_they_are(values: dict[str, str], name: str) -> None:
    assert run_name("demo", values, 50) == name


@for_each(
    ("one", "other"),
    [
        ({"a": "ViT"}, {"a": "vit"}),
        ({"a": "0.1"}, {"a": "0p1"}),
        ({"a": "1.5e3"}, {"a": "1p5e3"}),
        ({"a": "-1"}, {"a": "1"}),
        ({"a": "x/y"}, {"a": "x-y"}),
        ({"a": ""}, {"a": "x"}),
        ({"a": "é"}, {"a": "è"}),
        ({"a": "1-b-2", "b": "3"}, {"a": "1", "b": "2-b-3"}),
        ({"a": "y" * 90 + "1"}, {"a": "y" * 90 + "2"}),
    ],
)
def test_different_values_have_different_names(one: dict[str, str], other: dict[str, str]) -> None:
    names = [run_name("demo", values, most) for values in (one, other) for most in (50, 20)]
    assert len(set(names)) >= len({run_name("demo", values, 20) for values in (one, other)}) == 2
    for name in names:
        assert JOB_NAME.fullmatch(name), name


@for_each("job", ["a", "a-rather-long-name", "x" * 40])
@for_each("most", [30, 54])
def test_a_long_name_ends_with_digits_of_all_values(job: str, most: int) -> None:
    values = {"learning_rate": "0.0001", "optimizer": "adamw", "warmup": "1000", "z": "1"}
    name = run_name(job, values, most)
    assert len(name) <= max(most, len(job) + 9)
    assert JOB_NAME.fullmatch(name)
    shown = re.fullmatch(rf"{job}-(?:learning-rate-0p0001.*)?(?:.*-)?([0-9a-f]{{8}})", name)
    assert shown or name.startswith(f"{job}-learning-rate-0p0001-optimizer-adamw-warmup-1000-z-1")
    assert name != run_name(job, {**values, "z": "2"}, most)


@for_each("naming", ["hash", "stable"])
@for_each("kind", list(KINDS))
def test_the_names_of_every_kind_have_room_for_their_suffixes(kind: str, naming: str, repo: Repository) -> None:
    """Values of any length are shown as far as the operator accepts them."""
    from gen.commands.new import job_text
    from tests.support import OVERLAY

    repo.overlay(OVERLAY + f"runs: {{naming: {naming}}}\n")
    sweep = "sweep: {matrix: {value: [" + "x" * MAX_NAME + ", y]}}\nenv: {VALUE: '{{ params.value }}'}\n"
    repo.job(job_text(kind, with_schema=False) + sweep)
    report, code = repo.render()
    assert code == 0, report.findings
    assert most_characters(KINDS[kind].facts, ["worker"], hashed=True) < MAX_NAME
