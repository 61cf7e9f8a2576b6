"""Networks of an overlay: `networks.<name>`, one or more profiles."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import Self

from pydantic import model_validator

from gen.model.base import Model
from gen.model.effect import Effect, clashes, combined
from gen.model.profile import Problem, chosen
from gen.model.scalars import conflict, shown
from gen.networks import NETWORKS, NetworkProfile

_PROBE = 8
"""GPUs of a pod, to compare profiles with each other."""


class NetworkFields(Model):
    """Network that jobs can use by name: one or more network profiles."""

    @cached_property
    def given(self) -> dict[str, NetworkProfile]:
        """The profiles by their keys."""
        return chosen(self, NETWORKS)

    @cached_property
    def profiles(self) -> tuple[NetworkProfile, ...]:
        return tuple(self.given.values())

    @cached_property
    def effects(self) -> dict[int, Effect]:
        """Results of `effect`, the same for the pods of all jobs."""
        return {}

    def effect(self, gpus: int) -> Effect:
        """Changes to a pod of a job with `gpus` GPUs."""
        if gpus not in self.effects:
            self.effects[gpus] = combined(profile.total(gpus) for profile in self.profiles)
        return self.effects[gpus]

    def problems(self, gpus: int) -> Iterator[Problem]:
        """Why a training pod with `gpus` GPUs cannot use the network."""
        yield from (problem for profile in self.profiles if (problem := profile.problem(gpus)) is not None)

    @model_validator(mode="after")
    def _profiles_agree(self) -> Self:
        given = self.given
        if not given:
            remedy = "set one of " + ", ".join(f"`{key}`" for key in sorted(NETWORKS))
            raise conflict("expected a network profile, got none", remedy)
        for one, other in combinations(given, 2):
            _check_pair(one, given[one], other, given[other])
        for key, profile in given.items():
            problem = profile.problem_with({name: other for name, other in given.items() if name != key})
            if problem is not None:
                raise conflict(problem.message, problem.hint)
        return self


def _check_pair(one: str, first: NetworkProfile, other: str, second: NetworkProfile) -> None:
    """Refuse two profiles that exclude each other, or that need different values of one key."""
    platforms = {first.platform, second.platform} - {""}
    if one in second.excludes or other in first.excludes or len(platforms) > 1:
        reason = f": one is for {first.platform}, the other for {second.platform}" if len(platforms) > 1 else ""
        problem = f"`{one}` and `{other}` cannot be combined{reason}"
        raise conflict(problem, f"declare two networks, one with `{one}` and one with `{other}`")
    for clash in clashes(first.total(_PROBE), second.total(_PROBE)):
        problem = f"`{one}` and `{other}` set `{clash.key}` to {shown(clash.one)} and {shown(clash.other)}"
        in_env = clash.key in first.total(_PROBE).env
        raise conflict(problem, f"set `{clash.key}` in `env` of both" if in_env else "declare two networks")
