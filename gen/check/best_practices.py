"""Best practices for runs that gen built. These are the only rules that such an object can break."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.check.silence import Checked, silenced
from gen.rules.gitops.best_practices import BEST_PRACTICES
from gen.rules.gitops.runs import RUNS
from gen.rules.object_view import ObjectView
from gen.rules.problem import Problem

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.rules.rule import Rule

_BY_NAME = {rule.name: rule for rule in BEST_PRACTICES}


def rule_named(name: str) -> Rule:
    """The rule with this name. The other rules are imported only if it is one of them."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    from gen.rules.catalogue import CATALOGUE  # noqa: PLC0415 - as above

    return CATALOGUE[name]


def check_best_practices(body: Body) -> Checked | None:
    """Problems of an object that gen built; None without problems, and for objects that are not runs."""
    pair = body["apiVersion"].rpartition("/")[0], body["kind"]
    if pair not in RUNS:
        return None
    view = ObjectView.built(body)
    problems = [
        Problem(rule.name, fault.route, fault.message, fault.hint)
        for rule in BEST_PRACTICES
        if rule.find is not None and rule.is_for(*pair)
        for fault in rule.find(view)
    ]
    return silenced(problems, body) if problems else None
