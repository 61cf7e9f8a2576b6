"""A rendered job with a volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.report.formats import Report

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /data}\n"
RUN = "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"
VOLUME = "rendered/dev/storage/team/persistentvolume-team-nas.yaml"
CLAIM = "rendered/dev/storage/team/persistentvolumeclaim-nas.yaml"


def statuses(report: Report) -> dict[str, str]:
    return {change.path: change.status.value for change in report.changes}
