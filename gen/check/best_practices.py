"""Best practices for runs that gen built. These are the only rules that such an object can break."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.gitops.best_practices import BEST_PRACTICES
from gen.rules.gitops.runs import RUNS
from gen.rules.object_view import ObjectView
from gen.rules.problem import Problem

if TYPE_CHECKING:
    from gen.check.silence import Checked
    from gen.kubernetes import Body


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
    if not problems:
        return None
    from gen.check.silence import silenced  # noqa: PLC0415 - most runs have no problem and need no other rule

    return silenced(problems, body)
