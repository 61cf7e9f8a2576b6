"""Objects that a render would change as one JSON document. `version` changes when the meaning of a field does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gen.report.json import finding_data
from gen.report.plan.json import object_data
from gen.report.sanitize import escape_json

if TYPE_CHECKING:
    from gen.report.live.view import View
    from gen.review.would_change import RenderedDiff


def as_json(view: View[RenderedDiff]) -> str:
    diff = view.data
    document = {
        "version": 1,
        "findings": [finding_data(finding) for finding in diff.findings],
        "objects": [object_data(change) for change in diff.objects],
        "edited": sorted(diff.edited),
        "rewritten": list(diff.rewritten),
        "summary": diff.summary,
    }
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"
