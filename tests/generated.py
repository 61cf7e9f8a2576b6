"""Repositories generated from a seed: jobs and overlays with values of the field contract, some with mistakes."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import yaml

from tests.contract import test_jobs, test_overlays

if TYPE_CHECKING:
    from collections.abc import Mapping

MISTAKES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**12,
    "",
    "x y",
    "1e400",
    [],
    {},
    ["a", "a"],
    {"a": None},
    "{{ params.x }}",
    "{{ a.b() }}",
)
"""Values that few fields accept."""


def generated(seed: int) -> dict[str, str]:
    """Files by path. A third of the repositories has mistakes on purpose."""
    choose = random.Random(seed)  # noqa: S311 - the same for each seed
    has_mistakes = choose.random() < 1 / 3
    files: dict[str, str] = {}
    overlay = copy.deepcopy(test_jobs.OVERLAY)
    of_seed = test_overlays.CASES[seed % len(test_overlays.CASES)]  # so that enough seeds have each case
    for said in (of_seed, *choose.sample(test_overlays.CASES, choose.choice((0, 0, 0, 1)))):
        if "base" not in said:
            overlay = merged(overlay, merged(said.get("extra", {}), said["overlay"]))
            files |= {f"overlays/dev/{path}": text for path, text in said.get("files", {}).items()}
    if has_mistakes and choose.random() < 1 / 3:
        spoil(overlay, choose)
    files["overlays/dev/overlay.yaml"] = dump(overlay)
    if choose.random() < 1 / 3:
        files["overlays/prod/overlay.yaml"] = dump({"extends": "dev", "labels": {"region": "eu"}})
    for number in range(choose.randint(1, 3)):
        document = job(choose)
        if has_mistakes and choose.random() < 1 / 2:
            spoil(document, choose)
        files[f"jobs/{choose.choice(('team', 'other'))}/job-{number}.yaml"] = dump(document)
    return files


def job(choose: random.Random) -> dict[str, Any]:
    """The example of a kind with one or more cases of the contract."""
    case = choose.choice(test_jobs.EVERY)
    document = copy.deepcopy(case.document)  # a mistake is written into it
    if choose.random() < 1 / 3:
        same = [one for one in test_jobs.EVERY if one.kind == case.kind and not set(one.fields) & set(case.fields)]
        other = choose.choice(same)
        document = {**document, **copy.deepcopy(dict(other.fields))}
    return document


def spoil(document: dict[str, Any], choose: random.Random) -> None:
    """Misspell a field, remove it, or change its value."""
    holder: Any = document
    while True:
        key = choose.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not holder[key] or not isinstance(holder[key], dict | list) or choose.random() < 1 / 3:
            break
        holder = holder[key]
    mistake = choose.choice(("name", "absence", "value", "value"))
    if mistake == "name" and isinstance(holder, dict):
        holder[f"{key}{key[-1:]}"] = holder.pop(key)
    elif mistake == "absence":
        del holder[key]
    else:
        holder[key] = copy.deepcopy(choose.choice(MISTAKES))


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        key: merged(below[key], above[key])
        for key in below.keys() & above.keys()
        if isinstance(below[key], dict) and isinstance(above[key], dict)
    }
    return {**copy.deepcopy(dict(below)), **copy.deepcopy(dict(above)), **both}


def dump(document: Mapping[str, Any]) -> str:
    return yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
