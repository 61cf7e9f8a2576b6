"""Two network profiles in one network."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any
from unittest.mock import ANY

from gen.job.profile import Effect, combined
from gen.overlay.profiles.networks import NETWORKS
from tests.cases import for_each
from tests.overlay.profiles.networks.examples import EXAMPLES, JOB, changes, overlay, templates

if TYPE_CHECKING:
    from tests.support import Repository

CLASHING = {
    frozenset(pair)
    for pair in (
        *(("efa", "multus"), ("efa", "sriov")),  # other interfaces for NCCL's own connections
        ("hostNetwork", "lingjun"),  # the example is one for other pods
    )
}
"""Examples that cannot be combined, because they set a field differently."""


def excluded(one: str, other: str) -> bool:
    platforms = {NETWORKS[one].platform, NETWORKS[other].platform} - {""}
    return other in NETWORKS[one].excludes or one in NETWORKS[other].excludes or len(platforms) > 1


def merged(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return {**one, **other, **{key: merged(one[key], other[key]) for key in one.keys() & other.keys()}}
    if isinstance(one, list):
        both = [*one, *(entry for entry in other if entry not in one)]
        return sorted(both, key=lambda entry: str(entry["name"])) if isinstance(both[0], dict) else both
    return f"{one},{other}" if one != other else one


@for_each(("one", "other"), [*itertools.combinations(NETWORKS, 2)])
def test_profiles_are_combined_unless_they_exclude_each_other(repo: Repository, one: str, other: str) -> None:
    repo.overlay(overlay({name: EXAMPLES[name][0][0] for name in (one, other)}))
    repo.job(JOB.format(kind="pytorch", more="network: net\n"))
    if excluded(one, other) or frozenset((one, other)) in CLASHING:
        assert "invalid-value" in repo.codes()
        return
    both, plain = templates(repo, "network: net\n")["Master"], templates(repo)["Master"]
    parts = changes(plain, both)
    expected = merged(EXAMPLES[one][0][1], EXAMPLES[other][0][1])
    if any(EXAMPLES[name][0][1].get("env") is ANY for name in (one, other)):
        expected["env"] = ANY
    assert parts == expected


@for_each("name", Effect.__struct_fields__)
def test_no_part_of_an_effect_is_lost_when_effects_are_combined(name: str) -> None:
    default = getattr(Effect(), name)
    values: tuple[Any, Any, Any] = (True, False, True)
    if isinstance(default, dict):
        values = ({"a": "b"}, {"c": "d"}, {"a": "b", "c": "d"})
    elif default == ():
        values = (("a",), ("b",), ("a", "b"))
    one, other, both = values
    assert combined([Effect(**{name: one}), Effect(**{name: other})]) == Effect(**{name: both})
