"""Permissions of final objects, compared with the grants of an overlay."""

from __future__ import annotations

from gen.base.findings import Findings
from gen.kubernetes.facts.permissions import permissions
from gen.overlay.read import OverlayReader
from gen.render.judge import granted
from tests.support import Repository

OVERLAY = """\
kubernetes: "1.34"
queues: {gold: {volcano: {queue: gold, priorityClass: urgent}}}
namespaces: {team: {queues: [gold]}}
"""


def test_the_priority_of_a_queue_is_that_of_its_groups_alone(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    (overlay,) = OverlayReader(repo.root, Findings()).read()
    known = granted(overlay, "team")
    assert known is not None

    def lacking(spec: dict[str, object]) -> list[str]:
        return [value for one, value in permissions({"spec": spec}) if not known.has((one, value))]

    assert lacking({"queue": "gold", "priorityClassName": "urgent", "tasks": []}) == []
    assert lacking({"queue": "gold", "priorityClassName": "system-node-critical"}) == ["system-node-critical"]
    pod = {"priorityClassName": "urgent", "containers": [{"name": "main"}]}
    assert lacking({"queue": "gold", "tasks": [{"template": {"spec": pod}}]}) == ["urgent"]
