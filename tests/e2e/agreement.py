"""Changed objects before two judges, a real server and ours, and where they disagree."""

from __future__ import annotations

import copy
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen.base.routes import dotted
from gen.kubernetes.check.objects import check
from gen.kubernetes.rules import ObjectView, Problem, RuleSource
from gen.kubernetes.rules.catalogue import RULES
from tests.e2e.mutations import Mutator, accident
from tests.e2e.objects import all_rendered
from tests.kubernetes.rules.support import objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from gen.kubernetes.schemas.lookup import Kinds
    from tests.e2e.cluster import Cluster

_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class Case:
    """An object with one thing changed."""

    what: str
    body: Body

    def __str__(self) -> str:
        return f"{self.body.get('kind')} {self.what}"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What both judges say of a case."""

    case: Case
    server: str
    """The reason of its refusal; empty when it accepts."""
    ours: tuple[Problem, ...]

    @property
    def missed(self) -> bool:
        return bool(self.server) and not self.ours

    @property
    def wrong(self) -> bool:
        return not self.server and bool(self.ours)

    def __str__(self) -> str:
        if self.missed:
            return f"missed: {self.case}: {self.server[:300]}"
        found = "; ".join(f"{one.rule} {dotted(one.route)}: {one.message}" for one in self.ours[:2])
        return f"wrongly refused: {self.case}: {found[:300]}"


def bases(name: str) -> list[Body]:
    return list(objects(name))


def systematic(kinds: Kinds, body: Body, count: int, seed: int) -> Iterator[Case]:
    """Some of all fields of a kind, each with some value at or beyond its limits."""
    kind = kinds.get(body["apiVersion"], body["kind"])
    assert kind is not None
    mutator = Mutator(kinds.schemas)
    for path, value in mutator.some(body, kind.schema, count, random.Random(seed)):  # noqa: S311 - no secret
        yield Case(f"{dotted(path)} = {value!r:.80}", mutator.changed(body, kind.schema, path, value))


def accidental(count: int, seed: int) -> Iterator[Case]:
    """Rendered objects with an accident each: something lost, doubled, misspelt or of another type."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    rendered = all_rendered()
    for _ in range(count):
        body = copy.deepcopy(chance.choice(rendered).body)
        yield Case(accident(body, chance), body)


def judged(cases: list[Case], cluster: Cluster, kinds: Kinds) -> list[Verdicts]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        said = pool.map(lambda case: refusal(case.body, cluster), cases)
        return [
            Verdicts(case, server, our_problems(case.body, kinds)) for case, server in zip(cases, said, strict=True)
        ]


def our_problems(body: Body, kinds: Kinds) -> tuple[Problem, ...]:
    """Errors that a server alone would find: the one of the tests has no operators with webhooks and controllers."""
    problems = check(body, kinds).problems
    return tuple(one for one in problems if RULES[one.rule].source is RuleSource.SERVER and _is_error(one))


def _is_error(problem: Problem) -> bool:
    return RULES[problem.rule].severity.value == "error"


def refusal(body: Body, cluster: Cluster) -> str:
    """Why the server refuses the object, or the pod templates in it that an operator would use."""
    response = cluster.try_to_create_in(body, "default")
    if response.status != 201:
        return f"{response.status} {response.message}"
    view = ObjectView.of(body, "1.34")
    for route, template in view.templates if view.is_custom else ():
        response = cluster.try_to_create_in(_pod_template(template), "default")
        if response.status != 201:
            return f"{dotted(route)}: {response.status} {response.message}"
    return ""


def _pod_template(template: Any) -> Body:
    return {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "template"}, "template": template}
